"""Replays every transition that Z3 finds on the definition before it is reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.prove.decode import Decoder
from charter.prove.program import SymbolicProgram
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import Scope
from charter.semantics.machine import Machine


class ReplayError(Exception):
    """The definition does not allow what Z3 found: the encoder has a bug."""


@dataclass(frozen=True, slots=True)
class SolverTransition:
    """One call of an operation with one of its outcomes; `branch` is `operation/branch`."""

    before: Mapping[str, Value]
    operation: str
    args: tuple[Value, ...]
    branch: str
    reply: Value
    after: Mapping[str, Value]

    @property
    def outcome(self) -> Outcome:
        """Its outcome."""
        return Outcome(self.branch, self.reply, dict(self.after))


def read_state(
    program: SymbolicProgram, values: Mapping[str, int], *, after: bool = False
) -> dict[str, Value]:
    """The state before (or after) under an assignment."""
    decoder = Decoder(program.types, values)
    state = program.after if after else program.before
    return {v.name: decoder.value(v.type, state[v.name]) for v in program.component.state}


def read_transition(program: SymbolicProgram, values: Mapping[str, int]) -> SolverTransition:
    """The transition that an assignment describes, replayed. Raises ReplayError."""
    decoder = Decoder(program.types, values)
    selected = decoder.term(program.selector) % (1 << program.terms.sort(program.selector))
    code, branch = program.branches()[selected]
    operation = next(o for o in program.component.operations if o.name == code.name)
    pairs = zip(operation.params, code.params, strict=True)
    found = SolverTransition(
        before=read_state(program, values),
        operation=operation.name,
        args=tuple(decoder.value(p.type, value) for p, value in pairs),
        branch=branch.name,
        reply=decoder.value(operation.result, branch.reply),
        after=read_state(program, values, after=True),
    )
    replay(program.machine, found)
    return found


def replay(machine: Machine, found: SolverTransition) -> None:
    """Raises ReplayError unless the definition allows the transition."""
    try:
        outcomes = machine.outcomes(found.before, found.operation, found.args)
    except EvaluationError as error:
        raise ReplayError(f"{found.branch}: {error}") from error
    wanted = (found.branch, found.reply, dict(found.after))
    if any((o.branch, o.reply, dict(o.state)) == wanted for o in outcomes):
        return
    allowed = sorted({o.branch for o in outcomes})
    raise ReplayError(f"{found} is not allowed; the definition takes {allowed}")


def expect(machine: Machine, body: n.Expr, scope: Scope, *, wanted: bool, what: str) -> None:
    """Raises ReplayError unless an expression is defined and has the truth value that Z3 found."""
    try:
        truth = machine.truth(body, scope)
    except EvaluationError as error:
        raise ReplayError(f"{what}: {error}") from error
    if truth != wanted:
        raise ReplayError(f"{what} is {truth} on the definition")
