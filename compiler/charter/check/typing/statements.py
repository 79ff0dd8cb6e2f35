"""Elaborates the bodies of branches and steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from charter.check.names.docs import doc_of
from charter.check.names.scopes import MachineScope, TypeScope, suggest, unknown
from charter.check.names.types import BOOL, UNKNOWN, is_unknown, show_type
from charter.check.typing.collections import domain, whole_type
from charter.check.typing.updates import FieldStep, KeyStep, Path, apart, modify
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.walk import branch_expressions, locals_of, nodes
from charter.diagnostics import Span
from charter.syntax import nodes as sx


@dataclass(slots=True)
class Body:
    """A body during elaboration. The scope grows with each line; several assignments to parts of a
    variable are merged. What a `flush` or `crash` does is added at the end."""

    scope: TypeScope
    machine: MachineScope
    lines: list[ir.Statement] = field(default_factory=list)
    written: dict[str, list[tuple[Path, Span]]] = field(default_factory=dict)
    of_storage: list[sx.Flush | sx.Crash] = field(default_factory=list)

    def bind(self, name: sx.Name, kind: ty.Type) -> str:
        """Add a local for the lines that follow; returns its name in core."""
        self.scope, core = self.scope.bind(name, kind)
        return core

    def require(self, condition: ir.Expr, span: Span, doc: str = "") -> None:
        """Add a condition under which the step is enabled."""
        self.lines.append(ir.Require(condition, span=span, doc=doc))

    def write(
        self, variable: ir.StateRef, path: Path, change: Callable[[ir.Expr], ir.Expr], span: Span
    ) -> None:
        """Change the value at `path`. Later changes apply on top of earlier ones; reads see the
        state before."""
        current: ir.Expr = variable
        doc = ""
        for line in self.lines:
            if isinstance(line, ir.Assign) and line.variable == variable.name:
                current, doc = line.value, line.doc
                self.lines.remove(line)
                break
        value = modify(current, path, change)
        self.lines.append(ir.Assign(variable.name, value, span=span, doc=doc))


def let(body: Body, node: sx.Let) -> None:
    """`let x = e`."""
    value = body.scope.infer(node.value)
    name = body.bind(node.name, value.type)
    body.lines.append(ir.Bind(name, value, span=node.span, doc=doc_of(node)))


def pick(body: Body, node: sx.Pick) -> None:
    """`pick x [for k in K] in S [or none]`."""
    scope, index = body.scope, None
    if node.index is not None:
        key = whole_type(scope, node.index.domain)
        scope, name = scope.bind(node.index.name, key)
        index = (name, key)
    source, inner = _infer_pick_set(scope, node.domain)
    kind = inner
    if node.or_none and not is_unknown(inner):
        if isinstance(inner, ty.Option):
            message = "the choice would be an option of an option"
            body.scope.error("type/nested-option", message, node.span)
            kind = UNKNOWN
        else:
            kind = ty.Option(inner)
    if index is not None and not is_unknown(kind):
        kind = ty.Map(index[1], kind)
    name = body.bind(node.name, kind)
    line = ir.Pick(name, kind, index, source, node.or_none, span=node.span, doc=doc_of(node))
    body.lines.append(line)


def _infer_pick_set(scope: TypeScope, node: sx.Expr) -> tuple[ir.Expr, ty.Type]:
    """The set of a `pick`, and the type of its members."""
    last = node
    while True:
        match last:
            case sx.If():
                last = last.otherwise
            case sx.LetIn() | sx.Quantifier():
                last = last.body
            case sx.Binary(op="or", right=sx.NoneLit()) if last is not node:
                message = "this `or none` is a part of the expression before it"
                hint = "put parentheses around the set: `pick x in (if c then S else T) or none`"
                scope.error("type/mismatch", message, last.right.span, hint=hint)
                return unknown(node.span), UNKNOWN
            case _:
                return domain(scope, node)


def assign(body: Body, node: sx.Assign) -> None:
    """`x' = e`, `x[k].f' = e`."""
    found = target_path(body, node.target)
    if found is None:
        body.scope.infer(node.value, UNKNOWN)
        return
    variable, path = found
    kind = path[-1].type if path else variable.type
    value = body.scope.check(node.value, kind)
    before = body.written.setdefault(variable.name, [])
    for other, span in before:
        if not apart(path, other):
            message = f"`{variable.name}` is assigned twice on this path"
            notes = (("it was assigned here", span),)
            hint = "write one update with all changes"
            body.scope.diagnostics.error(
                "effect/double-update", message, node.span, hint=hint, notes=notes
            )
            return
    before.append((path, node.span))
    body.write(variable, path, lambda _: value, node.span)
    last = body.lines[-1]
    doc = "\n".join(text for text in (last.doc, doc_of(node)) if text)
    body.lines[-1] = replace(last, doc=doc)


def target_path(body: Body, node: sx.Expr) -> tuple[ir.StateRef, Path] | None:
    """The variable that an assignment changes, and the path inside it; None after an error."""
    match node:
        case sx.Ident():
            variable = _own_variable(body, node)
            return None if variable is None else (variable, ())
        case sx.FieldOf() | sx.Index():
            outer = target_path(body, node.target)
        case _:
            body.scope.error("type/mismatch", "this cannot be assigned to", node.span)
            return None
    if outer is None:
        return None
    variable, path = outer
    kind = path[-1].type if path else variable.type
    step = _path_step(body.scope, node, kind)
    return None if step is None else (variable, (*path, step))


def _path_step(
    scope: TypeScope, node: sx.FieldOf | sx.Index, kind: ty.Type
) -> FieldStep | KeyStep | None:
    match node, kind:
        case _ if is_unknown(kind):
            return None
        case sx.FieldOf(), ty.Record():
            for name, inner in kind.fields:
                if name == node.field.text:
                    return FieldStep(name, inner)
            hint = suggest(node.field.text, (name for name, _ in kind.fields))
            message = f"{kind.name} has no field `{node.field.text}`"
            scope.missing(message, node.field.span, hint=hint)
        case sx.Index(), ty.Map():
            return KeyStep(scope.check(node.key, kind.key), kind.value)
        case _:
            hint = "assign the whole option" if isinstance(kind, ty.Option) else ""
            message = f"{show_type(kind)} has no such place to assign to"
            scope.error("type/mismatch", message, node.span, hint=hint)
    return None


def _own_variable(body: Body, node: sx.Ident) -> ir.StateRef | None:
    machine = body.machine
    if node.name in machine.parts:
        message = f"`{node.name}` changes only through its operations"
        body.scope.error("name/unknown", message, node.span)
        return None
    if node.name in machine.histories:
        message = f"`{node.name}` is a history: only its declaration updates it"
        notes = (("it is declared here", machine.histories[node.name].name.span),)
        body.scope.diagnostics.error("effect/history-update", message, node.span, notes=notes)
        return None
    if node.name in machine.on_disk:
        message = f"`{node.name}` says what is on disk: only `flush` and `crash` update it"
        body.scope.error("effect/on-disk", message, node.span)
        return None
    variable = machine.state.get(node.name)
    if variable is None or node.name in machine.channels:
        message = f"{machine.name} has no state variable `{node.name}`"
        hint = suggest(node.name, machine.state)
        body.scope.missing(message, node.span, hint=hint)
        return None
    return ir.StateRef(variable.name, type=variable.type, span=node.span)


def report_misplaced(scope: TypeScope, what: str, where: str, span: Span) -> None:
    """Report a statement that its place does not allow."""
    scope.error("statement/misplaced", f"{what} is allowed only in {where}", span)


def assumption(
    scope: TypeScope,
    node: sx.Assume,
    lets: tuple[ir.Bind, ...],
    above: tuple[Sequence[ir.Assumption], Sequence[ir.Branch]],
) -> ir.Assumption:
    """An assumption of an operation without its citations, after these lets, assumptions and
    branches."""
    assumes, branches = above
    if branches:
        place = "an operation, before its first branch"
        report_misplaced(scope, "`assume`", place, node.span)
    label = str(len(assumes) + 1) if node.label is None else node.label.text
    if any(label == other.label for other in assumes):
        scope.error("name/duplicate", f"two assumptions are called `{label}`", node.span)
    condition = scope.check(node.condition, BOOL)
    for let in reversed(lets):
        if let.name in locals_of(condition):
            condition = ir.Let(
                let.name, let.value, condition, type=condition.type, span=condition.span
            )
    return ir.Assumption(label, condition, span=node.span, doc=doc_of(node))


def drop_lets(
    branches: Sequence[ir.Branch], assumes: Sequence[ir.Assumption]
) -> tuple[ir.Branch, ...]:
    """The branches without the lets that only assumptions read: no rule depends on them."""
    whole = (node for assumed in assumes for node in nodes(assumed.condition))
    dropped = {node.name for node in whole if isinstance(node, ir.Let)}
    if not dropped:
        return tuple(branches)
    bare = [replace(branch, lets=()) for branch in branches]
    read = {name for branch in bare for e in branch_expressions(branch) for name in locals_of(e)}
    for let in reversed(max((branch.lets for branch in branches), key=len, default=())):
        if let.name in read:
            read |= locals_of(let.value)
    kept = (tuple(x for x in b.lets if x.name in read or x.name not in dropped) for b in branches)
    return tuple(replace(b, lets=lets) for b, lets in zip(branches, kept, strict=True))


def branch_body(body: Body, node: sx.Branch, result: ty.Type) -> ir.Expr:
    """Elaborate the statements of a branch; returns its reply."""
    scope = body.scope
    reply: ir.Expr | None = None
    for line in node.body:
        match line:
            case sx.Let():
                let(body, line)
            case sx.Pick():
                pick(body, line)
            case sx.Assign():
                assign(body, line)
            case sx.Flush() | sx.Crash():
                body.of_storage.append(line)
            case sx.Reply():
                if reply is not None:
                    report_misplaced(scope, "`reply`", "the last line of a branch", line.span)
                reply = body.scope.check(line.value, result)
            case sx.OfStep():
                report_misplaced(scope, "this statement", "the steps of a system", line.span)
            case _:
                assert_never(line)
    if reply is None:
        scope.error("statement/misplaced", "a branch ends with `reply`", node.name.span)
        reply = unknown(node.name.span)
    return reply
