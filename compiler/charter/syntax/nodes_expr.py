"""Defines the surface tree: names, citations, types and expressions. See `charter.syntax.nodes`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from charter.diagnostics import NOWHERE, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What all surface nodes share."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(Node):
    """A node with comment lines above it (`comments`; "" is a blank line, " " an empty comment,
    which separates paragraphs), a comment behind it (`trailing`), and comment lines before its
    closing brace or the end of the file (`closing`). `section` is the comment that opened the
    section in which the item stands."""

    comments: tuple[str, ...] = ()
    trailing: str = ""
    closing: tuple[str, ...] = ()
    section: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier."""

    text: str


@dataclass(frozen=True, slots=True)
class Citation(Node):
    """`S2 "§6.5.1"`, `KIP "966"`, `DOC "..."`; `silent` has the source "silent" and no section."""

    source: str
    section: str = ""


# --- types ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    """`bool`, or the name of a declared type."""

    name: str


@dataclass(frozen=True, slots=True)
class IntType(Node):
    """`int 0..limit`: both ends are constant expressions and belong to the type."""

    low: Expr
    high: Expr


@dataclass(frozen=True, slots=True)
class WrappedType(Node):
    """`option T`, `set T`, `ranking T`."""

    wrapper: Literal["option", "set", "ranking"]
    inner: Type


@dataclass(frozen=True, slots=True)
class SeqType(Node):
    """`seq T max N`."""

    inner: Type
    limit: Expr


@dataclass(frozen=True, slots=True)
class MapType(Node):
    """`map K -> V`: total, K finite."""

    key: Type
    value: Type


Type = NamedType | IntType | WrappedType | SeqType | MapType


# --- expressions ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class IntLit(Node):
    """A decimal number."""

    value: int


@dataclass(frozen=True, slots=True)
class BoolLit(Node):
    """`true` or `false`."""

    value: bool


@dataclass(frozen=True, slots=True)
class NoneLit(Node):
    """`none`."""


@dataclass(frozen=True, slots=True)
class Ident(Node):
    """A name, or with `primed` the state after (`x'`)."""

    name: str
    primed: bool = False


@dataclass(frozen=True, slots=True)
class NamedArg(Node):
    """`name: e` among the arguments of a call."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Apply(Node):
    """`f(a, b)`: a function, a built-in, or the constructor of a union case (positional)."""

    name: Name
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class FieldOf(Node):
    """`target.field`."""

    target: Expr
    field: Name


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`target[key]`: a map or a sequence (sequences count from 0)."""

    target: Expr
    key: Expr


@dataclass(frozen=True, slots=True)
class FieldInit(Node):
    """`name: value` inside a record."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class RecordLit(Node):
    """`Partition { leader: none, isr: {} }`: every field, once, in any order."""

    name: Name
    fields: tuple[FieldInit, ...]


@dataclass(frozen=True, slots=True)
class WithFields(Node):
    """`p with { leader: none }`."""

    target: Expr
    fields: tuple[FieldInit, ...]


@dataclass(frozen=True, slots=True)
class Entry(Node):
    """`key: value` inside a map update."""

    key: Expr
    value: Expr


@dataclass(frozen=True, slots=True)
class WithEntries(Node):
    """`m with [k: v, k2: v2]`."""

    target: Expr
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class SetLit(Node):
    """`{}` or `{a, b}`."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class SeqLit(Node):
    """`<>` or `<a, b>`: a sequence or a ranking, whichever is expected."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Binder(Node):
    """`x in S`: S is a set expression or the name of a finite type."""

    name: Name
    domain: Expr


@dataclass(frozen=True, slots=True)
class Pattern(Node):
    """`present(p)`, `tag(a, b)`: a case of an option or a union, with names for its parameters."""

    tag: Name
    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class PatternBinder(Node):
    """`k, p in m`: the entries of the map m. `k, present(p) in m`: the entries whose value matches.
    `present(p) in S`: the members of the set S that match, or the content of the option S."""

    key: Name | None
    value: Name | Pattern
    domain: Expr


AnyBinder = Binder | PatternBinder


@dataclass(frozen=True, slots=True)
class Comprehension(Node):
    """`{ body for x in S, y in T if cond }`; in `{ x in S if cond }` the body `x` is implied
    (None), and there is a condition."""

    body: Expr | None
    binders: tuple[AnyBinder, ...]
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class MapLit(Node):
    """`[k in K: value]`: a total map over a finite type."""

    binder: Binder
    value: Expr


@dataclass(frozen=True, slots=True)
class Quantifier(Node):
    """`forall x in S, y in T: body`, `some ...`, `sum ...`; of one variable
    `exactly one x in S: body` and `the x in S: body` (that one)."""

    kind: Literal["forall", "some", "exactly one", "the", "sum"]
    binders: tuple[AnyBinder, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`not x`, `-x`."""

    op: Literal["not", "-"]
    operand: Expr


BinaryOp = Literal[
    "implies", "or", "and", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "subset",
    "+", "-", "*", "|", "&",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """An infix operation. `-` subtracts numbers and sets; `|` and `&` join and intersect sets."""

    op: BinaryOp
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Is(Node):
    """`e is present(x)`: whether the option has a value. `x` names it behind `and`, `implies` and
    `then`; in a guard or a `require`, in everything that follows."""

    subject: Expr
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class If(Node):
    """`if c then a else b`."""

    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class LetIn(Node):
    """`let x = value in body`."""

    name: Name
    value: Expr
    body: Expr


@dataclass(frozen=True, slots=True)
class Case(Node):
    """`none -> e`, `present(p) -> e`, `tag(a, b) -> e`; an enum member has no names."""

    tag: Name
    names: tuple[Name, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class Match(Node):
    """`match e { case, case }`: exhaustive, over options, unions and enums."""

    subject: Expr
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Took(Node):
    """`took operation/branch(a, _)`: true of a transition that took it, with these arguments (`_`:
    any; None: none are given); `took step(a, _)` for a system."""

    operation: Name
    branch: Name | None
    args: tuple[Expr, ...] | None = None


Expr = (
    IntLit | BoolLit | NoneLit | Ident | Apply | NamedArg | FieldOf | Index | RecordLit | WithFields
    | WithEntries | SetLit | SeqLit | Comprehension | MapLit | Quantifier | Unary | Binary | If
    | Is | LetIn | Match | Took
)  # fmt: skip
