"""Compares the behaviour in two runs, question by question."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from conform.console.errors import BadRun
from conform.console.terminal import number, plural
from conform.judging.differ import paths, value_at
from conform.judging.read_result import shows_part
from conform.judging.relabel import key
from conform.storage.observations import labelled_by, observations, renamed_steps
from conform.storage.store import RunFolder

_EXAMINED = 2_000


@dataclass(frozen=True, slots=True)
class RunDifference:
    """One question with different results in two runs: `step` is the first different step (-1 if
    there is none), `where` the different paths (`image` if only one image agrees with the
    observation; empty if one run has no observation), `observed` whether one run has one, `states`
    the values at the different paths of the state, left and right. Differences with equal
    `group` are shown together."""

    id: str
    kinds: tuple[str, str]
    step: int
    operation: str
    where: tuple[str, ...]
    replies: tuple[Json, Json]
    observed: bool = True
    states: tuple[tuple[str, Json, Json], ...] = ()

    @property
    def group(self) -> tuple[str, ...]:
        return (*self.kinds, self.operation, *self.where)

    @property
    def nowhere(self) -> str:
        """The text for a difference without paths."""
        if not self.observed:
            return "both observed nothing"
        return "both observed the same" if self.step < 0 else "one of them observed nothing"

    def json(self) -> dict[str, Json]:
        return {
            "id": self.id,
            "kinds": list(self.kinds),
            "step": self.step,
            "operation": self.operation,
            "where": list(self.where),
            "replies": list(self.replies),
            "states": {path: [left, right] for path, left, right in self.states},
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of comparing two runs. `differing` questions were answered differently; of those
    in `judged` both runs observed the same, but the verdicts differ, since what `differs` does."""

    runs: tuple[RunFolder, RunFolder]
    both: int
    only: tuple[int, int]
    differing: int
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    differences: tuple[RunDifference, ...] = ()
    judged: Counter[tuple[str, str]] = field(default_factory=Counter)
    differs: str = ""

    @property
    def judged_told(self) -> str:
        """That verdicts differ though what was observed is the same; "" if none does."""
        if not self.judged:
            return ""
        count = sum(self.judged.values())
        are = "is" if count == 1 else "are"
        kinds = "; ".join(
            f"{number(many)} left {left}, right {right}".replace("_", " ")
            for (left, right), many in self.judged.most_common()
        )
        return (
            f"{self.differs} differs: {plural(count, 'vector')} {are} judged differently ({kinds}),"
            " what was observed is the same"
        )


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
    pairs = {name: (first[name], second[name]) for name in differing}
    judged = _judged_only(runs, types, pairs)
    differing = [name for name in differing if name not in judged]
    examined = differing[:_EXAMINED]
    operations = _operations(runs, examined)
    seen = [
        dict(_steps(run, {name: pairs[name][side].bucket for name in examined}, of, operations))
        for side, (run, of) in enumerate(zip(runs, types, strict=True))
    ]
    found = tuple(
        difference(
            name,
            _kinds(pairs[name]),
            (seen[0].get(name, []), seen[1].get(name, [])),
            operations.get(name, []),
        )
        for name in examined
    )
    return Comparison(
        runs,
        both=len(shared),
        only=(len(first) - len(shared), len(second) - len(shared)),
        differing=len(differing),
        kinds=Counter(_kinds(pairs[name]) for name in differing),
        differences=found,
        judged=Counter(_kinds(pairs[name]) for name in judged),
        differs=differs(*(run.read_json("run.json") for run in runs)),
    )


def _kinds(pair: tuple[_Verdict, _Verdict]) -> tuple[str, str]:
    return pair[0].kind, pair[1].kind


def _judged_only(
    runs: tuple[RunFolder, RunFolder],
    types: Sequence[OpaqueTypes],
    pairs: Mapping[str, tuple[_Verdict, _Verdict]],
) -> set[str]:
    """The questions of which both runs observed the same, with the same images: only the verdicts
    differ."""
    perhaps = [name for name, pair in pairs.items() if _perhaps_same(*pair)]
    operations = _operations(runs, perhaps)
    digests: list[dict[str, bytes]] = []
    for side, (run, of) in enumerate(zip(runs, types, strict=True)):
        wanted = {name: pairs[name][side].bucket for name in perhaps}
        steps = _steps(run, wanted, of, operations)
        digests.append({name: _digest(found) for name, found in steps if found})
    return {name for name in digests[0] if digests[0][name] == digests[1].get(name)}


def _perhaps_same(one: _Verdict, other: _Verdict) -> bool:
    """Whether two runs may have observed the same: a verdict on the adapter has no behaviour."""
    return one.behaviour == other.behaviour or not (one.behaviour and other.behaviour)


def _digest(steps: Steps) -> bytes:
    return hashlib.sha256(key([list(step) for step in steps])).digest()


def differs(one: Mapping[str, Json], other: Mapping[str, Json]) -> str:
    """What differs between two runs, by their run.json, so that their verdicts on the same
    observation do."""
    for name, what in (
        ("spec_digest", "the charter"),
        ("entries", "the overlay"),
        ("suite", "the suite"),
    ):
        if one.get(name) != other.get(name):
            return what
    return "the judge"


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
) -> Iterator[tuple[str, Steps]]:
    """The relabelled steps of the wanted questions, which come with their buckets: reply,
    observation, and whether the image agrees with it."""
    for bucket in sorted(set(wanted.values())):
        for observed in observations(folder, bucket):
            for result in observed.results.results:
                if result.id in wanted:
                    values, called = observed.results.values, operations.get(result.id, [])
                    renamed = renamed_steps(values, result.steps, opaque, called)
                    yield (
                        result.id,
                        [
                            (*step, _agrees(values, indices))
                            for step, indices in zip(renamed, result.steps, strict=False)
                        ],
                    )


def _agrees(values: Sequence[Json], step: Sequence[int]) -> bool:
    """Whether the image of a step agrees with its observation, if there are both."""
    _, observation, image = step
    try:
        return min(observation, image) < 0 or shows_part(values[image], values[observation])
    except (IndexError, TypeError):
        return False


def _operations(runs: tuple[RunFolder, RunFolder], wanted: list[str]) -> dict[str, list[str]]:
    """The operations of questions, if the suite of one of the runs is still in the cache."""
    return _operations_of(runs[0], wanted) or _operations_of(runs[1], wanted)


def _operations_of(folder: RunFolder, wanted: list[str]) -> dict[str, list[str]]:
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
            inside = tuple(paths(one[1], other[1], ""))
            where = (*paths(one[0], other[0], "reply"), *inside)
            where += ("image",) if one[2] != other[2] else ()
            operation = operations[step - 1] if 0 < step <= len(operations) else ""
            states = tuple((at, value_at(one[1], at), value_at(other[1], at)) for at in inside)
            replies = (one[0], other[0])
            return RunDifference(name, kinds, step, operation, where, replies, states=states)
    shorter, longer = sorted(map(len, seen))
    step = -1 if shorter == longer else shorter
    return RunDifference(name, kinds, step, "", (), (None, None), observed=longer > 0)
