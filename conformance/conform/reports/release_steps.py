"""Lists the differences between releases that follow each other: what was mended, what broke, and
what changed otherwise, each with its cause as a person wrote it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from charter.formats.canonical import Json
from charter.formats.findings.steps import ReviewedStep
from charter.formats.releases import numbers
from conform.judging.siblings import split_entries
from conform.reports.releases import Compared, DifferenceGroup
from conform.reports.runs import ReportedRun
from conform.reports.target_matrix import CellKind, FindingCell, TargetMatrix

UNKNOWN_CAUSE = "not known"
CHANGED_DIRECTION = "changed"
_GONE_KINDS = frozenset({CellKind.ABSENT, CellKind.NOT_APPLICABLE})


@dataclass(frozen=True, slots=True)
class ReleaseStep:
    """A difference between a run and the one before it. `finding` names it for notes, `title` says
    it to readers; `vector` shows it in `run`. `cause` is what a person wrote, with the `key` of a
    public source, or "not known"."""

    before: ReportedRun
    after: ReportedRun
    finding: str
    title: str
    direction: str
    vector: str
    run: ReportedRun
    vectors: int = 1
    cause: str = UNKNOWN_CAUSE
    key: str = ""

    @property
    def releases(self) -> tuple[str, str]:
        return self.before.about.release, self.after.about.release

    def json(self) -> dict[str, Json]:
        before, after = self.releases
        return {
            "from": before, "to": after, "finding": self.finding, "title": self.title,
            "direction": self.direction, "vector": self.vector, "vectors": self.vectors,
            "cause": self.cause, "key": self.key,
        }  # fmt: skip


def list_steps(
    targets: TargetMatrix, compared: Sequence[Compared], notes: Sequence[ReviewedStep]
) -> tuple[ReleaseStep, ...]:
    """The differences between the runs of a table that follow each other, in their order."""
    return tuple(explain(step, notes) for step in _list(targets, compared))


def list_stale(
    steps: Sequence[ReleaseStep], notes: Sequence[ReviewedStep], targets: TargetMatrix
) -> tuple[ReviewedStep, ...]:
    """The notes about two releases of a table that follow each other, and do not differ so."""
    found = {(*one.releases, one.finding, one.direction) for one in steps}
    names = [run.about.release for run in targets.runs]
    pairs = {*pairwise(names)}
    return tuple(
        one
        for one in notes
        if (one.before, one.after) in pairs
        and (one.before, one.after, one.finding, one.direction) not in found
    )


def explain(step: ReleaseStep, notes: Sequence[ReviewedStep]) -> ReleaseStep:
    """A difference with its cause. If the table skips releases, that is what is known of the steps
    in between. A set of entries comes or goes with its members."""
    part = [one for one in notes if _is_part(one, step)]
    between = [one for one in part if one.finding == step.finding]
    if not between and step.direction != CHANGED_DIRECTION:
        members = split_entries(step.finding)
        between = [
            one for one in part if one.finding in members and one.direction == step.direction
        ]
    if not between:
        return step
    between.sort(key=lambda one: numbers(one.before))
    if step.direction != CHANGED_DIRECTION:
        between = between[-1:]  # what a finding is in the end, its last change made
    if any(one.direction != step.direction for one in between):
        return step
    whole = len(between) == 1 and (between[0].before, between[0].after) == step.releases
    causes = [one.cause if whole else f"in {one.after} {one.cause}" for one in between]
    keys = dict.fromkeys(one.key for one in between if one.key)
    return replace(step, cause="; ".join(causes), key=", ".join(keys))


def _is_part(note: ReviewedStep, step: ReleaseStep) -> bool:
    """Whether the releases of a note are those of a step, or between them."""
    before, after = step.releases
    ascending = [numbers(one) for one in (before, note.before, note.after, after)]
    return ascending == sorted(ascending)


def _list(targets: TargetMatrix, compared: Sequence[Compared]) -> Iterator[ReleaseStep]:
    pairs = {(one.left.slug, one.right.slug): one for one in compared}
    for at, (before, after) in enumerate(pairwise(targets.runs)):
        for row in targets.rows:
            left, right = row.cells[at : at + 2]
            direction = _direct(left, right)
            if direction:
                cell, run = (left, before) if left.finding else (right, after)
                title = row.finding.title
                yield ReleaseStep(before, after, row.finding.id, title, direction, cell.vector, run,
                                  cell.vectors)  # fmt: skip
        yield from _list_changed(before, after, pairs.get((before.slug, after.slug)))


def _list_changed(
    before: ReportedRun, after: ReportedRun, compared: Compared | None
) -> Iterator[ReleaseStep]:
    """What both runs answer differently though they show the same findings there."""
    first: dict[str, DifferenceGroup] = {}
    counts = Counter[str]()
    for group in compared.groups if compared else ():
        if not _is_of_finding(group):
            first.setdefault(_name(group), group)
            counts[_name(group)] += group.count
    for name, group in first.items():
        vector = group.example.id
        yield ReleaseStep(before, after, name, name, CHANGED_DIRECTION, vector, after, counts[name])


def _direct(left: FindingCell, right: FindingCell) -> str:
    """What became of a finding from one release to the next; "" if that is the same, or unknown."""
    if left.kind is CellKind.PRESENT and right.kind in _GONE_KINDS:
        return "mended"
    return "broken" if right.kind is CellKind.PRESENT and left.kind in _GONE_KINDS else ""


def _is_of_finding(group: DifferenceGroup) -> bool:
    """Whether questions are answered differently since one of the runs shows a finding there that
    the other does not."""
    left, right = ({one.id for one in side} for side in group.findings)
    return left != right


def _name(group: DifferenceGroup) -> str:
    """What differs, in words that a note can name: the operation, and the variables."""
    one = group.example
    places = sorted({path.partition(".")[0] or "state" for path in one.where})
    return f"{one.operation or 'start'}: {', '.join(places) or one.nowhere}"
