"""Elaborates expressions about one state: the condition of `--where`, and what `conform eval` is
asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from charter.check.declarations import machines
from charter.check.declarations.check_context import CheckContext
from charter.check.names.scopes import TypeScope
from charter.check.names.types import BOOL
from charter.check.numbers.ranges import check_ranges
from charter.check.warnings.required_bounds import check_bounds
from charter.core import nodes as ir
from charter.core import types as ty
from charter.core.nodes import ASKED
from charter.diagnostics import Diagnostics
from charter.syntax import nodes as sx


def state_condition(
    files: sx.Protocol,
    model: ir.Model,
    instance: ir.Instance,
    node: sx.Expr,
    diagnostics: Diagnostics,
) -> ir.Property:
    """A witness of the instance's machine, whose body is `node`: it reads one state, and may name
    elements of the instance. `model` is the core of `files`, whose edits have been applied. If
    there are errors in `diagnostics`, the result must not be used."""
    body = _scope(files, instance, diagnostics).check(node, BOOL)
    prop = ir.Property("witness", ASKED, instance.machine, body, (), span=node.span)
    if not diagnostics.errors:
        alone = _alone(model, prop, instance)
        found = Diagnostics()  # drops the errors in the rules of a mutant: it may have some
        check_ranges(alone, found)
        diagnostics.items += [item for item in found if item.span.source is node.span.source]
        check_bounds(alone, diagnostics)
    return prop


def state_expression(
    files: sx.Protocol,
    place: tuple[ir.Model, ir.Instance],
    node: sx.Expr,
    names: Mapping[str, ty.Type],
    diagnostics: Diagnostics,
) -> ir.Expr:
    """The core of an expression of any type that reads one state of an instance, and may use
    further `names`. `files` are those of the model, whose edits have been applied."""
    model, instance = place
    scope = _scope(files, instance, diagnostics)
    for name, kind in names.items():
        scope = scope.with_local(name, ir.Local(name, type=kind))
    body = scope.infer(node)
    if not diagnostics.errors:
        prop = ir.Property("witness", ASKED, instance.machine, body, (), span=node.span)
        check_bounds(_alone(model, prop, instance), diagnostics)
    return body


def _scope(files: sx.Protocol, instance: ir.Instance, diagnostics: Diagnostics) -> TypeScope:
    """The scope of the instance's machine, with the elements of the instance."""
    table, types = machines.collect(files, Diagnostics())
    scope = CheckContext(table, types, diagnostics).scope(table.machines[instance.machine])
    elements = {
        member: ir.Literal(number, type=table.types[sort])
        for sort, members in instance.sorts
        for number, member in enumerate(members)
        if not scope.meaning(member)
    }
    return replace(scope, elements=elements)


def _alone(model: ir.Model, prop: ir.Property, instance: ir.Instance) -> ir.Model:
    """The model with this property and this instance only."""
    return replace(model, properties=(prop,), liveness=(), instances=(instance,), scenarios=())
