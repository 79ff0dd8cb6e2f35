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

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from charter.formats.canonical import Json
from charter.formats.labels import Labels
from charter.formats.resolve import History, Unresolved, resolve
from conform.console.errors import ModelBug
from conform.judging.candidates import (
    AllowedCall,
    AskedStep,
    Candidate,
    EntryWidth,
    Judged,
    SeenStep,
    StepLabels,
    branches,
    find_seen,
    list_distinct,
    width_of,
)
from conform.judging.model import (
    JudgeModel,
    assumes,
    bug_of,
    can_take_over,
    give_back,
    may_differ,
    take_over,
    world_of,
)
from conform.judging.model_bugs import ComputedStates, ModelCall, explain_failure
from conform.judging.never_issued import Wishes, find_shown, find_single_new
from conform.judging.read_result import project
from conform.judging.relabel import key
from conform.judging.siblings import SEVERAL_ENTRIES, FollowedStep, ObservedStep, Siblings
from conform.judging.translate import NoPlace, overlay, translate

_MOST_STATES = 64
_OPEN = "the charter leaves a choice open that the target does not show"
_UNKNOWN = "no outcome leads to the observed state, and the charter changes state that is not shown"
_UNDEFINED = "Undefined"
"""The exception of a generated model where the charter has no value; each folder of models has a
class of its own."""
_NOT_A_STATE = (KeyError, ValueError, TypeError, AttributeError)
"""The exceptions of a model's `given` and `decode` for JSON that is not a state. If the JSON comes
from the target, the target is at fault; any other exception is a bug of the model."""


