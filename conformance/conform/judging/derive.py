"""Derives the answer of a vector again from the generated model, and compares it with the suite's.

Two answers are equal if they allow the same sequences of branches, replies and observations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import orjson

from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_calls, own_list, own_number, own_object
from charter.formats.resolve import Unresolved
from conform.console.errors import ConformError
from conform.judging.model import JudgeModel, bug_of
from conform.judging.relabel import key
from conform.judging.traces import ModelTrace, begin, steps
from conform.judging.verdict import VectorItem

MOST = 2_000
"""The most traces of one step; a vector with more of them is not compared."""

Shown = tuple[str, bytes, bytes]
"""Branch, relabelled reply and relabelled observation of a step, as texts."""


@dataclass(frozen=True, slots=True)
class _Together:
    """Nodes of the suite's answer and traces of the model that show the same."""

    nodes: frozenset[int]
    traces: tuple[ModelTrace, ...]


def difference(item: VectorItem, model: JudgeModel, opaque: OpaqueTypes) -> str:
    """Where the answer of a vector is not that of the model; "" if they are equal.

    Raises `ModelBug` if the model, which must be of the suite's charter, fails on the question.
    The answer cannot be the cause, since the model never sees it, and the suite's digests cover
    the question: they were compared when the suite was read."""
    question, answer = orjson.loads(item.question), orjson.loads(item.answer)
    try:
        return _difference(question, answer, model, opaque)
    except Unresolved as error:
        return f"a reference leads nowhere: {error}"
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        return f"the answer cannot be read ({type(error).__name__}: {error}): the suite was changed"


def _difference(
    question: dict[str, Json], answer: dict[str, Json], model: JudgeModel, opaque: OpaqueTypes
) -> str:
    calls, levels = own_calls(question), own_list(answer["steps"])
    with _bugs_of(model, question, ""):
        first = begin(model, question, opaque)
    allowed = _nodes(answer, levels[0])
    if [(reply, seen) for _, reply, seen in allowed] != [(b"null", key(first.seen))]:
        return "step 0: the model begins otherwise"
    pairs = [_Together(frozenset((0,)), (first.after,))]
    for number, call in enumerate(calls, 1):
        nodes = own_list(levels[number])
        following: dict[tuple[frozenset[int], Shown], _Together] = {}
        for pair in pairs:
            told = _read_allowed(answer, nodes, pair.nodes)
            with _bugs_of(model, question, str(call["operation"])):
                made = _derive(call, pair.traces, model)
            if told.keys() != made.keys():
                return f"step {number}: {_explain(told.keys(), made.keys())}"
            for label, held in told.items():
                following[frozenset(held), label] = _Together(frozenset(held), made[label])
        pairs = list(following.values())
        if sum(len(pair.traces) for pair in pairs) > MOST:
            return ""
    return ""


@contextmanager
def _bugs_of(model: JudgeModel, question: dict[str, Json], operation: str) -> Iterator[None]:
    """Raises what a model raises on a question as `ModelBug`; `Unresolved` stays."""
    try:
        yield
    except (Unresolved, ConformError):
        raise
    except Exception as error:  # a bug of a model can be any exception
        raise bug_of(model, question, operation, error) from None


def _derive(
    call: dict[str, Json], traces: Sequence[ModelTrace], model: JudgeModel
) -> dict[Shown, tuple[ModelTrace, ...]]:
    """What the model allows after some traces, each trace once."""
    found: dict[Shown, list[ModelTrace]] = {}
    for trace in traces:
        for step in steps(model, call, trace):
            label = (step.branch, key(step.reply), key(step.seen))
            found.setdefault(label, []).append(step.after)
    return {label: _distinct(held, model) for label, held in found.items()}


def _distinct(traces: Sequence[ModelTrace], model: JudgeModel) -> tuple[ModelTrace, ...]:
    """Each of some traces once."""
    if len(traces) == 1:
        return tuple(traces)
    held = {
        key([model.encode(trace.state), trace.labels.text, trace.history.json()]): trace
        for trace in traces
    }
    return tuple(held.values())


def _read_allowed(
    answer: dict[str, Json], nodes: list[Json], before: frozenset[int]
) -> dict[Shown, list[int]]:
    """What the suite's answer allows after some nodes."""
    found: dict[Shown, list[int]] = {}
    for position, (node, label) in enumerate(zip(nodes, _nodes(answer, nodes), strict=True)):
        if not before.isdisjoint(own_list(own_object(node)["from"])):
            found.setdefault(label, []).append(position)
    return found


def _nodes(answer: dict[str, Json], nodes: Json) -> list[Shown]:
    observations, replies = own_list(answer["observations"]), own_list(answer["replies"])
    found = []
    for node in map(own_object, own_list(nodes)):
        reply, observation = own_number(node["reply"]), own_number(node["observation"])
        shown = replies[reply] if reply >= 0 else None
        found.append((str(node["branch"]), key(shown), key(observations[observation])))
    return found


def _explain(told: Collection[Shown], made: Collection[Shown]) -> str:
    extra = sorted({branch for branch, *_ in {*told} - {*made}})
    lacking = sorted({branch for branch, *_ in {*made} - {*told}})
    parts = [f"the suite allows {', '.join(extra)}" if extra else ""]
    parts += [f"the model allows {', '.join(lacking)}" if lacking else ""]
    return ", and ".join(part for part in parts if part)
