"""Defines core, the typed tree that everything after the checker reads.

Unlike in the surface tree names are resolved, every expression has a type, nested updates and
several binders are expanded. Constructors, built-ins and finite types as domains have own nodes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeAlias
from typing import Literal as OneOf

from charter.core.builtins import BuiltinName, PrimitiveName
from charter.core.expressions import (
    Binary,
    Builtin,
    Call,
    Case,
    CaseArg,
    Checked,
    Comprehend,
    ConstRef,
    Domain,
    E_co,
    Expr,
    FieldOf,
    If,
    IsCase,
    Let,
    Literal,
    Local,
    MapGet,
    MapNew,
    MapWith,
    Match,
    Placed,
    Present,
    Primitive,
    Quantified,
    RecordNew,
    RecordWith,
    SeqNew,
    SetNew,
    StateRef,
    Took,
    Typed,
    Unary,
    UnaryOp,
    UnionNew,
    Value,
)
from charter.core.operators import RichOp
from charter.core.types import Counter, Enum, Record, Sort, Type, Union

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    S_co = TypeVar("S_co", covariant=True, bound="Statement", default="Statement")
else:
    from typing import TypeVar

    S_co = TypeVar("S_co", covariant=True)

# --- statements ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bind(Placed, Generic[E_co]):
    """`let name = value`; in a scenario `value` is that of the state at its line."""

    name: str
    value: E_co


@dataclass(frozen=True, slots=True)
class Pick(Placed, Generic[E_co]):
    """Nondeterminism. Without `index`: `name` is any member of `domain`; with `or_none` it is an
    option, none exactly if `domain` is empty. With `index` (a variable and a finite type) the
    choice is made for each index on its own, and `name` is a map."""

    name: str
    type: Type
    index: tuple[str, Type] | None
    domain: E_co
    or_none: bool


@dataclass(frozen=True, slots=True)
class Assign(Placed, Generic[E_co]):
    """`variable' = value`, the whole variable. All reads are of the state before."""

    variable: str
    value: E_co


@dataclass(frozen=True, slots=True)
class Require(Placed, Generic[E_co]):
    """A step is enabled only where `condition` holds (steps of systems only); `label` is "" if it
    has none."""

    condition: E_co
    label: str = ""


@dataclass(frozen=True, slots=True)
class CallOperation(Placed, Generic[E_co]):
    """A step calls an operation of a part. `result` names the reply ("" if unused). Calls take
    effect one after another; all other expressions of a step read the state before the step."""

    result: str
    part: str
    index: E_co | None
    operation: str
    args: tuple[E_co, ...]


@dataclass(frozen=True, slots=True)
class OnChannel(Placed):
    """A statement of a step that changes a channel."""


@dataclass(frozen=True, slots=True)
class Send(OnChannel, Generic[E_co]):
    """Puts a message into a channel at `keys`; a step is enabled only if there is room after the
    statements above. `type` is that of the channel's variable: nested maps over its ends. `each` is
    a local, which is one of the keys, and the set that it ranges over: a message is sent for each
    member. If `condition` is false, none is sent."""

    channel: str
    type: Type
    keys: tuple[E_co, ...]
    message: E_co
    each: tuple[str, E_co] | None = None
    condition: E_co | None = None


@dataclass(frozen=True, slots=True)
class Receive(OnChannel, Generic[E_co]):
    """Takes a message out of a channel at `keys` and names it; a step is enabled only if there is
    one after the statements above. If it `may_stay` (the channel duplicates), it is removed in one
    outcome and kept in another. `many` is for fifos: as many messages are taken, at least one, and
    the name stands for their sequence."""

    name: str
    channel: str
    type: Type
    keys: tuple[E_co, ...]
    may_stay: bool = False
    many: E_co | None = None


@dataclass(frozen=True, slots=True)
class Clear(OnChannel, Generic[E_co]):
    """Removes all messages from a channel at `keys`. `each` and `condition` as in `Send`."""

    channel: str
    type: Type
    keys: tuple[E_co, ...]
    each: tuple[str, E_co] | None = None
    condition: E_co | None = None


Change: TypeAlias = "Bind[E_co] | Pick[E_co] | Assign[E_co]"
"""A statement of a branch."""

Repeated: TypeAlias = "Send[Expr] | Clear[Expr]"
"""A statement that may be done for each member of a set."""

ChannelUse: TypeAlias = "Repeated | Receive[Expr]"
"""The kinds of `OnChannel`."""

Statement: TypeAlias = "Change[Expr] | Require | CallOperation | ChannelUse"
"""A statement of a step in rich core."""


# --- declarations --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Citation:
    """The name of a source ("silent" if no text says anything) and the section."""

    source: str
    section: str


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter of a function, an operation or a step."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Function(Placed, Generic[E_co]):
    """A pure total function; never recursive."""

    name: str
    params: tuple[Param, ...]
    result: Type
    body: E_co
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Conjunct(Placed, Generic[E_co]):
    """One part of a guard; unlabelled ones are called `1`, `2`, ... by position."""

    label: str
    condition: E_co


@dataclass(frozen=True, slots=True)
class FaultRule(Placed, Generic[E_co]):
    """What an implementation may do instead of a branch if `condition` is true (it is evaluated
    where the guard is): throw an exception of the class `exception` whose message contains
    `saying`, without changing state. Only overlay entries add fault rules."""

    exception: str
    saying: str
    condition: E_co


@dataclass(frozen=True, slots=True)
class Branch(Placed, Generic[E_co]):
    """A named branch. Evaluated are `lets` (those of the operation before it), then the guard, then
    `body` in order, then `reply`. `group` is 0, or the number of its `in any order` group: within a
    group every branch with a true guard is allowed."""

    name: str
    group: int
    lets: tuple[Bind[E_co], ...]
    guard: tuple[Conjunct[E_co], ...]
    body: tuple[Change[E_co], ...]
    reply: E_co
    citations: tuple[Citation, ...]
    faults: tuple[FaultRule[E_co], ...] = ()


@dataclass(frozen=True, slots=True)
class Assumption(Placed, Generic[E_co]):
    """What holds whenever the environment calls an operation; it may read ghost state."""

    label: str
    condition: E_co
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation(Placed, Generic[E_co]):
    """Takes the first branch (or group) with a true guard; no value if an assumption is false."""

    name: str
    params: tuple[Param, ...]
    result: Type
    branches: tuple[Branch[E_co], ...]
    citations: tuple[Citation, ...]
    assumes: tuple[Assumption[E_co], ...] = field(default=(), metadata={"absent": True})


@dataclass(frozen=True, slots=True)
class StateVar(Placed, Generic[E_co]):
    """A state variable and its initial value. Volatile ones are lost in a failover: a component
    with volatile state has an operation `failover` that assigns them all. A history is a ghost
    variable that every branch assigns, as its declaration says. A budget counts how often steps
    may still be taken: a bound of the instance, no rule of the protocol."""

    name: str
    type: Type
    initial: E_co
    kind: OneOf["durable", "volatile", "ghost"]
    is_history: bool = field(default=False, compare=False, kw_only=True)
    is_budget: bool = field(default=False, compare=False, kw_only=True)


CompareMode = OneOf["exact", "difference", "opaque", "ignored"]


@dataclass(frozen=True, slots=True)
class Observable(Placed):
    """A path of state (variable, then fields; map keys are implied) that a level shows."""

    level: str
    path: tuple[str, ...]
    mode: CompareMode


@dataclass(frozen=True, slots=True)
class Component(Placed, Generic[E_co]):
    """Owns state and offers operations."""

    name: str
    state: tuple[StateVar[E_co], ...]
    operations: tuple[Operation[E_co], ...]
    observables: tuple[Observable, ...]


@dataclass(frozen=True, slots=True)
class Part(Placed):
    """A component inside a system: one, or one for each value of the finite type `index`."""

    name: str
    index: Type | None
    component: str


@dataclass(frozen=True, slots=True)
class Step(Placed, Generic[E_co, S_co]):
    """A step of the environment. `loses` is the lossy channel that it takes a message out of, if it
    is the step that the language gives to that channel, else ""."""

    name: str
    params: tuple[Param, ...]
    body: tuple[S_co, ...]
    citations: tuple[Citation, ...]
    loses: str = ""


@dataclass(frozen=True, slots=True)
class System(Placed, Generic[E_co, S_co]):
    """`state` holds everything: each part's variables as `part.variable`, channels, budgets and
    the system's own variables. `channels` are the names of those that are channels."""

    name: str
    parts: tuple[Part, ...]
    state: tuple[StateVar[E_co], ...]
    steps: tuple[Step[E_co, S_co], ...]
    channels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Property(Placed, Generic[E_co]):
    """`always` reads one state; `stepwise` the states before and after; a witness is either."""

    kind: OneOf["always", "stepwise", "witness"]
    name: str
    machine: str
    body: E_co
    citations: tuple[Citation, ...]


