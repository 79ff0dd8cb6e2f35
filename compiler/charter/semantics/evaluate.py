"""The definition: a direct interpreter of core. Everything else is tested against it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import cast

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.semantics.builtins import EvaluationError, apply_builtin, ordered
from charter.semantics.values import Universe

State = Mapping[str, Value]
"""The value of every state variable of a machine, by name."""

Locals = dict[str, Value]


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression can see: the state before and, in step properties, the state after and
    the branch that was taken."""

    before: State
    after: State | None = None
    took: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One allowed result of an operation (of a step: the reply is None)."""

    branch: str
    reply: Value
    state: State


CALLS = "calls of this step"
"""Where a step remembers its calls among its locals; no name of a charter has a blank."""


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates the expressions, operations and steps of one model in one universe."""

    model: n.Model
    universe: Universe
    functions: Mapping[str, n.Function]

    @staticmethod
    def of(model: n.Model, universe: Universe) -> Evaluator:
        """An evaluator of `model`."""
        return Evaluator(model, universe, {f.name: f for f in model.functions})

    # --- expressions -----------------------------------------------------------------------------

    def value(self, expr: n.Expr, scope: Scope, names: Locals) -> Value:
        """The value of `expr`. Raises EvaluationError where it has none."""
        return _RULES[type(expr)](self, expr, scope, names)

    def truth(self, expr: n.Expr, scope: Scope, names: Locals) -> bool:
        """The value of a boolean expression."""
        return cast(bool, self.value(expr, scope, names))

    def members(self, expr: n.Expr, scope: Scope, names: Locals) -> list[Value]:
        """The members of a set in a fixed order, so that results never depend on hashing."""
        assert isinstance(expr.type, t.Set)
        members = cast(frozenset[Value], self.value(expr, scope, names))
        return ordered(members, expr.type.inner)

    # --- operations and steps --------------------------------------------------------------------

    def operate(
        self, operation: n.Operation, state: State, args: tuple[Value, ...]
    ) -> tuple[Outcome, ...]:
        """All allowed outcomes: of the first branch with a true guard or, where that stands in an
        `in any order` group, of every branch of the group with a true guard."""
        scope = Scope(state)
        names: Locals = dict(zip((p.name for p in operation.params), args, strict=True))
        found: list[Outcome] = []
        group = 0
        for branch in operation.branches:
            if found and (branch.group == 0 or branch.group != group):
                break
            for bind in branch.lets:
                if bind.name not in names:
                    names[bind.name] = self.value(bind.value, scope, names)
            if all(self.truth(c.condition, scope, names) for c in branch.guard):
                group = branch.group
                label = f"{operation.name}/{branch.name}"
                for local, after in self._run(branch.body, state, names):
                    reply = self.value(branch.reply, scope, local)
                    found.append(Outcome(label, reply, after))
                if group == 0:
                    break
        if not found:
            raise EvaluationError(f"no branch of {operation.name} applies", operation.span)
        return tuple(distinct(found))

    def step(self, step: n.Step, state: State, args: tuple[Value, ...]) -> tuple[Outcome, ...]:
        """All outcomes of a step of a system; none where it is not enabled."""
        names: Locals = dict(zip((p.name for p in step.params), args, strict=True))
        runs = self._run(step.body, state, names)
        return tuple(distinct([Outcome(step.name, None, after) for _, after in runs]))

    def ways(
        self, step: n.Step, state: State, args: tuple[Value, ...]
    ) -> Iterator[tuple[State, tuple[Value, ...], Locals]]:
        """Each way through a step: the state after; for each call of an operation on the way its
        part, the position of the part's index (None: there is one) and the branch taken; the
        locals in the end."""
        names: Locals = dict(zip((p.name for p in step.params), args, strict=True))
        for local, after in self._run(step.body, state, names):
            yield after, _items(local.get(CALLS, ())), local

    def _run(
        self, body: tuple[n.Statement, ...], state: State, names: Locals
    ) -> Iterator[tuple[Locals, State]]:
        """Every way through `body`; expressions read `state`, calls and updates pile up. What a
        step reads of the state after (`part'.x`) is what the calls so far have left."""
        runs: list[tuple[Locals, dict[str, Value]]] = [(names, dict(state))]
        for statement in body:
            runs = [
                after
                for local, work in runs
                for after in self._statement(statement, Scope(state, work), local, work)
            ]
        yield from runs

    def _statement(
        self, statement: n.Statement, scope: Scope, names: Locals, work: dict[str, Value]
    ) -> Iterator[tuple[Locals, dict[str, Value]]]:
        match statement:
            case n.Bind(name=name, value=value):
                yield {**names, name: self.value(value, scope, names)}, work
            case n.Pick(name=name):
                for choice in self._choices(statement, scope, names):
                    yield {**names, name: choice}, work
            case n.Assign(variable=variable, value=value):
                yield names, {**work, variable: self.value(value, scope, names)}
            case n.Require(condition=condition):
                if self.truth(condition, scope, names):
                    yield names, work
            case n.CallOperation():
                yield from self._call(statement, scope, names, work)

    def _choices(self, pick: n.Pick, scope: Scope, names: Locals) -> list[Value]:
        if pick.index is None:
            return self._options(pick, scope, names)
        variable, kind = pick.index
        keys = self.universe.domain(kind)
        each = [self._options(pick, scope, {**names, variable: key}) for key in keys]
        return [tuple(choice) for choice in product(*each)]

    def _options(self, pick: n.Pick, scope: Scope, names: Locals) -> list[Value]:
        members = self.members(pick.domain, scope, names)
        if members:
            return members
        if pick.or_none:
            return [None]
        raise EvaluationError(f"nothing to pick for {pick.name}", pick.span)

    def _call(
        self, call: n.CallOperation, scope: Scope, names: Locals, work: dict[str, Value]
    ) -> Iterator[tuple[Locals, dict[str, Value]]]:
        part, component = self._part(call.part)
        operation = next(o for o in component.operations if o.name == call.operation)
        args = tuple(self.value(a, scope, names) for a in call.args)
        position: int | None = None
        if part.index is not None and call.index is not None:
            key = self.value(call.index, scope, names)
            position = self.universe.position(part.index, key)
        inner: dict[str, Value] = {}
        for variable in component.state:
            held = work[f"{part.name}.{variable.name}"]
            inner[variable.name] = held if position is None else _items(held)[position]
        for outcome in self.operate(operation, inner, args):
            after = dict(work)
            for name, value in outcome.state.items():
                whole = f"{part.name}.{name}"
                after[whole] = value if position is None else _put(work[whole], position, value)
            taken: Value = (part.name, position, outcome.branch)
            local = {**names, CALLS: (*_items(names.get(CALLS, ())), taken)}
            yield {**local, call.result: outcome.reply} if call.result else local, after

    def _part(self, name: str) -> tuple[n.Part, n.Component]:
        part = next(p for s in self.model.systems for p in s.parts if p.name == name)
        return part, next(c for c in self.model.components if c.name == part.component)


