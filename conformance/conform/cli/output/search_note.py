"""Says what a search may cost, how an instance was searched, and what a search that is not finished
has found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from charter.analysis.search_size import search_size
from charter.api import select_instance
from conform.console.terminal import number, plural, say

if TYPE_CHECKING:
    from charter.analysis.search_size import SearchSize
    from charter.api import Model
    from charter.explore.result import FirstViolation
    from conform.console.progress import SearchListener

FEW = 1_000
"""A search for so many states takes no time."""


def say_how(instance: str, states: int, complete: bool, why_slow: str) -> None:
    """Says of an instance that the definition searched it, and why, and that there are more
    states."""
    if why_slow:
        say(f"{instance} was searched by the slow engine: {why_slow}")
    if not complete:
        say(f"{instance} has more than {number(states)} states; --most searches more")


def costing(model: Model, instance: str, order: str = "") -> Callable[[], str]:
    """A function that says what is known of the search of an instance before it begins, and what
    makes it less; `order` is its place among several."""
    return lambda: cost(search_size(model, select_instance(model, instance)), order)


def cost(size: SearchSize, order: str) -> str:
    """What is known of a search before it begins, and what makes it less; "" if it takes no time
    but for a slow machine."""
    if size.states is not None and size.states <= FEW:
        return ""
    kind = "step" if size.is_system else "operation"
    bound = "the number of its states is known at the end"
    if size.states is not None:
        bound = f"it can have {plural(size.states, 'state')} at most"
    return (
        f"{size.instance}{order}: {plural(size.acts, kind)} with arguments in the first state;"
        f" {bound}. Fewer elements, smaller constants, `offers` and `only` in the instance make the"
        " search shorter; with --most N it gives up after N states"
    )


@dataclass(slots=True)
class FoundSoFar:
    """What a search has found that did not come to its end; its progress tells how much."""

    progress: SearchListener
    violations: dict[tuple[str, str], FirstViolation] = field(default_factory=dict)

    def add(self, one: FirstViolation) -> None:
        """Add what the search tells; a search that begins anew tells it again."""
        known = self.violations
        known[one.kind, one.name] = one
        steps = plural(min(each.steps for each in known.values()), "step")
        self.progress.found = (
            f"1 violation, after {steps}"
            if len(known) == 1
            else f"{len(known)} violations, the first after {steps}"
        )

    def say(self) -> None:
        """Say what was found, and how the traces are shown."""
        if self.violations:
            _say(sorted(self.violations.values(), key=lambda one: (one.steps, one.name)))


def _say(found: Sequence[FirstViolation]) -> None:
    for one in found:
        say(f"{_headline(one)}, after {plural(one.steps, 'step')}")
    traces = "its trace" if len(found) == 1 else "their traces"
    most = number(_round_up(max(one.states for one in found) + 1))
    say(f"the same command with --most {most} shows {traces}")


def _headline(one: FirstViolation) -> str:
    if one.kind == "deadlock":
        return "deadlock: no step can happen any more"
    if one.kind == "undefined":
        return f"{one.name} asks for a value that does not exist"
    return f"{one.kind} {one.name} fails"


def _round_up(states: int) -> int:
    """At least so many states, as a number with two digits that are not 0."""
    unit = max(FEW, int("1" + "0" * (len(str(states)) - 2)))
    return -(-states // unit) * unit
