"""Checks that every number stays inside the range of what it is assigned to (`int/out-of-range`).

The check uses intervals and is sound. A value that is read is in the range of its type; guards,
`require`, `if` and the connectives narrow the paths that they compare; `min` and `max` clamp. A
number that cannot be shown to fit is refused (docs/language/expressions.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar, assert_never

from charter.check.names.types import is_unknown, is_wrong, show_limit, show_type
from charter.check.numbers.intervals import Arithmetic
from charter.check.numbers.known_numbers import KnownNumbers, of_type
from charter.check.numbers.value_slots import inner_of, is_built_here, places
from charter.check.warnings.effects import with_facts
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.channels import content_of
from charter.core.walk import prelude_of, statement_expressions
from charter.diagnostics import Diagnostics

_Placed = TypeVar("_Placed", bound=ir.Placed)


def check_ranges(
    model: ir.Model, diagnostics: Diagnostics, checked: ir.Model | None = None
) -> None:
    """Check all expressions of a model. Declarations whose core is the very same in a `checked`
    model, where all names in them mean the same (`unchanged`), are not checked again."""
    functions = {
        function.name: tuple(param.type for param in function.params)
        for function in model.functions
    }
    start = KnownNumbers(Arithmetic(dict(model.consts)))
    done = frozenset[int]() if checked is None else frozenset(map(id, _list_placed(checked)))
    _Ranges(start, model, functions, diagnostics, done).model_ranges()


def _list_placed(model: ir.Model) -> Iterator[ir.Placed]:
    """The declarations that have expressions, and the operations and steps of machines."""
    yield from model.functions
    for component in model.components:
        yield from component.operations
    for system in model.systems:
        yield from system.steps
    yield from (*model.properties, *model.liveness, *model.instances, *model.scenarios)


def _is_clear(body: Iterable[ir.Statement]) -> bool:
    """Whether nothing that later lines depend on has an error: what follows from one would be told
    as if it were another."""
    lines = (line for line in body if not isinstance(line, ir.Assign))
    return not any(is_wrong(read) for line in lines for read in statement_expressions(line))


@dataclass(frozen=True, slots=True)
class _BeforeBranch:
    """What is known before a branch: from the lets alone, and also from the guards of earlier
    branches, which are false. How many lets and guards that are, and whether one has an error."""

    with_lets: KnownNumbers
    place: KnownNumbers
    lets: int = 0
    refused: int = 0
    is_wrong: bool = False


@dataclass(frozen=True, slots=True)
class _Ranges:
    start: KnownNumbers
    model: ir.Model
    functions: Mapping[str, tuple[ty.Type, ...]]
    diagnostics: Diagnostics
    checked: frozenset[int]
    """The identities of declarations that are not checked again."""

    def model_ranges(self) -> None:
        for function in self.list_unchecked(self.model.functions):
            if not is_wrong(function.body):
                self.flow(function.body, function.result, self.start)
        for component in self.model.components:
            self.state(component.state)
            for operation in self.list_unchecked(component.operations):
                self.operation(component.state, operation)
        for system in self.model.systems:
            self.state(system.state)
            for step in self.list_unchecked(system.steps):
                if _is_clear(step.body):
                    self.body(step.body, self.start, system.state)
        for prop in self.list_unchecked(self.model.properties):
            self.flow(prop.body, None, self.start)
        for live in self.list_unchecked(self.model.liveness):
            for part in (live.trigger, live.goal):
                if part is not None:
                    self.flow(part, None, self.start)
        for instance in self.list_unchecked(self.model.instances):
            self.fix_constants(instance).instance(instance)
        for scenario in self.list_unchecked(self.model.scenarios):
            inside = self.fix_constants(scenario.instance)
            inside.instance(scenario.instance)
            inside.story(scenario.instance.machine, scenario.steps)

    def list_unchecked(self, declarations: Iterable[_Placed]) -> Iterator[_Placed]:
        """Those that were not checked in another core."""
        return (each for each in declarations if id(each) not in self.checked)

    def fix_constants(self, instance: ir.Instance) -> _Ranges:
        """The same check with the constants fixed to the values of an instance."""
        consts: dict[str, ty.Type] = dict(self.start.arithmetic.consts)
        for name, value in instance.consts:
            consts[name] = ty.Int(ty.Limit("", value), ty.Limit("", value))
        return replace(self, start=KnownNumbers(Arithmetic(consts)))

    def story(self, machine: str, lines: Iterable[ir.Line]) -> None:
        """The lines of a scenario, or of a prelude."""
        replies = {
            operation.name: operation.result
            for component in self.model.components
            if component.name == machine
            for operation in component.operations
        }
        params = {
            operation.name: operation.params
            for component in self.model.components
            if component.name == machine
            for operation in component.operations
        } | {
            step.name: step.params
            for system in self.model.systems
            if system.name == machine
            for step in system.steps
        }
        place = self.start
        for line in lines:
            match line:
                case ir.Do():
                    for arg, param in zip(line.args, params[line.operation], strict=False):
                        self.flow(arg, param.type, place)
                    if line.reply is not None:
                        self.flow(line.reply, replies.get(line.operation), place)
                case ir.Expect():
                    self.flow(line.condition, None, place)
                case ir.Bind():
                    self.flow(line.value, None, place)
                    # The value is that of the state at this line; later lines read other states.
                    place = replace(place.let(line.name, line.value), values={})
                case ir.Moment():
                    pass

    def instance(self, instance: ir.Instance) -> None:
        state: dict[str, ir.StateVar] = {}
        for component in self.model.components:
            if component.name == instance.machine:
                state = {variable.name: variable for variable in component.state}
        for system in self.model.systems:
            if system.name == instance.machine:
                state = {variable.name: variable for variable in system.state}
        for name, value in instance.starts:
            if name in state:
                self.flow(value, state[name].type, self.start)
        for _, condition in instance.only:
            self.flow(condition, None, self.start)
        self.story(instance.machine, prelude_of(instance))

    def state(self, state: Iterable[ir.StateVar]) -> None:
        for variable in state:
            self.flow(variable.initial, variable.type, self.start)

    def operation(self, state: tuple[ir.StateVar, ...], operation: ir.Operation) -> None:
        """All branches. What the false guards of earlier branches show is carried on from branch to
        branch, so that an operation with n branches takes n steps."""
        for assumed in operation.assumes:
            if not is_wrong(assumed.condition):
                self.flow(assumed.condition, None, self.start)
        before = _BeforeBranch(self.start, self.start)
        for facts, branch in with_facts(operation):
            before = self.reach(before, branch.lets, facts.conditions[: -len(branch.guard) or None])
            known = not before.is_wrong and not any(is_wrong(c.condition) for c in branch.guard)
            if known and _is_clear(branch.body):
                self.branch(state, operation.result, branch, before.place)

    def reach(
        self, before: _BeforeBranch, lets: tuple[ir.Bind, ...], refused: tuple[ir.Expr, ...]
    ) -> _BeforeBranch:
        """What is known before a branch, from what was known before the one above it."""
        for let in lets[before.lets :]:
            before = replace(before, is_wrong=before.is_wrong or is_wrong(let.value))
            if not before.is_wrong:
                self.flow(let.value, None, before.with_lets)
                with_lets = before.with_lets.let(let.name, let.value)
                place = before.place.let(let.name, let.value)
                before = replace(before, with_lets=with_lets, place=place)
        for condition in refused[before.refused :]:
            before = replace(before, is_wrong=before.is_wrong or is_wrong(condition))
            if not before.is_wrong:
                before = replace(before, place=before.place.assume(condition, truth=True))
        return replace(before, lets=len(lets), refused=len(refused))

    def branch(
        self,
        state: tuple[ir.StateVar, ...],
        result: ty.Type,
        branch: ir.Branch,
        place: KnownNumbers,
    ) -> None:
        """A branch, at a place where the guards of earlier ones are false."""
        for part in branch.guard:
            self.flow(part.condition, None, place)
            place = place.assume(part.condition, truth=True)
        for fault in branch.faults:
            self.flow(fault.condition, None, place)
        place = self.body(branch.body, place, state)
        self.flow(branch.reply, result, place)

    def body(
        self, body: Iterable[ir.Statement], place: KnownNumbers, state: tuple[ir.StateVar, ...]
    ) -> KnownNumbers:
        types = {variable.name: variable.type for variable in state}
        for line in body:
            match line:
                case ir.Bind():
                    self.flow(line.value, None, place)
                    place = place.let(line.name, line.value)
                case ir.Assign() if is_wrong(line.value):
                    pass  # the error was reported
                case ir.Assign():
                    self.flow(line.value, types.get(line.variable), place)
                case ir.Require():
                    self.flow(line.condition, None, place)
                    place = place.assume(line.condition, truth=True)
                case ir.Pick():
                    self.flow(line.domain, None, place)
                case ir.CallOperation():
                    self.call(line, place)
                case ir.OnChannel():
                    self.mail(line, place)
                case _:
                    assert_never(line)
        return place

    def mail(self, line: ir.ChannelUse, place: KnownNumbers) -> None:
        if isinstance(line, ir.Receive):
            if line.many is not None:
                self.flow(line.many, None, place)
        else:
            if line.each is not None:
                self.flow(line.each[1], None, place)
            if line.condition is not None:
                self.flow(line.condition, None, place)
                place = place.assume(line.condition, truth=True)
        for key in line.keys:
            self.flow(key, None, place)
        if isinstance(line, ir.Send):
            self.flow(line.message, content_of(line.type, len(line.keys)).inner, place)

    def call(self, line: ir.CallOperation, place: KnownNumbers) -> None:
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

    # --- where numbers go ------------------------------------------------------------------------

    def flow(self, expr: ir.Expr, slot: ty.Type | None, place: KnownNumbers) -> None:
        """Check everything inside `expr`, and that its value fits the type `slot` (None: no
        range)."""
        match expr:
            case ir.If():
                self.flow(expr.condition, None, place)
                self.flow(expr.then, slot, place.assume(expr.condition, truth=True))
                self.flow(expr.otherwise, slot, place.assume(expr.condition, truth=False))
            case ir.Let():
                self.flow(expr.value, None, place)
                self.flow(expr.body, slot, place.let(expr.name, expr.value))
            case ir.Match():
                self.flow(expr.subject, None, place)
                for case in expr.cases:
                    self.flow(case.body, slot, place)
            case ir.Binary(op="and" | "or" | "implies"):
                self.flow(expr.left, None, place)
                narrowed = place.assume(expr.left, truth=expr.op != "or")
                self.flow(expr.right, None, narrowed)
            case ir.Comprehend():
                self.flow(expr.domain, None, place)
                inside = place.ranging(expr.name, expr.domain)
                self.flow(expr.condition, None, inside)
                inner = slot if expr.flatten else inner_of(slot)
                self.flow(expr.body, inner, inside.assume(expr.condition, truth=True))
            case ir.Quantified():
                self.flow(expr.domain, None, place)
                self.flow(expr.body, None, place.ranging(expr.name, expr.domain))
                if slot is not None:
                    self.fit(expr, slot, place)
            case _:
                for child, wanted in places(expr, slot, self.functions):
                    self.flow(child, wanted, place)
                if slot is not None and not is_built_here(expr):
                    self.fit(expr, slot, place)

    def fit(self, expr: ir.Expr, slot: ty.Type, place: KnownNumbers) -> None:
        """Check a value that is not constructed here, by its interval or by its type. An expression
        with an error of its own has no range."""
        if is_unknown(expr.type):
            return
        if isinstance(slot, ty.Int):
            low, high = slot.low, slot.high
            if not place.above(expr, low) or not place.below(expr, high):
                self.report(expr, slot, place)
        elif not self.within(expr.type, slot):
            message = f"a value of {show_type(expr.type)} may be outside {show_type(slot)}"
            self.diagnostics.error("int/out-of-range", message, expr.span)

    def report(self, expr: ir.Expr, slot: ty.Int, place: KnownNumbers) -> None:
        if isinstance(expr, ir.Literal):
            message = f"{expr.value} is not in {show_type(slot)}"
            self.diagnostics.error("int/out-of-range", message, expr.span)
            return
        found = place.interval(expr)
        low = "" if found.low is None else show_limit(found.low)
        high = "" if found.high is None else show_limit(found.high)
        message = f"this may be anything in {low}..{high}, which is not inside {show_type(slot)}"
        missing = [] if place.above(expr, slot.low) else [_at_least(expr, slot.low)]
        missing += [] if place.below(expr, slot.high) else [_at_most(expr, slot.high)]
        if never := _never_inside(expr, slot, place):
            self.diagnostics.error("int/out-of-range", message, expr.span, hint=never)
            return
        hint = "compare it in the guard, a `require` or an `if`"
        if all(missing):
            proof = " and ".join(missing)
            hint = f"`{proof}` would prove it, in the guard, a `require` or an `if`"
        hint += "; if an invariant keeps it there: `conform explain int/out-of-range`"
        self.diagnostics.error("int/out-of-range", message, expr.span, hint=hint)

    def within(self, actual: ty.Type, slot: ty.Type) -> bool:
        """Whether all values of one type are in the ranges of the other. (They are already known to
        fit otherwise.)"""
        if actual is slot:
            return True
        match actual, slot:
            case ty.Int(), ty.Int():
                return self.start.arithmetic.inside(of_type(actual), of_type(slot))
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


def _never_inside(expr: ir.Expr, slot: ty.Int, place: KnownNumbers) -> str:
    """The hint for a number that is outside of its range whatever its parts are, so that no
    comparison helps; "" for another."""
    low, high = slot.low, slot.high
    side = ""
    if high is not None and place.above(expr, replace(high, plus=high.plus + 1)):
        side = f"more than {show_limit(high)}"
    elif low is not None and place.below(expr, replace(low, plus=low.plus - 1)):
        side = f"less than {show_limit(low)}"
    return f"it is always {side}: write another value, or widen the range" if side else ""


def _at_least(expr: ir.Expr, low: ty.Limit | None) -> str:
    """The comparison that says that `expr` is at least `low`, as one would write it; "" if its
    parts cannot be quoted."""
    match expr:
        case ir.Binary(op="sub", right=ir.Literal() as right) if low == ty.Limit():
            return _comparison(_text(expr.left), ">=", _text(right))
        case ir.Binary(op="sub") if low == ty.Limit():
            return _comparison(_text(expr.right), "<=", _text(expr.left))
        case _:
            return _comparison(_text(expr), ">=", show_limit(low) if low else "")


def _at_most(expr: ir.Expr, high: ty.Limit | None) -> str:
    """The comparison that says that `expr` is at most `high`."""
    limit = show_limit(high) if high else ""
    match expr:
        case ir.Binary(op="add", right=ir.Literal(value=1)):
            return _comparison(_text(expr.left), "<", limit)
        case _:
            return _comparison(_text(expr), "<=", limit)


def _comparison(left: str, op: str, right: str) -> str:
    return f"{left} {op} {right}" if left and right else ""


def _text(expr: ir.Expr) -> str:
    """The text of an expression; "" if it is long, reaches as far right as possible, or has a
    bracket whose partner is outside of its span."""
    text = expr.span.source.text[expr.span.start : expr.span.end]
    if isinstance(expr, ir.If | ir.Let | ir.Match | ir.Quantified) or len(text) > 40:
        return ""
    cut = text.count("(") != text.count(")") or text.find(")") < text.find("(")
    return "" if cut or "\n" in text else text
