"""Changes a system so that it makes given calls of one of its parts, one after another, and no
other call of that part.

The system gets one more variable, the *position*: a node of a tree of calls. Each step that calls
an operation of the part is enabled only if an edge of the tree leads on from the position with that
operation and those arguments. It moves the position along that edge; a step with several calls
moves it several times. Everything else is as the charter has it. So a state at some node of
the tree is reached exactly if the system can make all calls on the way to that node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from charter.analysis.written_values import write_value
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.semantics.values import Universe

POSITION = "--position"
"""The name of the variable; no variable of a charter can have it."""

WAIT = "--wait"
"""The name of a step that changes nothing: a system that may make no other call is no deadlock."""

_BOOL = t.Bool()
_TRUE = n.Literal(True, type=_BOOL)


@dataclass(frozen=True, slots=True)
class CallEdge:
    """An edge of the tree of calls, from one node to another; a node is a number, the root 0.
    `args` are the arguments by the position of their parameter; one that is missing may be
    anything."""

    source: int
    target: int
    operation: str
    args: tuple[tuple[int, Value], ...]


@dataclass(frozen=True, slots=True)
class FollowedPart:
    """Whose calls are followed: a part of a system and, if there are many, the value of its
    index."""

    name: str
    key: Value = None


@dataclass(frozen=True, slots=True)
class FollowedCalls:
    """A tree of calls: its edges, and the depth of each node."""

    edges: tuple[CallEdge, ...]
    depths: tuple[int, ...]

    def list_at(self, depth: int) -> tuple[int, ...]:
        """The nodes at a depth."""
        return tuple(node for node, known in enumerate(self.depths) if known == depth)


def name_of_depth(depth: int) -> str:
    """The name of the property that is violated where the position has this depth."""
    return f"--reached-{depth}"


def follow_calls(
    model: n.Model, system: str, part: FollowedPart, calls: FollowedCalls, universe: Universe
) -> n.Model:
    """`model` with a system that makes the calls of a tree. For each depth of
    the tree it has one property, which is violated there (`name_of_depth`)."""
    edges = calls.edges
    last = len(calls.depths) - 1
    kind = t.Int(t.Limit("", -1), t.Limit("", last))
    whole = next(s for s in model.systems if s.name == system)
    follower = _Follower(part, _operations(model, whole, part), edges, universe, kind, whole)
    position = n.StateVar(POSITION, kind, n.Literal(0, type=kind), "durable")
    changed = replace(
        whole,
        state=(*whole.state, position),
        steps=(*(follower.step(step) for step in whole.steps), n.Step(WAIT, (), (), ())),
    )
    at = n.StateRef(POSITION, type=kind)
    properties: list[n.Property] = []
    for depth in range(1, max(calls.depths) + 1):
        here = calls.list_at(depth)
        is_there = _any(n.Binary("eq", at, n.Literal(node, type=kind), type=_BOOL) for node in here)
        never = n.Unary("not", is_there, type=_BOOL)
        properties.append(n.Property("always", name_of_depth(depth), system, never, ()))
    return replace(
        model,
        systems=tuple(changed if s is whole else s for s in model.systems),
        properties=tuple(properties),
        liveness=(),
    )


def find_impossible(
    model: n.Model, system: str, part: str, calls: FollowedCalls
) -> tuple[CallEdge, tuple[int, ...]] | None:
    """A call that no step of a system makes, whatever the state, and the positions of the arguments
    for which all give other constants: none if no step calls the operation. None if the text
    excludes no call on some way to the end of the tree."""
    whole = next(s for s in model.systems if s.name == system)
    sites = [
        line
        for step in whole.steps
        for line in step.body
        if isinstance(line, n.CallOperation) and line.part == part
    ]
    possible, missing = {0}, None
    for edge in calls.edges:
        if edge.source in possible:
            mine = [site for site in sites if site.operation == edge.operation]
            apart = [_differing(site, edge) for site in mine]
            if all(apart):
                missing = missing or (edge, min(apart, key=len, default=()))
            else:
                possible.add(edge.target)
    ends = calls.list_at(max(calls.depths))
    return None if possible.intersection(ends) else missing


def _differing(site: n.CallOperation, edge: CallEdge) -> tuple[int, ...]:
    """The positions of the arguments for which a step gives another constant."""
    return tuple(
        i
        for i, value in edge.args
        if isinstance(site.args[i], n.Literal) and site.args[i] != _literal(site.args[i], value)
    )


def _literal(like: n.Expr, value: Value) -> n.Expr | None:
    if value is None or isinstance(value, bool | int | str):
        return n.Literal(value, type=like.type)
    return None


def _operations(
    model: n.Model, system: n.System, part: FollowedPart
) -> Mapping[str, tuple[n.Param, ...]]:
    component = next(p.component for p in system.parts if p.name == part.name)
    held = next(c for c in model.components if c.name == component)
    return {operation.name: operation.params for operation in held.operations}


@dataclass(frozen=True, slots=True)
class _Follower:
    part: FollowedPart
    operations: Mapping[str, tuple[n.Param, ...]]
    edges: Sequence[CallEdge]
    universe: Universe
    kind: t.Int
    system: n.System

    def step(self, step: n.Step) -> n.Step:
        """A step that is enabled only where its calls lead on."""
        body: list[n.Statement] = []
        at: n.Expr = n.StateRef(POSITION, type=self.kind)
        calls = 0
        for line in step.body:
            if isinstance(line, n.CallOperation) and line.part == self.part.name:
                calls += 1
                after = n.Local(f"{POSITION}.{calls}", type=self.kind)
                body.append(n.Bind(after.name, self._next(line, at)))
                zero = n.Literal(0, type=self.kind)
                body.append(n.Require(n.Binary("ge", after, zero, type=_BOOL)))
                at = after
            body.append(line)
        if calls:
            body.append(n.Assign(POSITION, at))
        return replace(step, body=tuple(body))

    def _next(self, call: n.CallOperation, at: n.Expr) -> n.Expr:
        """The node after a call at a node; -1 if no edge fits."""
        found: n.Expr = n.Literal(-1, type=self.kind)
        params = self.operations[call.operation]
        for edge in reversed(self.edges):
            if edge.operation == call.operation:
                here = n.Literal(edge.source, type=self.kind)
                fits = _all((
                    n.Binary("eq", at, here, type=_BOOL),
                    *(
                        n.Binary("eq", call.args[i], self._value(params[i].type, v), type=_BOOL)
                        for i, v in edge.args
                    ),
                ))  # fmt: skip
                there = n.Literal(edge.target, type=self.kind)
                found = n.If(fits, there, found, type=self.kind)
        index = next(p.index for p in self.system.parts if p.name == self.part.name)
        if index is None or call.index is None:
            return found
        mine = n.Binary("eq", call.index, self._value(index, self.part.key), type=_BOOL)
        return n.If(mine, found, at, type=self.kind)

    def _value(self, kind: t.Type, value: Value) -> n.Expr:
        return write_value(kind, value, self.universe)


def _all(conditions: Sequence[n.Expr]) -> n.Expr:
    return reduce(lambda a, b: n.Binary("and", a, b, type=_BOOL), conditions)


def _any(conditions: Iterator[n.Expr]) -> n.Expr:
    return reduce(lambda a, b: n.Binary("or", a, b, type=_BOOL), conditions)


__all__ = [
    "POSITION", "WAIT", "CallEdge", "FollowedCalls", "FollowedPart", "find_impossible",
    "follow_calls", "name_of_depth",
]  # fmt: skip
