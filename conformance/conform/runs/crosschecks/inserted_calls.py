"""Compares the answers to a question with those to the same question with operations inserted.
Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from charter.formats.adapter import Result, is_fault
from charter.formats.canonical import Json
from charter.formats.labels import Labels
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_number
from charter.formats.status import Status
from conform.judging.automaton import AnswerJson
from conform.judging.differ import RelabelledStep
from conform.judging.read_result import BatchTexts, project
from conform.judging.relabel import key

_STATUSES_READ = (Status.OK, Status.UNRESOLVED)
Front = frozenset[int]


@dataclass(frozen=True, slots=True)
class InsertedPlace:
    """Where operations are inserted: after the first `start` of a question, `size` of them."""

    start: int
    size: int

    def move(self, step: int) -> int:
        """The number that a step of the question has in the longer one."""
        return step if step <= self.start else step + self.size

    @property
    def last(self) -> int:
        """The number of the last step that is inserted."""
        return self.start + self.size

    def insert_images(self, delta: Json) -> Json:
        """The steps of a longer question after which images are shown. One of them is the last
        that is inserted: a reader that begins with a snapshot then has another image."""
        if not isinstance(delta, list):
            return delta
        return [*sorted({*(self.move(own_number(step)) for step in delta), self.last})]

    def leave_out_images(self, delta: Json) -> Json:
        """The steps of the shorter question after which images are shown."""
        if not isinstance(delta, list):
            return delta
        kept = [step for step in map(own_number, delta) if not self.start < step <= self.last]
        return [step if step <= self.start else step - self.size for step in kept]


NOWHERE = InsertedPlace(0, 0)
"""The place of a question in which nothing is inserted."""


@dataclass(frozen=True, slots=True)
class _AnswerView:
    """An answer with the texts of its values."""

    answer: AnswerJson
    replies: Sequence[bytes]
    observations: Sequence[bytes]

    @classmethod
    def of(cls, answer: AnswerJson) -> _AnswerView:
        return cls(answer, [*map(key, answer["replies"])], [*map(key, answer["observations"])])

    def follow(self, step: int, front: Front) -> dict[tuple[bytes, bytes], Front]:
        """The nodes of a step behind some of the step before, by reply and observation."""
        found: dict[tuple[bytes, bytes], set[int]] = {}
        for position, node in enumerate(self.answer["steps"][step]):
            if not front.isdisjoint(node["from"]):
                reply = self.replies[node["reply"]] if node["reply"] >= 0 else b""
                shown = (reply, self.observations[node["observation"]])
                found.setdefault(shown, set()).add(position)
        return {shown: frozenset(nodes) for shown, nodes in found.items()}

    def list_shown(self, step: int, front: Front) -> set[bytes]:
        """What is observed in some nodes of a step."""
        nodes = self.answer["steps"][step]
        return {self.observations[nodes[position]["observation"]] for position in front}


def are_expected_alike(short: AnswerJson, long: AnswerJson, place: InsertedPlace) -> bool:
    """Whether two answers allow the same replies and observations in all steps but those that are
    inserted, which change nothing that is observed."""
    one, other = _AnswerView.of(short), _AnswerView.of(long)
    pairs: set[tuple[Front, Front]] = {(frozenset({0}), frozenset({0}))}
    for step in range(len(short["steps"])):
        if step:
            following = set[tuple[Front, Front]]()
            for mine, its in pairs:
                left, right = one.follow(step, mine), other.follow(place.move(step), its)
                if left.keys() != right.keys():
                    return False
                following |= {(left[shown], right[shown]) for shown in left}
            pairs = following
        if step == place.start:
            passed = {(mine, _pass(other, its, place)) for mine, its in pairs}
            if any(one.list_shown(step, a) != other.list_shown(place.last, b) for a, b in passed):
                return False
            pairs = passed
    return True


def _pass(view: _AnswerView, front: Front, place: InsertedPlace) -> Front:
    """The nodes behind the operations that are inserted."""
    for step in range(place.start + 1, place.last + 1):
        front = frozenset[int]().union(*view.follow(step, front).values())
    return front


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question that a target has answered: its operations, the result, and the values of its
    batch, cut down to the variables in `observes` (None: all)."""

    calls: Sequence[Mapping[str, Json]]
    result: Result
    batch: BatchTexts
    observes: Sequence[str] | None = None

    @property
    def is_whole(self) -> bool:
        """Whether a step is there for all operations, or up to one that cannot be put."""
        return self.result.status in _STATUSES_READ

    def relabel(self, steps: Sequence[int], opaque: OpaqueTypes) -> list[RelabelledStep]:
        """Some steps, relabelled as if there were no others; up to the first that is not there.
        Raises `ValueError` for a value that no type has."""
        labels, found = Labels(opaque), list[RelabelledStep]()
        for step in steps:
            if step >= len(self.result.steps):
                break
            reply, observation, _ = self.result.steps[step]
            operation = str(self.calls[step - 1]["operation"]) if step else ""
            shown = self.batch.at(observation)
            shown = shown if self.observes is None else project(shown, self.observes)
            seen = labels.step(self.batch.at(reply), shown, operation)
            labels = seen[2]
            found.append(RelabelledStep(seen[0], seen[1], is_fault(seen[0])))
        return found


@dataclass(frozen=True, slots=True)
class UnlikeStep:
    """The first step, numbered as in the longer question, in which it is answered otherwise:
    `wanted` as in the shorter one, `seen` in the longer one, `before` it."""

    step: int
    wanted: RelabelledStep
    seen: RelabelledStep
    before: Json


def find_unlike(
    short: AnsweredQuestion, long: AnsweredQuestion, place: InsertedPlace, opaque: OpaqueTypes
) -> UnlikeStep | None:
    """The first step that two answers show differently; None if there is none, or if one ends in a
    fault before: that is a deviation of its own. Raises `ValueError` for a value that no type
    has."""
    if not (short.is_whole and long.is_whole):
        return None
    count = len(short.calls) + 1
    one = short.relabel(range(count), opaque)
    other = long.relabel([place.move(step) for step in range(count)], opaque)
    inserted = long.relabel([*range(place.start + 1), place.last], opaque)
    for step, (wanted, seen) in enumerate(zip(one, other, strict=False)):
        before = one[step - 1].observation if step else None
        if wanted.fault or seen.fault:
            return None
        if _text(wanted) != _text(seen):
            return UnlikeStep(place.move(step), wanted, seen, before)
        if step == place.start and len(inserted) == step + 2:
            last = inserted[-1]
            if last.fault:
                return None
            if key(last.observation) != key(wanted.observation):
                quiet = RelabelledStep(last.reply, wanted.observation)
                return UnlikeStep(place.last, quiet, last, wanted.observation)
    return None


def _text(step: RelabelledStep) -> tuple[bytes, bytes]:
    return key(step.reply), key(step.observation)
