"""`int/out-of-range`: checks that every number stays inside the range of what it is assigned to.

The check uses intervals and is sound. A value that is read is in the range of its type; guards,
`require`, `if` and the connectives narrow the paths that they compare; `min` and `max` clamp. A
number that cannot be shown to fit is refused (docs/language/expressions.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from charter.check.effects import with_facts
from charter.check.facts import Facts
from charter.check.intervals import ANY, Arithmetic, Interval, exactly, shifted
from charter.check.types import is_unknown, show_type
from charter.check.value_slots import inner_of, is_built_here, places
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.channels import content_of
from charter.core.walk import substitute
from charter.diagnostics import Diagnostics


@dataclass(frozen=True, slots=True)
class RangeContext:
    """What is known at an expression: intervals of lets (`locals`) and of compared paths
    (`facts`)."""

    locals: Mapping[str, Interval] = field(default_factory=dict)
    values: Mapping[str, ir.Expr] = field(default_factory=dict)
    facts: tuple[tuple[ir.Expr, Interval], ...] = ()


def check_ranges(model: ir.Model, diagnostics: Diagnostics) -> None:
    """Check all expressions of a model."""
    functions = {
        function.name: tuple(param.type for param in function.params)
        for function in model.functions
    }
    _Ranges(Arithmetic(dict(model.consts)), model, functions, diagnostics).model_ranges()


@dataclass(frozen=True, slots=True)
class _Ranges:
    arithmetic: Arithmetic
    model: ir.Model
    functions: Mapping[str, tuple[ty.Type, ...]]
    diagnostics: Diagnostics

    def model_ranges(self) -> None:
        for function in self.model.functions:
            self.flow(function.body, function.result, RangeContext())
        for component in self.model.components:
            self.state(component.state)
            for operation in component.operations:
                for facts, branch in with_facts(operation):
                    self.branch(component.state, operation, branch, facts)
        for system in self.model.systems:
            self.state(system.state)
            for step in system.steps:
                self.body(step.body, RangeContext(), system.state)
        for prop in self.model.properties:
            self.flow(prop.body, None, RangeContext())
        for live in self.model.liveness:
            for part in (live.trigger, live.goal):
                if part is not None:
                    self.flow(part, None, RangeContext())
        for instance in self.model.instances:
            self.bounded(instance).starts(instance)
        for scenario in self.model.scenarios:
            inside = self.bounded(scenario.instance)
            inside.starts(scenario.instance)
            inside.story(scenario)

    def bounded(self, instance: ir.Instance) -> _Ranges:
        """The same check with the constants fixed to the values of an instance."""
        consts: dict[str, ty.Type] = dict(self.arithmetic.consts)
        for name, value in instance.consts:
            consts[name] = ty.Int(ty.Limit("", value), ty.Limit("", value))
        return replace(self, arithmetic=Arithmetic(consts))

    def story(self, scenario: ir.Scenario) -> None:
        params = {
            operation.name: operation.params
            for component in self.model.components
            if component.name == scenario.instance.machine
            for operation in component.operations
        } | {
            step.name: step.params
            for system in self.model.systems
            if system.name == scenario.instance.machine
            for step in system.steps
        }
        place = RangeContext()
        for line in scenario.steps:
            match line:
                case ir.Do():
                    for arg, param in zip(line.args, params[line.operation], strict=False):
                        self.flow(arg, param.type, place)
                case ir.Expect():
                    self.flow(line.condition, None, place)
                case ir.Bind():
                    self.flow(line.value, None, place)
                    place = self.let(place, line.name, line.value)
                case ir.Moment():
                    pass

    def starts(self, instance: ir.Instance) -> None:
        state: dict[str, ir.StateVar] = {}
        for component in self.model.components:
            if component.name == instance.machine:
                state = {variable.name: variable for variable in component.state}
        for system in self.model.systems:
            if system.name == instance.machine:
                state = {variable.name: variable for variable in system.state}
        for name, value in instance.starts:
            if name in state:
                self.flow(value, state[name].type, RangeContext())

    def state(self, state: Iterable[ir.StateVar]) -> None:
        for variable in state:
            self.flow(variable.initial, variable.type, RangeContext())

    def branch(
        self,
        state: tuple[ir.StateVar, ...],
        operation: ir.Operation,
        branch: ir.Branch,
        facts: Facts,
    ) -> None:
        place = RangeContext()
        for let in branch.lets:
            self.flow(let.value, None, place)
            place = self.let(place, let.name, let.value)
        own = {id(part.condition) for part in branch.guard}
        for condition in facts.conditions:
            if id(condition) in own:
                self.flow(condition, None, place)
            place = self.assume(place, condition, truth=True)
        place = self.body(branch.body, place, state)
        self.flow(branch.reply, operation.result, place)

    def body(
        self, body: Iterable[ir.Statement], place: RangeContext, state: tuple[ir.StateVar, ...]
    ) -> RangeContext:
        types = {variable.name: variable.type for variable in state}
        for line in body:
            match line:
                case ir.Bind():
                    self.flow(line.value, None, place)
                    place = self.let(place, line.name, line.value)
                case ir.Assign():
                    self.flow(line.value, types.get(line.variable), place)
                case ir.Require():
                    self.flow(line.condition, None, place)
                    place = self.assume(place, line.condition, truth=True)
                case ir.Pick():
                    self.flow(line.domain, None, place)
                case ir.CallOperation():
                    self.call(line, place)
                case ir.Send() | ir.Receive():
                    self.mail(line, place)
                case _:
                    assert_never(line)
        return place

    def mail(self, line: ir.Send | ir.Receive, place: RangeContext) -> None:
        for key in line.keys:
            self.flow(key, None, place)
        if isinstance(line, ir.Send):
            self.flow(line.message, content_of(line.type, len(line.keys)).inner, place)

    def call(self, line: ir.CallOperation, place: RangeContext) -> None:
        params = next(
            (
                operation.params
                for system in self.model.systems
                for part in system.parts
                if part.name == line.part
                for component in self.model.components
                if component.name == part.component
                for operation in component.operations
                if operation.name == line.operation
            ),
            (),
        )
        for arg, param in zip(line.args, params, strict=False):
            self.flow(arg, param.type, place)

    # --- what is known ---------------------------------------------------------------------------

    def let(self, place: RangeContext, name: str, value: ir.Expr) -> RangeContext:
        values = {**place.values, name: substitute(value, dict(place.values))}
        if not isinstance(value.type, ty.Int):
            return replace(place, values=values)
        locals_ = {**place.locals, name: self.interval(value, place)}
        return replace(place, values=values, locals=locals_)

    def ranging(self, place: RangeContext, name: str, domain: ir.Expr) -> RangeContext:
        """The context in which `name` is a member of `domain`."""
        if not isinstance(domain.type, ty.Set) or not isinstance(domain.type.inner, ty.Int):
            return place
        return replace(place, locals={**place.locals, name: self.of_members(domain, place)})

    def assume(self, place: RangeContext, condition: ir.Expr, *, truth: bool) -> RangeContext:
        """The context in which `condition` has the value `truth`."""
        match condition:
            case ir.Unary(op="not", operand=operand):
                return self.assume(place, operand, truth=not truth)
            case ir.Binary(op="and" | "or" as op, left=left, right=right):
                if truth == (op == "and"):
                    return self.assume(self.assume(place, left, truth=truth), right, truth=truth)
                return place
            case ir.Binary(op="implies", left=left, right=right):
                if truth:
                    return place
                return self.assume(self.assume(place, left, truth=True), right, truth=False)
            case ir.Local(name=name) if name in place.values:
                return self.assume(place, place.values[name], truth=truth)
            case ir.Binary() if isinstance(condition.left.type, ty.Int):
                return self.compared(place, condition, truth=truth)
            case _:
                return place

    def compared(self, place: RangeContext, condition: ir.Binary, *, truth: bool) -> RangeContext:
        op = condition.op if truth else _OPPOSITE.get(condition.op, condition.op)
        left, right = condition.left, condition.right
        one, other = self.interval(left, place), self.interval(right, place)
        match op:
            case "lt":
                new, new_other = (
                    Interval(None, shifted(other.high, -1)),
                    Interval(shifted(one.low, 1), None),
                )
            case "le":
                new, new_other = Interval(None, other.high), Interval(one.low, None)
            case "gt":
                new, new_other = (
                    Interval(shifted(other.low, 1), None),
                    Interval(None, shifted(one.high, -1)),
                )
            case "ge":
                new, new_other = Interval(other.low, None), Interval(None, one.high)
            case "eq":
                new, new_other = other, one
            case "ne":
                new, new_other = _without(one, other), _without(other, one)
            case _:
                return place
        place = self.learn(place, left, new)
        return self.learn(place, right, new_other)

    def learn(self, place: RangeContext, path: ir.Expr, interval: Interval) -> RangeContext:
        if interval == ANY or isinstance(path, ir.Literal):
            return place
        known = substitute(path, dict(place.values))
        return replace(place, facts=(*place.facts, (known, interval)))

    def interval(self, expr: ir.Expr, place: RangeContext) -> Interval:
        """The interval of the number `expr`."""
        found = self.by_shape(expr, place)
        if place.facts:
            known = substitute(expr, dict(place.values))
            for path, interval in place.facts:
                if path == known:
                    found = self.arithmetic.both(found, interval)
        return found

    def by_shape(self, expr: ir.Expr, place: RangeContext) -> Interval:
        reckon = self.arithmetic
        match expr:
            case ir.Literal(value=int(number)):
                return exactly(number)
            case ir.ConstRef(name=name):
                return Interval(ty.Limit(name), ty.Limit(name))
            case ir.Local(name=name) if name in place.locals:
                return place.locals[name]
            case ir.Binary(op="add"):
                return reckon.add(self.interval(expr.left, place), self.interval(expr.right, place))
            case ir.Binary(op="sub"):
                return reckon.subtract(
                    self.interval(expr.left, place), self.interval(expr.right, place)
                )
            case ir.Binary(op="mul"):
                return reckon.multiply(
                    self.interval(expr.left, place), self.interval(expr.right, place)
                )
            case ir.Unary(op="negate"):
                return reckon.subtract(exactly(0), self.interval(expr.operand, place))
            case ir.If():
                return reckon.either(
                    self.interval(expr.then, self.assume(place, expr.condition, truth=True)),
                    self.interval(expr.otherwise, self.assume(place, expr.condition, truth=False)),
                )
            case ir.Let():
                return self.interval(expr.body, self.let(place, expr.name, expr.value))
            case ir.Match():
                return self.any_case(expr, place)
            case ir.Builtin():
                return self.of_builtin(expr, place)
            case _:
                return of_type(expr.type)

    def any_case(self, expr: ir.Match, place: RangeContext) -> Interval:
        found: Interval | None = None
        for case in expr.cases:
            inside = self.interval(case.body, place)
            found = inside if found is None else self.arithmetic.either(found, inside)
        return found or ANY

    def of_builtin(self, expr: ir.Builtin, place: RangeContext) -> Interval:
        match expr.name, expr.args:
            case "size", (of,):
                return Interval(ty.Limit("", 0), _most_items(of))
            case "min", (left, right):
                return self.arithmetic.smaller(
                    self.interval(left, place), self.interval(right, place)
                )
            case "max", (left, right):
                return self.arithmetic.greater(
                    self.interval(left, place), self.interval(right, place)
                )
            case "min" | "max", (group,):
                return self.of_members(group, place)
            case "default", (_, otherwise):
                inner = of_type(expr.type)
                return self.arithmetic.either(inner, self.interval(otherwise, place))
            case _:
                return of_type(expr.type)

    def of_members(self, group: ir.Expr, place: RangeContext) -> Interval:
        """The interval of all members of a set of numbers."""
        match group:
            case ir.SetNew(items=(first, *rest)):
                found = self.interval(first, place)
                for item in rest:
                    found = self.arithmetic.either(found, self.interval(item, place))
                return found
            case ir.Binary(op="union", left=left, right=right):
                return self.arithmetic.either(
                    self.of_members(left, place), self.of_members(right, place)
                )
            case ir.Binary(op="intersection" | "difference", left=left):
                return self.of_members(left, place)
            case ir.Comprehend():
                inside = self.ranging(place, group.name, group.domain)
                inside = self.assume(inside, group.condition, truth=True)
                if group.flatten:
                    return self.of_members(group.body, inside)
                return self.interval(group.body, inside)
            case ir.Local(name=name) if name in place.values:
                return self.of_members(place.values[name], place)
            case _:
                return of_type(group.type.inner) if isinstance(group.type, ty.Set) else ANY

    # --- where numbers go ------------------------------------------------------------------------

    def flow(self, expr: ir.Expr, slot: ty.Type | None, place: RangeContext) -> None:
        """Check everything inside `expr`, and that its value fits the type `slot` (None: no
        range)."""
        match expr:
            case ir.If():
                self.flow(expr.condition, None, place)
                self.flow(expr.then, slot, self.assume(place, expr.condition, truth=True))
                self.flow(expr.otherwise, slot, self.assume(place, expr.condition, truth=False))
            case ir.Let():
                self.flow(expr.value, None, place)
                self.flow(expr.body, slot, self.let(place, expr.name, expr.value))
            case ir.Match():
                self.flow(expr.subject, None, place)
                for case in expr.cases:
                    self.flow(case.body, slot, place)
            case ir.Binary(op="and" | "or" | "implies"):
                self.flow(expr.left, None, place)
                narrowed = self.assume(place, expr.left, truth=expr.op != "or")
                self.flow(expr.right, None, narrowed)
            case ir.Comprehend():
                self.flow(expr.domain, None, place)
                inside = self.ranging(place, expr.name, expr.domain)
                self.flow(expr.condition, None, inside)
                inner = slot if expr.flatten else inner_of(slot)
                self.flow(expr.body, inner, self.assume(inside, expr.condition, truth=True))
            case ir.Quantified():
                self.flow(expr.domain, None, place)
                self.flow(expr.body, None, self.ranging(place, expr.name, expr.domain))
            case _:
                for child, wanted in places(expr, slot, self.functions):
                    self.flow(child, wanted, place)
                if slot is not None and not is_built_here(expr):
                    self.fit(expr, slot, place)

    def fit(self, expr: ir.Expr, slot: ty.Type, place: RangeContext) -> None:
        """Check a value that is not constructed here, by its interval or by its type. An expression
        with an error of its own has no range."""
        if is_unknown(expr.type):
            return
        if isinstance(slot, ty.Int):
            low, high = slot.low, slot.high
            if not self.above(expr, low, place) or not self.below(expr, high, place):
                self.report(expr, slot, self.interval(expr, place))
        elif not self.within(expr.type, slot):
            message = f"a value of {show_type(expr.type)} may be outside {show_type(slot)}"
            self.diagnostics.error("int/out-of-range", message, expr.span)

    def above(self, expr: ir.Expr, low: ty.Limit | None, place: RangeContext) -> bool:
        """Whether `expr` is at least `low`. For `max` one side suffices, for `min` both are
        needed."""
        if isinstance(expr, ir.Builtin) and len(expr.args) == 2 and expr.name in ("min", "max"):
            sides = (self.above(side, low, place) for side in expr.args)
            if any(sides) if expr.name == "max" else all(sides):
                return True
        return self.arithmetic.inside(self.interval(expr, place), Interval(low, None))

    def below(self, expr: ir.Expr, high: ty.Limit | None, place: RangeContext) -> bool:
        """Whether `expr` is at most `high`. For `min` one side suffices, for `max` both are
        needed."""
        if isinstance(expr, ir.Builtin) and len(expr.args) == 2 and expr.name in ("min", "max"):
            sides = (self.below(side, high, place) for side in expr.args)
            if any(sides) if expr.name == "min" else all(sides):
                return True
        return self.arithmetic.inside(self.interval(expr, place), Interval(None, high))

    def report(self, expr: ir.Expr, slot: ty.Int, found: Interval) -> None:
        if isinstance(expr, ir.Literal):
            message = f"{expr.value} is not in {show_type(slot)}"
            self.diagnostics.error("int/out-of-range", message, expr.span)
            return
        low = "" if found.low is None else show_type(ty.Int(found.low, found.low)).split("..")[1]
        high = (
            "" if found.high is None else show_type(ty.Int(found.high, found.high)).split("..")[1]
        )
        message = f"this may be anything in {low}..{high}, which is not inside {show_type(slot)}"
        hint = "compare it with a constant in the guard, or clamp it with `min` or `max`"
        self.diagnostics.error("int/out-of-range", message, expr.span, hint=hint)

    def within(self, actual: ty.Type, slot: ty.Type) -> bool:
        """Whether all values of one type are in the ranges of the other. (They are already known to
        fit otherwise.)"""
        if actual is slot:
            return True
        match actual, slot:
            case ty.Int(), ty.Int():
                return self.arithmetic.inside(of_type(actual), of_type(slot))
            case (
                (ty.Option(inner=a), ty.Option(inner=b))
                | (ty.Set(inner=a), ty.Set(inner=b))
                | (ty.Ranking(inner=a), ty.Ranking(inner=b))
                | (ty.Seq(inner=a), ty.Seq(inner=b))
            ):
                return self.within(a, b)
            case ty.Map(value=a), ty.Map(value=b):
                return self.within(a, b)
            case _:
                return True


_OPPOSITE: dict[str, ir.BinaryOp] = {
    "lt": "ge",
    "le": "gt",
    "gt": "le",
    "ge": "lt",
    "eq": "ne",
    "ne": "eq",
}


def of_type(kind: ty.Type) -> Interval:
    """The range of an integer type."""
    return Interval(kind.low, kind.high) if isinstance(kind, ty.Int) else ANY


def _without(found: Interval, other: Interval) -> Interval:
    """`found` without a bound that is the only number of `other`."""
    if other.low is None or other.low != other.high:
        return ANY
    low = shifted(found.low, 1) if found.low == other.low else None
    high = shifted(found.high, -1) if found.high == other.high else None
    return Interval(low, high)


def _most_items(of: ir.Expr) -> ty.Limit | None:
    match of, of.type:
        case ((ir.SetNew(items=items) | ir.SeqNew(items=items)), _):
            return ty.Limit("", len(items))
        case _, ty.Seq(limit=limit):
            return limit
        case _, ty.Set(inner=ty.Enum(members=members)) | ty.Ranking(inner=ty.Enum(members=members)):
            return ty.Limit("", len(members))
        case _, ty.Set(inner=ty.Bool()):
            return ty.Limit("", 2)
        case _:
            return None
