"""Compares the behaviour in two runs, question by question."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from charter.formats.adapter import without_message
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.run_description import RunDescription
from charter.formats.verdict import JUDGED
from conform.console.errors import BadRun
from conform.console.terminal import number, plural
from conform.judging.differ import paths, value_at
from conform.judging.read_result import shows_part
from conform.judging.relabel import key
from conform.runs.judged_rows import VERDICT_COLUMNS, VerdictRow, index_verdicts
from conform.runs.not_compared import obstacle
from conform.storage.bucket_store import RunFolder
from conform.storage.observations import observations, read_label_types, rename_steps

_EXAMINED = 2_000


class NothingInCommon(BadRun):
    """Two runs had different questions."""


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
    in `judged` both runs observed the same, but the verdicts differ, since what `differs` does.
    Those in `unknown` were not judged in one of the runs. `hidden` are the variables that only one
    run shows, by the run that does not show them; they are not compared. `reasons` are sentences
    why the runs cannot be called alike, whatever was compared."""

    runs: tuple[RunFolder, RunFolder]
    both: int
    only: tuple[int, int]
    differing: int
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    differences: tuple[RunDifference, ...] = ()
    judged: Counter[tuple[str, str]] = field(default_factory=Counter)
    differs: str = ""
    unknown: Counter[tuple[str, str]] = field(default_factory=Counter)
    hidden: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    trusted: tuple[bool, bool] = (True, True)
    reasons: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0: both behaved alike in all that was compared, and the rest may be left out."""
        if self.differing and all(self.trusted):
            return 1
        return 3 if self.reasons else 0

    @property
    def judged_told(self) -> str:
        """That verdicts differ though what was observed is the same; "" if none does."""
        if not self.judged:
            return ""
        count = sum(self.judged.values())
        are = "is" if count == 1 else "are"
        shown = "what both show" if any(self.hidden) else "what was observed"
        return (
            f"{self.differs} differs: {plural(count, 'vector')} {are} judged differently"
            f" ({kinds_told(self.judged)}), {shown} is the same"
        )

    @property
    def hidden_told(self) -> tuple[str, ...]:
        """Sentences: the variables that are not compared, by the run that does not show them."""
        sides = zip(_SIDES, self.hidden, strict=True)
        return tuple(f"the run {side} does not show {_variables(names)}" for side, names in sides
                     if names)  # fmt: skip


_SIDES = ("left", "right")


def kinds_told(kinds: Counter[tuple[str, str]]) -> str:
    """Pairs of verdicts with their numbers, in words."""
    return "; ".join(
        f"{number(many)} left {left}, right {right}".replace("_", " ")
        for (left, right), many in kinds.most_common()
    )


def _variables(names: Sequence[str]) -> str:
    return f"the variable{'s' if len(names) > 1 else ''} {', '.join(names)}"


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the runs, with its run.json (`about`), its verdicts, and their `buckets`."""

    folder: RunFolder
    about: RunDescription
    opaque: OpaqueTypes
    verdicts: Mapping[str, VerdictRow]
    buckets: Mapping[str, int]

    def leaves_open(self, name: str) -> bool:
        """Whether a question was not judged, and nothing allows that."""
        verdict, allowed = self.verdicts[name], self.about.not_compared
        row = {"id": name, "kind": verdict.kind, "detail": verdict.detail}
        return verdict.kind not in JUDGED and obstacle(row, allowed) not in allowed


