"""Defines the interface of a model checker: the problem, the options, and the function that returns
a result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol

from charter.core import nodes as n
from charter.core.nodes import ASKED
from charter.explore.result import CheckResult, Condition, FirstViolation, SearchResult, StepPairs
from charter.passes import for_search
from charter.passes.companions import Companion, companions
from charter.semantics.machine import Machine


class Progress(Protocol):
    """Called regularly with distinct states, transitions, the level, and states in the frontier;
    `doing` names work other than the search ("" for the search)."""

    def __call__(
        self, distinct: int, generated: int, level: int, queue: int, doing: str = "", /
    ) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions:
    """Options of a search. `engine`: `auto` is the native one if it can; `spark` is the native one
    on the workers of the Spark `session`, which must all reach the URI `store`, the folder of
    the journal ("": they are on this machine).
    `most_states`: where to stop (0: never). `workers`: 0 is one for each core. `journal`: the
    folder from which the search can be resumed (None: not). `memory`: bytes to use before files (0:
    most of the free memory). `fingerprints`: the seed of the hashes that replace states in the
    visited set (None: states are kept whole). `states`: whether the states are needed afterwards.
    `limit`: how many states that match `--where` are listed. `mutant`: the name of the model's
    mutant, noted with its states. `first`: stop at the end of the level in which something is
    wrong; `until`: in which the property with this name is violated (the native engine alone
    stops). `keep_code`: compiled code is kept for later processes. `on_violation`: called during
    the search when a property, other than `eventually`, turns out to be violated."""

    engine: Literal["auto", "native", "reference", "spark"] = "auto"
    most_states: int = 0
    symmetry: bool = True
    workers: int = 0
    journal: Path | None = None
    store: str = ""
    memory: int = 0
    fingerprints: int | None = None
    states: bool = False
    limit: int = 20
    session: object = None
    mutant: str = ""
    first: bool = False
    until: str = ""
    keep_code: bool = True
    on_violation: Callable[[FirstViolation], None] | None = None


class EngineUnsupported(Exception):
    """The engine cannot do what was asked for; the message is a phrase."""


class CannotExplore(Exception):
    """The search cannot be done; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is checked: a machine in an instance, with its safety properties, witnesses and
    `eventually` properties. `companions` are those of its witnesses that detect vacuous properties
    (`passes.companions`)."""

    machine: Machine
    companions: tuple[Companion, ...]

    @staticmethod
    def of(model: n.Model, instance: n.Instance) -> Problem:
        """The problem that `model` states for the machine of an instance. Raises KeyError if the
        instance is of no machine of the model."""
        whole, bare = for_search(model, instance.machine), replace(instance, prelude=None)
        return Problem(Machine.of(whole, bare), companions(whole, instance.machine))

    @property
    def model(self) -> n.Model:
        """The model, narrowed to the machine, with the companions."""
        return self.machine.model

    @property
    def instance(self) -> n.Instance:
        """The instance."""
        return self.machine.instance

    @property
    def properties(self) -> tuple[n.Property, ...]:
        """Safety properties, witnesses, companions, and the condition of `--where`."""
        return self.model.properties

    @property
    def liveness(self) -> tuple[n.Eventually, ...]:
        """The `eventually` properties to check."""
        return self.model.liveness

    @property
    def predicate(self) -> n.Property | None:
        """The condition of `--where`, if there is one."""
        return next((p for p in self.properties if p.name == ASKED), None)

    @property
    def unreported(self) -> frozenset[str]:
        """The names of properties that are not reported: companions and the condition of
        `--where`."""
        return frozenset({ASKED, *(one.witness.name for one in self.companions)})

    def select_reported(self, findings: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
        """The findings that are reported."""
        return tuple(one for one in findings if one.name not in self.unreported)

    def explain_branches(self, findings: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
        """The branches; those of an operation of which none was taken, because of what it assumes,
        with a sentence that quotes it."""
        taken = {one.name.partition("/")[0] for one in findings if one.seen}
        quoted = {
            name: " and ".join(f"`{assumed.span.quote()}`" for assumed in operation.assumes)
            for name, operation in self.machine.operations.items()
            if isinstance(operation, n.Operation) and operation.assumes and name not in taken
        }
        return tuple(
            replace(one, detail=f"no state and no arguments satisfy {quoted[name]} of {name}")
            if (name := one.name.partition("/")[0]) in quoted
            else one
            for one in findings
        )

    def teller(
        self, on_violation: Callable[[FirstViolation], None] | None
    ) -> Callable[[FirstViolation], None] | None:
        """`on_violation` without companions and the condition of `--where`."""
        if on_violation is None:
            return None
        tell = on_violation  # of a type without None inside the function, too
        return lambda one: None if one.name in self.unreported else tell(one)

    def conditions(self, findings: Sequence[CheckResult]) -> tuple[Condition, ...]:
        """How often each condition of a property was met."""
        seen = {one.name: one.seen for one in findings}
        return tuple(
            Condition(c.of, c.text, c.span.where(), seen[c.witness.name]) for c in self.companions
        )


class MachineSearch(Protocol):
    """A machine in an instance, to be searched from several states."""

    def explore(
        self,
        starts: Sequence[tuple[str, n.Expr]],
        options: ExploreOptions,
        progress: Progress,
        /,
    ) -> SearchResult:
        """The result of a search from the state that `starts` give, without liveness. Raises
        EngineUnsupported, or CannotExplore."""


class ModelChecker(Protocol):
    """The module of an engine, which searches all states of a machine in an instance."""

    def check(self, problem: Problem, options: ExploreOptions, progress: Progress) -> SearchResult:
        """The result of the search. Raises EngineUnsupported if the engine does not support the
        machine or the options, CannotExplore if the search cannot be done at all."""

    def step_pairs(
        self, problem: Problem, options: ExploreOptions, progress: Progress
    ) -> StepPairs:
        """The pairs of steps that follow each other. Raises as `check`."""
