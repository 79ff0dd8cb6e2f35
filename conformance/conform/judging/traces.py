"""Traces of a generated model: the states that operations lead to, with labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from charter.formats.canonical import Json
from charter.formats.labels import Labels
from charter.formats.opaque import OpaqueTypes
from charter.formats.resolve import History, resolve
from conform.judging.model import JudgeModel, world_of
from conform.judging.never_issued import NeverIssued
from conform.judging.read_result import project


class ModelTrace(NamedTuple):
    """A trace of a model: its last state, its labels, and what it showed, raw. If they are known,
    `text` is that of the newest observation, `seen` is that, relabelled, and `shown` its value,
    relabelled."""

    state: object
    labels: Labels
    history: History
    text: bytes = b""
    seen: bytes = b""
    shown: Json = None


class ModelStep(NamedTuple):
    """An outcome of an operation: its branch, the relabelled reply and observation, and the trace
    that it leads to."""

    branch: str
    reply: Json
    seen: Json
    after: ModelTrace


def begin(
    model: JudgeModel,
    question: Mapping[str, Json],
    opaque: OpaqueTypes,
    observes: Sequence[str] | None = None,
) -> ModelStep:
    """The state in which a question starts, with labels by these types. Of what it shows the
    variables in `observes` count (None: all)."""
    world, given = world_of(question), question["given"]
    state = model.initial(*world) if given is None else model.given(given, *world)
    raw = model.observe(state)
    reply, seen, labels = Labels(opaque).step(None, _select_shown(raw, observes))
    return ModelStep("", reply, seen, ModelTrace(state, labels, History((raw,)), shown=seen))


def steps(
    model: JudgeModel,
    call: Mapping[str, Json],
    trace: ModelTrace,
    observes: Sequence[str] | None = None,
) -> Iterator[ModelStep]:
    """The outcomes that the model allows for an operation of a question after a trace. Of what they
    show the variables in `observes` count (None: all). Raises `Unresolved` if a reference leads
    nowhere."""
    operation = str(call["operation"])
    args = resolve(call["args"], trace.history, NeverIssued(model, operation))
    assert isinstance(args, dict)
    raw: Json
    seen: Json
    for outcome in model.outcomes(trace.state, operation, args):
        if outcome.state is trace.state and trace.shown is not None:
            raw, seen = trace.history.observations[-1], trace.shown
            reply, _, labels = trace.labels.step(outcome.reply, None, operation)
        else:
            raw = model.observe(outcome.state)
            shown = _select_shown(raw, observes)
            reply, seen, labels = trace.labels.step(outcome.reply, shown, operation)
        history = trace.history.then(outcome.reply, raw)
        yield ModelStep(
            outcome.branch, reply, seen, ModelTrace(outcome.state, labels, history, shown=seen)
        )


def _select_shown(raw: Json, observes: Sequence[str] | None) -> Json:
    return raw if observes is None else project(raw, observes)
