"""Emits core expressions. Expressions that the definition does not evaluate are not executed. An
undefined value is noted in the context, and the code continues with zeros."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from math import prod
from typing import assert_never

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.core.walk import children
from charter.diagnostics import Span
from charter.explore.native.emit import calls, loops, operators, primitives
from charter.explore.native.emit import functions as fn
from charter.explore.native.emit.code import FALSE, TRUE, Code, Label, Number, Operand, Truth
from charter.explore.native.emit.unit import FATAL_RANGE, Unit
from charter.explore.native.emit.values import (
    Composite,
    Held,
    InMemory,
    Keeper,
    Scalar,
    receive,
    scalar,
    truth,
)
from charter.explore.native.memory.layout import CannotCompile, Layout, mask_type
from charter.explore.native.memory.machine_context import ERROR, FATAL

_BINDERS = (n.Let, n.MapNew, n.Quantified, n.Comprehend)
"""Expressions that bind a name."""


@dataclass(slots=True)
class Expr:
    """Prints expressions into `code`. `names`, `before` and `after` hold values; `took` is the
    number of the branch that was taken."""

    unit: Unit
    code: Code
    names: dict[str, Held] = field(default_factory=dict)
    before: Mapping[str, Held] = field(default_factory=dict)
    after: Mapping[str, Held] = field(default_factory=dict)
    took: Number = -1
    keep: Keeper = field(init=False)

    def __post_init__(self) -> None:
        self.keep = Keeper(self.code, self.unit.layout)

    @property
    def layout(self) -> Layout:
        """The memory layout."""
        return self.unit.layout

    def in_function(self, code: Code, names: dict[str, Held]) -> Expr:
        """An emitter for the body of a function, which reads only its parameters."""
        return replace(self, code=code, names=names, before={}, after={})

    # --- failures --------------------------------------------------------------------------------

    def fail(self, why: str, span: Span) -> None:
        """Note that a value is undefined."""
        self.code.call(fn.FAIL, fn.CTX, ERROR, self.unit.site(why, span))

    def fatal(self, why: int) -> None:
        """Note that the engine gives up."""
        self.code.call(fn.FAIL, fn.CTX, FATAL, why)

    def demand(self, truth: Truth, why: str, span: Span) -> None:
        """Fail unless `truth`."""
        if truth != TRUE:
            with self.code.unless(truth):
                self.fail(why, span)

    # --- expressions -----------------------------------------------------------------------------

    def truth(self, e: s.Expr) -> Truth:
        """A boolean expression."""
        return truth(self.value(e))

    def value(self, e: s.Expr) -> Held:
        """The value of `e`. Raises CannotCompile with the place of the innermost part at fault."""
        outer = self.names
        if isinstance(e, _BINDERS):  # the name ends with `e`: a later `let` may have the same one
            self.names = dict(outer)
        try:
            return self._value(e)
        except CannotCompile as problem:
            raise problem.at(e.span) from None
        finally:
            self.names = outer

    def _value(self, e: s.Expr) -> Held:
        if s.is_connective(e):
            return self.choose(s.as_choice(e))
        match e:
            case n.Literal():
                return self.keep.constant(e.type, e.value)
            case n.Local(name=name):
                return self.names[name]
            case n.StateRef(name=name, primed=primed):
                return self._variable(self.after[name] if primed else self.before[name])
            case n.ConstRef(name=name):
                return self.keep.constant(e.type, self.layout.universe.consts[name])
            case n.Domain():
                domain = self.layout.domain(t.inner_of(e.type))
                return self.keep.constant(e.type, frozenset(domain))
            case n.Took(branch=branch):
                return self.code.compare("eq", self.took, self.unit.label(branch))
            case n.Binary(op="in", right=n.SetNew(items=members)):
                item, kind = self.value(e.left), e.left.type
                same = (self.keep.equal(item, self.value(member), kind) for member in members)
                return reduce(self.code.either, same, FALSE)
            case n.If():
                return self.choose(e)
            case n.Let(name=name):
                self.names[name] = self.value(e.value)
                return self.value(e.body)
            case n.Checked(why=why):
                self.demand(self.truth(e.condition), why, e.span)
                return self.value(e.value)
            case n.MapNew(name=name):
                return self.map_new(t.map_of(e.type), name, e.value)
            case n.Quantified(kind="sum"):
                return loops.emit_sum(self, e)
            case n.Quantified():
                return loops.emit_quantifier(self, e)
            case n.Comprehend():
                return loops.comprehend(self, e)
            case _:
                return self.apply(e, [self.value(part) for part in children(e)])

    def apply(self, e: s.Strict, args: list[Held]) -> Held:
        """An operation on evaluated operands."""
        keep = self.keep
        match e:
            case n.Call():
                return calls.call(self, e, args)
            case n.Primitive():
                return primitives.primitive(self, e, args)
            case n.Unary(op="not"):
                return self.code.negation(truth(args[0]))
            case n.Unary():
                number = scalar(args[0])
                return Scalar(self.code.sub(0, number.ref), -number.high, -number.low)
            case n.Binary():
                return operators.binary(self, e, args[0], args[1])
            case n.RecordNew():
                return Composite(e.type, tuple(args))
            case n.FieldOf(field=name):
                return keep.field(args[0], t.record_of(e.target.type).index(name))
            case n.UnionNew(tag=tag):
                return Composite(e.type, (keep.number(t.tags_of(e.type).index(tag)), *args))
            case n.Present():
                return Composite(e.type, (TRUE, *args))
            case n.IsCase(tag=tag):
                return self.is_case(e.target.type, tag, args[0])
            case n.CaseArg(tag=tag, position=position):
                if isinstance(e.target.type, t.Option):
                    return keep.inner(args[0])
                return keep.argument(args[0], t.tags_of(e.target.type).index(tag), position)
            case n.MapGet():
                keys = t.map_of(e.target.type).key
                return keep.entry(args[0], self.position(keys, e.key, args[1]))
            case n.SetNew():
                return operators.set_of(self, e.type, args)
            case n.SeqNew():
                return primitives.listing(self, e, args)
            case _:
                assert_never(e)

    def _variable(self, held: Held) -> Held:
        """A state variable in memory is read at its use."""
        if isinstance(held, InMemory):
            return self.keep.part(held.kind, held.pointer, held.offset)
        return held

    # --- structure -------------------------------------------------------------------------------

    def position(self, kind: t.Type, key: s.Expr, held: Held) -> Number:
        """The position of a key in a map; a number out of range is undefined."""
        if isinstance(kind, t.Int):
            at = self.code.sub(scalar(held).ref, self.layout.low(kind))
        else:
            at = self.bit(kind, held)
        size = self.layout.size(kind)
        value = self.names.get(key.name) if isinstance(key, n.Local) else None
        numbered = isinstance(kind, t.Sort | t.Bool | t.Enum)
        sure = 0 <= at < size if isinstance(at, int) else numbered
        if sure or isinstance(value, Composite | InMemory):
            return at
        inside = self.code.compare("ult", at, size)
        self.demand(inside, "not a key of the map", key.span)
        return self.code.select(inside, at, 0)

    def bit(self, kind: t.Type, value: Held) -> Number:
        """The position of a value in the domain of its type."""
        code, layout = self.code, self.layout
        match kind:
            case t.Bool():
                return code.widen(truth(value))
            case t.Int():
                return self.within(scalar(value), *layout.span(kind))
            case t.Sort() | t.Enum() | t.Counter():
                return scalar(value).ref
            case t.Option(inner=inner):
                there = self.keep.is_present(value)
                if there == FALSE:
                    return 0
                inside = code.add(self.bit(inner, self.keep.inner(value)), 1)
                return code.select(there, inside, 0)
            case t.Record(fields=fields):
                kinds = [part for _, part in fields]
                return self.digits(kinds, lambda i: self.keep.field(value, i))
            case t.Map(key=key, value=part):
                kinds = [part] * layout.size(key)
                return self.digits(kinds, lambda i: self.keep.entry(value, i))
            case t.Union():
                return self.bit_of_case(kind, value)
            case t.Seq():
                return self.bit_of_list(kind, value)
            case t.Set() | t.Ranking():
                return self.find_position(kind, value)

    def bit_of_case(self, kind: t.Union, value: Held) -> Number:
        """The position of a value in the domain of a union, which has one case after another."""
        code, tag, before, found = self.code, self.keep.tag(value), 0, self.code.memory(1)
        for i, (_, params) in enumerate(kind.cases):
            kinds = [part for _, part in params]
            with code.when(code.compare("eq", tag, i)):
                inside = self.digits(kinds, partial(self.keep.argument, value, i))
                code.store(code.add(inside, before), found)
            before += prod(map(self.layout.size, kinds))
        return code.load(found)

    def bit_of_list(self, kind: t.Seq, value: Held) -> Number:
        """The position of a sequence in the domain of its type, shorter ones first."""
        code, length, size = self.code, self.keep.length(value), self.layout.size(kind.inner)
        total: Number = 0
        before: Number = 0
        for i in range(self.layout.most(kind)):
            there = code.compare("lt", i, length)
            if there == FALSE:
                break
            more = code.add(code.mul(total, size), self.bit(kind.inner, self.keep.item(value, i)))
            total = code.select(there, more, total)
            before = code.select(there, code.add(before, size**i), before)
        return code.add(total, before)

    def digits(self, kinds: list[t.Type], part: Callable[[int], Held]) -> Number:
        """The position of a value, computed from the positions of its parts."""
        total: Number = 0
        for i, kind in enumerate(kinds):
            before = self.code.mul(total, self.layout.size(kind))
            total = self.code.add(before, self.bit(kind, part(i)))
        return total

    def find_position(self, kind: t.Type, value: Held) -> Number:
        """The position in a table of the domain, by linear search."""
        code, slots, size = self.code, self.layout.slots(kind), self.layout.size(kind)
        rows = self.unit.domain(kind)
        room = self.keep.address(self.keep.place(value, kind))
        found = code.memory(1)
        code.store(-1, found)
        with code.counting(size) as i:
            same = code.call(fn.SAME, code.row(rows, i, slots), room, slots)
            code.store(code.select(same, i, code.load(found)), found)
        at = code.load(found)
        missing = code.compare("lt", at, 0)
        with code.when(missing):
            self.fatal(FATAL_RANGE)
        return code.select(missing, 0, at)

    def within(self, number: Scalar, low: int, high: int) -> Number:
        """The distance of a number from `low`; above `high` the engine gives up."""
        at = self.code.sub(number.ref, low)
        if low <= number.low and number.high <= high:
            return at
        inside = self.code.compare("ule", at, high - low)
        with self.code.unless(inside):
            self.fatal(FATAL_RANGE)
        return self.code.select(inside, at, 0)

    def element(self, kind: t.Type, at: Number) -> Held:
        """The value at a position of the domain of a type."""
        if isinstance(at, int):
            return self.keep.constant(kind, self.layout.domain(kind)[at])
        match kind:
            case t.Bool():
                return self.code.nonzero(at)
            case t.Int() | t.Sort() | t.Enum() | t.Counter():
                low, high = self.layout.span(kind)
                return Scalar(self.code.add(at, low), low, high)
            case _:
                row = self.code.row(self.unit.domain(kind), at, self.layout.slots(kind))
                return self.keep.part(kind, row, 0)

    def member(self, kind: t.Type, at: Number, mask: Scalar) -> Held:
        """The member for a bit of a mask."""
        if isinstance(kind, t.Int):
            return Scalar(self.code.add(at, mask.low), mask.low, mask.high)
        return self.element(kind, at)

    def map_new(self, kind: t.Map, name: str, value: s.Expr) -> Held:
        """`[name in K: value]`."""
        code, size = self.code, self.layout.size(kind.key)
        if size <= loops.UNROLLED:
            parts: list[Held] = []
            for i in range(size):
                self.names[name] = self.element(kind.key, i)
                parts.append(self.value(value))
            return Composite(kind, tuple(parts))
        room, slots = code.memory(self.layout.slots(kind)), self.layout.slots(kind.value)
        with code.counting(size) as i_:
            self.names[name] = self.element(kind.key, i_)
            self.keep.put(self.value(value), kind.value, code.row(room, i_, slots), 0)
        return InMemory(kind, room)

    # --- choice ----------------------------------------------------------------------------------

    def choose(self, e: n.If[s.Expr]) -> Held:
        """One of two values; only that one is computed."""
        code, kind, test = self.code, e.type, self.truth(e.condition)
        if test in (TRUE, FALSE):
            return self.value(e.then if test == TRUE else e.otherwise)
        *labels, after = code.label(), code.label(), code.label()
        code.fork(test, *labels)
        ends: list[tuple[Operand, int, int, Label]] = []
        for label, way in zip(labels, (e.then, e.otherwise), strict=True):
            code.start(label)
            ends.append((*self._settle(self.value(way), kind), code.block))
            code.jump(after)
        code.start(after)
        (x, low_x, high_x, from_x), (y, low_y, high_y, from_y) = ends
        low, high = min(low_x, low_y), max(high_x, high_y)
        is_set = isinstance(kind, t.Set)
        ty = mask_type(high - low + 1) if is_set else self.layout.register(kind)[0]
        return receive(kind, code.merge(ty, (x, from_x), (y, from_y)), low, high)

    def _settle(self, value: Held, kind: t.Type) -> tuple[Operand, int, int]:
        """A value as it is joined with another, with the least and the greatest of numbers."""
        if isinstance(value, Scalar) and not isinstance(kind, t.Set):
            return value.ref, value.low, value.high
        if isinstance(value, Scalar) and self.layout.is_open(t.inner_of(kind)):
            return self.keep.rebase(value, -32, 223), -32, 223
        _, low, high = self.layout.register(kind)
        return calls.pass_value(self, kind, value), low, high

    def is_case(self, kind: t.Type, tag: str, target: Held) -> Truth:
        """Whether an option, a union or an enum is in a case."""
        if isinstance(kind, t.Option):
            there = self.keep.is_present(target)
            return there if tag == "present" else self.code.negation(there)
        held = self.keep.tag(target) if isinstance(kind, t.Union) else scalar(target).ref
        return self.code.compare("eq", held, t.tags_of(kind).index(tag))
