"""Reads a trace that was written down as text: the operations and arguments of each step."""

from __future__ import annotations

from collections.abc import Sequence

from charter.analysis.environment import Arguments
from charter.analysis.retell import Act, NotARun
from charter.core.nodes import Value
from charter.semantics.expressions import State
from charter.semantics.machine import Machine


def acts_of(machine: Machine, spelt: Sequence[str]) -> tuple[Act, ...]:
    """The steps that texts such as `lose_power(b: b1)` stand for. The arguments are those that an
    instance offers with these texts, so that nothing has to be parsed. Raises NotARun if there are
    none, or if the definition does not allow the steps."""
    states = [machine.initial()]
    found: list[Act] = []
    for text in spelt:
        operation = text.partition("(")[0]
        args = _find_arguments(machine, states, operation, text)
        if args is None:
            raise NotARun(f"the instance offers no {text}")
        outcomes = (o for state in states for o in machine.outcomes(state, operation, args))
        after = {tuple(o.state[v.name] for v in machine.variables): o.state for o in outcomes}
        if not after:
            raise NotARun(f"the definition does not allow {text}")
        states = list(after.values())
        found.append((operation, args))
    return tuple(found)


def _find_arguments(
    machine: Machine, states: Sequence[State], operation: str, text: str
) -> tuple[Value, ...] | None:
    """The arguments of an operation that are offered in one of some states, and have this text;
    None if there are none."""
    if operation not in machine.operations:
        return None
    params = machine.operations[operation].params
    for state in states:
        for args in Arguments.at(machine, state).of(params):
            if machine.call_shown(operation, args) == text:
                return args
    return None
