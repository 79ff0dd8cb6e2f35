"""Elaborates the lines of a scenario, with the fragments that it includes, to steps of core."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from charter.check.declarations.setups import bound, find, uses_itself
from charter.check.names.docs import doc_of
from charter.check.names.scopes import MachineScope, TypeScope, suggest
from charter.check.names.types import BOOL
from charter.check.typing.calls import arguments
from charter.check.typing.statements import report_misplaced
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.walk import nodes, substitute
from charter.diagnostics import Span
from charter.syntax import nodes as sx


@dataclass(slots=True)
class ScenarioReader:
    """The steps of a scenario, in a scope that grows with each `let`. Inside a fragment `values`
    are its arguments, `at` is the line that includes it, and `above` are the fragments around."""

    scope: TypeScope
    machine: MachineScope
    steps: list[ir.Do | ir.Expect | ir.Bind | ir.Moment] = field(default_factory=list)
    values: dict[str, ir.Expr] = field(default_factory=dict)
    at: Span | None = None
    above: tuple[str, ...] = ()

    def add(self, line: sx.Line) -> None:
        """Read one line."""
        span, doc = self.at or line.span, doc_of(line)
        match line:
            case sx.Let():
                value = substitute(self.scope.infer(line.value), self.values)
                self.scope, name = self.scope.bind(line.name, value.type)
                self.steps.append(ir.Bind(name, value, span=span, doc=doc))
            case sx.Do():
                self.steps += self.do(line, span)
            case sx.Expect():
                condition = substitute(self.scope.check(line.condition, BOOL), self.values)
                self.steps.append(ir.Expect(condition, line.never, span=span, doc=doc))
            case sx.Moment():
                self.steps.append(ir.Moment(line.title, span=span, doc=doc))
            case sx.Include():
                self.include(line, span)
            case _:
                assert_never(line)

    def do(self, line: sx.Do, span: Span) -> tuple[ir.Do, ...]:
        """An operation; empty if the machine has none of that name."""
        name = line.operation.text
        operation = self.machine.operations.get(name)
        if operation is None:
            hint = suggest(name, self.machine.operations)
            message = f"{self.machine.name} has no operation `{name}`"
            self.scope.missing(message, line.operation.span, hint=hint)
            return ()
        args = arguments(
            self.scope, line.args, operation.params, line.operation, operation.defaults
        )
        branch = "" if line.branch is None else line.branch.text
        if branch and branch not in operation.branches and line.branch is not None:
            there_are = f"there are: {', '.join(operation.branches)}" if operation.branches else ""
            hint = suggest(branch, operation.branches) or there_are
            message = f"{name} has no branch `{branch}`"
            self.scope.missing(message, line.branch.span, hint=hint)
        whole = tuple(substitute(arg, self.values) for arg in args)
        reply = self.reply(line.reply, operation.result)
        return (ir.Do(name, whole, branch, reply, line.never, span=span, doc=doc_of(line)),)

    def reply(self, node: sx.Expr | None, result: ty.Type) -> ir.Expr | None:
        """What an operation must reply; the steps of a system have no reply."""
        if node is None:
            return None
        if self.machine.is_system:
            report_misplaced(self.scope, "`reply`", "a scenario of a component", node.span)
            return None
        return substitute(self.scope.check(node, result), self.values)

    def include(self, line: sx.Include, span: Span) -> None:
        """The lines of a fragment. Its arguments are read once, before its first line."""
        machine = sx.Name(self.machine.name, span=line.span)
        table = (self.scope.globals.fragments, "fragment")
        found = find(self.scope, line.name, table, machine)
        if found is None or not isinstance(found.node, sx.FragmentDecl):
            return
        if line.name.text in self.above:
            uses_itself(self.scope, line.name)
            return
        read = arguments(self.scope, line.args, found.params, line.name, found.defaults)
        args = [substitute(arg, self.values) for arg in read]
        outside = self.scope.without_locals()
        scope, values = bound(outside, found.params, args, line.name.span)
        for name, value in values.items():
            if not _is_fixed(value):
                self.steps.append(ir.Bind(name, value, span=span))
        fixed = {name: value for name, value in values.items() if _is_fixed(value)}
        above = (*self.above, line.name.text)
        inner = ScenarioReader(scope, self.machine, self.steps, fixed, span, above)
        for each in found.node.body:
            inner.add(each)


def _is_fixed(expr: ir.Expr) -> bool:
    """Whether an expression has the same value in every state."""
    return not any(isinstance(node, ir.StateRef | ir.Local) for node in nodes(expr))
