"""Checks `eventually` and `leads to` on the transition graph of a native search.

What a property waits for is asked in every state, as questions of a program of their own, whose
search nothing else slows down. A counterexample is a way through keys: it is found again from the
real first state, step by step, and followed on the definition before anyone sees it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.explore.native import transition_graph as links
from charter.explore.native.explore import GaveUp, Options, Progress, Unsupported
from charter.explore.native.memory import NoRoom, Room, default_budget
from charter.explore.native.program import Program, program
from charter.explore.native.runs import Graph, Question, follow, functions
from charter.explore.native.search import Search
from charter.explore.native.traces import Disagreement, Step, Teller, Told, Traces
from charter.semantics.evaluate import State
from charter.semantics.fairness import GAVE_UP, Verdict, bound, names_elements
from charter.semantics.faults import refuse_faults
from charter.semantics.lasso import Lasso
from charter.semantics.machine import Machine

MOST_QUESTIONS = 1 << 10
OUTSIDE = "runs that leave the instance are not looked at"

DEFAULT = Options()

Tell = Callable[[Progress, bool], None]
"""Called now and then: how far the search is, or (true) how many states still wait for edges."""


def check_liveness(
    model: n.Model, instance: n.Instance, options: Options = DEFAULT, tell: Tell | None = None
) -> tuple[Verdict, ...]:
    """A verdict for each `eventually` of the instance's machine, in the order of the charter, from
    a search of its own. Nothing of it is written down: of a journal, only the folder is used, for
    files beside memory. Raises Unsupported or GaveUp where the charter is beyond the engine,
    ValueError for a model with faults."""
    refuse_faults(model)
    wanted = [live for live in model.liveness if live.machine == instance.machine]
    found: dict[str, Verdict] = {}
    failing: dict[str, Verdict] = {}
    permuted = options.choices.symmetry and any(len(m) > 1 for _, m in instance.sorts)
    alike = [live for live in wanted if permuted and not names_elements(model, live)]
    asking = _Asking(model, instance, options, tell)
    for verdict in asking.verdicts(alike, symmetry=True):
        (failing if verdict.answer == "fails" else found)[verdict.name] = verdict
    rest = [live for live in wanted if live.name not in found]
    for verdict in asking.verdicts(rest, symmetry=False):
        known = failing.get(verdict.name)
        found[verdict.name] = verdict if known is None else known.settled(verdict)
    return tuple(found[live.name] for live in wanted)


@dataclass(frozen=True, slots=True)
class _Case:
    """A property with values for its variables, and its questions."""

    live: n.Eventually
    values: tuple[Value, ...]
    question: Question


@dataclass(frozen=True, slots=True)
class _Asking:
    """Asks one instance."""

    model: n.Model
    instance: n.Instance
    options: Options
    tell: Tell | None

    def told(self, now: Progress, is_graph: bool) -> None:
        """How far it is."""
        if self.tell is not None:
            self.tell(now, is_graph)

    def verdicts(self, lives: Sequence[n.Eventually], *, symmetry: bool) -> list[Verdict]:
        """A verdict on each property; of one that fails the trace is told where elements are told
        apart."""
        if not lives:
            return []
        questions, cases = _questions(self.model, self.instance, lives)
        options = self.options
        choices = replace(options.choices, symmetry=symmetry, fingerprints=False, following=True)
        asked = replace(self.model, properties=questions)
        compiled = program(asked, self.instance, choices, options.cache)
        with tempfile.TemporaryDirectory(prefix="charter-") as folder:
            kept = options.journal
            place = kept if kept is not None and kept.is_dir() else Path(folder)
            room = Room(options.memory or default_budget(), place)
            search = Search(compiled, room, options.workers, options.most_states)
            try:
                search.run(lambda now: self.told(now, False))
                if not search.complete:
                    raise NoRoom(search.stopped or GAVE_UP)
                graph = Graph(room, functions(options.cache), search.distinct, len(questions))
                follow(search, graph, lambda now: self.told(now, True))
                plan = compiled.plan
                runs = _Runs(search, graph, links.Labels.of(plan.machine, plan.layout))
                about = [(live, [case for case in cases if case.live is live]) for live in lives]
                return [runs.verdict(*each, told=not symmetry) for each in about]
            except NoRoom as reason:
                return [Verdict(live.name, "unknown", detail=str(reason)) for live in lives]


def _questions(
    model: n.Model, instance: n.Instance, lives: Sequence[n.Eventually]
) -> tuple[tuple[n.Property, ...], list[_Case]]:
    """What is asked in every state, and which of it belongs to which case. Raises Unsupported."""
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
            cases.append(_Case(live, values, Question(begins, ends)))
            if len(asked) > MOST_QUESTIONS:
                raise Unsupported(f"more than {MOST_QUESTIONS} cases of {live.name}")
    return tuple(asked), cases


@dataclass(frozen=True, slots=True)
class _Runs:
    """The runs of one search."""

    search: Search
    graph: Graph
    labels: links.Labels

    def verdict(self, live: n.Eventually, cases: Sequence[_Case], *, told: bool) -> Verdict:
        """The verdict on one property, with a trace if it is `told`."""
        conditions = self.labels.conditions(live.fairness)
        for case in cases:
            if undefined := self._undefined(case.question):
                return Verdict(live.name, "unknown", detail=undefined)
            seen = self.graph.lasso(case.question, conditions)
            if seen is not None:
                binding = tuple(zip(live.params, case.values, strict=True))
                stem, cycle = self._told(seen) if told else ((), ())
                return Verdict(live.name, "fails", binding, stem, cycle)
        return Verdict(live.name, "holds", detail=OUTSIDE if self.search.outside else "")

    def _undefined(self, question: Question) -> str:
        """What one of its questions asks for that does not exist; "" if both have a value
        everywhere."""
        machine = self.search.program.plan.machine
        for number in (question.begins, question.ends):
            # The note of a question is followed by the one of states in which it has no value.
            note = self.graph.notes.get(2 * number + 1) if number >= 0 else None
            if note is not None:
                traces = Traces(self.search, Teller(self.search.program))
                return traces.unevaluated(machine.model.properties[number], note)[1]
        return ""

    # --- a counterexample ------------------------------------------------------------------------

    def _told(self, seen: Lasso) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
        """Stem and cycle as the definition takes them. Raises Disagreement."""
        compiled = self.search.program
        teller = Teller(compiled)
        traces = Traces(self.search, teller)
        state, steps = compiled.plan.machine.initial(), list[Step]()
        for word in (*seen.stem, *seen.cycle):
            steps.append(traces.followed(state, self._towards(teller, state, word)))
            state = steps[-1].state
        entry = len(seen.stem)
        begun = steps[entry - 1].state if entry else compiled.plan.machine.initial()
        if teller.key(state) != teller.key(begun):
            raise Disagreement("a cycle does not come back to where it began")
        return tuple(steps[:entry]), tuple(steps[entry:])

    def _towards(self, teller: Teller, state: State, word: int) -> Told:
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
