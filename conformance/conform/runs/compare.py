"""Compares the behaviour in two runs, question by question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from conform.console.errors import BadRun
from conform.judging.differ import paths
from conform.judging.relabel import key
from conform.judging.walk import shows_part
from conform.storage.observations import labelled_by, observations, renamed_steps
from conform.storage.store import RunFolder

_EXAMINED = 2_000


@dataclass(frozen=True, slots=True)
class RunDifference:
    """One question with different results in two runs: `step` is the first different step (-1 if
    the observations are equal), `where` the different paths (`image` if only one image agrees with
    the observation; empty if one run has no observation). Differences with equal `group` are shown
    together."""

    id: str
    kinds: tuple[str, str]
    step: int
    operation: str
    where: tuple[str, ...]
    replies: tuple[Json, Json]

    @property
    def group(self) -> tuple[str, ...]:
        return (*self.kinds, self.operation, *self.where)

    @property
    def nowhere(self) -> str:
        """The text for a difference without paths."""
        return "both observed the same" if self.step < 0 else "one of them observed nothing"

    def json(self) -> dict[str, Json]:
        return {
            "id": self.id,
            "kinds": list(self.kinds),
            "step": self.step,
            "operation": self.operation,
            "where": list(self.where),
            "replies": list(self.replies),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of comparing two runs."""

    runs: tuple[RunFolder, RunFolder]
    both: int
    only: tuple[int, int]
    differing: int
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    differences: tuple[RunDifference, ...] = ()


@dataclass(frozen=True, slots=True)
class _Verdict:
    kind: str
    behaviour: str
    bucket: int


def compare(left: str, right: str) -> Comparison:
    """Compare two runs by the questions that are in both. Raises `BadRun`."""
    runs = (_opened(left), _opened(right))
    types = [labelled_by(run.read_json("run.json")) for run in runs]
    if types[0].differ != types[1].differ:
        old = (left, right)[types[0].differ]
        raise BadRun(
            f"an earlier version judged {old}, and compared opaque values of different types; run"
            " it again, or judge it again with `conform rejudge`"
        )
    first, second = _verdicts(runs[0]), _verdicts(runs[1])
    shared = first.keys() & second.keys()
    if not shared:
        raise BadRun(f"{left} and {right} have no question in common; run the same suite on both")
    differing = sorted(
        name
        for name in shared
        if (first[name].kind, first[name].behaviour) != (second[name].kind, second[name].behaviour)
    )
    kinds = Counter((first[name].kind, second[name].kind) for name in differing)
    examined = differing[:_EXAMINED]
    operations = _operations(runs[0], examined) or _operations(runs[1], examined)
    seen = (
        _steps(runs[0], {name: first[name].bucket for name in examined}, types[0], operations),
        _steps(runs[1], {name: second[name].bucket for name in examined}, types[1], operations),
    )
    found = tuple(
        difference(
            name,
            (first[name].kind, second[name].kind),
            (seen[0].get(name, []), seen[1].get(name, [])),
            operations.get(name, []),
        )
        for name in examined
    )
    only = (len(first) - len(shared), len(second) - len(shared))
    return Comparison(runs, len(shared), only, len(differing), kinds, found)


def _opened(place: str) -> RunFolder:
    folder = RunFolder(place if "://" in place else str(Path(place).resolve()))
    folder.check()
    return folder


def _verdicts(folder: RunFolder) -> dict[str, _Verdict]:
    table = folder.table("verdicts", ["id", "kind", "behaviour"])
    columns = [column.to_pylist() for column in table.columns]
    return {name: _Verdict(*rest) for name, *rest in zip(*columns, strict=True)}


Steps = list[tuple[Json, Json, bool]]


def _steps(
    folder: RunFolder,
    wanted: Mapping[str, int],
    opaque: OpaqueTypes,
    operations: Mapping[str, list[str]],
) -> dict[str, Steps]:
    """The relabelled steps of the wanted questions, which come with their buckets: reply,
    observation, and whether the image agrees with it."""
    found: dict[str, Steps] = {}
    for bucket in sorted(set(wanted.values())):
        for observed in observations(folder, bucket):
            for result in observed.results.results:
                if result.id in wanted:
                    values, called = observed.results.values, operations.get(result.id, [])
                    renamed = renamed_steps(values, result.steps, opaque, called)
                    found[result.id] = [
                        (*step, _agrees(values, indices))
                        for step, indices in zip(renamed, result.steps, strict=False)
                    ]
    return found


def _agrees(values: Sequence[Json], step: Sequence[int]) -> bool:
    """Whether the image of a step agrees with its observation, if there are both."""
    _, observation, image = step
    try:
        return min(observation, image) < 0 or shows_part(values[image], values[observation])
    except (IndexError, TypeError):
        return False


def _operations(folder: RunFolder, wanted: list[str]) -> dict[str, list[str]]:
    """The operations of questions, if the suite of the run is still in the cache."""
    from conform.console.errors import BadSuite
    from conform.suites.cache import bucket_of, open_suite

    try:
        suite = open_suite(str(folder.read_json("run.json")["suite"]), 1)
    except BadSuite:
        return {}
    found = {}
    names = set(wanted)
    for bucket in sorted({bucket_of(name, suite.buckets) for name in wanted}):
        for item in suite.items(bucket):
            if item.id in names:
                calls = orjson.loads(item.question)["operations"]
                found[item.id] = [call["operation"] for call in calls]
    return found


def difference(
    name: str, kinds: tuple[str, str], seen: tuple[Steps, Steps], operations: list[str]
) -> RunDifference:
    """The first difference of two runs in one question."""
    for step, (one, other) in enumerate(zip(*seen, strict=False)):
        if key(list(one)) != key(list(other)):
            where = tuple(paths(one[0], other[0], "reply")) + tuple(paths(one[1], other[1], ""))
            where += ("image",) if one[2] != other[2] else ()
            operation = operations[step - 1] if 0 < step <= len(operations) else ""
            return RunDifference(name, kinds, step, operation, where, (one[0], other[0]))
    shorter, longer = sorted(map(len, seen))
    return RunDifference(name, kinds, -1 if shorter == longer else shorter, "", (), (None, None))
