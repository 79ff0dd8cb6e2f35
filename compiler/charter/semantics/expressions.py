"""Defines what expressions mean: each kind of node as a Python function of what can be seen and
named.

An expression is translated once and run often, so that the kind of a node, its operator and the
place of a field are looked up once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import assert_never, cast

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.semantics.builtins import (
    EvaluationError,
    Items,
    Members,
    apply_primitive,
    builtin,
    infix,
    items,
    order,
)
from charter.semantics.values import Universe

State = Mapping[str, Value]
"""The value of every state variable of a machine, by name."""

Locals = dict[str, Value]


@dataclass(slots=True)  # one for each assignment: a frozen one takes three times as long to make
class Scope:
    """What an expression can see: the sorts and constants of an instance, the state before and, in
    step properties, the state after, the branch that was taken, and with which arguments."""

    universe: Universe
    before: State
    after: State | None = None
    took: str = ""
    args: tuple[Value, ...] = ()


Code = Callable[[Scope, Locals], Value]
"""An expression as a function. Raises EvaluationError where the expression has no value."""
Parts = Callable[[Scope, Locals], Items]
_Pool = Callable[[Scope, Locals], Members]
_Ordered = Callable[[Scope, Locals], Sequence[Value]]
_Place = Callable[[Scope, Locals], int]


@dataclass(frozen=True, slots=True)
class Expressions:
    """The expressions of a model, each as a function that is made once, for all of its machines and
    instances."""

    functions: Mapping[str, n.Function]
    _made: dict[int, tuple[n.Expr, Code]] = field(default_factory=dict, repr=False)
    """By the identity of the expression, which is held so that no other one gets it."""
    _pools: dict[int, tuple[n.Expr, _Ordered]] = field(default_factory=dict, repr=False)
    """Sets that something is chosen from, by identity like `_made`."""

    def value(self, expr: n.Expr, scope: Scope, names: Locals) -> Value:
        """The value of `expr`. Raises EvaluationError where it has none."""
        return self.code(expr)(scope, names)

    def truth(self, expr: n.Expr, scope: Scope, names: Locals) -> bool:
        """The value of a boolean expression."""
        return cast(bool, self.code(expr)(scope, names))

    def members(self, expr: n.Expr, scope: Scope, names: Locals) -> Sequence[Value]:
        """The members of a set in a fixed order, so that results never depend on hashing."""
        return self._members(expr)(scope, names)

    def code(self, expr: n.Expr) -> Code:
        """`expr` as a function."""
        known = self._made.get(id(expr))
        if known is None:
            known = self._made[id(expr)] = expr, self._code(expr)
        return known[1]

    def _code(self, e: n.Expr) -> Code:
        match e:
            case n.Literal(value=value):
                return lambda scope, names: value
            case n.Local(name=name):
                return lambda scope, names: names[name]
            case n.ConstRef(name=name):
                return lambda scope, names: scope.universe.consts[name]
            case n.StateRef():
                return _state_ref(e)
            case n.Took(branch=branch):
                return lambda scope, names: scope.took == branch
            case n.Binary() | n.Unary() | n.If():
                return self._operation(e)
            case n.Call() | n.Let() | n.Match():
                return self._naming(e)
            case n.Quantified(kind="sum"):
                return self._sum(e)
            case n.Quantified():
                return self._compile_quantifier(e)
            case n.Comprehend():
                return self._comprehend(e)
            case n.Domain():
                members = self._members(e)
                return lambda scope, names: frozenset(members(scope, names))
            case n.Present():
                return self.code(e.inner)
            case n.FieldOf() | n.MapGet():
                return self._part(e)
            case n.RecordWith() | n.MapWith():
                return self._compile_update(e)
            case n.SetNew() | n.SeqNew() | n.UnionNew() | n.RecordNew() | n.MapNew():
                return self._compile_new(e)
            case n.Builtin():
                args, apply = self._each(e.args), builtin(e)
                return lambda scope, names: apply(args(scope, names), scope.universe)
            case n.IsCase() | n.CaseArg() | n.Primitive() | n.Checked():
                return self._compile_lowered(e)
            case _:
                assert_never(e)

    def _compile_lowered(self, e: n.IsCase | n.CaseArg | n.Primitive | n.Checked) -> Code:
        """What only the passes write: the definition evaluates small core too."""
        match e:
            case n.IsCase(tag=tag):
                kind, of = e.target.type, self.code(e.target)
                return lambda scope, names: case_of(kind, of(scope, names))[0] == tag
            case n.CaseArg(position=position):
                kind, of = e.target.type, self.code(e.target)
                return lambda scope, names: case_of(kind, of(scope, names))[1][position]
            case n.Primitive():
                args = self._each(e.args)
                return lambda scope, names: apply_primitive(e, args(scope, names), scope.universe)
            case n.Checked():
                return self._compile_checked(e)
            case _:
                assert_never(e)

    def _compile_checked(self, e: n.Checked) -> Code:
        condition, value = self.code(e.condition), self.code(e.value)

        def check(scope: Scope, names: Locals) -> Value:
            if not condition(scope, names):
                raise EvaluationError(e.why, e.span)
            return value(scope, names)

        return check

    def _each(self, exprs: Sequence[n.Expr]) -> Parts:
        """The values of several expressions; one or two, or names alone, without a loop, which
        takes longer."""
        named = [e.name for e in exprs if isinstance(e, n.Local)]
        if len(named) == len(exprs) > 1:
            get = cast("Callable[[Locals], Items]", itemgetter(*named))
            return lambda scope, names: get(names)
        match codes := [self.code(e) for e in exprs]:
            case [one]:
                return lambda scope, names: (one(scope, names),)
            case [one, two]:
                return lambda scope, names: (one(scope, names), two(scope, names))
            case _:
                return lambda scope, names: tuple([code(scope, names) for code in codes])

    # --- operators and names ---------------------------------------------------------------------

    def _operation(self, e: n.Binary | n.Unary | n.If) -> Code:
        match e:
            case n.If():
                condition = self.code(e.condition)
                then, otherwise = self.code(e.then), self.code(e.otherwise)
                return lambda scope, names: (
                    then(scope, names) if condition(scope, names) else otherwise(scope, names)
                )
            case n.Unary(op=op):
                operand = self.code(e.operand)
                if op == "not":
                    return lambda scope, names: not operand(scope, names)
                return lambda scope, names: -cast(int, operand(scope, names))
            case n.Binary():
                return self._binary(e)

    def _binary(self, e: n.Binary) -> Code:
        left, right = self.code(e.left), self.code(e.right)
        if isinstance(e.right, n.Literal) and e.op in ("eq", "ne"):
            return _compile_comparison(e.op, left, e.right.value)
        members = cast(_Pool, right)
        match e.op:
            case "and":
                return lambda scope, names: right(scope, names) if left(scope, names) else False
            case "or":
                return lambda scope, names: True if left(scope, names) else right(scope, names)
            case "implies":
                return lambda scope, names: right(scope, names) if left(scope, names) else True
            case "eq":
                return lambda scope, names: left(scope, names) == right(scope, names)
            case "ne":
                return lambda scope, names: left(scope, names) != right(scope, names)
            case "in":
                return lambda scope, names: left(scope, names) in members(scope, names)
            case op:
                apply = infix(op)
                return lambda scope, names: apply(left(scope, names), right(scope, names))

    def _naming(self, e: n.Call | n.Let | n.Match) -> Code:
        match e:
            case n.Call():
                return self._call(e)
            case n.Let(name=name):
                bound, body = self.code(e.value), self.code(e.body)
                return lambda scope, names: body(scope, {**names, name: bound(scope, names)})
            case n.Match():
                return self._match(e)

    def _call(self, e: n.Call) -> Code:
        function = self.functions[e.function]
        params = [param.name for param in function.params]
        body = self.code(function.body)
        assert len(params) == len(e.args)  # said once: `strict` takes time at each call
        if len(params) == 1:
            (name,), one = params, self.code(e.args[0])
            return lambda scope, names: body(scope, {name: one(scope, names)})
        args = self._each(e.args)
        return lambda scope, names: body(scope, dict(zip(params, args(scope, names))))  # noqa: B905

    def _match(self, e: n.Match) -> Code:
        kind, subject = e.subject.type, self.code(e.subject)
        cases: dict[Value, tuple[tuple[str, ...], Code]] = {}
        for case in e.cases:
            cases.setdefault(case.tag, (case.names, self.code(case.body)))
        if isinstance(kind, t.Option):
            return _of_option(subject, cases)

        def match_value(scope: Scope, names: Locals) -> Value:
            tag, parts = case_of(kind, subject(scope, names))
            given, body = cases[tag]
            inside = {**names, **dict(zip(given, parts, strict=True))} if given else names
            return body(scope, inside)

        return match_value

    # --- sets ------------------------------------------------------------------------------------

    def _members(self, e: n.Expr) -> _Ordered:
        known = self._pools.get(id(e))
        if known is None:
            known = self._pools[id(e)] = e, self._pool(e)
        return known[1]

    def _pool(self, e: n.Expr) -> _Ordered:
        assert isinstance(e.type, t.Set)
        inner = e.type.inner
        if isinstance(e, n.Domain):
            return lambda scope, names: scope.universe.domain(inner)
        pool = cast(_Pool, self.code(e))
        return lambda scope, names: order(pool(scope, names), inner)

    def _compile_quantifier(self, e: n.Quantified) -> Code:
        members, body, name = self._members(e.domain), self.code(e.body), e.name

        def decide(scope: Scope, names: Locals) -> Value:
            found: list[Value] = []
            local = dict(names)
            for local[name] in members(scope, names):
                if body(scope, local):
                    if e.kind == "some":
                        return True
                    found.append(local[name])
                elif e.kind == "forall":
                    return False
            if e.kind == "exactly one":
                return len(found) == 1
            if e.kind != "the":
                return e.kind == "forall"
            if len(found) != 1:
                raise EvaluationError(f"`the` of {len(found)} members", e.span)
            return found[0]

        return decide

    def _sum(self, e: n.Quantified) -> Code:
        members, body, name = self._members(e.domain), self.code(e.body), e.name

        def sum_up(scope: Scope, names: Locals) -> Value:
            local, total = dict(names), 0
            for local[name] in members(scope, names):
                total += cast(int, body(scope, local))
            return total

        return sum_up

    def _comprehend(self, e: n.Comprehend) -> Code:
        members, name = self._members(e.domain), e.name
        condition, body = self.code(e.condition), self.code(e.body)

        def comprehend(scope: Scope, names: Locals) -> Value:
            found: set[Value] = set()
            local = dict(names)
            for local[name] in members(scope, names):
                if condition(scope, local):
                    value = body(scope, local)
                    found |= cast(Members, value) if e.flatten else {value}
            return frozenset(found)

        return comprehend

    # --- records, maps and lists -----------------------------------------------------------------

    def _part(self, e: n.FieldOf | n.MapGet) -> Code:
        whole = cast(Parts, self.code(e.target))
        match e:
            case n.FieldOf(field=name):
                assert isinstance(e.target.type, t.Record)
                place = e.target.type.index(name)
                if isinstance(e.target, n.Local):
                    record = cast("Callable[[Locals], Items]", itemgetter(e.target.name))
                    return lambda scope, names: record(names)[place]
                return lambda scope, names: whole(scope, names)[place]
            case n.MapGet():
                position = self._position(e.target.type, e.key)

                def get(scope: Scope, names: Locals) -> Value:
                    at = position(scope, names)
                    return whole(scope, names)[at]

                return get

    def _position(self, kind: t.Type, key: n.Expr) -> _Place:
        code, keys = self.code(key), t.map_of(kind).key

        def position(scope: Scope, names: Locals) -> int:
            value = code(scope, names)
            try:
                return scope.universe.positions(keys)[value]
            except KeyError:
                raise EvaluationError(f"{value!r} is not a key of the map", key.span) from None

        return position

    def _compile_update(self, e: n.RecordWith | n.MapWith) -> Code:
        whole = cast(Parts, self.code(e.target))
        entries: list[tuple[_Place, Code]] = []
        match e:
            case n.RecordWith(type=t.Record() as record):
                for name, value in e.fields:
                    entries.append((_always(record.index(name)), self.code(value)))
            case n.MapWith():
                for key, value in e.entries:
                    entries.append((self._position(e.type, key), self.code(value)))
            case _:
                raise TypeError(e.type)

        def update(scope: Scope, names: Locals) -> Value:
            values = list(whole(scope, names))
            for at, code in entries:
                values[at(scope, names)] = code(scope, names)
            return tuple(values)

        return update

    def _compile_new(self, e: n.SetNew | n.SeqNew | n.UnionNew | n.RecordNew | n.MapNew) -> Code:
        match e:
            case n.SetNew():
                each = self._each(e.items)
                return lambda scope, names: frozenset(each(scope, names))
            case n.SeqNew():
                each = self._each(e.items)
                return lambda scope, names: _compile_list(e, each(scope, names))
            case n.UnionNew(tag=tag):
                each = self._each(e.args)
                return lambda scope, names: (tag, *each(scope, names))
            case n.RecordNew():
                return self._each(e.fields)
            case n.MapNew():
                return self._map_new(e)

    def _map_new(self, e: n.MapNew) -> Code:
        kind, name, value = t.map_of(e.type).key, e.name, self.code(e.value)

        def map_value(scope: Scope, names: Locals) -> Value:
            local, values = dict(names), []
            for local[name] in scope.universe.domain(kind):
                values.append(value(scope, local))
            return tuple(values)

        return map_value


def _state_ref(e: n.StateRef) -> Code:
    name = e.name
    if not e.primed:
        return lambda scope, names: scope.before[name]

    def after(scope: Scope, names: Locals) -> Value:
        if scope.after is None:
            raise EvaluationError(f"{name}' is read where there is no state after", e.span)
        return scope.after[name]

    return after


def case_of(kind: t.Type, value: Value) -> tuple[Value, Items]:
    """The case that an option, a union or an enum is in, and what that has."""
    match kind:
        case t.Option():
            return ("none", ()) if value is None else ("present", (value,))
        case t.Union():
            return items(value)[0], items(value)[1:]
        case _:
            return value, ()


def _compile_comparison(op: str, left: Code, value: Value) -> Code:
    """Whether a value is a constant, or is not."""
    if op == "eq":
        return lambda scope, names: left(scope, names) == value
    return lambda scope, names: left(scope, names) != value


def _of_option(subject: Code, cases: Mapping[Value, tuple[tuple[str, ...], Code]]) -> Code:
    """A match of an option."""
    (_, none), (given, present) = cases["none"], cases["present"]

    def match_value(scope: Scope, names: Locals) -> Value:
        value = subject(scope, names)
        if value is None:
            return none(scope, names)
        return present(scope, {**names, given[0]: value} if given else names)

    return match_value


def _compile_list(e: n.SeqNew, values: Items) -> Items:
    if isinstance(e.type, t.Ranking) and len(set(values)) < len(values):
        raise EvaluationError("a ranking holds nothing twice", e.span)
    return values


def _always(place: int) -> _Place:
    return lambda scope, names: place
