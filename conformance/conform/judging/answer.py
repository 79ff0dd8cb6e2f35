"""Computes the answer to a question on a generated model: for questions that no suite has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_calls
from charter.formats.resolve import Place, Unresolved, find_references
from conform.judging.automaton import AnswerJson, NodeJson
from conform.judging.model import JudgeModel
from conform.judging.relabel import key
from conform.judging.traces import ModelTrace, OutcomesOfStates, begin

_MOST_NODES = 64
_WRONG = (KeyError, ValueError, TypeError, AttributeError)
"""The exceptions of a model for JSON that is no state, or no argument."""


Shown = tuple[bytes, bytes]
"""The relabelled texts of a reply and an observation."""


class CannotAnswer(Exception):
    """The model cannot answer a question: a reference leads nowhere, an argument is not one of the
    operation, or the charter leaves too much open."""


@dataclass(slots=True)
class _DistinctValues:
    """Distinct values and their positions."""

    values: list[Json] = field(default_factory=list)
    positions: dict[bytes, int] = field(default_factory=dict)

    def at(self, value: Json) -> int:
        position = self.positions.setdefault(key(value), len(self.values))
        if position == len(self.values):
            self.values.append(value)
        return position


def answer_of(
    model: JudgeModel,
    question: Mapping[str, Json],
    opaque: OpaqueTypes,
    shown: Sequence[Shown] = (),
) -> AnswerJson:
    """The automaton of all outcomes that the model allows (docs/formats/vector.md). With what a
    target has `shown` in its first steps, it goes on only after outcomes that are that. Raises
    `CannotAnswer`."""
    calls = own_calls(question)
    answer = GrowingAnswer.of(model, question, opaque)
    for number, call in enumerate(calls, 1):
        later = (place for one in calls[number:] for place in find_references(one))
        answer.add(call, sorted({*later}), shown[number] if number < len(shown) else None)
    return {
        "observations": answer.observations.values,
        "replies": answer.replies.values,
        "steps": answer.levels,
    }


@dataclass(frozen=True, slots=True)
class _Front:
    """A trace that the next operation follows, with the text of its state, and the position of its
    node."""

    trace: ModelTrace
    state: bytes
    position: int


@dataclass(slots=True)
class GrowingAnswer:
    """The answer to a question that gets operation after operation."""

    model: JudgeModel
    front: list[_Front] = field(default_factory=list)
    levels: list[list[NodeJson]] = field(default_factory=list)
    observations: _DistinctValues = field(default_factory=_DistinctValues)
    replies: _DistinctValues = field(default_factory=_DistinctValues)

    @classmethod
    def of(
        cls, model: JudgeModel, question: Mapping[str, Json], opaque: OpaqueTypes
    ) -> GrowingAnswer:
        """The answer to a question without its operations. Raises `CannotAnswer`."""
        with _explain_errors():
            first = begin(model, question, opaque)
            front = _Front(first.after, key(model.encode(first.after.state)), 0)
        made = cls(model, [front])
        node = made.observations.at(first.seen)
        made.levels.append([{"from": [], "branch": "", "reply": -1, "observation": node}])
        return made

    def add(
        self, call: Mapping[str, Json], needed: Sequence[Place] = (), shown: Shown | None = None
    ) -> None:
        """Add an operation; later ones refer to what is `needed`. If a target has `shown` an
        outcome, only that one is followed. Raises `CannotAnswer`; then nothing is added."""
        with _explain_errors():
            nodes, following = self._list_nodes(call, needed)
        if shown is not None:
            places = {(node["reply"], node["observation"]) for node in nodes}
            texts = {place: self._show(place) for place in places}
            kept = [
                one
                for one in following
                if texts[nodes[one.position]["reply"], nodes[one.position]["observation"]] == shown
            ]
            following = kept or following
        self.levels.append(nodes)
        self.front = following

    def _show(self, place: tuple[int, int]) -> Shown:
        return key(self.replies.values[place[0]]), key(self.observations.values[place[1]])

    def _list_nodes(
        self, call: Mapping[str, Json], needed: Sequence[Place]
    ) -> tuple[list[NodeJson], list[_Front]]:
        """The outcomes of one operation after all traces of the front, once those that no later
        operation can tell apart."""
        nodes: dict[tuple[str, int, int, bytes, bytes, str], NodeJson] = {}
        following: list[_Front] = []
        outcomes = OutcomesOfStates(self.model)
        for here in self.front:
            for step in outcomes.steps(call, here.trace, here.state):
                after = step.after
                state = key(self.model.encode(after.state))
                kept = key([after.history.at(place) for place in needed])
                reply, seen = self.replies.at(step.reply), self.observations.at(step.seen)
                at = (step.branch, reply, seen, state, kept, after.labels.text)
                if at not in nodes:
                    if len(nodes) == _MOST_NODES:
                        raise CannotAnswer(
                            f"{call['operation']} has more than {_MOST_NODES} outcomes"
                        )
                    following.append(_Front(after, state, len(nodes)))
                    nodes[at] = {
                        "from": [], "branch": step.branch, "reply": reply, "observation": seen
                    }  # fmt: skip
                nodes[at]["from"].append(here.position)
        return [*nodes.values()], following


@contextmanager
def _explain_errors() -> Iterator[None]:
    """A context in which the exceptions of a model for what it has no answer to are
    `CannotAnswer`."""
    try:
        yield
    except Unresolved as error:
        raise CannotAnswer(str(error)) from None
    except Exception as error:
        # Each folder of models has a class `Undefined` of its own: the charter has no value for a
        # question that nobody planned, such as a given state that breaks a property.
        if isinstance(error, _WRONG) or type(error).__name__ == "Undefined":
            raise CannotAnswer(f"{type(error).__name__}: {error}") from None
        raise