def distinct(outcomes: list[Outcome]) -> list[Outcome]:
    """The outcomes without repeats, in order."""
    kept: list[Outcome] = []
    for outcome in outcomes:
        if outcome not in kept:
            kept.append(outcome)
    return kept


def _items(value: Value) -> tuple[Value, ...]:
    return cast(tuple[Value, ...], value)


def _put(items: Value, position: int, value: Value) -> tuple[Value, ...]:
    whole = _items(items)
    return (*whole[:position], value, *whole[position + 1 :])


# --- one rule per kind of expression -------------------------------------------------------------

Rule = Callable[[Evaluator, n.Expr, Scope, Locals], Value]


def _state_ref(ev: Evaluator, e: n.StateRef, scope: Scope, names: Locals) -> Value:
    if not e.primed:
        return scope.before[e.name]
    if scope.after is None:
        raise EvaluationError(f"{e.name}' is read where there is no state after", e.span)
    return scope.after[e.name]


def _call_function(ev: Evaluator, e: n.Call, scope: Scope, names: Locals) -> Value:
    function = ev.functions[e.function]
    args = {p.name: ev.value(a, scope, names) for p, a in zip(function.params, e.args, strict=True)}
    return ev.value(function.body, scope, args)


def _field(ev: Evaluator, e: n.FieldOf, scope: Scope, names: Locals) -> Value:
    kind = e.target.type
    assert isinstance(kind, t.Record)
    return _items(ev.value(e.target, scope, names))[kind.index(e.field)]


