"""Lists what a standard suite looks for, by the text of a component: triples of operations of which
each writes what the next one reads or writes, and variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from charter.core import nodes as n
from charter.core.obligations import reachable_functions
from charter.core.walk import branch_expressions, nodes

Triple = tuple[str, str, str]
"""Three operations in a row."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a standard suite looks for. `mentions` has for each operation the variables that it
    reads or writes, `writes` those that a branch (operation/branch) assigns; ghost state does not
    count. `variables` are those that some branch assigns."""

    writes: Mapping[str, frozenset[str]]
    mentions: Mapping[str, frozenset[str]]
    triples: tuple[Triple, ...]
    variables: tuple[str, ...]

    @staticmethod
    def of(model: n.Model, component: n.Component) -> Wanted:
        """That of a component, in the order of its text."""
        kept = {v.name for v in component.state if v.kind != "ghost"}
        functions = {f.name: f for f in model.functions}
        writes: dict[str, frozenset[str]] = {}
        by_branch: dict[str, frozenset[str]] = {}
        mentions: dict[str, frozenset[str]] = {}
        for operation in component.operations:
            for branch in operation.branches:
                assigned = {line.variable for line in branch.body if isinstance(line, n.Assign)}
                by_branch[f"{operation.name}/{branch.name}"] = frozenset(assigned & kept)
            mine = (by_branch[f"{operation.name}/{b.name}"] for b in operation.branches)
            writes[operation.name] = frozenset[str]().union(*mine)
            exprs = [e for branch in operation.branches for e in branch_expressions(branch)]
            exprs += [f.body for f in reachable_functions(functions, operation)]
            read = {e.name for whole in exprs for e in nodes(whole) if isinstance(e, n.StateRef)}
            mentions[operation.name] = (writes[operation.name] | read) & kept
        names = [operation.name for operation in component.operations]
        follow = {(a, b) for a, b in product(names, names) if writes[a] & mentions[b]}
        triples = (
            (a, b, c)
            for a, b, c in product(names, names, names)
            if (a, b) in follow and (b, c) in follow
        )
        written = frozenset[str]().union(*writes.values())
        variables = tuple(v.name for v in component.state if v.name in written)
        return Wanted(by_branch, mentions, tuple(triples), variables)
