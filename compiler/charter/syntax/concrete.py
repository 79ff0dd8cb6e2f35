"""Defines the concrete tree between the parser and the surface tree: rules of the grammar, and
offsets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Leaf:
    """A token of the text that is part of the tree."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Tree:
    """A matched rule of the grammar. A missing optional part is None.

    `start` and `end` are offsets into the source (both 0 for a rule that matched nothing);
    `depth` bounds the height of the surface tree that is built from it."""

    rule: str
    children: tuple[Part, ...]
    start: int
    end: int
    depth: int


Part = Tree | Leaf | None


def leaf(part: Part) -> Leaf:
    """`part` as a token; the caller knows from the grammar that it is one."""
    assert isinstance(part, Leaf), part
    return part


def tree(part: Part) -> Tree:
    """`part` as a rule; the caller knows from the grammar that it is one."""
    assert isinstance(part, Tree), part
    return part


def trees(parts: tuple[Part, ...]) -> tuple[Tree, ...]:
    """All `parts` as rules."""
    return tuple(tree(part) for part in parts)
