"""The committed table of verdicts of spec/kafka is of the charter as it is now, and what `conform
verdicts` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter.api import Selection, verdicts
from charter.api.charters import load_charter

KAFKA = Path(__file__).resolve().parents[2] / "spec" / "kafka"
REMEDY = "conform verdicts spec/kafka --variant '*' --write spec/kafka/verdicts"
SAMPLE = (("", "pair"), ("pre_kip_966", "pair_stopped"), ("elr_capped", "tiny_proposals"))


@pytest.fixture(scope="module")
def rows() -> tuple[verdicts.InstanceVerdicts, ...]:
    return verdicts.read_verdicts(verdicts.verdicts_file(KAFKA))


def test_the_table_is_of_the_charter_as_it_is_now(
    rows: tuple[verdicts.InstanceVerdicts, ...],
) -> None:
    charter, model = load_charter(KAFKA)
    wanted = {(v, i.name) for v in ("", *model.variants) for i in model.instances}
    now = verdicts.current(charter, rows)
    assert {(row.variant, row.instance) for row in now} == wanted, REMEDY
    page = verdicts.verdicts_markdown("spec/kafka", model, rows)
    assert (KAFKA / verdicts.FOLDER / verdicts.PAGE).read_text("utf-8") == page, REMEDY


@pytest.mark.parametrize("variant, instance", SAMPLE)
def test_a_row_is_what_a_search_shows(
    rows: tuple[verdicts.InstanceVerdicts, ...], variant: str, instance: str
) -> None:
    """Others are pinned, or searched in the slow test."""
    assert _again(rows, variant, instance)


@pytest.mark.slow
def test_each_row_is_what_a_search_shows(rows: tuple[verdicts.InstanceVerdicts, ...]) -> None:
    wrong = [
        (row.variant, row.instance)
        for row in rows
        if row.complete and not _again(rows, row.variant, row.instance)
    ]
    assert not wrong, REMEDY


def _again(rows: tuple[verdicts.InstanceVerdicts, ...], variant: str, instance: str) -> bool:
    charter, model = load_charter(KAFKA)
    chosen = charter.model(Selection(variant)) if variant else model
    (row,) = (r for r in rows if (r.variant, r.instance) == (variant, instance))
    return verdicts.searched(chosen, (instance, row.digest), 0, lambda *_: None).row == row