ASKED = "--where"
"""The name of the witness for the condition of `--where`; no property of a charter can have it."""


@dataclass(frozen=True, slots=True)
class Fair:
    """Weak fairness: runs are ignored in which the step (for each value of `params` separately)
    could change the state at every moment from some point on, and is never taken."""

    step: str
    params: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Eventually(Placed, Generic[E_co]):
    """In every fair run of a system, for all values of `params`: whenever `trigger` holds, `goal`
    holds then or later. Without a trigger: `goal` holds at least once."""

    name: str
    machine: str
    params: tuple[Param, ...]
    trigger: E_co | None
    goal: E_co
    fairness: tuple[Fair, ...]
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Instance(Placed, Generic[E_co]):
    """Sizes and names of the sorts, values of constants, initial values in place of the machine's
    and the `prelude` that leads there, the operations that it offers (empty: all), conditions on
    their arguments (`only`), what it is too small to meet (`misses`): branches (of systems: steps),
    properties and witnesses, and the properties that it shows to be violated (`fails`)."""

    name: str
    machine: str
    sorts: tuple[tuple[str, tuple[str, ...]], ...]
    consts: tuple[tuple[str, int], ...]
    starts: tuple[tuple[str, E_co], ...]
    offers: tuple[str, ...]
    only: tuple[tuple[str, E_co], ...] = ()
    misses: tuple[str, ...] = ()
    fails: tuple[str, ...] = ()
    prelude: Prelude | None = None


