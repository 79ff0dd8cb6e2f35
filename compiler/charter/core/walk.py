"""Traverses core expressions: children, fold, map."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_not
from typing import assert_never, overload

from charter.core import nodes as ir
from charter.core import small

Rule = Callable[[ir.Expr], ir.Expr]
"""Maps an expression to its replacement."""


@overload
def children(expr: small.Expr) -> tuple[small.Expr, ...]: ...
@overload
def children(expr: ir.Expr) -> tuple[ir.Expr, ...]: ...
def children(expr: ir.Expr) -> tuple[ir.Expr, ...]:
    """The direct subexpressions, in the order that `rebuild` expects. The cases are tried in turn,
    so frequent kinds come first."""
    match expr:
        case ir.Literal() | ir.StateRef() | ir.Local():
            return ()
        case ir.Binary():
            return (expr.left, expr.right)
        case ir.Call() | ir.Builtin() | ir.UnionNew() | ir.Primitive():
            return expr.args
        case ir.MapGet():
            return (expr.target, expr.key)
        case ir.SetNew() | ir.SeqNew():
            return expr.items
        case ir.MapNew():
            return (expr.value,)
        case ir.If():
            return (expr.condition, expr.then, expr.otherwise)
        case ir.Present():
            return (expr.inner,)
        case ir.FieldOf() | ir.IsCase() | ir.CaseArg():
            return (expr.target,)
        case ir.Domain() | ir.Took() | ir.ConstRef():
            return ()
        case ir.Let():
            return (expr.value, expr.body)
        case ir.Quantified():
            return (expr.domain, expr.body)
        case ir.Match():
            return (expr.subject, *(case.body for case in expr.cases))
        case ir.RecordNew():
            return expr.fields
        case ir.RecordWith():
            return (expr.target, *(value for _, value in expr.fields))
        case ir.MapWith():
            return (expr.target, *(part for entry in expr.entries for part in entry))
        case ir.Comprehend():
            return (expr.domain, expr.condition, expr.body)
        case ir.Checked():
            return (expr.condition, expr.value)
        case ir.Unary():
            return (expr.operand,)
        case _:
            assert_never(expr)


def rebuild(expr: ir.Expr, parts: Sequence[ir.Expr]) -> ir.Expr:
    """`expr` with `parts` as children; type and span are kept."""
    match expr:
        case ir.Literal() | ir.Local() | ir.StateRef() | ir.ConstRef() | ir.Domain() | ir.Took():
            return expr
        case ir.Call() | ir.Builtin() | ir.UnionNew() | ir.Primitive():
            return replace(expr, args=tuple(parts))
        case ir.FieldOf() | ir.IsCase() | ir.CaseArg():
            return replace(expr, target=parts[0])
        case ir.MapGet():
            return replace(expr, target=parts[0], key=parts[1])
        case ir.RecordNew():
            return replace(expr, fields=tuple(parts))
        case ir.RecordWith():
            names = (name for name, _ in expr.fields)
            return replace(expr, target=parts[0], fields=tuple(zip(names, parts[1:], strict=True)))
        case ir.MapWith():
            pairs = tuple(zip(parts[1::2], parts[2::2], strict=True))
            return replace(expr, target=parts[0], entries=pairs)
        case ir.MapNew():
            return replace(expr, value=parts[0])
        case ir.SetNew() | ir.SeqNew():
            return replace(expr, items=tuple(parts))
        case ir.Present():
            return replace(expr, inner=parts[0])
        case ir.Comprehend():
            return replace(expr, domain=parts[0], condition=parts[1], body=parts[2])
        case ir.Quantified():
            return replace(expr, domain=parts[0], body=parts[1])
        case ir.Checked():
            return replace(expr, condition=parts[0], value=parts[1])
        case ir.Unary():
            return replace(expr, operand=parts[0])
        case ir.Binary():
            return replace(expr, left=parts[0], right=parts[1])
        case ir.If():
            return replace(expr, condition=parts[0], then=parts[1], otherwise=parts[2])
        case ir.Let():
            return replace(expr, value=parts[0], body=parts[1])
        case ir.Match():
            bodies = zip(expr.cases, parts[1:], strict=True)
            cases = tuple(replace(case, body=body) for case, body in bodies)
            return replace(expr, subject=parts[0], cases=cases)
        case _:
            assert_never(expr)


def nodes(expr: ir.Expr) -> Iterator[ir.Expr]:
    """`expr` and its subexpressions, parents first."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        stack += children(node)[::-1]


def fold(expr: ir.Expr, change: Rule) -> ir.Expr:
    """Rebuild an expression, applying `change` to each node after its children."""
    before = children(expr)
    if not before:
        return change(expr)
    after = [fold(part, change) for part in before]
    return change(rebuild(expr, after) if any(map(is_not, after, before)) else expr)


def substitute(expr: ir.Expr, values: dict[str, ir.Expr]) -> ir.Expr:
    """`expr` with locals replaced. Sound because core never shadows a name."""
    if not values:
        return expr

    def change(node: ir.Expr) -> ir.Expr:
        return values.get(node.name, node) if isinstance(node, ir.Local) else node

    return fold(expr, change)


def locals_of(expr: ir.Expr) -> frozenset[str]:
    """The names of all locals that are read anywhere in `expr`."""
    return frozenset(node.name for node in nodes(expr) if isinstance(node, ir.Local))


