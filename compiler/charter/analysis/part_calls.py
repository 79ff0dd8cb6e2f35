"""Lists the calls of a part in a step of a system: with which arguments, and which branch each
took."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from charter.analysis.retell import Act
from charter.core import nodes as n
from charter.core.nodes import Value
from charter.semantics.builtins import items
from charter.semantics.expressions import Locals, Scope, State
from charter.semantics.machine import Machine


@dataclass(frozen=True, slots=True)
class PartCall:
    """A call of an operation of a part: the value of the part's index (None if there is one part),
    the act, and the branch that it took."""

    key: Value
    act: Act
    branch: str


_Way = tuple[tuple[PartCall, ...], Locals, State]
"""A way through some statements of a step: the calls of the part, the locals, the state."""


def list_calls(machine: Machine, part: str, act: Act, ends: tuple[State, State]) -> list[PartCall]:
    """The calls of a part in a step of a system that leads from one state to another, in their
    order."""
    name, args = act
    step = machine.operations[name]
    assert isinstance(step, n.Step)
    before, after = ends
    names = dict(zip((p.name for p in step.params), args, strict=True))
    ways: list[_Way] = [((), names, before)]
    for line in step.body:
        ways = [longer for way in ways for longer in _go_on(machine, line, (part, before), way)]
    return next((list(calls) for calls, _, state in ways if state == after), [])


def _go_on(
    machine: Machine, line: n.Statement, where: tuple[str, State], way: _Way
) -> Iterator[_Way]:
    """The ways through one more statement. `where` is the part, and the state before the step."""
    evaluator, (part, before), (calls, names, work) = machine.evaluator, where, way
    if isinstance(line, n.OnChannel):
        for _, local, after in evaluator.mail(line, before, names, work):
            yield calls, local, after
        return
    if not isinstance(line, n.CallOperation):
        for local, after in evaluator.do(line, before, names, work):
            yield calls, local, after
        return
    scope = Scope(machine.universe, before, work)
    args = tuple(evaluator.value(arg, scope, names) for arg in line.args)
    key = None if line.index is None else evaluator.value(line.index, scope, names)
    for branch, local, after in evaluator.call(line, before, names, work):
        made = PartCall(key, (line.operation, args), branch)
        yield (*calls, made) if line.part == part else calls, local, after


def read_part(machine: Machine, part: n.Part, key: Value, state: State) -> State:
    """The state of a part in a state of its system."""
    component = next(c for c in machine.model.components if c.name == part.component)
    found: dict[str, Value] = {}
    for variable in component.state:
        value = state[f"{part.name}.{variable.name}"]
        if part.index is not None:
            value = items(value)[machine.universe.position(part.index, key)]
        found[variable.name] = value
    return found
