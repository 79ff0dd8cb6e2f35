"""What a review of spec/kafka found covered, or missing, in the texts is in the charter now: each
row of its table with what says it, and with what checks it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import pytest
from tests.support import spec

from charter import api
from charter.core import nodes as n
from charter.semantics.scenario import ScenarioFails, follow


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table. Names are separated by blanks; `says` are steps, operations and their
    branches. A scenario has its title, or the number that it begins with: all of that number. Of
    a variant it stands behind the name of the variant and a colon. `lacks`: what the row asks for
    and the charter does not have."""

    says: str = ""
    holds: str = ""
    shown: tuple[str, ...] = ()
    searched: str = ""
    variants: str = ""
    claims: tuple[str, ...] = ()
    lacks: str = ""


ROWS = {
    # Steps and operations, with the numbers that they have in the review.
    "A1-A3 start, register, begin": Row(
        "start register refuse ask_again lose_answer begin register/clean register/unclean"
        " register/again register/session_lives session_expires/idle",
        "starts_in_the_end epochs_are_given_once sessions_have_one_process",
        ("B-E9", "X-E3", "X-E5"),
        "pair_back_early pair_failed_start_expired pair_answer_lost",
        claims=("L1", "Broker epochs"),
    ),
    "A4, A5 unfence and fence": Row(
        "unfence lose_sight miss heartbeat/unfenced session_expires/fenced",
        "unfenced_in_its_session unfenced_in_the_end no_fenced_replica_in_isr",
        ("B-E1", "X-E4"),
        "last_standing pair_unseen",
        claims=("Heartbeats",),
    ),
    "A6 metadata, and replicas that are deleted": Row(
        "learn learn/without_replica learn/follows learn/remains_leader",
        "metadata_log_matching metadata_is_read followers_are_replicas leader_knows_the_isr"
        " removed_replicas_are_gone",
        ("B-R13", "B-R27", "X-S32", "X-S41", "X-S43"),
        "pair_reassigned",
        claims=("I5", "L4"),
    ),
    "A7 proposals of several members": Row(
        "propose_join propose_leave propose/unfit propose/proposed",
        "joins_by_the_leader_or_elected proposals_are_settled",
        ("X-S51", "X-S6"),
        "trio_proposed",
    ),
    "A8 epochs are needed, and a completion starts one": Row(
        "decide alter_partition/epoch_missing alter_partition/ineligible_replica"
        " alter_partition/completed alter_partition/completed_for_another",
        "reassignment_keeps_min_isr unclean_exclusion",
        ("L-E2", "R-E5", "S2-E3c"),
        "tiny_proposals tiny_reassignment",
    ),
    "A9 answers to proposals, A11-A13 fetches": Row(
        "take_decision send_fetch serve_fetch take_fetched take_decision/rolled_back"
        " fetch/refused fetch/diverged fetch/served take_fetched/truncated take_fetched/stale",
        "proposals_are_settled followers_ask_their_leader served_followers_match",
        ("B-R6", "B-R7", "B-R28", "B-R36", "X-S4"),
        "pair tiny_log",
    ),
    "A10 reassignments in the system": Row(
        "reassign cancel_reassignment reassign/begun reassign/completed",
        "reassigned_by_the_rules reassignment_keeps_min_isr enough_copies reassignments_end",
        ("R-E1", "R-E4", "R-E6", "X-S33", "X-S34"),
        "pair_reassigned pair_reassigned_lost trio_reassigned",
        claims=("Reassignment", "L7"),
    ),
    "A14 writes with any acks, and errors": Row(
        "write produce retry write/not_enough_replicas",
        "taken_with_enough_in_sync others_are_served fails_with_its_leadership told_once"
        " acknowledged_is_committed",
        ("B-R2", "a write that has failed is committed"),
        "pair_produced pair_produced_lost",
        claims=("K6", "MODEL §2.6", "MODEL §2.7"),
    ),
    "A15, A16 stops, with and without loss": Row(
        "lose_power stop lose_power/lost stop/shut_down stop/killed",
        "no_acknowledged_record_lost log_is_cut_by_the_leader_alone",
        ("B-R16", "B-R17", "B-R19", "X-S29"),
        "pair pair_stopped",
        claims=("K7, f1 to f4",),
    ),
    # Properties, with the numbers of spec/kafka/README.md.
    "fairness, L1-L7": Row(
        holds="starts_in_the_end unfenced_in_the_end proposals_are_settled metadata_is_read"
        " writes_are_answered acknowledged_reach_all reassignments_end",
        searched="pair pair_produced pair_reassigned",
        claims=("L1", "L2", "L3", "L4", "L5", "L6", "L7"),
    ),
    "I1-I4, I6": Row(
        holds="leader_completeness leader_candidate_completeness replication_quorum_superset"
        " log_matching consistent_read",
        searched="pair last_standing trio_of_two",
        claims=("I1", "I2", "I3", "I4", "I6"),
    ),
    "I5, and I8 of losses at the same time": Row(
        holds="metadata_log_matching leader_knows_the_isr no_acknowledged_record_lost",
        searched="pair_both_lost pair_deleted",
        claims=("I5", "I8"),
    ),
    "I7": Row(
        holds="enough_candidates last_known_elr_is_for_recovery",
        shown=("I7", "elr_capped: I7"),
        searched="pair_both_lost tiny_elr",
        variants="elr_capped",
        claims=("I7", "I7, lower bound"),
    ),
    "I13, P4, also after an upgrade": Row(
        "set_elr/off set_elr/on set_feature",
        "no_fenced_replica_in_isr unclean_exclusion suspect_is_alone elr_holds_while_on",
        ("X-E6",),
        "upgraded pair_feature_on",
        claims=("I13", "P4", "ELR on"),
    ),
    "I14, P2, P8, P5, I9-I12, P7": Row(
        holds="valid_isr_and_elr epochs_grow leaders_high_watermark_grows sessions_apart"
        " leaders_lead_themselves followers_ask_their_leader",
        shown=("X-S4",),
        searched="tiny_elr pair",
        claims=("I14", "P2", "P8", "P5", "I9", "I10", "I11", "I12", "P7"),
    ),
    "P3, and who joins beside the ISR": Row(
        holds="isr_gains joins_by_the_leader_or_elected elected_beside_the_isr",
        shown=("O-E3", "isr_first: who is in sync leads before who is eligible"),
        searched="pair_preferred_of_two",
        variants="isr_first",
        claims=("P3", "P3, alone", "Order of election"),
    ),
    "P1, P6 the true and the applied high watermark": Row(
        "ask_latest latest_offset/not_available",
        "leader_completeness reads_are_committed told_end_grows"
        " high_watermark_is_true_from_the_epoch_start end_not_available",
        ("S2-E2", "B-R12"),
        "pair_asked pair_asked_of_one",
        claims=("P1", "P6", "P6, whose high watermark"),
    ),
    "the candidates are as many as the minimum": Row(
        holds="candidates_are_kept enough_candidates clean_election_is_possible",
        searched="tiny_elr pair_both_lost",
        claims=("R2", "I7, lower bound", "Both empty"),
    ),
    "linearizability, S2-E10": Row(
        "produce consume read/shown",
        "writes_are_ordered acknowledged_is_kept acknowledged_is_committed a_consumer_reads_on"
        " reads_are_recent reads_are_recent_from_the_epoch_start",
        ("S2-E10", "C-E1", "C-E2"),
        "pair_produced pair_produced_lost",
        claims=("S2-E10", "S2-E10, recency", "Idempotence"),
    ),
    # Worked examples of the texts.
    "S0-E1, S0-E2 with logs and variations": Row(
        "recover wait_for_recovery",
        "recovery_takes_the_complete",
        (
            "S0-E1",
            "S0-E2",
            "S0-E2 v1 balanced recovery after all members of lastKnownElr have lost records",
            "S0-E2 v2 balanced recovery does not ask a replica that has everything",
            "S0-E2 v2 proactive recovery asks it",
            "S0-E2 v3 proactive recovery does not wait for the ELR",
            "S0-E2 v4 a member of lastKnownElr does not return",
        ),
        "pair_balanced",
        claims=("S0-E1, step 3", "Balanced recovery"),
    ),
    "cases A-G, S1-E1, S1-E0": Row(
        shown=(
            *(f"Case {letter}" for letter in "ABCDEFG"),
            "S1-E1",
            "pre_kip_966: S1-E0",
        ),
        searched="last_standing",
        variants="pre_kip_966",
        claims=("Cases A, C", "Case B", "Cases D, E, F", "Case G", "LRS, I8", "LRS mended"),
    ),
    "S1's table of tolerance": Row(
        holds="no_acknowledged_record_lost clean_election_is_possible everything_lost",
        searched="tolerance_3_2 tolerance_5_3 tolerance_6_4",
        claims=("Tolerance",),
    ),
    "S2-E1, E5, E6, E9, S3-E1": Row(shown=("S2-E1", "S2-E5", "S2-E6", "S2-E9", "S3-E1")),
    "S2-E2, E3a, E3b, E4, E8, E11": Row(
        shown=("S2-E2", "S2-E3a", "S2-E3b", "S2-E4a", "S2-E4b", "S2-E8", "S2-E11", "D-E4"),
        claims=("S2-E11", "S2-E11, in the end", "S2-E8, cancelled"),
    ),
    "S3-E2, S3-C1 to C4": Row(
        holds="last_copy_survives written_is_readable",
        shown=(
            "S3-E2",
            "S3 an unclean election loses what was acknowledged",
            *(f"S3-C{i}" for i in range(1, 5)),
        ),
        claims=("S3-E2", "S3-C1 to C4", "S3-C, writes", "S3-C, copies"),
    ),
    "S4-E3 to E6": Row(
        shown=("S4-E3", "S4-E4", "S4-E5", "S4-E6", "process_memory: S4-E5"),
        searched="pair_of_processes pair_flushed",
        variants="process_memory",
        claims=("S4-E3, E4", "S4-E5"),
    ),
    "S2-E3c, E7, E12": Row(
        "alter_partition/other_partition_epoch alter_partition/not_leader",
        shown=("S2-E3c", "S2-E7", "S2-E12"),
        claims=("S2-E3", "S2-E6, E7", "S2-E12"),
    ),
    # Sections of the model's prose.
    "3.1, and cases A-G of divergence": Row(
        "fetch/diverged take_fetched/truncated",
        "served_followers_match log_matching",
        ("S2-E11", *(f"MODEL 3.3 case {letter}" for letter in "ABCDEFG")),
        "tiny_log",
        claims=("Divergence, cases A to G",),
    ),
    "4.4 examples 1 and 2, 4.5": Row(
        "cancel_reassignment/reverted cancel_reassignment/too_few",
        shown=(
            "R-E1",
            "R-E1 a reassignment completes with the ISR, with the logs",
            "R-E2",
            "R-E2 a reassignment waits for min ISR, with the logs",
            "R-E3",
            "R-E7",
            "R-E11",
        ),
        claims=("MODEL 4.4", "MODEL 4.5"),
    ),
    "a minimum of three, where the rules differ": Row(
        shown=(
            "L-E5",
            "S0 with a minimum of three, four replicas are eligible",
            "elr_capped: S1 with a minimum of three, three replicas are eligible",
        ),
        searched="trio_of_three trio_of_three_elected three_of_four",
        variants="elr_capped",
        claims=("Cases A, C, minimum of three",),
    ),
    # Variants, and modes.
    "variants: ELR capped, ISR first, before KIP-966": Row(
        shown=("elr_capped: I7", "isr_first: who is in sync leads before who is eligible"),
        searched="tiny_elr last_standing",
        variants="elr_capped isr_first pre_kip_966",
    ),
    "3.7, errors before KIP-966": Row(
        holds="fails_with_its_leadership readable_with_enough_in_sync",
        shown=(
            "gated_without_elr: S3-E2",
            "pre_kip_966: a write fails because the ISR has shrunk, and can be read",
        ),
        searched="last_standing pair_produced",
        variants="gated_without_elr pre_kip_966",
        claims=("S3, the gate alone", "LRS, negative answers", "S3, negative answers"),
    ),
    "modes of recovery": Row(
        "ask_for_log tell_log recover elect_uncleanly elect_periodically",
        "recovery_takes_the_complete recovery_ends proactive_does_not_wait recoveries_are_marked"
        " answers_are_true elects_whom_its_mode_names another_controller_asks_anew",
        (
            "S0-E2",
            "S1 manual mode: the partition waits for an operator",
            "X-S52",
            "X-S53",
            "X-S54",
            "X-S62",
            "X-S63",
            "X-S64",
            "X-S65",
            "X-S66",
            "X-S67",
            "X-S68",
            "X-S69",
            "D-E11",
            "D-E12",
        ),
        "pair_balanced pair_balanced_lost pair_proactive pair_last_known pair_manual"
        " pair_aggressive pair_balanced_reassigned pair_proactive_reassigned"
        " pair_proactive_deleted pair_balanced_failed_over pair_balanced_off",
        claims=(
            "Answers to an inspection",
            "Balanced recovery, in the end",
            "Proactive, manual",
            "Proactive, in the end",
        ),
    ),
    "ways of flushing": Row(
        "flush_in_time",
        "a_loss_is_short the_last_segment_is_lost flushed_records_survive flush_in_time_keeps_all",
        ("S3 a flush of every record survives the same", "B-R3", "B-R4", "B-R43"),
        "pair_flushed pair_flushed_by_two pair_flushed_in_time pair_rolled",
        claims=("K7, f1 to f4",),
    ),
}

