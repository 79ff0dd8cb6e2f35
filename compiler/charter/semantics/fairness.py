"""Checks the conditions of `eventually` on runs of a system: weak fairness, trigger and goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.formats.canonical import Json
from charter.semantics.machine import Taken
from charter.semantics.values import Universe, to_json


def gave_up(found: int) -> str:
    """The reason why a property is unknown if a search ended early, with so many states."""
    return f"the search gave up before its end, at {found:,} states; --most N goes on to N"


def too_many(found: int, most: int) -> str:
    """The reason why a property is unknown if a search found all states, more than `most`."""
    return (
        f"the search for runs gave up, at {found:,} states, more than {most:,}; --most N allows N"
    )


Answer = Literal["holds", "fails", "unknown"]


@dataclass(frozen=True, slots=True)
class LivenessResult:
    """The result for one `eventually` property. `fails` comes with the values of its variables and
    a lasso (an empty `cycle` means that the run stays where the `stem` ends), or `detail` says why
    no lasso is shown. If `unknown`, `detail` says why."""

    name: str
    answer: Answer
    binding: tuple[tuple[n.Param, Value], ...] = ()
    stem: tuple[Taken, ...] = ()
    cycle: tuple[Taken, ...] = ()
    detail: str = ""

    @property
    def has_run(self) -> bool:
        """Whether there is a lasso."""
        return self.answer == "fails" and not self.detail

    def settle(self, apart: LivenessResult) -> LivenessResult:
        """The final result of a property that fails under symmetry. `apart` is the result of a
        second search without symmetry, made to find a lasso; it may have run out of memory."""
        if apart.answer != "unknown":
            return apart
        detail = f"no run is shown: without symmetry, {apart.detail}"
        return replace(self, stem=(), cycle=(), detail=detail)

    def binding_json(self, universe: Universe) -> dict[str, Json]:
        """The values of the variables, by name."""
        return {p.name: to_json(p.type, value, universe) for p, value in self.binding}


def names_elements(model: n.Model, live: n.Eventually) -> bool:
    """Whether a property distinguishes elements of a sort: by a variable, or by fairness for each
    element."""
    steps = {step.name: step for system in model.systems for step in system.steps}
    named = [p.type for f in live.fairness for p in steps[f.step].params if p.name in f.params]
    return any(t.holds(kind, t.Sort) for kind in (*named, *(p.type for p in live.params)))


def places_of(model: n.Model, fairness: Sequence[n.Fair]) -> Mapping[n.Fair, tuple[int, ...]]:
    """For each fairness condition, the positions of its parameters among those of its step."""
    steps = {step.name: step for system in model.systems for step in system.steps}
    return {
        fair: tuple(i for i, p in enumerate(steps[fair.step].params) if p.name in fair.params)
        for fair in fairness
    }


def bound(live: n.Eventually, wanted: n.Expr | None, values: Sequence[Value]) -> n.Expr | None:
    """The trigger or the goal of a property for one value of each of its variables."""
    if wanted is None:
        return None
    for param, value in zip(live.params, values, strict=True):
        assert not isinstance(value, tuple | frozenset)
        wanted = n.Let(param.name, n.Literal(value, type=param.type), wanted, type=t.Bool())
    return wanted