@dataclass(frozen=True, slots=True)
class _TwoRuns:
    """Two runs, and the variables that both show (None: they show the same)."""

    sides: tuple[_Side, _Side]
    observes: tuple[str, ...] | None

    def kinds(self, name: str) -> tuple[str, str]:
        return self.sides[0].verdicts[name].kind, self.sides[1].verdicts[name].kind

    def perhaps_differ(self, name: str) -> bool:
        """Whether the verdicts of a question leave open that the runs behaved differently."""
        one, other = (side.verdicts[name] for side in self.sides)
        return bool(self.observes) or (one.kind, one.behaviour) != (other.kind, other.behaviour)

    def perhaps_same(self, name: str) -> bool:
        """Whether they leave open that the runs observed the same: what broke the adapter has no
        behaviour."""
        one, other = (side.verdicts[name].behaviour for side in self.sides)
        return bool(self.observes) or one == other or not (one and other)

    def same(self, names: Sequence[str]) -> set[str]:
        """The questions of which both runs observed the same, with the same images."""
        operations = _operations(self.sides, names)
        digests = [
            {name: _digest(steps) for name, steps in self.steps(side, names, operations) if steps}
            for side in self.sides
        ]
        return {name for name in digests[0] if digests[0][name] == digests[1].get(name)}

    def steps(
        self, side: _Side, wanted: Sequence[str], operations: Mapping[str, list[str]]
    ) -> Iterator[tuple[str, Steps]]:
        """The relabelled steps of questions in one of the runs: reply, observation, and whether the
        image agrees with it."""
        names = frozenset(wanted)
        for bucket in sorted({side.buckets[name] for name in names}):
            for observed in observations(side.folder, bucket):
                for result in observed.results.results:
                    if result.id in names:
                        values, called = observed.results.values, operations[result.id]
                        renamed = rename_steps(
                            values, result.steps, side.opaque, called, self.observes
                        )
                        yield (
                            result.id,
                            [
                                (*step, _agrees(values, indices))
                                for step, indices in zip(renamed, result.steps, strict=False)
                            ],
                        )


def compare(left: str, right: str) -> Comparison:
    """Compare two runs by the questions that are in both. Raises `BadRun`."""
    sides = (_open(left), _open(right))
    if sides[0].opaque.differ != sides[1].opaque.differ:
        old = (left, right)[sides[0].opaque.differ]
        raise BadRun(
            f"an earlier version judged {old}, and compared opaque values of different types; run"
            " it again, or judge it again with `conform rejudge`"
        )
    shared = sides[0].verdicts.keys() & sides[1].verdicts.keys()
    if not shared:
        raise NothingInCommon(
            f"{left} and {right} have no question in common; run the same suite on both"
        )
    hidden = _list_hidden(*sides)
    common = tuple(
        name for name in sorted(sides[0].about.observes) if name in sides[1].about.observes
    )
    pair = _TwoRuns(sides, common if any(hidden) else None)
    unknown = {name for name in shared if not JUDGED.issuperset(pair.kinds(name))}
    perhaps = sorted(name for name in shared - unknown if pair.perhaps_differ(name))
    same = pair.same([name for name in perhaps if pair.perhaps_same(name)])
    differing = [name for name in perhaps if name not in same]
    reasons = _reasons(pair, hidden, unknown, len(shared))
    folders = (sides[0].folder, sides[1].folder)
    return Comparison(
        folders,
        both=len(shared),
        only=(len(sides[0].verdicts) - len(shared), len(sides[1].verdicts) - len(shared)),
        differing=len(differing),
        kinds=Counter(map(pair.kinds, differing)),
        differences=_differences(pair, differing[:_EXAMINED]),
        judged=Counter(kinds for kinds in map(pair.kinds, same) if kinds[0] != kinds[1]),
        differs=SHOWN if any(hidden) else differs(sides[0].about, sides[1].about),
        unknown=Counter(map(pair.kinds, unknown)),
        hidden=hidden,
        trusted=(_is_trusted(folders[0]), _is_trusted(folders[1])),
        reasons=reasons,
    )


SHOWN = "what the runs show"
"""What differs if one run shows variables that the other does not."""


