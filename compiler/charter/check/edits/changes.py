"""Elaborates the declarations that an edit changed."""

from __future__ import annotations

from charter.check.declarations import machines
from charter.check.declarations.check_context import CheckContext
from charter.check.declarations.elaborate import model_of
from charter.check.names.declared import declarations
from charter.check.names.scopes import Rules
from charter.check.names.unchanged import Unchanged
from charter.core import nodes as ir
from charter.diagnostics import Diagnostics
from charter.syntax import nodes as sx

_DROPPED = sx.PropertyDecl | sx.EventuallyDecl | sx.ScenarioDecl


def elaborate_changes(
    files: sx.Protocol, unchanged: Unchanged, diagnostics: Diagnostics
) -> ir.Model:
    """Check an edited version of a protocol that was elaborated already. Only the declarations and
    operations that may mean something else are elaborated, and the result has only these, without
    properties and scenarios of that protocol: an edit may leave them without a meaning."""
    table, types = machines.collect(files, diagnostics)
    dropped = (id(node) for node in declarations(unchanged.files) if isinstance(node, _DROPPED))
    done = unchanged.among(table).union(dropped)
    return model_of(files, "", CheckContext(table, types, diagnostics, done, True))


def elaborate_new(files: sx.Protocol, before: sx.Protocol, rules: Rules) -> None:
    """Apply `rules` to what an edited version of the protocol `before` has anew. The rest is left
    out even if names mean something else now: what is said of it was said of `before`."""
    diagnostics = Diagnostics()
    table, types = machines.collect(files, diagnostics)
    done = Unchanged(before, table).among(table)
    model_of(files, "", CheckContext(table, types, diagnostics, done, True, rules=rules))
