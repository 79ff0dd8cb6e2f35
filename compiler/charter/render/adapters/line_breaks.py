"""Breaks calls and literals over lines: on one line if it fits, else one item a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Item: TypeAlias = "tuple[str, str | Bracketed]"
"""What stands before an item, such as a key, and the item."""


@dataclass(frozen=True, slots=True)
class Bracketed:
    """Items between brackets; `before` and `after` are the brackets, with what belongs to them. If
    it is `open`, each item has a line of its own."""

    before: str
    items: tuple[Item, ...]
    after: str
    open: bool = False


def call(name: str, *args: str | Bracketed) -> Bracketed:
    """A call with arguments."""
    return Bracketed(f"{name}(", tuple(("", arg) for arg in args), ")")


def apply(codec: str | Bracketed, method: str, value: str | Bracketed) -> Bracketed:
    """A method of a codec applied to a value."""
    return call(f"{flat(codec)}.{method}", value)


def flat(doc: str | Bracketed) -> str:
    """The text on one line."""
    if isinstance(doc, str):
        return doc
    if not doc.items:
        return doc.before.rstrip() + doc.after.lstrip()
    inside = ", ".join(prefix + flat(item) for prefix, item in doc.items)
    return f"{doc.before}{inside}{doc.after}"


def _is_open(doc: str | Bracketed) -> bool:
    if isinstance(doc, str) or not doc.items:
        return False
    return doc.open or any(_is_open(item) for _, item in doc.items)


@dataclass(frozen=True, slots=True)
class LineBreaker:
    """The indentation and the width of a language, and what stands behind the last item where each
    has a line of its own."""

    indent: str
    width: int
    last: str = ","

    def lines(self, doc: str | Bracketed, depth: int, prefix: str, suffix: str) -> list[str]:
        """`doc` between a prefix and a suffix, at a depth of indentation."""
        start = self.indent * depth
        whole = f"{start}{prefix}{flat(doc)}{suffix}"
        fits = len(whole) <= self.width and not _is_open(doc)
        if isinstance(doc, str) or fits or not doc.items:
            return [whole]
        rows = [f"{start}{prefix}{doc.before.rstrip()}"]
        ends = [*("," for _ in doc.items[1:]), self.last]
        for (before, item), end in zip(doc.items, ends, strict=True):
            rows += self.lines(item, depth + 1, before, end)
        return [*rows, f"{start}{doc.after.lstrip()}{suffix}"]

    def text(self, doc: str | Bracketed, depth: int, prefix: str, suffix: str) -> str:
        """The lines, each with its end."""
        return "".join(f"{line}\n" for line in self.lines(doc, depth, prefix, suffix))
