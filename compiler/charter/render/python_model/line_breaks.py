"""Breaks long expressions over lines in the style of Python formatters."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

from charter.render.text import INDENT

WIDTH = 100

_NAMED = re.compile(r"[\w\"\[\]]+(: |=(?!=))")
"""How an argument or entry with a name or key begins."""


@dataclass(frozen=True, slots=True)
class Block:
    """`open item, item close`. Items that do not fit on the line of the brackets are put on one
    line of their own, if they fit there and none has a name or key; otherwise one to a line.
    `separator` follows each item ("" for the clauses of a comprehension)."""

    open: str
    items: tuple[Doc, ...]
    close: str
    separator: str = ","


@dataclass(frozen=True, slots=True)
class Spread:
    """Parts with spaces between them. Inside brackets, lines may break before them: operators and
    the clauses of conditional expressions start a line."""

    parts: tuple[Doc, ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """Parts without anything between them."""

    parts: tuple[Doc, ...]


Doc = str | Block | Spread | Joined


def flat(doc: Doc) -> str:
    """The text in one line."""
    match doc:
        case str():
            return doc
        case Block(open=start, items=items, close=end, separator=separator):
            return start + f"{separator} ".join(flat(item) for item in items) + end
        case Spread(parts=parts):
            return " ".join(flat(part) for part in parts)
        case Joined(parts=parts):
            return "".join(flat(part) for part in parts)
        case _:
            assert_never(doc)


def lines(
    doc: Doc, depth: int, prefix: str = "", suffix: str = "", *, bracketed: bool = False
) -> list[str]:
    """`prefix doc suffix` as lines at a depth of indentation, each within WIDTH if possible;
    `bracketed`: it is inside brackets already."""
    pad = INDENT * depth
    whole = f"{pad}{prefix}{flat(doc)}{suffix}"
    if len(whole) <= WIDTH:
        return [whole]
    match doc:
        case str():
            return [whole]
        case Block(items=()):
            return [whole]
        case Block(items=(Block(separator=inner) as only,)) if len(only.items) > 1 or not inner:
            hugged = Block(doc.open + only.open, only.items, only.close + doc.close, inner)
            return lines(hugged, depth, prefix, suffix, bracketed=bracketed)
        case Block(open=start, close=end) if inside := _one_line_inside(doc, depth + 1):
            return [f"{pad}{prefix}{start}", inside, f"{pad}{end}{suffix}"]
        case Block(open=start, items=items, close=end, separator=separator):
            out = [f"{pad}{prefix}{start}"]
            for item in items:
                out += lines(item, depth + 1, "", separator, bracketed=True)
            return [*out, f"{pad}{end}{suffix}"]
        case Spread() if not bracketed:
            return lines(Block("(", (doc,), ")", ""), depth, prefix, suffix, bracketed=True)
        case Spread(parts=parts):
            out = []
            for i, part in enumerate(parts):
                first, last = i == 0, i == len(parts) - 1
                before, after = prefix if first else "", suffix if last else ""
                out += lines(part, depth, before, after, bracketed=True)
            return out
        case Joined(parts=parts):
            at = _widest(parts)
            before = prefix + "".join(flat(part) for part in parts[:at])
            after = "".join(flat(part) for part in parts[at + 1 :]) + suffix
            return lines(parts[at], depth, before, after, bracketed=bracketed)
        case _:
            assert_never(doc)


def _one_line_inside(block: Block, depth: int) -> str:
    """The items of a block in one line, or "": they are too long, or one has a name or a key."""
    items = [flat(item) for item in block.items]
    line = INDENT * depth + ", ".join(items)
    named = any(_NAMED.match(item) for item in items)
    return "" if named or block.separator != "," or len(line) > WIDTH else line


def _widest(parts: tuple[Doc, ...]) -> int:
    breakable = [i for i, part in enumerate(parts) if not isinstance(part, str)]
    return max(breakable, key=lambda i: len(flat(parts[i])), default=len(parts) - 1)


def call(function: str, *args: Doc) -> Block:
    """`function(args)`."""
    return Block(f"{function}(", args, ")")


def join(*parts: Doc) -> Doc:
    """Parts without anything between them."""
    if all(isinstance(part, str) for part in parts):
        return "".join(flat(part) for part in parts)
    return Joined(parts)


@lru_cache(maxsize=1024)
def from_text(text: str) -> Doc:
    """A document from one line of Python. Brackets become blocks; lines may break at commas and at
    the clauses of comprehensions and conditional expressions. Cached: siblings have most lines in
    common."""
    clauses = _split(text, (" if ", " else ", " for "))
    if len(clauses) > 1:
        return Spread(tuple(_atom(clause) for clause in clauses))
    return _atom(text)


def _atom(text: str) -> Doc:
    start = next((i for i, char in _outside(text) if char in "([{"), None)
    if start is None:
        return text
    end = next(i for i, char in _outside(text) if i > start and char in ")]}")
    inside, rest = text[start + 1 : end], text[end + 1 :]
    loops = _split(inside, (" for ",))
    if len(loops) > 1:
        parts, separator = tuple(from_text(loop) for loop in loops), ""
    else:
        items = [item.strip() for item in _split(inside, (",",))]
        parts = tuple(from_text(item.removeprefix(",").strip()) for item in items if item != ",")
        separator = ","
    if not inside or (len(parts) == 1 and text[start] in "[(" and not text[:start].strip()):
        return text if not inside else Joined((text[: start + 1], *parts, text[end:]))
    block = Block(text[: start + 1], parts, text[end], separator)
    return block if not rest else Joined((block, from_text(rest)))


def _outside(text: str) -> list[tuple[int, str]]:
    """The characters outside of brackets and strings, and the outermost brackets, with their
    positions."""
    found: list[tuple[int, str]] = []
    depth, quoted = 0, False
    for i, char in enumerate(text):
        if char == '"':
            quoted = not quoted
        if quoted:
            continue
        depth -= char in ")]}"
        if depth == 0:
            found.append((i, char))
        depth += char in "([{"
    return found


def _split(text: str, words: tuple[str, ...]) -> list[str]:
    """`text` split before each of `words` outside of brackets; the words are kept."""
    cuts = [i for i, _ in _outside(text) if any(text.startswith(word, i) for word in words)]
    ends = [*cuts, len(text)]
    return [text[a:b].strip() for a, b in zip([0, *cuts], ends, strict=True)]