@dataclass(frozen=True, slots=True)
class Do(Placed):
    """An operation (a step, for a system) of a scenario; `branch` is "" if any may be taken, and
    `reply` none if it may reply anything. Arguments read the state before it, the reply reads the
    state after it. With `never` no trace goes on like this, and all stay where they are."""

    operation: str
    args: tuple[Expr, ...]
    branch: str
    reply: Expr | None = None
    never: bool = False


@dataclass(frozen=True, slots=True)
class Expect(Placed):
    """Traces where `condition` is false are dropped; if none is left, the scenario fails here. With
    `never` the scenario fails here if `condition` is true of a trace."""

    condition: Expr
    never: bool = False


@dataclass(frozen=True, slots=True)
class Moment(Placed):
    """A headline of the story."""

    title: str


Line = Do | Expect | Bind | Moment


@dataclass(frozen=True, slots=True)
class Prelude(Placed):
    """How a machine comes from its own first state to that of an instance."""

    steps: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Scenario(Placed):
    """A named trace with expected states, in an instance of its own (named like the title)."""

    title: str
    instance: Instance
    steps: tuple[Line, ...]
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Mutant(Placed):
    """A mistake, as edits: the instance that shows it and the property that must catch it. The
    edited model is a separate Model, loaded with `api.Selection(mutant=name)`."""

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
class Model(Placed, Generic[E_co, S_co]):
    """One protocol in one variant: everything that a backend needs."""

    protocol: str
    variant: str
    sorts: tuple[Sort, ...]
    counters: tuple[Counter, ...]
    enums: tuple[Enum, ...]
    records: tuple[Record, ...]
    unions: tuple[Union, ...]
    consts: tuple[tuple[str, Type], ...]
    functions: tuple[Function[E_co], ...]
    components: tuple[Component[E_co], ...]
    systems: tuple[System[E_co, S_co], ...]
    properties: tuple[Property[E_co], ...]
    instances: tuple[Instance[E_co], ...]
    scenarios: tuple[Scenario, ...]
    mutants: tuple[Mutant, ...]
    variants: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]
    docs: tuple[tuple[str, str], ...] = ()
    liveness: tuple[Eventually[E_co], ...] = ()
    links: tuple[tuple[str, str, str], ...] = ()
    """Source, section ("" for the whole text), and address."""


__all__ = [
    "ASKED", "Assign", "Binary", "Bind", "Branch", "Builtin", "BuiltinName", "Call",
    "CallOperation", "Case", "CaseArg", "Change", "ChannelUse", "Checked", "Citation", "Clear",
    "CompareMode", "Component", "Comprehend", "Conjunct", "ConstRef", "Do", "Domain", "Eventually",
    "Expect", "Expr", "Fair", "FieldOf", "Function", "If", "Instance", "IsCase", "Let", "Literal",
    "Local", "MapGet", "MapNew", "MapWith", "Match", "Model", "Moment", "Mutant", "Observable",
    "OnChannel", "Operation", "OverlayEntry", "Param", "Part", "Pick", "Placed", "Present",
    "Primitive", "PrimitiveName", "Property", "Quantified", "Receive", "RecordNew", "RecordWith",
    "Require", "RichOp", "S_co", "Scenario", "Send", "SeqNew", "SetNew", "StateRef", "StateVar",
    "Statement", "Step", "System", "Took", "Typed", "Unary", "UnaryOp", "UnionNew", "Value",
]  # fmt: skip
