"""Expressions of core: typed, with spans. `charter.core.nodes` has all names of the tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import final

from charter.core.types import Type
from charter.diagnostics import NOWHERE, Span

Value = bool | int | str | None | tuple["Value", ...] | frozenset["Value"]
"""Values, told apart by their type alone:
bool, bounded int and counter: bool and int; sort element: its number from 0; enum: member name;
option: None or the value itself; record: tuple of fields; union: (tag, parameter, ...);
set: frozenset; map: tuple of values in the order of `universe.domain(key type)`;
sequence and ranking: tuple."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What all expressions share."""

    type: Type
    span: Span = field(default=NOWHERE, compare=False, repr=False)


# --- expressions ---------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class Literal(Typed):
    """A constant: bool, int, counter value, enum member, or none."""

    value: bool | int | str | None


@final
@dataclass(frozen=True, slots=True)
class Local(Typed):
    """A parameter, a let, a pick, or a bound variable. Within a declaration a name has one type and
    is never shadowed; scopes that stand side by side may use the same one."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class StateRef(Typed):
    """A state variable of the machine; in a system `part.variable`, a map if the part is one.
    `primed` is the state after (step properties only)."""

    name: str
    primed: bool = False


@final
@dataclass(frozen=True, slots=True)
class ConstRef(Typed):
    """A constant of the protocol."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class Domain(Typed):
    """All values of a finite type, as a set; `type` is `Set(T)`."""


@final
@dataclass(frozen=True, slots=True)
class Call(Typed):
    """A declared function."""

    function: str
    args: tuple[Expr, ...]


BuiltinName = OneOf[
    "size",  # of a set, sequence or ranking: int
    "value",  # of an option; fails on none
    "default",  # default(option, otherwise)
    "bump",  # the next value of a counter
    "set",  # the members of a sequence or ranking
    "first", "last",  # of a sequence or ranking: option
    "append",  # append(sequence or ranking, item); fails past the limit; a ranking keeps one copy
    "remove",  # remove(ranking, item), without it
    "concat",  # of sequences, fails past the limit; of rankings: the second's new items come behind
    "keep",  # keep(sequence or ranking, set): the items that are in the set, in their order
    "take", "drop",  # take(sequence, n): the first n; drop: all but those; n may exceed the size
    "at",  # at(sequence or ranking, position): option
    "item",  # sequence[position]; fails outside
    "min", "max",  # of a set of ints or counters, fails on empty; or of two ints or counters
]  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Builtin(Typed):
    """A built-in function."""

    name: BuiltinName
    args: tuple[Expr, ...]


@final
@dataclass(frozen=True, slots=True)
class FieldOf(Typed):
    """A field of a record."""

    target: Expr
    field: str


@final
@dataclass(frozen=True, slots=True)
class MapGet(Typed):
    """The value at a key; maps are total."""

    target: Expr
    key: Expr


@final
@dataclass(frozen=True, slots=True)
class RecordNew(Typed):
    """All fields, in the order of the record."""

    fields: tuple[Expr, ...]


@final
@dataclass(frozen=True, slots=True)
class RecordWith(Typed):
    """A record with some fields replaced."""

    target: Expr
    fields: tuple[tuple[str, Expr], ...]


@final
@dataclass(frozen=True, slots=True)
class UnionNew(Typed):
    """A case of a union."""

    tag: str
    args: tuple[Expr, ...]


@final
@dataclass(frozen=True, slots=True)
class MapWith(Typed):
    """A map with some entries replaced; a later entry for the same key wins."""

    target: Expr
    entries: tuple[tuple[Expr, Expr], ...]


@final
@dataclass(frozen=True, slots=True)
class MapNew(Typed):
    """`[name in K: value]`; the key type is that of `type`."""

    name: str
    value: Expr


@final
@dataclass(frozen=True, slots=True)
class SetNew(Typed):
    """`{a, b}`."""

    items: tuple[Expr, ...]


@final
@dataclass(frozen=True, slots=True)
class SeqNew(Typed):
    """`<a, b>`: a sequence or, by its type, a ranking (a repeat fails)."""

    items: tuple[Expr, ...]


@final
@dataclass(frozen=True, slots=True)
class Present(Typed):
    """`present(x)`."""

    inner: Expr


@final
@dataclass(frozen=True, slots=True)
class Comprehend(Typed):
    """`{ body for name in domain if condition }`; more binders nest: the body is then a set and
    `flatten` joins them."""

    name: str
    domain: Expr
    condition: Expr
    body: Expr
    flatten: bool = False


@final
@dataclass(frozen=True, slots=True)
class Quantified(Typed):
    """`forall`, `some` (bool), or `the` (the only member with the property; fails otherwise)."""

    kind: OneOf["forall", "some", "the"]
    name: str
    domain: Expr
    body: Expr


UnaryOp = OneOf["not", "negate"]
BinaryOp = OneOf[
    "and", "or", "implies",  # short-circuit: the right side is not looked at if the left decides
    "eq", "ne", "lt", "le", "gt", "ge",
    "add", "sub", "mul",
    "union", "intersection", "difference",
    "in", "subset",
]  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Unary(Typed):
    """`not x`, `-x`."""

    op: UnaryOp
    operand: Expr


@final
@dataclass(frozen=True, slots=True)
class Binary(Typed):
    """An infix operation; `not in` and `!=` on sets are spelled with `not` and `ne`."""

    op: BinaryOp
    left: Expr
    right: Expr


@final
@dataclass(frozen=True, slots=True)
class If(Typed):
    """Only the branch that is taken is evaluated."""

    condition: Expr
    then: Expr
    otherwise: Expr


@final
@dataclass(frozen=True, slots=True)
class Let(Typed):
    """`let name = value in body`."""

    name: str
    value: Expr
    body: Expr


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a match; `tag` is a union case, an enum member, `none` or `present`."""

    tag: str
    names: tuple[str, ...]
    body: Expr


@final
@dataclass(frozen=True, slots=True)
class Match(Typed):
    """Exhaustive; the checker has seen to it. The cases stand in the order of the author."""

    subject: Expr
    cases: tuple[Case, ...]


@final
@dataclass(frozen=True, slots=True)
class Took(Typed):
    """True of a transition that took this branch (step properties and witnesses)."""

    branch: str


Expr = (
    Literal | Local | StateRef | ConstRef | Domain | Call | Builtin | FieldOf | MapGet | RecordNew
    | RecordWith | UnionNew | MapWith | MapNew | SetNew | SeqNew | Present | Comprehend
    | Quantified | Unary | Binary | If | Let | Match | Took
)  # fmt: skip
