"""Looks for questions in the charter's systems: the calls of the component in traces of them. What
a system calls can happen, and in an order that no search of the component alone prefers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from charter.analysis.canonical import Canonical
from charter.analysis.part_calls import PartCall, list_calls, read_part
from charter.analysis.retell import Act, run_of
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.explore.model_checker import CannotExplore, ExploreOptions
from charter.explore.select import explore
from charter.formats.vector import Why
from charter.passes.narrow import narrow
from charter.project.core_cache import core_of
from charter.project.sources import Selection
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.scenario import ScenarioFails, follow_in
from charter.suites.pairs import Pair, pairs_in
from charter.suites.planning.instance_planner import InstancePlanner
from charter.suites.planning.led_instances import LedInstance
from charter.suites.question_search import QuestionSearch
from charter.suites.smoke import SmokeVector
from charter.suites.subject import digest
from charter.vectors.plan import OPEN, POSSIBLE

MOST_QUESTIONS = 24
"""The most questions that a small suite has from systems."""
MOST_CALLS = 24
"""The most operations of such a question."""
MOST_SEARCHED = 3
"""The most instances of a system that are searched for shortest traces, the smallest ones."""
STATES_MAX = 20_000
"""The most states of each of them that are searched."""


@dataclass(frozen=True, slots=True)
class _Beginning:
    """Where questions can begin: in the component's own first state, or where the prelude of an
    instance leads. `form` is that of the state that the text says."""

    instance: n.Instance
    engine: InstancePlanner
    forms: Canonical
    form: object

    @staticmethod
    def of(found: QuestionSearch, instance: n.Instance) -> Iterator[_Beginning]:
        """Those of an instance of the component."""
        model = found.desk.model
        bare = replace(instance, starts=(), prelude=None)
        for one in (instance, bare) if instance.prelude is not None else (bare,):
            engine = InstancePlanner.define_planner(model, one)
            first = engine.led.stated or engine.machine.initial()
            forms = Canonical.of(engine.machine, symmetry=False)
            yield _Beginning(instance, engine, forms, forms.form(first))

    def fits(self, system: n.Instance, first: State) -> bool:
        """Whether it has the bounds of an instance of a system, and the state of the part there."""
        own = self.engine.machine
        sizes = {name: len(members) for name, members in system.sorts}
        alike = all(sizes.get(name) == len(m) for name, m in own.universe.sorts.items())
        consts = dict(system.consts)
        same = all(consts.get(name) == value for name, value in self.engine.planner.consts.items())
        return alike and same and self.forms.form(first) == self.form


@dataclass(frozen=True, slots=True)
class _PartTrace:
    """What a part does in a trace of a system: its state before its first call, and its calls.
    `label` says whether its first state is the component's own."""

    title: str
    label: str
    first: State
    calls: tuple[PartCall, ...]
    begins: _Beginning


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A question from a trace."""

    trace: _PartTrace
    entry: SmokeVector


def keep_from_systems(found: QuestionSearch, tell: Callable[[str], None]) -> None:
    """Keep questions of traces of systems that take pairs of branches which nothing takes so far,
    those first that take the most."""
    about, component = found.about, found.about.component.name
    whole = core_of(about.sources, Selection(about.model.variant))
    systems = [s for s in whole.systems if any(p.component == component for p in s.parts)]
    mine = (i for i in about.model.instances if i.machine == component)
    begins = [one for i in mine for one in _Beginning.of(found, i)] if systems else []
    traces: list[_PartTrace] = []
    for system in systems:
        tell(f"traces of {system.name}")
        traces += _Traces(narrow(whole, system.name), system, component, begins).list_all()
        found.systems[system.name] = digest(whole, system.name)
    _keep_best(found, traces)


# --- traces --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Traces:
    """The traces of a system, as calls of its parts that are the component. `model` has nothing but
    the system."""

    model: n.Model
    system: n.System
    component: str
    begins: Sequence[_Beginning]

    def list_all(self) -> Iterator[_PartTrace]:
        """Those of its scenarios, then the shortest ones to each step and witness in its smallest
        instances."""
        for scenario in self.model.scenarios:
            yield from self._follow(scenario)
        searched = 0
        for instance in sorted(self.model.instances, key=_size):
            if searched < MOST_SEARCHED and self._may_begin(instance):
                searched += 1
                yield from self._search(instance)

    def _follow(self, scenario: n.Scenario) -> Iterator[_PartTrace]:
        """Those of a scenario along its first run; it begins with the prelude, if there is one."""
        for led in self._list_led(scenario.instance):
            machine = Machine.of(self.model, led.instance)
            try:
                steps = follow_in(machine, replace(scenario, instance=led.instance))[0].steps
            except (ScenarioFails, EvaluationError):
                continue
            states = (machine.initial(), *(step.outcome.state for step in steps))
            acts = [(step.operation, step.args) for step in steps]
            trace = (*led.prelude, *zip(states, acts, strict=False))
            yield from self._project(machine, scenario.title, trace, states[-1])
            return

    def _list_led(self, instance: n.Instance) -> Iterator[LedInstance]:
        """An instance with its prelude, and as its text says."""
        try:
            led = LedInstance.of(self.model, instance)
        except EvaluationError:
            return
        if led.prelude:
            yield led
        yield LedInstance(replace(instance, prelude=None))

    def _may_begin(self, instance: n.Instance) -> bool:
        """Whether a question can begin where an instance does."""
        for led in self._list_led(instance):
            machine = Machine.of(self.model, led.instance)
            try:
                first = led.prelude[0][0] if led.prelude else machine.initial()
            except EvaluationError:
                continue
            if any(self._list_parts(machine, first)):
                return True
        return False

    def _list_parts(
        self, machine: Machine, state: State
    ) -> Iterator[tuple[n.Part, Value, State, _Beginning]]:
        """The parts that are the component, each with its index, its state, and where a question
        can begin that has this state."""
        for part in self.system.parts:
            if part.component != self.component:
                continue
            keys = (None,) if part.index is None else machine.universe.domain(part.index)
            for key in keys:
                held = read_part(machine, part, key, state)
                fitting = (b for b in self.begins if b.fits(machine.instance, held))
                if (begins := next(fitting, None)) is not None:
                    yield part, key, held, begins

    def _project(
        self, machine: Machine, title: str, trace: Sequence[tuple[State, Act]], last: State
    ) -> Iterator[_PartTrace]:
        """The calls of each part in a trace."""
        states = (*(state for state, _ in trace), last)
        for part, key, held, begins in self._list_parts(machine, states[0]):
            calls = [
                call
                for (before, after), (_, act) in zip(pairwise(states), trace, strict=True)
                for call in list_calls(machine, part.name, act, (before, after))
                if call.key == key
            ]
            own = begins.engine.led.stated is None
            label = f"{POSSIBLE}{self.system.name}" if own else OPEN
            name = f"calls of {self.system.name}: {title}"
            yield _PartTrace(name, label, held, tuple(calls[:MOST_CALLS]), begins)

    def _search(self, instance: n.Instance) -> Iterator[_PartTrace]:
        """The shortest ones to each step and witness of an instance."""
        for led in self._list_led(instance):
            wanted = tuple(
                n.Property(
                    "witness", step.name, self.system.name, n.Took(step.name, type=t.Bool()), ()
                )
                for step in self.system.steps
            )
            kept = tuple(p for p in self.model.properties if p.kind == "witness")
            names = {p.name for p in kept}
            asked = (*kept, *(p for p in wanted if p.name not in names))
            model = replace(self.model, properties=asked, liveness=())
            options = ExploreOptions(most_states=STATES_MAX, workers=1)
            try:
                found = explore(model, led.instance, options, _ignore)
                machine = Machine.of(model, led.instance)
            except (CannotExplore, EvaluationError):
                return
            for one in found.properties:
                if one.trace:
                    acts = [(step.operation, step.args) for step in one.trace]
                    yield from self._retell(machine, led, one.name, acts)
            return

    def _retell(
        self, machine: Machine, led: LedInstance, name: str, acts: Sequence[Act]
    ) -> Iterator[_PartTrace]:
        states = run_of(machine, acts, lambda _: True)
        trace = (*led.prelude, *zip(states, acts, strict=False))
        yield from self._project(machine, f"{name} in {machine.instance.name}", trace, states[-1])


def _ignore(distinct: int, generated: int, level: int, queue: int, doing: str = "", /) -> None:
    """Tells no progress."""


def _size(instance: n.Instance) -> tuple[int, int]:
    """By what instances are ordered: elements of sorts, then constants."""
    elements = sum(len(members) for _, members in instance.sorts)
    return elements, sum(value for _, value in instance.consts)


# --- questions -----------------------------------------------------------------------------------


def _keep_best(found: QuestionSearch, traces: Iterable[_PartTrace]) -> None:
    """Keep the question that takes most pairs which nothing takes so far, then the next one. Each
    ends where it has taken the last of them."""
    waiting: dict[str, _Candidate] = {}
    for trace in traces:
        one = _plan(found, trace)
        if one is not None:
            waiting.setdefault(one.entry.id, one)
    for _ in range(MOST_QUESTIONS):
        several = {key: len(_list_new(found, one)) for key, one in waiting.items()}
        best = max(several, key=lambda key: several[key], default="")
        if not best or not several[best]:
            return
        entry = _shorten(found, waiting.pop(best)).entry
        found.keep(entry.vector, entry.instance, entry.vector.why, always=True)


def _plan(found: QuestionSearch, trace: _PartTrace) -> _Candidate | None:
    """The question of a trace; None if it has no answer."""
    engine = trace.begins.engine
    led = replace(engine.led, stated=trace.first)
    acts = [led.rename(engine.machine, call.act) for call in trace.calls]
    branches = [call.branch for call in trace.calls]
    why = Why((), "exploration", trace.title, trace.label, tuple(dict.fromkeys(branches)))
    vector = engine.planner.of_acts(acts, why, branches)
    entry = found.answer(vector, trace.begins.instance, why)
    return None if entry is None else _Candidate(trace, entry)


def _list_new(found: QuestionSearch, one: _Candidate) -> frozenset[Pair]:
    """The pairs that a question takes and nothing kept so far does."""
    return frozenset(pairs_in(one.entry.vector.answer) - found.taken)


def _shorten(found: QuestionSearch, one: _Candidate) -> _Candidate:
    """The same without the last calls, as long as it takes as many new pairs."""
    new = _list_new(found, one)
    for end in range(2, len(one.trace.calls)):
        shorter = _plan(found, replace(one.trace, calls=one.trace.calls[:end]))
        if shorter is not None and new <= _list_new(found, shorter):
            return shorter
    return one
