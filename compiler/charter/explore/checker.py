"""The interface of a model checker: what it is given, how it is to search, what it answers with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from charter.core import nodes as n
from charter.core.nodes import ASKED
from charter.explore.result import CheckResult, Condition, SearchResult
from charter.passes import for_search
from charter.passes.companions import Companion, companions
from charter.semantics.machine import Machine


class Progress(Protocol):
    """Called now and then with distinct states, transitions, the level, and states in the queue;
    `doing` says what is done beside the search itself."""

    def __call__(
        self, distinct: int, generated: int, level: int, queue: int, doing: str = "", /
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class ExploreOptions:
    """How to explore: with which engine (`auto`: the native one where it can), up to how many
    states (0: all), with which symmetry, with how many workers (0: one for each core); where to
    write the search down, so that it can be gone on with (None: nowhere); how many bytes of memory
    to use before files (0: most of what is free); which fingerprints to remember states by (None:
    states are kept whole); whether its states are wanted afterwards; how many of those that a
    question asks for are listed. The engine `spark` is the native one on the workers of `session`,
    a session of Spark; they have to see the folder of the journal. The model is `mutant` of its
    charter, which the states tell."""

    engine: Literal["auto", "native", "plain", "spark"] = "auto"
    most_states: int = 0
    symmetry: bool = True
    workers: int = 0
    journal: Path | None = None
    memory: int = 0
    fingerprints: int | None = None
    states: bool = False
    limit: int = 20
    session: object = None
    mutant: str = ""


class EngineUnsupported(Exception):
    """Why an engine cannot do what it was asked for; a phrase."""


class CannotExplore(Exception):
    """The search that was asked for cannot be done; a sentence for a person."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is checked: a machine in an instance, which has one initial state and the successors
    that its operations allow; its safety properties and witnesses, and what must happen in the end,
    each with the fairness that it asks for. `companions` are witnesses among the properties that
    are met where a condition of a property is."""

    machine: Machine
    companions: tuple[Companion, ...]

    @staticmethod
    def of(model: n.Model, instance: n.Instance) -> Problem:
        """The problem that `model` states for the machine of an instance. Raises KeyError if the
        instance is of no machine of the model."""
        whole = for_search(model, instance.machine)
        return Problem(Machine.of(whole, instance), companions(whole, instance.machine))

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
        """Safety properties, witnesses, companions and the question."""
        return self.model.properties

    @property
    def liveness(self) -> tuple[n.Eventually, ...]:
        """The `eventually` properties to check."""
        return self.model.liveness

    @property
    def question(self) -> n.Property | None:
        """The question that `--where` asks of every state, if there is one."""
        return next((p for p in self.properties if p.name == ASKED), None)

    @property
    def unreported(self) -> frozenset[str]:
        """Properties that nobody asks to hear of by name: companions and the question."""
        return frozenset({ASKED, *(one.witness.name for one in self.companions)})

    def reported(self, findings: Sequence[CheckResult]) -> tuple[CheckResult, ...]:
        """The findings that are told by name."""
        return tuple(one for one in findings if one.name not in self.unreported)

    def conditions(self, findings: Sequence[CheckResult]) -> tuple[Condition, ...]:
        """How often each condition of a property was met."""
        seen = {one.name: one.seen for one in findings}
        return tuple(
            Condition(c.of, c.text, c.span.where(), seen[c.witness.name]) for c in self.companions
        )


class ModelChecker(Protocol):
    """Searches all states of a machine in an instance."""

    def check(self, problem: Problem, options: ExploreOptions, progress: Progress) -> SearchResult:
        """The result of the search. Raises EngineUnsupported where the machine or the options are
        beyond the engine, CannotExplore where the search cannot be done at all."""
