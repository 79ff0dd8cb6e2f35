"""Lists the infix operators and what other modules ask of them. A module that asks has no list of
operators of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from typing import Literal as OneOf

Connective = OneOf["and", "or", "implies"]
"""Short-circuit: the right side is not evaluated if the left decides."""
StrictOp = OneOf[
    "eq", "ne", "lt", "le", "gt", "ge",
    "in", "subset",
    "add", "sub", "mul",
    "union", "intersection", "difference",
]  # fmt: skip
"""Both sides are evaluated."""
SmallOp = OneOf[Connective, StrictOp]
"""The operators of small core: the native engine, the solver and TLA+ print these."""
RichOp = OneOf[SmallOp]
"""The operators of rich core. One that a pass lowers to others is named here, not in `SmallOp`."""

Side = OneOf["left", "right"]
Kind = OneOf["connective", "equality", "order", "membership", "arithmetic", "sets"]


@dataclass(frozen=True, slots=True)
class OperatorTraits:
    """What is asked of an infix operator.

    `sign`: how a charter writes it. `kind`: what it is for, and so the types of its sides.
    `opposite`: the operator that is true of the same sides where this one is false. `mistake`: the
    operator that a person may write by mistake. `is_associative`: `(a op b) op c` needs no
    parentheses. `is_reflexive`: it is true of two equal sides. Of an operator that makes a set:
    `members_from` are sides such that each member of the result is a member of one of them; `keeps`
    are the sides whose members are all in the result.
    """

    sign: str
    kind: Kind
    opposite: RichOp | None = None
    mistake: RichOp | None = None
    is_associative: bool = False
    is_reflexive: bool = False
    members_from: tuple[Side, ...] = ()
    keeps: tuple[Side, ...] = ()

    @property
    def compares(self) -> bool:
        """Whether it compares two values of one type, as `<` and `==` do."""
        return self.kind in ("equality", "order")

    @property
    def is_test(self) -> bool:
        """Whether it evaluates both sides and is true or false."""
        return self.compares or self.kind == "membership"


OPERATORS: Final[Mapping[RichOp, OperatorTraits]] = {
    "and": OperatorTraits("and", "connective", is_associative=True),
    "or": OperatorTraits("or", "connective", is_associative=True),
    "implies": OperatorTraits("implies", "connective"),
    "eq": OperatorTraits("==", "equality", opposite="ne", mistake="ne", is_reflexive=True),
    "ne": OperatorTraits("!=", "equality", opposite="eq", mistake="eq"),
    "lt": OperatorTraits("<", "order", opposite="ge", mistake="le"),
    "le": OperatorTraits("<=", "order", opposite="gt", mistake="lt", is_reflexive=True),
    "gt": OperatorTraits(">", "order", opposite="le", mistake="ge"),
    "ge": OperatorTraits(">=", "order", opposite="lt", mistake="gt", is_reflexive=True),
    "in": OperatorTraits("in", "membership"),
    "subset": OperatorTraits("subset", "membership", is_reflexive=True),
    "add": OperatorTraits("+", "arithmetic", is_associative=True),
    "sub": OperatorTraits("-", "arithmetic"),
    "mul": OperatorTraits("*", "arithmetic", is_associative=True),
    "union": OperatorTraits(
        "|", "sets", mistake="intersection", is_associative=True,
        members_from=("left", "right"), keeps=("left", "right"),
    ),
    "intersection": OperatorTraits(
        "&", "sets", mistake="union", is_associative=True, members_from=("left",),
    ),
    "difference": OperatorTraits("-", "sets", mistake="intersection", members_from=("left",)),
}  # fmt: skip
