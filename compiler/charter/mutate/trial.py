"""Tries mutants: searches each in the instances where its rule is taken, the smallest first, until
something sees it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from charter.analysis.shared_outcomes import SharedOutcomes
from charter.check.numbers.ranges import check_ranges
from charter.core import nodes as ir
from charter.core.affected import find_affected
from charter.core.encoding import digest
from charter.diagnostics import Diagnostics
from charter.explore.model_checker import CannotExplore, EngineUnsupported, ExploreOptions
from charter.explore.outcome_difference import OutcomeDifference, ReachedStates
from charter.explore.result import CheckResult, SearchResult
from charter.explore.select import explore, list_reached_states
from charter.mutate.baseline import InstanceBaseline, RuleCoverage, list_unmet
from charter.mutate.mutants import MadeMutant, mutate
from charter.mutate.results import MutantVerdict, recall, remember
from charter.passes.narrow import narrow
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Outcome
from charter.semantics.fairness import LivenessResult
from charter.semantics.machine import Machine
from charter.semantics.scenario import failures
from charter.semantics.shown_values import show_value

SCENARIOS_AFTER = 10_000
"""States of an instance before which the scenarios are run."""
DEAR = 24
"""The branches or steps of a machine from which on compiling it for a mutant takes longer than its
scenarios, which compute together what mutants do alike."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is searched for one mutant in one instance: states, and seconds."""

    states: int = 50_000
    seconds: float = 60.0

    @property
    def out_of_time(self) -> str:
        """Why nothing is known of a mutant whose search took too long."""
        return f"more than {self.seconds:g} seconds"

    def watch(self) -> Callable[..., None]:
        """A function that raises OutOfTime if the time from now on is over; it takes whatever a
        search reports."""
        end = time.monotonic() + self.seconds

        def watch(*_: object) -> None:
            if time.monotonic() > end:
                raise OutOfTime

        return watch


_RANK = {"witness": 0, "branch": 1, "condition": 2}
"""What is told first of what a mutant no longer meets."""


class OutOfTime(Exception):
    """A search took too long."""


