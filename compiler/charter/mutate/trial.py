"""Tries mutants: searches each in the instances where its rule is taken, the smallest first, until
something sees it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from charter.check.ranges import check_ranges
from charter.core import nodes as ir
from charter.core.encoding import digest
from charter.diagnostics import Diagnostics
from charter.explore.model_checker import CannotExplore, ExploreOptions
from charter.explore.native.difference import OutcomeDifference, ReachedStates
from charter.explore.native.layout import CannotCompile
from charter.explore.native.search import GaveUp
from charter.explore.native.traces import Disagreement
from charter.explore.result import CheckResult, SearchResult
from charter.explore.select import explore
from charter.mutate.baseline import InstanceBaseline, RuleCoverage, unmet
from charter.mutate.mutants import MadeMutant, mutated
from charter.mutate.results import MutantVerdict, recall, remember
from charter.passes.narrow import narrowed
from charter.semantics.evaluate import Outcome
from charter.semantics.fairness import LivenessResult
from charter.semantics.machine import Machine
from charter.semantics.retell import show_value
from charter.semantics.scenario import failing

SCENARIOS_AFTER = 10_000
"""States of an instance before which the scenarios are run."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is searched for one mutant in one instance: states, and seconds."""

    states: int = 50_000
    seconds: float = 60.0

    @property
    def out_of_time(self) -> str:
        """Why nothing is known of a mutant whose search took too long."""
        return f"more than {self.seconds:g} seconds"


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

    def verdict(self, made: MadeMutant) -> MutantVerdict:
        """What is found of one mutant."""
        changed = mutated(self.model, made)
        if refusal := self._refused(changed):
            return MutantVerdict(made.id, "refused", detail=refusal)
        coverage = RuleCoverage(self.model)
        places = sorted(
            (b for b in self.baselines if coverage.is_taken(made.rule, b)),
            key=lambda b: (not b.complete, b.distinct),
        )
        if not places:
            for other in self.baselines:
                if not other.distinct and coverage.is_rule_of(made.rule, other.machine):
                    why, place = other.wrong[0], other.instance
                    return MutantVerdict(made.id, "undecided", instance=place, detail=why)
            return MutantVerdict(made.id, "survives", detail="no instance takes this rule")
        return self._searched(made, changed, places)

    def _searched(
        self, made: MadeMutant, changed: ir.Model, places: Sequence[InstanceBaseline]
    ) -> MutantVerdict:
        seen: list[MutantVerdict] = []
        machines: set[str] = set()
        for place in places:
            if place.machine not in machines and place.distinct > SCENARIOS_AFTER:
                machines.add(place.machine)
                seen += self._scenarios(made, changed, place.machine)
            if not (seen and seen[-1].answer == "caught"):
                seen.append(self._in(made, changed, place))
            if seen[-1].answer in ("caught", "availability"):
                return seen[-1]
        for machine in dict.fromkeys(place.machine for place in places):
            if machine not in machines:
                for failed in self._scenarios(made, changed, machine):
                    return failed
        unknown = [one for one in seen if one.answer == "undecided"]
        for one in seen:
            if one.answer == "survives" and unknown:
                names = ", ".join(other.instance for other in unknown)
                return replace(one, detail=f"{one.detail}; not known in {names}")
            if one.answer == "survives":
                return one
        return (*unknown, *seen)[0]

    def _scenarios(
        self, made: MadeMutant, changed: ir.Model, machine: str
    ) -> tuple[MutantVerdict, ...]:
        """The first scenario of a machine that fails."""
        for failed in failing(changed, machine)[:1]:
            return (
                MutantVerdict(made.id, "caught", f"scenario {failed.title}", detail=failed.moment),
            )
        return ()

    def _refused(self, changed: ir.Model) -> str:
        """Why `conform check` would refuse a mutant: a number that may leave its range; or ""."""
        if self.refusals is None:
            self.refusals = frozenset(_out_of_range(self.model))
        return next((text for text in _out_of_range(changed) if text not in self.refusals), "")

    def _in(self, made: MadeMutant, changed: ir.Model, place: InstanceBaseline) -> MutantVerdict:
        """What one instance shows of a mutant."""
        instance = next(i for i in changed.instances if i.name == place.instance)
        key = self._key(changed, instance, place)
        known = recall(key)
        if known is not None:
            return replace(known, id=made.id)
        found = self._searched_in(made, changed, (instance, place))
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

    def _searched_in(
        self, made: MadeMutant, changed: ir.Model, where: tuple[ir.Instance, InstanceBaseline]
    ) -> MutantVerdict:
        instance, place = where
        undecided = MutantVerdict(made.id, "undecided", instance=place.instance)
        try:
            found = search(changed, instance, self.limits)
            if caught := _caught(made, found, place):
                return caught
            if not found.complete:
                return replace(undecided, detail=f"more than {found.counts.distinct:,} states")
            return self._compared(made, changed, instance)
        except OutOfTime:
            return replace(undecided, detail=self.limits.out_of_time)
        except (CannotExplore, CannotCompile, GaveUp, Disagreement) as reason:
            return replace(undecided, detail=str(reason))

    def _compared(
        self, made: MadeMutant, changed: ir.Model, instance: ir.Instance
    ) -> MutantVerdict:
        name = instance.name
        if name not in self.reached:
            own = next(i for i in self.model.instances if i.name == name)
            self.reached[name] = ReachedStates.of(self.model, own, self.limits.states)
        reached = self.reached[name]
        if reached is None:
            return MutantVerdict(
                made.id, "undecided", instance=name, detail="too many states to compare"
            )
        found = reached.difference(changed, instance)
        if found is None:
            return MutantVerdict(made.id, "unchanged", instance=name)
        told = _told(found, Machine.of(self.model, instance))
        return MutantVerdict(made.id, "survives", "", name, len(found.trace) + 1, told)


