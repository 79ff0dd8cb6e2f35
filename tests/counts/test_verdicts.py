"""The committed table of verdicts of spec/kafka is what `conform verdicts` wrote. Its rows are held
against the charter as far as they are of the charter as it is now: it is renewed at releases
(docs/design/tests.md)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from charter.api import Selection, verdicts
from charter.api.charters import load_charter

KAFKA = Path(__file__).resolve().parents[2] / "spec" / "kafka"
REMEDY = "conform verdicts spec/kafka --instance tiny_shutdown --write spec/kafka/verdicts"
LEGEND = re.compile(r"^\| \d+ \|.*\n", re.MULTILINE)
SAMPLE = (
    ("elr_capped", "", "tiny_proposals"),
    pytest.param("", "log_outlives_its_topic", "pair_deleted", marks=pytest.mark.slow),
)


WITHOUT_ELR = {
    "acknowledged_reach_all", "clean_election_is_possible", "clean_registrations_are_complete",
    "complete_replica_leads", "consistent_read", "enough_copies",
    "high_watermark_is_true_from_the_epoch_start", "last_copy_survives",
    "leader_candidate_completeness", "leader_completeness", "log_matching",
    "no_acknowledged_record_lost", "reads_are_committed", "recovery_ends",
    "stopped_brokers_are_out",
}  # fmt: skip
GIVEN_UP = {
    "elr_capped": {"recovery_quorum_within_minimum"},
    "pre_kip_966": {
        *WITHOUT_ELR, "readable_with_enough_in_sync", "fails_with_its_leadership",
    },
    "gated_without_elr": WITHOUT_ELR,
    "completes_in_full": set[str](),
    "isr_first": set[str](),
    "process_memory": {
        "enough_copies", "last_copy_survives", "no_acknowledged_record_lost",
        "log_is_cut_by_the_leader_alone",
    },
}  # fmt: skip
"""What fails with a variant in an instance in which the charter itself keeps it, or has no such
property (I7's upper bound, of `elr_capped` alone): the last replica standing is elected without its
log, or is waited for; without ELR nobody enters lastKnownElr, from which partitions recover, and
the only candidate of an instance that begins with a member of the ELR alone is none; the records of
a process are gone with it."""


@pytest.fixture(scope="module")
def rows() -> tuple[verdicts.InstanceVerdicts, ...]:
    """The rows of searches of the charter as it is now."""
    charter, _ = load_charter(KAFKA)
    return verdicts.current(charter, verdicts.read_verdicts(verdicts.verdicts_file(KAFKA)))


def test_the_page_says_what_the_table_does() -> None:
    """But for the legend, which has the texts that the properties had when it was written."""
    _, model = load_charter(KAFKA)
    rows = verdicts.read_verdicts(verdicts.verdicts_file(KAFKA))
    page = (KAFKA / verdicts.FOLDER / verdicts.PAGE).read_text("utf-8")
    made = verdicts.verdicts_markdown("spec/kafka", model, rows)
    assert LEGEND.sub("", page) == LEGEND.sub("", made), REMEDY


def test_each_mutant_is_caught_by_its_property(
    rows: tuple[verdicts.InstanceVerdicts, ...],
) -> None:
    _, model = load_charter(KAFKA)
    caught_by = {mutant.name: mutant.caught_by for mutant in model.mutants}
    for row in (row for row in rows if row.mutant):
        assert row.verdicts[caught_by[row.mutant]].word == "violated", row.mutant


def test_a_variant_gives_up_what_is_expected_of_it(
    rows: tuple[verdicts.InstanceVerdicts, ...],
) -> None:
    """Of all that is expected something is missing only where a row is out of date."""
    own = {row.instance: row.verdicts for row in rows if row.is_of_charter}
    found: dict[str, set[str]] = {variant: set() for variant in GIVEN_UP}
    compared = [row for row in rows if row.variant and row.instance in own]
    for row in compared:
        for name, one in row.verdicts.items():
            kept = own[row.instance].get(name)
            if one.word == "violated" and (kept is None or kept.word != "violated"):
                found[row.variant].add(name)
    _, model = load_charter(KAFKA)
    if len(compared) == len(model.variants) * len(model.instances):
        assert found == GIVEN_UP
    for variant, names in found.items():
        assert names <= GIVEN_UP[variant], variant


def test_without_elr_nothing_is_lost_while_the_last_replica_standing_keeps_its_log(
    rows: tuple[verdicts.InstanceVerdicts, ...],
) -> None:
    """As TLC says of the published model before KIP-966 with AvoidLastReplicaStanding."""
    lost = {"leader_completeness", "leader_candidate_completeness", "no_acknowledged_record_lost"}
    told = {
        row.instance: {name for name in lost if row.verdicts[name].word == "violated"}
        for row in rows
        if row.variant == "pre_kip_966" and row.instance.startswith("last_standing")
    }
    expected: dict[str, set[str]] = {"last_standing": lost, "last_standing_kept": set()}
    assert told.items() <= expected.items()


@pytest.mark.parametrize("variant, mutant, instance", SAMPLE)
def test_a_row_is_what_a_search_shows(
    rows: tuple[verdicts.InstanceVerdicts, ...], variant: str, mutant: str, instance: str
) -> None:
    """Others are pinned, or searched in the slow test."""
    assert _again(rows, verdicts.SearchedPlace(variant, mutant, instance))


@pytest.mark.slow
def test_each_row_is_what_a_search_shows(rows: tuple[verdicts.InstanceVerdicts, ...]) -> None:
    wrong = [row.place for row in rows if row.complete and not _again(rows, row.place)]
    assert not wrong


def _again(rows: tuple[verdicts.InstanceVerdicts, ...], place: verdicts.SearchedPlace) -> bool:
    """Whether a search finds what the row says; true if there is no current row."""
    charter, _ = load_charter(KAFKA)
    row = next((r for r in rows if r.place == place), None)
    if row is None:
        return True
    model = charter.model(Selection(place.variant, place.mutant))
    return verdicts.search_instance(model, place, row.digest, 0, lambda *_: None).row == row
