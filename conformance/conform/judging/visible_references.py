"""Questions for a target that does not show every variable: references into a hidden variable lead
to another place that shows the same value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import orjson

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_calls, own_list, own_number, own_object
from charter.formats.resolve import (
    REPLY,
    History,
    Path,
    Unresolved,
    is_reference,
    look_up,
    references,
)
from charter.formats.types import JudgedTypes
from conform.judging.automaton import Judge
from conform.judging.model import JudgeModel, bug_of
from conform.judging.siblings import Siblings
from conform.judging.traces import ModelTrace, begin, steps
from conform.judging.verdict import VectorItem

_MOST_TRACES = 64


def visible(item: VectorItem, judge: Judge, siblings: Siblings | None) -> VectorItem:
    """The vector with references only into what the target shows, as far as the charter says that
    the same value stands elsewhere; the target cannot resolve the rest. A vector stays as it is if
    its suite has no types, or is of another model. Raises `ModelBug`."""
    if judge.observes is None or judge.types is None:
        return item
    if siblings is None or not siblings.same_state:
        return item
    sight = _Sight(siblings.charter, judge.types, judge.observes, judge.opaque)
    question = orjson.loads(item.question)
    if not any(sight.is_hidden(reference) for reference in references(question["operations"])):
        return item
    try:
        return replace(item, question=canonical.text(sight.question(question)).encode())
    except Exception as error:
        raise bug_of(sight.model, question, "", error) from error


@dataclass(frozen=True, slots=True)
class _Sight:
    """What a target shows: `observes` are its variables; `model` says what else has the value of a
    hidden one, of which `types` know the type."""

    model: JudgeModel
    types: JudgedTypes
    observes: tuple[str, ...]
    opaque: OpaqueTypes

    def question(self, question: dict[str, Json]) -> Json:
        """A question with other references."""
        calls: list[Json] = []
        earlier = _Earlier(
            (begin(self.model, question, self.opaque).after,), ("",), question["given"] is not None
        )
        for call in own_calls(question):
            calls.append({**call, "args": self._show(call["args"], earlier)})
            traces = tuple(s.after for t in earlier.traces for s in steps(self.model, call, t))
            if not 0 < len(traces) <= _MOST_TRACES:
                return dict(question)
            done = (*earlier.done, str(call["operation"]))
            earlier = replace(earlier, traces=traces, done=done)
        return {**question, "operations": calls}

    def is_hidden(self, reference: dict[str, Json]) -> bool:
        """Whether a reference leads into a variable that the target does not show."""
        return "in" not in reference and own_list(reference["ref"])[1] not in self.observes

    def _show(self, value: Json, earlier: _Earlier) -> Json:
        """A value with its references replaced."""
        if isinstance(value, list):
            return [self._show(item, earlier) for item in value]
        if not isinstance(value, dict):
            return value
        if not is_reference(value):
            return {name: self._show(item, earlier) for name, item in value.items()}
        return self._elsewhere(value, earlier) if self.is_hidden(value) else value

    def _elsewhere(self, hidden: dict[str, Json], earlier: _Earlier) -> Json:
        """The newest place that has the value of a hidden one on every trace, else that value
        itself if it was loaded, else the hidden one."""
        traces = earlier.traces
        kind = self._kind(hidden, traces[0].history)
        original = [_value({"ref": hidden["ref"]}, trace.history) for trace in traces]
        for place in self._places(earlier) if kind else ():
            if place.kind != kind or place.value != original[0]:
                continue
            if [_value(place.where, trace.history) for trace in traces] == original:
                return _plus(place.where, hidden.get("plus"))
        return hidden

    def _kind(self, hidden: dict[str, Json], history: History) -> str:
        """The name of the type to which a reference into an observation leads, or ""."""
        step, name, *rest = own_list(hidden["ref"])
        found = self._list_observed(history.observations[own_number(step)], str(name))
        return next((kind for at, kind, _ in found if [*at] == rest), "")

    def _list_observed(self, observation: Json, name: str) -> Iterator[tuple[Path, str, Json]]:
        return self.types.numbers(self.types.observes[name], own_object(observation)[name])

    def _places(self, earlier: _Earlier) -> Iterator[_Place]:
        """All places that the target shows, those of the newest step first, then what it loaded."""
        history = earlier.traces[0].history
        for step in range(len(earlier.done) - 1, -1, -1):
            for name in self.observes:
                for path, kind, value in self._list_observed(history.observations[step], name):
                    yield _Place({"ref": [step, name, *path]}, kind, value)
            shape = self.types.replies.get(earlier.done[step])
            for path, kind, value in (
                self.types.numbers(shape, history.replies[step]) if shape else ()
            ):
                yield _Place({"ref": [step, *path], "in": REPLY}, kind, value)
        for name in self.types.observes if earlier.loaded else ():
            for _, kind, value in self._list_observed(history.observations[0], name):
                yield _Place(value, kind, value)


@dataclass(frozen=True, slots=True)
class _Earlier:
    """The traces of the model up to an operation, the operations of the steps so far ("" for the
    first), and whether the first state was loaded."""

    traces: tuple[ModelTrace, ...]
    done: tuple[str, ...]
    loaded: bool


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value of a type stands: a reference, or the value itself."""

    where: Json
    kind: str
    value: Json


def _value(where: Json, history: History) -> Json:
    """What stands at a place, or None."""
    try:
        return look_up(where, history) if is_reference(where) else where
    except Unresolved:
        return None


def _plus(where: Json, more: Json) -> Json:
    """A place and a number to add to what stands there."""
    if more is None:
        return where
    if isinstance(where, dict):
        return {**where, "plus": more}
    return own_number(where) + own_number(more)