LATER = {
    "S4-E1, S4-E2, KRaft, Raft with and without fsync": "S4-E1, E2",
    "VRR, BookKeeper": "VRR, BookKeeper, SAUCR",
}
"""What the table has and the charter does not, as they belong to a charter of Raft, which is an
issue of its own: each with the claim that says so."""


@cache
def in_variant(name: str) -> n.Model:
    """Kafka's charter in a variant, or the charter itself."""
    if not name:
        return spec.model("kafka")
    return api.load(spec.SPEC / "kafka", api.Selection(variant=name))


def scenarios(named: str) -> tuple[n.Model, list[n.Scenario]]:
    """The scenarios that a row names, and the model that they are of."""
    variant, colon, rest = named.partition(": ")
    known = spec.model("kafka").variants
    variant, title = (variant, rest) if colon and variant in known else ("", named)
    model = in_variant(variant)
    exact = [one for one in model.scenarios if one.title == title]
    return model, exact or [one for one in model.scenarios if one.title.startswith(f"{title} ")]


def list_declared(model: n.Model) -> dict[str, set[str]]:
    """What a model declares that rows name."""
    rules = {step.name for system in model.systems for step in system.steps}
    for operation in (o for component in model.components for o in component.operations):
        rules |= {operation.name}
        rules |= {f"{operation.name}/{branch.name}" for branch in operation.branches}
    return {
        "says": rules,
        "holds": {p.name for p in model.properties} | {e.name for e in model.liveness},
        "searched": {i.name for i in model.instances},
        "variants": {*model.variants},
        "claims": {*claims()},
    }


