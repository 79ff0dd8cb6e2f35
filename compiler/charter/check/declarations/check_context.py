"""Holds what the elaboration of every declaration needs, and what it keeps for the next one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

from charter.check.names.declared import TypeResolver
from charter.check.names.scopes import Globals, MachineScope, Rules, TypeScope
from charter.check.names.unchanged import Unchanged
from charter.check.typing.expressions import expression
from charter.diagnostics import Diagnostics
from charter.syntax import nodes as sx

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Elaborated:
    """The core of declarations of a protocol. The nodes are found by identity, and held, so that no
    other one gets it."""

    unchanged: Unchanged
    core: dict[int, tuple[sx.Node, object]] = field(default_factory=dict)

    def among(self, table: Globals) -> Elaborated:
        """The core of those that mean the same among these names."""
        if not self.core:
            return self
        same = self.unchanged.among(table)
        return Elaborated(self.unchanged, {k: kept for k, kept in self.core.items() if k in same})


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What the elaboration of every declaration needs. `earlier` is the core of nodes that mean
    the same, without errors; `kept` is where this one is kept. `rules` are the typing rules; those
    of an editor's index also note what each name means."""

    globals: Globals
    types: TypeResolver
    diagnostics: Diagnostics
    done: frozenset[int] = frozenset()
    is_bent: bool = False
    earlier: Elaborated | None = None
    kept: Elaborated | None = None
    rules: Rules = expression

    def core(self, node: sx.Node, make: Callable[[], _T]) -> _T:
        """The core of a node: that of the earlier elaboration, or else what `make` returns."""
        if self.earlier is not None and id(node) in self.earlier.core:
            return cast(_T, self.earlier.core[id(node)][1])
        made = make()
        if self.kept is not None:
            self.kept.core[id(node)] = node, made
        return made

    def is_done(self, node: sx.Node) -> bool:
        """Whether this very node was elaborated before, among the same declarations."""
        return id(node) in self.done

    def scope(self, machine: MachineScope | None = None, *, primes: bool = False) -> TypeScope:
        """A scope in which only declarations are visible."""
        return TypeScope(self.globals, self.diagnostics, self.rules, machine, primes)
