"""Expressions of core: typed, with spans. `charter.core.nodes` has all names of the tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeAlias, final
from typing import Literal as OneOf

from charter.core.builtins import BUILTINS, BuiltinName, PrimitiveName, Traits
from charter.core.operators import OPERATORS, OperatorTraits, RichOp, Side
from charter.core.types import Type
from charter.diagnostics import NOWHERE, Span

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # its default is in `typing` from Python 3.13 on

    E_co = TypeVar("E_co", covariant=True, bound="Expr", default="Expr")
    Op_co = TypeVar("Op_co", covariant=True, bound=RichOp, default=RichOp)
else:
    from typing import TypeVar

    E_co = TypeVar("E_co", covariant=True)
    Op_co = TypeVar("Op_co", covariant=True)

Value = bool | int | str | None | tuple["Value", ...] | frozenset["Value"]
"""Values; only their type distinguishes them. bool, bounded int and counter: bool and int; sort
element: its number from 0; enum: member name; option: None or the value itself; record: tuple of
fields; union: (tag, parameter, ...); set: frozenset; map: tuple of values in the order of
`universe.domain(key type)`; sequence and ranking: tuple."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What all expressions share."""

    type: Type
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """What all statements and declarations share: a span and the comment above it. Functions,
    operations and steps also have the comment that opened their `section`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)
    doc: str = field(default="", compare=False)
    section: str = field(default="", compare=False, repr=False)


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
    is never shadowed; disjoint scopes may use the same name."""

    name: str