def _map_get(ev: Evaluator, e: n.MapGet, scope: Scope, names: Locals) -> Value:
    kind = e.target.type
    assert isinstance(kind, t.Map)
    key = ev.value(e.key, scope, names)
    try:
        position = ev.universe.position(kind.key, key)
    except KeyError:
        raise EvaluationError(f"{key!r} is not a key of the map", e.span) from None
    return _items(ev.value(e.target, scope, names))[position]


def _record_with(ev: Evaluator, e: n.RecordWith, scope: Scope, names: Locals) -> Value:
    assert isinstance(e.type, t.Record)
    fields = list(_items(ev.value(e.target, scope, names)))
    for name, value in e.fields:
        fields[e.type.index(name)] = ev.value(value, scope, names)
    return tuple(fields)


def _map_with(ev: Evaluator, e: n.MapWith, scope: Scope, names: Locals) -> Value:
    assert isinstance(e.type, t.Map)
    items = list(_items(ev.value(e.target, scope, names)))
    for key, value in e.entries:
        at = ev.universe.position(e.type.key, ev.value(key, scope, names))
        items[at] = ev.value(value, scope, names)
    return tuple(items)


def _map_new(ev: Evaluator, e: n.MapNew, scope: Scope, names: Locals) -> Value:
    assert isinstance(e.type, t.Map)
    keys = ev.universe.domain(e.type.key)
    return tuple(ev.value(e.value, scope, {**names, e.name: key}) for key in keys)


def _seq_new(ev: Evaluator, e: n.SeqNew, scope: Scope, names: Locals) -> Value:
    items = tuple(ev.value(i, scope, names) for i in e.items)
    if isinstance(e.type, t.Ranking) and len(set(items)) < len(items):
        raise EvaluationError("a ranking holds nothing twice", e.span)
    return items


def _comprehend(ev: Evaluator, e: n.Comprehend, scope: Scope, names: Locals) -> Value:
    found: set[Value] = set()
    for member in ev.members(e.domain, scope, names):
        local = {**names, e.name: member}
        if ev.truth(e.condition, scope, local):
            value = ev.value(e.body, scope, local)
            if e.flatten:
                found |= cast(frozenset[Value], value)
            else:
                found.add(value)
    return frozenset(found)


def _quantified(ev: Evaluator, e: n.Quantified, scope: Scope, names: Locals) -> Value:
    members = ev.members(e.domain, scope, names)
    if e.kind == "forall":
        return all(ev.truth(e.body, scope, {**names, e.name: m}) for m in members)
    hits = (m for m in members if ev.truth(e.body, scope, {**names, e.name: m}))
    if e.kind == "some":
        return any(True for _ in hits)
    found = list(hits)
    if len(found) != 1:
        raise EvaluationError(f"`the` of {len(found)} members", e.span)
    return found[0]


def _unary(ev: Evaluator, e: n.Unary, scope: Scope, names: Locals) -> Value:
    operand = ev.value(e.operand, scope, names)
    return not operand if e.op == "not" else -cast(int, operand)


