"""Defines the surface tree: declarations. See `charter.syntax.nodes`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from charter.syntax.nodes_body import Conjunct, Let, Statement
from charter.syntax.nodes_expr import AnyBinder, Citation, Expr, Item, Name, Node, Type


@dataclass(frozen=True, slots=True)
class SourceDecl(Item):
    """`source S2 "Replication correctness" at "https://..." { "§6.5": "isr" }`: what citations may
    name, its address, and for its sections anchors at this address or addresses of their own."""

    name: Name
    title: str
    url: str = ""
    anchors: tuple[tuple[str, str], ...] = ()


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
    """`record Partition alias "..." { ... }`; the alias is what implementers call it."""

    name: Name
    fields: tuple[FieldDecl, ...]
    alias: str = ""


@dataclass(frozen=True, slots=True)
class Param(Node):
    """`name: T`, or `name: T = e` with a default value."""

    name: Name
    type: Type
    default: Expr | None = None


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
    """`fun f(x: T) of machine -> U alias "..." cites ... = body`; without `of` it reads no state.
    `former` are bodies that edits have replaced: state that these read remains a parameter in core.
    """

    name: Name
    params: tuple[Param, ...]
    result: Type
    citations: tuple[Citation, ...]
    body: Expr
    machine: Name | None = None
    former: tuple[Expr, ...] = ()
    alias: str = ""


@dataclass(frozen=True, slots=True)
class StateDecl(Item):
    """`[volatile | cached | ghost] state x: T = e on disk y`, or `history x: T = e then f`: ghost
    state that `becomes` the value of `f` by each step. Of cached state, `on_disk` is the variable
    that says what a crash of the machine leaves."""

    name: Name
    type: Type
    initial: Expr
    kind: Literal["durable", "volatile", "cached", "ghost"]
    becomes: Expr | None = None
    on_disk: Name | None = None


@dataclass(frozen=True, slots=True)
class FaultRule(Node):
    """`fault "Class" saying "text" ... when e`: an exception that an implementation may throw
    instead. If omitted, `saying` is "" and `condition` None."""

    exception: str
    saying: str
    condition: Expr | None


@dataclass(frozen=True, slots=True)
class Branch(Item):
    """`branch name cites ... when guard { ... }`, or `... reply e` for a body of one reply.
    `faults` are added by edits of overlay entries; the grammar has none here."""

    name: Name
    citations: tuple[Citation, ...]
    guard: tuple[Conjunct, ...]
    body: tuple[Statement, ...]
    faults: tuple[FaultRule, ...] = ()


@dataclass(frozen=True, slots=True)
class AnyOrder(Item):
    """`in any order { branch ... }`: rejections whose order the sources do not specify."""

    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class Assume(Item):
    """`assume label cites ...: e`: what the environment keeps to, before the branches of an
    operation."""

    label: Name | None
    citations: tuple[Citation, ...]
    condition: Expr


OperationLine = Let | Assume | Branch | AnyOrder


@dataclass(frozen=True, slots=True)
class Operation(Item):
    """`operation f(x: T) -> U alias "..." cites ... { lets, assumptions, branches and groups, in
    order }`."""

    name: Name
    params: tuple[Param, ...]
    result: Type
    citations: tuple[Citation, ...]
    body: tuple[OperationLine, ...]
    alias: str = ""


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
    """`channel fetch: Broker -> Broker carries Request slot lossy`; one or two ends. A fifo may
    name its `limit` of messages (`fifo max 3`)."""

    name: Name
    ends: tuple[Type, ...]
    message: Type
    discipline: Literal["slot", "set", "fifo"]
    limit: Expr | None
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
class Fair(Node):
    """`deliver`, or `deliver(a, b)`: a step that is fair as a whole, or for each value of the named
    parameters on its own."""

    step: Name
    params: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class EventuallyDecl(Item):
    """`eventually p of system cites ... fair f, g: e`, or with `forall x in T: a leads to e`:
    then `binders` are those of the quantifiers in front, and `trigger` is `a`."""

    name: Name
    machine: Name
    citations: tuple[Citation, ...]
    fairness: tuple[Fair, ...]
    binders: tuple[AnyBinder, ...]
    trigger: Expr | None
    goal: Expr


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
class Misses(Item):
    """`misses register/unclean, epochs_grow`: branches, steps, properties and witnesses that this
    instance is too small to meet; a branch is one name with its slash."""

    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Fails(Item):
    """`fails acknowledged_is_kept`: properties that this instance shows to be violated."""

    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Like(Node):
    """`like three_up({b1}), quiet`: one of the set-ups or instances whose lines are taken over."""

    name: Name
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Do(Item):
    """`do operation(args)`, `do operation(args) -> branch reply e`: an operation (system: a step).
    `never do ...`: no possible trace can go on like this."""

    operation: Name
    args: tuple[Expr, ...]
    branch: Name | None
    reply: Expr | None = None
    never: bool = False


@dataclass(frozen=True, slots=True)
class Expect(Item):
    """`expect e`: must be true of some possible trace; the others are dropped. `never expect e`: is
    true of none."""

    condition: Expr
    never: bool = False


@dataclass(frozen=True, slots=True)
class Moment(Item):
    """`step "4 broker 2 unreachable"`: a headline of the story, for reports."""

    title: str


@dataclass(frozen=True, slots=True)
class Include(Item):
    """`include caught_up(b2)`: the lines of a fragment, with arguments."""

    name: Name
    args: tuple[Expr, ...]


Line = Let | Do | Expect | Moment | Include


@dataclass(frozen=True, slots=True)
class Prelude(Item):
    """`prelude { do register(b1) ... }`: leads from the machine's own first state to the one that
    the `start` lines say; the lines are those of a scenario."""

    body: tuple[Line, ...]


Setting = Bound | Start | Prelude | Offers | Only | Misses | Fails


@dataclass(frozen=True, slots=True)
class SetupDecl(Item):
    """`setup three_up(isr: set Broker) of cluster like ... { bounds, starts, ... }`: lines that
    instances and scenarios share."""

    name: Name
    params: tuple[Param, ...]
    machine: Name
    likes: tuple[Like, ...]
    body: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class InstanceDecl(Item):
    """`instance tiny of controller like ... { bounds, starts, offers }`."""

    name: Name
    machine: Name
    likes: tuple[Like, ...]
    body: tuple[Setting, ...]


@dataclass(frozen=True, slots=True)
class FragmentDecl(Item):
    """`fragment caught_up(b: Broker) of controller { steps }`: steps that scenarios include."""

    name: Name
    params: tuple[Param, ...]
    machine: Name
    body: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class ScenarioDecl(Item):
    """`scenario "S1-E1 ..." of controller like ... cites S1 "..." { bounds, starts, steps }`."""

    title: str
    machine: Name
    likes: tuple[Like, ...]
    citations: tuple[Citation, ...]
    body: tuple[Bound | Start | Prelude | Line, ...]
