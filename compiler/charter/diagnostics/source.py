"""Keeps source texts and spans inside them, and shows an excerpt with a caret under a span."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Final

_NEWLINE: Final = re.compile("\n")
EXCERPT_COLUMNS: Final = 240
"""How much of a line an excerpt shows."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file of a charter. `name` is the path as the user gave it, with forward slashes."""

    name: str
    text: str
    line_starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = (found.end() for found in _NEWLINE.finditer(self.text))
        object.__setattr__(self, "line_starts", (0, *starts))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of `offset`, both counted from 1."""
        line = bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of line `number` (from 1), without its newline."""
        start = self.line_starts[number - 1]
        end = self.text.find("\n", start)
        return self.text[start:] if end < 0 else self.text[start:end]


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` up to, not including, `end` of one source."""

    source: Source
    start: int
    end: int

    def __repr__(self) -> str:
        return self.where()

    def where(self) -> str:
        """`file:line:column`, as compilers print it."""
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of `other` (same source)."""
        return Span(self.source, self.start, max(self.end, other.end))

    def begin(self) -> Span:
        """The place where this one begins. It has no text: no expression of a charter has it."""
        return Span(self.source, self.start, self.start)

    def holds(self, other: Span) -> bool:
        """Whether `other` lies inside of this span (of the same source)."""
        is_inside = self.start <= other.start and other.end <= self.end
        return is_inside and self.source == other.source

    def quote(self) -> str:
        """The text on one line, with the parentheses around its first and its last part, which the
        span of an expression does not have. (Those in a comment may count, and then find none.)"""
        text, start, end = self.source.text, self.start, self.end
        before, behind = _count_unmatched(text[start:end])
        while before and (left := text[:start].rstrip()).endswith("("):
            start, before = len(left) - 1, before - 1
        while behind and (right := text[end:].lstrip()).startswith(")"):
            end, behind = len(text) - len(right) + 1, behind - 1
        return " ".join(text[start:end].split())

    def excerpt(self) -> str:
        """The first line of the span with carets under it, and a line number in the margin. A long
        line is cut around the span."""
        line, column = self.source.position(self.start)
        text, start = self.source.line(line), column - 1
        width = max(1, min(self.end - self.start, len(text) - start))
        left, right = "", ""
        if len(text) > EXCERPT_COLUMNS:
            begin = max(0, min(start - EXCERPT_COLUMNS // 3, len(text) - EXCERPT_COLUMNS))
            end = begin + EXCERPT_COLUMNS
            left, right = "..." if begin else "", "..." if end < len(text) else ""
            text, start = text[begin:end], start - begin
            width = max(1, min(width, len(text) - start))
        margin = f"{line:>5} | "
        indent = "".join("\t" if char == "\t" else " " for char in left + text[:start])
        return f"{margin}{left}{text}{right}\n{' ' * (len(margin) - 2)}| {indent}{'^' * width}"


def _count_unmatched(text: str) -> tuple[int, int]:
    """How many closing parentheses have no opening one, and the other way round."""
    depth = lowest = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        lowest = min(lowest, depth)
    return -lowest, depth - lowest


BUILTIN = Source("<builtin>", "")
NOWHERE = Span(BUILTIN, 0, 0)
"""The span of what has no place in a file: built-in names, and trees that a test built by hand."""
