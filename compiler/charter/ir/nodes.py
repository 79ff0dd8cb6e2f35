"""Core: the typed tree that everything after the checker reads. The surface is gone here.

What differs from the surface: names are resolved, every expression has its type, nested updates
and several binders are spelled out, constructor calls and built-ins are told apart, channels have
become state, and finite types used as domains are `Domain` nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from charter.ir.types import Counter, Enum, Record, Sort, Type, Union
from charter.source import NOWHERE, Span

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


@dataclass(frozen=True, slots=True)
class Literal(Typed):
    """A constant: bool, int, counter value, enum member, or none."""

    value: bool | int | str | None


@dataclass(frozen=True, slots=True)
class Local(Typed):
    """A parameter, a let, a pick, or a bound variable. Within a declaration a name has one type and
    is never shadowed; scopes that stand side by side may use the same one."""

    name: str


@dataclass(frozen=True, slots=True)
class StateRef(Typed):
    """A state variable of the machine; in a system `part.variable`, a map if the part is one.
    `primed` is the state after (step properties only)."""

    name: str
    primed: bool = False


@dataclass(frozen=True, slots=True)
class ConstRef(Typed):
    """A constant of the protocol."""

    name: str


@dataclass(frozen=True, slots=True)
class Domain(Typed):
    """All values of a finite type, as a set; `type` is `Set(T)`."""


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


@dataclass(frozen=True, slots=True)
class Builtin(Typed):
    """A built-in function."""

    name: BuiltinName
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class FieldOf(Typed):
    """A field of a record."""

    target: Expr
    field: str


@dataclass(frozen=True, slots=True)
class MapGet(Typed):
    """The value at a key; maps are total."""

    target: Expr
    key: Expr


@dataclass(frozen=True, slots=True)
class RecordNew(Typed):
    """All fields, in the order of the record."""

    fields: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class RecordWith(Typed):
    """A record with some fields replaced."""

    target: Expr
    fields: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class UnionNew(Typed):
    """A case of a union."""

    tag: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class MapWith(Typed):
    """A map with some entries replaced; a later entry for the same key wins."""

    target: Expr
    entries: tuple[tuple[Expr, Expr], ...]


@dataclass(frozen=True, slots=True)
class MapNew(Typed):
    """`[name in K: value]`; the key type is that of `type`."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class SetNew(Typed):
    """`{a, b}`."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class SeqNew(Typed):
    """`<a, b>`: a sequence or, by its type, a ranking (a repeat fails)."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Present(Typed):
    """`present(x)`."""

    inner: Expr


@dataclass(frozen=True, slots=True)
class Comprehend(Typed):
    """`{ body for name in domain if condition }`; more binders nest: the body is then a set and
    `flatten` joins them."""

    name: str
    domain: Expr
    condition: Expr
    body: Expr
    flatten: bool = False


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


@dataclass(frozen=True, slots=True)
class Unary(Typed):
    """`not x`, `-x`."""

    op: UnaryOp
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Typed):
    """An infix operation; `not in` and `!=` on sets are spelled with `not` and `ne`."""

    op: BinaryOp
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class If(Typed):
    """Only the branch that is taken is evaluated."""

    condition: Expr
    then: Expr
    otherwise: Expr


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


@dataclass(frozen=True, slots=True)
class Match(Typed):
    """Exhaustive; the checker has seen to it. The cases stand in the order of the author."""

    subject: Expr
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Took(Typed):
    """True of a transition that took this branch (step properties and witnesses)."""

    branch: str


Expr = (
    Literal | Local | StateRef | ConstRef | Domain | Call | Builtin | FieldOf | MapGet | RecordNew
    | RecordWith | UnionNew | MapWith | MapNew | SetNew | SeqNew | Present | Comprehend
    | Quantified | Unary | Binary | If | Let | Match | Took
)  # fmt: skip


# --- statements ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """What all statements and declarations share: a place and the author's comment above it."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)
    doc: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Bind(Placed):
    """`let name = value`."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Pick(Placed):
    """Nondeterminism. Without `index`: `name` is any member of `domain`; with `or_none` it is an
    option, none exactly where `domain` is empty. With `index` (a variable and a finite type) the
    choice is made for each index on its own, and `name` is a map."""

    name: str
    type: Type
    index: tuple[str, Type] | None
    domain: Expr
    or_none: bool


@dataclass(frozen=True, slots=True)
class Assign(Placed):
    """`variable' = value`, the whole variable. All reads are of the state before."""

    variable: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Require(Placed):
    """A step is enabled only where `condition` holds (steps of systems only)."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class CallOperation(Placed):
    """A step calls an operation of a part. `result` names the reply ("" if unused). Calls take
    effect one after another; all other expressions of a step read the state before the step."""

    result: str
    part: str
    index: Expr | None
    operation: str
    args: tuple[Expr, ...]


Statement = Bind | Pick | Assign | Require | CallOperation


