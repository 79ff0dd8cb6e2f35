"""Lists all mutants of a model: its operations, steps and functions, each with one edit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain
from typing import Literal, assert_never, cast

from charter.core import nodes as ir
from charter.core.reach import with_called
from charter.core.walk import branch_expressions, statement_expressions
from charter.diagnostics import Span
from charter.mutate.bodies import (
    budget_lines,
    condition,
    conditions,
    ghost_lines,
    ghosts_of,
    of_body,
)
from charter.mutate.edits import FALSE, Edit, edits
from charter.mutate.moments import of_moments, of_value, old_records
from charter.mutate.property_copies import separate

DIGITS = 6
NOTHING = "(nothing)"
"""The text of what was left out."""


@dataclass(frozen=True, slots=True)
class MutatedRule:
    """Where a mutant is. `machine` is the component or the system ("" for a function), `name` the
    operation, step or function. `branch` is "" unless the mutant concerns only transitions that
    took this branch, or this step, before."""

    kind: Literal["function", "operation", "step"]
    machine: str
    name: str
    branch: str = ""


@dataclass(frozen=True, slots=True)
class MadeMutant:
    """A mutant. `id` is stable when text moves. `text` replaces the charter's text at `span`;
    `before` and `after` are the lines around it. `declaration` replaces the one of the rule."""

    id: str
    rule: MutatedRule
    kind: str
    says: str
    span: Span
    text: str
    before: str
    after: str
    declaration: ir.Function | ir.Operation | ir.Step

    @property
    def place(self) -> str:
        """The rule by its name: `component.operation/branch`, `system.step` or a function."""
        return self.id.partition(":")[0]


def mutants(model: ir.Model) -> tuple[MadeMutant, ...]:
    """The mutants of a model, in the order of its declarations."""
    made: dict[str, MadeMutant] = {}
    seen: dict[tuple[str, str, str], int] = {}
    for rule, place, edit in _edits(model):
        key = (place, edit.kind, edit.mark)
        seen[key] = seen.get(key, -1) + 1
        digest = sha256(repr((*key, seen[key])).encode()).hexdigest()[:DIGITS]
        before, after = _lines(edit)
        name = f"{place}:{edit.kind}:{digest}"
        about = (edit.kind, edit.says, edit.span, edit.text)
        made[name] = MadeMutant(name, rule, *about, before, after, edit.new)
    return tuple(made.values())


Found = tuple[MutatedRule, str, Edit[ir.Function] | Edit[ir.Operation] | Edit[ir.Step]]


def _edits(model: ir.Model) -> Iterator[Found]:
    called = _find_called_by_rules(model)
    for function in model.functions:
        if function.name in called:
            rule = MutatedRule("function", "", function.name)
            body = function.body
            for edit in chain(edits(body), of_value(body), old_records(function)):
                yield rule, function.name, edit.around(replace(function, body=edit.new))
    for component in model.components:
        ghosts = ghosts_of(component)
        for operation in component.operations:
            name = f"{component.name}.{operation.name}"
            for branch, is_taken, changed in _of_operation(operation, ghosts):
                taken = branch if is_taken else ""
                rule = MutatedRule("operation", component.name, operation.name, taken)
                yield rule, f"{name}/{branch}" if branch else name, changed
    for system in model.systems:
        ghosts = ghosts_of(system)
        for step in system.steps:
            skipped = ghost_lines(step.body, ghosts) | budget_lines(step.body, system)
            for bent in chain(of_body(step.body, skipped), of_moments(step.body, skipped)):
                taken = step.name if condition(bent.new) == condition(step.body) else ""
                rule = MutatedRule("step", system.name, step.name, taken)
                place = f"{system.name}.{step.name}"
                yield rule, place, bent.around(replace(step, body=bent.new))


def _find_called_by_rules(model: ir.Model) -> frozenset[str]:
    """The functions that operations and steps call, directly or not, but for ghost state alone."""
    exprs: list[ir.Expr] = []
    for component in model.components:
        ghosts = ghosts_of(component)
        for operation in component.operations:
            for branch in operation.branches:
                skipped = ghost_lines(branch.body, ghosts, branch.reply)
                rules = tuple(line for i, line in enumerate(branch.body) if i not in skipped)
                exprs += branch_expressions(replace(branch, body=rules))
    for system in model.systems:
        ghosts = ghosts_of(system)
        for step in system.steps:
            skipped = ghost_lines(step.body, ghosts)
            for i, line in enumerate(step.body):
                if i not in skipped:
                    exprs += statement_expressions(line)
    found = with_called(exprs, model.functions)
    return frozenset(expr.function for expr in found if isinstance(expr, ir.Call))


# --- operations ----------------------------------------------------------------------------------


def _of_operation(
    operation: ir.Operation, ghosts: frozenset[str]
) -> Iterator[tuple[str, bool, Edit[ir.Operation]]]:
    """The edits of an operation with the branch that each is in ("" for the operation), and whether
    only transitions that take this branch change."""
    for edit in _of_lets(operation):
        yield "", False, edit
    for i, branch in enumerate(operation.branches):
        for guard in _of_guard(branch):
            yield branch.name, False, guard.around(_put(operation, i, guard.new))
        for bent in _of_branch(branch, ghosts):
            yield branch.name, True, bent.around(_put(operation, i, bent.new))
        if i + 1 < len(operation.branches):
            yield branch.name, True, _remove(operation, i)
            after = operation.branches[i + 1]
            if not branch.group and not after.group and after.guard:
                yield branch.name, False, _swap(operation, i)


def _of_lets(operation: ir.Operation) -> Iterator[Edit[ir.Operation]]:
    """The edits of the `let`s, which branches share."""
    lets: dict[tuple[str, int], ir.Bind] = {}
    for branch in operation.branches:
        for bind in branch.lets:
            lets.setdefault((bind.name, bind.span.start), bind)
    for bind in lets.values():
        for edit in chain(edits(bind.value), of_value(bind.value)):
            branches = tuple(
                replace(branch, lets=tuple(
                    replace(b, value=edit.new) if b == bind and b.span == bind.span else b
                    for b in branch.lets
                ))
                for branch in operation.branches
            )  # fmt: skip
            yield edit.around(replace(operation, branches=branches))


def _of_guard(branch: ir.Branch) -> Iterator[Edit[ir.Branch]]:
    for i, conjunct in enumerate(branch.guard):
        for edit in chain(conditions(conjunct.condition), of_value(conjunct.condition)):
            changed = replace(conjunct, condition=edit.new)
            guard = (*branch.guard[:i], changed, *branch.guard[i + 1 :])
            yield edit.around(replace(branch, guard=guard))


def _of_branch(branch: ir.Branch, ghosts: frozenset[str]) -> Iterator[Edit[ir.Branch]]:
    skipped = ghost_lines(branch.body, ghosts, branch.reply)
    for body in chain(of_body(branch.body, skipped), _of_moments(branch, skipped)):
        # An edit keeps the kinds of statements.
        yield body.around(replace(branch, body=cast("tuple[ir.Change, ...]", body.new)))
    for reply in chain(edits(branch.reply), of_value(branch.reply)):
        yield reply.around(replace(branch, reply=reply.new))


def _of_moments(
    branch: ir.Branch, skipped: frozenset[int]
) -> Iterator[Edit[tuple[ir.Statement, ...]]]:
    """The edits of a body that also reads what the `let`s above the branch bind."""
    lets = len(branch.lets)
    below = frozenset(i + lets for i in skipped)
    for edit in of_moments((*branch.lets, *branch.body), below, lets):
        yield edit.around(edit.new[lets:])


def _put(operation: ir.Operation, at: int, branch: ir.Branch) -> ir.Operation:
    branches = operation.branches
    return replace(operation, branches=(*branches[:at], branch, *branches[at + 1 :]))


def _remove(operation: ir.Operation, at: int) -> Edit[ir.Operation]:
    """A branch that is never taken. It stays in the list, so that all branches keep their place."""
    branch = operation.branches[at]
    never = replace(branch, guard=(ir.Conjunct("", FALSE, span=branch.span),))
    says = f"the branch `{branch.name}` is removed"
    span = _head(branch)
    return Edit("drop-branch", says, span, "", branch.name, _put(operation, at, never))


def _swap(operation: ir.Operation, at: int) -> Edit[ir.Operation]:
    first, second = operation.branches[at : at + 2]
    branches = (*operation.branches[:at], second, first, *operation.branches[at + 2 :])
    says = f"the branch `{second.name}` is tried before `{first.name}`"
    span = _head(first)
    text = f"branch {second.name} …; branch {first.name} …"
    new = replace(operation, branches=branches)
    return Edit("swap-branches", says, span, text, f"{first.name} {second.name}", new)


def _head(branch: ir.Branch) -> Span:
    """The first line of a branch."""
    span = branch.span
    end = span.source.text.find("\n", span.start)
    return replace(span, end=min(span.end, end) if end >= 0 else span.end)


# --- the model of a mutant -----------------------------------------------------------------------


def mutate(model: ir.Model, made: MadeMutant) -> ir.Model:
    """`model` with the mutant. Properties, assumptions, ghost state, scenarios and instances keep
    their meaning: they call copies of the functions that the mutant changes."""
    declaration, rule = made.declaration, made.rule
    match declaration:
        case ir.Function():
            return separate(model, declaration)
        case ir.Operation():
            components = (_component(c, rule, declaration) for c in model.components)
            return replace(model, components=tuple(components))
        case ir.Step():
            systems = (_system(s, rule, declaration) for s in model.systems)
            return replace(model, systems=tuple(systems))
        case _:
            assert_never(declaration)


def _component(component: ir.Component, rule: MutatedRule, changed: ir.Operation) -> ir.Component:
    if component.name != rule.machine:
        return component
    operations = (changed if o.name == rule.name else o for o in component.operations)
    return replace(component, operations=tuple(operations))


def _system(system: ir.System, rule: MutatedRule, changed: ir.Step) -> ir.System:
    if system.name != rule.machine:
        return system
    steps = (changed if step.name == rule.name else step for step in system.steps)
    return replace(system, steps=tuple(steps))


# --- text ----------------------------------------------------------------------------------------


def _lines(edit: Edit[object]) -> tuple[str, str]:
    """The charter's lines around an edit, on one line each: as they are, and as they would be."""
    span, text = edit.span, edit.span.source.text
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    head, tail = text[start : span.start], text[span.end : end if end >= 0 else len(text)]
    tail = tail.partition("--")[0]
    old = "\n".join(line.partition("--")[0] for line in text[span.start : span.end].split("\n"))
    return _one_line(head, old, tail), _one_line(head, edit.text, tail)


def _one_line(*parts: str) -> str:
    return " ".join("".join(parts).split()) or NOTHING
