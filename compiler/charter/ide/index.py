"""Indexes a protocol: which declaration each name in its files means."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from charter.diagnostics import Span
from charter.syntax import nodes as sx

Key = tuple[str, ...]
"""Identifies a declaration: its kind and its names from the outside in, such as `("branch",
"controller", "elect", "clean")`; for a local the file and the offset of its declaration."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declaration. `name` is the span of its name, `whole` that of the declaration; `head` is the
    text that shows it, with its type; `doc` is its comment."""

    key: Key
    kind: str
    name: Span
    whole: Span
    head: str
    doc: str = ""
    citations: tuple[sx.Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name in a text, and the declaration that it means. An edit that replaces a declaration
    names it, too."""

    span: Span
    key: Key
    declares: bool = False


@dataclass(frozen=True, slots=True)
class NameIndex:
    """All names of a protocol. `places` are the occurrences of each file in the order of its text,
    `links` the addresses of sources and of their sections."""

    symbols: Mapping[Key, Symbol]
    places: Mapping[str, tuple[Occurrence, ...]]
    titles: Mapping[str, str]
    links: Mapping[tuple[str, str], str]
    _by_key: dict[Key, list[Occurrence]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        for places in self.places.values():
            for place in places:
                self._by_key.setdefault(place.key, []).append(place)

    def at(self, file: str, offset: int) -> Occurrence | None:
        """The name at an offset of a file, or directly before it."""
        places = self.places.get(file, ())
        position = bisect_right(places, offset, key=lambda place: place.span.start) - 1
        found = places[position] if position >= 0 else None
        return found if found is not None and offset <= found.span.end else None

    def of(self, key: Key) -> Iterator[Occurrence]:
        """The occurrences of a declaration, file by file."""
        yield from self._by_key.get(key, ())

    def children(self, key: Key) -> Iterator[Symbol]:
        """The declarations whose keys continue `key`'s names: fields, branches, parameters."""
        for found in self.symbols.values():
            if found.key[1:-1] == key[1:] and found.key != key:
                yield found

    def shape(self) -> dict[str, tuple[int, ...]]:
        """For each name of each file the number of its declaration, in the order of first
        appearance: equal before and after a rename that changes no meaning."""
        numbers: dict[Key, int] = {}
        return {
            file: tuple(numbers.setdefault(place.key, len(numbers)) for place in places)
            for file, places in sorted(self.places.items())
        }