def _list_hidden(left: _Side, right: _Side) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables that the left run does not show and the right one does, and the reverse."""
    return (
        tuple(name for name in right.about.observes if name not in left.about.observes),
        tuple(name for name in left.about.observes if name not in right.about.observes),
    )


def _is_trusted(folder: RunFolder) -> bool:
    return folder.read_json("summary.json").get("trusted") is True


def _reasons(
    pair: _TwoRuns, hidden: tuple[tuple[str, ...], ...], unknown: Collection[str], both: int
) -> tuple[str, ...]:
    """Why two runs cannot be called alike, whatever was compared."""
    reasons = []
    doubted = [name for name, side in zip(_SIDES, pair.sides, strict=True)
               if not _is_trusted(side.folder)]  # fmt: skip
    if doubted:
        runs = f"run {doubted[0]} is" if len(doubted) == 1 else "runs left and right are"
        reasons.append(f"the {runs} not to be trusted")
    still_open = sum(any(side.leaves_open(name) for side in pair.sides) for name in unknown)
    if still_open:
        were = "was" if still_open == 1 else "were"
        reasons.append(
            f"{number(still_open)} of {plural(both, 'question')} {were} not judged in one of the"
            " runs"
        )
    elif len(unknown) == both:
        reasons.append("no question was judged in both runs")
    for name, side, names in zip(_SIDES, pair.sides, hidden, strict=True):
        if wrong := [one for one in names if f"variable {one}" not in side.about.not_compared]:
            reasons.append(f"the run {name} does not show {_variables(wrong)}")
    return tuple(reasons)


def _differences(pair: _TwoRuns, names: Sequence[str]) -> tuple[RunDifference, ...]:
    """Where the runs differ in some questions."""
    operations = _operations(pair.sides, names)
    seen = [dict(pair.steps(side, names, operations)) for side in pair.sides]
    return tuple(
        difference(
            name,
            pair.kinds(name),
            (seen[0].get(name, []), seen[1].get(name, [])),
            operations[name],
        )
        for name in names
    )


def _digest(steps: Steps) -> bytes:
    return hashlib.sha256(key([[without_message(one), *rest] for one, *rest in steps])).digest()


def differs(one: RunDescription, other: RunDescription) -> str:
    """What differs between two runs, by their run.json, so that their verdicts on the same
    observation do."""
    if one.spec_digest != other.spec_digest:
        return "the charter"
    if one.entries != other.entries:
        return "the overlay"
    return "the suite" if one.suite != other.suite else "the judge"


def _open(place: str) -> _Side:
    """A run to compare. Raises `BadRun` for one that did not end or was changed."""
    folder = RunFolder(place if "://" in place else str(Path(place).resolve()))
    folder.check()
    about = folder.read_run()
    table = folder.table("verdicts", VERDICT_COLUMNS)
    table = table.filter(pc.less(table["bucket"], about.suite_buckets))  # walks are no suite
    buckets = dict(zip(table["id"].to_pylist(), table["bucket"].to_pylist(), strict=True))
    return _Side(folder, about, read_label_types(about), index_verdicts(table), buckets)


Steps = list[tuple[Json, Json, bool]]


def _agrees(values: Sequence[Json], step: Sequence[int]) -> bool:
    """Whether the image of a step agrees with its observation, if there are both."""
    _, observation, image = step
    try:
        return min(observation, image) < 0 or shows_part(values[image], values[observation])
    except (IndexError, TypeError):
        return False


def _operations(sides: Sequence[_Side], names: Sequence[str]) -> dict[str, list[str]]:
    """The operations of questions, as one of the runs keeps them. Raises `BadRun` for runs of an
    earlier version, which kept none."""
    wanted = pa.array(names, pa.string())
    for side in sides:
        table = side.folder.table("verdicts", ["id", "operations"])
        if "operations" in table.column_names:
            rows = table.filter(pc.is_in(table["id"], value_set=wanted))
            return dict(zip(rows["id"].to_pylist(), rows["operations"].to_pylist(), strict=True))
    raise BadRun(
        f"an earlier version wrote {sides[0].folder.place} and {sides[1].folder.place}, without the"
        " operations of questions; run one of them again, or judge it again with `conform rejudge`"
    )


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
