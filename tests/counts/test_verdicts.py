"""The committed table of verdicts of spec/kafka is of the charter as it is now, and what `conform
verdicts` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter.api import Selection, verdicts
from charter.api.charters import load_charter

KAFKA = Path(__file__).resolve().parents[2] / "spec" / "kafka"
REMEDY = "conform verdicts spec/kafka --variant '*' --mutant '*' --write spec/kafka/verdicts"
SAMPLE = (
    ("elr_capped", "", "tiny_proposals"),
    ("", "nobody_reports", "pair_shut_down"),
)


@pytest.fixture(scope="module")
def rows() -> tuple[verdicts.InstanceVerdicts, ...]:
    return verdicts.read_verdicts(verdicts.verdicts_file(KAFKA))


def test_the_table_is_of_the_charter_as_it_is_now(
    rows: tuple[verdicts.InstanceVerdicts, ...],
) -> None:
    charter, model = load_charter(KAFKA)
    wanted = {(v, "", i.name) for v in ("", *model.variants) for i in model.instances}
    wanted |= {("", mutant.name, mutant.instance) for mutant in model.mutants}
    now = verdicts.current(charter, rows)
    assert {(row.variant, row.mutant, row.instance) for row in now} == wanted, REMEDY
    page = verdicts.verdicts_markdown("spec/kafka", model, rows)
    assert (KAFKA / verdicts.FOLDER / verdicts.PAGE).read_text("utf-8") == page, REMEDY


def test_each_mutant_is_caught_by_its_property(
    rows: tuple[verdicts.InstanceVerdicts, ...],
) -> None:
    _, model = load_charter(KAFKA)
    caught_by = {mutant.name: mutant.caught_by for mutant in model.mutants}
    mutants = [row for row in rows if row.mutant]
    assert len(mutants) == len(caught_by)
    for row in mutants:
        assert row.verdicts[caught_by[row.mutant]].word == "violated", row.mutant


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
    assert told == {"last_standing": lost, "last_standing_kept": set()}


@pytest.mark.parametrize("variant, mutant, instance", SAMPLE)
def test_a_row_is_what_a_search_shows(
    rows: tuple[verdicts.InstanceVerdicts, ...], variant: str, mutant: str, instance: str
) -> None:
    """Others are pinned, or searched in the slow test."""
    assert _again(rows, verdicts.SearchedPlace(variant, mutant, instance))


@pytest.mark.slow
def test_each_row_is_what_a_search_shows(rows: tuple[verdicts.InstanceVerdicts, ...]) -> None:
    wrong = [row.place for row in rows if row.complete and not _again(rows, row.place)]
    assert not wrong, REMEDY


def _again(rows: tuple[verdicts.InstanceVerdicts, ...], place: verdicts.SearchedPlace) -> bool:
    charter, _ = load_charter(KAFKA)
    (row,) = (r for r in rows if r.place == place)
    model = charter.model(Selection(place.variant, place.mutant))
    return verdicts.searched(model, place, row.digest, 0, lambda *_: None).row == row
