"""Defines the surface tree: what the author wrote, name for name, before any checking.

Every node has a `span` that never takes part in equality, so `parse(show(tree)) == tree`.
Comments stand before the item that they precede (`comments`), one entry a line, without the dashes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from charter.diagnostics import Span
from charter.syntax.nodes_body import (
    Assign,
    CallOperation,
    Clear,
    Conjunct,
    Crash,
    Each,
    Flush,
    Let,
    OfStep,
    Pick,
    Receive,
    Reply,
    Require,
    Send,
    Statement,
)
from charter.syntax.nodes_decl import (
    AliasDecl,
    AnyOrder,
    Assume,
    Bound,
    Branch,
    CaseDecl,
    ChannelDecl,
    ComponentDecl,
    ConstDecl,
    CounterDecl,
    Do,
    EnumDecl,
    EventuallyDecl,
    Expect,
    Fails,
    Fair,
    FaultRule,
    FieldDecl,
    FragmentDecl,
    FunDecl,
    Include,
    InstanceDecl,
    Like,
    Line,
    Misses,
    Moment,
    Observed,
    ObserveDecl,
    Offers,
    Only,
    Operation,
    OperationLine,
    Param,
    PartDecl,
    Prelude,
    PropertyDecl,
    RecordDecl,
    ScenarioDecl,
    Setting,
    SetupDecl,
    SortDecl,
    SourceDecl,
    Start,
    StateDecl,
    StepDecl,
    SystemDecl,
    UnionDecl,
)
from charter.syntax.nodes_expr import (
    AnyBinder,
    Apply,
    Binary,
    BinaryOp,
    Binder,
    BoolLit,
    Case,
    Citation,
    Comprehension,
    Entry,
    Expr,
    FieldInit,
    FieldOf,
    Ident,
    If,
    Index,
    IntLit,
    IntType,
    Is,
    Item,
    LetIn,
    MapLit,
    MapType,
    Match,
    Name,
    NamedArg,
    NamedType,
    Node,
    NoneLit,
    Pattern,
    PatternBinder,
    Quantifier,
    RecordLit,
    SeqLit,
    SeqType,
    SetLit,
    Took,
    Type,
    Unary,
    WithEntries,
    WithFields,
    WrappedType,
)

__all__ = [
    "Add",
    "AddFault",
    "Address",
    "AliasDecl",
    "AnyBinder",
    "AnyOrder",
    "Apply",
    "Assign",
    "Assume",
    "Binary",
    "BinaryOp",
    "Binder",
    "BoolLit",
    "Bound",
    "Branch",
    "CallOperation",
    "Case",
    "CaseDecl",
    "ChannelDecl",
    "Citation",
    "Clear",
    "ComponentDecl",
    "Comprehension",
    "Conjunct",
    "ConstDecl",
    "CounterDecl",
    "Crash",
    "Declaration",
    "Do",
    "Drop",
    "Each",
    "Edit",
    "Entry",
    "EnumDecl",
    "EventuallyDecl",
    "Expect",
    "Expr",
    "Fails",
    "Fair",
    "FaultRule",
    "FieldDecl",
    "FieldInit",
    "FieldOf",
    "File",
    "Flush",
    "FragmentDecl",
    "FunDecl",
    "Ident",
    "If",
    "Include",
    "Index",
    "InstanceDecl",
    "IntLit",
    "IntType",
    "Is",
    "Item",
    "Let",
    "LetIn",
    "Like",
    "Line",
    "MapLit",
    "MapType",
    "Match",
    "Misses",
    "Moment",
    "MutantDecl",
    "Name",
    "NamedArg",
    "NamedType",
    "Node",
    "NoneLit",
    "ObserveDecl",
    "Observed",
    "OfStep",
    "Offers",
    "Only",
    "Operation",
    "OperationLine",
    "OverlayDecl",
    "OverlayEntry",
    "Param",
    "PartDecl",
    "Pattern",
    "PatternBinder",
    "Pick",
    "Prelude",
    "PropertyDecl",
    "Protocol",
    "Quantifier",
    "Receive",
    "RecordDecl",
    "RecordLit",
    "Replace",
    "ReplaceBranch",
    "ReplaceFun",
    "ReplaceOperation",
    "ReplacePart",
    "Reply",
    "Require",
    "ScenarioDecl",
    "Send",
    "SeqLit",
    "SeqType",
    "SetLit",
    "Setting",
    "SetupDecl",
    "SortDecl",
    "SourceDecl",
    "Start",
    "StateDecl",
    "Statement",
    "StepDecl",
    "SystemDecl",
    "Took",
    "Type",
    "Unary",
    "UnionDecl",
    "VariantDecl",
    "WithEntries",
    "WithFields",
    "WrappedType",
]

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

    declaration: (
        FunDecl | PropertyDecl | EventuallyDecl | RecordDecl | EnumDecl | UnionDecl | AliasDecl
    )


@dataclass(frozen=True, slots=True)
class ReplaceBranch(Item):
    """`replace in controller.alter_partition branch committed ...`."""

    at: Address
    branch: Branch


@dataclass(frozen=True, slots=True)
class ReplaceOperation(Item):
    """`replace in controller operation f ...`, `replace in cluster step s ...`."""

    at: Address
    operation: Operation | StepDecl


@dataclass(frozen=True, slots=True)
class ReplaceFun(Item):
    """`replace fun f cites ... with e`: another body, with the parameters that `f` has."""

    name: Name
    citations: tuple[Citation, ...]
    value: Expr


@dataclass(frozen=True, slots=True)
class ReplacePart(Item):
    """`replace conjunct label of address with e`, `replace update x ...` (`x' = e` instead of what
    stood there), `replace pick x ...` (picked from `e`), `replace let x ...`,
    `replace history x ...` (what it becomes by a step), or `replace image x ...` (what an image
    shows of it; only in the entries of overlays)."""

    what: Literal["conjunct", "update", "pick", "let", "history", "image"]
    name: Name
    at: Address
    value: Expr


@dataclass(frozen=True, slots=True)
class Drop(Item):
    """`drop conjunct l of a`, `drop update x of a`, `drop branch a`, `drop property p`,
    `drop witness w`, `drop scenario "t"`, `drop operation a`, `drop step a`. Of a branch, an
    operation or a step `at` is the whole address and `name` its last part."""

    what: Literal[
        "conjunct", "update", "branch", "operation", "step", "property", "witness", "scenario"
    ]
    name: Name
    at: Address | None


@dataclass(frozen=True, slots=True)
class Add(Item):
    """`add fun ...`, `add witness ...`, or `add in controller state ...` / `... branch ...`."""

    at: Address | None
    before: Name | None
    declaration: Declaration | StateDecl | Operation | StepDecl | Branch


@dataclass(frozen=True, slots=True)
class AddFault(Item):
    """`add fault "Class" saying "text" to controller.unregister/removed when e`: only in the
    entries of overlays."""

    at: Address
    fault: FaultRule


Edit = (
    Replace | ReplaceFun | ReplaceBranch | ReplaceOperation | ReplacePart | Drop | Add | AddFault
)  # fmt: skip


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


Verdict = Literal["charter_gap", "by_design", "harmless", "known_defect", "suspected_defect"]
"""The class of an overlay's entry."""


