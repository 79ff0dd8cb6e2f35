"""Lists the obligations of the rules by what became of them in a run: asked for, or why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from charter.formats.charter_files.obligations import INFEASIBLE
from conform.reports.runs import ReportedRun
from conform.reports.sections import ObligationSection
from conform.runs.extent import read_extent
from conform.runs.obligations import Gap

ASKED = "asked"
GAPS: Mapping[Gap, str] = {
    Gap.UNSEARCHED: "no search looked for a question",
    Gap.NO_VECTOR: "the suite has no vector for it, although the ledger of the rules has one",
    Gap.IN_VAIN: "a search looked for a question in vain",
    Gap.LEFT_OUT: "its vectors were left out by the caller",
    Gap.ALLOWED: "its vectors were not judged, which adapter.toml allows",
    Gap.LOST: "its vectors were not judged",
    Gap.UNCOUNTED: "nobody counted which transitions of this full suite meet it",
}
"""What is said of an obligation that a run was not asked."""


@dataclass(frozen=True, slots=True)
class GapRows:
    """The obligations of a run that lack the same: how many, and those that are known by name, each
    with the note of the ledger."""

    why: str
    count: int
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class LedgerOfRun:
    """What a run was asked of the rules. `kinds` has for each kind of obligation how many are
    asked, infeasible, not asked, and all; `status` says of each by name what became of it."""

    kinds: tuple[tuple[str, int, int, int, int], ...]
    gaps: tuple[GapRows, ...]
    infeasible: tuple[tuple[str, str], ...]
    status: Mapping[str, str]

    @property
    def asked(self) -> frozenset[str]:
        """The names of those that were asked."""
        return frozenset(name for name, status in self.status.items() if status == ASKED)


def ledger_of_run(run: ReportedRun) -> LedgerOfRun | None:
    """The ledger of a run, counted from the vectors that it judged; None for a suite without one,
    and for runs of earlier versions."""
    found, rows = read_extent(run.summary).obligations, run.sections.ledger
    if not found.every:
        return None
    why = {name: GAPS[gap] for gap, names in found.names.items() for name in names}
    status = {row.name: why.get(row.name, _otherwise(row)) for row in rows}
    notes = {row.name: row.note for row in rows}
    gaps = tuple(
        GapRows(GAPS[gap], count, tuple((n, notes.get(n, "")) for n in found.names.get(gap, ())))
        for gap, count in found.left.items()
    )
    out = tuple((row.name, row.note) for row in rows if status[row.name] == INFEASIBLE)
    return LedgerOfRun(_by_kind(rows, status), gaps, out, status)


def _otherwise(row: ObligationSection) -> str:
    return INFEASIBLE if row.status == INFEASIBLE else ASKED


def _by_kind(
    rows: Sequence[ObligationSection], status: Mapping[str, str]
) -> tuple[tuple[str, int, int, int, int], ...]:
    found = []
    for kind in sorted({row.kind for row in rows}):
        held = [status[row.name] for row in rows if row.kind == kind]
        asked, infeasible = held.count(ASKED), held.count(INFEASIBLE)
        found.append((kind, asked, infeasible, len(held) - asked - infeasible, len(held)))
    return tuple(found)
