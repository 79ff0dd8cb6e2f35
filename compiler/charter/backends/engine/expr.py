"""Prints core expressions as native code. What the definition does not evaluate is not executed; a
value that does not exist is noted in the context, and the code goes on with zeros."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from charter.backends.engine.code import Code, Ref, constant
from charter.backends.engine.layout import FAR, Layout, Unsupported, mask_type
from charter.backends.engine.unit import FATAL_RANGE, Unit
from charter.backends.engine.values import Held, Keeper, Place, Scalar, Tree, scalar
from charter.ir import nodes as n
from charter.ir import types as t
from charter.ir.walk import children
from charter.source import Span

ERROR, FATAL = 0, 1
"""Slots of the context: the first failure, and why the engine cannot go on."""

UNROLLED = 4
INLINE = 12
"""Functions of at most so many nodes are printed where they are called."""

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
                ty, low, high = self.layout.width(e.type)
                size = self.layout.size(e.type.inner)
                return Scalar(str((1 << size) - 1), low, high)
            case n.Call():
                return self.call(e)
            case n.Builtin():
                from charter.backends.engine.builtins import Builtins

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
                from charter.backends.engine.loops import Loops

                return Loops(self).value(e)
            case _:
                assert_never(e)

    # --- structure -------------------------------------------------------------------------------

    def position(self, kind: t.Type, key: n.Expr) -> Ref:
        """The position of a key in a map; a number outside fails."""
        at = self.bit(kind, self.value(key))
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
                low, _ = layout.span(kind)
                return code.binary("sub", scalar(value).ref, str(0 if low == -FAR else low))
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
        code.store("0", found)
        with code.counting(str(size)) as i:
            row = code.at(rows, code.binary("mul", i, str(slots)))
            same = code.let(f"call i1 @same(ptr {row}, ptr {room}, i64 {slots})")
            code.store(code.select(same, i, code.load(found)), found)
        return code.load(found)

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

    def structure(
        self, e: n.RecordWith | n.MapWith | n.MapNew | n.SetNew | n.SeqNew
    ) -> Held:
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
                return self.set_of(e, [self.value(item) for item in items])
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

    def set_of(self, e: n.SetNew, items: list[Held]) -> Scalar:
        """`{a, b}`."""
        assert isinstance(e.type, t.Set)
        low, high = self.members_span(e.type, [item for item in items if isinstance(item, Scalar)])
        ty, mask = mask_type(high - low + 1), "0"
        for item in items:
            mask = self.code.binary("or", mask, self.single(e.type.inner, item, low, high), ty)
        return Scalar(mask, low, high)

    def members_span(self, kind: t.Set, items: list[Scalar]) -> tuple[int, int]:
        """What the bits of a set with these members stand for."""
        if isinstance(kind.inner, t.Int) and self.layout.span(kind.inner)[0] == -FAR:
            low = min((item.low for item in items), default=0)
            high = max((item.high for item in items), default=0)
            if high - low > 255:
                raise Unsupported("a set of numbers without a range")
            return low, high
        _, low, high = self.layout.width(kind)
        return low, high

    def single(self, kind: t.Type, item: Held, low: int, high: int) -> Ref:
        """The mask with the bit of one member."""
        code, ty = self.code, mask_type(high - low + 1)
        if isinstance(kind, t.Int):
            number = scalar(item)
            at = code.binary("sub", number.ref, str(low))
            if number.low < low or number.high > high:
                with code.unless(code.compare("ule", at, str(high - low))):
                    self.fatal(FATAL_RANGE)
                at = code.binary("and", at, str(int(ty[1:]) - 1))
        else:
            at = self.bit(kind, item)
        return code.binary("shl", "1", code.cast(at, "i64", ty), ty)

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
            if isinstance(kind, t.Set) and self.layout.span(kind.inner)[0] != -FAR:
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
        return Scalar(self.code.let(f"phi {ty} [{x.ref}, %{from_x}], [{y.ref}, %{from_y}]"), *bounds)

    def connective(self, e: n.Binary) -> Ref:
        """`and`, `or`, `implies`: the right side is looked at only where it decides."""
        left = self.truth(e.left)
        yes = Scalar("true")
        match e.op:
            case "and":
                pair = (lambda: self.value(e.right), lambda: Scalar("false"))
            case "or":
                pair = (lambda: yes, lambda: self.value(e.right))
            case _:
                pair = (lambda: self.value(e.right), lambda: yes)
        return scalar(self.choose(e.type, left, *pair)).ref

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
        left, right = self.value(e.left), self.value(e.right)
        match e.op:
            case "eq" | "ne":
                same = self.keep.equal(left, right, e.left.type)
                return Scalar(same if e.op == "eq" else code.negation(same))
            case "in":
                return Scalar(self.member(e.left.type, left, scalar(right)))
            case "lt" | "le" | "gt" | "ge":
                how = COMPARISONS[e.op]
                return Scalar(code.compare(how, scalar(left).ref, scalar(right).ref))
            case "add" | "sub" | "mul":
                return self.arithmetic(e.op, scalar(left), scalar(right))
            case "union" | "intersection" | "difference" | "subset":
                return self.sets(e.op, scalar(left), scalar(right))
            case _:
                raise AssertionError(e.op)

    def arithmetic(self, op: str, a: Scalar, b: Scalar) -> Scalar:
        """A number from two others, with what it can be."""
        ref = self.code.binary(op, a.ref, b.ref)
        match op:
            case "add":
                return Scalar(ref, a.low + b.low, a.high + b.high)
            case "sub":
                return Scalar(ref, a.low - b.high, a.high - b.low)
            case _:
                ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
                return Scalar(ref, min(ends), max(ends))

    def sets(self, op: str, a: Scalar, b: Scalar) -> Scalar:
        """Algebra of sets."""
        code, low, high = self.code, min(a.low, b.low), max(a.high, b.high)
        if high - low > 511:
            raise Unsupported("a set of numbers without a range")
        ty = mask_type(high - low + 1)
        x, y = self.keep.rebased(a, low, high), self.keep.rebased(b, low, high)
        if op == "union":
            return Scalar(code.binary("or", x, y, ty), low, high)
        if op == "intersection":
            return Scalar(code.binary("and", x, y, ty), low, high)
        rest = code.binary("and", x, code.binary("xor", y, "-1", ty), ty)
        if op == "difference":
            return Scalar(rest, low, high)
        return Scalar(code.compare("eq", rest, "0", ty))

    def member(self, kind: t.Type, item: Held, mask: Scalar) -> Ref:
        """Whether a set has a member."""
        code, ty = self.code, mask_type(mask.high - mask.low + 1)
        inside = "true"
        if isinstance(kind, t.Int):
            number = scalar(item)
            at = code.binary("sub", number.ref, str(mask.low))
            if number.low < mask.low or number.high > mask.high:
                inside = code.compare("ule", at, str(mask.high - mask.low))
                at = code.select(inside, at, "0")
        else:
            at = self.bit(kind, item)
        moved = code.binary("lshr", mask.ref, code.cast(at, "i64", ty), ty)
        bit = code.binary("and", moved, "1", ty)
        return code.both(inside, code.compare("ne", bit, "0", ty))

    # --- functions -------------------------------------------------------------------------------

    def call(self, e: n.Call) -> Held:
        """A declared function: printed here if it is small, called otherwise."""
        functions = self.unit.machine.evaluator.functions
        function = functions[e.function]
        args = [self.value(a) for a in e.args]
        params = zip(function.params, args, strict=True)
        fits = all(self._fits(p.type, a) for p, a in params) and self._simple(function.result)
        if fits and size_of(function.body) > INLINE:
            return self.called(function, args)
        outer = self.names
        self.names = {p.name: a for p, a in zip(function.params, args, strict=True)}
        found = self.value(function.body)
        self.names = outer
        return found

    def _simple(self, kind: t.Type) -> bool:
        return not isinstance(kind, t.Set) or self.layout.span(kind.inner)[0] != -FAR

    def _fits(self, kind: t.Type, value: Held) -> bool:
        if not isinstance(value, Scalar) or isinstance(kind, t.Bool):
            return True
        if isinstance(kind, t.Set):
            return self._simple(kind)
        low, high = self.layout.span(kind)
        return low <= value.low and value.high <= high

    def called(self, function: n.Function, args: list[Held]) -> Held:
        """A call of a function of its own."""
        texts = ["ptr %ctx"]
        for param, value in zip(function.params, args, strict=True):
            if isinstance(value, Scalar):
                texts.append(f"{self.register(param.type)} {self.passed(param.type, value)}")
            else:
                texts.append(f"ptr {self.keep.address(self.keep.placed(value, param.type))}")
        self.unit_function(function)
        kind = function.result
        if isinstance(kind, t.Bool | t.Int | t.Sort | t.Counter | t.Enum | t.Set):
            ty = self.register(kind)
            ref = self.code.let(f"call {ty} @fn_{function.name}({', '.join(texts)})")
            return self.bounded(kind, ref)
        room = self.code.memory(self.layout.slots(kind))
        self.code.do(f"call void @fn_{function.name}({', '.join([*texts, f'ptr {room}'])})")
        return Place(kind, room)

    def register(self, kind: t.Type) -> str:
        """The LLVM type of a scalar."""
        if isinstance(kind, t.Bool):
            return "i1"
        return self.layout.width(kind)[0] if isinstance(kind, t.Set) else "i64"

    def passed(self, kind: t.Type, value: Scalar) -> Ref:
        """A scalar as an argument of its type."""
        if isinstance(kind, t.Set):
            _, low, high = self.layout.width(kind)
            return self.keep.rebased(value, low, high)
        return value.ref

    def bounded(self, kind: t.Type, ref: Ref) -> Scalar:
        """A scalar of a type."""
        if isinstance(kind, t.Set):
            _, low, high = self.layout.width(kind)
        else:
            low, high = self.layout.span(kind)
        return Scalar(ref, low, high)

    def unit_function(self, function: n.Function) -> None:
        """Print a function once."""
        if function.name in self.unit.printed:
            return
        self.unit.printed.add(function.name)
        texts, names = ["ptr %ctx"], dict[str, Held]()
        for i, param in enumerate(function.params):
            if isinstance(param.type, t.Bool | t.Int | t.Sort | t.Counter | t.Enum | t.Set):
                texts.append(f"{self.register(param.type)} %a{i}")
                names[param.name] = self.bounded(param.type, f"%a{i}")
            else:
                texts.append(f"ptr noalias readonly %a{i}")
                names[param.name] = Place(param.type, f"%a{i}")
        kind = function.result
        plain = isinstance(kind, t.Bool | t.Int | t.Sort | t.Counter | t.Enum | t.Set)
        ty = self.register(kind) if plain else "void"
        out = [] if plain else ["ptr noalias %out"]
        head = f"internal {ty} @fn_{function.name}({', '.join([*texts, *out])})"
        code = Code(head, "nounwind")
        inner = Expr(self.unit, code, names)
        value = inner.value(function.body)
        if isinstance(value, Scalar):
            code.do(f"ret {ty} {inner.passed(kind, inner.checked(kind, value))}")
        else:
            inner.keep.put(value, kind, "%out", 0)
            code.do("ret void")
        self.unit.add(code)

    def checked(self, kind: t.Type, value: Scalar) -> Scalar:
        """A scalar that is within its type, or the engine cannot go on."""
        if isinstance(kind, t.Bool | t.Set):
            return value
        low, high = self.layout.span(kind)
        if value.low < low or value.high > high:
            at = self.code.binary("sub", value.ref, str(low))
            if low != -FAR:
                with self.code.unless(self.code.compare("ule", at, str(high - low))):
                    self.fatal(FATAL_RANGE if not isinstance(kind, t.Counter) else FATAL_COUNTER)
        return value


def size_of(expr: n.Expr) -> int:
    """How many nodes an expression has."""
    return 1 + sum(size_of(child) for child in children(expr))
