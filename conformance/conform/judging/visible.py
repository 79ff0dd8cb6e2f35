"""Questions for a target that does not show every variable: references into a hidden variable lead
to another place that shows the same value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import orjson

from charter.formats import canonical
from charter.formats.canonical import Json
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
from conform.judging.assess import VectorItem
from conform.judging.follow import Siblings
from conform.judging.judge import Judge
from conform.judging.model import JudgeModel, bug_of
from conform.judging.traces import ModelTrace, begin, steps

_MOST_TRACES = 64


def visible(item: VectorItem, judge: Judge, siblings: Siblings | None) -> VectorItem:
    """The vector with references only into what the target shows, as far as the charter says that
    the same value stands elsewhere; the target cannot resolve the rest. A vector stays as it is if
    its suite has no types, or is of another model. Raises `ModelBug`."""
    if judge.observes is None or judge.types is None:
        return item
    if siblings is None or not siblings.same_state:
        return item
    sight = _Sight(siblings.charter, judge.types, judge.observes)
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

    def question(self, question: dict[str, Json]) -> Json:
        """A question with other references."""
        calls: list[Json] = []
        traces, done = [begin(self.model, question).after], [""]
        operations = question["operations"]
        assert isinstance(operations, list)
        for call in operations:
            assert isinstance(call, dict)
            calls.append({**call, "args": self._shown(call["args"], traces, done)})
            traces = [step.after for trace in traces for step in steps(self.model, call, trace)]
            done.append(str(call["operation"]))
            if not 0 < len(traces) <= _MOST_TRACES:
                return dict(question)
        return {**question, "operations": calls}

    def is_hidden(self, reference: dict[str, Json]) -> bool:
        """Whether a reference leads into a variable that the target does not show."""
        path = reference["ref"]
        assert isinstance(path, list)
        return "in" not in reference and path[1] not in self.observes

    def _shown(self, value: Json, traces: Sequence[ModelTrace], done: Sequence[str]) -> Json:
        """A value with its references replaced; `done` are the operations of the steps so far."""
        if isinstance(value, list):
            return [self._shown(item, traces, done) for item in value]
        if not isinstance(value, dict):
            return value
        if not is_reference(value):
            return {name: self._shown(item, traces, done) for name, item in value.items()}
        return self._elsewhere(value, traces, done) if self.is_hidden(value) else value

    def _elsewhere(
        self, hidden: dict[str, Json], traces: Sequence[ModelTrace], done: Sequence[str]
    ) -> Json:
        """The newest place that has the value of a hidden one on every trace; else the hidden
        one."""
        kind = self._kind(hidden, traces[0].history)
        bare = {"ref": hidden["ref"]}
        plus = {"plus": hidden["plus"]} if "plus" in hidden else {}
        original = [_value(bare, trace.history) for trace in traces]
        for place in self._places(traces[0].history, done) if kind else ():
            if place.kind == kind and place.value == original[0]:
                values = [_value(place.reference, trace.history) for trace in traces]
                if values == original:
                    return {**place.reference, **plus}
        return hidden

    def _kind(self, hidden: dict[str, Json], history: History) -> str:
        """The name of the type to which a reference into an observation leads, or ""."""
        path = hidden["ref"]
        assert isinstance(path, list) and isinstance(path[0], int)
        _, name, *rest = path
        found = self._observed(history.observations[path[0]], str(name))
        return next((kind for at, kind, _ in found if [*at] == rest), "")

    def _observed(self, observation: Json, name: str) -> Iterator[tuple[Path, str, Json]]:
        assert isinstance(observation, dict)
        return self.types.numbers(self.types.observes[name], observation[name])

    def _places(self, history: History, done: Sequence[str]) -> Iterator[_Place]:
        """All places that the target shows, those of the newest step first."""
        for step in range(len(done) - 1, -1, -1):
            for name in self.observes:
                for path, kind, value in self._observed(history.observations[step], name):
                    yield _Place({"ref": [step, name, *path]}, kind, value)
            if done[step] in self.types.replies:
                shape = self.types.replies[done[step]]
                for path, kind, value in self.types.numbers(shape, history.replies[step]):
                    yield _Place({"ref": [step, *path], "in": REPLY}, kind, value)


@dataclass(frozen=True, slots=True)
class _Place:
    reference: dict[str, Json]
    kind: str
    value: Json


def _value(reference: Json, history: History) -> Json:
    """What a reference leads to, or None."""
    try:
        return look_up(reference, history)
    except Unresolved:
        return None
