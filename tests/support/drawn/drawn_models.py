"""Small models in core, written by hand or drawn at random: every kind of type and of
expression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from hypothesis import strategies as st

from charter.core import nodes as n
from charter.core import types as t
from charter.core.walk import fold

S = t.Sort("S")
E = t.Enum("E", ("RED", "GREEN", "BLUE"))
C = t.Counter("C")
SMALL = t.Int(t.Limit("", 0), t.Limit("", 3))
ANY = t.Int()
SET = t.Set(S)
SOME = t.Option(S)
LIST = t.Ranking(S)
SEQ = t.Seq(SMALL, t.Limit("", 2))
ROW = t.Record("Row", (("owner", SOME), ("epoch", C), ("isr", SET), ("level", SMALL)))
TABLE = t.Map(S, ROW)
BOOL = t.Bool()
LIGHTS = t.Map(E, BOOL)
REPLY = t.Union("Reply", (("done", (("row", ROW),)), ("refused", (("why", E),)), ("nothing", ())))

STATE = (
    ("table", TABLE), ("order", LIST), ("queue", SEQ), ("lights", LIGHTS), ("last", REPLY),
    ("count", SMALL), ("clock", C), ("chosen", SOME), ("pairs", t.Set(t.Option(E))),
)  # fmt: skip
INSTANCE = n.Instance("i", "machine", (("S", ("s1", "s2", "s3")),), (), (), ())


def make_literal(kind: t.Type, value: bool | int | str | None) -> n.Expr:
    """A constant."""
    return n.Literal(value, type=kind)


def binary(op: n.RichOp, left: n.Expr, right: n.Expr, kind: t.Type = BOOL) -> n.Expr:
    """An infix expression."""
    return n.Binary(op, left, right, type=kind)


def builtin(name: n.BuiltinName, kind: t.Type, *args: n.Expr) -> n.Expr:
    """A built-in function."""
    return n.Builtin(name, args, type=kind)


def model_of(
    operations: tuple[n.Operation, ...],
    functions: tuple[n.Function, ...] = (),
    state: tuple[tuple[str, t.Type], ...] = STATE,
) -> n.Model:
    """A model of one component `machine` with these operations."""
    variables = tuple(n.StateVar(name, kind, blank(kind), "durable") for name, kind in state)
    component = n.Component("machine", variables, operations, ())
    return n.Model(
        protocol="test.drawn", variant="", sorts=(S,), counters=(C,), enums=(E,), records=(ROW,),
        unions=(REPLY,), consts=(), functions=functions, components=(component,), systems=(),
        properties=(), instances=(INSTANCE,), scenarios=(), mutants=(), variants=(), sources=(),
    )  # fmt: skip


def blank(kind: t.Type) -> n.Expr:
    """An initial value of a type."""
    match kind:
        case t.Bool():
            return make_literal(kind, False)
        case t.Int() | t.Counter() | t.Sort():
            return make_literal(kind, 0)
        case t.Enum(members=members):
            return make_literal(kind, members[0])
        case t.Option():
            return make_literal(kind, None)
        case t.Record(fields=fields):
            return n.RecordNew(tuple(blank(part) for _, part in fields), type=kind)
        case t.Union(cases=cases):
            tag, params = cases[0]
            return n.UnionNew(tag, tuple(blank(part) for _, part in params), type=kind)
        case t.Set():
            return n.SetNew((), type=kind)
        case t.Map(value=value):
            return n.MapNew("k", blank(value), type=kind)
        case _:
            return n.SeqNew((), type=kind)


Names = dict[str, t.Type]


@dataclass(slots=True)
class Drawer:
    """Draws well-typed expressions; with `partial` some may have no value."""

    rng: Random
    partial: bool = False
    functions: list[n.Function] = field(default_factory=list)
    fresh: int = 0
    state: tuple[tuple[str, t.Type], ...] = STATE

    def name(self) -> str:
        """An unused name."""
        self.fresh += 1
        return f"x{self.fresh}"

    def expr(self, kind: t.Type, names: Names, depth: int) -> n.Expr:
        """An expression of type `kind` over `names` and the state."""
        ways: list[Callable[[], n.Expr]] = [lambda: self.leaf(kind, names)]
        if depth > 0:
            ways += [
                lambda: self.any_kind(kind, names, depth),
                lambda: self.own_kind(kind, names, depth),
                lambda: self.own_kind(kind, names, depth),
                lambda: self.own_kind(kind, names, depth),
            ]
        return self.rng.choice(ways)()

    def leaf(self, kind: t.Type, names: Names) -> n.Expr:
        """A name, a variable of the state, or a constant."""
        found: list[n.Expr] = [n.Local(x, type=k) for x, k in names.items() if k == kind]
        found += [n.StateRef(x, type=k) for x, k in self.state if k == kind]
        match kind:
            case t.Bool():
                found.append(make_literal(kind, self.rng.random() < 0.5))
            case t.Int() | t.Counter():
                found.append(make_literal(kind, self.rng.randint(0, 3)))
            case t.Enum(members=members):
                found.append(make_literal(kind, self.rng.choice(members)))
            case t.Sort():
                found.append(make_literal(kind, self.rng.randint(0, 2)))
            case _:
                found.append(blank(kind))
        return self.rng.choice(found)

    def any_kind(self, kind: t.Type, names: Names, depth: int) -> n.Expr:
        """An expression form available for every type: if, let, match, a function, a look-up."""
        less = depth - 1
        local = self.name()
        match self.rng.randint(0, 5):
            case 0:
                parts = [self.expr(k, names, less) for k in (BOOL, kind, kind)]
                return n.If(parts[0], parts[1], parts[2], type=kind)
            case 1:
                of = self.rng.choice((SOME, SMALL, SET, E))
                value = self.expr(of, names, less)
                body = self.expr(kind, {**names, local: of}, less)
                return n.Let(local, value, body, type=kind)
            case 2:
                present = n.Case("present", (local,), self.expr(kind, {**names, local: S}, less))
                cases = [n.Case("none", (), self.expr(kind, names, less)), present]
                self.rng.shuffle(cases)
                return n.Match(self.expr(SOME, names, less), tuple(cases), type=kind)
            case 3:
                done = n.Case("done", (local,), self.expr(kind, {**names, local: ROW}, less))
                why = n.Case("refused", (local,), self.expr(kind, {**names, local: E}, less))
                rest = n.Case("nothing", (), self.expr(kind, names, less))
                return n.Match(self.expr(REPLY, names, less), (rest, why, done), type=kind)
            case 4 if any(f.result == kind for f in self.functions):
                chosen = self.rng.choice([f for f in self.functions if f.result == kind])
                args = tuple(self.expr(p.type, names, less) for p in chosen.params)
                return n.Call(chosen.name, args, type=kind)
            case _:
                fields = [name for name, part in ROW.fields if part == kind]
                if fields:
                    row = self.expr(ROW, names, less)
                    return n.FieldOf(row, self.rng.choice(fields), type=kind)
                return self.own_kind(kind, names, depth)

    def own_kind(self, kind: t.Type, names: Names, depth: int) -> n.Expr:
        """An expression form available only for this type."""
        less = depth - 1
        match kind:
            case t.Bool():
                return self.truth(names, less)
            case t.Int():
                return self.number(names, less, kind)
            case t.Counter():
                if self.rng.random() < 0.5:
                    return builtin("bump", kind, self.expr(kind, names, 0))
                name: n.BuiltinName = self.rng.choice(("min", "max"))
                pair = (self.expr(kind, names, less), self.expr(kind, names, less))
                return builtin(name, kind, *pair)
            case t.Sort():
                if self.partial and self.rng.random() < 0.5:
                    return self.draw_undefined(names, less)
                either = (self.expr(SOME, names, less), self.expr(S, names, 0))
                return builtin("default", S, *either)
            case t.Option(inner=inner):
                return self.option(kind, inner, names, less)
            case t.Set(inner=inner):
                return self.set_of(kind, inner, names, less)
            case t.Ranking() | t.Seq():
                return self.draw_list(kind, names, less)
            case t.Record(fields=fields):
                if self.rng.random() < 0.4:
                    key = self.expr(S, names, less)
                    return n.MapGet(self.expr(TABLE, names, less), key, type=ROW)
                field_name, part = self.rng.choice(fields)
                change = ((field_name, self.expr(part, names, less)),)
                return n.RecordWith(self.expr(kind, names, less), change, type=kind)
            case t.Map(key=key_kind, value=value):
                if self.rng.random() < 0.5:
                    local = self.name()
                    body = self.expr(value, {**names, local: key_kind}, less)
                    return n.MapNew(local, body, type=kind)
                entry = (self.expr(key_kind, names, less), self.expr(value, names, less))
                return n.MapWith(self.expr(kind, names, less), (entry,), type=kind)
            case t.Union(cases=cases):
                tag, params = self.rng.choice(cases)
                args = tuple(self.expr(part, names, less) for _, part in params)
                return n.UnionNew(tag, args, type=kind)
            case _:
                return self.leaf(kind, names)

    def truth(self, names: Names, less: int) -> n.Expr:
        """A comparison, a connective or a quantifier."""
        local = self.name()
        match self.rng.randint(0, 6):
            case 0:
                return n.Unary("not", self.expr(BOOL, names, less), type=BOOL)
            case 1:
                op: n.RichOp = self.rng.choice(("and", "or", "implies"))
                return binary(op, self.expr(BOOL, names, less), self.expr(BOOL, names, less))
            case 2:
                kind = self.rng.choice((SOME, SET, ROW, REPLY, LIST, E, SEQ, TABLE))
                same: n.RichOp = self.rng.choice(("eq", "ne"))
                pair = (self.expr(kind, names, less), self.expr(kind, names, less))
                if kind == SEQ and same == "ne":
                    return builtin("starts_with", BOOL, *pair)
                return binary(same, *pair)
            case 3:
                order: n.RichOp = self.rng.choice(("lt", "le", "gt", "ge", "eq", "ne"))
                number = self.rng.choice((ANY, C))
                sides = (self.expr(number, names, less), self.expr(number, names, less))
                return binary(order, *sides)
            case 4:
                return binary("in", self.expr(S, names, less), self.expr(SET, names, less))
            case 5:
                return binary("subset", self.expr(SET, names, less), self.expr(SET, names, less))
            case _:
                body = self.expr(BOOL, {**names, local: S}, less)
                drawn = self.rng.random()
                kind_of = "forall" if drawn < 0.5 else "some" if drawn < 0.8 else "exactly one"
                domain = self.expr(SET, names, less)
                return n.Quantified(kind_of, local, domain, body, type=BOOL)

    def number(self, names: Names, less: int, kind: t.Int) -> n.Expr:
        """Arithmetic; for a bounded type the result is within the bounds."""
        if kind != ANY:
            sized = builtin("size", ANY, self.expr(SET, names, less))
            return builtin("min", kind, sized, make_literal(ANY, 3))
        match self.rng.randint(0, 4):
            case 0:
                of = self.rng.choice((SET, LIST, SEQ))
                return builtin("size", ANY, self.expr(of, names, less))
            case 1:
                return n.Unary("negate", self.expr(ANY, names, less), type=ANY)
            case 2:
                local, domain = self.name(), self.expr(SET, names, less)
                body = self.expr(self.rng.choice((ANY, SMALL)), {**names, local: S}, less)
                return n.Quantified("sum", local, domain, body, type=ANY)
            case _:
                op: n.RichOp = self.rng.choice(("add", "sub", "mul"))
                return binary(op, self.expr(ANY, names, 0), self.expr(SMALL, names, 0), ANY)

    def draw_undefined(self, names: Names, less: int) -> n.Expr:
        """A sort element that may be undefined."""
        local = self.name()
        match self.rng.randint(0, 2):
            case 0:
                return builtin("value", S, self.expr(SOME, names, less))
            case 1:
                position = self.expr(SMALL, names, 0)
                return builtin("item", S, self.expr(LIST, names, less), position)
            case _:
                body = self.expr(BOOL, {**names, local: S}, less)
                return n.Quantified("the", local, self.expr(SET, names, less), body, type=S)

    def option(self, kind: t.Option, inner: t.Type, names: Names, less: int) -> n.Expr:
        """A present value, or an end or a position of a ranking."""
        if inner != S or self.rng.random() < 0.4:
            return n.Present(self.expr(inner, names, less), type=kind)
        name: n.BuiltinName = self.rng.choice(("first", "last", "at"))
        ranking = self.expr(LIST, names, less)
        if name == "at":
            return builtin("at", kind, ranking, self.expr(SMALL, names, 0))
        return builtin(name, kind, ranking)

    def set_of(self, kind: t.Set, inner: t.Type, names: Names, less: int) -> n.Expr:
        """Listed members, set algebra or a comprehension."""
        local = self.name()
        match self.rng.randint(0, 4):
            case 0:
                items = [self.expr(inner, names, less) for _ in range(self.rng.randint(0, 2))]
                return n.SetNew(tuple(items), type=kind)
            case 1:
                op: n.RichOp = self.rng.choice(("union", "intersection", "difference"))
                return binary(op, self.expr(kind, names, less), self.expr(kind, names, less), kind)
            case 2 if inner == S:
                return builtin("set", kind, self.expr(LIST, names, less))
            case 3:
                return n.Domain(type=kind)
            case _:
                inside = {**names, local: S}
                flat = self.rng.random() < 0.3
                body = self.expr(kind if flat else inner, inside, less)
                domain, condition = self.expr(SET, names, less), self.expr(BOOL, inside, less)
                return n.Comprehend(local, domain, condition, body, flat, type=kind)

    def draw_list(self, kind: t.Ranking | t.Seq, names: Names, less: int) -> n.Expr:
        """Lists built from other lists."""
        base = self.expr(kind, names, less)
        name: n.BuiltinName = self.rng.choice(("append", "take", "drop", "keep", "concat"))
        match name:
            case "take" | "drop":
                return builtin(name, kind, base, self.expr(SMALL, names, 0))
            case "keep":
                of = t.Set(kind.inner)
                return builtin("keep", kind, base, self.expr(of, names, less))
            case _ if isinstance(kind, t.Seq):
                shorter = builtin("take", kind, base, make_literal(ANY, 1))
                return builtin("append", kind, shorter, self.expr(kind.inner, names, less))
            case "append":
                other: n.BuiltinName = self.rng.choice(("append", "remove"))
                return builtin(other, kind, base, self.expr(kind.inner, names, less))
            case _:
                return builtin("concat", kind, base, self.expr(kind, names, less))

    # --- operations ------------------------------------------------------------------------------

    def function(self, depth: int) -> None:
        """Adds a function."""
        result = self.rng.choice((BOOL, SET, SMALL, SOME))
        params = tuple(n.Param(self.name(), self.rng.choice((S, SET, ROW))) for _ in range(2))
        body = self.pure(result, {p.name: p.type for p in params}, depth)
        self.functions.append(n.Function(f"f{len(self.functions)}", params, result, body, ()))

    def pure(self, kind: t.Type, names: Names, depth: int) -> n.Expr:
        """An expression that reads no state."""

        def change(node: n.Expr) -> n.Expr:
            return blank(node.type) if isinstance(node, n.StateRef) else node

        return fold(self.expr(kind, names, depth), change)

    def operation(self, name: str, depth: int) -> n.Operation:
        """An operation with a few guarded branches, groups, picks and updates."""
        kinds = (S, SMALL, SET, C, SOME, E)
        params = tuple(n.Param(self.name(), self.rng.choice(kinds)) for _ in range(2))
        names: Names = {p.name: p.type for p in params}
        branches: list[n.Branch] = []
        lets: tuple[n.Bind, ...] = ()
        for i in range(self.rng.randint(1, 3)):
            if self.rng.random() < 0.5:
                bind = n.Bind(self.name(), self.expr(SET, names, depth))
                lets, names = (*lets, bind), {**names, bind.name: SET}
            guard = tuple(
                n.Conjunct(str(k + 1), self.expr(BOOL, names, depth))
                for k in range(self.rng.randint(1, 2))
            )
            group = 1 if self.rng.random() < 0.6 else 0
            branches.append(self.branch(f"b{i}", (group, lets, guard), names, depth))
        branches.append(self.branch("last", (0, lets, ()), names, depth))
        return n.Operation(name, params, REPLY, tuple(branches), ())

    def branch(
        self,
        name: str,
        head: tuple[int, tuple[n.Bind, ...], tuple[n.Conjunct, ...]],
        names: Names,
        depth: int,
    ) -> n.Branch:
        """A branch with up to two picks and two updates."""
        body: list[n.Statement] = []
        for _ in range(self.rng.randint(0, 2)):
            pick = self.name()
            if self.rng.random() < 0.3:
                index = self.name()
                domain = self.expr(SET, {**names, index: E}, depth - 1)
                kind: t.Type = t.Map(E, SOME)
                body.append(n.Pick(pick, kind, (index, E), domain, True))
            else:
                body.append(n.Pick(pick, SOME, None, self.expr(SET, names, depth - 1), True))
                kind = SOME
            names = {**names, pick: kind}
        updated = [(x, k) for x, k in self.state if self.rng.random() < 0.3]
        body += [n.Assign(x, self.expr(k, names, depth)) for x, k in updated]
        reply = self.expr(REPLY, names, depth)
        return n.Branch(name, *head, tuple(body), reply, ())


def draw_model(
    rng: Random,
    *,
    partial: bool = False,
    depth: int = 3,
    state: tuple[tuple[str, t.Type], ...] = STATE,
) -> n.Model:
    """A random model of one component with two operations and two functions."""
    drawer = Drawer(rng, partial, state=state)
    for _ in range(2):
        drawer.function(depth)
    operations = tuple(drawer.operation(f"op{i}", depth) for i in range(2))
    return model_of(operations, tuple(drawer.functions), state)


def models() -> st.SearchStrategy[n.Model]:
    """Random models in which every expression is defined."""
    return st.randoms(use_true_random=False).map(draw_model)


WHOLE = n.Instance("i", "whole", (("S", ("s1", "s2", "s3")),), (), (), ())


def draw_system(rng: Random) -> n.Model:
    """A random component inside a system whose steps call its operations, with two `eventually`
    properties and fairness."""
    model = draw_model(rng)
    (component,) = model.components
    steps = tuple(
        n.Step(operation.name, operation.params, (_calling(operation),), ())
        for operation in component.operations
    )
    state = tuple(n.StateVar(f"it.{v.name}", v.type, v.initial, "durable") for v in component.state)
    system = n.System("whole", (n.Part("it", None, "machine"),), state, steps)
    lives = tuple(_eventually(rng, f"p{i}", steps) for i in range(2))
    return replace(model, systems=(system,), instances=(WHOLE,), liveness=lives)


def _calling(operation: n.Operation) -> n.CallOperation:
    args = tuple(n.Local(p.name, type=p.type) for p in operation.params)
    return n.CallOperation("", "it", None, operation.name, args)


def _eventually(rng: Random, name: str, steps: tuple[n.Step, ...]) -> n.Eventually:
    """An `eventually` property with or without a parameter, with or without a trigger."""
    params = (n.Param("e", S),) if rng.random() < 0.5 else ()
    element = n.Present(n.Local("e", type=S), type=SOME) if params else make_literal(SOME, None)
    chosen = binary("eq", n.StateRef("it.chosen", False, type=SOME), element)
    count = n.StateRef("it.count", False, type=SMALL)
    goals = [
        chosen,
        binary("ne", count, make_literal(SMALL, 0)),
        binary("eq", count, make_literal(SMALL, 2)),
    ]
    fairness = []
    for step in steps:
        named = [p.name for p in step.params if isinstance(p.type, t.Sort | t.Enum | t.Int)]
        if rng.random() < 0.7:
            fairness.append(n.Fair(step.name, tuple(x for x in named if rng.random() < 0.5)))
    trigger = rng.choice([None, *goals])
    return n.Eventually(name, "whole", params, trigger, rng.choice(goals), tuple(fairness), ())


def systems() -> st.SearchStrategy[n.Model]:
    """Random systems with `eventually` properties."""
    return st.randoms(use_true_random=False).map(draw_system)
