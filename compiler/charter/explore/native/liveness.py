"""Checks `eventually` and `leads to` on the transition graph of a native search.

What a property waits for is asked in every state once the search has come to its end, when the
edges of its graph are followed. A counterexample is a way through keys: it is found again from the
real first state, step by step, and followed on the definition before anyone sees it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.explore.native import transition_graph as links
from charter.explore.native.explore import (
    CannotCompile,
    Exploration,
    GaveUp,
    NativeOptions,
    SearchCounts,
    explore,
    result_of,
    searched,
)
from charter.explore.native.layout import Layout
from charter.explore.native.memory import NoRoom, Room, default_budget
from charter.explore.native.program import Program, program
from charter.explore.native.runs import Graph, LeadsTo, follow, functions
from charter.explore.native.search import Search
from charter.explore.native.traces import DecodedOutcome, Disagreement, ReachedStep, Teller, Traces
from charter.passes.narrow import narrowed
from charter.semantics.expressions import State
from charter.semantics.fairness import LivenessResult, bound, gave_up, names_elements
from charter.semantics.faults import refuse_faults
from charter.semantics.lasso import Lasso
from charter.semantics.machine import Machine

MOST = 10_000_000
"""States up to which runs are looked at, where nobody says how many: their edges are kept."""
MOST_QUESTIONS = 1 << 10
OUTSIDE = "runs that leave the instance are not looked at"

DEFAULT = NativeOptions()

STATES, EDGES = "what must happen, states", "what must happen, steps"
"""What is done for liveness beside the search itself: a search of its own, and following edges."""

Tell = Callable[[SearchCounts, str], None]
"""Called now and then with how far the work is, and what it is ("": the search itself)."""


def check_liveness(
    model: n.Model,
    instance: n.Instance,
    options: NativeOptions = DEFAULT,
    tell: Tell | None = None,
    seen: Sequence[LivenessResult] = (),
) -> tuple[LivenessResult, ...]:
    """A verdict for each `eventually` of the instance's machine, in the order of the charter: those
    that were `seen` on the graph of a search, the others from searches of their own. Nothing of
    these is written down: of a journal, only the folder is used, for files beside memory. Raises
    CannotCompile or GaveUp where the charter is beyond the engine, ValueError for a model with
    faults."""
    asking = _Asking(model, instance, options, tell)
    found = {one.name: one for one in seen}
    if asking.permuted:
        alike = [live for live in asking.alike if live.name not in found]
        found |= {one.name: one for one in asking.apart(alike, symmetry=True)}
    failing = {one.name for one in found.values() if one.answer == "fails" and asking.permuted}
    rest = [live for live in asking.wanted if live.name not in found or live.name in failing]
    for verdict in asking.apart(rest, symmetry=False):
        known = found.get(verdict.name)
        found[verdict.name] = verdict if known is None else known.settled(verdict)
    return tuple(found[live.name] for live in asking.wanted)


@dataclass(frozen=True, slots=True)
class Explored:
    """What a search found, the verdicts that its graph has, how many seconds those took beside the
    search, and why there are none ("": nothing is beyond the engine)."""

    found: Exploration
    seen: tuple[LivenessResult, ...] = ()
    seconds: float = 0.0
    unlooked: str = ""


def explore_live(
    model: n.Model, instance: n.Instance, options: NativeOptions = DEFAULT, tell: Tell | None = None
) -> Explored:
    """Search an instance, and look on the graph of the same search at those `eventually` that tell
    no elements of a permuted sort apart. Of one that fails where elements count as one, no run is
    told. Raises as `explore` does."""
    asking = _Asking(model, instance, options, tell)
    asked = None if options.choices.fingerprints else asking.asked_alike()
    if asked is not None:  # of a fingerprint no edge can be followed
        choices = replace(options.choices, questions=asked.questions)
        searching = searched(
            model, instance, replace(options, choices=choices), lambda now: asking.told(now, "")
        )
        try:
            with searching as (search, message):
                return asking.looked(result_of(search, message, options.untold), search, asked)
        except CannotCompile:  # of the questions, or of the rest: then the next line says so
            pass
    return Explored(explore(model, instance, options, lambda now: asking.told(now, "")))


@dataclass(frozen=True, slots=True)
class _Case:
    """A property with values for its variables, and its questions."""

    live: n.Eventually
    values: tuple[Value, ...]
    question: LeadsTo


@dataclass(frozen=True, slots=True)
class _Asked:
    """Properties, what is asked of every state for them, and which of it belongs to which case."""

    lives: Sequence[n.Eventually]
    questions: tuple[n.Property, ...]
    cases: tuple[_Case, ...]

    @staticmethod
    def of(model: n.Model, instance: n.Instance, lives: Sequence[n.Eventually]) -> _Asked:
        """The questions of properties. Raises CannotCompile."""
        universe = Machine.of(model, instance).universe
        asked: list[n.Property] = []
        cases: list[_Case] = []

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
                cases.append(_Case(live, values, LeadsTo(begins, ends)))
                if len(asked) > MOST_QUESTIONS:
                    raise CannotCompile(f"more than {MOST_QUESTIONS} cases of {live.name}")
        return _Asked(lives, tuple(asked), tuple(cases))


@dataclass(frozen=True, slots=True)
class _Asking:
    """Asks one instance."""

    model: n.Model
    instance: n.Instance
    options: NativeOptions
    tell: Tell | None

    def told(self, now: SearchCounts, doing: str) -> None:
        """Reports progress."""
        if self.tell is not None:
            self.tell(now, doing)

    def asked_alike(self) -> _Asked | None:
        """What is asked of the states of the search itself; None if there is nothing, or more than
        can be asked."""
        try:
            machine = Machine.of(narrowed(self.model, self.instance.machine), self.instance)
            links.FairnessLabels.of(machine, Layout(machine.universe))
            asked = _Asked.of(self.model, self.instance, self.alike)
        except CannotCompile:
            return None
        return asked if asked.lives else None

    @property
    def wanted(self) -> list[n.Eventually]:
        """The `eventually` properties of the machine."""
        return [live for live in self.model.liveness if live.machine == self.instance.machine]

    @property
    def permuted(self) -> bool:
        """Whether elements of some sort may count as one."""
        return self.options.choices.symmetry and any(len(m) > 1 for _, m in self.instance.sorts)

    @property
    def alike(self) -> list[n.Eventually]:
        """What can be looked at where elements count as one, if they may."""
        if not self.permuted:
            return self.wanted
        return [live for live in self.wanted if not names_elements(self.model, live)]

    def apart(self, lives: Sequence[n.Eventually], *, symmetry: bool) -> list[LivenessResult]:
        """A verdict on each property, from a search of their own; of one that fails the trace is
        told where elements are told apart."""
        if not lives:
            return []
        refuse_faults(self.model)
        asked, options = _Asked.of(self.model, self.instance, lives), self.options
        choices = replace(
            options.choices, symmetry=symmetry, fingerprints=False, questions=asked.questions
        )
        compiled = program(
            replace(self.model, properties=()), self.instance, choices, options.cache
        )
        with tempfile.TemporaryDirectory(prefix="charter-") as folder:
            kept = options.journal
            place = kept if kept is not None and kept.is_dir() else Path(folder)
            room = Room(options.memory or default_budget(), place)
            search = Search(compiled, room, options.workers, options.most_states or MOST)
            try:
                search.run(lambda now: self.told(now, STATES))
            except NoRoom as reason:
                return [LivenessResult(live.name, "unknown", detail=str(reason)) for live in lives]
            return self.on(search, asked, told=not symmetry)

    def looked(self, found: Exploration, search: Search, asked: _Asked) -> Explored:
        """A search with verdicts from its own graph."""
        begun, unlooked = time.monotonic(), ""
        seen: list[LivenessResult] = []
        try:
            seen = self.on(search, asked, told=not self.permuted)
        except (CannotCompile, GaveUp) as reason:
            unlooked = str(reason)
        return Explored(found, tuple(seen), time.monotonic() - begun, unlooked)

    def on(self, search: Search, asked: _Asked, *, told: bool) -> list[LivenessResult]:
        """A verdict on each property, on the graph of a search that has ended."""
        options, most = self.options, self.options.most_states or MOST
        try:
            if not search.complete or search.distinct > most:
                raise NoRoom(search.stopped or gave_up(most))
            count = len(asked.questions)
            graph = Graph(search.room, functions(options.cache), search.distinct, count)
            follow(search, graph, lambda now: self.told(now, EDGES))
            plan = search.program.plan
            runs = _Runs(search, graph, links.FairnessLabels.of(plan.machine, plan.layout))
            return [runs.verdict(live, asked, told=told) for live in asked.lives]
        except NoRoom as reason:
            return [
                LivenessResult(live.name, "unknown", detail=str(reason)) for live in asked.lives
            ]


@dataclass(frozen=True, slots=True)
class _Runs:
    """The runs of one search."""

    search: Search
    graph: Graph
    labels: links.FairnessLabels

    def verdict(self, live: n.Eventually, asked: _Asked, *, told: bool) -> LivenessResult:
        """The verdict on one property, with a trace if it is `told`."""
        conditions = self.labels.conditions(live.fairness)
        for case in (case for case in asked.cases if case.live is live):
            if undefined := self._undefined(case.question, asked.questions):
                return LivenessResult(live.name, "unknown", detail=undefined)
            seen = self.graph.lasso(case.question, conditions)
            if seen is not None:
                binding = tuple(zip(live.params, case.values, strict=True))
                stem, cycle = self._told(seen) if told else ((), ())
                return LivenessResult(live.name, "fails", binding, stem, cycle)
        return LivenessResult(live.name, "holds", detail=OUTSIDE if self.search.outside else "")

    def _undefined(self, question: LeadsTo, asked: Sequence[n.Property]) -> str:
        """What one of its questions asks for that does not exist; "" if both have a value
        everywhere."""
        first = self.search.program.plan.first_question
        for number in (question.begins, question.ends):
            # The note of a question is followed by the one of states in which it has no value.
            note = self.graph.notes.get(first + 2 * number + 1) if number >= 0 else None
            if note is not None:
                traces = Traces(self.search, Teller(self.search.program))
                return traces.unevaluated(asked[number], note)[1]
        return ""

    # --- a counterexample ------------------------------------------------------------------------

    def _told(self, seen: Lasso) -> tuple[tuple[ReachedStep, ...], tuple[ReachedStep, ...]]:
        """Stem and cycle as the definition takes them. Raises Disagreement."""
        compiled = self.search.program
        teller = Teller(compiled)
        traces = Traces(self.search, teller)
        state, steps = compiled.plan.machine.initial(), list[ReachedStep]()
        for word in (*seen.stem, *seen.cycle):
            steps.append(traces.followed(state, self._towards(teller, state, word)))
            state = steps[-1].state
        entry = len(seen.stem)
        begun = steps[entry - 1].state if entry else compiled.plan.machine.initial()
        if teller.key(state) != teller.key(begun):
            raise Disagreement("a cycle does not come back to where it began")
        return tuple(steps[:entry]), tuple(steps[entry:])

    def _towards(self, teller: Teller, state: State, word: int) -> DecodedOutcome:
        """The outcome that an edge stands for, in a state with the key of its source."""
        label, target = word >> links.TARGET_BITS, word & links.ABSENT
        key = _key_of(self.search.program, teller, self.search.states.get(target)[0])
        try:
            outcomes = list(teller.tell(state))
        except OverflowError:
            raise GaveUp("a counter past 63") from None
        for told in outcomes:
            if not told.branch or told.key != key or dict(told.after) == dict(state):
                continue
            if self.labels.of_step(told.operation, told.args) == label:
                return told
        raise Disagreement(f"no way from one state to the next (state {target})")


def _key_of(compiled: Program, teller: Teller, words: list[int]) -> tuple[int, ...]:
    """The key of a state as a search keeps it."""
    if not compiled.plan.context.raw:
        return tuple(words)
    return teller.key(teller.state(compiled.plan.packing.unpack(words)))
