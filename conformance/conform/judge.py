"""Judging one vector: what the adapter saw against the automaton of allowed outcomes. Pure.

This is the first pass, which decides whether and where a run leaves the charter. What happens
after a divergence is judged transition by transition in `conform.follow`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict, TypeGuard

from charter.formats.adapter import Result, Results, Status
from charter.formats.canonical import Json
from charter.formats.verdict import Kind
from conform.relabel import Place, Relabelling, Renamed, key

NodeJson = TypedDict(
    "NodeJson", {"from": list[int], "branch": str, "reply": int, "observation": int}
)
"""A node of an answer, as it is parsed."""


class AnswerJson(TypedDict):
    """An answer, as it is parsed (docs/formats/vector.md)."""

    observations: list[Json]
    replies: list[Json]
    steps: list[list[NodeJson]]


@dataclass(slots=True)
class Batch:
    """The values of one batch with their canonical texts, each made once."""

    values: list[Json]
    texts: list[bytes] = field(init=False)

    def __post_init__(self) -> None:
        self.texts = [key(value) for value in self.values]

    @classmethod
    def of(cls, results: Results, observes: Sequence[str] | None) -> Batch:
        """The values of `results`; observations are cut down to the variables in `observes`."""
        if observes is None:
            return cls(results.values)
        shown = {step[1] for result in results.results for step in result.steps if len(step) == 3}
        kept = [
            project(value, observes) if position in shown else value
            for position, value in enumerate(results.values)
        ]
        return cls(kept)

    def at(self, index: int) -> tuple[bytes, Json]:
        """Text and value at `index`; -1 is nothing."""
        return NOTHING if index == -1 else (self.texts[index], self.values[index])


NOTHING: tuple[bytes, Json] = (b"null", None)


def project(observation: Json, observes: Sequence[str]) -> Json:
    """The variables in `observes` of an observation."""
    if not isinstance(observation, dict):
        return observation
    return {name: observation[name] for name in observes if name in observation}


@dataclass(frozen=True, slots=True)
class Stop:
    """Where the run left the automaton: the step, and the nodes that were possible there."""

    step: int
    possible: tuple[int, ...]
    fault: bool


@dataclass(frozen=True, slots=True)
class Track:
    """The way of one vector through its automaton.

    `fronts[i]` are the nodes that the run may be in after step i, `states[i]` the renamed
    observation, `images` the steps whose image does not agree. `kind` is set where the result
    cannot be judged, or only up to a point.
    """

    fronts: tuple[tuple[int, ...], ...]
    states: tuple[bytes, ...] = ()
    stop: Stop | None = None
    images: tuple[int, ...] = ()
    kind: Kind | None = None
    detail: str = ""


_NOT_JUDGED = {
    Status.UNSUPPORTED: Kind.UNSUPPORTED,
    Status.NOT_LOADABLE: Kind.NOT_LOADABLE,
    Status.ERROR: Kind.ADAPTER_ERROR,
}


class Malformed(Exception):
    """The steps of a result are not what the protocol says."""


class Judge:
    """Judges vectors for targets that observe the variables `observes`; None for all."""

    def __init__(self, observes: tuple[str, ...] | None = None) -> None:
        self.observes = observes
        self._relabelling = Relabelling()
        self._expected = Relabelling()
        self._agreements: dict[tuple[bytes, bytes], bool] = {}

    def track(self, answer: AnswerJson, result: Result, batch: Batch) -> Track:
        """Follow the automaton of `answer` along what one question brought."""
        if result.status in _NOT_JUDGED:
            return Track((), kind=_NOT_JUDGED[result.status], detail=result.detail)
        try:
            return self._follow(answer, result, batch)
        except (Malformed, IndexError, TypeError, ValueError) as error:
            detail = f"the steps of the result are not in the protocol: {error}"
            return Track((), kind=Kind.ADAPTER_ERROR, detail=detail)

    def behaviour(self, result: Result, batch: Batch) -> str:
        """16 hexadecimal digits, equal for runs that showed the same up to renaming; "" where
        nothing can be read."""
        place = self._relabelling.begin()
        digests = []
        try:
            for reply, observation, _ in result.steps:
                shown = batch.at(reply)
                if observation < 0:  # a fault: its class counts, its message does not
                    digests.append(key(shown[1]["fault"] if is_fault(shown[1]) else shown[1]))
                    break
                _, _, place, digest = self._relabelling.step(place, shown, batch.at(observation))
                digests.append(digest)
        except (IndexError, TypeError, ValueError):
            return ""
        return hashlib.blake2b(b"".join(digests), digest_size=8).hexdigest()

    def _follow(self, answer: AnswerJson, result: Result, batch: Batch) -> Track:
        view = self._view(answer)
        place = self._relabelling.begin()
        fronts: list[tuple[int, ...]] = []
        states: list[bytes] = []
        images: list[int] = []
        front: dict[int, Place | None] = {}
        for number, (reply, observation, image) in enumerate(result.steps):
            _check(reply, observation, image, number)
            nodes = answer["steps"][number]
            fault = observation < 0
            if fault:
                _check_fault(batch.at(reply)[1], number, result)
                after = {}
            else:
                reply_text, text, place, _ = self._relabelling.step(
                    place, batch.at(reply), batch.at(observation)
                )
                after = view.match(nodes, front, (reply_text, text))
            if not after:
                stop = Stop(number, _possible(nodes, front), fault)
                return Track(tuple(fronts), tuple(states), stop, tuple(images))
            front = after
            states.append(text)
            fronts.append(tuple(after))
            if image not in (-1, observation) and not self._agree(batch, image, observation):
                images.append(number)
        return _ended(answer, result, Track(tuple(fronts), tuple(states), None, tuple(images)))

    def _view(self, answer: AnswerJson) -> View:
        if self.observes is None:
            return Whole(
                [key(reply) for reply in answer["replies"]],
                [key(observation) for observation in answer["observations"]],
            )
        shown = [project(observation, self.observes) for observation in answer["observations"]]
        return Cut(answer["replies"], shown, self._expected)

    def _agree(self, batch: Batch, image: int, observation: int) -> bool:
        pair = (batch.texts[image], batch.texts[observation])
        known = self._agreements.get(pair)
        if known is None:
            if len(self._agreements) > 100_000:
                self._agreements.clear()
            known = shows_part(batch.values[image], batch.values[observation])
            self._agreements[pair] = known
        return known


@dataclass(frozen=True, slots=True)
class Whole:
    """Expectations as the answer has them: the target shows every variable."""

    replies: list[bytes]
    observations: list[bytes]

    def match(
        self, nodes: list[NodeJson], front: dict[int, Place | None], seen: tuple[bytes, bytes]
    ) -> dict[int, Place | None]:
        """The nodes that follow one of `front` with the reply and observation that were seen."""
        reply, observation = seen
        found: dict[int, Place | None] = {}
        for position, node in enumerate(nodes):
            if self.observations[node["observation"]] != observation:
                continue
            index = node["reply"]
            if (b"null" if index < 0 else self.replies[index]) != reply:
                continue
            origins = node["from"]
            if not origins or any(origin in front for origin in origins):
                found[position] = None
        return found


@dataclass(frozen=True, slots=True)
class Cut:
    """Expectations cut down to what the target shows, and renamed again along the way: what is
    not shown takes its labels with it. (Where two ways into one node name things differently,
    the way found first counts.)"""

    replies: list[Json]
    observations: list[Json]
    relabelling: Relabelling

    def match(
        self, nodes: list[NodeJson], front: dict[int, Place | None], seen: tuple[bytes, bytes]
    ) -> dict[int, Place | None]:
        """As `Whole.match`; each node comes with its place in the second renaming."""
        found: dict[int, Place | None] = {}
        for position, node in enumerate(nodes):
            origins = node["from"]
            places = [front[origin] for origin in origins if origin in front]
            for place in places if origins else [self.relabelling.begin()]:
                reply, text, after, _ = self._rename(place, node)
                if (reply, text) == seen:
                    found.setdefault(position, after)
        return found

    def _rename(self, place: Place | None, node: NodeJson) -> Renamed:
        assert place is not None
        reply = self.replies[node["reply"]] if node["reply"] >= 0 else None
        observation = self.observations[node["observation"]]
        return self.relabelling.step(place, (key(reply), reply), (key(observation), observation))


View = Whole | Cut


def _possible(nodes: list[NodeJson], front: dict[int, Place | None]) -> tuple[int, ...]:
    return tuple(
        position
        for position, node in enumerate(nodes)
        if not node["from"] or any(origin in front for origin in node["from"])
    )


def _check(reply: int, observation: int, image: int, number: int) -> None:
    if min(reply, observation, image) < -1 or (number > 0 and reply < 0):
        raise Malformed(f"step {number} has an index that means nothing")


def _check_fault(reply: Json, number: int, result: Result) -> None:
    if not is_fault(reply):
        raise Malformed(f"step {number} has no observation, and its reply is no fault")
    if number != len(result.steps) - 1:
        raise Malformed(f"step {number} is a fault, but others follow")


def is_fault(reply: Json) -> TypeGuard[dict[str, Json]]:
    """Whether a reply tells of an exception that the protocol does not name."""
    return isinstance(reply, dict) and "fault" in reply


def _ended(answer: AnswerJson, result: Result, track: Track) -> Track:
    """All steps that came were allowed; were they all that should have come?"""
    if result.status is Status.UNRESOLVED:
        return replace(track, kind=Kind.UNRESOLVED, detail=result.detail)
    if len(track.fronts) != len(answer["steps"]):
        raise Malformed(f"{len(track.fronts)} steps, {len(answer['steps'])} were asked for")
    return track


def shows_part(image: Json, observation: Json) -> bool:
    """Whether all that `image` shows is equal in `observation`."""
    if isinstance(image, dict) and isinstance(observation, dict):
        return all(
            name in observation and shows_part(value, observation[name])
            for name, value in image.items()
        )
    return key(image) == key(observation)


def prune(answer: AnswerJson, fronts: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """`fronts` without the nodes that lead nowhere: what later steps ruled out."""
    kept: list[tuple[int, ...]] = [tuple(front) for front in fronts]
    for number in range(len(kept) - 1, 0, -1):
        if len(kept[number - 1]) > 1:
            nodes = answer["steps"][number]
            origins = {origin for node in kept[number] for origin in nodes[node]["from"]}
            kept[number - 1] = tuple(node for node in kept[number - 1] if node in origins)
    return kept


def branches(answer: AnswerJson, fronts: Sequence[Sequence[int]]) -> tuple[list[str], set[str]]:
    """For each step the branch that was taken ("" if several may have been), and all branches
    that may have been taken somewhere."""
    taken: list[str] = []
    possible: set[str] = set()
    for front, nodes in zip(prune(answer, fronts), answer["steps"], strict=False):
        if len(front) == 1:
            branch = nodes[front[0]]["branch"]
            taken.append(branch)
            possible.add(branch)
            continue
        names = {nodes[node]["branch"] for node in front}
        possible |= names
        taken.append(names.pop() if len(names) == 1 else "")
    return taken, possible
