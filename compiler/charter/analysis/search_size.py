"""Says what is known of the size of a search before it begins."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import prod

from charter.analysis.environment import list_offered
from charter.core import nodes as n
from charter.semantics.builtins import EvaluationError
from charter.semantics.machine import Machine
from charter.semantics.values import NotFinite

MOST_ACTS, MOST_STATES = 100_000, 1_000_000_000
"""What is larger is only known to be larger: counting it would take longer than it is worth, and a
larger bound says nothing of a search."""


@dataclass(frozen=True, slots=True)
class SearchSize:
    """What is known of the search of an instance: `acts`, how many operations (of a system: steps)
    with arguments its first state offers, at most MOST_ACTS; `states`, how many states are possible
    by the types of the variables, None if they are more than MOST_STATES, or without a bound."""

    instance: str
    is_system: bool
    acts: int
    states: int | None


def search_size(model: n.Model, instance: n.Instance) -> SearchSize:
    """What is known of the search of an instance of a model. Raises as `Machine.initial` does."""
    machine = Machine.of(model, instance)
    return SearchSize(
        instance.name,
        machine.component is None,
        _acts(machine),
        _states(machine),
    )


def _acts(machine: Machine) -> int:
    """0 if a condition of `only` has no value there, which the search will tell."""
    try:
        return sum(1 for _ in islice(list_offered(machine, machine.initial()), MOST_ACTS))
    except EvaluationError:
        return 0


def _states(machine: Machine) -> int | None:
    try:
        found = prod(machine.universe.cardinality(v.type) for v in machine.variables)
    except NotFinite:
        return None
    return found if found <= MOST_STATES else None
