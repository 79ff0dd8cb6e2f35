"""Defines the result of a search of all states, the same types for every engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from charter.analysis.bounds import bounds_of
from charter.analysis.counters import find_bumped_apart, why_apart
from charter.core import nodes as n
from charter.core.nodes import Value
from charter.formats.states import StateTable
from charter.semantics.expressions import State
from charter.semantics.fairness import LivenessResult
from charter.semantics.machine import Machine

EngineName = Literal["native", "reference", "spark"]
Kind = Literal["always", "stepwise", "witness", "branch", "undefined", "deadlock"]
WRONG: tuple[Kind, ...] = ("always", "stepwise", "undefined", "deadlock")
"""The kinds of which any is a violation or a failure."""

Answer = Literal["holds", "violated", "unknown", "found", "not found"]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step of a trace; `branch` is "" if its evaluation has no value."""

    operation: str
    args: tuple[Value, ...]
    branch: str


Trace = tuple[TraceStep, ...]


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result for a property, a witness, a branch or a failure: how often it was seen (violated,
    found, taken), and a shortest trace to it (None: there is none, or it was not requested)."""

    kind: Kind
    name: str
    seen: int
    trace: Trace | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FirstViolation:
    """A violated property or a failure as a running search sees it first: the number of steps to
    it, and a number of states among which it is: a search for one more state finds it."""

    kind: Kind
    name: str
    steps: int
    states: int


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of the property called `of`: its text ("": that the property is not vacuous), its
    location, and in how many states or steps it was met."""

    of: str
    text: str
    where: str
    met: int


@dataclass(frozen=True, slots=True)
class Counts:
    """The size of a search. `generated` counts transitions (for a component: one for each outcome
    of each argument list), `outside` those that leave the instance; `levels` are the numbers of new
    states at each distance from the initial one. `complete`: every state was searched. `cut`: the
    states of a system where no step can happen but some that the instance leaves out."""

    distinct: int
    generated: int
    outside: int
    levels: tuple[int, ...]
    complete: bool
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Symmetry:
    """The sorts whose elements are interchangeable, and for each other sort why not."""

    permuted: tuple[str, ...]
    apart: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Storage:
    """How the native engine stored the states: `bits` of a packed state; `lossy`, an upper bound of
    the probability that two states were confused (0 if they are compared whole); bytes `spilled` to
    files; `bytes_each`, per state in memory and files."""

    bits: int
    lossy: float
    spilled: int
    bytes_each: int


@dataclass(frozen=True, slots=True)
class MatchedState:
    """A state that matches `--where`, as it is at the end of a shortest trace."""

    number: int
    state: State
    trace: Trace


@dataclass(frozen=True, slots=True)
class MatchedStates:
    """The number of states in which the condition of `--where` is true, and in which it is
    undefined; the first matches in the order of the search."""

    expression: str
    count: int
    undefined: int
    first: tuple[MatchedState, ...]


@dataclass(frozen=True, slots=True)
class StepPairs:
    """The steps of a machine that an instance offers, and the pairs of which the second can be
    taken right after the first; steps that change nothing do not count. `complete`: all states were
    searched, else the pairs are those that random walks saw, or none."""

    steps: tuple[str, ...]
    followed: frozenset[tuple[str, str]]
    complete: bool


@dataclass(frozen=True, slots=True)
class SearchFindings:
    """The result of a search for safety, by either engine."""

    counts: Counts
    properties: tuple[CheckResult, ...]
    branches: tuple[CheckResult, ...]
    failures: tuple[CheckResult, ...]

    @property
    def fine(self) -> bool:
        """Whether the search is complete and found no violated property and no failure."""
        broken = any(f.seen for f in self.properties if f.kind != "witness")
        return self.counts.complete and not broken and not self.failures


