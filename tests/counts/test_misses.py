"""What the instances of the charters miss is exactly what they say: a branch that an edit makes
dead, or a property that it leaves with nothing to say, is found in the instance that met it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from charter import api
from charter.api import verdicts
from charter.api.charters import load_charter
from charter.core import nodes as n
from charter.explore.result import SearchResult, Unmet

ROOT = Path(__file__).resolve().parents[2]
KAFKA = ROOT / "spec" / "kafka"
EXAMPLES = ROOT / "spec" / "examples"
PINS = Path(__file__).parent / "kafka"
PINNED = sorted(pin.stem for pin in PINS.glob("*.txt"))
SMALL = [
    "tiny_consumer", "tiny_follower", "pair_balanced_off", "tolerance_3_2", "tiny_shutdown",
    "cancelled_uncleanly", "both_topics_balanced", "pair_deleted", "tiny_configuration",
    "tiny_storage", "pair_proactive_down",
    "pair_proactive_reassigned", "pair_shut_down", "pair_preferred_of_two",
    "pair_answer_lost", "pair_shut_down_failed_over", "pair_unregistered", "pair_flushed_by_two",
    "pair_produced", "pair_rolled", "pair_asked_of_one", "pair_asked", "pair_balanced_failed_over",
    "changed_of_three", "reassigned_of_three", "trio_balanced",
]  # fmt: skip
"""The smallest instance that meets each property, unless it has more than `MOST` states: so a rule
that breaks a property is found in each run, also while the table of verdicts is out of date."""
MOST = 50_000


@cache
def open_model(path: Path, mutant: str = "") -> n.Model:
    return api.load(path, api.Selection(mutant=mutant))


def explore(path: Path, instance: str, mutant: str = "") -> SearchResult:
    return api.explore(open_model(path, mutant), instance, api.ExploreOptions(), lambda *_: None)


def test_no_instance_of_kafka_misses_anything_else_than_it_says() -> None:
    """By those of the committed searches that are of the charter as it is now; `make slow` searches
    again."""
    charter, model = load_charter(KAFKA)
    rows = verdicts.current(charter, verdicts.read_verdicts(verdicts.verdicts_file(KAFKA)))
    whole = {r.instance: r.misstated for r in rows if r.complete and not (r.variant or r.mutant)}
    assert set(whole) <= {i.name for i in model.instances}
    assert {name: said for name, said in whole.items() if said} == {}


def test_each_property_is_met_in_an_instance_that_every_run_searches() -> None:
    model = open_model(KAFKA)
    states = {name: distinct(name) for name in PINNED}
    asked = [(one.name, one.machine) for one in (*model.properties, *model.liveness)]
    smallest: dict[str, str] = {}
    for name, machine in asked:
        met_in = [
            (states[one.name], one.name)
            for one in model.instances
            if one.name in states and one.machine == machine
            and name not in (*one.misses, *one.fails)
        ]  # fmt: skip
        smallest[name] = min(met_in)[1]
    larger = {name for name, found in smallest.items() if states[found] > MOST}
    assert larger == {"reads_are_recent", "flush_in_time_keeps_all"}
    assert set(SMALL) == {found for found in smallest.values() if states[found] <= MOST}


def distinct(instance: str) -> int:
    """The pinned number of states."""
    first, _, _ = (PINS / f"{instance}.txt").read_text("utf-8").partition("\n")
    return int(first.split()[1])


@pytest.mark.parametrize(
    ("path", "instance"),
    [
        *(
            pytest.param(KAFKA, name, marks=() if name in SMALL else [pytest.mark.slow])
            for name in PINNED
        ),
        *((path, "tiny") for path in sorted(EXAMPLES.glob("*.charter"))),
    ],
    ids=lambda value: getattr(value, "stem", value),
)
def test_an_instance_misses_what_it_says_and_nothing_else(path: Path, instance: str) -> None:
    found = explore(path, instance)
    assert found.fine
    assert (found.vacuous, found.not_missed, found.not_failed) == ((), (), ())


def test_what_an_edit_makes_dead_is_found() -> None:
    found = explore(EXAMPLES / "ring_election.charter", "tiny", "forgets_to_pass_on")
    assert found.vacuous == (Unmet("witness", "everybody_knows"), Unmet("branch", "rest"))
