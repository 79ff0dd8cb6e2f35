"""Elaborates the expression of `--where`: a condition on states."""

from __future__ import annotations

from dataclasses import replace

from charter.check import machines
from charter.check.context import CheckContext
from charter.check.ranges import check_ranges
from charter.check.required_bounds import check_bounds
from charter.check.types import BOOL
from charter.core import nodes as ir
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
    table, types = machines.collect(files, Diagnostics())
    scope = CheckContext(table, types, diagnostics).scope(table.machines[instance.machine])
    elements = {
        member: ir.Literal(number, type=table.types[sort])
        for sort, members in instance.sorts
        for number, member in enumerate(members)
        if not scope.meaning(member)
    }
    body = replace(scope, elements=elements).check(node, BOOL)
    prop = ir.Property("witness", ASKED, instance.machine, body, (), span=node.span)
    if not diagnostics.errors:
        alone = replace(model, properties=(prop,), liveness=(), instances=(instance,), scenarios=())
        found = Diagnostics()  # drops the errors in the rules of a mutant: it may have some
        check_ranges(alone, found)
        diagnostics.items += [item for item in found if item.span.source is node.span.source]
        check_bounds(alone, diagnostics)
    return prop