# --- declarations --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Citation:
    """A source's name ("silent" where no text speaks) and the section."""

    source: str
    section: str


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a function, an operation or a step."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Function(Placed):
    """A pure total function; never recursive."""

    name: str
    params: tuple[Param, ...]
    result: Type
    body: Expr
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Conjunct(Placed):
    """One part of a guard; unlabelled ones are called `1`, `2`, ... by position."""

    label: str
    condition: Expr


@dataclass(frozen=True, slots=True)
class Branch(Placed):
    """A named branch. `lets` are those of the operation that stand before it, then the guard is
    read, then `body` in order, then `reply`. `group` is 0, or the number of the `in any order`
    group it stands in: within a group every true guard's branch is allowed."""

    name: str
    group: int
    lets: tuple[Bind, ...]
    guard: tuple[Conjunct, ...]
    body: tuple[Statement, ...]
    reply: Expr
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Operation(Placed):
    """Total: the first branch (or group) with a true guard is taken."""

    name: str
    params: tuple[Param, ...]
    result: Type
    branches: tuple[Branch, ...]
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class StateVar(Placed):
    """A state variable and its initial value. Volatile ones are lost in a failover: a component
    with volatile state has an operation `failover` that assigns them all."""

    name: str
    type: Type
    initial: Expr
    kind: OneOf["durable", "volatile", "ghost"]


CompareMode = OneOf["exact", "difference", "opaque", "ignored"]


@dataclass(frozen=True, slots=True)
class Observable(Placed):
    """A path of state (variable, then fields; map keys are implied) that a level shows."""

    level: str
    path: tuple[str, ...]
    mode: CompareMode


@dataclass(frozen=True, slots=True)
class Component(Placed):
    """Owns state and offers operations."""

    name: str
    state: tuple[StateVar, ...]
    operations: tuple[Operation, ...]
    observables: tuple[Observable, ...]


@dataclass(frozen=True, slots=True)
class Part(Placed):
    """A component inside a system: one, or one for each value of the finite type `index`."""

    name: str
    index: Type | None
    component: str


@dataclass(frozen=True, slots=True)
class Step(Placed):
    """An environment step; `budget` is a state variable that counts its uses, "" without one."""

    name: str
    params: tuple[Param, ...]
    body: tuple[Statement, ...]
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class System(Placed):
    """`state` holds everything: each part's variables as `part.variable`, channels, budgets and
    the system's own variables."""

    name: str
    parts: tuple[Part, ...]
    state: tuple[StateVar, ...]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Property(Placed):
    """`always` reads one state; `stepwise` the states before and after; a witness is either."""

    kind: OneOf["always", "stepwise", "witness"]
    name: str
    machine: str
    body: Expr
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Instance(Placed):
    """Sizes and names of the sorts, values of constants, initial values that replace those of the
    machine, the operations that its environment offers (empty: all), and conditions on their
    arguments that it keeps to."""

    name: str
    machine: str
    sorts: tuple[tuple[str, tuple[str, ...]], ...]
    consts: tuple[tuple[str, int], ...]
    starts: tuple[tuple[str, Expr], ...]
    offers: tuple[str, ...]
    only: tuple[tuple[str, Expr], ...] = ()


@dataclass(frozen=True, slots=True)
class Do(Placed):
    """An operation (a step, for a system) of a scenario; `branch` is "" if any may be taken.
    Arguments read the state before it."""

    operation: str
    args: tuple[Expr, ...]
    branch: str


@dataclass(frozen=True, slots=True)
class Expect(Placed):
    """Runs where `condition` is false are dropped; if none is left, the scenario fails here."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class Moment(Placed):
    """A headline of the story."""

    title: str


@dataclass(frozen=True, slots=True)
class Scenario(Placed):
    """A named trace with expected states, in an instance of its own (named as the title)."""

    title: str
    instance: Instance
    steps: tuple[Do | Expect | Moment, ...]
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Mutant(Placed):
    """A bent rule: which instance shows it and which property must catch it. The bent model itself
    is a separate Model, made by loading with `api.Selection(mutant=name)`."""

    name: str
    instance: str
    caught_by: str
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OverlayEntry(Placed):
    """A known difference of one target: which releases, what kind, and the evidence. The model
    with the entry applied is a separate Model: load with `api.Selection(overlay=...)`."""

    name: str
    verdict: str
    first_release: str
    last_release: str
    evidence: str
    addresses: tuple[str, ...]
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Model(Placed):
    """One protocol in one variant: everything that a backend needs."""

    protocol: str
    variant: str
    sorts: tuple[Sort, ...]
    counters: tuple[Counter, ...]
    enums: tuple[Enum, ...]
    records: tuple[Record, ...]
    unions: tuple[Union, ...]
    consts: tuple[tuple[str, Type], ...]
    functions: tuple[Function, ...]
    components: tuple[Component, ...]
    systems: tuple[System, ...]
    properties: tuple[Property, ...]
    instances: tuple[Instance, ...]
    scenarios: tuple[Scenario, ...]
    mutants: tuple[Mutant, ...]
    variants: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]
    docs: tuple[tuple[str, str], ...] = ()
