"""Judges transition by transition, also after a divergence.

The automaton of a vector ends where the run leaves it. From there on the charter's model computes
what is allowed from the *observed* state, so a vector yields all its deviating transitions and not
only the first. For state that the target does not show there are two estimates: that of the
charter, up to the first deviation, and that of the charter with the whole overlay, which explains
deviations and from which the run continues after them. If neither determines the state, following
stops, and the remaining steps are counted as not judged. What the target did to state that it does
not show is unknown, too, where nothing explains the observed state and the charter changes both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from charter.formats.canonical import Json
from charter.formats.labels import Labels
from charter.formats.opaque import OpaqueTypes
from charter.formats.resolve import History, Unresolved, resolve
from conform.console.errors import ModelBug
from conform.judging.candidates import (
    AskedStep,
    Candidate,
    EntryWidth,
    Judged,
    SeenStep,
    StepLabels,
    branches,
    width_of,
)
from conform.judging.model import (
    JudgeModel,
    assumes,
    bug_of,
    can_fail,
    can_take_over,
    fails,
    is_thrown,
    may_differ,
    take_over,
    world_of,
)
from conform.judging.model_bugs import ComputedStates, ModelCall
from conform.judging.never_issued import Wishes, find_shown, find_single_new
from conform.judging.read_result import project
from conform.judging.relabel import key
from conform.judging.translate import NoPlace, overlay, translate

_MOST_STATES = 64
_MEMORY = 2_000
"""Steps in a full cache, of some 30 kB each."""
_OPEN = "the charter leaves a choice open that the target does not show"
_UNKNOWN = "no outcome leads to the observed state, and the charter changes state that is not shown"
_UNDEFINED = "Undefined"
"""The exception of a generated model where the charter has no value; each folder of models has a
class of its own."""
_NOT_A_STATE = (KeyError, ValueError, TypeError, AttributeError)
"""The exceptions of a model's `given` and `decode` for JSON that is not a state. If the JSON comes
from the target, the target is at fault; any other exception is a bug of the model."""


@dataclass(frozen=True, slots=True)
class ObservedStep:
    """One observed step, raw; `args` are those of the question, with references."""

    operation: str
    args: Json
    reply: Json
    observation: Json


class CannotFollow(Exception):
    """The state after a step is not known; the message says why."""


@dataclass(frozen=True, slots=True)
class Siblings:
    """The charter's model, and the models with one overlay entry each ("" has them all).

    `same_state` and `same_operations` are False if given states, or arguments, of the suite may not
    fit `charter`, because the suite was made from another model. Labels count by the types in
    `opaque`. Followers share a cache: most vectors begin like others, and deviate in the same way.
    """

    charter: JudgeModel
    entries: Mapping[str, JudgeModel] = field(default_factory=dict)
    same_state: bool = True
    same_operations: bool = True
    opaque: OpaqueTypes = field(default_factory=OpaqueTypes)
    memory: dict[tuple[bytes | str, ...], _Moved] = field(default_factory=dict, compare=False)

    def remember(self, at: tuple[bytes | str, ...], moved: _Moved) -> None:
        """Cache the result of a step; a full cache is cleared."""
        if len(self.memory) > _MEMORY:
            self.memory.clear()
        self.memory[at] = moved


@dataclass(frozen=True, slots=True)
class _Moved:
    """The state of a follower after a step, and the judgement of the step. `wished` are the
    target's values for those that were never issued."""

    judged: Judged
    states: tuple[object, ...]
    likely: tuple[object, ...]
    known: bytes
    labels: Labels
    lost: str
    wished: Mapping[str, str]


