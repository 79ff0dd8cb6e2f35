"""Checks `eventually` and `leads to` on the transition graph of a native search.

After the search, the edges of all states are computed, and the predicates of the properties are
evaluated in every state. A counterexample is a path of keys; it is reconstructed step by step from
the initial state, and replayed on the definition before it is reported.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from charter.analysis.known_faults import refuse_faults
from charter.analysis.lasso import Lasso
from charter.analysis.narrowed_machine import open_machine
from charter.core import nodes as n
from charter.core.nodes import Value
from charter.explore.model_checker import EngineUnsupported
from charter.explore.native.liveness.runs import Graph, LeadsTo, follow, functions
from charter.explore.native.memory.arrays import NoRoom, Room, default_budget
from charter.explore.native.memory.layout import CannotCompile, Layout
from charter.explore.native.program import transition_graph
from charter.explore.native.program.compile_instance import Program, program
from charter.explore.native.search.explore import (
    Exploration,
    NativeOptions,
    SearchCounts,
    explore,
    result_of,
    run_search,
)
from charter.explore.native.search.levels import GaveUp, Search
from charter.explore.native.search.traces import (
    DecodedOutcome,
    Disagreement,
    ReachedStep,
    Teller,
    Traces,
)
from charter.semantics.expressions import State
from charter.semantics.fairness import (
    LivenessResult,
    bound,
    gave_up,
    names_elements,
    too_many,
)
from charter.semantics.machine import Machine

MOST = 10_000_000
"""The default number of states up to which liveness is checked: all edges are kept in memory."""
MOST_QUESTIONS = 1 << 10
OUTSIDE = "runs that leave the instance are not checked"

DEFAULT = NativeOptions()

STATES, EDGES = "eventually, states", "eventually, steps"
"""Progress texts of work for liveness: another search, and computing edges."""

Tell = Callable[[SearchCounts, str], None]
"""Called regularly with the progress, and the kind of work ("": the search)."""


def check_liveness(
    model: n.Model,
    instance: n.Instance,
    options: NativeOptions = DEFAULT,
    tell: Tell | None = None,
    seen: Sequence[LivenessResult] = (),
) -> tuple[LivenessResult, ...]:
    """The result for each `eventually` of the instance's machine, in the order of the charter:
    `seen` are those already known from the graph of a search, the others get searches of their own.
    These have no journal; its folder is only used for spilled memory. Raises EngineUnsupported if
    the engine does not support the charter, ValueError for a model with faults."""
    asking = _Asking(model, instance, options, tell)
    found = {one.name: one for one in seen}
    if asking.permuted:
        alike = [live for live in asking.alike if live.name not in found]
        found |= {one.name: one for one in asking.apart(alike, symmetry=True)}
    failing = {one.name for one in found.values() if one.answer == "fails" and asking.permuted}
    rest = [live for live in asking.wanted if live.name not in found or live.name in failing]
    for verdict in asking.apart(rest, symmetry=False):
        known = found.get(verdict.name)
        found[verdict.name] = verdict if known is None else known.settle(verdict)
    return tuple(found[live.name] for live in asking.wanted)


@dataclass(frozen=True, slots=True)
class Explored:
    """The result of a search, the liveness results from its graph, the seconds that these took
    besides the search, and the reason if the engine could not check liveness."""

    found: Exploration
    seen: tuple[LivenessResult, ...] = ()
    seconds: float = 0.0
    liveness_skipped_because: str = ""


def explore_live(
    model: n.Model, instance: n.Instance, options: NativeOptions = DEFAULT, tell: Tell | None = None
) -> Explored:
    """Search an instance, and check on the graph of the same search those `eventually` properties
    that do not distinguish elements of a permuted sort. Under symmetry a failing one gets no lasso.
    Raises as `explore` does."""
    asking = _Asking(model, instance, options, tell)
    asked = None if options.choices.fingerprints else asking.collect_cases()
    if asked is not None:  # fingerprints do not allow computing edges
        choices = replace(options.choices, predicates=asked.predicates)
        searching = run_search(
            model, instance, replace(options, choices=choices), lambda now: asking.report(now, "")
        )
        try:
            with searching as (search, message):
                return asking.check_liveness(
                    result_of(search, message, options.silent), search, asked
                )
        except CannotCompile:  # of the predicates, or of the rest: then the next line says so
            pass
    return Explored(explore(model, instance, options, lambda now: asking.report(now, "")))


@dataclass(frozen=True, slots=True)
class _PropertyCase:
    """A property with values for its variables, and the numbers of its predicates."""

    live: n.Eventually
    values: tuple[Value, ...]
    leads_to: LeadsTo


@dataclass(frozen=True, slots=True)
class _LivenessCases:
    """Properties, the predicates to evaluate in every state, and the cases that use them."""

    lives: Sequence[n.Eventually]
    predicates: tuple[n.Property, ...]
    cases: tuple[_PropertyCase, ...]

    @staticmethod
    def of(model: n.Model, instance: n.Instance, lives: Sequence[n.Eventually]) -> _LivenessCases:
        """The predicates of properties. Raises CannotCompile."""
        universe = Machine.of(model, instance).universe
        asked: list[n.Property] = []
        cases: list[_PropertyCase] = []

        def ask(live: n.Eventually, wanted: n.Expr | None) -> int:
            if wanted is None:
                return -1
            name = f"{live.name} {len(asked)}"
            asked.append(n.Property("witness", name, live.machine, wanted, (), span=live.span))
            return len(asked) - 1

        for live in lives:
            for values in product(*(universe.domain(param.type) for param in live.params)):
                begins = ask(live, bound(live, live.trigger, values))
                ends = ask(live, bound(live, live.goal, values))
                cases.append(_PropertyCase(live, values, LeadsTo(begins, ends)))
                if len(asked) > MOST_QUESTIONS:
                    raise CannotCompile(f"more than {MOST_QUESTIONS} cases of {live.name}")
        return _LivenessCases(lives, tuple(asked), tuple(cases))


@dataclass(frozen=True, slots=True)
class _Asking:
    """Checks the liveness of one instance."""

    model: n.Model
    instance: n.Instance
    options: NativeOptions
    tell: Tell | None

    def report(self, now: SearchCounts, doing: str) -> None:
        """Reports progress."""
        if self.tell is not None:
            self.tell(now, doing)

    def collect_cases(self) -> _LivenessCases | None:
        """The predicates for the graph of the search itself; None if there are none or too many."""
        try:
            machine = open_machine(self.model, self.instance)
            transition_graph.FairnessLabels.of(machine, Layout(machine.universe))
            asked = _LivenessCases.of(self.model, self.instance, self.alike)
        except CannotCompile:
            return None
        return asked if asked.lives else None

    @property
    def wanted(self) -> list[n.Eventually]:
        """The `eventually` properties of the machine."""
        return [live for live in self.model.liveness if live.machine == self.instance.machine]

    @property
    def permuted(self) -> bool:
        """Whether the elements of some sort are permuted."""
        return self.options.choices.symmetry and any(len(m) > 1 for _, m in self.instance.sorts)

    @property
    def alike(self) -> list[n.Eventually]:
        """The properties that can be checked under symmetry."""
        if not self.permuted:
            return self.wanted
        return [live for live in self.wanted if not names_elements(self.model, live)]

    def apart(self, lives: Sequence[n.Eventually], *, symmetry: bool) -> list[LivenessResult]:
        """The result for each property, from a search of their own. The lasso of a failing one
        comes from a search without symmetry."""
        if not lives:
            return []
        refuse_faults(self.model)
        asked, options = _LivenessCases.of(self.model, self.instance, lives), self.options
        choices = replace(
            options.choices, symmetry=symmetry, fingerprints=False, predicates=asked.predicates
        )
        compiled = program(
            replace(self.model, properties=()), self.instance, choices, options.cache,
            optimized=options.optimized,
        )  # fmt: skip
        with tempfile.TemporaryDirectory(prefix="charter-") as folder:
            kept = options.journal
            place = kept if kept is not None and kept.is_dir() else Path(folder)
            room = Room(options.memory or default_budget(), place)
            search = Search(compiled, room, options.workers, options.most_states or MOST)
            try:
                search.run(lambda now: self.report(now, STATES))
            except NoRoom as reason:
                return [LivenessResult(live.name, "unknown", detail=str(reason)) for live in lives]
            return self.on(search, asked, with_lasso=not symmetry)

    def check_liveness(self, found: Exploration, search: Search, asked: _LivenessCases) -> Explored:
        """A search with the liveness results from its graph."""
        begun, liveness_skipped_because = time.monotonic(), ""
        seen: list[LivenessResult] = []
        try:
            seen = self.on(search, asked, with_lasso=not self.permuted)
        except EngineUnsupported as reason:
            liveness_skipped_because = str(reason)
        return Explored(found, tuple(seen), time.monotonic() - begun, liveness_skipped_because)

    def on(
        self, search: Search, asked: _LivenessCases, *, with_lasso: bool
    ) -> list[LivenessResult]:
        """The result for each property on the graph of a complete search."""
        options, most = self.options, self.options.most_states or MOST
        try:
            if not search.complete:
                raise NoRoom(search.stopped or gave_up(search.distinct))
            if search.distinct > most:
                raise NoRoom(too_many(search.distinct, most))
            count = len(asked.predicates)
            graph = Graph(search.room, functions(options.cache), search.distinct, count)
            follow(search, graph, lambda now: self.report(now, EDGES))
            plan = search.program.plan
            runs = _GraphCheck(
                search, graph, transition_graph.FairnessLabels.of(plan.machine, plan.layout)
            )
            return [runs.verdict(live, asked, with_lasso=with_lasso) for live in asked.lives]
        except NoRoom as reason:
            return [
                LivenessResult(live.name, "unknown", detail=str(reason)) for live in asked.lives
            ]


@dataclass(frozen=True, slots=True)
class _GraphCheck:
    """Checks properties on the graph of one search."""

    search: Search
    graph: Graph
    labels: transition_graph.FairnessLabels

    def verdict(
        self, live: n.Eventually, asked: _LivenessCases, *, with_lasso: bool
    ) -> LivenessResult:
        """The result for one property, with a lasso if `with_lasso`."""
        conditions = self.labels.conditions(live.fairness)
        for case in (case for case in asked.cases if case.live is live):
            if undefined := self._explain_undefined(case.leads_to, asked.predicates):
                return LivenessResult(live.name, "unknown", detail=undefined)
            seen = self.graph.lasso(case.leads_to, conditions)
            if seen is not None:
                binding = tuple(zip(live.params, case.values, strict=True))
                stem, cycle = self._replay(seen) if with_lasso else ((), ())
                return LivenessResult(live.name, "fails", binding, stem, cycle)
        return LivenessResult(live.name, "holds", detail=OUTSIDE if self.search.outside else "")

    def _explain_undefined(self, leads_to: LeadsTo, asked: Sequence[n.Property]) -> str:
        """Why trigger or goal has no value in some state; "" if both always have one."""
        first = self.search.program.plan.first_predicate
        for number in (leads_to.begins, leads_to.ends):
            # The note of a predicate is followed by the note of states in which it has no value.
            note = self.graph.notes.get(first + 2 * number + 1) if number >= 0 else None
            if note is not None:
                traces = Traces(self.search, Teller(self.search.program))
                return traces.trace_unevaluated(asked[number], note)[1]
        return ""

    # --- a counterexample ------------------------------------------------------------------------

    def _replay(self, seen: Lasso) -> tuple[tuple[ReachedStep, ...], tuple[ReachedStep, ...]]:
        """Stem and cycle, replayed on the definition. Raises Disagreement."""
        compiled = self.search.program
        teller = Teller(compiled)
        traces = Traces(self.search, teller)
        state, steps = compiled.plan.machine.initial(), list[ReachedStep]()
        for word in (*seen.stem, *seen.cycle):
            steps.append(traces.follow(state, self._towards(teller, state, word)))
            state = steps[-1].state
        entry = len(seen.stem)
        begun = steps[entry - 1].state if entry else compiled.plan.machine.initial()
        if teller.key(state) != teller.key(begun):
            raise Disagreement("a cycle does not come back to where it began")
        return tuple(steps[:entry]), tuple(steps[entry:])

    def _towards(self, teller: Teller, state: State, word: int) -> DecodedOutcome:
        """The outcome of an edge in a state with the key of its source."""
        label, target = word >> transition_graph.TARGET_BITS, word & transition_graph.ABSENT
        key = _key_of(self.search.program, teller, self.search.states.get(target)[0])
        try:
            outcomes = list(teller.tell(state))
        except OverflowError:
            raise GaveUp("a counter past 63") from None
        for decoded in outcomes:
            if not decoded.branch or decoded.key != key or dict(decoded.after) == dict(state):
                continue
            if self.labels.of_step(decoded.operation, decoded.args) == label:
                return decoded
        raise Disagreement(f"no way from one state to the next (state {target})")


def _key_of(compiled: Program, teller: Teller, words: list[int]) -> tuple[int, ...]:
    """The key of a state as a search keeps it."""
    if not compiled.plan.context.raw:
        return tuple(words)
    return teller.key(teller.state(compiled.plan.packing.unpack(words)))
