"""Defines the interface for comparing a machine with a changed one, in all states that it
reaches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.explore.result import Trace
from charter.semantics.evaluate import Outcome


@dataclass(frozen=True, slots=True)
class OutcomeDifference:
    """After `trace`, both machines do `operation` with `args`, and their outcomes differ, also by
    the definition: `first` and `second`. None: the evaluation is undefined. `replies`: no state has
    outcomes that differ in more than replies."""

    trace: Trace
    operation: str
    args: tuple[Value, ...]
    first: tuple[Outcome, ...] | None
    second: tuple[Outcome, ...] | None
    replies: bool = False


class ReachedStates(Protocol):
    """All states of a machine in an instance."""

    def other_initial_values(self, changed: n.Model, instance: n.Instance) -> tuple[str, ...]:
        """The state variables that begin with another value in `changed`."""

    def difference(
        self, changed: n.Model, instance: n.Instance, watch: Callable[[], None]
    ) -> OutcomeDifference | None:
        """The first state in which `changed` has other outcomes; one in which they differ in more
        than replies, if there is one. None: if both begin in the same state, their reachable
        states, transitions and replies are the same. `watch` is called for each state, and may
        raise. Raises EngineUnsupported."""
