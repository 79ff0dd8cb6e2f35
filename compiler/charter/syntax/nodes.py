"""The surface tree: what the author wrote, name for name, before any checking.

Every node has a `span` that never takes part in equality, so `parse(show(tree)) == tree`.
Comments stand before the item that they precede (`comments`), one entry a line, without the dashes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from charter.source import NOWHERE, Span


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What all surface nodes share."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(Node):
    """A node that can carry comment lines above it (`comments`; "" is a blank line between two
    paragraphs), one behind it (`trailing`), and those before its closing brace, or before the end
    of the file (`closing`)."""

    comments: tuple[str, ...] = ()
    trailing: str = ""
    closing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier where it is introduced or mentioned."""

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
class Comprehension(Node):
    """`{ body for x in S, y in T if cond }`; in `{ x in S if cond }` the body `x` is implied
    (None), and there is a condition."""

    body: Expr | None
    binders: tuple[Binder, ...]
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class MapLit(Node):
    """`[k in K: value]`: a total map over a finite type."""

    binder: Binder
    value: Expr


@dataclass(frozen=True, slots=True)
class Quantifier(Node):
    """`forall x in S, y in T: body`, `some ...`, and `the x in S: body` (the only one)."""

    kind: Literal["forall", "some", "the"]
    binders: tuple[Binder, ...]
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
    """`took operation/branch`: true of a transition that took it; `took step` for a system."""

    operation: Name
    branch: Name | None


Expr = (
    IntLit | BoolLit | NoneLit | Ident | Apply | FieldOf | Index | RecordLit | WithFields
    | WithEntries | SetLit | SeqLit | Comprehension | MapLit | Quantifier | Unary | Binary | If
    | LetIn | Match | Took
)  # fmt: skip


# --- statements of branches and steps ------------------------------------------------------------


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
class Reply(Item):
    """`reply e`: the last statement of a branch."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Require(Item):
    """`require e`: a step is enabled only where it holds."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class CallOperation(Item):
    """`[let r =] instance[index].operation(args)` in a step."""

    result: Name | None
    instance: Name
    index: Expr | None
    operation: Name
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Send(Item):
    """`send channel[key] e` (a second key for two-ended channels)."""

    channel: Name
    keys: tuple[Expr, ...]
    message: Expr


@dataclass(frozen=True, slots=True)
class Receive(Item):
    """`receive m from channel[key]`: the step is enabled only if a message is there."""

    name: Name
    channel: Name
    keys: tuple[Expr, ...]


Statement = Let | Pick | Assign | Reply | Require | CallOperation | Send | Receive


# --- declarations --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SourceDecl(Item):
    """`source S2 "Replication correctness"`: what citations may name."""

    name: Name
    title: str


@dataclass(frozen=True, slots=True)
class SortDecl(Item):
    """`sort Broker`."""

    name: Name


@dataclass(frozen=True, slots=True)
class CounterDecl(Item):
    """`counter LeaderEpoch`; `opaque counter BrokerEpoch` (equality and order); `opaque TopicId`
    (equality only: `ordered` is false)."""

    name: Name
    opaque: bool
    ordered: bool


@dataclass(frozen=True, slots=True)
class ConstDecl(Item):
    """`const max_log: int 0..9`: every instance that uses it gives a value."""

    name: Name
    type: Type


@dataclass(frozen=True, slots=True)
class EnumDecl(Item):
    """`enum Status { FENCED, UNFENCED }`."""

    name: Name
    members: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class FieldDecl(Item):
    """`isr, elr: set Broker`: one type for several names."""

    names: tuple[Name, ...]
    type: Type


@dataclass(frozen=True, slots=True)
class RecordDecl(Item):
    """`record Partition { ... }`."""

    name: Name
    fields: tuple[FieldDecl, ...]


@dataclass(frozen=True, slots=True)
class Param(Node):
    """`name: T`."""

    name: Name
    type: Type


@dataclass(frozen=True, slots=True)
class CaseDecl(Item):
    """One case of a union; no params, no parentheses."""

    name: Name
    params: tuple[Param, ...]


@dataclass(frozen=True, slots=True)
class UnionDecl(Item):
    """`union Reply { ok(partition: Partition), rejected(error: Error) }`."""

    name: Name
    cases: tuple[CaseDecl, ...]