def search(
    model: ir.Model, instance: ir.Instance, limits: Limits, *, first: bool = True
) -> SearchResult:
    """Search an instance within limits. Raises OutOfTime or CannotExplore."""
    end = time.monotonic() + limits.seconds

    def watch(*_: object) -> None:
        if time.monotonic() > end:
            raise OutOfTime

    options = ExploreOptions(
        engine="native", most_states=limits.states, workers=1, first=first, keep_code=not first
    )
    return explore(model, instance, options, watch)


def _out_of_range(model: ir.Model) -> list[str]:
    """The numbers of the rules that may leave their range."""
    found = Diagnostics()
    rules = replace(model, properties=(), liveness=(), instances=(), scenarios=())
    check_ranges(rules, found)
    return [item.message for item in found.items]


def _caught(made: MadeMutant, found: SearchResult, place: InstanceBaseline) -> MutantVerdict | None:
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
            unmet(found) - place.unmet, key=lambda text: (_RANK[text.partition(" ")[0]], text)
        ):
            return MutantVerdict(made.id, "availability", f"{lost} is never met", place.instance)
    return None


def _told(found: OutcomeDifference, machine: Machine) -> str:
    params = machine.operations[found.operation].params
    pairs = zip(params, found.args, strict=True)
    args = ", ".join(show_value(p.type, value, machine.universe) for p, value in pairs)
    call = f"{found.operation}({args})"
    first, second = (_branches(outcomes) for outcomes in (found.first, found.second))
    if first != second:
        return f"{call} takes {second} instead of {first}"
    return f"{call} takes {first} {_changed(found.first or (), found.second or ())}"


def _branches(outcomes: tuple[Outcome, ...] | None) -> str:
    if outcomes is None:
        return "no value"
    return " or ".join(sorted({one.branch for one in outcomes})) or "nothing"


def _changed(first: tuple[Outcome, ...], second: tuple[Outcome, ...]) -> str:
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
    cut = replace(narrowed(model, instance.machine), scenarios=(), mutants=(), variants=())
    return replace(cut, instances=(instance,), sources=(), docs=(), links=())
