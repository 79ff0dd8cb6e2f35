"""Collects the functions, types and constants that a component depends on, in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from charter.core import nodes as n
from charter.core import types as t
from charter.core.walk import children


@dataclass(frozen=True, slots=True)
class Reach:
    """What is reachable, in the order of the protocol."""

    functions: tuple[n.Function, ...]
    sorts: tuple[t.Sort, ...]
    counters: tuple[t.Counter, ...]
    enums: tuple[t.Enum, ...]
    records: tuple[t.Record, ...]
    unions: tuple[t.Union, ...]
    consts: tuple[str, ...]

    @staticmethod
    def of(model: n.Model, component: n.Component) -> Reach:
        """What `component` needs."""
        functions = {f.name: f for f in model.functions}
        wanted: set[str] = set()
        kinds: set[t.Type] = set()
        consts: set[str] = set()
        waiting = list(expressions(component))
        for variable in component.state:
            kinds |= set(t.inside(variable.type))
        for operation in component.operations:
            for kind in (operation.result, *(p.type for p in operation.params)):
                kinds |= set(t.inside(kind))
        while waiting:
            e = waiting.pop()
            kinds |= set(t.inside(e.type))
            waiting += children(e)
            if isinstance(e, n.ConstRef):
                consts.add(e.name)
            consts |= constants(e)
            if isinstance(e, n.Call) and e.function not in wanted:
                function = functions[e.function]
                wanted.add(e.function)
                waiting.append(function.body)
                for param in function.params:
                    kinds |= set(t.inside(param.type))
        return Reach(
            functions=tuple(f for f in model.functions if f.name in wanted),
            sorts=tuple(k for k in model.sorts if k in kinds),
            counters=tuple(k for k in model.counters if k in kinds),
            enums=tuple(k for k in model.enums if k in kinds),
            records=tuple(k for k in model.records if k in kinds),
            unions=tuple(k for k in model.unions if k in kinds),
            consts=tuple(name for name, _ in model.consts if name in consts),
        )


def constants(e: n.Expr) -> set[str]:
    """The constants in the limits that the text of `e` itself will mention."""
    match e:
        case n.Domain(type=t.Set(inner)):
            kinds = list(t.inside(inner))
        case n.MapNew(type=t.Map(key=key)):
            kinds = list(t.inside(key))
        case n.Builtin(name="append" | "concat", type=t.Seq(limit=most)):
            return {most.const} - {""}
        case _:
            return set()
    found: set[str] = set()
    for kind in kinds:
        match kind:
            case t.Int(low, high):
                found |= {limit.const for limit in (low, high) if limit is not None}
            case t.Seq(limit=limit):
                found.add(limit.const)
            case _:
                pass
    return found - {""}


def expressions(component: n.Component) -> Iterator[n.Expr]:
    """Every expression of a component that is not for ghost state alone."""
    ghosts = {v.name for v in component.state if v.kind == "ghost"}
    yield from (v.initial for v in component.state if v.name not in ghosts)
    for operation in component.operations:
        for branch in operation.branches:
            yield branch.reply
            yield from (bind.value for bind in branch.lets)
            yield from (conjunct.condition for conjunct in branch.guard)
            yield from (fault.condition for fault in branch.faults)
            for statement in branch.body:
                match statement:
                    case n.Bind(value=value):
                        yield value
                    case n.Assign(variable=variable, value=value) if variable not in ghosts:
                        yield value
                    case n.Pick(domain=domain):
                        yield domain
                    case n.Assign():
                        pass