@overload
def operands(expr: small.Expr, op: ir.RichOp) -> Iterator[small.Expr]: ...
@overload
def operands(expr: ir.Expr, op: ir.RichOp) -> Iterator[ir.Expr]: ...
def operands(expr: ir.Expr, op: ir.RichOp) -> Iterator[ir.Expr]:
    """The operands of a chain of one operator, from left to right."""
    if isinstance(expr, ir.Binary) and expr.op == op:
        yield from operands(expr.left, op)
        yield from operands(expr.right, op)
    else:
        yield expr


@overload
def rebuild_statement(line: ir.Change, change: Rule) -> ir.Change: ...
@overload
def rebuild_statement(line: ir.Statement, change: Rule) -> ir.Statement: ...
def rebuild_statement(line: ir.Statement, change: Rule) -> ir.Statement:
    """A statement with each of its expressions replaced, in the order of its fields. All modules
    that visit or replace expressions of any statement do so by it."""
    match line:
        case ir.Bind() | ir.Assign():
            return replace(line, value=change(line.value))
        case ir.Pick():
            return replace(line, domain=change(line.domain))
        case ir.Require():
            return replace(line, condition=change(line.condition))
        case ir.CallOperation():
            index = line.index and change(line.index)
            return replace(line, index=index, args=tuple(map(change, line.args)))
        case ir.Receive():
            keys = tuple(map(change, line.keys))
            return replace(line, keys=keys, many=line.many and change(line.many))
        case ir.Send() | ir.Clear():
            line = replace(line, keys=tuple(map(change, line.keys)))
            if isinstance(line, ir.Send):
                line = replace(line, message=change(line.message))
            each = line.each and (line.each[0], change(line.each[1]))
            return replace(line, each=each, condition=line.condition and change(line.condition))
        case _:
            assert_never(line)


def statement_expressions(statement: ir.Statement) -> tuple[ir.Expr, ...]:
    """The expressions directly in a statement."""
    found: list[ir.Expr] = []

    def keep(expr: ir.Expr) -> ir.Expr:
        found.append(expr)
        return expr

    rebuild_statement(statement, keep)
    return tuple(found)


def branch_expressions(branch: ir.Branch) -> tuple[ir.Expr, ...]:
    """The expressions of a branch in the order of their evaluation."""
    lets = tuple(let.value for let in branch.lets)
    guard = tuple(conjunct.condition for conjunct in branch.guard)
    faults = tuple(fault.condition for fault in branch.faults)
    body = tuple(expr for line in branch.body for expr in statement_expressions(line))
    return (*lets, *guard, *faults, *body, branch.reply)


def operation_expressions(operation: ir.Operation) -> Iterator[ir.Expr]:
    """The expressions of the assumptions and the branches of an operation."""
    yield from (assumed.condition for assumed in operation.assumes)
    for branch in operation.branches:
        yield from branch_expressions(branch)


def instances_of(model: ir.Model) -> Iterator[ir.Instance]:
    """The instances of a model and of its scenarios."""
    yield from model.instances
    yield from (s.instance for s in model.scenarios)


def state_of(model: ir.Model) -> Iterator[ir.StateVar]:
    """The state variables of all machines."""
    for component in model.components:
        yield from component.state
    for system in model.systems:
        yield from system.state


def expressions(model: ir.Model) -> Iterator[ir.Expr]:
    """Every expression of machines, properties, instances and scenarios, but not of functions."""
    yield from rules(model)
    yield from (v.initial for v in state_of(model))
    for instance in instances_of(model):
        yield from (value for _, value in (*instance.starts, *instance.only))
        yield from line_expressions(prelude_of(instance))
    for scenario in model.scenarios:
        yield from line_expressions(scenario.steps)


def prelude_of(instance: ir.Instance) -> tuple[ir.Line, ...]:
    """The lines of the prelude of an instance; none if it has no prelude."""
    return () if instance.prelude is None else instance.prelude.steps


def line_expressions(lines: Iterable[ir.Line]) -> Iterator[ir.Expr]:
    """The expressions in lines of a scenario or a prelude."""
    for line in lines:
        match line:
            case ir.Do(args=args):
                yield from args
                yield from () if line.reply is None else (line.reply,)
            case ir.Expect():
                yield line.condition
            case ir.Bind():
                yield line.value
            case ir.Moment():
                pass


def rules(model: ir.Model) -> Iterator[ir.Expr]:
    """Every expression of the operations, steps and properties of a model."""
    yield from (p.body for p in model.properties)
    for live in model.liveness:
        yield from (part for part in (live.trigger, live.goal) if part is not None)
    yield from machine_rules(model)


def machine_rules(model: ir.Model) -> Iterator[ir.Expr]:
    """Every expression of the operations and steps of a model."""
    for component in model.components:
        for operation in component.operations:
            yield from operation_expressions(operation)
    for system in model.systems:
        for step in system.steps:
            yield from (e for line in step.body for e in statement_expressions(line))


def never_empty(domain: ir.Expr, functions: Mapping[str, ir.Function]) -> bool:
    """Whether the text shows that a set always has a member."""
    match domain:
        case ir.Domain():
            return True
        case ir.SetNew(items=items):
            return bool(items)
        case ir.Binary():
            return any(never_empty(domain.side(side), functions) for side in domain.traits.keeps)
        case ir.If():
            return never_empty(domain.then, functions) and never_empty(domain.otherwise, functions)
        case ir.Call(function=name) if name in functions:
            others = {other: function for other, function in functions.items() if other != name}
            return never_empty(functions[name].body, others)
        case _:
            return False
