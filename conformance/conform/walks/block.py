"""Walks the walks of one block, step by step for all of them, and judges each as a vector."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from random import Random

import orjson

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.reading import own_calls, own_object
from charter.formats.run_description import WalkSettings
from charter.formats.types import JudgedTypes
from charter.formats.vector import concrete_ids
from charter.formats.verdict import Kind, Verdict
from conform.adapters.open_sessions import NextStep, OpenSessions, ShownSoFar
from conform.adapters.session import BrokenBatch, Session, start_again
from conform.judging.answer import CannotAnswer, Shown, answer_of
from conform.judging.automaton import AnswerJson, Judge
from conform.judging.model import JudgeModel, world_of
from conform.judging.relabel import key
from conform.judging.siblings import Siblings
from conform.judging.verdict import Assessment, VectorItem, assess, assess_allowed
from conform.walks.coverage import WalkCoverage
from conform.walks.hidden_state import HiddenStateSearch
from conform.walks.offered import OfferedWorld, choose_worlds, read_offered
from conform.walks.places import ValueFinder
from conform.walks.seen_steps import StepReader
from conform.walks.walker import Call, TargetWalk, Walker

PREFIX_SHARE = 0.6
"""The share of walks that begin with operations of a question of the suite."""
POOL_SHARE = 0.4
"""The share of walks that begin with operations of an earlier walk of the block."""
WALKS_OF_GROUP = 8
"""Walks that are made side by side: one message has a step of each. They know nothing of each
other."""
WALKS_FOR_ONE_KEPT = 1_000
"""Of so many walks that conform one is kept whole."""
_WHOLE_SHARE = 0.5
"""The share of these that begin with all of its operations."""


@dataclass(frozen=True, slots=True)
class WalkedBlock:
    """The walks of a block with what was found. `cut`: the time was over before their last step.
    `performed` are the steps that the adapter performed, `broken` the messages that it broke on."""

    walks: tuple[JudgedWalk, ...]
    coverage: WalkCoverage
    cut: bool
    performed: int
    broken: tuple[BrokenBatch, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedWalk:
    """A walk that has ended: the vector that it is, its assessment, and its last answer. For
    `varies`, `shortened` and `astray` see `TargetWalk`; `repeats`: an earlier walk of the block
    asked the same, with the same verdict."""

    number: int
    item: VectorItem
    assessment: Assessment
    steps: int
    varies: bool
    shortened: bool
    astray: bool
    repeats: bool
    result: ShownSoFar | None


@dataclass(frozen=True, slots=True)
class WalkTarget:
    """What walks are made on: a session with a target, the models, the types of replies and
    observations, the constants that questions have values for, what a question says of the
    component, questions of the suite that walks may begin with, and the state variables that the
    target hides (`hidden`; none: walks do not go on)."""

    session: Session
    siblings: Siblings
    types: JudgedTypes
    consts: frozenset[str]
    component: Mapping[str, Json]
    prefixes: Sequence[bytes] = ()
    hidden: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class BlockLimits:
    """When a block ends early: when the time is over (seconds since the epoch; 0: never), or after
    the `first` walk that deviates."""

    until: float = 0.0
    first: bool = False


@dataclass(slots=True)
class _PerformedSteps:
    """Lets an adapter perform the steps of walks, and counts them; `until`: when the time is over
    (seconds since the epoch; 0: never)."""

    sessions: OpenSessions
    until: float
    performed: int = 0
    cut: bool = False

    def walk(self, walker: Walker, walks: Sequence[TargetWalk]) -> None:
        """Make walks, step by step for all of them."""
        begun = self.sessions.begin([(walk.id, key(walk.question)) for walk in walks])
        for walk, answer in zip(walks, begun, strict=True):
            walker.take(walk, answer)
        held = self.sessions.connection.welcome.sessions
        while going := [
            walk for walk in walks if walk.open and not self.is_over() and walker.choose(walk)
        ]:
            answers = self.sessions.step([_next_step(walk) for walk in going])
            for walk, answer in zip(going, answers, strict=True):
                walker.take(walk, answer)
                self.performed += 1 if held else len(walk.calls)
        self.sessions.end([walk.id for walk in walks if walk.broken is None])

    def is_over(self) -> bool:
        """Whether the time is over."""
        self.cut |= bool(self.until) and time.time() >= self.until
        return self.cut


def _next_step(walk: TargetWalk) -> NextStep:
    call = walk.calls[-1]
    args = call["args"]
    assert isinstance(args, dict)
    return NextStep(walk.id, str(call["operation"]), args)


def walk_block(
    target: WalkTarget,
    plan: WalkSettings,
    numbers: range,
    limits: BlockLimits = BlockLimits(),
    note: Callable[[int], None] = lambda _: None,
) -> WalkedBlock:
    """Walk the walks with these numbers. Raises `BadSuite`, `Incomplete` and `ModelBug`."""
    walker, session = _make_walker(target, plan), target.session
    walks: list[TargetWalk] = []
    judged: list[JudgedWalk] = []
    seen: dict[str, list[Verdict]] = {}
    sessions = OpenSessions(
        session.connection, session.deadlines, session.make_nonce(), session.judge.opaque
    )
    steps = _PerformedSteps(sessions, limits.until)
    for begin in range(0, len(numbers), WALKS_OF_GROUP):
        if steps.is_over() or (limits.first and walks and walks[-1].deviates):
            break
        # Each knows what groups before its own covered, however many sessions a target holds.
        group = [
            _begin(target, plan, number, walker)
            for number in numbers[begin : begin + WALKS_OF_GROUP]
        ]
        for some in _split(group, 1 if limits.first else sessions.at_once):
            if steps.is_over():
                break
            walks += some
            steps.walk(walker, some)
            note(len(walks))
            if limits.first and some[0].deviates:
                break
        walker.join(group)
        # Now, while the steps that were followed are in the cache.
        judged += _judge(target, plan.seed, [walk for walk in group if walk.has_begun], seen)
    sessions.close()
    if not session.connection.alive:
        start_again(session.connection)
    return WalkedBlock(
        tuple(judged), walker.coverage, steps.cut, steps.performed, tuple(sessions.take_broken())
    )


def _split(walks: Sequence[TargetWalk], size: int) -> Iterator[Sequence[TargetWalk]]:
    """Walks in parts of at most this size."""
    return (walks[begin : begin + size] for begin in range(0, len(walks), size))


def _make_walker(target: WalkTarget, plan: WalkSettings) -> Walker:
    session = target.session
    offered = read_offered(target.siblings.charter)
    able = session.connection.welcome.operations
    operations = [name for name in offered.params if name in able]
    finder = ValueFinder(target.types)
    search = HiddenStateSearch(
        target.siblings.charter, offered, finder, session.judge.opaque, target.hidden,
        tuple(session.connection.welcome.observes), operations,
    )  # fmt: skip
    return Walker(
        target.siblings, offered, StepReader(session.judge), finder, operations,
        choose_worlds(offered, plan.instance), plan.seed, search=search if target.hidden else None,
    )  # fmt: skip


def _begin(target: WalkTarget, plan: WalkSettings, number: int, walker: Walker) -> TargetWalk:
    """A walk in one of the worlds. It begins with operations of an earlier walk that saw something
    new, with those of a question of the suite, or with the prelude of its instance, if any."""
    name = f"{plan.seed}/{number}"
    chance = Random(name)
    world = chance.choice(walker.worlds)
    prelude: list[Call] = orjson.loads(world.prelude)
    able = set(walker.operations)
    prefix, astray = prelude, any(str(call["operation"]) not in able for call in prelude)
    if walker.pool and chance.random() < POOL_SHARE:
        start = walker.select_start(chance)
        world, prefix = start.world, [*start.calls]
    elif target.prefixes and not plan.instance and chance.random() < PREFIX_SHARE:
        world, prefix = _begin_with(chance, orjson.loads(chance.choice(target.prefixes)), world)
    prefix = [*takewhile(lambda call: str(call["operation"]) in able, prefix)]
    consts = {one: value for one, value in world.consts.items() if one in target.consts}
    sorts: dict[str, Json] = {
        sort: {**ids} for sort, ids in concrete_ids(world.sorts, name).items()
    }
    question: dict[str, Json] = {
        **target.component, "sorts": sorts, "given": None, "operations": [], "delta": "each",
        **({"consts": {**consts}} if consts else {}),
    }  # fmt: skip
    return TargetWalk(
        number, f"walk-{plan.seed}-{number}", question, world, walker.reader.begin(), plan.steps,
        prefix, walker.select_some(chance, world), chance, led=len(prelude),
        astray=astray,
        coverage=WalkCoverage(before=walker.coverage),
    )  # fmt: skip


def _begin_with(
    chance: Random, question: Mapping[str, Json], world: OfferedWorld
) -> tuple[OfferedWorld, list[Call]]:
    """Some operations of a question of the suite, in a world that has its elements: this one, or
    that of the question."""
    sorts, consts = world_of(question)
    calls = own_calls(question)
    elements = {sort: tuple(names) for sort, names in sorts.items()}
    whole = chance.random() < _WHOLE_SHARE
    count = len(calls) if whole else chance.randint(min(1, len(calls)), len(calls))
    larger = all(set(names) <= set(world.sorts.get(sort, ())) for sort, names in elements.items())
    enough = all(world.consts.get(name, value) >= value for name, value in consts.items())
    if larger and enough and not _has_narrow_map(calls, elements, world):
        return world, calls[:count]
    return OfferedWorld(elements, {**world.consts, **consts}), calls[:count]


def _has_narrow_map(
    calls: Sequence[Mapping[str, Json]],
    elements: Mapping[str, tuple[str, ...]],
    world: OfferedWorld,
) -> bool:
    """Whether an argument is a map of all elements of a sort, of which this world has more."""
    return any(
        isinstance(value, dict) and set(value) == set(names) < set(world.sorts[sort])
        for call in calls
        for value in own_object(call["args"]).values()
        for sort, names in elements.items()
    )


def _judge(
    target: WalkTarget, seed: int, walks: Sequence[TargetWalk], seen: dict[str, list[Verdict]]
) -> Iterator[JudgedWalk]:
    """The walks as vectors; `seen` has the verdicts on those before, by their ids."""
    for walk in walks:
        item, assessment = _judge_one(target, seed, walk)
        if not walk.calls and assessment.verdict.kind is Kind.CONFORMS:
            continue  # it asked nothing
        same = seen.setdefault(item.id, [])
        repeats = assessment.verdict in same
        same.append(assessment.verdict)
        yield JudgedWalk(
            walk.number, item, assessment, len(walk.calls), walk.varies, walk.shortened,
            walk.astray or len(walk.calls) < walk.led, repeats,
            None if walk.broken else walk.last,
        )  # fmt: skip


def _judge_one(target: WalkTarget, seed: int, walk: TargetWalk) -> tuple[VectorItem, Assessment]:
    """A walk as a vector. It has an answer if it is kept."""
    judge, branches = target.session.judge, None if walk.broken else walk.find_branches()
    if branches is not None and not is_kept_anyway(walk.number):
        assert walk.last is not None
        item, batch = _make_item(walk, seed), walk.read.hand_over(walk.last)
        allowed = assess_allowed(item, walk.last.result, batch, judge, branches)
        if allowed is not None:
            return item, allowed
    item = _cut(target, walk, seed)
    if walk.broken is not None:
        return item, Assessment(Verdict(item.id, walk.broken.kind, walk.broken.detail))
    assert walk.last is not None
    batch = walk.read.hand_over(walk.last)
    return item, assess(item, walk.last.result, batch, judge, target.siblings)


def _cut(target: WalkTarget, walk: TargetWalk, seed: int) -> VectorItem:
    """The vector of a walk with its answer: it is cut where the model has no answer to the rest."""
    judge = target.session.judge
    shown = walk.list_shown(judge)
    if walk.answer is not None and walk.answer.is_of(walk.calls):
        return _add_answer(_make_item(walk, seed), walk.answer.json())
    while True:
        item = find_answer(_make_item(walk, seed), target.siblings.charter, judge, shown)
        if item is not None:
            return item
        walk.shorten()


def find_answer(
    item: VectorItem, model: JudgeModel, judge: Judge, shown: Sequence[Shown] = ()
) -> VectorItem | None:
    """The vector of a walk with the model's answer, after what a target has `shown`; None if it has
    none."""
    try:
        answer = answer_of(model, orjson.loads(item.question), judge.opaque, shown)
    except CannotAnswer:
        return None
    return _add_answer(item, answer)


def _add_answer(item: VectorItem, answer: AnswerJson) -> VectorItem:
    digest = canonical.text_digest(_text(answer).decode())
    return replace(item, answer=_text({**answer, "question": item.id, "digest": digest}))


def is_kept_anyway(number: int) -> bool:
    """Whether a walk is kept whole even if it conforms."""
    return number % WALKS_FOR_ONE_KEPT == 0


def _make_item(walk: TargetWalk, seed: int) -> VectorItem:
    """The vector of a walk, without its answer."""
    why: dict[str, Json] = {"label": "", "obligations": [], "purpose": [], "source": "walk",
           "title": f"walk {seed}/{walk.number}"}  # fmt: skip
    names = sorted({str(call["operation"]) for call in walk.calls})
    question = key(walk.whole)
    name = canonical.text_digest(question.decode())
    return VectorItem(name, question, b"", key(why), " ".join(names))


def _text(answer: Mapping[str, object]) -> bytes:
    return orjson.dumps(answer, option=orjson.OPT_SORT_KEYS)
