"""Vectors that are inconclusive are named in the last line of a run, with what that means."""

from __future__ import annotations

import pytest

from charter.formats.canonical import Json
from charter.formats.run_description import RunDescription
from charter.formats.suite import Manifest
from conform.cli.output.run_output import _last_line, _show_inconclusive
from conform.runs.conclusion import Finished
from conform.runs.extent import Extent, read_extent, small_suite
from conform.storage.bucket_store import RunFolder


def make_counts(inconclusive: int, **more: Json) -> dict[str, Json]:
    """The parts of a summary that the last line needs."""
    verdicts: dict[str, Json] = {"conforms": 12, "inconclusive": inconclusive}
    rest: dict[str, Json] = {
        "judged": 12 + inconclusive, "suite_vectors": 12 + inconclusive, "not_compared": [],
        "reasons": [], "deviations": 0, "unmet_entries": [], "exit": 0,
    }  # fmt: skip
    return {"verdicts": verdicts, **rest, **more}


@pytest.mark.parametrize(
    ("count", "told"),
    [(0, "judged 12 of 12"), (1, "judged 13 of 13, 1 of them inconclusive"),
     (4, "judged 16 of 16, 4 of them inconclusive")],
)  # fmt: skip
def test_last_line_counts_vectors_that_are_inconclusive(count: int, told: str) -> None:
    fine = Finished(RunFolder("/run"), RunDescription(), make_counts(count))
    assert _last_line(fine, ()) == f"fine: no deviation from the charter; {told}"
    found = make_counts(count, reasons=["1 finding"], exit=1)
    assert (
        _last_line(Finished(RunFolder("/run"), RunDescription(), found), ())
        == f"exit 1: 1 finding; {told}"
    )


def test_reason_that_says_how_much_was_compared_is_not_repeated() -> None:
    left = make_counts(4, reasons=["judged 16 of 16, 4 of them inconclusive"], exit=3)
    last = _last_line(Finished(RunFolder("/run"), RunDescription(), left), ())
    assert last == "exit 3: judged 16 of 16, 4 of them inconclusive"


def test_what_inconclusive_means_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    _show_inconclusive(make_counts(0))
    assert capsys.readouterr().out == ""
    _show_inconclusive(make_counts(2))
    told = capsys.readouterr().out
    assert told.startswith(
        "2 vectors are inconclusive: the charter allows every step, but they did"
    )
    assert "conform explain inconclusive" in told
    _show_inconclusive(make_counts(1))
    assert "1 vector is inconclusive: the charter allows every step, but it did" in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize("wish", ["--limit", "-k", "-x"])
def test_run_that_left_vectors_out_is_not_called_fine_alone(wish: str) -> None:
    left: Json = [{"what": "not asked", "vectors": 3, "allowed": wish}]
    last = _last_line(
        Finished(RunFolder("/run"), RunDescription(), make_counts(0, not_compared=left)), ()
    )
    told = f"judged 12 of 12; not compared: 3 not asked ({wish})"
    assert (
        last == f"fine in the part that was asked ({wish}): no deviation from the charter; {told}"
    )


def test_run_by_the_small_suite_is_called_fine_by_it_and_one_by_old_rules_by_these() -> None:
    small = make_counts(0, small_suite=True)
    told = "no deviation from the charter; judged 12 of 12"
    last = _last_line(Finished(RunFolder("/run"), RunDescription(), small), ())
    assert last == f"fine by the small suite: {told}"
    older = "an older version of the charter"
    last = _last_line(
        Finished(RunFolder("/run"), RunDescription(), {**small, "older_charter": older}), ()
    )
    assert last == f"fine by {older}: no deviation from it; judged 12 of 12"
    explained: Json = {**small, "deviations": 2, "findings": [], "baseline": ""}
    assert isinstance(explained, dict)
    last = _last_line(Finished(RunFolder("/run"), RunDescription(), explained), ())
    assert last.startswith("fine by the small suite: 2 deviations, all of them explained by the")


def test_standard_suite_is_called_so_and_not_one_that_nothing_made() -> None:
    counts = {"obligations": 3, "triples": 2}
    made = Manifest("d" * 20, "p", "", "c", "e" * 20, 1, counts=counts)
    assert small_suite(made) == "a standard suite"
    extent = Extent(1, 1, small=small_suite(made))
    assert extent.complete and read_extent({**extent.json()}).by == "a standard suite"


def test_suite_with_a_state_cover_is_called_so_and_not_one_that_nothing_made() -> None:
    counts = {"obligations": 3, "cover_states": 2, "cover_states_left": 0}
    made = Manifest("d" * 20, "p", "", "c", "e" * 20, 1, counts=counts)
    assert small_suite(made) == "the small suite with a state cover"
    extent = Extent(1, 1, small=small_suite(made))
    assert extent.complete
    assert read_extent({**extent.json()}).by == "the small suite with a state cover"
    part = Extent(57, 19, small=small_suite(made))
    named = read_extent({**part.json()}).by
    assert named == "the small suite with a state cover (19 of 57 vectors)"