class CannotFollow(Exception):
    """The state after a step is not known; the message says why."""


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
        self.question, self.world = question, world_of(question)
        self.siblings = siblings
        self.observes = observes
        self.labels = Labels(siblings.opaque)
        self.wishes, self.wished = Wishes(siblings.charter), dict[str, str]()
        self.history = History((start,))
        self.states: tuple[object, ...] = ()
        self.likely: tuple[object, ...] = ()
        self.lost = "the state is not known"
        self.deviated = False
        self._asked = AskedStep()
        self._views: dict[int, tuple[Json, bytes]] = {}  # what is observed in each of `states`
        self._first = self._find_first(siblings.charter)
        if not siblings.memory.starts:  # the first of all runs
            self._check_first(siblings.charter)
        self._begin(siblings.charter, start)
        self.computed = self._compute()
        shown: Json = None if observes is None else [*observes]
        begun = [question["sorts"], question.get("consts"), question["given"], shown, start]
        self._next = siblings.memory.begin(key(begun))

    def _begin(self, model: JudgeModel, start: Json) -> None:
        observation = self._select_shown(self._call(model, lambda: model.observe(self._first)))
        none, raw = self.labels, key(observation)
        _, shown, self.labels = none.step(None, start)
        if raw == key(start):
            self.states = self.likely = (self._first,)
            return
        _, renamed, labels = none.step(None, observation)
        if key(renamed) != key(shown):
            raise CannotFollow("the state before the first operation is not the charter's")
        encoded = self._call(model, lambda: model.encode(self._first))
        try:
            adopted = self._adopt(encoded, labels, self.labels, start)
        except NoPlace as error:
            raise CannotFollow(str(error)) from None
        self.states = self.likely = (self._decode(model, adopted),)

    def _find_first(self, model: JudgeModel) -> object:
        """The model's state before the first operation."""
        given = self.question["given"]
        try:
            return model.initial(*self.world) if given is None else model.given(given, *self.world)
        except Exception as error:
            if isinstance(error, _NOT_A_STATE) and not self.siblings.same_state:
                raise CannotFollow(f"the given state is not one of the model ({error})") from None
            raise self._bug(model, "", error) from error

    def _call(self, model: JudgeModel, call: Callable[[], Json]) -> Json:
        """Calls a function of a model that cannot fail in a state that it made itself."""
        try:
            return call()
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
        self._check_first(model)
        raise CannotFollow(sentence)

    def _check_first(self, model: JudgeModel) -> None:
        """Raises `ModelBug` if a model cannot write and read its own first state."""
        try:
            model.decode(model.encode(self._first), *self.world)
        except Exception as error:
            raise self._bug(model, "", error) from error

    def encoded(self, model: JudgeModel, states: Iterable[object]) -> list[Json]:
        """States of a model as JSON. Raises `ModelBug`, or `CannotFollow`."""
        try:
            return [model.encode(state) for state in states]
        except Exception as error:
            if self.deviated and self.computed.are_encoded(model):
                raise CannotFollow(explain_failure("write down", error)) from None
            raise self._bug(model, "", error) from error

    def _compute(self) -> ComputedStates:
        return ComputedStates(self.siblings.charter, self.world, self.states, self.history)

    def _bug(self, model: JudgeModel, operation: str, error: Exception) -> ModelBug:
        return bug_of(model, self.question, operation, error)

    def _select_shown(self, observation: Json) -> Json:
        return observation if self.observes is None else project(observation, self.observes)

    def ask(self, operation: str, args: Json) -> AllowedCall | None:
        """What the charter allows for an operation that a walk may choose; None if it has no value
        in a state that the run may be in, or breaks an assumption there. Raises `ModelBug`."""
        charter = self.siblings.charter
        try:
            call = self.resolved(ObservedStep(operation, args, None, None))
        except (CannotFollow, Unresolved):
            return None
        labels = StepLabels(self.labels, operation)
        try:
            allowed = self._list_candidates(charter, self.states, call, labels)
        except Exception as error:
            if type(error).__name__ == _UNDEFINED:
                return None
            problem = self.failed(charter, call, error)
            if isinstance(problem, ModelBug):
                raise problem from error
            return None
        return AllowedCall(call, self.wishes.asked, labels, allowed)

    def step(self, step: ObservedStep, ready: AllowedCall | None = None) -> Judged:
        """Judge one transition and continue from the observed state; `ready` is what the
        charter allows, if that is known. Raises `CannotFollow` if the state before is not known."""
        if not self.states:
            raise CannotFollow(self.lost)
        if not self.deviated:
            self.computed = self._compute()
        texts = step.texts or (key(step.reply), key(step.observation))
        at = (step.operation, key(step.args), *texts)
        moved = self._next.get(at)
        if moved is None:
            judged = self._judge(step, texts, ready)
            own = self.wishes.learn(self.wished)
            moved = FollowedStep(judged, self.states, self.likely, self.labels, self.lost, own)
            self.siblings.memory.add(self._next, at, moved)
        self._next, self._views = moved.after, {}
        self.states, self.likely = moved.states, moved.likely
        self.labels, self.lost, self.wishes.own = moved.labels, moved.lost, moved.own
        self.deviated |= not moved.judged.allowed
        self.history = self.history.then(step.reply, step.observation)
        return moved.judged

    def _judge(
        self, step: ObservedStep, texts: tuple[bytes, bytes], ready: AllowedCall | None
    ) -> Judged:
        """Judge one transition that is not in the cache."""
        charter = self.siblings.charter
        if ready is None:
            try:
                call = self.resolved(step)
            except Unresolved as error:
                raise CannotFollow(str(error)) from None
            allowed = self.ask_charter(call)
        else:
            call, allowed, self.wishes.asked = ready.call, ready.allowed, ready.wished
            self._asked = AskedStep(ready.labels)
        if self.likely is self.states:
            self._asked.allowed[None] = allowed
        seen = SeenStep.of(self._asked.labels, (step.reply, step.observation), texts, step.is_old)
        candidates = [item for items in allowed for item in items]
        matching = find_seen(candidates, seen)
        differs = self.likely is not self.states or self.siblings.may_differ(call.operation)
        known = self._explains("", call, seen) if differs else []
        self.wished = {}
        if matching:
            if self.wishes.asked:
                self.wished = find_shown(self.wishes.asked, matching[0].labels, seen.labels)
            likely = self._continue(self.siblings.entries[""], known, seen) if known else []
            after = self._continue(charter, matching, seen)
            self._go_on(after, likely, seen)
            return Judged(True, branches(matching), ways=self._list_ways(matching, after))
        expected = tuple(item.list_allowed() for item in candidates)
        entries, (model, found) = self._explain(call, known, seen)
        widths = tuple(self._widths(entries, call, seen))
        if self.wishes.asked:
            self.wished = self._find_wished(found, candidates, seen)
        if found:
            self._go_on(self._continue(model, found, seen), [], seen)
        else:
            self._go_on(self._adopt_unexplained(candidates, seen), [], seen)
        return Judged(False, (), expected, entries, widths)

    def _list_ways(
        self, matching: Sequence[Candidate], after: Sequence[object]
    ) -> tuple[tuple[int, str, int], ...]:
        """The ways to the present states, by the outcomes that lead to them."""
        pairs = zip(matching, after, strict=True) if self.states else ()
        return tuple(
            (item.origin, item.outcome.branch, self.states.index(state)) for item, state in pairs
        )

    def _find_wished(
        self, found: Sequence[Candidate], candidates: Sequence[Candidate], seen: SeenStep
    ) -> dict[str, str]:
        """The target's values for those that were requested, after a deviation."""
        if found:
            return find_shown(self.wishes.asked, found[0].labels, seen.labels)
        models = [item.labels for item in candidates]
        return find_single_new(self.wishes.asked, self.labels, models, seen.labels)

    def _adopt_unexplained(self, candidates: Sequence[Candidate], seen: SeenStep) -> list[object]:
        """The observed state, if nothing explains it but what is not shown is known."""
        adopted = dict(self._complete(self.siblings.charter, candidates, seen))
        if len(adopted) > 1:
            self.lost, adopted = _OPEN, {}
        elif self._is_half_known(candidates, adopted, seen):
            self.lost, adopted = _UNKNOWN, {}
        return self._decode_all(adopted.items())

    def _is_half_known(
        self, candidates: Sequence[Candidate], adopted: Mapping[bytes, Json], seen: SeenStep
    ) -> bool:
        """Whether no outcome has the observed state, and they change what is not shown."""
        if any(item.shown[1] == seen.shows.texts[1] for item in candidates):
            return False
        before = self.encoded(self.siblings.charter, self.states)
        return not adopted.keys() <= {key(overlay(state, seen.observation)) for state in before}

    def end(self, why: str) -> None:
        """End following."""
        self.states = self.likely = ()
        self.lost = why

    def begin_step(self, operation: str) -> None:
        """Forget what models allow in another step."""
        self._asked = AskedStep(StepLabels(self.labels, operation))

    def ask_charter(self, call: ModelCall) -> list[list[Candidate]]:
        """What the charter allows for a call from each of the possible states."""
        self.begin_step(call.operation)
        return self._ask_model(self.siblings.charter, self.states, call)

    def has_changed(self, observation: Json) -> bool:
        """Whether a target shows another state than before."""
        before = self.history.observations[-1]
        return key(self._select_shown(observation)) != key(self._select_shown(before))

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
            return names or (SEVERAL_ENTRIES,), (entries[""], known)
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
        return find_seen([item for items in allowed for item in items], seen)

    def _ask_entry(
        self, entry: str | None, model: JudgeModel, call: ModelCall
    ) -> list[list[Candidate]]:
        """The outcomes of an entry's model from each of the likely states, asked once in a step."""
        found = self._asked.allowed.get(entry)
        if found is None:
            states = self.likely if entry is None else self.list_likely_in(model)
            found = self._asked.allowed[entry] = self._ask_model(model, states, call, likely=True)
        return found

    def list_likely_in(self, model: JudgeModel) -> list[object]:
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
            return self._list_candidates(model, states, call, self._asked.labels, likely=likely)
        except Exception as error:
            raise self.failed(model, call, error) from error

    def _list_candidates(
        self,
        model: JudgeModel,
        states: Sequence[object],
        call: ModelCall,
        labels: StepLabels,
        *,
        likely: bool = False,
    ) -> list[list[Candidate]]:
        """As `_ask_model`, with the model's own exceptions."""
        operation, args = call.operation, call.args
        found: list[list[Candidate]] = []
        views = self._views if states is self.states and model is self.siblings.charter else {}
        for origin, state in enumerate(states):
            here: list[Candidate] = []
            if not likely or assumes(model, state, operation, args):
                for outcome in model.outcomes(state, operation, args):
                    view = views.get(origin) if outcome.state is state else None
                    if view is None:
                        shown = self._select_shown(model.observe(outcome.state))
                        view = shown, key(shown)
                    if outcome.state is state:
                        views[origin] = view
                    texts = (key(outcome.reply), view[1])
                    here.append(Candidate(outcome, view[0], texts, labels, origin))
            found.append(here)
        return found

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
            return CannotFollow(explain_failure(f"do {operation} in", error))
        if isinstance(error, _NOT_A_STATE) and not self.siblings.same_operations:
            return CannotFollow(
                f"the model is not that of the suite: it cannot do {operation} ({error})"
            )
        return self._bug(model, operation, error)

    def _complete(
        self, model: JudgeModel, candidates: Sequence[Candidate], seen: SeenStep
    ) -> list[tuple[bytes, Json]]:
        """The observed state, completed by the hidden state of each of `candidates`; empty if they
        do not fit."""
        encoded = self.encoded(model, (item.outcome.state for item in candidates))
        try:
            values = [
                self._adopt(whole, item.labels, seen.labels, seen.observation)
                for item, whole in zip(candidates, encoded, strict=True)
            ]
        except NoPlace as error:
            self.lost = str(error)
            return []
        return [(key(value), value) for value in values]

    def _continue(
        self, model: JudgeModel, candidates: Sequence[Candidate], seen: SeenStep
    ) -> list[object]:
        """The charter's state after each of `candidates`, which is what was seen; none if one is
        not known."""
        charter, own = self.siblings.charter, model is self.siblings.charter
        if all(item.texts == seen.texts for item in candidates):
            states = [item.outcome.state for item in candidates]
            if own or can_take_over(model, charter):
                return states if own else [give_back(state, self.states[0]) for state in states]
        return self._decode_all(self._complete(model, candidates, seen))

    def _decode_all(self, adopted: Iterable[tuple[bytes, Json]]) -> list[object]:
        """States of the charter by their texts; none if it cannot have one of them."""
        decoded: dict[bytes, object] = {}
        states = []
        for text, value in adopted:
            if text not in decoded:
                try:
                    decoded[text] = self._decode(self.siblings.charter, value)
                except CannotFollow as error:
                    self.lost = str(error)
                    return []
            states.append(decoded[text])
        return states

    def _go_on(self, states: Sequence[object], likely: Sequence[object], seen: SeenStep) -> None:
        """Continue in `states`, and with the overlay in `likely` (if empty, in the same states)."""
        self.labels = seen.labels
        self.states = list_distinct(states)
        if len(self.states) > _MOST_STATES:
            self.lost, self.states = _OPEN, ()
        by_overlay = list_distinct(likely)
        if not self.states or by_overlay in ((), self.states) or len(by_overlay) > _MOST_STATES:
            by_overlay = self.states
        self.likely = by_overlay

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