@dataclass(slots=True)
class MutantTrials:
    """The mutants of one model, tried one after another. States of instances are searched once."""

    model: ir.Model
    baselines: Sequence[InstanceBaseline]
    limits: Limits
    reached: dict[str, ReachedStates | None] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)
    refusals: frozenset[str] | None = None
    outcomes: SharedOutcomes = field(default_factory=SharedOutcomes)

    def verdict(self, made: MadeMutant) -> MutantVerdict:
        """What is found of one mutant."""
        changed = mutate(self.model, made)
        if refusal := self._explain_refusal(changed):
            return MutantVerdict(made.id, "refused", detail=refusal)
        coverage = RuleCoverage(self.model)
        places = sorted(
            (b for b in self.baselines if not b.wrong and coverage.may_differ(made.rule, b)),
            key=lambda b: (not b.complete, b.distinct),
        )
        if not places:
            return MutantVerdict(made.id, "survives", detail="no instance takes this rule")
        seen: list[MutantVerdict] = []
        for one in self._attempts(made, changed, places):
            if one.answer in ("caught", "availability"):
                return one
            seen.append(one)
        return _together(seen)

    def by_scenarios(self, made: MadeMutant) -> MutantVerdict | None:
        """What is known of a mutant before any instance is searched: `conform check` refuses it, or
        a scenario of a machine that takes long to compile fails."""
        changed = mutate(self.model, made)
        if refusal := self._explain_refusal(changed):
            return MutantVerdict(made.id, "refused", detail=refusal)
        coverage = RuleCoverage(self.model)
        for machine in dear_machines(self.model):
            if coverage.is_read_in(made.rule, machine):
                for found in self._scenarios(made, changed, machine):
                    return found
        return None

    def _attempts(
        self, made: MadeMutant, changed: ir.Model, places: Sequence[InstanceBaseline]
    ) -> Iterator[MutantVerdict]:
        """What the instances and the scenarios show of a mutant, the quickest first: the scenarios
        of a machine before its first large instance, of a large machine before all."""
        waiting = list(dict.fromkeys(place.machine for place in places))
        for place in places:
            dear = place.distinct > SCENARIOS_AFTER or self._is_dear(place.machine)
            if place.machine in waiting and dear:
                first = [m for m in waiting if m == place.machine or self._is_dear(m)]
                waiting = [machine for machine in waiting if machine not in first]
                for machine in first:
                    yield from self._scenarios(made, changed, machine)
            yield self._in(made, changed, place)
        for machine in waiting:
            yield from self._scenarios(made, changed, machine)

    def _is_dear(self, machine: str) -> bool:
        return machine in dear_machines(self.model)

    def _scenarios(
        self, made: MadeMutant, changed: ir.Model, machine: str
    ) -> Iterator[MutantVerdict]:
        """A scenario of a machine that fails, of those that a mutant affects; those of few elements
        first, which take the least time."""
        followed = sorted(find_affected(self.model, changed), key=_elements)
        chosen = replace(changed, scenarios=tuple(followed))
        failed = next(failures(chosen, machine, self.outcomes.among(changed)), None)
        if failed is not None:
            yield MutantVerdict(made.id, "caught", f"scenario {failed.title}", detail=failed.moment)

    def _explain_refusal(self, changed: ir.Model) -> str:
        """Why `conform check` would refuse a mutant: a number that may leave its range; or ""."""
        if self.refusals is None:
            self.refusals = frozenset(_out_of_range(self.model))
        found = _out_of_range(changed, self.model)
        return next((text for text in found if text not in self.refusals), "")

    def _in(self, made: MadeMutant, changed: ir.Model, place: InstanceBaseline) -> MutantVerdict:
        """What one instance shows of a mutant."""
        if place.unknown:
            why = place.unknown
            return MutantVerdict(made.id, "undecided", instance=place.instance, detail=why)
        instance = next(i for i in changed.instances if i.name == place.instance)
        key = self._key(changed, instance, place)
        known = recall(key)
        if known is not None:
            return replace(known, id=made.id)
        found = self._search_in(made, changed, (instance, place))
        if found.detail != self.limits.out_of_time:
            remember(key, found)
        return found

    def _key(self, changed: ir.Model, instance: ir.Instance, place: InstanceBaseline) -> str:
        """What the verdict on a mutant in one instance depends on."""
        name = instance.name
        if name not in self.digests:
            own = next(i for i in self.model.instances if i.name == name)
            self.digests[name] = digest(alone(self.model, own))
        both = (self.digests[name], digest(alone(changed, instance)))
        return repr((*both, sorted(place.unmet), place.complete, self.limits))

    def _search_in(
        self, made: MadeMutant, changed: ir.Model, where: tuple[ir.Instance, InstanceBaseline]
    ) -> MutantVerdict:
        instance, place = where
        undecided = MutantVerdict(made.id, "undecided", instance=place.instance)
        try:
            found = search(changed, instance, self.limits)
            if caught := _find_catch(made, found, place):
                return caught
            if not found.complete:
                return replace(undecided, detail=why_incomplete(found, self.limits))
            return self._compare(made, changed, instance)
        except EvaluationError as problem:  # of the initial state
            return MutantVerdict(
                made.id, "caught", "undefined initial state", place.instance, 0, str(problem)
            )
        except OutOfTime:
            return replace(undecided, detail=self.limits.out_of_time)
        except (CannotExplore, EngineUnsupported) as reason:
            return replace(undecided, detail=str(reason))

    def _compare(self, made: MadeMutant, changed: ir.Model, instance: ir.Instance) -> MutantVerdict:
        name = instance.name
        if name not in self.reached:
            own = next(i for i in self.model.instances if i.name == name)
            most, watch = self.limits.states, self.limits.watch()
            self.reached[name] = list_reached_states(self.model, own, most, watch)
        reached = self.reached[name]
        if reached is None:
            return MutantVerdict(
                made.id, "undecided", instance=name, detail="too many states to compare"
            )
        others = reached.other_initial_values(changed, instance)
        if others:
            told = f"it begins with another {', '.join(others)}"
            return MutantVerdict(made.id, "survives", instance=name, detail=told)
        found = reached.difference(changed, instance, self.limits.watch())
        if found is None:
            return MutantVerdict(made.id, "unchanged", instance=name)
        told = _tell(found, Machine.of(self.model, instance))
        steps = len(found.trace) + 1
        return MutantVerdict(made.id, "survives", "", name, steps, told, found.replies)


def machines_of(model: ir.Model) -> list[str]:
    """The components and systems of a model."""
    return [c.name for c in model.components] + [s.name for s in model.systems]


def dear_machines(model: ir.Model) -> list[str]:
    """The components and systems that take long to compile."""
    branches = {c.name: sum(len(o.branches) for o in c.operations) for c in model.components}
    steps = {s.name: len(s.steps) for s in model.systems}
    return [name for name, size in (branches | steps).items() if size >= DEAR]