@dataclass(frozen=True, slots=True)
class Unmet:
    """Something that was never met: a witness, a branch, or a condition of a property with its text
    and location."""

    kind: Literal["witness", "condition", "branch"]
    name: str
    condition: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`properties` are safety properties and witnesses in the order of the charter, `liveness` are
    the results of `eventually` properties, `failures` deadlocks and undefined values.

    Texts, "" if not applicable: `stopped`, why the search ran out of memory; `journal`, what could
    not be used of a journal; `why_reference`, why the native engine could not do it;
    `liveness_skipped_because`, why the engine could not check liveness. `seconds_liveness` is the
    part of `seconds` spent on liveness besides the search (None: no such property)."""

    engine: EngineName
    machine: Machine
    counts: Counts
    properties: tuple[CheckResult, ...]
    branches: tuple[CheckResult, ...]
    failures: tuple[CheckResult, ...]
    conditions: tuple[Condition, ...] = ()
    liveness: tuple[LivenessResult, ...] = ()
    symmetry: Symmetry | None = None
    storage: Storage | None = None
    fingerprints: int | None = None
    stopped: str = ""
    journal: str = ""
    why_reference: str = ""
    liveness_skipped_because: str = ""
    where: MatchedStates | None = None
    states: StateTable | None = None
    seconds: float = 0.0
    seconds_liveness: float | None = None

    @property
    def instance(self) -> n.Instance:
        """The instance that was searched."""
        return self.machine.instance

    @property
    def bumped_apart(self) -> Mapping[str, tuple[str, ...]]:
        """The counters that are searched as they are, since a rule may bump a value that is not the
        greatest, with the names of what is bumped. Nothing but the charter bounds their values."""
        return find_bumped_apart(self.machine.model)

    @property
    def why_apart(self) -> Mapping[str, tuple[str, ...]]:
        """For each of these counters where the text makes it so, and what to write instead."""
        return why_apart(self.machine.model)

    @property
    def bounds(self) -> Mapping[str, int]:
        """The bounds of the instance, by name."""
        return bounds_of(self.instance)

    @property
    def complete(self) -> bool:
        """Whether all states were searched, and every property has an answer."""
        return self.counts.complete and all(one.answer != "unknown" for one in self.liveness)

    @property
    def fine(self) -> bool:
        """Whether it is complete, and nothing is violated that the instance does not list under
        `fails`."""
        return self.complete and not self.wrong

    @property
    def verdicts(self) -> dict[str, Answer]:
        """The answer for each property and witness. In an incomplete search, a property that was
        not seen to fail is unknown."""
        found = {one.name: self._answer(one) for one in self.properties}
        return found | {one.name: of_liveness(one) for one in self.liveness}

    def _answer(self, one: CheckResult) -> Answer:
        if not (one.seen or self.counts.complete):
            return "unknown"
        if one.kind == "witness":
            return "found" if one.seen else "not found"
        return "violated" if one.seen else "holds"

    @property
    def findings(self) -> tuple[CheckResult, ...]:
        """Properties, branches and failures."""
        return (*self.properties, *self.branches, *self.failures)

    @property
    def everything(self) -> tuple[CheckResult | LivenessResult, ...]:
        """The findings, and the results of liveness."""
        return (*self.findings, *self.liveness)

    @property
    def violated(self) -> tuple[CheckResult | LivenessResult, ...]:
        """The violated properties and the failures."""
        return tuple(one for one in self.everything if is_wrong(one))

    @property
    def wrong(self) -> tuple[CheckResult | LivenessResult, ...]:
        """Of these, what the instance does not list under `fails`."""
        return tuple(one for one in self.violated if one.name not in self.instance.fails)

    @property
    def expected(self) -> tuple[str, ...]:
        """The violated properties that the instance lists under `fails`."""
        return tuple(one.name for one in self.violated if one.name in self.instance.fails)

    @property
    def not_failed(self) -> tuple[str, ...]:
        """Properties that the instance lists under `fails`, but which hold."""
        if not self.complete:
            return ()
        return tuple(name for name in self.instance.fails if name not in self.expected)

    # --- what was never met ----------------------------------------------------------------------

    @property
    def never_taken(self) -> tuple[str, ...]:
        """The branches (of a system: steps) that were never taken."""
        return tuple(one.name for one in self.branches if not one.seen)

    @property
    def unmet(self) -> tuple[Unmet, ...]:
        """Witnesses, conditions and branches that were never met."""
        witnesses = (p for p in self.properties if p.kind == "witness")
        return (
            *(Unmet("witness", one.name) for one in witnesses if not one.seen),
            *(Unmet("condition", c.of, c.text, c.where) for c in self.conditions if not c.met),
            *(Unmet("branch", name) for name in self.never_taken),
        )

    @property
    def vacuous(self) -> tuple[Unmet, ...]:
        """Branches, conditions and witnesses that were never met and are not declared in `misses`;
        empty if the search is incomplete."""
        if not self.counts.complete:
            return ()
        return tuple(one for one in self.unmet if one.name not in self.instance.misses)

    @property
    def not_missed(self) -> tuple[str, ...]:
        """Names declared in `misses` that were met."""
        if not self.counts.complete:
            return ()
        unmet = {one.name for one in self.unmet}
        known = {one.name for one in (*self.properties, *self.branches)}
        known |= {one.of for one in self.conditions}
        return tuple(m for m in self.instance.misses if m in known and m not in unmet)


def is_wrong(one: CheckResult | LivenessResult) -> bool:
    """Whether a result is a violation or a failure."""
    if isinstance(one, CheckResult):
        return one.seen > 0 and one.kind in WRONG
    return one.answer == "fails"


def of_liveness(one: LivenessResult) -> Literal["holds", "violated", "unknown"]:
    """The answer of a liveness result."""
    match one.answer:
        case "holds":
            return "holds"
        case "fails":
            return "violated"
        case "unknown":
            return "unknown"
