"""Follows the automaton of allowed outcomes until a run leaves it: the first pass over a
vector. Pure.

This is the first pass, which decides whether and where a run leaves the charter. What happens
after a divergence is judged transition by transition in `conform.judging.follow`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypedDict

from charter.formats.adapter import Result, Status
from charter.formats.canonical import Json
from charter.formats.verdict import Kind
from conform.judging.relabel import (
    Relabelling,
    RelabelPlace,
    Renamed,
    behaviour_digest,
    key,
    step_digest,
)
from conform.judging.walk import Malformed, RelabelledSteps, Walker, project

NodeJson = TypedDict(
    "NodeJson", {"from": list[int], "branch": str, "reply": int, "observation": int}
)
"""A node of an answer, as it is parsed."""


class AnswerJson(TypedDict):
    """An answer, as it is parsed (docs/formats/vector.md)."""

    observations: list[Json]
    replies: list[Json]
    steps: list[list[NodeJson]]


@dataclass(frozen=True, slots=True)
class Stop:
    """The step at which a run left the answer automaton: the step, and the nodes that were possible
    there."""

    step: int
    possible: tuple[int, ...]
    fault: bool


@dataclass(frozen=True, slots=True)
class Track:
    """The way of one vector through its automaton.

    `fronts[i]` are the nodes that the run may be in after step i. `kind` is set where the result
    can be judged only up to a point.
    """

    fronts: tuple[tuple[int, ...], ...]
    stop: Stop | None = None
    kind: Kind | None = None
    detail: str = ""


NOT_JUDGED = {
    Status.UNSUPPORTED: Kind.UNSUPPORTED,
    Status.NOT_LOADABLE: Kind.NOT_LOADABLE,
    Status.ERROR: Kind.ADAPTER_ERROR,
}
"""What results are that have no steps to judge."""


class Judge:
    """Judges vectors for targets that observe the variables `observes` (None for all), and whose
    hello claims the operations and capabilities `offers`."""

    def __init__(
        self, observes: tuple[str, ...] | None = None, offers: Collection[str] = ()
    ) -> None:
        self.observes = observes
        self.offers = frozenset(offers)
        self.walker = Walker()
        self._expected = Relabelling()

    def track(self, answer: AnswerJson, result: Result, walk: RelabelledSteps) -> Track:
        """Follow the automaton of `answer` along what one question brought.

        Raises `Malformed` for results with too few steps, or too many.
        """
        view = self._view(answer)
        fronts: list[tuple[int, ...]] = []
        front: dict[int, RelabelPlace | None] = {}
        came = len(walk.states) + walk.fault
        if came > len(answer["steps"]):
            raise Malformed(f"{came} steps, {len(answer['steps'])} were asked for")
        for number, seen in enumerate(zip(walk.replies, walk.states, strict=True)):
            nodes = answer["steps"][number]
            after = view.match(nodes, front, seen)
            if not after:
                return Track(tuple(fronts), Stop(number, _possible(nodes, front), False))
            front = after
            fronts.append(tuple(after))
        if walk.fault:
            number = len(walk.states)
            return Track(
                tuple(fronts), Stop(number, _possible(answer["steps"][number], front), True)
            )
        if result.status is Status.UNRESOLVED:
            return Track(tuple(fronts), None, Kind.UNRESOLVED, result.detail)
        if len(fronts) != len(answer["steps"]):
            raise Malformed(f"{len(fronts)} steps, {len(answer['steps'])} were asked for")
        return Track(tuple(fronts))

    def _view(self, answer: AnswerJson) -> View:
        if self.observes is None:
            return Whole(
                [key(reply) for reply in answer["replies"]],
                [key(observation) for observation in answer["observations"]],
            )
        shown = [project(observation, self.observes) for observation in answer["observations"]]
        return Cut(answer["replies"], shown, self._expected)


@dataclass(frozen=True, slots=True)
class Whole:
    """Expectations as the answer has them: the target shows every variable."""

    replies: list[bytes]
    observations: list[bytes]

    def match(
        self,
        nodes: list[NodeJson],
        front: dict[int, RelabelPlace | None],
        seen: tuple[bytes, bytes],
    ) -> dict[int, RelabelPlace | None]:
        """The nodes that follow one of `front` with the reply and observation that were seen."""
        reply, observation = seen
        found: dict[int, RelabelPlace | None] = {}
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
        self,
        nodes: list[NodeJson],
        front: dict[int, RelabelPlace | None],
        seen: tuple[bytes, bytes],
    ) -> dict[int, RelabelPlace | None]:
        """As `Whole.match`; each node comes with its place in the second renaming."""
        found: dict[int, RelabelPlace | None] = {}
        for position, node in enumerate(nodes):
            origins = node["from"]
            places = [front[origin] for origin in origins if origin in front]
            for place in places if origins else [self.relabelling.begin()]:
                reply, text, after, _ = self._rename(place, node)
                if (reply, text) == seen:
                    found.setdefault(position, after)
        return found

    def _rename(self, place: RelabelPlace | None, node: NodeJson) -> Renamed:
        assert place is not None
        reply = self.replies[node["reply"]] if node["reply"] >= 0 else None
        observation = self.observations[node["observation"]]
        return self.relabelling.step(place, (key(reply), reply), (key(observation), observation))


View = Whole | Cut


def _possible(nodes: list[NodeJson], front: dict[int, RelabelPlace | None]) -> tuple[int, ...]:
    return tuple(
        position
        for position, node in enumerate(nodes)
        if not node["from"] or any(origin in front for origin in node["from"])
    )


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


MOST_WAYS = 8


def ways(answer: AnswerJson) -> dict[str, list[str]]:
    """The behaviours that an answer allows, each with the branches of its steps; empty if there
    are more than a few. One that several ways share, by different branches, is left out.

    A run with one of these behaviours conforms: that is found without reading the answer.
    """
    replies = [key(reply) for reply in answer["replies"]]
    states = [key(observation) for observation in answer["observations"]]
    found: list[tuple[int, tuple[bytes, ...], tuple[str, ...]]] = [(-1, (), ())]
    for nodes in answer["steps"]:
        longer = []
        for last, digests, taken in found:
            for position, node in enumerate(nodes):
                if last < 0 or last in node["from"]:
                    reply = replies[node["reply"]] if node["reply"] >= 0 else b"null"
                    digest = step_digest(reply, states[node["observation"]])
                    longer.append((position, (*digests, digest), (*taken, node["branch"])))
        if len(longer) > MOST_WAYS:
            return {}
        found = longer
    allowed: dict[str, list[str]] = {}
    ambiguous = set()
    for _, digests, taken in found:
        behaviour = behaviour_digest(digests)
        if allowed.setdefault(behaviour, list(taken)) != list(taken):
            ambiguous.add(behaviour)
    return {name: taken for name, taken in allowed.items() if name not in ambiguous}