def _elements(scenario: ir.Scenario) -> int:
    """How many elements the sorts of a scenario have."""
    return sum(len(members) for _, members in scenario.instance.sorts)


def search(
    model: ir.Model, instance: ir.Instance, limits: Limits, *, first: bool = True
) -> SearchResult:
    """Search an instance within limits, with `first` to the first failure that the instance does
    not list. Raises OutOfTime or CannotExplore."""
    options = ExploreOptions(
        engine="native", most_states=limits.states, workers=1,
        first=first and not instance.fails, keep_code=not first,
    )  # fmt: skip
    return explore(model, instance, options, limits.watch())


def why_incomplete(found: SearchResult, limits: Limits) -> str:
    """Why a search that is not complete tells too little."""
    if found.stopped:
        return found.stopped
    for live in found.liveness if found.counts.complete else ():
        if live.answer == "unknown":
            return f"{live.name} is not known: {live.detail}"
    return f"more than {limits.states:,} states"


def _together(seen: Sequence[MutantVerdict]) -> MutantVerdict:
    """What follows from several instances, none of which catches a mutant."""
    unknown = [one for one in seen if one.answer == "undecided"]
    for one in sorted(seen, key=lambda one: one.replies):
        if one.answer == "survives":
            names = ", ".join(other.instance for other in unknown)
            return replace(one, detail=f"{one.detail}; not known in {names}") if names else one
    return (*unknown, *seen)[0]


def _out_of_range(model: ir.Model, checked: ir.Model | None = None) -> list[str]:
    """The numbers of the rules that may leave their range, but for those of rules that are the very
    same in a `checked` model."""
    found = Diagnostics()
    rules = replace(model, properties=(), liveness=(), instances=(), scenarios=())
    check_ranges(rules, found, checked)
    return [item.message for item in found.items]


def _find_catch(
    made: MadeMutant, found: SearchResult, place: InstanceBaseline
) -> MutantVerdict | None:
    """What catches a mutant: a failure, a property, else what is no longer met."""
    unsafe = [one for one in found.wrong if isinstance(one, CheckResult)]
    if unsafe:
        first = min(unsafe, key=lambda one: len(one.trace or ()))
        by = first.name if first.kind in ("always", "stepwise") else f"{first.kind} {first.name}"
        steps = len(first.trace or ())
        return MutantVerdict(made.id, "caught", by, place.instance, steps, first.detail)
    for live in found.wrong:
        if isinstance(live, LivenessResult):
            steps = len(live.stem) + len(live.cycle)
            return MutantVerdict(made.id, "availability", live.name, place.instance, steps)
    if found.counts.complete and place.complete:
        for lost in sorted(
            list_unmet(found) - place.unmet, key=lambda text: (_RANK[text.partition(" ")[0]], text)
        ):
            return MutantVerdict(made.id, "availability", f"{lost} is never met", place.instance)
    return None


def _tell(found: OutcomeDifference, machine: Machine) -> str:
    params = machine.operations[found.operation].params
    pairs = zip(params, found.args, strict=True)
    args = ", ".join(show_value(p.type, value, machine.universe) for p, value in pairs)
    call = f"{found.operation}({args})"
    first, second = (_branches(outcomes) for outcomes in (found.first, found.second))
    if first != second:
        return f"{call} takes {second} instead of {first}"
    return f"{call} takes {first} {_explain_change(found.first or (), found.second or ())}"


def _branches(outcomes: tuple[Outcome, ...] | None) -> str:
    if outcomes is None:
        return "no value"
    return " or ".join(sorted({one.branch for one in outcomes})) or "nothing"


def _explain_change(first: tuple[Outcome, ...], second: tuple[Outcome, ...]) -> str:
    """What differs in outcomes of the same branches: their number, or state variables, or the
    reply."""
    lost = [one for one in first if one not in second]
    gained = [one for one in second if one not in first]
    if not gained:
        return "with fewer outcomes"
    if not lost:
        return "with further outcomes"
    pairs = [(a.state, b.state) for a in lost for b in gained]
    names = {name for a, b in pairs for name in a if a[name] != b[name]}
    return f"with another {', '.join(sorted(names)) or 'reply'}"


def alone(model: ir.Model, instance: ir.Instance) -> ir.Model:
    """What a search of one instance depends on."""
    cut = replace(narrow(model, instance.machine), scenarios=(), mutants=(), variants=())
    return replace(cut, instances=(instance,), sources=(), docs=(), links=())
