"""Documents with possible line breaks, and their arrangement within a width.

The algorithm is Oppen's and Wadler's: a group is put on one line if it fits, else all of its own
breaks become line ends; inner groups are decided separately.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

WIDTH: Final = 100
STEP: Final = 2


@dataclass(frozen=True, slots=True)
class Break:
    """A line end if its group is broken, else the text `flat`."""

    flat: str = " "


@dataclass(frozen=True, slots=True)
class Nest:
    """`doc`, whose line ends are indented one step more."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Group:
    """`doc` on one line if it fits."""

    doc: Doc


Doc = str | Break | Nest | Group | tuple["Doc", ...]

LINE: Final = Break(" ")
SOFT: Final = Break("")


def join(separator: Doc, docs: Sequence[Doc]) -> Doc:
    """`docs` with `separator` between them."""
    parts: list[Doc] = []
    for position, doc in enumerate(docs):
        if position:
            parts.append(separator)
        parts.append(doc)
    return tuple(parts)


def brackets(opening: str, body: Doc, closing: str, edge: Break = SOFT) -> Doc:
    """`body` between brackets that may stand on lines of their own."""
    return Group((opening, Nest((edge, body)), edge, closing))


def lines(doc: Doc, indent: int) -> list[str]:
    """The lines of `doc`, the first without, the others with indentation. They start `indent`
    columns from the left, and end before column 100 if the breaks allow it."""
    done: list[str] = []
    current: list[str] = []
    column = indent
    waiting: list[tuple[int, bool, Doc]] = [(indent, False, doc)]
    while waiting:
        level, flat, here = waiting.pop()
        match here:
            case str():
                current.append(here)
                column += len(here)
            case Break(text) if flat:
                current.append(text)
                column += len(text)
            case Break():
                done.append("".join(current).rstrip())
                current = [" " * level]
                column = level
            case Nest(inner):
                waiting.append((level + STEP, flat, inner))
            case Group(inner):
                fits = flat or _fits(inner, WIDTH - column, waiting)
                waiting.append((level, fits, inner))
            case tuple():
                waiting.extend((level, flat, part) for part in reversed(here))
    done.append("".join(current).rstrip())
    return done


def _fits(doc: Doc, room: int, behind: list[tuple[int, bool, Doc]]) -> bool:
    """Whether `doc` on one line, with the text `behind` it up to the next line end, fits into
    `room`."""
    waiting: list[tuple[bool, Doc]] = [(True, doc)]
    rest = len(behind)
    while room >= 0:
        if not waiting:
            if rest == 0:
                return True
            rest -= 1
            waiting.append(behind[rest][1:])
            continue
        flat, here = waiting.pop()
        match here:
            case str():
                room -= len(here)
            case Break(text):
                if not flat:
                    return True
                room -= len(text)
            case Nest(inner):
                waiting.append((flat, inner))
            case Group(inner):
                waiting.append((flat, inner))
            case tuple():
                waiting.extend((flat, part) for part in reversed(here))
    return False


def flat(doc: Doc) -> str:
    """`doc` on one line, however long."""
    parts: list[str] = []
    waiting = [doc]
    while waiting:
        match waiting.pop():
            case str() as text:
                parts.append(text)
            case Break(text):
                parts.append(text)
            case Nest(inner) | Group(inner):
                waiting.append(inner)
            case tuple() as several:
                waiting.extend(reversed(several))
    return "".join(parts)
