"""Finds operations after which a target shows that a variable which it hides has a wrong value.

The model compares the state after a question with states in which one hidden variable is as it was
before the last operation, or as other arguments of that operation leave it. The same operations
follow on each of them, until they show different things. They may take the last branch again: its
effect may show only where it comes later."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from charter.formats.canonical import Json, text
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_calls, own_list, own_object, texts
from conform.judging.model import JudgeModel, world_of
from conform.judging.relabel import key
from conform.judging.traces import ModelStep, ModelTrace, begin, steps
from conform.walks.draw import ArgumentDrawer
from conform.walks.offered import Offered, OfferedWorld
from conform.walks.places import SeenValues, ValueFinder

DRAWN_CALLS = 120
"""The calls that are drawn in each state."""
LONGEST_SUFFIX = 3
"""The most operations that follow a question."""
STATES_MAX = 24
"""The states in which calls are drawn after one question."""
VALUES_MAX = 4
"""The most wrong values of a variable that are tried after one operation."""
BOUNDS = (
    f"{LONGEST_SUFFIX} operations, {STATES_MAX} states with {DRAWN_CALLS} calls each, and"
    f" {VALUES_MAX} wrong values"
)
"""How far the search after one question looks at most, in words."""
_OF_A_BRANCH_MAX = 2
"""The most states after one branch from which a search goes on."""
_TAKEN_AGAIN_MAX = 12
"""How often a search takes the last branch of a question again at most."""
_TAKEN_AGAIN_IN_STATE_MAX = 3
"""How often it does so in one state at most."""

Call = dict[str, Json]


@dataclass(frozen=True, slots=True)
class WrongHiddenState:
    """A state that looks like the right one, and in which `variable` has a wrong value."""

    number: int
    variable: str
    trace: ModelTrace


@dataclass(frozen=True, slots=True)
class HiddenEffect:
    """What was found after a question: the branch of its last operation, the suffixes that show
    wrong values, the variables of which they show one, and those of which none shows any."""

    branch: str
    suffixes: tuple[tuple[Call, ...], ...]
    shown: frozenset[str]
    unshown: frozenset[str]

    def json(self) -> dict[str, Json]:
        """As a cache keeps it."""
        return {
            "branch": self.branch,
            "suffixes": [[*suffix] for suffix in self.suffixes],
            "shown": [*sorted(self.shown)],
            "unshown": [*sorted(self.unshown)],
        }

    @classmethod
    def read(cls, value: Mapping[str, Json]) -> HiddenEffect:
        """What a cache holds."""
        suffixes = tuple(
            tuple(map(own_object, own_list(one))) for one in own_list(value["suffixes"])
        )
        names = (frozenset(texts(value[key])) for key in ("shown", "unshown"))
        return cls(str(value["branch"]), suffixes, *names)


@dataclass(frozen=True, slots=True)
class _SuffixPlace:
    """A state to which `calls` lead after the question, and the wrong ones that look like it."""

    calls: tuple[Call, ...]
    trace: ModelTrace
    wrong: tuple[WrongHiddenState, ...]
    values: SeenValues


@dataclass(slots=True)
class _SuffixProgress:
    """How far the search after a question is, whose last operation takes `branch`: all wrong
    states, the suffix that was found for some, the places from which it goes on, how many of these
    come after each branch, and how often it took the last branch again in each, by the calls to
    it."""

    question: Mapping[str, Json]
    branch: str
    wrong: list[WrongHiddenState] = field(default_factory=list)
    waiting: deque[_SuffixPlace] = field(default_factory=deque)
    found: dict[int, tuple[Call, ...]] = field(default_factory=dict)
    entered: Counter[str] = field(default_factory=Counter)
    again: Counter[str] = field(default_factory=Counter)

    @property
    def unshown(self) -> frozenset[str]:
        """The variables of which no wrong value shows yet."""
        shown = {one.variable for one in self.wrong if one.number in self.found}
        return frozenset(one.variable for one in self.wrong) - shown

    @property
    def is_over(self) -> bool:
        """Whether all wrong states show, or no place is left."""
        return not self.waiting or not self.unshown

    def number(self, wrong: Sequence[WrongHiddenState]) -> tuple[WrongHiddenState, ...]:
        """Take more wrong states, and number them."""
        first = len(self.wrong)
        made = tuple(replace(one, number=number) for number, one in enumerate(wrong, first))
        self.wrong += made
        return made

    def conclude(self) -> HiddenEffect:
        """What was found."""
        suffixes = {text([*calls]): calls for _, calls in sorted(self.found.items())}
        shown = frozenset(one.variable for one in self.wrong) - self.unshown
        return HiddenEffect(self.branch, tuple(suffixes.values()), shown, self.unshown)


@dataclass(frozen=True, slots=True)
class HiddenStateSearch:
    """Searches for one target: it hides the state variables `hidden`, shows `observes`, and
    performs `operations`."""

    model: JudgeModel
    offered: Offered
    finder: ValueFinder
    opaque: OpaqueTypes
    hidden: Sequence[str]
    observes: Sequence[str]
    operations: Sequence[str]

    def look_after(self, question: Mapping[str, Json]) -> HiddenEffect | None:
        """How a question may go on; None if there is no wrong value to look for after it, or if the
        model does not lead to its end."""
        calls, values = own_calls(question), SeenValues()
        if not calls:
            return None
        last = begin(self.model, question, self.opaque, self.observes)
        self._see(values, 0, "", last)
        for number, call in enumerate(calls[:-1], 1):
            found = self._perform(call, last.after)
            if not found:
                return None
            last = found[0]
            self._see(values, number, str(call["operation"]), last)
        start = _SuffixPlace((), last.after, (), values)
        found = self._perform(calls[-1], last.after)
        if not found:
            return None
        wrong = [*self._list_wrong(question, start, calls[-1], found[0])]
        if not wrong:
            return None
        self._see(values, len(calls), str(calls[-1]["operation"]), found[0])
        progress = _SuffixProgress(question, found[0].branch)
        progress.waiting.append(_SuffixPlace((), found[0].after, progress.number(wrong), values))
        self._search(progress)
        return progress.conclude()

    def list_changes(self, question: Mapping[str, Json]) -> Iterator[tuple[str, str, Json]]:
        """How the last operation of a question changes each hidden variable: its branch, the
        variable, and the values before and after (None: it does not). Nothing if the model does not
        lead to its end."""
        calls = own_calls(question)
        last = before = begin(self.model, question, self.opaque, self.observes)
        for call in calls:
            found = self._perform(call, last.after)
            if not found:
                return
            before, last = last, found[0]
        values = [own_object(self.model.encode(one.after.state)) for one in (before, last)]
        for name in self.hidden if calls else ():
            old, new = (held[name] for held in values)
            yield last.branch, name, None if old == new else [old, new]

    def _search(self, progress: _SuffixProgress) -> None:
        """Look for operations that show the wrong values, the fewest first."""
        world = self._find_world(progress.question)
        for number in range(STATES_MAX):
            if progress.is_over:
                break
            place = progress.waiting.popleft()
            chance = Random(f"{text({**progress.question})} {number}")
            drawer = ArgumentDrawer(self.offered, world, place.values, chance)
            for call in self._draw(drawer, self.operations):
                self._try(place, call, progress)

    def _find_world(self, question: Mapping[str, Json]) -> OfferedWorld:
        """The world of a question, with the constants of an instance where it has none."""
        sorts, consts = world_of(question)
        held = next(iter(self.offered.instances.values()), None)
        elements = {sort: tuple(names) for sort, names in sorts.items()}
        return OfferedWorld(elements, {**(held.consts if held else {}), **consts})

    def _list_wrong(
        self, question: Mapping[str, Json], before: _SuffixPlace, call: Call, last: ModelStep
    ) -> Iterator[WrongHiddenState]:
        """States in which a hidden variable has a wrong value after a call: as before it, or as
        after another call."""
        states = [before.trace.state]
        for other in self._list_others(question, before, call):
            states += [step.after.state for step in self._perform(other, before.trace)]
        right = own_object(self.model.encode(last.after.state))
        encoded = [own_object(self.model.encode(state)) for state in states]
        for name in self.hidden:
            distinct = {text(state[name]): state[name] for state in encoded}
            distinct.pop(text(right[name]), None)
            for value in [*distinct.values()][:VALUES_MAX]:
                state = self.model.decode({**right, name: value}, *world_of(question))
                yield WrongHiddenState(0, name, last.after._replace(state=state))

    def _list_others(
        self, question: Mapping[str, Json], before: _SuffixPlace, call: Call
    ) -> Iterator[Call]:
        """Calls that differ from one in an argument: what an operation does that misreads it. After
        the question itself, then any."""
        operation, args = str(call["operation"]), own_object(call["args"])
        chance = Random(f"{text({**question})} {text([*before.calls, call])}")
        drawer = ArgumentDrawer(self.offered, self._find_world(question), before.values, chance)
        drawn = [*self._draw(drawer, (operation,))]
        near = [{**args, name: own_object(other["args"])[name]} for name in args for other in drawn]
        for other in {text(other): other for other in near}.values():
            yield {"operation": operation, "args": other}
        if not before.calls:
            yield from drawn

    def _draw(self, drawer: ArgumentDrawer, operations: Sequence[str]) -> Iterator[Call]:
        """Calls of some operations, each once."""
        seen: set[str] = set()
        for operation in operations:
            for _ in range(-(-DRAWN_CALLS // len(operations))):
                call: Call = {"operation": operation, "args": drawer.draw(operation)}
                name = text(call)
                if name not in seen:
                    seen.add(name)
                    yield call

    def _try(self, place: _SuffixPlace, call: Call, progress: _SuffixProgress) -> None:
        """Perform a call in a state and in those that look like it: which of them does it show, and
        from which does the search go on?"""
        right = self._perform(call, place.trace)
        if not right:
            return
        shown, calls = _list_shown(right), (*place.calls, call)
        alike: list[WrongHiddenState] = []
        moved = right[0].after.state != place.trace.state
        for wrong in place.wrong:
            its = self._perform(call, wrong.trace) if wrong.number not in progress.found else ()
            if its and not shown & _list_shown(its):
                progress.found[wrong.number] = calls
            elif len(right) == len(its) == 1:
                moved |= its[0].after.state != wrong.trace.state
                alike.append(replace(wrong, trace=its[0].after))
        if len(calls) == LONGEST_SUFFIX or len(right) > 1:
            return
        again = self._take_again(place, call, right[0], progress)
        if again:
            progress.waiting.appendleft(self._enter(place, call, right[0], again, progress))
        elif alike and moved and progress.entered[right[0].branch] < _OF_A_BRANCH_MAX:
            progress.entered[right[0].branch] += 1
            progress.waiting.append(self._enter(place, call, right[0], alike, progress))

    def _take_again(
        self, place: _SuffixPlace, call: Call, step: ModelStep, progress: _SuffixProgress
    ) -> Sequence[WrongHiddenState]:
        """The wrong states after the last branch of the question, where a suffix takes it again."""
        name = text([*place.calls])
        enough = progress.again[name] == _TAKEN_AGAIN_IN_STATE_MAX
        enough |= progress.again.total() == _TAKEN_AGAIN_MAX
        if enough or not place.calls or step.branch != progress.branch:
            return ()
        unshown = progress.unshown
        every = self._list_wrong(progress.question, place, call, step)
        wrong = progress.number([one for one in every if one.variable in unshown])
        progress.again[name] += bool(wrong)
        return wrong

    def _enter(
        self, place: _SuffixPlace, call: Call, step: ModelStep, wrong: Sequence[WrongHiddenState],
        progress: _SuffixProgress,
    ) -> _SuffixPlace:  # fmt: skip
        """The place to which one more call leads."""
        older = {kind: {**known} for kind, known in place.values.older.items()}
        values, calls = SeenValues(place.values.current, older), (*place.calls, call)
        number = len(own_calls(progress.question)) + len(calls)
        self._see(values, number, str(call["operation"]), step)
        return _SuffixPlace(calls, step.after, tuple(wrong), values)

    def _perform(self, call: Call, trace: ModelTrace) -> Sequence[ModelStep]:
        """The outcomes of a call; none if it breaks an assumption, or has no value."""
        try:
            return tuple(steps(self.model, call, trace, self.observes))
        except Exception:  # a wrong state may be one for which the model has no value
            return ()

    def _see(self, values: SeenValues, number: int, operation: str, step: ModelStep) -> None:
        """Note what a step showed."""
        replied = self.finder.find_replied(operation, key(step.reply)) if number else ()
        values.add(number, self.finder.find_observed(key(step.seen)), replied)


def _list_shown(found: Sequence[ModelStep]) -> set[tuple[bytes, bytes]]:
    return {(key(step.reply), key(step.seen)) for step in found}
