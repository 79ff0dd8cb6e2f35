"""Applies mutation rules to the bodies of branches and steps: `of_body` lists them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import assert_never

from charter.core import nodes as ir
from charter.core.rewrite import rewrite_statement
from charter.core.show import show_statement
from charter.core.valid import alike
from charter.core.walk import locals_of, nodes, statement_expressions
from charter.mutate.edits import TRUE, Edit, edits, is_reset, text_at, write

Body = tuple[ir.Statement, ...]


def of_body(body: Body, skipped: frozenset[int]) -> Iterator[Edit[Body]]:
    """The edits of a body, but for its lines in `skipped`: they are no rules of the protocol."""
    for i, line in enumerate(body):
        if i in skipped:
            continue
        inside = (
            edit.around(_put(body, i, edit.new))
            for edit in chain(_inside(line), stale_read(body, i), read_after(body, i))
        )
        yield from chain(left_out(body, i), inside)


def ghosts_of(machine: ir.Component | ir.System) -> frozenset[str]:
    """The state variables that only properties read."""
    return frozenset(v.name for v in machine.state if v.kind == "ghost")


def ghost_lines(
    body: Sequence[ir.Statement], ghosts: frozenset[str], reply: ir.Expr | None = None
) -> frozenset[int]:
    """The lines of a body that only ghost state needs: updates of it, and each `let` that nothing
    else reads. `reply` is what a branch answers."""
    found: set[int] = set()
    read = set() if reply is None else set(locals_of(reply))
    for i in reversed(range(len(body))):
        line = body[i]
        match line:
            case ir.Assign() if line.variable in ghosts:
                found.add(i)
            case ir.Bind() if line.name not in read and _is_read(line.name, body[i + 1 :]):
                found.add(i)
            case _:
                read.update(*(locals_of(expr) for expr in statement_expressions(line)))
    return frozenset(found)


def budget_lines(body: Sequence[ir.Statement], system: ir.System) -> frozenset[int]:
    """The lines of a step that count how often it is taken: a bound of the instance, no rule."""
    budgets = {v.name for v in system.state if v.is_budget}
    return frozenset(i for i, line in enumerate(body) if _reads_or_assigns(line, budgets))


def _reads_or_assigns(line: ir.Statement, variables: Container[str]) -> bool:
    match line:
        case ir.Assign():
            return line.variable in variables
        case ir.Require():
            read = (node for node in nodes(line.condition) if isinstance(node, ir.StateRef))
            return any(node.name in variables for node in read)
        case _:
            return False


def condition(body: Body) -> Body:
    """What decides whether a step is taken: its body up to the last statement that may not be
    possible, without updates."""
    deciding = (ir.Require, ir.Pick, ir.Receive, ir.Send)
    last = max((i for i, line in enumerate(body) if isinstance(line, deciding)), default=-1)
    return tuple(line for line in body[: last + 1] if not isinstance(line, ir.Assign))


def conditions(condition: ir.Expr) -> Iterator[Edit[ir.Expr]]:
    """The edits of a whole condition of a guard: it is dropped if it has no operands of its own
    that can be, and edited inside."""
    if condition != TRUE and not (isinstance(condition, ir.Binary) and condition.op == "and"):
        text, mark = write(condition), f"{condition!r}"
        says = f"the conjunct `{text}` is dropped"
        yield Edit("drop-conjunct", says, condition.span, "true", mark, TRUE)
    yield from edits(condition)


# --- statements ----------------------------------------------------------------------------------


def left_out(body: Body, at: int) -> Iterator[Edit[Body]]:
    """A body without one of its effects."""
    line = body[at]
    rest = (*body[:at], *body[at + 1 :])
    text = text_at(line.span)
    match line:
        case ir.Assign():
            kind = "forget-reset" if is_reset(line.value) else "skip-update"
            says = f"the update `{text}` is skipped"
        case ir.Send():
            kind, says = "skip-send", f"`{text}` is left out"
        case ir.CallOperation() if not _is_read(line.result, rest):
            kind, says = "skip-call", f"the call `{text}` is left out"
        case ir.Clear():
            kind, says = "skip-clear", f"`{text}` is left out"
        case ir.Bind() | ir.Pick() | ir.Require() | ir.Receive() | ir.CallOperation():
            return
        case _:
            assert_never(line)
    yield Edit(kind, says, line.span, "", show_statement(line), rest)


def _is_read(name: str, body: Sequence[ir.Statement]) -> bool:
    exprs = (expr for line in body for expr in statement_expressions(line))
    return bool(name) and any(name in locals_of(expr) for expr in exprs)


def _inside(line: ir.Statement) -> Iterator[Edit[ir.Statement]]:
    """The edits of the expressions of a statement."""
    match line:
        case ir.Require():
            for edit in conditions(line.condition):
                yield edit.around(replace(line, condition=edit.new))
        case ir.Bind():
            for edit in edits(line.value):
                yield edit.around(replace(line, value=edit.new))
        case ir.Assign():
            yield from _of_assignment(line)
        case ir.Pick():
            for edit in edits(line.domain):
                yield edit.around(replace(line, domain=edit.new))
        case ir.Send():
            for edit in edits(line.message):
                yield edit.around(replace(line, message=edit.new))
            yield from _of_each(line)
        case ir.Clear():
            yield from _of_each(line)
        case ir.CallOperation():
            for i, arg in enumerate(line.args):
                for edit in edits(arg):
                    args = (*line.args[:i], edit.new, *line.args[i + 1 :])
                    yield edit.around(replace(line, args=args))
        case ir.Receive():
            return
        case _:
            assert_never(line)


def _of_each(line: ir.Repeated) -> Iterator[Edit[ir.Statement]]:
    """The edits of for whom, and of when, a statement is done."""
    if line.each is not None:
        for edit in edits(line.each[1]):
            yield edit.around(replace(line, each=(line.each[0], edit.new)))
    if line.condition is not None:
        for edit in conditions(line.condition):
            yield edit.around(replace(line, condition=edit.new))


def _of_assignment(line: ir.Assign) -> Iterator[Edit[ir.Statement]]:
    """The edits of an assigned value, but for those after which the variable keeps its value: the
    statement is left out by a rule of its own."""
    for edit in edits(line.value):
        written_back = _strip_written_back(edit.new)
        if not (isinstance(written_back, ir.StateRef) and written_back.name == line.variable):
            yield edit.around(replace(line, value=edit.new))


def _strip_written_back(value: ir.Expr) -> ir.Expr:
    """What a value is equal to if its updates write back what they read, as in `x with [k: x[k]]`;
    else the value."""
    match value:
        case ir.MapWith(entries=((key, part),)):
            same: ir.Expr = ir.MapGet(value.target, key, type=part.type, span=part.span)
        case ir.RecordWith(fields=((name, part),)):
            same = ir.FieldOf(value.target, name, type=part.type, span=part.span)
        case _:
            return value
    return _strip_written_back(value.target) if _strip_written_back(part) == same else value


# --- the state before and the state after --------------------------------------------------------


def stale_read(body: Body, at: int) -> Iterator[Edit[ir.Statement]]:
    """A statement that reads a state variable of the state before, where it should read the value
    that the body computed: a local that is assigned to the variable, or `part'.x`."""
    line = body[at]
    assigned = {
        other.value.name: other
        for other in body
        if isinstance(other, ir.Assign) and isinstance(other.value, ir.Local)
    }
    for expr in statement_expressions(line):
        for node in nodes(expr):
            match node:
                case ir.StateRef(primed=True):
                    stale: ir.Expr = replace(node, primed=False)
                case ir.Local(name=name) if name in assigned and assigned[name] is not line:
                    stale = ir.StateRef(assigned[name].variable, type=node.type, span=node.span)
                case _:
                    continue
            says = f"`{write(node)}` is read before it is updated"
            new = _with(line, node, stale)
            yield Edit("stale-read", says, node.span, _variable(stale), show_statement(line), new)


def read_after(body: Body, at: int) -> Iterator[Edit[ir.Statement]]:
    """A statement that reads the updated value of a state variable, where it should read the state
    before: the value that another statement assigns, or the state after a call."""
    line = body[at]
    if not isinstance(line, ir.Assign | ir.Send | ir.CallOperation):
        return
    updated = {
        other.variable: other.value
        for other in body
        if isinstance(other, ir.Assign) and other is not line
    }
    called = {other.part for other in body[:at] if isinstance(other, ir.CallOperation)}
    for expr in statement_expressions(line):
        for node in nodes(expr):
            if not isinstance(node, ir.StateRef) or node.primed:
                continue
            says = f"`{write(node)}` is read after it is updated"
            part = node.name.partition(".")[0]
            text = f"{part}'{write(node).removeprefix(part)}"
            if part in called:
                after: ir.Expr = replace(node, primed=True)
            elif node.name in updated and _is_known(updated[node.name], body[at:]):
                after = updated[node.name]
                says += "; a charter gives the updated value a name, with `let`"
            else:
                continue
            if alike(after.type, node.type):
                new = _with(line, node, after)
                yield Edit("read-after", says, node.span, text, show_statement(line), new)


def _is_known(value: ir.Expr, rest: Sequence[ir.Statement]) -> bool:
    """Whether a value reads no local that is bound in the rest of the body."""
    bound = {line.name for line in rest if isinstance(line, ir.Bind | ir.Pick | ir.Receive)}
    bound |= {line.result for line in rest if isinstance(line, ir.CallOperation)}
    return not bound & locals_of(value)


def _variable(stale: ir.Expr) -> str:
    assert isinstance(stale, ir.StateRef)
    return stale.name


def _with(line: ir.Statement, old: ir.Expr, new: ir.Expr) -> ir.Statement:
    """A statement with one node replaced, found by identity."""

    def change(node: ir.Expr) -> ir.Expr:
        return new if node is old else node

    return rewrite_statement(line, change)


def _put(body: Body, at: int, line: ir.Statement) -> Body:
    return (*body[:at], line, *body[at + 1 :])
