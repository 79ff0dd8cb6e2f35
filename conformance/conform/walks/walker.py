"""Walks on a target: chooses one operation after the other in the state that was observed, and
judges each step."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from charter.formats.adapter import is_fault
from charter.formats.canonical import Json
from charter.formats.resolve import Unresolved
from conform.adapters.base import AdapterBroken
from conform.adapters.open_sessions import ShownSoFar
from conform.console.errors import ModelBug
from conform.judging.answer import CannotAnswer, GrowingAnswer, answer_of
from conform.judging.automaton import AnswerJson
from conform.judging.follow import CannotFollow, Follower, ObservedStep, Siblings
from conform.judging.model import JudgeModel, assumes
from conform.judging.read_result import Malformed
from conform.judging.relabel import key
from conform.walks.coverage import WalkCoverage
from conform.walks.draw import ArgumentDrawer
from conform.walks.offered import Offered, OfferedWorld
from conform.walks.places import SeenValues, ValueFinder
from conform.walks.seen_steps import StepReader

CANDIDATES = 10
"""Calls that are drawn in each state; the one with the rarest branch is taken."""
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

Call = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Predicted:
    """What the model does with a call: the first of its branches, the reply and what is observed
    after it, both without the opaque values, and whether the state changes."""

    branch: str
    reply: str
    shown: str
    moves: bool


@dataclass(frozen=True, slots=True)
class DrawnCall:
    """A call, and what the model does with it."""

    call: Call
    predicted: Predicted
    rarity: float


@dataclass(slots=True)
class TargetWalk:
    """One walk. `question` has no operations, `calls` are those so far. `planned` are operations
    that come before those that are chosen, of which so many are `left`. `seen` are the steps,
    relabelled, `taken` the last two branches. `open`: it goes on. `varies`: an earlier step was
    answered otherwise in a longer question. `shortened`: the charter leaves too much open to go on,
    or to answer all of it. `deviates`: the charter does not allow one of the steps."""

    number: int
    id: str
    question: dict[str, Json]
    world: OfferedWorld
    answer: GrowingAnswer
    left: int
    planned: list[Call]
    calls: list[Call] = field(default_factory=list)
    branch: str = ""
    taken: tuple[str, ...] = ()
    seen: list[tuple[bytes, bytes]] = field(default_factory=list)
    values: SeenValues = field(default_factory=SeenValues)
    follower: Follower | None = None
    last: ShownSoFar | None = None
    broken: AdapterBroken | None = None
    open: bool = True
    varies: bool = False
    shortened: bool = False
    deviates: bool = False

    @property
    def has_begun(self) -> bool:
        """Whether the target showed anything, or broke."""
        return self.last is not None or self.broken is not None

    @property
    def whole(self) -> dict[str, Json]:
        """The question with all operations so far."""
        return {**self.question, "operations": [*self.calls]}

    def find_answer(self) -> AnswerJson | None:
        """The model's answer to all operations; None if it has none."""
        if not self.answer.merged:
            return self.answer.json()
        try:
            return answer_of(self.answer.model, self.whole, self.answer.opaque)
        except CannotAnswer:
            return None

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
    """What the walks of a block share. `pool` are the newest operations that saw something new."""

    siblings: Siblings
    offered: Offered
    reader: StepReader
    finder: ValueFinder
    operations: Sequence[str]
    worlds: Sequence[OfferedWorld]
    seed: int
    coverage: WalkCoverage = field(default_factory=WalkCoverage)
    pool: deque[WalkStart] = field(default_factory=lambda: deque(maxlen=POOL))

    def select_start(self, chance: Random) -> WalkStart:
        """Out of a few of the pool the one whose last branch was taken least often."""
        few = chance.sample([*self.pool], min(3, len(self.pool)))
        return min(few, key=lambda start: self.coverage.rows[(start.branch,)])

    def list_offered(self, world: OfferedWorld) -> Sequence[str]:
        """The operations that the target performs and a world offers."""
        offered = world.operations or self.operations
        return [name for name in self.operations if name in offered]

    def select_some(self, walk: TargetWalk) -> Sequence[str]:
        """The operations that one walk is made of."""
        chance = Random(f"{self.seed}/{walk.number}/few")
        share, offered = chance.choice(SHARES), self.list_offered(walk.world)
        return [name for name in offered if chance.random() < share] or offered

    def choose(self, walk: TargetWalk) -> bool:
        """Choose the next call of a walk; False if none is possible, and the walk ends."""
        if walk.planned:
            call = walk.planned.pop(0)
            if self._predict(walk, call) is not None and _can_add(walk, call):
                walk.branch = ""
                return True
            walk.planned.clear()
        if not walk.left:
            walk.open = False
            return False
        walk.left -= 1
        step = len(walk.calls) + 1
        chance = Random(f"{self.seed}/{walk.number}/{step}")
        found = self._draw(walk, chance)
        for candidate in sorted(found, key=lambda one: -one.rarity):
            if _can_add(walk, candidate.call):
                self._note(walk, candidate.predicted)
                return True
        walk.open, walk.shortened = False, bool(found)
        return False

    def _note(self, walk: TargetWalk, predicted: Predicted) -> None:
        """Note the branch of the newest call, and what it shows."""
        walk.branch = predicted.branch
        new = self.coverage.is_new(walk.taken, predicted.branch)
        if new and len(walk.calls) <= LONGEST_START:
            self.pool.append(WalkStart(walk.world, tuple(walk.calls), predicted.branch))
        self.coverage.add(walk.taken, predicted.branch)
        self.coverage.add_shown(predicted.branch, predicted.reply, predicted.shown)

    def take(self, walk: TargetWalk, answer: ShownSoFar | AdapterBroken) -> None:
        """Judge the newest step of a walk, or end it."""
        if isinstance(answer, AdapterBroken):
            walk.broken, walk.open = answer, False
            return
        walk.last = answer
        walk.varies |= answer.varies
        try:
            read = self.reader.read(answer, key(walk.whole))
        except Malformed:
            walk.open = False
            return
        steps = list(zip(read.replies, read.states, strict=True))
        before = len(walk.seen)
        if walk.follower is None or steps[:before] != walk.seen:
            walk.follower, walk.seen, before = None, [], 0
            walk.values, walk.taken = SeenValues(), ()
        for number, step in enumerate(steps[before:], before):
            if not self._follow(walk, number, step):
                walk.open = False
        walk.open &= not answer.over and len(steps) == len(walk.calls) + 1

    def _follow(self, walk: TargetWalk, number: int, step: tuple[bytes, bytes]) -> bool:
        """Judge one step; False if the walk cannot be followed."""
        reply, observation = map(self.reader.value, step)
        operation = str(walk.calls[number - 1]["operation"]) if number else ""
        walk.seen.append(step)
        replied = self.finder.find_replied(operation, step[0]) if number else ()
        walk.values.add(number, self.finder.find_observed(step[1]), replied)
        try:
            if walk.follower is None:
                if number:
                    return False
                observes = self.reader.judge.observes
                walk.follower = Follower(self.siblings, walk.question, observes, observation)
                return True
            if is_fault(reply):
                walk.deviates = True
                self.coverage.add_end(walk.branch)
                return False
            args = walk.calls[number - 1]["args"]
            judged = walk.follower.step(ObservedStep(operation, args, reply, observation))
        except CannotFollow:
            walk.deviates |= walk.follower is None
            return False
        walk.deviates |= not judged.allowed
        walk.shortened = judged.allowed and not walk.follower.states
        branch = judged.branches[0] if len(judged.branches) == 1 else walk.branch
        if branch != walk.branch and number == len(walk.calls):
            self.coverage.add(walk.taken, branch)
        walk.taken = (*walk.taken, branch)[-2:]
        return bool(walk.follower.states)

    def _draw(self, walk: TargetWalk, chance: Random) -> list[DrawnCall]:
        """Calls with a value in the state that was observed."""
        drawer = ArgumentDrawer(self.offered, walk.world, walk.values, chance)
        found: list[DrawnCall] = []
        few, offered = self.select_some(walk), self.list_offered(walk.world)
        if chance.random() < READS:
            few = [name for name in offered if name not in self.coverage.moving] or few
        for number in range(_DRAWS if offered else 0):
            operation = chance.choice(few if number < _DRAWS // 2 else offered)
            call: Call = {"operation": operation, "args": drawer.draw(operation)}
            predicted = self._predict(walk, call)
            if predicted is not None:
                if predicted.moves:
                    self.coverage.moving.add(operation)
                rarity = self.coverage.measure(walk.taken, predicted.branch)
                rarity += self.coverage.measure_shown(
                    predicted.branch, predicted.reply, predicted.shown
                )
                rarity *= 1.0 if predicted.moves else IDLE
                rarity /= 1 + self.coverage.ends[predicted.branch]
                found.append(DrawnCall(call, predicted, rarity))
            if len(found) == CANDIDATES:
                break
        return found

    def _predict(self, walk: TargetWalk, call: Call) -> Predicted | None:
        """What the model may do in the states that the walk may be in; None if the call breaks an
        assumption, or has no value."""
        follower = walk.follower
        assert follower is not None
        operation, args = str(call["operation"]), call["args"]
        model: JudgeModel = self.siblings.charter
        try:
            meant = follower.resolved(ObservedStep(operation, args, None, None))
        except (CannotFollow, Unresolved):
            return None
        try:
            if not all(assumes(model, state, operation, meant.args) for state in follower.states):
                return None
            found = [
                (state, outcome)
                for state in follower.states
                for outcome in model.outcomes(state, operation, meant.args)
            ]
        except Exception as error:  # of the model, which has a class Undefined in each folder
            if type(error).__name__ == "Undefined":
                return None
            problem = follower.failed(model, meant, error)
            if isinstance(problem, ModelBug):
                raise problem from error
            return None
        if not found:
            return None
        _, first = min(found, key=lambda pair: pair[1].branch)
        reply, shown = (
            OPAQUE.sub('"@"', key(value).decode())
            for value in (first.reply, model.observe(first.state))
        )
        return Predicted(first.branch, reply, shown, any(o.state != state for state, o in found))


def _can_add(walk: TargetWalk, call: Call) -> bool:
    """Add a call to a walk, if the model has an answer to it."""
    try:
        walk.answer.add(call)
    except CannotAnswer:
        return False
    walk.calls.append(call)
    return True


def name_walk(seed: int, number: int) -> str:
    """The name of a walk, as a person reads it."""
    return f"walk {seed}/{number}"
