"""Emits operations and steps as functions that write one row for each outcome.

    i64 @op_<component>_<operation>(ctx, variables, arguments, rows, room)
    i64 @step_<step>(ctx, variables, arguments, rows, room)

A row is the number of the branch, the reply's slots (of an operation), then all variables. The
result is the number of rows, which may repeat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core import small as s
from charter.core import types as t
from charter.explore.native.emit import functions as fn
from charter.explore.native.emit.code import Code, Label, Number, Pointer, Ref
from charter.explore.native.emit.expr import Expr
from charter.explore.native.emit.functions import CTX
from charter.explore.native.emit.guards import Guards
from charter.explore.native.emit.unit import FATAL_ROWS, ROWS_OF_CALL, Unit
from charter.explore.native.emit.values import Composite, Held, InMemory, Scalar, scalar
from charter.explore.native.memory.layout import CannotCompile, Layout
from charter.semantics.evaluate import describe_broken

VARS, ARGS, ROWS, ROOM = Pointer("%vars"), Pointer("%args"), Pointer("%rows"), Ref("%room")


@dataclass(frozen=True, slots=True)
class VariableSlots:
    """The slots of the variables of a machine."""

    variables: tuple[n.StateVar, ...]
    offsets: tuple[int, ...]
    slots: int

    @staticmethod
    def of(layout: Layout, variables: tuple[n.StateVar, ...]) -> VariableSlots:
        """The variables one after another."""
        offsets, at = [], 0
        for variable in variables:
            offsets.append(at)
            try:
                at += layout.slots(variable.type)
            except CannotCompile as problem:
                raise problem.at(variable.span) from None
        return VariableSlots(variables, tuple(offsets), at)

    def places(self, pointer: Pointer) -> dict[str, Held]:
        """The variables of a state in memory."""
        pairs = zip(self.variables, self.offsets, strict=True)
        return {v.name: InMemory(v.type, pointer, at) for v, at in pairs}


def arguments_of(layout: Layout, params: tuple[n.Param, ...]) -> tuple[tuple[int, ...], int]:
    """The slots of each argument, and their total number."""
    offsets, at = [], 0
    for param in params:
        offsets.append(at)
        at += layout.slots(param.type)
    return tuple(offsets), at


@dataclass(slots=True)
class BodyPrinter:
    """Prints the body of one operation or step. `work` is the value of each variable after the
    statements so far, or its memory if nothing was assigned."""

    unit: Unit
    code: Code
    variable_slots: VariableSlots
    reply: int
    expr: Expr = field(init=False)
    work: dict[str, Held] = field(init=False)
    count: Pointer = field(init=False)

    def __post_init__(self) -> None:
        self.expr = Expr(self.unit, self.code)
        self.expr.before = self.variable_slots.places(VARS)
        self.work = dict(self.expr.before)
        self.count = self.code.memory(1)
        self.code.store(0, self.count)

    def open(self, params: tuple[n.Param, ...]) -> None:
        """Bind the arguments."""
        offsets, _ = arguments_of(self.unit.layout, params)
        for param, at in zip(params, offsets, strict=True):
            self.expr.names[param.name] = self.expr.keep.part(param.type, ARGS, at)

    @property
    def row_size(self) -> int:
        """Slots of a row."""
        return 1 + self.reply + self.variable_slots.slots

    def finish(self, label: str, reply: Callable[[Pointer], None] | None = None) -> None:
        """Write a row."""
        code = self.code
        count = code.load(self.count)
        full = code.compare("ge", count, ROOM)
        with code.when(full):
            self.expr.fatal(FATAL_ROWS)
        with code.unless(full):
            row = code.row(ROWS, count, self.row_size)
            code.store(self.unit.label(label), row)
            if reply is not None:
                reply(code.at(row, 1))
            self.write(code.at(row, 1 + self.reply))
            code.store(code.add(count, 1), self.count)

    def write(self, target: Pointer) -> None:
        """Write all variables."""
        variable_slots, start = self.variable_slots, 0
        before = self.expr.before
        for variable, at in zip(variable_slots.variables, variable_slots.offsets, strict=True):
            held = self.work[variable.name]
            if held != before[variable.name]:
                self._copy(target, start, at)
                self.expr.keep.put(held, variable.type, target, at)
                start = at + self.unit.layout.slots(variable.type)
        self._copy(target, start, variable_slots.slots)

    def _copy(self, target: Pointer, start: int, end: int) -> None:
        if end > start:
            code = self.code
            code.copy(code.at(target, start), code.at(VARS, start), end - start)

    # --- branches --------------------------------------------------------------------------------

    def operation(self, operation: s.Operation) -> None:
        """All branches, and the end of the function."""
        code, group = self.code, 0
        done, guards = code.label(), Guards(self.expr, self.unit.trail)
        for assumed in operation.assumes:
            truth = self.expr.truth(assumed.condition)
            self.expr.demand(truth, describe_broken(operation, assumed), assumed.span)
        for branch in operation.branches:
            if group and branch.group != group:
                on = code.label()
                code.fork(code.nonzero(code.load(self.count)), done, on)
                code.start(on)
            group = branch.group
            self.branch(operation, branch, (done, guards))
        with code.when(code.compare("eq", code.load(self.count), 0)):
            self.expr.fail(f"no branch of {operation.name} applies", operation.span)
        code.jump(done)
        code.start(done)
        code.give(code.load(self.count))

    def branch(self, operation: s.Operation, branch: s.Branch, about: tuple[Label, Guards]) -> None:
        """A branch: a row for each outcome if its guard is true."""
        code, expr, (done, guards) = self.code, self.expr, about
        for bind in branch.lets:
            if bind.name not in expr.names:
                expr.names[bind.name] = expr.value(bind.value)
        known = dict(expr.names)
        on = code.label()
        for conjunct in branch.guard:
            inside = code.label()
            code.fork(guards.truth(conjunct.condition), inside, on)
            code.start(inside)

        def finish() -> None:
            def reply(target: Pointer) -> None:
                expr.keep.put(expr.value(branch.reply), operation.result, target, 0)

            self.finish(f"{operation.name}/{branch.name}", reply)

        self.statements(branch.body, 0, finish)
        code.jump(done if branch.group == 0 else on)
        code.start(on)
        expr.names, self.work = known, dict(expr.before)

    def step(self, step: s.Step) -> None:
        """The statements of a step, and the end of the function."""
        self.statements(step.body, 0, lambda: self.finish(step.name))
        self.code.give(self.code.load(self.count))

    # --- statements ------------------------------------------------------------------------------

    def statements(
        self, body: tuple[s.Statement, ...], at: int, finish: Callable[[], None]
    ) -> None:
        """The statements from number `at` on; those behind a pick or a call are in its loop."""
        if at == len(body):
            finish()
            return
        expr, code = self.expr, self.code
        expr.after = self.work

        def rest() -> None:
            self.statements(body, at + 1, finish)

        line = body[at]
        match line:
            case n.Bind(name=name):
                expr.names[name] = expr.value(line.value)
                rest()
            case n.Assign(variable=variable):
                self.work[variable] = expr.value(line.value)
                rest()
            case n.Require():
                truth = expr.truth(line.condition)
                with code.when(truth):
                    rest()
            case n.Pick():
                self.pick(line, rest)
            case n.CallOperation():
                self.call(line, rest)

    def pick(self, pick: n.Pick[s.Expr], rest: Callable[[], None]) -> None:
        """A loop over the choices; with an index, nested loops, one for each index."""
        expr = self.expr
        if pick.index is None:

            def choose(value: Held) -> None:
                expr.names[pick.name] = value
                rest()

            self.choices(pick, choose)
            return
        variable, kind = pick.index
        assert isinstance(pick.type, t.Map)
        whole, size = pick.type, expr.layout.size(kind)

        def level(i: int, before: tuple[Held, ...]) -> None:
            if i == size:
                expr.names[pick.name] = Composite(whole, before)
                rest()
                return
            expr.names[variable] = expr.element(kind, i)
            self.choices(pick, lambda value: level(i + 1, (*before, value)))

        level(0, ())

    def choices(self, pick: n.Pick[s.Expr], body: Callable[[Held], None]) -> None:
        """`body` for each choice that one domain allows."""
        expr, code = self.expr, self.code
        assert isinstance(pick.domain.type, t.Set)
        inner = pick.domain.type.inner
        mask = scalar(expr.value(pick.domain))
        some = code.nonzero(mask.ref, mask.ty)
        if not pick.or_none:
            expr.demand(some, f"nothing to pick for {pick.name}", pick.span)
        with code.choosing(mask.ref, mask.ty) as bit:
            at = code.select(some, bit, 0)
            if isinstance(inner, t.Int):
                value: Held = Scalar(code.add(at, mask.low), mask.low, mask.high)
            else:
                value = expr.element(inner, at)
            if pick.or_none:
                value = Composite(t.Option(inner), (some, value))
            body(value)

    def call(self, call: n.CallOperation[s.Expr], rest: Callable[[], None]) -> None:
        """A loop over the outcomes of an operation of a part."""
        expr, code, unit = self.expr, self.code, self.unit
        system = next(s for s in unit.model.systems for p in s.parts if p.name == call.part)
        part = next(p for p in system.parts if p.name == call.part)
        component = next(c for c in unit.model.components if c.name == part.component)
        operation = next(o for o in component.operations if o.name == call.operation)
        inner = VariableSlots.of(unit.layout, component.state)
        offsets, slots = arguments_of(unit.layout, operation.params)
        args, held = code.memory(slots), code.memory(inner.slots)
        for e, param, at in zip(call.args, operation.params, offsets, strict=True):
            expr.keep.put(expr.value(e), param.type, args, at)
        key: Number | None = None
        if part.index is not None and call.index is not None:
            key = expr.position(part.index, call.index, expr.value(call.index))
        for variable, at in zip(component.state, inner.offsets, strict=True):
            whole = self.work[f"{part.name}.{variable.name}"]
            expr.keep.put(self._entry(whole, key), variable.type, held, at)
        operate(unit, component, operation)
        reply = unit.layout.slots(operation.result)
        size = 1 + reply + inner.slots
        rows = code.memory(size * ROWS_OF_CALL)
        target = fn.operation(component.name, operation.name)
        found = code.call(target, CTX, held, args, rows, ROWS_OF_CALL)
        outside = dict(self.work)
        with code.counting(found) as i:
            row = code.row(rows, i, size)
            if call.result:
                expr.names[call.result] = expr.keep.part(operation.result, row, 1)
            for variable, at in zip(component.state, inner.offsets, strict=True):
                if variable.name in list_assigned(operation):
                    new = expr.keep.part(variable.type, row, 1 + reply + at)
                    name = f"{part.name}.{variable.name}"
                    self.work[name] = self._replace(outside[name], key, new)
            rest()
        self.work = outside

    def _entry(self, whole: Held, key: Number | None) -> Held:
        if key is None:
            return self.expr._variable(whole)
        return self.expr.keep.entry(whole, key)

    def _replace(self, whole: Held, key: Number | None, new: Held) -> Held:
        if key is None:
            return new
        expr = self.expr
        assert isinstance(whole, InMemory | Composite) and isinstance(whole.kind, t.Map)
        kind = whole.kind
        room = self.code.memory(expr.layout.slots(kind))
        expr.keep.put(whole, kind, room, 0)
        slots = expr.layout.slots(kind.value)
        expr.keep.put(new, kind.value, self.code.row(room, key, slots), 0)
        return InMemory(kind, room)


def list_assigned(operation: s.Operation) -> set[str]:
    """The variables that some branch assigns."""
    statements = (s for branch in operation.branches for s in branch.body)
    return {s.variable for s in statements if isinstance(s, n.Assign)}


def operate(unit: Unit, component: s.Component, operation: s.Operation) -> None:
    """Print an operation, once."""
    name = f"op_{component.name}_{operation.name}"
    if name in unit.printed:
        return
    unit.printed.add(name)
    code = Code.of(fn.operation(component.name, operation.name), CTX, VARS, ARGS, ROWS, ROOM)
    reply = unit.layout.slots(operation.result)
    body = BodyPrinter(unit, code, VariableSlots.of(unit.layout, component.state), reply)
    body.open(operation.params)
    body.operation(operation)
    unit.add(code)


def print_step(unit: Unit, system: s.System, step: s.Step) -> None:
    """Print a step."""
    code = Code.of(fn.step(step.name), CTX, VARS, ARGS, ROWS, ROOM)
    body = BodyPrinter(unit, code, VariableSlots.of(unit.layout, system.state), 0)
    body.open(step.params)
    body.step(step)
    unit.add(code)
