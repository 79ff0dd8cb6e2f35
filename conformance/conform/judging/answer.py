"""Computes the answer to a question on a generated model: for questions that no suite has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    try:
        return _answer(model, question, opaque)
    except Unresolved as error:
        raise CannotAnswer(str(error)) from None
    except Exception as error:
        # Each folder of models has a class `Undefined` of its own: the charter has no value for a
        # question that nobody planned, such as a given state that breaks a property.
        if isinstance(error, _WRONG) or type(error).__name__ == "Undefined":
            raise CannotAnswer(f"{type(error).__name__}: {error}") from None
        raise


def _answer(model: JudgeModel, question: Mapping[str, Json], opaque: OpaqueTypes) -> AnswerJson:
    observations, replies = _DistinctValues(), _DistinctValues()
    first = begin(model, question, opaque)
    shown = observations.at(first.seen)
    nodes: list[NodeJson] = [{"from": [], "branch": "", "reply": -1, "observation": shown}]
    levels, front = [nodes], [first.after]
    operations = own_calls(question)
    for number, call in enumerate(operations, 1):
        needed = frozenset(
            place for later in operations[number:] for place in find_references(later)
        )
        nodes, front = _step(model, call, front, (observations, replies), needed)
        levels.append(nodes)
    return {"observations": observations.values, "replies": replies.values, "steps": levels}


def _step(
    model: JudgeModel,
    call: Mapping[str, Json],
    front: Sequence[ModelTrace],
    tables: tuple[_DistinctValues, _DistinctValues],
    needed: frozenset[Place],
) -> tuple[list[NodeJson], list[ModelTrace]]:
    """The outcomes of one operation after all traces of the front; once those that no later
    operation can tell apart, which refers to what is `needed`."""
    observations, replies = tables
    nodes: dict[tuple[str, int, int, str], NodeJson] = {}
    following: list[ModelTrace] = []
    for origin, here in enumerate(front):
        for step in steps(model, call, here):
            after = step.after
            kept = [after.history.at(place) for place in sorted(needed)]
            whole = f"{canonical.text([model.encode(after.state), kept])} {after.labels.text}"
            at = (step.branch, replies.at(step.reply), observations.at(step.seen), whole)
            if at not in nodes:
                nodes[at] = {"from": [], "branch": at[0], "reply": at[1], "observation": at[2]}
                following.append(after)
            nodes[at]["from"].append(origin)
    if len(nodes) > _MOST_NODES:
        raise CannotAnswer(f"{call['operation']} has {len(nodes)} outcomes")
    return list(nodes.values()), following
