"""Makes vectors from the graph of an instance: witnesses, every class of transition, a path to
every state with one more operation, and in small instances every way into a state with every
operation after it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from charter.analysis.coverage import amount, members
from charter.analysis.environment import Arguments
from charter.analysis.retell import Act
from charter.core import nodes as n
from charter.core.nodes import Value
from charter.core.obligations import Obligation
from charter.explore.result import Trace
from charter.explore.select import state_graph
from charter.explore.successors import StateGraph, Transition, path, witnesses
from charter.formats.vector import Vector, Why
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.suites.look_alikes import MOST_CASES, MOST_FOLLOWED, LookAlikes, spread
from charter.suites.planning.instance_planner import InstancePlanner, pair
from charter.suites.planning.led_instances import LedInstance
from charter.suites.planning.random_walks import Chooser
from charter.vectors.plan import OPEN, PlannedStep

ARRIVALS = 10_000
"""The most vectors that are made for the ways into the states of an instance."""

LOOKED_AT = 400
"""The most classes of transitions of one instance whose coverage is computed."""

TOLD = 1000
"""After how many classes of transitions the progress is told."""


MANY = 500_000
"""Of more classes of transitions the progress says how there would be fewer."""
LESS = "`only` and `offers` in the instance make it less, --search --most N leaves it out"


def _ignore(_: str) -> None:
    """Tells no progress."""


@dataclass(frozen=True, slots=True)
class HowFar:
    """How far an instance is searched: to `most_states` (0: to its end). `tell` is called now and
    then with how far the work is, in words."""

    most_states: int = 0
    tell: Callable[[str], None] = _ignore


UNBOUNDED = HowFar()


@dataclass(slots=True)
class ExploredInstance:
    """The graph of an instance, and a planner for its vectors. `pairs` collects the (state, branch)
    pairs that the vectors take, `taken` the first transition of each branch, `replies` the first
    with each enum member in the reply of each branch. `amounts` has, for obligations of this kind,
    the first transition that meets it, with the most members where several are asked for. `tell`
    is that of its `HowFar`, `_classes` the number of classes of transitions once it is known."""

    graph: StateGraph
    engine: InstancePlanner
    opened: InstancePlanner
    pairs: set[int] = field(default_factory=set)
    taken: dict[str, Transition] = field(default_factory=dict)
    replies: dict[str, Transition] = field(default_factory=dict)
    amounts: dict[str, tuple[int, Transition]] = field(default_factory=dict)
    tell: Callable[[str], None] = _ignore
    _asked: dict[str, set[str]] = field(default_factory=dict)
    _classes: int = -1

    @staticmethod
    def of(
        model: n.Model,
        instance: n.Instance,
        wanted: Iterable[Obligation] = (),
        pace: HowFar = UNBOUNDED,
    ) -> ExploredInstance:
        """Search `instance` to its end. Of the obligations `wanted` those of amounts are used.
        Raises TooManyStates."""
        led = LedInstance.of(model, instance)
        graph = state_graph(
            model, led.instance, pace.most_states, lambda states: pace.tell(f"{states:,} states")
        )
        engine = InstancePlanner.around(model, graph.successors, led)
        opened = InstancePlanner.open_planner(model, instance)
        if led.prelude:  # whose operations the instance may not offer
            engine = replace(engine, planner=opened.planner)
        made = ExploredInstance(graph, engine, opened)
        made.tell = pace.tell
        for obligation in wanted:
            if obligation.kind == "amount":
                made._asked.setdefault(obligation.branch, set()).add(obligation.member)
        return made

    def witnesses(self) -> Iterator[Vector]:
        """A shortest path to every branch, every witness property and every error reply; after
        `loaded`, which finds the branches and the replies."""
        for label in self.graph.successors.machine.labels:
            if label in self.taken:
                yield from self._along(self._through(self.taken[label]), f"branch {label}", label)
        for name, trace in witnesses(self.graph):
            last = trace[-1].branch if trace else ""
            yield from self._along(acts_of(trace), f"witness {name}", last)
        for name, found in self.replies.items():
            yield from self._along(self._through(found), name, found.step.branch)

    def _through(self, transition: Transition) -> list[Act]:
        """The acts of a shortest trace that ends with a transition."""
        way = path(self.graph, transition.source)
        return acts_of((*way, transition.step))

    def _note(self, transition: Transition) -> None:
        branch, reply = transition.step.branch, transition.reply
        self.taken.setdefault(branch, transition)
        for part in reply[1:] if isinstance(reply, tuple) else (reply,):
            if isinstance(part, str):
                self.replies.setdefault(f"reply {branch} {part}", transition)
        if branch in self._asked:
            self._note_amounts(transition)

    def _note_amounts(self, transition: Transition) -> None:
        step, state = transition.step, self.graph.states[transition.source]
        for outcome in self.graph.successors.outcomes(state, step.operation, step.args):
            if (outcome.branch, outcome.reply) != (step.branch, transition.reply):
                continue
            for part in self._asked[step.branch]:
                count = members(part, state, outcome)
                name = f"amount {step.branch} {part} {amount(count)}"
                if count > self.amounts.get(name, (-1, transition))[0]:
                    self.amounts[name] = count, transition

    def list_counted(self) -> Iterator[tuple[str, int, Transition, Vector]]:
        """For each obligation of an amount its name, how many members change, a transition, and a
        vector of it; after `loaded`, which finds them."""
        for name, (count, transition) in self.amounts.items():
            why = Why((), "exploration", name, OPEN, ())
            vector = self.engine.planner.plan_loaded(self._step(transition), why)
            if vector is not None:
                yield name, count, transition, vector

    def every(self) -> int:
        """One class of transitions out of how many a small suite looks at."""
        return max(1, self.classes() // LOOKED_AT)

    def classes(self) -> int:
        """How many classes of transitions there are."""
        if self._classes < 0:
            self._classes = sum(1 for _ in self._cases())
        return self._classes

    def _cases(self) -> Iterator[Transition]:
        """The cases of the graph, telling how far they are."""
        states = len(self.graph.states)
        several = self.acts_in_all()
        less = f"; {LESS}" if several > MANY else ""
        if less:
            self.tell(f"{states:,} states, with up to {several:,} classes of transitions{less}")
        for number, transition in enumerate(self.graph.cases(), 1):
            if not number % TOLD:
                every = max(number, number * states // (transition.source + 1))
                self.tell(
                    f"{number:,} of some {every:,} classes of transitions, of"
                    f" {transition.source:,} of {states:,} states{less}"
                )
            yield transition

    def _along(self, acts: Sequence[Act], name: str, branch: str) -> Iterator[Vector]:
        why = Why((name,), "witness", name, OPEN, (branch,) if branch else ())
        vector = self.engine.planner.of_acts(acts, why)
        if vector is not None:
            yield vector

    def list_loaded(self, every: int = 1) -> Iterator[Vector]:
        """A vector for each class of transitions, or for one out of `every` classes."""
        return (vector for _, vector in self.list_loaded_steps(every))

    def from_start(self, transition: Transition, why: Why) -> Vector | None:
        """A vector that ends with a transition, and begins in the first state of the component;
        None if the instance begins in another one."""
        planner = self.opened.planner
        return (
            None
            if planner.start()[1] is not None
            else planner.of_acts(self._through(transition), why)
        )

    def list_loaded_steps(self, every: int = 1) -> Iterator[tuple[Transition, Vector]]:
        """The same with the transitions."""
        for transition in self.list_asked(every):
            why = Why((f"branch {transition.step.branch}",), "exploration", "", OPEN, ())
            vector = self.engine.planner.plan_loaded(self._step(transition), why)
            if vector is not None:
                yield transition, vector

    def list_asked(self, every: int = 1) -> Iterator[Transition]:
        """A transition for each class, or for one out of `every` classes; of those that have the
        same arguments one."""
        count = 0
        last: tuple[int, str, tuple[Value, ...]] | None = None
        number, name = -1, ""
        for transition in self._cases():
            self._note(transition)
            if number != transition.source:
                number = transition.source
                name = self.engine.name(self.graph.states[number])
            step = transition.step
            self.pairs.add(pair(name, step.branch))
            this = (number, step.operation, step.args)
            if this != last:
                last, count = this, count + 1
                if not count % every:
                    yield transition

    def _step(self, transition: Transition) -> PlannedStep:
        def acts() -> Sequence[Act]:
            return acts_of(path(self.graph, transition.source))

        state, step = self.graph.states[transition.source], transition.step
        return PlannedStep(state, acts, step.operation, step.args, step.branch, transition.reply)

    def paths(self) -> Iterator[Vector]:
        """For each state a shortest path there, and one more operation of the component; the number
        of the state selects operation and arguments."""
        planner = self.opened.planner
        chooser = Chooser(self.opened.asked, f"paths of {self.opened.machine.instance.name}")
        for number, state in enumerate(self.graph.states):
            act, outcome = chooser.choose(state, number)
            trace = [*self.trace(number), (state, act)]
            self.pairs.add(pair(self.engine.name(state), outcome.branch))
            why = Why((f"branch {outcome.branch}",), "exploration", "", OPEN, ())
            vector = planner.plan_trace(trace, planner.start()[1], why)
            if vector is not None:
                yield vector

    def arrivals(self) -> Iterator[Vector]:
        """For each branch that leads to a state a shortest path to it through that branch, and one
        more operation, once for each list of arguments; if that were more than `ARRIVALS` vectors,
        those of `list_followed`. An implementation may remember how it came to a state that is one
        for the charter, such as a reservation that expired."""
        planned = self._plan()
        if planned is None:
            yield from self.list_followed()
            return
        for way, act, branch in planned:
            yield from self._way([*self._through(way), act], branch)

    def _plan(self) -> list[tuple[Transition, Act, str]] | None:
        """The ways into the states, with every operation after each; None if they are too many."""
        first = self.graph.states[0]
        if len(self.graph.states) * sum(1 for _ in self.list_offered(first)) > ARRIVALS:
            return None
        planned: list[tuple[Transition, Act, str]] = []
        for way, outcome in self._ways():
            for act, after in self.list_offered(outcome.state):
                planned.append((way, act, after.branch))
                if len(planned) > ARRIVALS:
                    return None
        return planned

    def list_followed(self) -> Iterator[Vector]:
        """For each branch that leads to a state that looks like others a shortest path to it
        through that branch, and operations that tell it from them. Nothing for an instance with
        more than `MOST_CASES` operations in states; of too many ways some of each branch."""
        first = self.graph.states[0]
        if len(self.graph.states) * sum(1 for _ in self.list_offered(first)) > MOST_CASES:
            return
        alike = LookAlikes.of(self.opened.machine, self.graph.states, self.list_offered)
        by_branch: dict[str, list[tuple[Transition, Outcome]]] = {}
        for way, outcome in self._ways():
            if alike.has_others(outcome.state):
                by_branch.setdefault(outcome.branch, []).append((way, outcome))
        for branch, ways in by_branch.items():
            share = MOST_FOLLOWED // len(by_branch)
            for way, outcome in spread(ways, share):
                acts = alike.telling(outcome.state)
                if acts:
                    yield from self._way([*self._through(way), *acts], branch)

    def _way(self, acts: Sequence[Act], branch: str) -> Iterator[Vector]:
        vector = self.opened.planner.of_acts(
            acts, Why((f"branch {branch}",), "exploration", "", OPEN, ())
        )
        if vector is not None:
            yield vector

    def _ways(self) -> Iterator[tuple[Transition, Outcome]]:
        """For each state and each branch that leads to it, from itself or from another state, a
        transition through that branch after a shortest path, with its outcome."""
        form, seen = self.opened.asked.form, set[tuple[Hashable, str, bool]]()
        for transition in self.graph.cases():
            source, step = self.graph.states[transition.source], transition.step
            before = form(source)
            for outcome in self.opened.asked.outcomes(source, step.operation, step.args):
                after = form(outcome.state)
                way = after, outcome.branch, after == before
                if way in seen or self.opened.machine.outside(outcome.state):
                    continue
                seen.add(way)
                yield transition, outcome

    def list_offered(self, state: State) -> Iterator[tuple[Act, Outcome]]:
        """Every act in a state that has one outcome, with it."""
        for act in self.acts(state):
            outcomes = self.outcomes(state, act)
            if len(outcomes) == 1:
                yield act, outcomes[0]

    def acts_in_all(self) -> int:
        """How many acts there are in all states, if all have as many as the first."""
        states = self.graph.states
        return len(states) * sum(1 for _ in self.acts(states[0]))

    def acts(self, state: State) -> Iterator[Act]:
        """Every operation of the component with every list of arguments in a state."""
        machine = self.opened.machine
        arguments = Arguments.at(machine, state)
        for operation in machine.operations.values():
            for args in arguments.of(operation.params):
                yield operation.name, args

    def outcomes(self, state: State, act: Act) -> tuple[Outcome, ...]:
        """The outcomes of an act; none if one is undefined or leaves the instance."""
        try:
            found = self.opened.asked.outcomes(state, *act)
        except EvaluationError:
            return ()
        return () if any(self.opened.machine.outside(o.state) for o in found) else found

    def trace(self, number: int) -> list[tuple[State, Act]]:
        """A shortest path to a state, each act with the state before it."""
        found: list[tuple[State, Act]] = []
        while number:
            number, step = self.graph.arrival(number)
            found.append((self.graph.states[number], (step.operation, step.args)))
        return found[::-1]


def acts_of(trace: Trace) -> list[Act]:
    """The acts of a trace."""
    return [(step.operation, step.args) for step in trace]
