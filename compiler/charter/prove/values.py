"""Builds symbolic values: trees in the shape of core values, with terms at their leaves.

An absent part (the content of an option that is none, a slot past the end) may be any value or
None, so readers must check its presence.
"""

from __future__ import annotations

from dataclasses import dataclass

from charter.core.nodes import Value
from charter.prove.terms import Term


class CannotEncode(Exception):
    """The encoding does not cover something; the message says what."""


@dataclass(frozen=True, slots=True)
class ScalarTerm:
    """A truth value, a sort element or an enum member (by its position, as a word)."""

    term: Term


@dataclass(frozen=True, slots=True)
class Number:
    """An int or a counter. Words are always wide enough for `low` to `high`, so that arithmetic
    never wraps; None: unbounded (integers only)."""

    term: Term
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Maybe:
    """An option."""

    present: Term
    inner: Sym | None


@dataclass(frozen=True, slots=True)
class Fields:
    """A record, or a map as one value for each key in the order of the domain."""

    items: tuple[Sym, ...]


@dataclass(frozen=True, slots=True)
class Tagged:
    """A union: the position of the case as a word, and the parameters of every case."""

    tag: Term
    cases: tuple[tuple[Sym, ...] | None, ...]


@dataclass(frozen=True, slots=True)
class Mask:
    """A set within `keys`: one truth value for each of them."""

    keys: tuple[Value, ...]
    members: tuple[Term, ...]
    items: tuple[Sym, ...]


@dataclass(frozen=True, slots=True)
class Bag:
    """A set given by possible members, each with the condition that it is present; repeats are
    allowed."""

    items: tuple[tuple[Term, Sym], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A sequence or ranking: the slots before `length` count."""

    length: Number
    slots: tuple[Sym | None, ...]


Sym = ScalarTerm | Number | Maybe | Fields | Tagged | Mask | Bag | Line