def _binary(ev: Evaluator, e: n.Binary, scope: Scope, names: Locals) -> Value:
    left = ev.value(e.left, scope, names)
    match e.op:
        case "and":
            return bool(left) and ev.truth(e.right, scope, names)
        case "or":
            return bool(left) or ev.truth(e.right, scope, names)
        case "implies":
            return not left or ev.truth(e.right, scope, names)
    right = ev.value(e.right, scope, names)
    match e.op:
        case "eq":
            return left == right
        case "ne":
            return left != right
        case "in":
            return left in cast(frozenset[Value], right)
    if isinstance(left, frozenset) and isinstance(right, frozenset):
        return _SET_OPS[e.op](left, right)
    return _INT_OPS[e.op](cast(int, left), cast(int, right))


_SET_OPS: Mapping[str, Callable[[frozenset[Value], frozenset[Value]], Value]] = {
    "union": lambda a, b: a | b,
    "intersection": lambda a, b: a & b,
    "difference": lambda a, b: a - b,
    "subset": lambda a, b: a <= b,
}
_INT_OPS: Mapping[str, Callable[[int, int], Value]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
}


def _match(ev: Evaluator, e: n.Match, scope: Scope, names: Locals) -> Value:
    subject = ev.value(e.subject, scope, names)
    parts: tuple[Value, ...] = ()
    match e.subject.type:
        case t.Option():
            tag = "none" if subject is None else "present"
            parts = () if subject is None else (subject,)
        case t.Union():
            tag, parts = cast(str, _items(subject)[0]), _items(subject)[1:]
        case _:
            tag = cast(str, subject)
    case = next(c for c in e.cases if c.tag == tag)
    return ev.value(case.body, scope, {**names, **dict(zip(case.names, parts, strict=True))})


def _builtin(ev: Evaluator, e: n.Builtin, scope: Scope, names: Locals) -> Value:
    args = [ev.value(a, scope, names) for a in e.args]
    return apply_builtin(e, args, ev.universe)


def _rules() -> Mapping[type, Rule]:
    def tuple_of(
        ev: Evaluator, items: tuple[n.Expr, ...], s: Scope, v: Locals
    ) -> tuple[Value, ...]:
        return tuple(ev.value(item, s, v) for item in items)

    rules: dict[type, Callable[..., Value]] = {
        n.Literal: lambda ev, e, s, v: e.value,
        n.Local: lambda ev, e, s, v: v[e.name],
        n.StateRef: _state_ref,
        n.ConstRef: lambda ev, e, s, v: ev.universe.consts[e.name],
        n.Domain: lambda ev, e, s, v: frozenset(ev.universe.domain(e.type.inner)),
        n.Call: _call_function,
        n.Builtin: _builtin,
        n.FieldOf: _field,
        n.MapGet: _map_get,
        n.RecordNew: lambda ev, e, s, v: tuple_of(ev, e.fields, s, v),
        n.RecordWith: _record_with,
        n.UnionNew: lambda ev, e, s, v: (e.tag, *tuple_of(ev, e.args, s, v)),
        n.MapWith: _map_with,
        n.MapNew: _map_new,
        n.SetNew: lambda ev, e, s, v: frozenset(tuple_of(ev, e.items, s, v)),
        n.SeqNew: _seq_new,
        n.Present: lambda ev, e, s, v: ev.value(e.inner, s, v),
        n.Comprehend: _comprehend,
        n.Quantified: _quantified,
        n.Unary: _unary,
        n.Binary: _binary,
        n.If: lambda ev, e, s, v: ev.value(
            e.then if ev.truth(e.condition, s, v) else e.otherwise, s, v
        ),
        n.Let: lambda ev, e, s, v: ev.value(e.body, s, {**v, e.name: ev.value(e.value, s, v)}),
        n.Match: _match,
        n.Took: lambda ev, e, s, v: s.took == e.branch,
    }
    return cast(Mapping[type, Rule], rules)


_RULES = _rules()
