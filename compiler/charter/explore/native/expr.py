"""Emits core expressions. What the definition does not evaluate is not executed; a value that does
not exist is noted in the context, and the code goes on with zeros."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from charter.core import nodes as n
from charter.core import types as t
from charter.diagnostics import Span
from charter.explore.native.code import Code, Ref, constant
from charter.explore.native.layout import Layout, Unsupported, mask_type
from charter.explore.native.unit import FATAL_RANGE, Unit
from charter.explore.native.values import Held, Keeper, Place, Scalar, Tree, scalar

if TYPE_CHECKING:
    from charter.explore.native.numbers import Numbers

ERROR, FATAL = 0, 1
"""Slots of the context: the first failure, and why the engine cannot go on."""

UNROLLED = 4
COMPARISONS: Mapping[str, str] = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}


@dataclass(slots=True)
class Expr:
    """Prints expressions into `code`. `names`, `before` and `after` hold values; `took` is the
    number of the branch that was taken."""

    unit: Unit
    code: Code
    names: dict[str, Held] = field(default_factory=dict)
    before: Mapping[str, Held] = field(default_factory=dict)
    after: Mapping[str, Held] = field(default_factory=dict)
    took: Ref = "-1"
    keep: Keeper = field(init=False)

    def __post_init__(self) -> None:
        self.keep = Keeper(self.code, self.unit.layout)

    @property
    def numbers(self) -> Numbers:
        """Arithmetic and sets."""
        from charter.explore.native.numbers import Numbers

        return Numbers(self)

    @property
    def layout(self) -> Layout:
        """Where parts stand."""
        return self.unit.layout

    # --- failures --------------------------------------------------------------------------------

    def fail(self, why: str, span: Span) -> None:
        """Note that a value does not exist."""
        site = self.unit.site(why, span)
        self.code.do(f"call void @fail(ptr %ctx, i64 {ERROR}, i64 {site})")

    def fatal(self, why: int) -> None:
        """Note that the engine cannot go on."""
        self.code.do(f"call void @fail(ptr %ctx, i64 {FATAL}, i64 {why})")

    def demand(self, truth: Ref, why: str, span: Span) -> None:
        """Fail unless `truth`."""
        if truth == "true":
            return
        with self.code.unless(truth):
            self.fail(why, span)

    # --- expressions -----------------------------------------------------------------------------

    def truth(self, e: n.Expr) -> Ref:
        """A boolean expression."""
        return scalar(self.value(e)).ref

    def number(self, e: n.Expr) -> Scalar:
        """A number."""
        return scalar(self.value(e))

    def value(self, e: n.Expr) -> Held:
        """The value of `e`."""
        match e:
            case n.Literal(value=value):
                return self.keep.constant(e.type, value)
            case n.Local(name=name):
                return self.names[name]
            case n.StateRef(name=name, primed=primed):
                return self._variable(self.after[name] if primed else self.before[name])
            case n.ConstRef(name=name):
                return self.keep.number(self.layout.universe.consts[name])
            case n.Domain():
                assert isinstance(e.type, t.Set)
                _, low, high = self.layout.width(e.type)
                size = self.layout.size(e.type.inner)
                return Scalar(str((1 << size) - 1), low, high)
            case n.Call():
                from charter.explore.native.calls import Calls

                return Calls(self).value(e)
            case n.Builtin():
                from charter.explore.native.builtins import Builtins

                return Builtins(self).value(e)
            case n.FieldOf(target=target, field=name):
                assert isinstance(target.type, t.Record)
                return self.keep.field(self.value(target), target.type.index(name))
            case n.MapGet(target=target, key=key):
                assert isinstance(target.type, t.Map)
                whole = self.value(target)
                return self.keep.entry(whole, self.position(target.type.key, key))
            case n.RecordNew(fields=fields):
                return Tree(e.type, tuple(self.value(part) for part in fields))
            case n.UnionNew(tag=tag, args=args):
                assert isinstance(e.type, t.Union)
                number = [name for name, _ in e.type.cases].index(tag)
                return Tree(e.type, (self.keep.number(number), *(self.value(a) for a in args)))
            case n.Present(inner=inner):
                return Tree(e.type, (Scalar("true"), self.value(inner)))
            case n.Took(branch=branch):
                wanted = str(self.unit.label(branch))
                return Scalar(self.code.compare("eq", self.took, wanted))
            case n.RecordWith() | n.MapWith() | n.MapNew() | n.SetNew() | n.SeqNew():
                return self.structure(e)
            case n.Unary(op="not", operand=operand):
                return Scalar(self.code.negation(self.truth(operand)))
            case n.Unary(operand=operand):
                inner_ = self.number(operand)
                ref = self.code.binary("sub", "0", inner_.ref)
                return Scalar(ref, -inner_.high, -inner_.low)
            case _:
                return self.control(e)

    def _variable(self, held: Held) -> Held:
        """A state variable is read from memory where it is used."""
        if isinstance(held, Place):
            return self.keep.part(held.kind, held.pointer, held.offset)
        return held

    def control(self, e: n.Comprehend | n.Quantified | n.Binary | n.If | n.Let | n.Match) -> Held:
        """What branches, loops or binds."""
        match e:
            case n.Binary(op="and" | "or" | "implies"):
                return Scalar(self.connective(e))
            case n.Binary():
                return self.binary(e)
            case n.If(condition=condition, then=then, otherwise=otherwise):
                test = self.truth(condition)
                return self.choose(
                    e.type, test, lambda: self.value(then), lambda: self.value(otherwise)
                )
            case n.Let(name=name, value=value, body=body):
                self.names[name] = self.value(value)
                return self.value(body)
            case n.Match():
                return self.match(e)
            case n.Quantified() | n.Comprehend():
                from charter.explore.native.loops import Loops

                return Loops(self).value(e)
            case _:
                assert_never(e)

    # --- structure -------------------------------------------------------------------------------

    def position(self, kind: t.Type, key: n.Expr) -> Ref:
        """The position of a key in a map; a number outside fails."""
        held = self.value(key)
        if isinstance(kind, t.Int):
            at = self.code.binary("sub", scalar(held).ref, str(self.layout.low(kind)))
        else:
            at = self.bit(kind, held)
        size = self.layout.size(kind)
        value = self.names.get(key.name) if isinstance(key, n.Local) else None
        bounded = isinstance(kind, t.Sort | t.Bool | t.Enum) or constant(at) is not None
        known = constant(at)
        if (bounded and (known is None or 0 <= known < size)) or isinstance(value, Tree | Place):
            return at
        inside = self.code.compare("ult", at, str(size))
        self.demand(inside, "not a key of the map", key.span)
        return self.code.select(inside, at, "0")

    def bit(self, kind: t.Type, value: Held) -> Ref:
        """The position of a value in the domain of its type."""
        code, layout = self.code, self.layout
        match kind:
            case t.Bool():
                return code.widened(scalar(value).ref)
            case t.Int():
                return self.within(scalar(value), *layout.span(kind))
            case t.Sort() | t.Enum() | t.Counter():
                return scalar(value).ref
            case t.Option(inner=inner):
                there = self.keep.is_present(value)
                if there == "false":
                    return "0"
                inside = code.add(self.bit(inner, self.keep.inner(value)), "1")
                return code.select(there, inside, "0")
            case t.Record(fields=fields):
                total = "0"
                for i, (_, part) in enumerate(fields):
                    total = code.binary("mul", total, str(layout.size(part)))
                    total = code.add(total, self.bit(part, self.keep.field(value, i)))
                return total
            case t.Map(key=key, value=part):
                total = "0"
                for i in range(layout.size(key)):
                    total = code.binary("mul", total, str(layout.size(part)))
                    total = code.add(total, self.bit(part, self.keep.entry(value, str(i))))
                return total
            case _:
                return self.searched(kind, value)

    def searched(self, kind: t.Type, value: Held) -> Ref:
        """The position in a table of the domain, by looking at each."""
        code, slots, size = self.code, self.layout.slots(kind), self.layout.size(kind)
        rows = self.unit.values(kind, self.layout.domain(kind))
        if isinstance(value, Scalar):
            room = code.memory(slots)
            self.keep.put(value, kind, room, 0)
        else:
            room = self.keep.address(self.keep.placed(value, kind))
        found = code.memory(1)
        code.store("-1", found)
        with code.counting(str(size)) as i:
            row = code.at(rows, code.binary("mul", i, str(slots)))
            same = code.let(f"call i1 @same(ptr {row}, ptr {room}, i64 {slots})")
            code.store(code.select(same, i, code.load(found)), found)
        at = code.load(found)
        missing = code.compare("slt", at, "0")
        with code.when(missing):
            self.fatal(FATAL_RANGE)
        return code.select(missing, "0", at)

    def within(self, number: Scalar, low: int, high: int) -> Ref:
        """How far a number is from `low`; past `high` the engine cannot go on."""
        at = self.code.binary("sub", number.ref, str(low))
        if low <= number.low and number.high <= high:
            return at
        inside = self.code.compare("ule", at, str(high - low))
        with self.code.unless(inside):
            self.fatal(FATAL_RANGE)
        return self.code.select(inside, at, "0")

    def element(self, kind: t.Type, at: Ref) -> Held:
        """The value at a position of the domain of a type."""
        known = constant(at)
        if known is not None:
            return self.keep.constant(kind, self.layout.domain(kind)[known])
        match kind:
            case t.Bool():
                return Scalar(self.code.compare("ne", at, "0"))
            case t.Int() | t.Sort() | t.Enum() | t.Counter():
                low, high = self.layout.span(kind)
                return Scalar(self.code.add(at, str(low)), low, high)
            case _:
                rows = self.unit.values(kind, self.layout.domain(kind))
                slots = self.layout.slots(kind)
                row = self.code.at(rows, self.code.binary("mul", at, str(slots)))
                return self.keep.part(kind, row, 0)

    def structure(self, e: n.RecordWith | n.MapWith | n.MapNew | n.SetNew | n.SeqNew) -> Held:
        """Records, maps, sets and lists that are made."""
        match e:
            case n.RecordWith(target=target, fields=fields):
                assert isinstance(e.type, t.Record)
                whole = self.value(target)
                new = {name: self.value(value) for name, value in fields}
                return Tree(
                    e.type,
                    tuple(
                        new[name] if name in new else self.keep.field(whole, i)
                        for i, (name, _) in enumerate(e.type.fields)
                    ),
                )
            case n.MapWith(target=target, entries=entries):
                assert isinstance(e.type, t.Map)
                held = self.value(target)
                for key, value in entries:
                    held = self.with_entry(e.type, held, self.position(e.type.key, key), value)
                return held
            case n.MapNew(name=name, value=value):
                assert isinstance(e.type, t.Map)
                return self.map_new(e.type, name, value)
            case n.SetNew(items=items):
                return self.numbers.literal(e, [self.value(item) for item in items])
            case n.SeqNew(items=items):
                tree = Tree(e.type, tuple(self.value(item) for item in items))
                if isinstance(e.type, t.Ranking):
                    self._no_repeats(tree, e)
                return tree

    def _no_repeats(self, tree: Tree, e: n.SeqNew) -> None:
        assert isinstance(e.type, t.Ranking)
        for i, a in enumerate(tree.parts):
            for b in tree.parts[:i]:
                differ = self.code.negation(self.keep.equal(a, b, e.type.inner))
                self.demand(differ, "a ranking holds nothing twice", e.span)

    def with_entry(self, kind: t.Map, held: Held, at: Ref, value: n.Expr) -> Held:
        """A map with one entry replaced."""
        code, keep, size = self.code, self.keep, self.layout.size(kind.key)
        new, known = self.value(value), constant(at)
        if known is not None:
            parts = [keep.entry(held, str(i)) for i in range(size)]
            return Tree(kind, (*parts[:known], new, *parts[known + 1 :]))
        if isinstance(new, Scalar) and size <= UNROLLED and not isinstance(kind.value, t.Set):
            ty = "i1" if isinstance(kind.value, t.Bool) else "i64"
            picked: list[Held] = []
            for i in range(size):
                old = scalar(keep.entry(held, str(i)))
                here = code.compare("eq", at, str(i))
                bounds = (min(old.low, new.low), max(old.high, new.high))
                picked.append(Scalar(code.select(here, new.ref, old.ref, ty), *bounds))
            return Tree(kind, tuple(picked))
        slots = self.layout.slots(kind.value)
        room = code.memory(self.layout.slots(kind))
        keep.put(held, kind, room, 0)
        moved = code.at(room, code.binary("mul", at, str(slots)))
        keep.put(new, kind.value, moved, 0)
        return Place(kind, room)

    def map_new(self, kind: t.Map, name: str, value: n.Expr) -> Held:
        """`[name in K: value]`."""
        code, size = self.code, self.layout.size(kind.key)
        if size <= UNROLLED:
            parts: list[Held] = []
            for i in range(size):
                self.names[name] = self.element(kind.key, str(i))
                parts.append(self.value(value))
            return Tree(kind, tuple(parts))
        room, slots = code.memory(self.layout.slots(kind)), self.layout.slots(kind.value)
        with code.counting(str(size)) as i_:
            self.names[name] = self.element(kind.key, i_)
            item = self.value(value)
            self.keep.put(item, kind.value, code.at(room, code.binary("mul", i_, str(slots))), 0)
        return Place(kind, room)

    # --- choice ----------------------------------------------------------------------------------

    def choose(
        self, kind: t.Type, test: Ref, yes: Callable[[], Held], no: Callable[[], Held]
    ) -> Held:
        """One of two values; only that one is computed."""
        if test in ("true", "false"):
            return yes() if test == "true" else no()
        code = self.code
        first, second, after = code.label(), code.label(), code.label()
        code.fork(test, first, second)
        code.start(first)
        one = self._settled(yes(), kind)
        from_one = code.block
        code.jump(after)
        code.start(second)
        two = self._settled(no(), kind)
        from_two = code.block
        code.jump(after)
        code.start(after)
        return self._joined(kind, (one, from_one), (two, from_two))

    def _settled(self, value: Held, kind: t.Type) -> Held:
        """A value as it is joined with another: scalars as they are, all else in memory."""
        if isinstance(value, Scalar):
            if isinstance(kind, t.Set) and not self.layout.is_open(kind.inner):
                _, low, high = self.layout.width(kind)
                return Scalar(self.keep.rebased(value, low, high), low, high)
            if isinstance(kind, t.Set):
                if value.low < -32 or value.high > 223:
                    raise Unsupported("a set of numbers without a range")
                return Scalar(self.keep.rebased(value, -32, 223), -32, 223)
            return value
        place = self.keep.placed(value, kind)
        return Place(kind, self.keep.address(place))

    def _joined(self, kind: t.Type, a: tuple[Held, str], b: tuple[Held, str]) -> Held:
        (x, from_x), (y, from_y) = a, b
        if isinstance(x, Place) and isinstance(y, Place):
            if x.pointer == y.pointer:
                return x
            ref = self.code.let(f"phi ptr [{x.pointer}, %{from_x}], [{y.pointer}, %{from_y}]")
            return Place(kind, ref)
        x, y = scalar(x), scalar(y)
        bounds = (min(x.low, y.low), max(x.high, y.high))
        if x.ref == y.ref:
            return Scalar(x.ref, *bounds)
        ty = "i1" if isinstance(kind, t.Bool) else "i64"
        if isinstance(kind, t.Set):
            ty = mask_type(x.high - x.low + 1)
        return Scalar(
            self.code.let(f"phi {ty} [{x.ref}, %{from_x}], [{y.ref}, %{from_y}]"), *bounds
        )

    def connective(self, e: n.Binary) -> Ref:
        """`and`, `or`, `implies`: the right side is looked at only where it decides."""
        left = self.truth(e.left)

        def right() -> Held:
            return self.value(e.right)

        def known() -> Held:
            return Scalar("false" if e.op == "and" else "true")

        arms = (known, right) if e.op == "or" else (right, known)
        return scalar(self.choose(e.type, left, *arms)).ref

    def match(self, e: n.Match) -> Held:
        """A chain of tests on the tag, in the order of the author; exhaustive."""
        subject = self.value(e.subject)
        kind = e.subject.type
        if not isinstance(kind, t.Option | t.Enum) and not isinstance(subject, Tree):
            subject = self.keep.placed(subject)
        tests: list[Ref] = []
        numbers: list[int] = []
        match kind:
            case t.Option():
                there = self.keep.is_present(subject)
                for case in e.cases:
                    tests.append(there if case.tag == "present" else self.code.negation(there))
                    numbers.append(0)
            case t.Union(cases=cases):
                tag, known = self.keep.tag(subject), [name for name, _ in cases]
                for case in e.cases:
                    numbers.append(known.index(case.tag))
                    tests.append(self.code.compare("eq", tag, str(numbers[-1])))
            case t.Enum(members=members):
                for case in e.cases:
                    numbers.append(members.index(case.tag))
                    which = scalar(subject).ref
                    tests.append(self.code.compare("eq", which, str(numbers[-1])))
            case _:
                raise AssertionError(kind)

        def body(i: int) -> Held:
            case = e.cases[i]
            for at, name in enumerate(case.names):
                if isinstance(kind, t.Option):
                    self.names[name] = self.keep.inner(subject)
                else:
                    self.names[name] = self.keep.argument(subject, numbers[i], at)
            return self.value(case.body)

        def chain(i: int) -> Held:
            if i == len(e.cases) - 1:
                return body(i)
            return self.choose(e.type, tests[i], lambda: body(i), lambda: chain(i + 1))

        return chain(0)

    def binary(self, e: n.Binary) -> Held:
        """An infix operation on values."""
        code = self.code
        if e.op == "in" and isinstance(e.right, n.SetNew):
            return Scalar(self.one_of(e.left, e.right.items))
        left, right = self.value(e.left), self.value(e.right)
        match e.op:
            case "eq" | "ne":
                same = self.keep.equal(left, right, e.left.type)
                return Scalar(same if e.op == "eq" else code.negation(same))
            case "in":
                assert isinstance(e.right.type, t.Set)
                return Scalar(self.numbers.member(e.right.type.inner, left, scalar(right)))
            case "lt" | "le" | "gt" | "ge":
                how = COMPARISONS[e.op]
                return Scalar(code.compare(how, scalar(left).ref, scalar(right).ref))
            case "add" | "sub" | "mul":
                return self.numbers.arithmetic(e.op, scalar(left), scalar(right))
            case "union" | "intersection" | "difference" | "subset":
                return self.numbers.algebra(e.op, scalar(left), scalar(right))
            case _:
                raise AssertionError(e.op)

    def one_of(self, item: n.Expr, members: tuple[n.Expr, ...]) -> Ref:
        """Whether a value is one of those of a set that is written out."""
        value, found = self.value(item), "false"
        for member in members:
            same = self.keep.equal(value, self.value(member), item.type)
            found = self.code.either(found, same)
        return found