@final
@dataclass(frozen=True, slots=True)
class StateRef(Typed):
    """A state variable of the machine; in a system `part.variable`, a map if the part is indexed.
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
class Call(Typed, Generic[E_co]):
    """A call of a declared function."""

    function: str
    args: tuple[E_co, ...]


@final
@dataclass(frozen=True, slots=True)
class Builtin(Typed, Generic[E_co]):
    """A built-in function."""

    name: BuiltinName
    args: tuple[E_co, ...]

    @property
    def traits(self) -> Traits:
        """What is known of the function."""
        return BUILTINS[self.name]


@final
@dataclass(frozen=True, slots=True)
class FieldOf(Typed, Generic[E_co]):
    """A field of a record."""

    target: E_co
    field: str


@final
@dataclass(frozen=True, slots=True)
class MapGet(Typed, Generic[E_co]):
    """The value at a key; maps are total."""

    target: E_co
    key: E_co


@final
@dataclass(frozen=True, slots=True)
class RecordNew(Typed, Generic[E_co]):
    """All fields, in the order of the record."""

    fields: tuple[E_co, ...]


@final
@dataclass(frozen=True, slots=True)
class RecordWith(Typed, Generic[E_co]):
    """A record with some fields replaced."""

    target: E_co
    fields: tuple[tuple[str, E_co], ...]


@final
@dataclass(frozen=True, slots=True)
class UnionNew(Typed, Generic[E_co]):
    """A case of a union."""

    tag: str
    args: tuple[E_co, ...]


@final
@dataclass(frozen=True, slots=True)
class MapWith(Typed, Generic[E_co]):
    """A map with some entries replaced; a later entry for the same key wins."""

    target: E_co
    entries: tuple[tuple[E_co, E_co], ...]


@final
@dataclass(frozen=True, slots=True)
class MapNew(Typed, Generic[E_co]):
    """`[name in K: value]`; the key type is that of `type`."""

    name: str
    value: E_co


@final
@dataclass(frozen=True, slots=True)
class SetNew(Typed, Generic[E_co]):
    """`{a, b}`."""

    items: tuple[E_co, ...]


@final
@dataclass(frozen=True, slots=True)
class SeqNew(Typed, Generic[E_co]):
    """`<a, b>`: a sequence or, by its type, a ranking (a repeat fails)."""

    items: tuple[E_co, ...]


@final
@dataclass(frozen=True, slots=True)
class Present(Typed, Generic[E_co]):
    """`present(x)`."""

    inner: E_co


@final
@dataclass(frozen=True, slots=True)
class Comprehend(Typed, Generic[E_co]):
    """`{ body for name in domain if condition }`; more binders nest: the body is then a set and
    `flatten` joins them."""

    name: str
    domain: E_co
    condition: E_co
    body: E_co
    flatten: bool = False


@final
@dataclass(frozen=True, slots=True)
class Quantified(Typed, Generic[E_co]):
    """`forall`, `some`, `exactly one` (bool), `the` (the only member with the property; fails
    otherwise), or `sum` (of the bodies, which are numbers)."""

    kind: OneOf["forall", "some", "exactly one", "the", "sum"]
    name: str
    domain: E_co
    body: E_co


UnaryOp = OneOf["not", "negate"]


@final
@dataclass(frozen=True, slots=True)
class Unary(Typed, Generic[E_co]):
    """`not x`, `-x`."""

    op: UnaryOp
    operand: E_co


@final
@dataclass(frozen=True, slots=True)
class Binary(Typed, Generic[E_co, Op_co]):
    """An infix operation; `not in` and `!=` on sets are spelled with `not` and `ne`."""

    op: Op_co
    left: E_co
    right: E_co

    @property
    def traits(self) -> OperatorTraits:
        """What is known of the operator."""
        return OPERATORS[self.op]

    def side(self, which: Side) -> E_co:
        """One of the operands."""
        return self.left if which == "left" else self.right


@final
@dataclass(frozen=True, slots=True)
class If(Typed, Generic[E_co]):
    """Only the branch that is taken is evaluated."""

    condition: E_co
    then: E_co
    otherwise: E_co


@final
@dataclass(frozen=True, slots=True)
class Let(Typed, Generic[E_co]):
    """`let name = value in body`."""

    name: str
    value: E_co
    body: E_co


@dataclass(frozen=True, slots=True)
class Case(Generic[E_co]):
    """One case of a match; `tag` is a union case, an enum member, `none` or `present`."""

    tag: str
    names: tuple[str, ...]
    body: E_co


@final
@dataclass(frozen=True, slots=True)
class Match(Typed, Generic[E_co]):
    """Exhaustive, as the checker ensures. The cases are in the order of the text."""

    subject: E_co
    cases: tuple[Case[E_co], ...]


@final
@dataclass(frozen=True, slots=True)
class IsCase(Typed, Generic[E_co]):
    """Whether an option, a union or an enum is in the case `tag`, named as in a match."""

    target: E_co
    tag: str


@final
@dataclass(frozen=True, slots=True)
class CaseArg(Typed, Generic[E_co]):
    """The parameter of a union's case at a position, or (`present`, 0) the content of an option. It
    is only evaluated where `IsCase` is true of the target and the tag."""

    target: E_co
    tag: str
    position: int


@final
@dataclass(frozen=True, slots=True)
class Primitive(Typed, Generic[E_co]):
    """An operation that built-in functions are lowered to."""

    name: PrimitiveName
    args: tuple[E_co, ...]


@final
@dataclass(frozen=True, slots=True)
class Checked(Typed, Generic[E_co]):
    """`value`; undefined if `condition` is false, with the message `why`."""

    condition: E_co
    value: E_co
    why: str


@final
@dataclass(frozen=True, slots=True)
class Took(Typed):
    """True of a transition that took this branch (step properties and witnesses)."""

    branch: str


Expr: TypeAlias = (
    "Literal | Local | StateRef | ConstRef | Domain | Took | Call[Expr] | Builtin[Expr]"
    " | FieldOf[Expr] | MapGet[Expr] | RecordNew[Expr] | RecordWith[Expr] | UnionNew[Expr]"
    " | MapWith[Expr] | MapNew[Expr] | SetNew[Expr] | SeqNew[Expr] | Present[Expr]"
    " | Comprehend[Expr] | Quantified[Expr] | Unary[Expr] | Binary[Expr] | If[Expr] | Let[Expr]"
    " | Match[Expr] | IsCase[Expr] | CaseArg[Expr] | Primitive[Expr] | Checked[Expr]"
)
"""An expression of rich core: every kind of node. Nodes are rich unless their type parameter says
otherwise: `If` is `If[Expr]`. The nodes of small core are listed in `charter.core.small`."""
