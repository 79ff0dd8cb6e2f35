"""Observes the states of one machine, and keeps what is shown of each value of a variable: most
variables of a state have the values of the state before."""

from __future__ import annotations

from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.formats.canonical import Json
from charter.semantics.expressions import State
from charter.semantics.machine import Machine

VALUES_MAX = 20_000
"""The most values of one variable that are kept."""


@dataclass(slots=True)
class Observations:
    """The observations of a machine. They share their parts, which nobody may change."""

    machine: Machine
    shown: list[tuple[n.StateVar, frozenset[tuple[str, ...]]]] = field(init=False)
    kept: dict[str, dict[Value, Json]] = field(init=False)

    def __post_init__(self) -> None:
        self.shown = self.machine.list_shown()
        self.kept = {variable.name: {} for variable, _ in self.shown}

    def of(self, state: State) -> Json:
        """As `Machine.observe`."""
        found: dict[str, Json] = {}
        for variable, paths in self.shown:
            kept, value = self.kept[variable.name], state[variable.name]
            if value not in kept:
                if len(kept) > VALUES_MAX:
                    kept.clear()
                kept[value] = self.machine.show(variable, value, paths)
            found[variable.name] = kept[value]
        return found