@dataclass(frozen=True, slots=True)
class OverlayEntry(Item):
    """`entry name by_design for "4.0".."4.3" cites DOC "..." { edits }`.
    An empty release bound is open."""

    name: Name
    verdict: Verdict
    first_release: str
    last_release: str
    citations: tuple[Citation, ...]
    evidence: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class OverlayDecl(Item):
    """`overlay kafka_controller of controller { functions that entries share, entries }`."""

    name: Name
    component: Name
    functions: tuple[FunDecl, ...]
    entries: tuple[OverlayEntry, ...]


Declaration = (
    SourceDecl | SortDecl | CounterDecl | ConstDecl | EnumDecl | RecordDecl | UnionDecl | AliasDecl
    | FunDecl | ComponentDecl | SystemDecl | PropertyDecl | EventuallyDecl | SetupDecl
    | InstanceDecl | FragmentDecl | ScenarioDecl | VariantDecl | MutantDecl | OverlayDecl
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class File(Item):
    """One file: `protocol a.b` and declarations. Comments after the last one are `closing`.
    `broken`: where others stand, which have syntax errors."""

    protocol: Name
    declarations: tuple[Declaration, ...]
    broken: tuple[Span, ...] = ()


Protocol = tuple[File, ...]
"""All files of one protocol, in the order of their names; declarations see each other freely."""
