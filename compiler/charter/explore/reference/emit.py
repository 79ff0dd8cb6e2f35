"""Prints one instance of a machine as a module of flat Python functions.

    op_<component>_<operation>(s, a, trail) -> [(branch, reply, successor), ...]
    step_<step>(s, a, trail)                -> [(step, None, successor), ...]
    prop_<i>(s, z, took)                    -> bool
    outside(s, z)                           -> the first variable of z that left its range, or ""

A state is a tuple with one value for each variable. `trail` is None, or a list that takes the
truth of every atom of the guards that were read: equal trails mean equal truth of all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core import types as t
from charter.explore.reference.flat import Constants, Flat
from charter.render.text import INDENT, Emitter

HEADER = """\
from itertools import product
from charter.explore.reference.support import (
    appended, at, bounded, fail, greatest, in_order, item, joined, least, position, put,
)
"""


@dataclass(slots=True)
class ModulePrinter:
    """Prints the functions of one model in one universe."""

    model: n.Model
    constants: Constants
    body: Emitter = field(default_factory=Emitter)

    def text(self) -> str:
        """The whole module."""
        defined = [f"{name} = {text}\n" for text, name in self.constants.names.items()]
        return HEADER + "".join(defined) + self.body.text()

    def function(self, function: n.Function) -> None:
        """A pure function of the protocol."""
        flat = Flat(self.constants, self.body)
        flat.names = {p.name: f"n_{p.name}" for p in function.params}
        self.body.line(f"def fn_{function.name}({', '.join(flat.names.values())}):")
        with self.body.indent():
            self.body.line(f"return {flat.expr(function.body)}")

    def prop(self, name: str, prop: n.Property, variables: tuple[n.StateVar, ...]) -> None:
        """A property or witness."""
        flat = Flat(self.constants, self.body)
        flat.before = {v.name: f"s[{i}]" for i, v in enumerate(variables)}
        flat.after = {v.name: f"z[{i}]" for i, v in enumerate(variables)}
        self.body.line(f"def {name}(s, z, took):")
        with self.body.indent():
            self.body.line(f"return {flat.expr(prop.body)}")

    def operation(self, component: n.Component, operation: n.Operation) -> None:
        """An operation of a component."""
        self.body.line(f"def op_{component.name}_{operation.name}(s, a, trail=None):")
        with self.body.indent():
            body = Body(self, component.state)
            body.open(operation.params)
            group = 0
            for branch in operation.branches:
                if group and branch.group != group:
                    self.body.line("if out: return out")
                group = branch.group
                body.branch(operation, branch)
            self.body.line("if not out:")
            self.body.line(
                f"{INDENT}fail('no branch of {operation.name} applies', {operation.span.where()!r})"
            )
            self.body.line("return out")

    def step(self, system: n.System, step: n.Step) -> None:
        """A step of a system."""
        self.body.line(f"def step_{step.name}(s, a, trail=None):")
        with self.body.indent():
            body = Body(self, system.state, system)
            body.open(step.params)

            def finish() -> None:
                self.body.line(f"out.append(({step.name!r}, None, {body.successor()}))")

            body.statements(step.body, finish)
            self.body.line("return out")

    def outside(self, variables: tuple[n.StateVar, ...]) -> None:
        """The check of ranges after a transition; what did not change was inside before."""
        self.body.line("def outside(s, z):")
        with self.body.indent():
            for i, variable in enumerate(variables):
                test = self.fits(variable.type, f"z[{i}]", 0)
                if test:
                    self.body.line(f"if z[{i}] is not s[{i}] and not {test}:")
                    self.body.line(f"{INDENT}return {variable.name!r}")
            self.body.line("return ''")

    def fits(self, kind: t.Type, x: str, depth: int) -> str:
        """A test that all numbers and lengths inside `x` are in range; "" if it has none."""
        limit = self.constants.universe.limit
        inner = f"x{depth}"
        match kind:
            case t.Int(low=low, high=high) if low is not None and high is not None:
                return f"({limit(low)} <= {x} <= {limit(high)})"
            case t.Option(inner=part):
                test = self.fits(part, x, depth)
                return f"({x} is None or {test})" if test else ""
            case t.Record(fields=fields):
                tests = [self.fits(part, f"{x}[{i}]", depth) for i, (_, part) in enumerate(fields)]
                return conjunction([test for test in tests if test])
            case t.Union(cases=cases):
                tests = [
                    f"({x}[0] != {tag!r} or {test})"
                    for tag, params in cases
                    for i, (_, part) in enumerate(params)
                    if (test := self.fits(part, f"{x}[{i + 1}]", depth))
                ]
                return conjunction(tests)
            case t.Set(inner=part) | t.Map(value=part) | t.Ranking(inner=part):
                test = self.fits(part, inner, depth + 1)
                return f"all([{test} for {inner} in {x}])" if test else ""
            case t.Seq(inner=part, limit=most):
                tests = [f"(len({x}) <= {limit(most)})"]
                if test := self.fits(part, inner, depth + 1):
                    tests.append(f"all([{test} for {inner} in {x}])")
                return conjunction(tests)
            case _:
                return ""


def conjunction(tests: list[str]) -> str:
    """All of `tests`; "" for none."""
    return f"({' and '.join(tests)})" if tests else ""


@dataclass(slots=True)
class Body:
    """Prints the statements of one operation or step. `work` is what each variable holds after
    the statements so far; `loops` counts the loops that are open."""

    printer: ModulePrinter
    variables: tuple[n.StateVar, ...]
    system: n.System | None = None
    flat: Flat = field(init=False)
    work: dict[str, str] = field(default_factory=dict)
    loops: int = 0

    def __post_init__(self) -> None:
        self.flat = Flat(self.printer.constants, self.printer.body)
        self.flat.before = {v.name: f"s_{i}" for i, v in enumerate(self.variables)}
        self.work = dict(self.flat.before)
        self.flat.after = self.work

    def open(self, params: tuple[n.Param, ...]) -> None:
        """The first lines: state and arguments unpacked."""
        self.flat.names = {p.name: f"n_{p.name}" for p in params}
        out = self.flat.out
        if self.variables:
            out.line(f"{''.join(f'{name}, ' for name in self.flat.before.values())} = s")
        if params:
            out.line(f"{''.join(f'{name}, ' for name in self.flat.names.values())} = a")
        out.line("out = []")

    def successor(self) -> str:
        """The state after; the very same object where nothing was assigned."""
        if self.work == self.flat.before:
            return "s"
        return self.flat.tuple_of([self.work[v.name] for v in self.variables])

    def branch(self, operation: n.Operation, branch: n.Branch) -> None:
        """A branch: what comes of it is appended to `out` if its guard is true."""
        flat, out = self.flat, self.flat.out
        for bind in branch.lets:
            if bind.name not in flat.names:
                flat.bind(bind.name, bind.value)
        known, depth = dict(flat.names), out.depth
        for conjunct in branch.guard:
            out.line(f"if {self.guard(conjunct.condition)}:")
            out.depth += 1

        def finish() -> None:
            label = f"{operation.name}/{branch.name}"
            out.line(f"out.append(({label!r}, {flat.expr(branch.reply)}, {self.successor()}))")

        self.statements(branch.body, finish)
        if branch.group == 0:
            out.line("return out")
        out.depth = depth
        flat.names, self.work, self.loops = known, dict(flat.before), 0

    def guard(self, e: n.Expr) -> str:
        """A guard, with the truth of each atom added to the trail."""
        flat, out = self.flat, self.flat.out
        match e:
            case n.Unary(op="not", operand=operand):
                return f"(not {self.guard(operand)})"
            case n.Let(name=name, value=value, body=body):
                flat.bind(name, value)
                return self.guard(body)
            case n.Binary(op=("and" | "or" | "implies") as op):
                left = self.guard(e.left)
                result = flat.temporary(f"not {left}" if op == "implies" else left)
                out.line(f"if {result if op == 'and' else f'not {result}'}:")
                with out.indent():
                    out.line(f"{result} = {self.guard(e.right)}")
                return result
            case _:
                result = flat.temporary(flat.expr(e))
                out.line(f"if trail is not None: trail.append({result})")
                return result

    def statements(self, body: tuple[n.Statement, ...], finish: Callable[[], None]) -> None:
        """The statements in order; whatever follows a pick or a call stands in its loop."""
        out, depth = self.flat.out, self.flat.out.depth
        for statement in body:
            match statement:
                case n.Bind(name=name, value=value):
                    self.flat.bind(name, value)
                case n.Pick():
                    self.pick(statement)
                case n.Assign(variable=variable, value=value):
                    self.work[variable] = self.flat.simple(value)
                case n.Require(condition=condition):
                    test = self.flat.expr(condition)
                    out.line(f"if not {test}: {'continue' if self.loops else 'return out'}")
                case n.CallOperation():
                    self.call(statement)
        finish()
        out.depth = depth

    def choices(self, pick: n.Pick) -> str:
        """The allowed choices of a pick, in order; never empty."""
        flat = self.flat
        members = flat.temporary(flat.in_order(pick.domain))
        if pick.or_none:
            return f"({members} or (None,))"
        flat.out.line(f"if not {members}:")
        flat.out.line(f"{INDENT}fail('nothing to pick for {pick.name}', {pick.span.where()!r})")
        return members

    def pick(self, pick: n.Pick) -> None:
        """A loop over the choices."""
        flat, out = self.flat, self.flat.out
        if pick.index is None:
            each = self.choices(pick)
        else:
            variable, kind = pick.index
            rows, member = flat.temporary("[]"), flat.new_name()
            out.line(f"for {member} in {flat.constants.domain(kind)}:")
            flat.names[variable] = member
            with out.indent():
                out.line(f"{rows}.append({self.choices(pick)})")
            each = f"product(*{rows})"
        chosen = flat.new_name()
        flat.names[pick.name] = chosen
        out.line(f"for {chosen} in {each}:")
        out.depth += 1
        self.loops += 1

    def call(self, call: n.CallOperation) -> None:
        """A loop over what the operation of a part allows."""
        assert self.system is not None
        flat, out = self.flat, self.flat.out
        part = next(p for p in self.system.parts if p.name == call.part)
        component = next(c for c in self.printer.model.components if c.name == part.component)
        args = flat.tuple_of([flat.expr(a) for a in call.args])
        at = ""
        if part.index is not None and call.index is not None:
            at = flat.temporary(flat.key(part.index, call.index))
        names = [f"{part.name}.{v.name}" for v in component.state]
        held = [f"{self.work[name]}[{at}]" if at else self.work[name] for name in names]
        reply, inner = flat.new_name(), flat.new_name()
        operation = f"op_{component.name}_{call.operation}"
        out.line(f"for _, {reply}, {inner} in {operation}({flat.tuple_of(held)}, {args}):")
        out.depth += 1
        self.loops += 1
        if call.result:
            flat.names[call.result] = reply
        changed = assigned(component, call.operation)
        for i, (name, variable) in enumerate(zip(names, component.state, strict=True)):
            if variable.name in changed:
                new = f"put({self.work[name]}, {at}, {inner}[{i}])" if at else f"{inner}[{i}]"
                self.work[name] = flat.temporary(new)


def assigned(component: n.Component, operation: str) -> set[str]:
    """The variables that some branch of an operation assigns."""
    chosen = next(o for o in component.operations if o.name == operation)
    return {
        statement.variable
        for branch in chosen.branches
        for statement in branch.body
        if isinstance(statement, n.Assign)
    }


def print_machine(
    model: n.Model, machine: str, constants: Constants, properties: Mapping[str, n.Property]
) -> ModulePrinter:
    """The printer, with every function of `machine` printed; keys are printed by `keys`."""
    printer = ModulePrinter(model, constants)
    for function in model.functions:
        printer.function(function)
    systems = [s for s in model.systems if s.name == machine]
    parts = {p.component for s in systems for p in s.parts}
    for component in model.components:
        if component.name == machine or component.name in parts:
            for operation in component.operations:
                printer.operation(component, operation)
    for system in systems:
        for step in system.steps:
            printer.step(system, step)
    states = {c.name: c.state for c in model.components} | {s.name: s.state for s in model.systems}
    variables = states[machine]
    for name, prop in properties.items():
        printer.prop(name, prop, variables)
    printer.outside(variables)
    return printer
