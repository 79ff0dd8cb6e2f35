"""Elaborates what an edited version of a protocol has anew."""

from __future__ import annotations

from charter.check import machines
from charter.check.context import CheckContext
from charter.check.declared import declarations
from charter.check.elaborate import model_of
from charter.check.scopes import Rules
from charter.core import nodes as ir
from charter.diagnostics import Diagnostics
from charter.syntax import nodes as sx

_DROPPED = sx.PropertyDecl | sx.EventuallyDecl | sx.ScenarioDecl


def elaborate_changes(
    files: sx.Protocol, before: sx.Protocol, diagnostics: Diagnostics
) -> ir.Model:
    """Check an edited version of the protocol `before`, which was elaborated already. If all names
    still mean the same, only the changed declarations and operations are elaborated, and the result
    has only these, without properties and scenarios: an edit may leave them without a meaning."""
    old, _ = machines.collect(before, Diagnostics())
    table, types = machines.collect(files, diagnostics)
    done = frozenset(id(node) for node in declarations(before) if isinstance(node, _DROPPED))
    if old == table:
        done = _parts(before)
    return model_of(files, "", CheckContext(table, types, diagnostics, done, True))


def elaborate_new(files: sx.Protocol, before: sx.Protocol, rules: Rules) -> None:
    """Apply `rules` to what an edited version of the protocol `before` has anew. The rest is left
    out even if names mean something else now: what is said of it was said of `before`."""
    diagnostics = Diagnostics()
    table, types = machines.collect(files, diagnostics)
    context = CheckContext(table, types, diagnostics, _parts(before), True, rules=rules)
    model_of(files, "", context)


def _parts(files: sx.Protocol) -> frozenset[int]:
    """The identities of all declarations, of the members of components, and of steps."""
    found: list[sx.Node] = [*declarations(files)]
    for node in declarations(files):
        if isinstance(node, sx.ComponentDecl):
            found += node.members
        elif isinstance(node, sx.SystemDecl):
            found += (member for member in node.members if isinstance(member, sx.StepDecl))
    return frozenset(map(id, found))
