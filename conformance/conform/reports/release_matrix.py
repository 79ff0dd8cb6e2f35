"""Builds the heat map of a target: its releases by findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from charter.formats.canonical import Json
from charter.formats.findings.steps import ReviewedStep
from charter.formats.releases import numbers
from conform.reports.release_steps import ReleaseStep, list_stale, list_steps
from conform.reports.releases import Compared
from conform.reports.runs import ReportedRun
from conform.reports.target_matrix import CellKind, FindingCell, MatrixRow, TargetMatrix

RELEASES_MIN = 3
SIGNS: Mapping[CellKind, str] = {
    CellKind.PRESENT: "●",
    CellKind.ABSENT: "○",
    CellKind.NOT_APPLICABLE: "–",
    CellKind.NOT_SHOWN: "/",
    CellKind.NOT_ASKED: "?",
}
MEANINGS: Mapping[CellKind, str] = {
    CellKind.PRESENT: "present",
    CellKind.ABSENT: "absent: a vector that shows it elsewhere conforms here",
    CellKind.NOT_APPLICABLE: "not applicable: its entry is about other releases, or an operation is"
    " not supported",
    CellKind.NOT_SHOWN: "the target hides what differs",
    CellKind.NOT_ASKED: "no vector that shows it elsewhere was judged up to that place here",
}
LOST_SIGN = "×"
"""The sign of a release that could not be judged."""


@dataclass(frozen=True, slots=True)
class ReleaseColumn:
    """A release: its run with its position in the table of targets, or why it was lost."""

    release: str
    at: int = -1
    run: ReportedRun | None = None
    why: str = ""

    def cell(self, row: MatrixRow) -> FindingCell | None:
        """What the release is to a finding; None if it was lost."""
        return row.cells[self.at] if self.run else None

    def sign(self, row: MatrixRow) -> str:
        """The sign of its cell."""
        cell = self.cell(row)
        return SIGNS[cell.kind] if cell else LOST_SIGN


@dataclass(frozen=True, slots=True)
class ReleaseGroup:
    """Releases that follow each other, with the same signs in all rows."""

    columns: tuple[ReleaseColumn, ...]

    @property
    def name(self) -> str:
        names = [one.release for one in self.columns]
        return names[0] if len(names) == 1 else f"{names[0]}–{names[-1]}"


@dataclass(frozen=True, slots=True)
class ReleaseMatrix:
    """The releases of a target by findings, and the differences between those that follow each
    other. `stale` are notes about differences that do not show any more."""

    title: str
    columns: tuple[ReleaseColumn, ...]
    rows: tuple[MatrixRow, ...]
    steps: tuple[ReleaseStep, ...]
    stale: tuple[ReviewedStep, ...]

    @property
    def groups(self) -> tuple[ReleaseGroup, ...]:
        """The columns, those that follow each other and are equal as one."""

        def read_signs(column: ReleaseColumn) -> tuple[object, ...]:
            return (column.run is None, *(column.sign(row) for row in self.rows))

        return tuple(ReleaseGroup(tuple(held)) for _, held in groupby(self.columns, read_signs))

    @property
    def lost(self) -> tuple[ReleaseColumn, ...]:
        return tuple(one for one in self.columns if one.run is None)

    @property
    def by_step(self) -> tuple[tuple[str, tuple[ReleaseStep, ...]], ...]:
        """The differences of each two releases."""
        return tuple(
            (f"{before} to {after}", tuple(held))
            for (before, after), held in groupby(self.steps, lambda one: one.releases)
        )

    def json(self) -> dict[str, Json]:
        return {
            "steps": [one.json() for one in self.steps],
            "lost": {one.release: one.why for one in self.lost},
            "stale_steps": [
                {"from": one.before, "to": one.after, "finding": one.finding,
                 "direction": one.direction}
                for one in self.stale
            ],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReleaseNotes:
    """What is known of releases besides their runs: why some were lost, and what people have
    written about the steps between them."""

    lost: Mapping[str, str]
    steps: Sequence[ReviewedStep] = ()


def is_of_releases(targets: TargetMatrix, notes: ReleaseNotes) -> bool:
    """Whether the runs are of one target, each of another release, and three or more, or some were
    lost."""
    names = [run.about.release for run in targets.runs]
    ids = {run.about.target for run in targets.runs}
    apart = len(ids) == 1 and "" not in names and len({*names}) == len(names)
    return apart and (len(names) >= RELEASES_MIN or bool(notes.lost))


def arrange_releases(
    targets: TargetMatrix, compared: Sequence[Compared], notes: ReleaseNotes
) -> ReleaseMatrix:
    """The heat map of the runs of one target, each of another release."""
    steps = list_steps(targets, compared, notes.steps)
    stale = list_stale(steps, notes.steps, targets)
    return ReleaseMatrix(
        targets.runs[0].about.title,
        tuple(_arrange(targets, notes.lost)),
        targets.rows,
        steps,
        stale,
    )


def _arrange(targets: TargetMatrix, lost: Mapping[str, str]) -> Iterator[ReleaseColumn]:
    """The columns of runs in their order; a lost release comes before the next higher one."""
    waiting = sorted(lost, key=numbers)
    for at, run in enumerate(targets.runs):
        while waiting and numbers(waiting[0]) < numbers(run.about.release):
            name = waiting.pop(0)
            yield ReleaseColumn(name, why=lost[name])
        yield ReleaseColumn(run.about.release, at, run)
    yield from (ReleaseColumn(name, why=lost[name]) for name in waiting)