class Follower:
    """Follows one run. `states` are the model's states, in the target's own opaque values, that the
    run may be in according to the charter, `likely` those according to the charter with the
    overlay."""

    def __init__(
        self,
        siblings: Siblings,
        question: Mapping[str, Json],
        observes: Sequence[str] | None,
        start: Json,
    ) -> None:
        self.question = question
        self.world = world_of(question)
        self._world_text = key([question["sorts"], question.get("consts")])
        self.siblings = siblings
        self.observes = observes
        self.labels = Labels(siblings.opaque)
        self.wishes = Wishes(siblings.charter)
        self.wished: Mapping[str, str] = {}
        self.history = History(())
        self.states: tuple[object, ...] = ()
        self.likely: tuple[object, ...] = ()
        self.known = b""
        self.lost = "the state is not known"
        self.deviated = False
        self._asked = AskedStep(StepLabels(self.labels, ""))
        self._begin(start)
        self.computed = self._compute()

    def _begin(self, start: Json) -> None:
        model = self.siblings.charter
        observation, encoded = self._first(model)
        self._own = encoded
        none = self.labels
        _, renamed, labels = none.step(None, self._select_shown(observation))
        _, shown, self.labels = none.step(None, start)
        if key(renamed) != key(shown):
            raise CannotFollow("the state before the first operation is not the charter's")
        try:
            adopted = self._adopt(encoded, labels, self.labels, start)
            self.states = self.likely = (self._decode(model, adopted),)
        except NoPlace as error:
            raise CannotFollow(str(error)) from None
        self.known = key(adopted)
        self.history = History((start,))

    def _first(self, model: JudgeModel) -> tuple[Json, Json]:
        """The observation of the model's state before the first operation, and the whole state, as
        JSON."""
        given = self.question["given"]
        try:
            first = model.initial(*self.world) if given is None else model.given(given, *self.world)
        except Exception as error:
            if isinstance(error, _NOT_A_STATE) and not self.siblings.same_state:
                raise CannotFollow(f"the given state is not one of the model ({error})") from None
            raise self._bug(model, "", error) from error
        try:
            return model.observe(first), model.encode(first)
        except Exception as error:
            raise self._bug(model, "", error) from error

    def _decode(self, model: JudgeModel, value: Json) -> object:
        """Decodes a state of the target. Raises `CannotFollow` if it is not a state of the
        model."""
        try:
            return model.decode(value, *self.world)
        except _NOT_A_STATE as error:
            sentence = f"the model cannot represent the observation ({error})"
        except Exception as error:
            raise self._bug(model, "", error) from error
        try:
            model.decode(self._own, *self.world)
        except Exception as error:
            raise self._bug(model, "", error) from error
        raise CannotFollow(sentence)

    def encoded(self, model: JudgeModel, states: Iterable[object]) -> list[Json]:
        """States of a model as JSON. Raises `ModelBug`, or `CannotFollow`."""
        try:
            return [model.encode(state) for state in states]
        except Exception as error:
            if self.deviated and self.computed.are_encoded(model):
                raise CannotFollow(_after_deviation("write down", error)) from None
            raise self._bug(model, "", error) from error

    def _compute(self) -> ComputedStates:
        return ComputedStates(self.siblings.charter, self.world, self.states, self.history)

    def _bug(self, model: JudgeModel, operation: str, error: Exception) -> ModelBug:
        return bug_of(model, self.question, operation, error)

    def _select_shown(self, observation: Json) -> Json:
        return observation if self.observes is None else project(observation, self.observes)

    def step(self, step: ObservedStep) -> Judged:
        """Judge one transition and continue from the observed state. Raises `CannotFollow` if the
        state before the step is not known."""
        if not self.states:
            raise CannotFollow(self.lost)
        if not self.deviated:
            self.computed = self._compute()
        try:
            call = self.resolved(step)
        except Unresolved as error:
            raise CannotFollow(str(error)) from None
        wishes = repr(self.wishes.asked).encode()
        raw = (key(call.args), key(step.reply), key(step.observation), wishes)
        at = (self._world_text, self.known, self.labels.text, step.operation, *raw)
        moved = self.siblings.memory.get(at)
        if moved is None:
            judged = self._judge(step, call)
            known, wished = self.known, self.wished
            moved = _Moved(judged, self.states, self.likely, known, self.labels, self.lost, wished)
            self.siblings.remember(at, moved)
        self.states, self.likely, self.known = moved.states, moved.likely, moved.known
        self.labels, self.lost = moved.labels, moved.lost
        self.deviated |= not moved.judged.allowed
        self.wishes.learn(moved.wished)
        self.history = self.history.then(step.reply, step.observation)
        return moved.judged

    def _judge(self, step: ObservedStep, call: ModelCall) -> Judged:
        """Judge one transition that is not in the cache."""
        self._asked = AskedStep(StepLabels(self.labels, call.operation))
        shown = self._asked.labels.relabel(step.reply, step.observation)
        labels, seen = shown.labels, SeenStep(*shown.texts, shown.labels, step.observation)
        charter = self.siblings.charter
        allowed = self._ask_model(charter, self.states, call)
        if self.likely is self.states:
            self._asked.allowed[None] = allowed
        candidates = [item for items in allowed for item in items]
        matching = [item for item in candidates if item.is_seen(seen)]
        known = self._explains("", call, seen)
        asked = self.wishes.asked
        if matching:
            self.wished = find_shown(asked, matching[0].labels, labels)
            likely = self._complete(self.siblings.entries[""], known, seen) if known else {}
            self._go_on(self._complete(charter, matching, seen), likely, seen)
            return Judged(True, branches(matching))
        expected = tuple(item.list_allowed() for item in candidates)
        entries, (model, found) = self._explain(call, known, seen)
        widths = tuple(self._widths(entries, call, seen))
        alone = find_single_new(asked, self.labels, [item.labels for item in candidates], labels)
        self.wished = find_shown(asked, found[0].labels, labels) if found else alone
        adopted = self._complete(model, found or candidates, seen)
        if not found and len(adopted) > 1:
            self.lost, adopted = _OPEN, {}
        elif not found and self._is_half_known(candidates, adopted, seen):
            self.lost, adopted = _UNKNOWN, {}
        self._go_on(adopted, {}, seen)
        return Judged(False, (), expected, entries, widths)

    def _is_half_known(
        self, candidates: Sequence[Candidate], adopted: Mapping[bytes, Json], seen: SeenStep
    ) -> bool:
        """Whether no outcome has the observed state, and they change what is not shown."""
        if any(item.shown[1] == seen.observation for item in candidates):
            return False
        before = self.encoded(self.siblings.charter, self.states)
        return not adopted.keys() <= {key(overlay(state, seen.raw)) for state in before}

    def fault(self, step: ObservedStep) -> Judged:
        """Judge a fault: what the charter allows instead, and which entries explain it. Following
        ends here. The observation is None if there was none. Raises `CannotFollow` if the state
        before the step is not known."""
        if not self.states:
            raise CannotFollow(self.lost)
        judged = self._fault(step)
        self.states = self.likely = ()
        self.known, self.lost = b"", "the run ended with a fault"
        return judged

    def _fault(self, step: ObservedStep) -> Judged:
        """As `fault`, but keeps the state."""
        try:
            call = self.resolved(step)
        except Unresolved:
            return Judged(False, ())
        self._asked = AskedStep(StepLabels(self.labels, call.operation))
        allowed = self._ask_model(self.siblings.charter, self.states, call)
        expected = tuple(item.list_allowed() for items in allowed for item in items)
        changed = step.observation is not None and self._has_changed(step.observation)
        entries = () if changed else self.failing(step)
        return Judged(False, (), expected, entries)

    def failing(self, step: ObservedStep) -> tuple[str, ...]:
        """The entries that explain the fault `step.reply` at a step."""
        try:
            call = self.resolved(step)
        except Unresolved:
            return ()
        self._asked = AskedStep(StepLabels(self.labels, call.operation))
        knows = [
            entry
            for entry, sibling in self.siblings.entries.items()
            if can_fail(sibling) and self._knows_fault(sibling, step, call)
        ]
        names = tuple(sorted(entry for entry in knows if entry))
        return names or ("several_entries",) * len(knows)

    def _has_changed(self, observation: Json) -> bool:
        before = self.history.observations[-1]
        return key(self._select_shown(observation)) != key(self._select_shown(before))

    def _knows_fault(self, sibling: JudgeModel, step: ObservedStep, call: ModelCall) -> bool:
        """Whether an entry's model has this fault in one of the possible states."""
        states = self._likely_in(sibling)
        try:
            known = [
                f for state in states for f in fails(sibling, state, call.operation, call.args)
            ]
        except Exception as error:
            raise self.failed(sibling, call, error) from error
        return any(is_thrown(fault, step.reply) for fault in known)

    def _explain(
        self, call: ModelCall, known: list[Candidate], seen: SeenStep
    ) -> tuple[tuple[str, ...], tuple[JudgeModel, list[Candidate]]]:
        """The entries that explain the observed outcome, and a model with the outcomes to continue
        from. `known` are the outcomes with the whole overlay."""
        charter, entries = self.siblings.charter, self.siblings.entries
        found = {"": known} if known else {}
        if not self._from_likely(None, charter, call, seen):
            able = (e for e, model in entries.items() if e and may_differ(model, call.operation))
            for entry in able:
                matching = self._explains(entry, call, seen)
                if matching:
                    found[entry] = matching
        names = tuple(sorted(entry for entry in found if entry))
        if known:
            return names or ("several_entries",), (entries[""], known)
        if names:
            return names, (entries[names[0]], found[names[0]])
        return (), (charter, [])

    def _widths(
        self, entries: Sequence[str], call: ModelCall, seen: SeenStep
    ) -> Iterator[EntryWidth]:
        """How much these entries, which explain the step, allow in it."""
        charter = self.siblings.charter
        for entry in entries:
            sibling = self.siblings.entries.get(entry)
            if sibling is not None:
                own = self._ask_entry(None, charter, call)
                other = self._ask_entry(entry, sibling, call)
                yield width_of(entry, seen, zip(own, other, strict=False))

    def _explains(self, entry: str, call: ModelCall, seen: SeenStep) -> list[Candidate]:
        """Outcomes of an entry's model that equal the observed one."""
        sibling = self.siblings.entries.get(entry)
        return self._from_likely(entry, sibling, call, seen) if sibling else []

    def _from_likely(
        self, entry: str | None, model: JudgeModel, call: ModelCall, seen: SeenStep
    ) -> list[Candidate]:
        """Outcomes of a model, from the likely states, that equal the observed one."""
        allowed = self._ask_entry(entry, model, call)
        return [item for items in allowed for item in items if item.is_seen(seen)]

    def _ask_entry(
        self, entry: str | None, model: JudgeModel, call: ModelCall
    ) -> list[list[Candidate]]:
        """The outcomes of an entry's model from each of the likely states, asked once in a step."""
        found = self._asked.allowed.get(entry)
        if found is None:
            states = self.likely if entry is None else self._likely_in(model)
            found = self._asked.allowed[entry] = self._ask_model(model, states, call, likely=True)
        return found

    def _likely_in(self, model: JudgeModel) -> list[object]:
        """The likely states as states of a sibling model; none if its state variables differ."""
        if can_take_over(model, self.siblings.charter):
            return [take_over(model, state) for state in self.likely]
        if self._asked.likely is None:
            self._asked.likely = self.encoded(self.siblings.charter, self.likely)
        try:
            return [model.decode(value, *self.world) for value in self._asked.likely]
        except _NOT_A_STATE:
            return []
        except Exception as error:
            raise self._bug(model, "", error) from error

    def _ask_model(
        self, model: JudgeModel, states: Sequence[object], call: ModelCall, *, likely: bool = False
    ) -> list[list[Candidate]]:
        """The outcomes of a model from each state; none if a `likely` one breaks an assumption."""
        try:
            found = [
                [
                    (outcome, model.observe(outcome.state))
                    for outcome in model.outcomes(state, call.operation, call.args)
                ]
                if not likely or assumes(model, state, call.operation, call.args)
                else []
                for state in states
            ]
        except Exception as error:
            raise self.failed(model, call, error) from error
        relabel = self._asked.labels.relabel
        return [
            [
                Candidate(outcome, relabel(outcome.reply, self._select_shown(observation)))
                for outcome, observation in each
            ]
            for each in found
        ]

    def failed(
        self, model: JudgeModel, call: ModelCall, error: Exception
    ) -> ModelBug | CannotFollow:
        """Classifies an exception of a model's rule. A rule need not have a value in a state that
        only a deviation leads to; values there, and arguments that refer to them, need not be of
        their types."""
        operation = call.operation
        if self.deviated and type(error).__name__ == _UNDEFINED:
            return CannotFollow(
                f"the charter has no value for {operation} in a state that follows a deviation"
                f" ({error})"
            )
        if self.deviated and not self.computed.fail(model, call):
            return CannotFollow(_after_deviation(f"do {operation} in", error))
        if isinstance(error, _NOT_A_STATE) and not self.siblings.same_operations:
            return CannotFollow(
                f"the model is not that of the suite: it cannot do {operation} ({error})"
            )
        return self._bug(model, operation, error)

    def _complete(
        self, model: JudgeModel, candidates: Sequence[Candidate], seen: SeenStep
    ) -> dict[bytes, Json]:
        """The observed state, completed by the hidden state of `candidates`; empty if they do not
        fit."""
        adopted: dict[bytes, Json] = {}
        encoded = self.encoded(model, (item.outcome.state for item in candidates))
        try:
            for item, whole in zip(candidates, encoded, strict=True):
                value = self._adopt(whole, item.labels, seen.labels, seen.raw)
                adopted[key(value)] = value
        except NoPlace as error:
            self.lost = str(error)
            return {}
        if len(adopted) > _MOST_STATES:
            self.lost = _OPEN
            return {}
        return adopted

    def _go_on(
        self, states: Mapping[bytes, Json], likely: Mapping[bytes, Json], seen: SeenStep
    ) -> None:
        """Continue in `states`, and with the overlay in `likely` (if empty, in the same states)."""
        self.labels = seen.labels
        self.states = self.likely = ()
        self.known = b""
        charter = self.siblings.charter
        try:
            found = tuple(self._decode(charter, value) for value in states.values())
            same = [*likely] == [*states]
            by_overlay = found if same else [self._decode(charter, v) for v in likely.values()]
        except CannotFollow as error:
            self.lost = str(error)
            return
        self.states, self.likely = found, tuple(by_overlay) or found
        self.known = b"\n".join((*sorted(states), b"", *sorted(likely)))

    def _adopt(self, encoded: Json, model: Labels, target: Labels, observed: Json) -> Json:
        """The model's state in the target's opaque values, with the observed part as it was
        observed."""
        return overlay(translate(encoded, model, target), observed)

    def resolved(self, step: ObservedStep) -> ModelCall:
        """A step as a call of a model: without references. Raises `Unresolved`."""
        try:
            args = resolve(step.args, self.history, self.wishes.of(step.operation, self.labels))
        except Unresolved:
            raise
        except Exception as error:
            call = ModelCall(step.operation, step.args, {})
            raise self.failed(self.siblings.charter, call, error) from error
        assert isinstance(args, dict)
        return ModelCall(step.operation, step.args, args)


def _after_deviation(what: str, error: Exception) -> str:
    """Why a state after a deviation is not followed."""
    told = f"{type(error).__name__}: {error}"
    return f"the model cannot {what} a state that follows a deviation ({told})"
