"""The conditions of `eventually` on runs of a system: weak fairness, trigger and goal."""

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


def gave_up(most: int) -> str:
    """Why nothing is known where there are more states than that."""
    return f"the search gave up before its end, at {most:,} states; --most N goes on to N"


Answer = Literal["holds", "fails", "unknown"]


@dataclass(frozen=True, slots=True)
class LivenessResult:
    """What can be said of a property: `fails` with the values of its variables and a lasso (an
    empty `cycle` stays where the `stem` ends), or with the reason in `detail` why none is shown;
    `unknown` with the reason in `detail`."""

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

    def settled(self, apart: LivenessResult) -> LivenessResult:
        """What is known of a property that fails where some elements count as one, after it was
        looked at again where they are told apart: for its run, which may have had no room."""
        if apart.answer != "unknown":
            return apart
        detail = f"no run is shown: where elements are told apart, {apart.detail}"
        return replace(self, stem=(), cycle=(), detail=detail)

    def binding_json(self, universe: Universe) -> dict[str, Json]:
        """The values of the variables, by name."""
        return {p.name: to_json(p.type, value, universe) for p, value in self.binding}


def names_elements(model: n.Model, live: n.Eventually) -> bool:
    """Whether a property tells elements of a sort apart, or asks for fairness for each of them."""
    steps = {step.name: step for system in model.systems for step in system.steps}
    named = [p.type for f in live.fairness for p in steps[f.step].params if p.name in f.params]
    return any(t.holds(kind, t.Sort) for kind in (*named, *(p.type for p in live.params)))


def places_of(model: n.Model, fairness: Sequence[n.Fair]) -> Mapping[n.Fair, tuple[int, ...]]:
    """Where the parameters of each fairness stand among those of its step."""
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
