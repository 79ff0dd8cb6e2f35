"""Follows the automaton of allowed outcomes until a run leaves it. Pure functions.

This first pass decides whether and where a run diverges. Steps after a divergence are judged one by
one in `conform.judging.follow`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypedDict

import orjson

from charter.formats.adapter import Result
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.status import Status
from charter.formats.types import JudgedTypes
from charter.formats.verdict import Kind
from conform.judging.read_result import (
    Malformed,
    RelabelledSteps,
    ResultReader,
    operation_at,
    project,
)
from conform.judging.relabel import (
    Relabelling,
    RelabelPlace,
    Renamed,
    behaviour_digest,
    key,
    step_digest,
)

NodeJson = TypedDict(
    "NodeJson", {"from": list[int], "branch": str, "reply": int, "observation": int}
)
"""A node of an answer as parsed JSON."""


class AnswerJson(TypedDict):
    """An answer as parsed JSON (docs/formats/vector.md)."""

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
    """The path of one vector through its automaton.

    `fronts[i]` are the nodes that the run may be in after step i. `kind` is set if the result can
    be judged only in part.
    """

    fronts: tuple[tuple[int, ...], ...]
    stop: Stop | None = None
    kind: Kind | None = None
    detail: str = ""


_OTHERWISE = (
    "it was allowed to go another way than the question, which continues a run that was observed"
)

NOT_JUDGED = {
    Status.UNSUPPORTED: Kind.UNSUPPORTED,
    Status.NOT_LOADABLE: Kind.NOT_LOADABLE,
    Status.ERROR: Kind.ADAPTER_ERROR,
}
"""The verdicts for results without steps."""


class Judge:
    """Judges vectors of a target that shows the variables `observes` (None: all) and claims the
    operations and capabilities `offers`. `types` are those of replies and observations, if the
    suite has them; labels count by them (`opaque`)."""

    def __init__(
        self,
        observes: tuple[str, ...] | None = None,
        offers: Collection[str] = (),
        types: JudgedTypes | None = None,
    ) -> None:
        self.observes = observes
        self.types = types
        self.offers = frozenset(offers)
        self.set_opaque_types(OpaqueTypes.of(types))

    def set_types(self, types: JudgedTypes | None) -> None:
        """Take the types of a suite."""
        self.types = types
        self.set_opaque_types(OpaqueTypes.of(types))

    def set_opaque_types(self, opaque: OpaqueTypes) -> None:
        """Take the types of opaque values of a suite, and accept values of whatever type."""
        self.opaque = opaque
        self.reader = ResultReader(opaque)
        self._expected = Relabelling(opaque)

    def operations(self, question: bytes) -> Sequence[str]:
        """The operations of a question, if labels depend on them."""
        if not self.opaque.differ:
            return ()
        return [str(call["operation"]) for call in orjson.loads(question)["operations"]]

    def track(
        self,
        answer: AnswerJson,
        result: Result,
        relabelled: RelabelledSteps,
        operations: Sequence[str] = (),
    ) -> Track:
        """Follow the automaton of `answer` along the result of one question.

        Raises `Malformed` for results with too few or too many steps.
        """
        view = self._view(answer)
        fronts: list[tuple[int, ...]] = []
        front: dict[int, RelabelPlace | None] = {}
        came = len(relabelled.states) + relabelled.fault
        if came > len(answer["steps"]):
            raise Malformed(f"{came} steps, {len(answer['steps'])} were asked for")
        for number, seen in enumerate(zip(relabelled.replies, relabelled.states, strict=True)):
            nodes = answer["steps"][number]
            after = view.match(nodes, front, (*seen, operation_at(operations, number)))
            if not after:
                possible = _possible(nodes, front)
                if not possible:
                    return Track(tuple(fronts), None, Kind.INCONCLUSIVE, _OTHERWISE)
                return Track(tuple(fronts), Stop(number, possible, False))
            front = after
            fronts.append(tuple(after))
        if relabelled.fault:
            number = len(relabelled.states)
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
            return FullView(
                [key(reply) for reply in answer["replies"]],
                [key(observation) for observation in answer["observations"]],
            )
        shown = [project(observation, self.observes) for observation in answer["observations"]]
        return PartialView(answer["replies"], shown, self._expected)


@dataclass(frozen=True, slots=True)
class FullView:
    """The expectations of an answer for a target that shows every variable."""

    replies: list[bytes]
    observations: list[bytes]

    def match(
        self,
        nodes: list[NodeJson],
        front: dict[int, RelabelPlace | None],
        seen: tuple[bytes, bytes, str],
    ) -> dict[int, RelabelPlace | None]:
        """The nodes that follow one of `front` with the reply and observation that were seen, after
        an operation."""
        reply, observation, _ = seen
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
class PartialView:
    """The expectations of an answer for a target that hides variables: projected to the shown ones
    and relabelled, since labels that only hidden values use disappear. (If two paths into one node
    relabel differently, the first one counts.)"""

    replies: list[Json]
    observations: list[Json]
    relabelling: Relabelling

    def match(
        self,
        nodes: list[NodeJson],
        front: dict[int, RelabelPlace | None],
        seen: tuple[bytes, bytes, str],
    ) -> dict[int, RelabelPlace | None]:
        """As `FullView.match`; each node has its state of the second relabelling."""
        found: dict[int, RelabelPlace | None] = {}
        for position, node in enumerate(nodes):
            origins = node["from"]
            places = [front[origin] for origin in origins if origin in front]
            for place in places if origins else [self.relabelling.begin()]:
                reply, text, after, _ = self._rename(place, node, seen[2])
                if (reply, text) == seen[:2]:
                    found.setdefault(position, after)
        return found

    def _rename(self, place: RelabelPlace | None, node: NodeJson, operation: str) -> Renamed:
        assert place is not None
        reply = self.replies[node["reply"]] if node["reply"] >= 0 else None
        observation = self.observations[node["observation"]]
        seen = (key(observation), observation)
        return self.relabelling.step(place, (key(reply), reply), seen, operation)


View = FullView | PartialView


def _possible(nodes: list[NodeJson], front: dict[int, RelabelPlace | None]) -> tuple[int, ...]:
    return tuple(
        position
        for position, node in enumerate(nodes)
        if not node["from"] or any(origin in front for origin in node["from"])
    )


def prune(answer: AnswerJson, fronts: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """`fronts` without the nodes from which no node of the last front is reached."""
    kept: list[tuple[int, ...]] = [tuple(front) for front in fronts]
    for number in range(len(kept) - 1, 0, -1):
        if len(kept[number - 1]) > 1:
            nodes = answer["steps"][number]
            origins = {origin for node in kept[number] for origin in nodes[node]["from"]}
            kept[number - 1] = tuple(node for node in kept[number - 1] if node in origins)
    return kept


def branches(answer: AnswerJson, fronts: Sequence[Sequence[int]]) -> tuple[list[str], set[str]]:
    """For each step the branch that was taken ("" if several are possible), and the set of all
    possible branches."""
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
    """The behaviours that an answer allows, by digest, each with the branches of its steps; empty
    if there are more than a few. A behaviour that several paths with different branches share is
    left out.

    A run with one of these behaviours conforms, so its answer need not be parsed.
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
