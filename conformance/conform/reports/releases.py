"""Compares each run with the one before it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from charter.formats.canonical import Json
from conform.console.errors import BadRun
from conform.console.terminal import plural
from conform.judging.written_values import show
from conform.reports.findings import Finding
from conform.reports.matrix import Reading
from conform.reports.runs import ReportedRun
from conform.reports.traces import ReportedStep, VectorTrace
from conform.reports.values import FieldRow, rows
from conform.runs.compare import Comparison, NothingInCommon, RunDifference, compare, kinds_told

_GROUPS = 40


@dataclass(frozen=True, slots=True)
class DifferenceGroup:
    """Questions whose answers differ between two runs in the same way. `example` has the fewest
    steps up to the difference; `findings` are those of the example, by run."""

    example: RunDifference
    count: int
    findings: tuple[tuple[Finding, ...], tuple[Finding, ...]]

    @property
    def replies(self) -> tuple[str, str]:
        return show(self.example.replies[0]), show(self.example.replies[1])

    @property
    def same_reply(self) -> bool:
        return bool(self.example.replies[0] == self.example.replies[1])


@dataclass(frozen=True, slots=True)
class Compared:
    """Two runs compared. `refused` is the reason if they cannot be ("" otherwise), `judged` says
    that verdicts differ though what was observed is the same, `left_out` what was not compared."""

    left: ReportedRun
    right: ReportedRun
    both: int = 0
    differing: int = 0
    only: tuple[int, int] = (0, 0)
    kinds: tuple[tuple[str, str, int], ...] = ()
    groups: tuple[DifferenceGroup, ...] = ()
    more: int = 0
    refused: str = ""
    judged: str = ""
    left_out: tuple[str, ...] = ()


def comparisons(read: Sequence[Reading]) -> tuple[Compared, ...]:
    """Each run compared with the one before it, in the order given."""
    return tuple(_compare(left, right) for left, right in pairwise(read))


@dataclass(frozen=True, slots=True)
class Detail:
    """The first step in which two runs differ: each run's step, and the `calls` up to there."""

    group: DifferenceGroup
    steps: tuple[ReportedStep, ReportedStep]
    fields: tuple[FieldRow, ...]
    calls: tuple[str, ...]


def details(
    compared: Compared, left: Mapping[str, VectorTrace], right: Mapping[str, VectorTrace]
) -> tuple[Detail, ...]:
    """The differing steps of the groups of a comparison, for those that were observed."""
    found = []
    for group in compared.groups:
        traces = left.get(group.example.id), right.get(group.example.id)
        number = group.example.step
        if traces[0] is None or traces[1] is None or number < 0:
            continue
        steps = traces[0].steps[number], traces[1].steps[number]
        before = traces[0].steps[number - 1].state if number else None
        one, other = _comparable(*steps)
        about = compared.left.places, steps[0].operation
        fields = rows(before, one, other, about)
        calls = tuple(step.call for step in traces[0].steps[1 : number + 1])
        found.append(Detail(group, steps, fields, calls))
    return tuple(found)


def _comparable(left: ReportedStep, right: ReportedStep) -> tuple[dict[str, Json], dict[str, Json]]:
    """The two outcomes; only their replies if one of them lacks a state."""
    if left.state is None or right.state is None:
        return {"reply": left.reply}, {"reply": right.reply}
    return (
        {"reply": left.reply, "observation": left.state},
        {"reply": right.reply, "observation": right.state},
    )


def examples(found: Sequence[Compared], run: ReportedRun) -> list[str]:
    """The vectors in the comparisons of a run."""
    return [
        group.example.id
        for compared in found
        if run in (compared.left, compared.right)
        for group in compared.groups
    ]


def _compare(left: Reading, right: Reading) -> Compared:
    try:
        found = compare(str(left.run.folder), str(right.run.folder))
    except NothingInCommon:
        variants = (left.run.about.variant, right.run.about.variant)
        why = "they are judged against different variants" if variants[0] != variants[1] else (
            "they ran different suites")  # fmt: skip
        return Compared(left.run, right.run, refused=f"They have no question in common: {why}.")
    except BadRun as error:
        return Compared(left.run, right.run, refused=_sentence(str(error)))
    counts = Counter(item.group for item in found.differences)
    first: dict[tuple[str, ...], RunDifference] = {}
    for item in sorted(found.differences, key=_rank):
        first.setdefault(item.group, item)
    groups = [DifferenceGroup(first[name], count, _findings(first[name].id, (left, right)))
              for name, count in counts.most_common()]  # fmt: skip
    groups.sort(key=lambda group: (*_rank(group.example)[:2], -group.count, group.example.id))
    kinds = tuple((a, b, count) for (a, b), count in found.kinds.most_common())
    return Compared(left.run, right.run, found.both, found.differing, found.only, kinds,
                    tuple(groups[:_GROUPS]), max(0, len(groups) - _GROUPS),
                    judged=_sentence(found.judged_told), left_out=_left_out(found))  # fmt: skip


def _left_out(found: Comparison) -> tuple[str, ...]:
    """Sentences: what was not compared, and why the runs cannot be called alike."""
    count = sum(found.unknown.values())
    unknown = [f"{plural(count, 'vector')} not judged in both: {kinds_told(found.unknown)}"]
    told = [*(unknown if count else ()), *found.hidden_told, *found.reasons]
    return tuple(map(_sentence, dict.fromkeys(told)))


def _sentence(told: str) -> str:
    return f"{told[:1].upper()}{told[1:]}." if told else ""


def _rank(item: RunDifference) -> tuple[bool, int, str]:
    return item.step < 0, item.step, item.id


def _findings(
    vector: str, read: tuple[Reading, Reading]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    left, right = (tuple(f for f in item.findings if vector in f.cases) for item in read)
    return left, right
