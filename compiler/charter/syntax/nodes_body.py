"""Defines the surface tree: statements of branches and steps. See `charter.syntax.nodes`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from charter.syntax.nodes_expr import Binder, Expr, Item, Name, Node


@dataclass(frozen=True, slots=True)
class Let(Item):
    """`let x = e`."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Pick(Item):
    """`pick x in S`, `pick x in S or none`, `pick x for k in K in S or none` (one choice per k)."""

    name: Name
    index: Binder | None
    domain: Expr
    or_none: bool


@dataclass(frozen=True, slots=True)
class Assign(Item):
    """`x' = e`, and `x[k].f' = e` as a shorthand for the nested `with` (never twice per path).
    The prime at the end of the target is implied: `target` is `x` or `x[k].f`, without it."""

    target: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class Flush(Item):
    """`flush x to n if e`: what `x` is after the branch is on disk, of a sequence the first `n`."""

    name: Name
    end: Expr | None
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class Crash(Item):
    """`crash process`: volatile state is lost. `crash machine keeping x to n`: cached state that is
    not on disk, too, but for the first `n` of a sequence."""

    of: Literal["process", "machine"]
    kept: Name | None = None
    end: Expr | None = None


@dataclass(frozen=True, slots=True)
class Reply(Item):
    """`reply e`: the last statement of a branch."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Conjunct(Item):
    """One conjunct of a guard, or, with a label, all conjuncts up to the next label."""

    label: Name | None
    condition: Expr


@dataclass(frozen=True, slots=True)
class OfStep(Item):
    """A statement that only the steps of a system have."""


@dataclass(frozen=True, slots=True)
class Require(OfStep):
    """`require e`: a step is enabled only where it holds. With labels it is taken apart like a
    guard, without any it is one condition."""

    guard: tuple[Conjunct, ...]


@dataclass(frozen=True, slots=True)
class CallOperation(OfStep):
    """`[let r =] instance[index].operation(args)` in a step."""

    result: Name | None
    instance: Name
    index: Expr | None
    operation: Name
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Each(Node):
    """`for x in S if e`: a statement is done for each `x` in `S` where `e` is true. Either may be
    missing."""

    binder: Binder | None
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class Send(OfStep):
    """`send channel[key] e` (a second key for two-ended channels), perhaps for each of a set."""

    channel: Name
    keys: tuple[Expr, ...]
    message: Expr
    each: Each


@dataclass(frozen=True, slots=True)
class Receive(OfStep):
    """`receive m from channel[key]`: the step is enabled only if a message is there.
    `receive m[n] from channel[key]`: only if `n` are there, which it takes as a sequence."""

    name: Name
    many: Expr | None
    channel: Name
    keys: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Clear(OfStep):
    """`clear channel[key]`: the messages there are lost."""

    channel: Name
    keys: tuple[Expr, ...]
    each: Each


OfBranch = Let | Pick | Assign | Flush | Crash | Reply
Statement = OfBranch | Require | CallOperation | Send | Receive | Clear
