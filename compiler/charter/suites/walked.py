"""Searches for paths from the component's own first state to what only given states meet so far:
random walks in the instances, whose questions are shortened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from charter.analysis.coverage import Coverage
from charter.analysis.environment import Arguments
from charter.analysis.retell import Act
from charter.core import nodes as n
from charter.core.obligations import Obligation
from charter.formats.reading import own_object
from charter.formats.resolve import leave_out
from charter.formats.vector import OperationCall, Question, Why
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.suites.planning.instance_planner import InstancePlanner
from charter.suites.planning.random_walks import Chooser
from charter.suites.question_search import QuestionSearch
from charter.suites.smoke import SmokeVector
from charter.vectors.answer import NoAnswer
from charter.vectors.plan import OPEN

WALKS = 200
"""The most walks in an instance; every second one begins before its prelude."""
WALKS_FOR_OPEN = 10
"""How many of these also look for what nothing meets so far."""
STEPS = 24
"""The most operations of a walk."""
TRIES = 4
"""How many operations are tried in each state of a walk, besides the one that is taken."""
REFUSALS_MAX = 20
"""After so many walks that meet an obligation and make no vector the obligation is left."""

_OF_BRANCHES = ("branch", "reply", "amount")
"""The kinds of obligations that only an outcome of their branch meets."""


def keep_walked(
    found: QuestionSearch, instances: Sequence[n.Instance], tell: Callable[[str], None]
) -> None:
    """For each obligation that only vectors from given states meet, or nothing, keep one from the
    first state where a walk finds it."""
    for instance in instances:
        if not found.list_unreached() | found.left:
            return
        tell(f"walks in {instance.name}, {len(found.list_unreached())} from given states only")
        _Hunt.of(found, instance).run()


@dataclass(slots=True)
class _Hunt:
    """Walks in one instance. `operations` are those of the obligations that are `left`, `refused`
    counts walks that made no vector."""

    found: QuestionSearch
    instance: n.Instance
    planner: InstancePlanner
    coverage: Coverage
    chooser: Chooser
    left: dict[str, Obligation] = field(default_factory=dict)
    operations: tuple[str, ...] = ()
    refused: dict[str, int] = field(default_factory=dict)
    with_open: bool = True

    @staticmethod
    def of(found: QuestionSearch, instance: n.Instance) -> _Hunt:
        """The walks of an instance, with everything that its component offers."""
        planner = InstancePlanner.open_planner(found.about.model, instance)
        coverage = found.desk.at(instance)[1].coverage
        chooser = Chooser(planner.asked, f"paths in {instance.name}")
        return _Hunt(found, instance, planner, coverage, chooser)

    def run(self) -> None:
        """All walks, until nothing is left."""
        machine = self.planner.machine
        starts = [(machine.initial(), True)]
        if self.planner.led.prelude:
            starts.append((machine.initial_of_component(), False))
        elif machine.instance.starts:
            starts = [(machine.initial_of_component(), False)]
        for number in range(WALKS):
            self.with_open = number < WALKS_FOR_OPEN
            self._look()
            if not self.left:
                return
            self._walk(number, *starts[number % len(starts)])

    def _look(self) -> None:
        """What is left."""
        names = self.found.list_unreached() | (self.found.left if self.with_open else set())
        self.left = {
            o.name: o
            for o in self.found.desk.wanted
            if o.name in names and self.refused.get(o.name, 0) < REFUSALS_MAX
        }
        self.operations = tuple(sorted({*map(_operation, self.left.values())}))

    def _walk(self, number: int, state: State, led: bool) -> None:
        trace: list[tuple[State, Act]] = []
        for step in range(STEPS):
            for act, outcome in self._list_tried(state, f"{number}/{step}"):
                if not self._can_meet(act, outcome):
                    continue
                met = self.coverage.list_met(state, *act, outcome) & self.left.keys()
                if met:
                    self._keep([*trace, (state, act)], min(met), led=led)
                    if not self.left:
                        return
            try:
                act, outcome = self.chooser.choose(state, f"{number}/{step}")
            except ValueError:  # nothing can be done in this state
                return
            trace.append((state, act))
            state = outcome.state

    def _can_meet(self, act: Act, outcome: Outcome) -> bool:
        """Whether an outcome may meet something that is left, which takes long to find out."""
        return any(
            o.branch == outcome.branch if o.kind in _OF_BRANCHES else _operation(o) == act[0]
            for o in self.left.values()
        )

    def _list_tried(self, state: State, key: str) -> Iterator[tuple[Act, Outcome]]:
        """Some operations of what is left, with one of their outcomes."""
        random = Random(f"{self.chooser.seed}/{key}")
        arguments = Arguments.at(self.planner.machine, state)
        for _ in range(TRIES):
            chosen = self.chooser.sample(state, random.choice(self.operations), arguments, random)
            if chosen is not None:
                yield chosen

    def _keep(self, trace: Sequence[tuple[State, Act]], row: str, *, led: bool) -> None:
        """Keep the question of a trace that ends by meeting an obligation."""
        why = Why((), "exploration", row, OPEN, ())
        planner = self.planner.planner
        vector = planner.plan_path(trace, why, led=led)
        entry = None if vector is None else self._ask(vector.question, row)
        if entry is None:
            self.refused[row] = self.refused.get(row, 0) + 1
        else:
            shortest = self._shorten(entry, row).vector
            self.found.keep(shortest, self.instance, why, always=True)
        self._look()

    def _ask(self, question: Question, row: str) -> SmokeVector | None:
        """A question with what it meets; None if it does not meet an obligation."""
        why = Why((), "exploration", row, OPEN, ())
        try:
            entry = self.found.desk.entry(question, self.instance, why)
        except (NoAnswer, EvaluationError, ValueError):
            return None
        return entry if row in entry.meets else None

    def _shorten(self, entry: SmokeVector, row: str) -> SmokeVector:
        """The same without operations that are not needed, the last ones first."""
        for number in range(len(entry.vector.question.operations) - 1, 0, -1):
            shorter = without(entry.vector.question, number)
            tried = None if shorter is None else self._ask(shorter, row)
            entry = tried or entry
        return entry


def _operation(obligation: Obligation) -> str:
    return obligation.operation or obligation.branch.partition("/")[0]


def without(question: Question, number: int) -> Question | None:
    """A question without one of its operations (from 1). What refers to the observation after it
    refers to the one before; None if something refers to its reply."""
    kept = leave_out([{**call.args} for call in question.operations], number - 1, 1)
    if kept is None:
        return None
    rest = (*question.operations[: number - 1], *question.operations[number:])
    pairs = zip(rest, map(own_object, kept), strict=True)
    calls = [OperationCall(call.operation, args) for call, args in pairs]
    delta = question.delta if question.delta == "each" else (len(calls),)
    return replace(question, operations=tuple(calls), delta=delta)
