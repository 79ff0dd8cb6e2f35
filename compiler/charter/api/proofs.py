"""Proves properties by induction for callers of the public interface."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from charter.api.charters import select_instance
from charter.core import nodes as ir
from charter.formats.canonical import Json
from charter.project.sources import Missing
from charter.semantics.machine import Machine
from charter.semantics.shown_values import show_call, show_value

if TYPE_CHECKING:
    from charter.prove import Inducted, SolverTransition

FALSE_INITIALLY = "false in the initial state"


@dataclass(frozen=True, slots=True)
class StepThatBreaks:
    """A step that breaks a property, in charter notation: the value of each variable before it, the
    call, the branch, and the changes."""

    before: Mapping[str, str]
    operation: str
    args: Mapping[str, str]
    branch: str
    changes: tuple[str, ...]

    @property
    def call(self) -> str:
        """The operation with its arguments."""
        return show_call(self.operation, self.args.items())

    def json(self) -> dict[str, Json]:
        return {
            "before": {**self.before},
            "operation": self.operation,
            "args": {**self.args},
            "branch": self.branch,
            "changes": [*self.changes],
        }


@dataclass(frozen=True, slots=True)
class ProofResult:
    """What is known of the `always` properties of a machine. `proved` hold in every reachable
    state, `open` are the others with the reason, `steps` the steps that break those that are not
    inductive."""

    instance: str
    proved: tuple[str, ...] = ()
    open: Mapping[str, str] = field(default_factory=dict)
    steps: Mapping[str, StepThatBreaks] = field(default_factory=dict)

    def json(self) -> dict[str, Json]:
        return {
            "instance": self.instance,
            "proved": [*self.proved],
            "open": {**self.open},
            "steps": {name: step.json() for name, step in self.steps.items()},
        }


def prove(model: ir.Model, instance: str) -> ProofResult:
    """Try to prove the `always` properties of an instance's machine by induction, for all values of
    counters.

    Needs z3 (ImportError without it). Raises `Missing`, also for an instance of a system."""
    from charter.prove import CannotEncode, NotInductive, invariants

    chosen = select_instance(model, instance)
    _refuse_system(model, chosen)
    machine = Machine.of(model, chosen)
    props = [p for p in model.properties if p.machine == chosen.machine and p.kind == "always"]
    try:
        found = invariants(machine, props)
    except CannotEncode as error:
        return ProofResult(chosen.name, (), {p.name: f"unknown: {error}" for p in props})
    reasons = {answer.rule: _reason(answer) for answer in found.open}
    steps = {
        answer.rule: _breaking(machine, answer.transition)
        for answer in found.open
        if isinstance(answer, NotInductive)
    }
    return ProofResult(chosen.name, tuple(found.proved), reasons, steps)


def _refuse_system(model: ir.Model, chosen: ir.Instance) -> None:
    """Raises `Missing` for an instance of a system."""
    components = {component.name for component in model.components}
    if chosen.machine not in components:
        names = [known.name for known in model.instances if known.machine in components]
        raise Missing(
            f"{chosen.name} is an instance of the system {chosen.machine}, and proofs are of"
            f" components: `conform explore` searches it; instances of components:"
            f" {', '.join(names) or 'none'}"
        )


def _reason(answer: Inducted) -> str:
    """Why a property is not proved."""
    from charter.prove import FalseInitially, NotInductive, NotProved, Proved

    match answer:
        case NotInductive():
            return "not inductive: a step from a state that may be unreachable"
        case FalseInitially():
            return FALSE_INITIALLY
        case NotProved():
            return f"unknown: {answer.reason}"
        case Proved():
            return "proved alone, but not together with the others"


def _breaking(machine: Machine, found: SolverTransition) -> StepThatBreaks:
    from charter.analysis.retell import retell

    (told,) = retell(machine, [(found.operation, found.args)], [found.before, found.after])
    before = {
        v.name: show_value(v.type, found.before[v.name], machine.universe)
        for v in machine.variables
    }
    changes = tuple(f"{one.path}: {one.before} -> {one.after}" for one in told.changes)
    return StepThatBreaks(before, found.operation, dict(told.args), found.branch, changes)
