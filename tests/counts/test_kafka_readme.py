"""The table "Instances of the system" of spec/kafka/README.md says what the charter says of each
instance: brokers, min ISR, records, and how often what may happen. States and depth are held by
test_kafka_cluster.py."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.support import spec

from charter.analysis.instance_table import InstanceLimits, limits_of

PAGE = Path(__file__).resolve().parents[2] / "spec" / "kafka" / "README.md"
ROW = re.compile(
    r"^\| `(?P<name>\w+)` \| (?P<brokers>[^|]+) \| (?P<least>[^|]+) \| (?P<most>[^|]+)"
    r" \| [\d,]+ \| \d+ \|$",
    re.MULTILINE,
)
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4}

BUDGETS = {
    "a loss of power": "power_losses",
    "a loss of power of the other": "power_losses",
    "a loss of power of the one in sync": "power_losses",
    "a loss of power after that": "power_losses",
    "another loss of power": "power_losses",
    "two losses of power": "power_losses*2",
    "three losses of power": "power_losses*3",
    "four losses of power with the record": "power_losses*4",
    "a stop": "process_stops",
    "a stop without loss": "process_stops",
    "two stops": "process_stops*2",
    "a stop and a loss of power of the same broker": "process_stops power_losses",
    "a process that ends before it runs": "failed_starts",
    "a registration refused": "refusals",
    "a lost answer to a registration": "lost_answers",
    "a late heartbeat": "late_heartbeats",
    "a disk lost": "disk_losses",
    "a flush": "flushes",
    "a broker out of sight": "fencings",
    "two followers out of sight": "fencings*2",
    "an ISR shrunk": "shrinks",
    "a proposal that takes out one or two and another in": "shrinks",
    "a reassignment": "reassignments",
    "two reassignments": "reassignments*2",
    "one cancelled": "cancellations",
    "an election of the preferred leader by order": "preferred_elections",
    "one by the controller itself": "balances",
    "an unclean election": "unclean_elections",
    "an unclean election by order": "unclean_elections",
    "a broker unregistered": "unregistrations",
    "a controlled shutdown": "shutdowns",
    "two controlled shutdowns": "shutdowns*2",
    "a changed minimum": "reconfigurations",
    "two changed minimums": "reconfigurations*2",
    "unclean elections allowed and forbidden": "unclean_settings*2",
    "ELR turned off": "feature_changes",
    "ELR turned on": "feature_changes",
    "the topic deleted and created again": "deletions",
    "the topic deleted and created again on any two": "deletions",
    "another controller": "failovers",
    "a record": "max_log",
    "a record on two": "max_log",
    "a record on three": "max_log",
    "a record on four": "max_log",
    "a committed record": "max_log",
    "two records": "max_log*2",
    "two records in segments of one": "max_log*2 segment_size",
    "a followed write": "max_log requests",
    "a followed write or another record": "max_log requests",
    "a followed write and its retry": "max_log*2 requests retries",
    "two followed writes": "max_log*2 requests*2",
    "two questions for the end of the log": "queries*2",
    "flushed at once": "flush_every",
    "every second is flushed": "flush_every*2",
    "a checkpoint that lags": "checkpoint_lag",
}
"""What may happen, and the constants that allow it, each with the number of times."""

COUNTED = {"max_log", "flush_every", "segment_size", "checkpoint_lag"}
"""Constants that are no budgets, and that the table tells."""

FIRST = {
    "nobody leads": ("controller.partition[t].leader", "none"),
    "balanced recovery": ("recovery", "BALANCED"),
    "proactive recovery": ("recovery", "PROACTIVE"),
    "recovery from lastKnownElr without a look at logs": ("recovery", "LAST_KNOWN"),
    "unclean election by configuration": ("controller.config.unclean_election", "true"),
    "its replica out of sight": ("controller.registration[b1].fenced", "true"),
}
"""What is so in the first state."""
USUAL = {"recovery": "MANUAL", "controller.config.unclean_election": "false"}

REMARKS = {
    "who is alone in the ISR keeps its power": "lose_power",
    "no late registration": "register",
    "the controller waits for expiry": "register",
    "nobody writes": "write",
    "nobody leaves before the leader has read it": "decide",
    "who is elected has everything": "recover",
    "who is elected has everything if anybody has": "recover",
    "turned off while both are in sync": "set_feature",
    "turned on while both are in sync": "set_feature",
    "nobody is out of sight before that": "lose_sight",
    "one has answered": "",
}
"""What else is said, with the step whose arguments are restricted ("": none)."""


def rows() -> dict[str, re.Match[str]]:
    return {row["name"]: row for row in ROW.finditer(PAGE.read_text(encoding="utf-8"))}


def limits() -> dict[str, InstanceLimits]:
    model = spec.model("kafka")
    return {i.name: limits_of(model, i) for i in model.instances if i.machine == "cluster"}


def read_cell(name: str, table: Mapping[str, re.Match[str]]) -> tuple[Counter[str], dict[str, str]]:
    """What the cell "at most" says: the constants, and places of the first state."""
    constants: Counter[str] = Counter()
    first: dict[str, str] = {}
    for phrase in re.sub(r" \([^)]*\)", "", table[name]["most"]).split(", "):
        if phrase.startswith("`"):
            constants, first = read_cell(phrase.strip("`"), table)
        elif phrase in FIRST:
            place, value = FIRST[phrase]
            first[place] = value
        elif phrase not in REMARKS:
            for each in BUDGETS[phrase].split():
                constant, _, times = each.partition("*")
                constants[constant] += int(times or 1)
    return constants, first


def read_constants(one: InstanceLimits) -> Counter[str]:
    """What the charter says of the same constants."""
    counted = {name: n for name, n in one.constants.items() if name in COUNTED}
    return Counter({name: n for name, n in {**one.budgets, **counted}.items() if n})


def test_the_table_has_every_instance_of_the_system() -> None:
    assert set(rows()) == set(limits())


def test_the_table_says_what_may_happen_and_how_often() -> None:
    table, known = rows(), limits()
    for name in table:
        constants, first = read_cell(name, table)
        assert constants == read_constants(known[name]), name
        assert {**USUAL, **first}.items() <= known[name].first.items(), name


def test_the_table_says_where_arguments_are_restricted() -> None:
    known = limits()
    for name, row in rows().items():
        steps = {REMARKS.get(phrase, "") for phrase in row["most"].split(", ")} - {""}
        assert steps <= set(known[name].only), name


def members(one: InstanceLimits, place: str) -> int:
    return len(re.findall(r"\w+", one.first[f"controller.partition[t].{place}"]))


@pytest.mark.parametrize(
    ("word", "place"), [("in sync", "isr"), ("replica", "replicas"), ("run", "running")]
)
def test_the_table_says_how_many_brokers_there_are(word: str, place: str) -> None:
    known = limits()
    for name, row in rows().items():
        one = known[name]
        whole, *parts = row["brokers"].split(", ")
        assert one.sorts["Broker"] == int(whole), name
        told = [NUMBERS[part.split()[0]] for part in parts if word in part]
        if place == "running":
            runs = [one.first[f"replica[b{i + 1}].running"] for i in range(int(whole))]
            found = runs.count("true")
        else:
            found = members(one, place)
        leaderless = one.first["controller.partition[t].leader"] == "none"
        if place == "isr" and leaderless:
            assert not told and not found, name
        else:
            usual = members(one, "replicas") if place == "isr" else int(whole)
            assert found == (told[0] if told else usual), name


def test_the_table_says_the_minimum() -> None:
    known = limits()
    for name, row in rows().items():
        least, *_ = row["least"].split(", then ")
        assert known[name].first["controller.config.min_insync_replicas"] == least, name
