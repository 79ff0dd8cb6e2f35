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
from conform.judging.read_result import NOTHING
from conform.judging.relabel import is_same, key
from conform.judging.traces import ModelTrace, begin, steps

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

    def at(self, value: Json, text: bytes) -> int:
        position = self.positions.setdefault(text, len(self.values))
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
    needed: list[Sequence[Place]] = [()]  # by later operations, from the last to the first
    for call in reversed(calls[1:]):
        needed.append(sorted({*needed[-1], *find_references(call)}))
    for number, call in enumerate(calls, 1):
        answer.add(call, needed[len(calls) - number])
        if number < len(shown):
            answer.narrow(shown[number])
    return answer.json()


@dataclass(slots=True)
class _Front:
    """An outcome that the next operation follows: its trace, the position of its node, its
    relabelled texts, and those that it is added to."""

    trace: ModelTrace
    position: int
    branch: str
    values: tuple[Json, Json]
    texts: Shown
    origins: list[int]

    def node(self, reply: int, observation: int) -> NodeJson:
        """Its node, with the positions of its reply and observation."""
        return {
            "from": self.origins, "branch": self.branch, "reply": reply, "observation": observation
        }  # fmt: skip


@dataclass(slots=True)
class GrowingAnswer:
    """The answer to a question that gets operation after operation. Outcomes that no later
    operation can tell apart have one node; `joined` are places in which such outcomes differ, with
    the number of operations before: if a later one refers to a place, the answer is another."""

    model: JudgeModel
    front: list[_Front] = field(default_factory=list)
    levels: list[list[NodeJson]] = field(default_factory=list)
    observations: _DistinctValues = field(default_factory=_DistinctValues)
    replies: _DistinctValues = field(default_factory=_DistinctValues)
    joined: list[tuple[int, frozenset[Place]]] = field(default_factory=list)

    @classmethod
    def of(
        cls, model: JudgeModel, question: Mapping[str, Json], opaque: OpaqueTypes
    ) -> GrowingAnswer:
        """The answer to a question without its operations. Raises `CannotAnswer`."""
        with _explain_errors():
            first = begin(model, question, opaque)
        text = key(first.seen)
        front = _Front(first.after, 0, "", (None, first.seen), (NOTHING, text), [])
        made = cls(model, [front])
        made.levels.append([front.node(-1, made.observations.at(first.seen, text))])
        return made

    def add(self, call: Mapping[str, Json], needed: Sequence[Place] = ()) -> None:
        """Add an operation; later ones refer to what is `needed`. Raises `CannotAnswer`; then
        nothing is added."""
        with _explain_errors():
            following, joined = self._list_following(call, needed)
        nodes = []
        for one in following:
            reply, seen = (
                held.at(value, text)
                for held, value, text in zip(
                    (self.replies, self.observations), one.values, one.texts, strict=True
                )
            )
            nodes.append(one.node(reply, seen))
        self.levels.append(nodes)
        self.front = following
        if joined:
            self.joined.append((len(self.levels) - 1, frozenset(joined)))

    def narrow(self, shown: Shown) -> None:
        """Follow only those outcomes of the newest operation that a target has `shown`, if any."""
        self.front = [one for one in self.front if one.texts == shown] or self.front

    def json(self) -> AnswerJson:
        """The answer so far."""
        return {
            "observations": self.observations.values,
            "replies": self.replies.values,
            "steps": self.levels,
        }

    def is_of(self, calls: Sequence[Mapping[str, Json]]) -> bool:
        """Whether it is the answer to a question of these operations, which were added."""
        return len(self.levels) == len(calls) + 1 and not any(
            place in places
            for number, places in self.joined
            for call in calls[number:]
            for place in find_references(call["args"])
        )

    def _list_following(
        self, call: Mapping[str, Json], needed: Sequence[Place]
    ) -> tuple[list[_Front], set[Place]]:
        """The outcomes of one operation after all traces of the front, once those that no later
        operation can tell apart, and the places in which such outcomes differ."""
        found: dict[tuple[str, Shown, str], list[_Front]] = {}
        following: list[_Front] = []
        joined: set[Place] = set()
        for here in self.front:
            for step in steps(self.model, call, here.trace):
                after = step.after
                is_same = step.seen is here.values[1]  # nothing has changed
                texts = key(step.reply), here.texts[1] if is_same else key(step.seen)
                same = found.setdefault((step.branch, texts, after.labels.text), [])
                alike = (one for one in same if _is_alike(one.trace, after, needed))
                known = next(alike, None)
                if known is not None:
                    known.origins.append(here.position)
                    joined.update(after.history.list_differing(known.trace.history))
                    continue
                if len(following) == _MOST_NODES:
                    raise CannotAnswer(f"{call['operation']} has more than {_MOST_NODES} outcomes")
                values = step.reply, step.seen
                made = _Front(after, len(following), step.branch, values, texts, [here.position])
                same.append(made)
                following.append(made)
        return following, joined


def _is_alike(one: ModelTrace, other: ModelTrace, needed: Sequence[Place]) -> bool:
    """Whether two traces have one state, and showed the same in the places that are needed."""
    return one.state == other.state and all(
        is_same(one.history.at(place), other.history.at(place)) for place in needed
    )


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