def claims() -> dict[str, str]:
    """The verdict of each claim of the texts."""
    read = tomllib.loads((spec.SPEC / "kafka" / "claims.toml").read_text("utf-8"))
    return {one["id"]: one["verdict"] for part in read["section"] for one in part["claim"]}


def list_named(row: Row) -> Iterator[tuple[str, str]]:
    """What a row names, but for scenarios: the kind, and the name."""
    for kind, names in (
        ("says", row.says),
        ("holds", row.holds),
        ("searched", row.searched),
        ("variants", row.variants),
    ):
        yield from ((kind, name) for name in names.split())
    yield from (("claims", claim) for claim in row.claims)


def test_whatever_a_row_names_is_declared() -> None:
    known = list_declared(spec.model("kafka"))
    for title, row in ROWS.items():
        unknown = [name for kind, name in list_named(row) if name not in known[kind]]
        unknown += [name for name in row.shown if not scenarios(name)[1]]
        assert not unknown, f"{title}: nothing is called {unknown}"


@pytest.mark.slow
def test_each_scenario_of_a_row_follows() -> None:
    """`conform check spec/kafka`, which each run of the tests does, says the same of all
    scenarios, in all variants."""
    failed: dict[str, str] = {}
    for name in {name: None for row in ROWS.values() for name in row.shown}:
        model, found = scenarios(name)
        for one in found:
            try:
                assert follow(model, one)
            except ScenarioFails as error:
                failed[one.title] = str(error)
    assert not failed


def test_each_row_is_checked_by_something() -> None:
    """By a property that some instance is large enough to meet, by a scenario, or by a search."""
    model = spec.model("kafka")
    machines = {p.name: p.machine for p in model.properties}
    machines |= {e.name: e.machine for e in model.liveness}
    for title, row in ROWS.items():
        assert row.holds or row.shown or row.searched, f"{title}: nothing checks it"
        for name in row.holds.split():
            of = [i for i in model.instances if i.machine == machines[name]]
            assert any(name not in i.misses for i in of), f"{title}: {name} is met nowhere"


def test_a_row_says_so_whose_searches_did_not_end() -> None:
    table = json.loads((spec.SPEC / "kafka" / "verdicts" / "verdicts.json").read_text("utf-8"))
    cut = {
        one["instance"]
        for one in table["instances"]
        if not one["variant"] and not one["mutant"] and not one["complete"]
    }
    assert cut
    for title, row in ROWS.items():
        open_ = [name for name in row.searched.split() if name in cut]
        assert all(name in row.lacks for name in open_), f"{title}: {open_}"


def test_what_is_left_for_later_is_out_of_reach() -> None:
    known = claims()
    assert {known[claim] for claim in LATER.values()} == {"out of reach"}
