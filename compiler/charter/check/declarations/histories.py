"""Elaborates histories: ghost state whose next value is written once, for every step.

Each branch of a component, and each step of a system, gets an update of each history at its end. In
this update `x'` is replaced by the value that the body assigns to `x`, and `took` by true or false.
What calls, `send` and `receive` change is read after them: `part'.x` and `channel'` stay.
So core has no histories, only ghost state and updates.
"""

from __future__ import annotations

from dataclasses import replace

from charter.check.names.types import BOOL
from charter.check.typing.statements import Body
from charter.core import nodes as ir
from charter.core.transition import argument_of, is_argument
from charter.core.walk import fold


def update_histories(body: Body, took: str) -> None:
    """Add the updates of all histories of its machine to a body. `took` is the name of the step, or
    of the operation's branch."""
    after = _After(body, took)
    for node in body.machine.histories.values():
        variable = body.machine.state[node.name.text]
        assert node.becomes is not None
        scope = replace(body.scope.without_locals(), primes=True)
        value = fold(scope.check(node.becomes, variable.type), after.replace_known)
        body.lines.append(ir.Assign(variable.name, value, span=node.becomes.span))


class _After:
    """Replaces `x'` and `took` in expressions for transitions of one body."""

    def __init__(self, body: Body, took: str) -> None:
        self.body = body
        self.took = took
        self.changed = {
            x.part if isinstance(x, ir.CallOperation) else x.channel
            for x in body.lines
            if isinstance(x, ir.CallOperation | ir.OnChannel)
        }
        self.names: dict[str, ir.Local] = {}

    def replace_known(self, node: ir.Expr) -> ir.Expr:
        """The replacement of an expression that reads the state after, or a `took`."""
        match node:
            case ir.Took():
                return ir.Literal(node.branch == self.took, type=BOOL, span=node.span)
            case ir.Binary("and" | "or" as op, ir.Literal(value=bool() as left), right):
                return right if left is (op == "and") else node.left
            case ir.Local() if is_argument(node.name):
                operation, param = argument_of(node.name)
                is_own = self.took.partition("/")[0] == operation
                return replace(self.body.scope.locals[param], span=node.span) if is_own else node
            case ir.StateRef(primed=True):
                return self._after(node)
            case _:
                return node

    def _after(self, node: ir.StateRef) -> ir.Expr:
        machine = self.body.machine
        part, _, variable = node.name.partition(".")
        if variable or node.name in machine.channels:
            return node if part in self.changed else replace(node, primed=False)
        made = [x for x in self.body.lines if isinstance(x, ir.Assign) and x.variable == node.name]
        if made:
            return self._name_value(node, made[0].value)
        if node.name in machine.histories:
            message = f"`{node.name}` is a history that is declared after this one"
            hint = "move it above, or read the state before"
            return self.body.scope.wrong("effect/reads-after", message, node.span, hint=hint)
        return replace(node, primed=False)

    def _name_value(self, node: ir.StateRef, value: ir.Expr) -> ir.Expr:
        """A let that names the value that the body assigns."""
        if node.name not in self.names:
            name = f"{node.name}#after"
            self.body.lines.append(ir.Bind(name, value, span=node.span))
            self.names[node.name] = ir.Local(name, type=value.type)
        return replace(self.names[node.name], span=node.span)
