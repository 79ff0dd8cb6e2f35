"""Drops the ghost state that only properties read, for searches without these properties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from charter.core import nodes as n
from charter.core.walk import branch_expressions, nodes, statement_expressions


@dataclass(frozen=True, slots=True)
class _Read:
    """The variables that an expression reads, by component or system; `to` is the one that it
    updates (None: it is no update)."""

    to: tuple[str, str] | None
    names: frozenset[tuple[str, str]]


def drop_ghosts(model: n.Model) -> n.Model:
    """`model` without the ghost variables that no operation and no step needs. Its properties,
    scenarios and mutants are dropped, too, since they may read these."""
    own = {f"{p.name}.": p.component for s in model.systems for p in s.parts}
    state = [(c.name, v) for c in model.components for v in c.state]
    state += [(s.name, v) for s in model.systems for v in s.state]
    ghosts = {_owner(name, v.name, own) for name, v in state if v.kind == "ghost"}
    reads = [*_reads_of_components(model), *_reads_of_systems(model, own)]
    needed: set[tuple[str, str]] = set()
    before = -1
    while before < len(needed):
        before = len(needed)
        for read in reads:
            if read.to not in ghosts or read.to in needed:
                needed |= read.names & ghosts
    return _without(model, frozenset(ghosts - needed), own)


def _owner(machine: str, name: str, own: dict[str, str]) -> tuple[str, str]:
    """Whose variable a name is: `part.x` of a system is that of the part's component."""
    part, dot, inner = name.partition(".")
    return (own[part + dot], inner) if part + dot in own else (machine, name)


def _reads_of_components(model: n.Model) -> Iterator[_Read]:
    for component in model.components:
        assumed = [(None, a.condition) for o in component.operations for a in o.assumes]
        yield from _reads(component.name, assumed, {})
        for branch in (b for o in component.operations for b in o.branches):
            body = [(line, e) for line in branch.body for e in statement_expressions(line)]
            others = branch_expressions(replace(branch, body=()))
            yield from _reads(component.name, [*((None, e) for e in others), *body], {})


def _reads_of_systems(model: n.Model, own: dict[str, str]) -> Iterator[_Read]:
    for system in model.systems:
        for step in system.steps:
            body = [(line, e) for line in step.body for e in statement_expressions(line)]
            yield from _reads(system.name, body, own)


def _reads(
    machine: str, lines: Iterable[tuple[n.Statement | None, n.Expr]], own: dict[str, str]
) -> Iterator[_Read]:
    for line, expr in lines:
        read = (e.name for e in nodes(expr) if isinstance(e, n.StateRef))
        updates = isinstance(line, n.Assign)
        to = _owner(machine, line.variable, own) if isinstance(line, n.Assign) else None
        yield _Read(to if updates else None, frozenset(_owner(machine, r, own) for r in read))


def _without(model: n.Model, gone: frozenset[tuple[str, str]], own: dict[str, str]) -> n.Model:
    def stays(machine: str, name: str) -> bool:
        return _owner(machine, name, own) not in gone

    def keep(machine: str, variables: tuple[n.StateVar, ...]) -> tuple[n.StateVar, ...]:
        return tuple(v for v in variables if stays(machine, v.name))

    def operation(machine: str, one: n.Operation) -> n.Operation:
        made = (
            replace(
                branch,
                body=tuple(
                    line
                    for line in branch.body
                    if not isinstance(line, n.Assign) or stays(machine, line.variable)
                ),
            )
            for branch in one.branches
        )
        return replace(one, branches=tuple(made))

    def step(machine: str, one: n.Step) -> n.Step:
        lines = (
            line
            for line in one.body
            if not isinstance(line, n.Assign) or stays(machine, line.variable)
        )
        return replace(one, body=tuple(lines))

    return replace(
        model,
        components=tuple(
            replace(
                c,
                state=keep(c.name, c.state),
                operations=tuple(operation(c.name, o) for o in c.operations),
            )
            for c in model.components
        ),
        systems=tuple(
            replace(s, state=keep(s.name, s.state), steps=tuple(step(s.name, x) for x in s.steps))
            for s in model.systems
        ),
        instances=tuple(
            replace(i, starts=tuple((v, e) for v, e in i.starts if stays(i.machine, v)))
            for i in model.instances
        ),
        properties=(),
        liveness=(),
        scenarios=(),
        mutants=(),
    )
