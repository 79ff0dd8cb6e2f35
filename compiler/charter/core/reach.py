"""Finds the functions, types and constants that expressions depend on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from charter.core import nodes as n
from charter.core import types as t
from charter.core.by_identity import ByIdentity
from charter.core.walk import children, nodes


@dataclass(frozen=True, slots=True)
class Mentioned:
    """Names of functions and constants, and types with all types inside them."""

    functions: frozenset[str]
    kinds: frozenset[t.Type]
    consts: frozenset[str]

    @staticmethod
    def of(model: n.Model, exprs: Iterable[n.Expr], stated: Iterable[t.Type]) -> Mentioned:
        """What `exprs` (without their subexpressions) and the types `stated` mention."""
        called, consts = set[str](), set[str]()
        kinds = set[t.Type]()
        # By identity, since the hash of a type is computed from all of it.
        looked_at: set[int] = set()

        def mention(kind: t.Type) -> None:
            if id(kind) not in looked_at:
                looked_at.add(id(kind))
                if kind not in kinds:
                    kinds.update(t.inside(kind))

        for one in stated:
            mention(one)
        for e in exprs:
            mention(e.type)
            if isinstance(e, n.ConstRef):
                consts.add(e.name)
            elif isinstance(e, n.Call):
                called.add(e.function)
        for function in model.functions:
            if function.name in called:
                for one in (function.result, *(p.type for p in function.params)):
                    mention(one)
        return Mentioned(frozenset(called), frozenset(kinds), frozenset(consts))

    def keep(self, model: n.Model, more: Iterable[str]) -> n.Model:
        """`model` with only these functions, types and constants, and the constants `more`."""
        consts = self.consts.union(more)
        return replace(
            model,
            functions=tuple(f for f in model.functions if f.name in self.functions),
            sorts=tuple(k for k in model.sorts if k in self.kinds),
            counters=tuple(k for k in model.counters if k in self.kinds),
            enums=tuple(k for k in model.enums if k in self.kinds),
            records=tuple(k for k in model.records if k in self.kinds),
            unions=tuple(k for k in model.unions if k in self.kinds),
            consts=tuple((name, kind) for name, kind in model.consts if name in consts),
        )


def with_called(exprs: Iterable[n.Expr], functions: Iterable[n.Function]) -> Iterator[n.Expr]:
    """`exprs` and their subexpressions, and the same for the functions that they call."""
    bodies = {f.name: f.body for f in functions}
    waiting = list(exprs)
    while waiting:
        e = waiting.pop()
        yield e
        waiting += children(e)
        if isinstance(e, n.Call) and e.function in bodies:
            waiting.append(bodies.pop(e.function))


def list_replaced_in_property(model: n.Model, name: str) -> tuple[str, ...]:
    """The functions that a mutant of the model replaces and that the property which must catch it
    calls: it asks for what the mistake does."""
    mutant = next(one for one in model.mutants if one.name == name)
    bodies = [p.body for p in model.properties if p.name == mutant.caught_by]
    for live in model.liveness:
        if live.name == mutant.caught_by:
            bodies += [part for part in (live.trigger, live.goal) if part is not None]
    called = {e.function for e in with_called(bodies, model.functions) if isinstance(e, n.Call)}
    return tuple(name for name in mutant.addresses if name in called)


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


def select_printed(model: n.Model, component: n.Component) -> n.Model:
    """`model` with only the functions, types and constants in the generated model of a
    component."""
    mentioned, consts = _in_model(model, component)
    return mentioned.keep(model, consts)


def read_consts(model: n.Model, component: n.Component) -> tuple[tuple[str, t.Type], ...]:
    """The constants in the generated model of a component, and their types."""
    exprs = with_called(expressions(component), model.functions)
    names = {name for e in exprs for name in constants(e)}
    return tuple((name, kind) for name, kind in model.consts if name in names)


def bounding(model: n.Model, component: n.Component) -> tuple[tuple[str, t.Type], ...]:
    """The constants that only bound types of a component, so that its generated model has none of
    them, and their types."""
    mentioned, more = _in_model(model, component)
    limits = {name for kind in mentioned.kinds for name in limits_of(kind)}
    names = limits - more
    return tuple((name, kind) for name, kind in model.consts if name in names)


def _in_model(model: n.Model, component: n.Component) -> tuple[Mentioned, frozenset[str]]:
    """What the generated model of a component mentions, and the constants in its code."""
    exprs = tuple(with_called(expressions(component), model.functions))
    stated = [v.type for v in component.state]
    for operation in component.operations:
        stated += [operation.result, *(p.type for p in operation.params)]
    consts = frozenset(name for e in exprs for name in constants(e))
    return Mentioned.of(model, exprs, stated), consts


def always(model: n.Model, component: str) -> tuple[n.Property, ...]:
    """The `always` properties of a component, which can be used as lemmas."""
    return tuple(p for p in model.properties if p.kind == "always" and p.machine == component)


def constants(e: n.Expr) -> set[str]:
    """The constants that the generated code of `e` itself mentions, also in limits."""
    match e:
        case n.ConstRef(name=name):
            return {name}
        case n.Domain(type=t.Set(inner=kind)) | n.MapNew(type=t.Map(key=kind)):
            return {name for part in t.inside(kind) for name in limits_of(part)}
        case n.Builtin(type=t.Seq()) if e.traits.grows:
            return limits_of(e.type)
        case _:
            return set()


def list_modelled(component: n.Component) -> tuple[n.StateVar, ...]:
    """The state in the generated model of a component: without the ghost state that assumptions do
    not depend on."""
    return _list_modelled(ByIdentity(component))


@lru_cache(maxsize=8)
def _list_modelled(of: ByIdentity[n.Component]) -> tuple[n.StateVar, ...]:
    """Kept, since it is needed for each step of a question."""
    component = of.held
    ghosts = {v.name for v in component.state if v.kind == "ghost"}
    assumed = (one.condition for o in component.operations for one in o.assumes)
    needed, found = set[str](), _list_read(assumed, {}) & ghosts
    while found != needed:
        needed = set(found)
        for operation in component.operations:
            for branch in operation.branches:
                locals_ = {
                    line.name: line.domain if isinstance(line, n.Pick) else line.value
                    for line in (*branch.lets, *branch.body)
                    if not isinstance(line, n.Assign)
                }
                for line in branch.body:
                    if isinstance(line, n.Assign) and line.variable in needed:
                        found |= _list_read([line.value], locals_) & ghosts
    return tuple(v for v in component.state if v.name in needed or v.name not in ghosts)


def _list_read(exprs: Iterable[n.Expr], locals_: Mapping[str, n.Expr]) -> set[str]:
    """The variables that expressions read, also by these locals."""
    found, known, waiting = set[str](), set[str](), [*exprs]
    while waiting:
        for e in nodes(waiting.pop()):
            if isinstance(e, n.StateRef):
                found.add(e.name)
            elif isinstance(e, n.Local) and e.name in locals_ and e.name not in known:
                known.add(e.name)
                waiting.append(locals_[e.name])
    return found


def expressions(component: n.Component) -> Iterator[n.Expr]:
    """Every expression of a component in its generated model."""
    kept = list_modelled(component)
    ghosts = {v.name for v in component.state} - {v.name for v in kept}
    yield from (v.initial for v in kept)
    for operation in component.operations:
        yield from (assumed.condition for assumed in operation.assumes)
        for branch in operation.branches:
            yield branch.reply
            yield from (bind.value for bind in branch.lets)
            yield from (conjunct.condition for conjunct in branch.guard)
            yield from (fault.condition for fault in branch.faults)
            for statement in branch.body:
                match statement:
                    case n.Bind():
                        yield statement.value
                    case n.Assign(variable=variable) if variable not in ghosts:
                        yield statement.value
                    case n.Pick():
                        yield statement.domain
                    case n.Assign():
                        pass
