"""Finds the declarations of a protocol that mean the same in an edited version of it.

A node means the same if it is the same node, and no name in it has another meaning. What a name
means is in the tables of both versions (`Globals`): the signature of a function says which state
all functions that it calls read, so that calls need not be followed. Two things are followed, since
the core of whoever uses a name has them in it: the lines of set-ups, instances and fragments, and
the default values of parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace

from charter.check.names.declared import declarations
from charter.check.names.scopes import Globals
from charter.syntax import nodes as sx


class Unchanged:
    """What edited versions of the protocol `files`, whose names are those of `table`, leave as it
    is. The words of a node are collected once; it is held, so that no other one gets its
    identity."""

    def __init__(self, files: sx.Protocol, table: Globals) -> None:
        self.files = files
        self.table = table
        self._words: dict[int, tuple[sx.Node, frozenset[str]]] = {}

    def among(self, table: Globals) -> frozenset[int]:
        """The identities of the declarations, members of components and steps that mean the same
        among the names of `table`."""
        if table == self.table:
            return frozenset(id(node) for node, _ in _list_elaborated_nodes(self.files))
        if _rest(table) != _rest(self.table):
            return frozenset()
        names = self._find_changed(table)
        return frozenset(
            id(node)
            for node, states in _list_elaborated_nodes(self.files)
            if all(names.isdisjoint(self.words(item)) for item in (node, *states))
        )

    def words(self, node: sx.Node) -> frozenset[str]:
        """All texts in a node: its names, and what else it says."""
        if id(node) not in self._words:
            self._words[id(node)] = node, frozenset(_texts(node))
        return self._words[id(node)][1]

    def _find_changed(self, after: Globals) -> set[str]:
        """The names of functions, operations, steps, set-ups and fragments that mean something
        else, or are in one of the tables only."""
        before = self.table
        found = _differing(before.functions, after.functions)
        for name, machine in before.machines.items():
            found |= _differing(machine.operations, after.machines[name].operations)
        found |= _differing(before.setups, after.setups)
        found |= _differing(before.fragments, after.fragments)
        inside = self._inside(after)
        while more := {n for n, texts in inside if n not in found and not found.isdisjoint(texts)}:
            found |= more
        return found

    def _inside(self, table: Globals) -> list[tuple[str, frozenset[str]]]:
        """The names whose users have some of their text in their core, with this text: that of
        set-ups, instances and fragments, and the default values of functions, operations and
        steps."""
        shared = (*table.setups.items(), *table.fragments.items())
        signatures = [*table.functions.items()]
        for machine in table.machines.values():
            signatures += machine.operations.items()
        return [
            *((name, self.words(it.node)) for name, it in shared),
            *(
                (name, frozenset().union(*map(self.words, it.defaults.values())))
                for name, it in signatures
                if it.defaults
            ),
        ]


def _list_elaborated_nodes(
    files: sx.Protocol,
) -> Iterator[tuple[sx.Node, tuple[sx.StateDecl, ...]]]:
    """All declarations, members of components and steps; with each member the state of its machine:
    all branches and steps update histories and what is stored."""
    for node in declarations(files):
        yield node, ()
        if isinstance(node, sx.ComponentDecl | sx.SystemDecl):
            states = tuple(item for item in node.members if isinstance(item, sx.StateDecl))
            kinds = sx.StateDecl | sx.Operation | sx.ObserveDecl | sx.StepDecl
            yield from ((item, states) for item in node.members if isinstance(item, kinds))


def _rest(table: Globals) -> Globals:
    """The names whose change can change everything: all but those of `_find_changed`."""
    machines = {name: replace(m, operations={}) for name, m in table.machines.items()}
    return replace(table, functions={}, machines=machines, setups={}, fragments={})


def _differing(before: Mapping[str, object], after: Mapping[str, object]) -> set[str]:
    names = before.keys() | after.keys()
    return {name for name in names if before.get(name) != after.get(name)}


def _texts(node: sx.Node) -> Iterator[str]:
    """The texts in a tree. Of a path such as `part.state` or `operation/branch` its parts."""
    waiting: list[object] = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
            if not item.isidentifier():
                yield from item.replace("/", ".").split(".")
        elif isinstance(item, tuple):
            waiting += item
        elif isinstance(item, sx.Node):
            waiting += (getattr(item, field.name) for field in fields(item) if field.compare)
