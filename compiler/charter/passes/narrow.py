"""Pass: what no machine, or not the one that is worked on, depends on is dropped.

Changes: the declarations of a model. What belongs to one machine must not change with its
neighbours: its counts, its models, the digest of its rules.
Keeps: what is left, and its order.
Leaves none of: declarations that nothing mentions but the machines that were dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from charter.core import nodes as n
from charter.core import types as t
from charter.core.walk import children, expressions, instances_of, state_of


def narrowed(model: n.Model, machine: str) -> n.Model:
    """`model` with `machine` ("": all of them), its parts, its properties, instances, scenarios and
    mutants, and the functions, types and constants that these mention, in their order."""
    cut = _of_machine(model, machine) if machine else model
    functions, kinds, consts = _reached(cut)
    return replace(
        cut,
        functions=tuple(f for f in cut.functions if f.name in functions),
        sorts=tuple(k for k in cut.sorts if k in kinds),
        counters=tuple(k for k in cut.counters if k in kinds),
        enums=tuple(k for k in cut.enums if k in kinds),
        records=tuple(k for k in cut.records if k in kinds),
        unions=tuple(k for k in cut.unions if k in kinds),
        consts=tuple((name, kind) for name, kind in cut.consts if name in consts),
    )


def _of_machine(model: n.Model, machine: str) -> n.Model:
    systems = tuple(s for s in model.systems if s.name == machine)
    names = {machine, *(part.component for s in systems for part in s.parts)}
    instances = tuple(i for i in model.instances if i.machine == machine)
    places = {i.name for i in instances}
    return replace(
        model,
        components=tuple(c for c in model.components if c.name in names),
        systems=systems,
        properties=tuple(p for p in model.properties if p.machine == machine),
        instances=instances,
        scenarios=tuple(s for s in model.scenarios if s.instance.machine == machine),
        mutants=tuple(m for m in model.mutants if m.instance in places),
        liveness=tuple(live for live in model.liveness if live.machine == machine),
    )


def _reached(cut: n.Model) -> tuple[set[str], set[t.Type], set[str]]:
    """Functions, types and constants that the machines of a model lead to."""
    functions = {f.name: f for f in cut.functions}
    wanted: set[str] = set()
    kinds = {kind for stated in _stated(cut) for kind in t.inside(stated)}
    consts = {name for i in instances_of(cut) for name, _ in i.consts}
    waiting = list(expressions(cut))
    # By identity, since the hash of a type is computed from all of it.
    looked_at: set[int] = set()
    while waiting:
        e = waiting.pop()
        if id(e.type) not in looked_at:
            looked_at.add(id(e.type))
            kinds.update(t.inside(e.type))
        waiting += children(e)
        if isinstance(e, n.ConstRef):
            consts.add(e.name)
        if isinstance(e, n.Call) and e.function not in wanted:
            wanted.add(e.function)
            function = functions[e.function]
            waiting.append(function.body)
            for stated in (function.result, *(p.type for p in function.params)):
                kinds |= set(t.inside(stated))
    return wanted, kinds, consts | {name for kind in kinds for name in limits_of(kind)}


def _stated(cut: n.Model) -> Iterator[t.Type]:
    """The types of state, parameters and replies."""
    yield from (v.type for v in state_of(cut))
    for component in cut.components:
        for operation in component.operations:
            yield operation.result
            yield from (p.type for p in operation.params)
    for system in cut.systems:
        for step in system.steps:
            yield from (p.type for p in step.params)
    for live in cut.liveness:
        yield from (p.type for p in live.params)


def limits_of(kind: t.Type) -> set[str]:
    """The constants that bound a type itself."""
    limits: Iterable[t.Limit | None] = ()
    match kind:
        case t.Int(low, high):
            limits = (low, high)
        case t.Seq(limit=most):
            limits = (most,)
        case t.Bool() | t.Sort() | t.Counter() | t.Enum() | t.Option() | t.Record() | t.Union():
            pass
        case t.Set() | t.Map() | t.Ranking():
            pass
    return {limit.const for limit in limits if limit is not None and limit.const}
