"""Walks on a target: chooses one operation after the other in the state that was observed, and
judges each step."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from charter.formats.adapter import is_fault
from charter.formats.canonical import Json
from conform.adapters.base import AdapterBroken
from conform.adapters.open_sessions import ShownSoFar
from conform.judging.answer import CannotAnswer, GrowingAnswer, Shown
from conform.judging.automaton import Judge
from conform.judging.candidates import AllowedCall, Judged
from conform.judging.follow import CannotFollow, Follower
from conform.judging.read_result import Malformed
from conform.judging.relabel import key
from conform.judging.siblings import ObservedStep, Siblings
from conform.walks.coverage import WalkCoverage
from conform.walks.draw import ArgumentDrawer, choose
from conform.walks.hidden_state import HiddenStateSearch
from conform.walks.offered import Offered, OfferedWorld
from conform.walks.places import SeenValues, ValueFinder
from conform.walks.seen_steps import ReadStep, StepReader, WalkSteps
from conform.walks.traced import WalkTraces

CANDIDATES = 4
"""Calls that are drawn in each state; the one with the rarest branch is taken."""
GOING_ON_MAX = 2
"""Of walks of a block with the same last branch later groups go on no more after so many, where the
target hides state."""
IDLE = 0.5
"""How much a call counts that changes no state, next to one that does."""
SHARES = (0.3, 0.5, 0.7, 1.0)
"""The shares of the operations that walks are made of: with less choice a walk gets further in one
direction."""
POOL = 64
"""The most operations that walks may begin with: the newest that saw something new."""
LONGEST_START = 30
"""The most operations of an earlier walk that another one begins with."""
READS = 0.25
"""The share of steps at which an operation is drawn that never changed a state in the block: what
the target hides shows in its replies."""
OPAQUE = re.compile(r'"[@~][^"]*"')
"""An opaque value in JSON."""
_DRAWS = 60
"""The most draws for the candidates of a state; some have no value."""
_DRAWS_OF_FEW = 12
"""So many of these are of the operations that the walk is made of."""
_TEXTS_MAX = 20_000
"""Texts in a full cache."""

Call = dict[str, Json]


class Predicted(NamedTuple):
    """What the model does with a call: the first of its branches, the reply and what is observed
    after it, both without the opaque values, and whether the state changes."""

    branch: str
    reply: str
    shown: str
    moves: bool


class DrawnCall(NamedTuple):
    """A call, and what the model does with it."""

    call: Call
    allowed_call: AllowedCall
    predicted: Predicted
    rarity: float


@dataclass(slots=True)
class TargetWalk:
    """One walk. `question` has no operations, `calls` are those so far, `allowed_call` is what the
    charter allows for the newest. `planned` are operations that come before those that are chosen,
    of which so many are `left`. `some` are the operations that it is made of. `judged` are the
    steps that the target performed, `taken` the last two branches. `open`: it goes on. `varies`: an
    earlier step was answered otherwise in a longer question. It is followed along `traces` as far
    as the charter allows it, then by a `follower`. `answer` is that of the charter, for a walk that
    it does not allow: later calls must have a value there, too. `led`: so many of the first calls
    are the prelude of its instance; `astray`: the target did not perform them as the charter says.
    `shortened`: the charter leaves too much open to go on, or to answer all of it. `deviates`: the
    charter does not allow one of the steps. `went_on`: the last branch before what would show a
    wrong value of a hidden variable was looked for."""

    number: int
    id: str
    question: dict[str, Json]
    world: OfferedWorld
    read: WalkSteps
    left: int
    planned: list[Call]
    some: Sequence[str]
    chance: Random
    calls: list[Call] = field(default_factory=list)
    allowed_call: AllowedCall | None = None
    branch: str = ""
    taken: tuple[str, ...] = ()
    judged: list[Judged] = field(default_factory=list)
    values: SeenValues = field(default_factory=SeenValues)
    traces: WalkTraces | None = None
    follower: Follower | None = None
    last: ShownSoFar | None = None
    broken: AdapterBroken | None = None
    open: bool = True
    varies: bool = False
    shortened: bool = False
    deviates: bool = False
    went_on: str = ""
    led: int = 0
    astray: bool = False
    answer: GrowingAnswer | None = None
    coverage: WalkCoverage = field(default_factory=WalkCoverage)
    starts: list[WalkStart] = field(default_factory=list)

    @property
    def has_begun(self) -> bool:
        """Whether the target showed anything, or broke."""
        return self.last is not None or self.broken is not None

    @property
    def whole(self) -> dict[str, Json]:
        """The question with all operations so far."""
        return {**self.question, "operations": [*self.calls]}

    def find_branches(self) -> list[str] | None:
        """The branches of all steps ("" where several are possible), if the charter allows each;
        None if it does not, or if that is not known."""
        if self.last is None or self.traces is None or not self.traces.states:
            return None
        whole = self.read.is_whole(self.last, len(self.calls))
        return find_branches(self.judged) if whole else None

    @property
    def states(self) -> tuple[object, ...]:
        """The states that it may be in."""
        followed = self.traces or self.follower
        return followed.states if followed else ()

    def list_shown(self, judge: Judge, first: int = 0) -> list[tuple[bytes, bytes]]:
        """What the target showed from a `first` step on, relabelled; nothing if it hides variables,
        since then labels may mean other values than those of the charter."""
        hides = judge.observes is not None
        return [] if hides else [step.texts for step in self.read.steps[first:]]

    def shorten(self) -> None:
        """Leave out the last operation, and its step."""
        self.shortened = True
        self.calls.pop()
        if self.last is not None:
            result = self.last.result
            del result.steps[len(self.calls) + 1 :]


@dataclass(frozen=True, slots=True)
class WalkStart:
    """Operations with which a walk saw something new, in a world."""

    world: OfferedWorld
    calls: tuple[Call, ...]
    branch: str


@dataclass(slots=True)
class Walker:
    """What the walks of a block share. `pool` are the newest operations that saw something new,
    `masked` texts without their opaque values. If the target hides state, a `search` finds how
    walks go on; `went_on` counts them by their last branch."""

    siblings: Siblings
    offered: Offered
    reader: StepReader
    finder: ValueFinder
    operations: Sequence[str]
    worlds: Sequence[OfferedWorld]
    seed: int
    coverage: WalkCoverage = field(default_factory=WalkCoverage)
    pool: deque[WalkStart] = field(default_factory=lambda: deque(maxlen=POOL))
    masked: dict[bytes, str] = field(default_factory=dict)
    search: HiddenStateSearch | None = None
    went_on: Counter[str] = field(default_factory=Counter)

    def select_start(self, chance: Random) -> WalkStart:
        """Out of a few of the pool the one whose last branch was taken least often."""
        few = chance.sample([*self.pool], min(3, len(self.pool)))
        return min(few, key=lambda start: self.coverage.rows[(start.branch,)])

    def join(self, walks: Sequence[TargetWalk]) -> None:
        """Let later walks know what these saw."""
        for walk in walks:
            self.coverage.add_all(walk.coverage)
            self.pool.extend(walk.starts)
            self.went_on.update([walk.went_on] if walk.went_on else ())

    def list_offered(self, world: OfferedWorld) -> Sequence[str]:
        """The operations that the target performs and a world offers."""
        offered = world.operations or self.operations
        return [name for name in self.operations if name in offered]

    def select_some(self, chance: Random, world: OfferedWorld) -> Sequence[str]:
        """The operations that one walk is made of."""
        share, offered = chance.choice(SHARES), self.list_offered(world)
        return [name for name in offered if chance.random() < share] or offered

    def choose(self, walk: TargetWalk) -> bool:
        """Choose the next call of a walk; False if none is possible, and the walk ends."""
        if walk.planned:
            call = walk.planned.pop(0)
            walk.allowed_call = self._ask(walk, call)
            if walk.allowed_call is not None and self._has_answer(walk, call):
                walk.calls.append(call)
                walk.branch = ""
                return True
            walk.planned.clear()
        walk.astray |= len(walk.calls) < walk.led
        if not walk.left:
            self._go_on(walk)
            if walk.planned:
                return self.choose(walk)
            walk.open = False
            return False
        walk.left -= 1
        found = self._draw(walk)
        for chosen in sorted(found, key=lambda one: -one.rarity):
            if self._has_answer(walk, chosen.call):
                walk.calls.append(chosen.call)
                walk.allowed_call = chosen.allowed_call
                self._note(walk, chosen.predicted)
                return True
        walk.open, walk.shortened = False, bool(found)
        return False

    def _go_on(self, walk: TargetWalk) -> None:
        """Plan what would show a wrong value of a hidden variable: once for a walk that the charter
        allows, and in a few walks of those with the same last branch."""
        if self.search is None or walk.went_on or walk.traces is None or not any(walk.taken[-1:]):
            return
        walk.went_on = walk.taken[-1]
        if self.went_on[walk.went_on] < GOING_ON_MAX:
            effect = self.search.look_after(walk.whole)
            walk.planned = [*effect.suffixes[0]] if effect and effect.suffixes else []

    def _has_answer(self, walk: TargetWalk, call: Call) -> bool:
        """Whether the charter has an answer to a walk with one more call."""
        hides = self.reader.judge.observes is not None
        if walk.traces is not None and walk.answer is None and not hides:
            return True
        judge = self.reader.judge
        try:
            if walk.answer is None:
                walk.answer = self._answer(walk, walk.list_shown(judge))
            else:
                for newest in walk.list_shown(judge, len(walk.calls)):
                    walk.answer.narrow(newest)
            walk.answer.add(call)
        except CannotAnswer:
            return False
        return True

    def _answer(self, walk: TargetWalk, shown: Sequence[Shown]) -> GrowingAnswer:
        """The answer to a walk so far, after what a target has `shown`. Raises `CannotAnswer`."""
        answer = GrowingAnswer.of(self.siblings.charter, walk.question, self.reader.judge.opaque)
        for number, call in enumerate(walk.calls, 1):
            answer.add(call)
            if number < len(shown):
                answer.narrow(shown[number])
        return answer

    def _note(self, walk: TargetWalk, predicted: Predicted) -> None:
        """Note the branch of the newest call, and what it shows."""
        walk.branch = predicted.branch
        new = walk.coverage.is_new(walk.taken, predicted.branch)
        if new and len(walk.calls) <= LONGEST_START + walk.led:
            walk.starts.append(WalkStart(walk.world, tuple(walk.calls), predicted.branch))
        walk.coverage.add(walk.taken, predicted.branch)
        walk.coverage.add_shown(predicted.branch, predicted.reply, predicted.shown)

    def take(self, walk: TargetWalk, answer: ShownSoFar | AdapterBroken) -> None:
        """Judge the newest step of a walk, or end it."""
        if isinstance(answer, AdapterBroken):
            walk.broken, walk.open = answer, False
            return
        walk.last = answer
        walk.varies |= answer.varies
        repeated = walk.read.repeated
        try:
            before = walk.read.take(answer, walk.calls)
        except Malformed:
            walk.open, walk.traces = False, None
            return
        steps = walk.read.steps
        if not walk.states or before < len(walk.judged) + 1:
            walk.traces, walk.follower, walk.allowed_call, walk.answer = None, None, None, None
            before = 0
            walk.values, walk.taken = SeenValues(), ()
            walk.judged.clear()
        elif walk.follower is not None and repeated != walk.read.repeated:
            walk.follower = self._begin_again(walk, before)
        for number in range(before, len(steps)):
            if not self._follow(walk, number, steps[number]):
                walk.open = False
                break
        walk.open &= not answer.over and len(steps) == len(walk.calls) + 1

    def _follow(self, walk: TargetWalk, number: int, step: ReadStep) -> bool:
        """Judge one step; False if the walk cannot be followed."""
        operation = str(walk.calls[number - 1]["operation"]) if number else ""
        replied = self.finder.find_replied(operation, step.reply) if number else ()
        walk.values.add(number, self.finder.find_observed(step.observation), replied)
        observes = self.reader.judge.observes
        if number == 0:
            traces = WalkTraces(self.siblings, walk.question, observes)
            walk.traces = traces if traces.begin(step.observation) else None
            walk.deviates |= walk.traces is None
            return walk.traces is not None
        if is_fault(self.reader.value(step.reply)):
            walk.traces, walk.deviates = None, True  # no charter allows a fault
            walk.astray |= number <= walk.led
            walk.coverage.add_end(walk.branch)
            return False
        try:
            judged = self._judge(walk, number, step)
        except CannotFollow:
            walk.follower = None
            return False
        walk.judged.append(judged)
        walk.shortened = judged.allowed and not walk.states
        branch = judged.branches[0] if len(judged.branches) == 1 else walk.branch
        if branch != walk.branch and number == len(walk.calls):
            walk.coverage.add(walk.taken, branch)
        walk.taken = (*walk.taken, branch)[-2:]
        return bool(walk.states)

    def _judge(self, walk: TargetWalk, number: int, step: ReadStep) -> Judged:
        """Judge one step: along the traces, or from the first that the charter does not allow by a
        follower. Raises `CannotFollow`."""
        newest = number == len(walk.calls)
        allowed_call = walk.allowed_call if newest else None
        if walk.traces is not None:
            allowed_call = allowed_call or self._ask(walk, walk.calls[number - 1])
            judged = walk.traces.take(allowed_call, step.texts) if allowed_call else None
            if judged is not None:
                return judged
            walk.traces, walk.deviates, allowed_call = None, True, None
            walk.astray |= number <= walk.led
            walk.follower = self._begin_again(walk, number)
        if walk.follower is None:
            raise CannotFollow("the state is not known")
        return walk.follower.step(self._observe(walk, number), allowed_call)

    def _begin_again(self, walk: TargetWalk, number: int) -> Follower | None:
        """A follower before the step with this number; None if the state there is not known."""
        observes = self.reader.judge.observes
        start = self._observe(walk, 0).observation
        try:
            follower = Follower(self.siblings, walk.question, observes, start)
            for earlier in range(1, number):
                follower.step(self._observe(walk, earlier))
        except CannotFollow:
            return None
        return follower

    def _observe(self, walk: TargetWalk, number: int) -> ObservedStep:
        """A step as a follower reads it: with the target's values, so that the verdict finds it in
        the cache, or with values made from labels, if the target may have allotted others since."""
        step = walk.read.steps[number]
        call: Call = walk.calls[number - 1] if number else {"operation": "", "args": {}}
        operation, args = str(call["operation"]), call["args"]
        if walk.read.repeated or walk.last is None:
            reply, observation = map(self.reader.value, step.texts)
            return ObservedStep(operation, args, reply, observation, None, step.is_old)
        batch, (replied, observed, _) = walk.read.batch, walk.last.result.steps[number]
        texts = batch.text(replied), batch.text(observed)
        shown = batch.at(replied), batch.at(observed)
        return ObservedStep(operation, args, *shown, texts, step.is_old)

    def _ask(self, walk: TargetWalk, call: Call) -> AllowedCall | None:
        """What the charter allows for a call; None if it cannot be asked."""
        followed = walk.traces or walk.follower
        assert followed is not None
        return followed.ask(str(call["operation"]), call["args"])

    def _draw(self, walk: TargetWalk) -> list[DrawnCall]:
        """Calls with a value in the state that was observed."""
        chance = walk.chance
        drawer = ArgumentDrawer(self.offered, walk.world, walk.values, chance)
        found: list[DrawnCall] = []
        few, offered = walk.some, self.list_offered(walk.world)
        if chance.random() < READS:
            few = [name for name in offered if not walk.coverage.can_move(name)] or few
        known: dict[tuple[str, bytes], DrawnCall | None] = {}
        for number in range(_DRAWS if offered else 0):
            operation = choose(chance, few if number < _DRAWS_OF_FEW else offered)
            args = drawer.draw(operation)
            name = (operation, key(args))
            if name not in known:
                known[name] = self._weigh(walk, {"operation": operation, "args": args})
            drawn = known[name]
            if drawn is not None:
                found.append(drawn)
            if len(found) == CANDIDATES:
                break
        return found

    def _weigh(self, walk: TargetWalk, call: Call) -> DrawnCall | None:
        """A call and how rare what it does is; None if it has no value."""
        allowed_call, coverage = self._ask(walk, call), walk.coverage
        predicted = self._predict(walk, allowed_call) if allowed_call else None
        if allowed_call is None or predicted is None:
            return None
        if predicted.moves:
            coverage.moving.add(allowed_call.call.operation)
        rarity = coverage.measure(walk.taken, predicted.branch)
        rarity += coverage.measure_shown(predicted.branch, predicted.reply, predicted.shown)
        rarity *= 1.0 if predicted.moves else IDLE
        rarity /= 1 + coverage.measure_ends(predicted.branch)
        return DrawnCall(call, allowed_call, predicted, rarity)

    def _predict(self, walk: TargetWalk, allowed_call: AllowedCall) -> Predicted | None:
        """What the model does in the states that the walk may be in; None if it does nothing."""
        states = walk.states
        found = [item for items in allowed_call.allowed for item in items]
        if not found:
            return None
        first = min(found, key=lambda item: item.outcome.branch)
        reply, shown = first.texts
        if self.reader.judge.observes is not None:
            shown = key(self.siblings.charter.observe(first.outcome.state))
        pairs = ((item.outcome.state, states[item.origin]) for item in found)
        moves = any(after is not before and after != before for after, before in pairs)
        return Predicted(first.outcome.branch, self._mask(reply), self._mask(shown), moves)

    def _mask(self, text: bytes) -> str:
        """A text without its opaque values."""
        found = self.masked.get(text)
        if found is None:
            if len(self.masked) > _TEXTS_MAX:
                self.masked.clear()
            found = self.masked[text] = OPAQUE.sub('"@"', text.decode())
        return found


def find_branches(steps: Sequence[Judged]) -> list[str]:
    """The branches of steps that the charter allows, "" where several are possible. Those that lead
    to no last state were not taken."""
    taken: list[str] = []
    after: set[int] | None = None
    for judged in reversed(steps):
        ways = [way for way in judged.ways if after is None or way[2] in after]
        names = {branch for _, branch, _ in ways}
        after = {origin for origin, _, _ in ways}
        taken.append(names.pop() if len(names) == 1 else "")
    return ["", *reversed(taken)]


def name_walk(seed: int, number: int) -> str:
    """The name of a walk, as a person reads it."""
    return f"walk {seed}/{number}"