@dataclass(frozen=True, slots=True)
class AliasDecl(Item):
    """`type Isr = set Broker`."""

    name: Name
    type: Type


@dataclass(frozen=True, slots=True)
class FunDecl(Item):
    """`fun f(x: T) -> U cites ... = body`."""

    name: Name
    params: tuple[Param, ...]
    result: Type
    citations: tuple[Citation, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class StateDecl(Item):
    """`[volatile | ghost] state x: T = initial value`."""

    name: Name
    type: Type
    initial: Expr
    kind: Literal["durable", "volatile", "ghost"]


@dataclass(frozen=True, slots=True)
class Conjunct(Item):
    """One `and`-part of a guard, with its label if it has one."""

    label: Name | None
    condition: Expr


@dataclass(frozen=True, slots=True)
class Branch(Item):
    """`branch name cites ... when guard { ... }`, or `... reply e` for a body of one reply."""

    name: Name
    citations: tuple[Citation, ...]
    guard: tuple[Conjunct, ...]
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class AnyOrder(Item):
    """`in any order { branch ... }`: rejections that the texts do not rank."""

    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class Operation(Item):
    """`operation f(x: T) -> U cites ... { lets, branches and groups, in order }`."""

    name: Name
    params: tuple[Param, ...]
    result: Type
    citations: tuple[Citation, ...]
    body: tuple[Let | Branch | AnyOrder, ...]


@dataclass(frozen=True, slots=True)
class Observed(Item):
    """`partition.leader_epoch: difference`: a path of state, and how it compares ("" = by type)."""

    path: tuple[Name, ...]
    mode: str


@dataclass(frozen=True, slots=True)
class ObserveDecl(Item):
    """`observe published { ... }`: a named level; each level includes those before it."""

    level: Name
    entries: tuple[Observed, ...]


@dataclass(frozen=True, slots=True)
class ComponentDecl(Item):
    """`component name { state, operations, observables }`."""

    name: Name
    members: tuple[StateDecl | Operation | ObserveDecl, ...]


@dataclass(frozen=True, slots=True)
class PartDecl(Item):
    """`controller: controller`, `replica: map Broker -> replica` inside a system."""

    name: Name
    index: Type | None
    component: Name


@dataclass(frozen=True, slots=True)
class ChannelDecl(Item):
    """`channel fetch: Broker -> Broker carries Request slot lossy`; one or two ends."""

    name: Name
    ends: tuple[Type, ...]
    message: Type
    discipline: Literal["slot", "set", "fifo"]
    lossy: bool
    duplicating: bool


@dataclass(frozen=True, slots=True)
class StepDecl(Item):
    """`step crash(b: Broker) cites ... budget crashes { ... }`."""

    name: Name
    params: tuple[Param, ...]
    citations: tuple[Citation, ...]
    budget: Name | None
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class SystemDecl(Item):
    """`system name { parts, channels, state, steps }`; budgets are constants of the protocol."""

    name: Name
    members: tuple[PartDecl | ChannelDecl | StateDecl | StepDecl, ...]


@dataclass(frozen=True, slots=True)
class PropertyDecl(Item):
    """`always p of machine cites ...: e`, `stepwise p of machine: e`, `witness w of machine: e`.
    A machine is a component or a system."""

    kind: Literal["always", "stepwise", "witness"]
    name: Name
    machine: Name
    citations: tuple[Citation, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class Bound(Item):
    """`Broker = 3`, `Broker = {b1, b2, b3}`, `max_log = 2` in an instance or a scenario."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Start(Item):
    """`start x = e`: the initial value of a state variable in this instance."""

    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Offers(Item):
    """`offers register, expire_session`: the only operations of this instance's environment."""

    operations: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Only(Item):
    """`only heartbeat if not want_shut_down`: which arguments this instance's environment offers;
    the condition reads the parameters and the state."""

    operation: Name
    condition: Expr


@dataclass(frozen=True, slots=True)
class InstanceDecl(Item):
    """`instance tiny of controller { bounds, starts, offers }`."""

    name: Name
    machine: Name
    body: tuple[Bound | Start | Offers | Only, ...]


@dataclass(frozen=True, slots=True)
class Do(Item):
    """`do operation(args)`, `do operation(args) -> branch`: an operation (system: a step)."""

    operation: Name
    args: tuple[Expr, ...]
    branch: Name | None


@dataclass(frozen=True, slots=True)
class Expect(Item):
    """`expect e`: true of some run that is still possible; the others are dropped."""

    condition: Expr


@dataclass(frozen=True, slots=True)
class Moment(Item):
    """`step "4 broker 2 unreachable"`: a headline of the story, for reports."""

    title: str


@dataclass(frozen=True, slots=True)
class ScenarioDecl(Item):
    """`scenario "S1-E1 ..." of controller cites S1 "..." { bounds, starts, steps }`."""

    title: str
    machine: Name
    citations: tuple[Citation, ...]
    body: tuple[Bound | Start | Let | Do | Expect | Moment, ...]


# --- edits: variants, mutants, overlays ----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Address(Node):
    """Where an edit applies: `controller.alter_partition/committed`; parts that are not needed
    are None (a function or property has only `head`)."""

    head: Name
    operation: Name | None = None
    branch: Name | None = None


@dataclass(frozen=True, slots=True)
class Replace(Item):
    """`replace fun ...`, `replace always ...`: the whole declaration of that name."""

    declaration: FunDecl | PropertyDecl | RecordDecl | EnumDecl | UnionDecl | AliasDecl


@dataclass(frozen=True, slots=True)
class ReplaceBranch(Item):
    """`replace in controller.alter_partition branch committed ...`."""

    at: Address
    branch: Branch


@dataclass(frozen=True, slots=True)
class ReplaceOperation(Item):
    """`replace in controller operation f ...`."""

    at: Address
    operation: Operation


@dataclass(frozen=True, slots=True)
class ReplaceConjunct(Item):
    """`replace conjunct label of address with e`."""

    at: Address
    label: Name
    condition: Expr


@dataclass(frozen=True, slots=True)
class ReplaceUpdate(Item):
    """`replace update x of address with e` (`x' = e` instead of what stood there)."""

    at: Address
    variable: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Drop(Item):
    """`drop conjunct l of a`, `drop update x of a`, `drop branch a`, `drop property p`,
    `drop witness w`, `drop scenario "t"`, `drop operation a`. Of a branch or an operation `at` is
    the whole address and `name` its last part."""

    what: Literal["conjunct", "update", "branch", "operation", "property", "witness", "scenario"]
    name: Name
    at: Address | None


@dataclass(frozen=True, slots=True)
class Add(Item):
    """`add fun ...`, `add witness ...`, or `add in controller state ...` / `... branch ...`."""

    at: Address | None
    before: Name | None
    declaration: Declaration | StateDecl | Operation | Branch


Edit = Replace | ReplaceBranch | ReplaceOperation | ReplaceConjunct | ReplaceUpdate | Drop | Add


@dataclass(frozen=True, slots=True)
class VariantDecl(Item):
    """`variant pre_kip_966 [after other] cites ... { edits }`."""

    name: Name
    after: tuple[Name, ...]
    citations: tuple[Citation, ...]
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class MutantDecl(Item):
    """`mutant m in tiny { edits } caught by property`: instance, edits, property."""

    name: Name
    instance: Name
    edits: tuple[Edit, ...]
    caught_by: Name


@dataclass(frozen=True, slots=True)
class OverlayEntry(Item):
    """`entry name documented_difference for "4.0".."4.3" cites DOC "..." { edits }`.
    An empty release bound is open."""

    name: Name
    verdict: Literal["charter_gap", "documented_difference", "known_defect", "suspected_defect"]
    first_release: str
    last_release: str
    citations: tuple[Citation, ...]
    evidence: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class OverlayDecl(Item):
    """`overlay kafka_controller of controller { entries }`."""

    name: Name
    component: Name
    entries: tuple[OverlayEntry, ...]


Declaration = (
    SourceDecl | SortDecl | CounterDecl | ConstDecl | EnumDecl | RecordDecl | UnionDecl | AliasDecl
    | FunDecl | ComponentDecl | SystemDecl | PropertyDecl | InstanceDecl | ScenarioDecl
    | VariantDecl | MutantDecl | OverlayDecl
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class File(Item):
    """One file: `protocol a.b` and declarations. Comments after the last one are `closing`."""

    protocol: Name
    declarations: tuple[Declaration, ...]


Protocol = tuple[File, ...]
"""All files of one protocol, in the order of their names; declarations see each other freely."""
