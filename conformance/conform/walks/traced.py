"""Follows a walk along traces of the charter's model, as far as the charter allows what it shows.

Of all traces those are kept that show what was observed, relabelled. So the state is the model's
own, and what the charter allows for a call is computed once: to choose it and to judge its step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from charter.formats.canonical import Json
from charter.formats.labels import Labels
from charter.formats.resolve import History, Unresolved, resolve
from conform.judging.candidates import AllowedCall, Candidate, Judged, StepLabels, branches
from conform.judging.model import JudgeModel, bug_of, world_of
from conform.judging.model_bugs import ModelCall
from conform.judging.never_issued import NeverIssued
from conform.judging.read_result import project
from conform.judging.relabel import key
from conform.judging.siblings import Siblings
from conform.judging.traces import ModelTrace

_MOST_TRACES = 64
_NO_LABELS = StepLabels(Labels(), "")
_UNDEFINED = "Undefined"
"""The exception of a generated model where the charter has no value; each folder of models has a
class of its own."""
_NOT_A_STATE = (KeyError, ValueError, TypeError, AttributeError)
"""The exceptions of a model of another charter for arguments that it does not have."""


@dataclass(slots=True)
class WalkTraces:
    """The `traces` of the charter's model that show what a walk showed, with their `states`. A
    target shows the variables `observes` (None: all)."""

    siblings: Siblings
    question: Mapping[str, Json]
    observes: Sequence[str] | None
    traces: tuple[ModelTrace, ...] = ()
    states: tuple[object, ...] = ()

    @property
    def model(self) -> JudgeModel:
        return self.siblings.charter

    def _go_on(self, traces: Sequence[ModelTrace]) -> None:
        """Go on with these traces; with none of too many."""
        self.traces = tuple(traces) if len(traces) <= _MOST_TRACES else ()
        self.states = tuple([trace.state for trace in self.traces])

    def begin(self, seen: bytes) -> bool:
        """Begin in the first state; whether that is what was seen. Raises `ModelBug`."""
        try:
            state = self.model.initial(*world_of(self.question))
            shown = self._select_shown(self.model.observe(state))
        except Exception as error:
            raise bug_of(self.model, self.question, "", error) from error
        _, relabelled, labels = Labels(self.siblings.opaque).step(None, shown)
        text = key(relabelled)
        self._go_on([ModelTrace(state, labels, History((shown,)), key(shown), text)])
        return text == seen

    def ask(self, operation: str, drawn: Json) -> AllowedCall | None:
        """What the charter allows for a call; None if it has no value in a state that the walk may
        be in, or breaks an assumption there. Raises `ModelBug`."""
        try:
            allowed = [
                self._list_candidates(operation, drawn, *at) for at in enumerate(self.traces)
            ]
        except Unresolved:
            return None
        except Exception as error:
            known = isinstance(error, _NOT_A_STATE) and not self.siblings.same_operations
            if known or type(error).__name__ == _UNDEFINED:
                return None
            raise bug_of(self.model, self.question, operation, error) from error
        return AllowedCall(ModelCall(operation, drawn, {}), {}, _NO_LABELS, allowed)

    def _list_candidates(
        self, operation: str, drawn: Json, origin: int, trace: ModelTrace
    ) -> list[Candidate]:
        """The outcomes of a call after one of the traces. The model has none where an assumption is
        false, and raises `Undefined`."""
        model = self.model
        args = resolve(drawn, trace.history, NeverIssued(model, operation))
        assert isinstance(args, dict)
        labels = StepLabels(trace.labels, operation)
        found = []
        for outcome in model.outcomes(trace.state, operation, args):
            if outcome.state is trace.state:
                shown, text = trace.history.observations[-1], trace.text
            else:
                shown = self._select_shown(model.observe(outcome.state))
                text = key(shown)
            found.append(Candidate(outcome, shown, (key(outcome.reply), text), labels, origin))
        return found

    def take(self, allowed_call: AllowedCall, seen: tuple[bytes, bytes]) -> Judged | None:
        """Go on with the outcomes that show what was seen, relabelled; None if there is none."""
        matching = list[Candidate]()
        traces, ways = list[ModelTrace](), list[tuple[int, str, int]]()
        for item in (item for here in allowed_call.allowed for item in here):
            texts, labels = self._relabel(allowed_call.call.operation, item)
            if texts != seen:
                continue
            matching.append(item)
            history = self.traces[item.origin].history.then(item.outcome.reply, item.observation)
            trace = ModelTrace(item.outcome.state, labels, history, item.texts[1], texts[1])
            place = next((at for at, one in enumerate(traces) if _is_same(one, trace)), len(traces))
            if place == len(traces):
                traces.append(trace)
            ways.append((item.origin, item.outcome.branch, place))
        if not matching:
            return None
        self._go_on(traces)
        return Judged(True, branches(matching), ways=tuple(ways))

    def _relabel(self, operation: str, item: Candidate) -> tuple[tuple[bytes, bytes], Labels]:
        """The texts of an outcome, relabelled, and the labels after it. The text of an observation
        that has not changed is known."""
        trace = self.traces[item.origin]
        if item.texts[1] != trace.text:
            return item.shown, item.labels
        reply, _, labels = trace.labels.step(item.outcome.reply, None, operation)
        return (key(reply), trace.seen), labels

    def _select_shown(self, observation: Json) -> Json:
        return observation if self.observes is None else project(observation, self.observes)


def _is_same(one: ModelTrace, other: ModelTrace) -> bool:
    """Whether two traces that show the same, relabelled, are equal."""
    return one.labels.text == other.labels.text and one.state == other.state
