"""The answer to a question, computed on a generated model: for questions that no suite has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.labels import Labels
from charter.formats.resolve import Unresolved, referred_steps, resolve
from conform.judging.judge import AnswerJson, NodeJson
from conform.judging.model import JudgeModel, world_of
from conform.judging.wishes import NeverIssued

_MOST_NODES = 64


class CannotAnswer(Exception):
    """The model cannot answer a question: a reference leads nowhere, an argument is not one of the
    operation, or the charter leaves too much open."""


@dataclass(slots=True)
class _Table:
    """Distinct values and their positions."""

    values: list[Json] = field(default_factory=list)
    positions: dict[str, int] = field(default_factory=dict)

    def at(self, value: Json) -> int:
        position = self.positions.setdefault(canonical.text(value), len(self.values))
        if position == len(self.values):
            self.values.append(value)
        return position


@dataclass(frozen=True, slots=True)
class _Front:
    """A state that the run may be in, with the labels and observations so far."""

    state: object
    labels: Labels
    history: tuple[Json, ...]


def answer_of(model: JudgeModel, question: Mapping[str, Json]) -> AnswerJson:
    """The automaton of all outcomes that the model allows (docs/formats/vector.md). Raises
    `CannotAnswer`."""
    try:
        return _answer(model, question)
    except Unresolved as error:
        raise CannotAnswer(str(error)) from None
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise CannotAnswer(f"{type(error).__name__}: {error}") from None


def _answer(model: JudgeModel, question: Mapping[str, Json]) -> AnswerJson:
    observations, replies = _Table(), _Table()
    world, given = world_of(question), question["given"]
    first = model.initial(*world) if given is None else model.given(given, *world)
    raw = model.observe(first)
    _, seen, labels = Labels().step(None, raw)
    front = [_Front(first, labels, (raw,))]
    begin: NodeJson = {"from": [], "branch": "", "reply": -1, "observation": observations.at(seen)}
    steps: list[list[NodeJson]] = [[begin]]
    operations = question["operations"]
    assert isinstance(operations, list)
    for number, call in enumerate(operations, 1):
        assert isinstance(call, dict)
        needed = frozenset(step for later in operations[number:] for step in referred_steps(later))
        nodes, front = _step(model, call, front, (observations, replies), needed)
        steps.append(nodes)
    return {"observations": observations.values, "replies": replies.values, "steps": steps}


def _step(
    model: JudgeModel,
    call: Mapping[str, Json],
    front: Sequence[_Front],
    tables: tuple[_Table, _Table],
    needed: frozenset[int],
) -> tuple[list[NodeJson], list[_Front]]:
    """The outcomes of one operation from all states of the front; once those that no later
    operation can tell apart, which refers to the observations `needed`."""
    observations, replies = tables
    operation = str(call["operation"])
    never_issued = NeverIssued(model, operation)
    nodes: dict[tuple[str, int, int, str], NodeJson] = {}
    after: list[_Front] = []
    for origin, here in enumerate(front):
        args = resolve(call["args"], here.history, never_issued)
        assert isinstance(args, dict)
        for outcome in model.outcomes(here.state, operation, args):
            raw = model.observe(outcome.state)
            reply, seen, labels = here.labels.step(outcome.reply, raw)
            history = (*here.history, raw)
            kept = [history[step] for step in sorted(needed) if step < len(history)]
            whole = f"{canonical.text([model.encode(outcome.state), kept])} {labels.text}"
            at = (outcome.branch, replies.at(reply), observations.at(seen), whole)
            if at not in nodes:
                nodes[at] = {"from": [], "branch": at[0], "reply": at[1], "observation": at[2]}
                after.append(_Front(outcome.state, labels, history))
            nodes[at]["from"].append(origin)
    if len(nodes) > _MOST_NODES:
        raise CannotAnswer(f"{operation} has {len(nodes)} outcomes")
    return list(nodes.values()), after
