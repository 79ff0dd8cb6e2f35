"""Computes the answer to a question on a generated model: for questions that no suite has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_calls
from charter.formats.resolve import Place, Unresolved, find_references
from conform.judging.automaton import AnswerJson, NodeJson
from conform.judging.model import JudgeModel
from conform.judging.traces import ModelTrace, begin, steps

_MOST_NODES = 64
_WRONG = (KeyError, ValueError, TypeError, AttributeError)
"""The exceptions of a model for JSON that is no state, or no argument."""


class CannotAnswer(Exception):
    """The model cannot answer a question: a reference leads nowhere, an argument is not one of the
    operation, or the charter leaves too much open."""


@dataclass(slots=True)
class _DistinctValues:
    """Distinct values and their positions."""

    values: list[Json] = field(default_factory=list)
    positions: dict[str, int] = field(default_factory=dict)

    def at(self, value: Json) -> int:
        position = self.positions.setdefault(canonical.text(value), len(self.values))
        if position == len(self.values):
            self.values.append(value)
        return position


def answer_of(model: JudgeModel, question: Mapping[str, Json], opaque: OpaqueTypes) -> AnswerJson:
    """The automaton of all outcomes that the model allows (docs/formats/vector.md). Raises
    `CannotAnswer`."""
    calls = own_calls(question)
    answer = GrowingAnswer.of(model, question, opaque)
    for number, call in enumerate(calls, 1):
        answer.add(call, frozenset(p for later in calls[number:] for p in find_references(later)))
    return answer.json()


@dataclass(slots=True)
class GrowingAnswer:
    """The answer to a question that gets operation after operation. `merged`: traces that showed
    different things are one, since nothing was known that refers to them."""

    model: JudgeModel
    opaque: OpaqueTypes
    front: list[ModelTrace]
    levels: list[list[NodeJson]]
    observations: _DistinctValues = field(default_factory=_DistinctValues)
    replies: _DistinctValues = field(default_factory=_DistinctValues)
    merged: bool = False

    @classmethod
    def of(
        cls, model: JudgeModel, question: Mapping[str, Json], opaque: OpaqueTypes
    ) -> GrowingAnswer:
        """The answer to a question without its operations. Raises `CannotAnswer`."""
        with _explain_errors():
            first = begin(model, question, opaque)
        made = cls(model, opaque, [first.after], [])
        shown = made.observations.at(first.seen)
        made.levels.append([{"from": [], "branch": "", "reply": -1, "observation": shown}])
        return made

    def add(self, call: Mapping[str, Json], needed: frozenset[Place] = frozenset()) -> None:
        """Add an operation; later ones refer to what is `needed`. Raises `CannotAnswer`, and is
        then as before."""
        with _explain_errors():
            nodes, front, merged = self._step(call, needed)
        self.levels.append(nodes)
        self.front, self.merged = front, self.merged or merged

    def json(self) -> AnswerJson:
        """The answer to all operations so far."""
        return {
            "observations": self.observations.values,
            "replies": self.replies.values,
            "steps": self.levels,
        }

    def _step(
        self, call: Mapping[str, Json], needed: frozenset[Place]
    ) -> tuple[list[NodeJson], list[ModelTrace], bool]:
        """The outcomes of one operation after all traces of the front; once those that no later
        operation can tell apart, which refers to what is `needed`."""
        found = [
            (origin, step)
            for origin, here in enumerate(self.front)
            for step in steps(self.model, call, here)
        ]
        nodes: dict[tuple[str, int, int, str], NodeJson] = {}
        following: list[ModelTrace] = []
        merged = False
        for origin, step in found:
            after = step.after
            kept = [after.history.at(place) for place in sorted(needed)]
            whole = f"{canonical.text([self.model.encode(after.state), kept])} {after.labels.text}"
            at = (step.branch, self.replies.at(step.reply), self.observations.at(step.seen), whole)
            if at not in nodes:
                if len(nodes) == _MOST_NODES:
                    raise CannotAnswer(f"{call['operation']} has more than {_MOST_NODES} outcomes")
                nodes[at] = {"from": [], "branch": at[0], "reply": at[1], "observation": at[2]}
                following.append(after)
            elif origin not in nodes[at]["from"]:
                merged |= after.history != following[[*nodes].index(at)].history
            nodes[at]["from"].append(origin)
        return list(nodes.values()), following, merged


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
