"""Builds pictures as data; the template writes the SVG and escapes every text in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MONO = 6.35
"""Width of a character of the pictures' 10.5 px monospaced text, in px."""
CHIP = 18
"""Height of a chip, in px."""

INK, MUTED, LINE, PAPER = "#1a1f27", "#5b6472", "#cfd5dc", "#ffffff"
WRONG, WRONG_PAPER, WANTED = "#b42318", "#fdf0ee", "#1b6b3a"
TINTS = (
    ("#d9ede8", "#0b5c4b"), ("#fbe9cc", "#744700"), ("#e7e2f6", "#4b3a8f"),
    ("#dce9f8", "#174a86"), ("#f8dfe8", "#8a2450"), ("#e9edcd", "#4c5510"),
)  # fmt: skip
"""Paper and ink of the fields that hold sets, in their order."""


Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Shape:
    """One element of a picture."""

    tag: str
    attributes: tuple[tuple[str, str], ...]
    text: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, measured in px, with a description for those who cannot see it."""

    id: str
    width: int
    height: int
    title: str
    description: str
    shapes: tuple[Shape, ...]
    notes: tuple[str, ...] = ()


def shape(tag: str, told: str = "", **attributes: str | float) -> Shape:
    """A shape with its title. `_` in the name of an attribute becomes `-`."""
    return Shape(tag, _list_named(attributes), title=told)


def _list_named(attributes: Mapping[str, str | float]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name.rstrip("_").replace("_", "-"), _number(value)) for name, value in attributes.items()
    )


def words(content: str, x: float, y: float, css: str = "", **attributes: str | float) -> Shape:
    """A text with its baseline at `y`."""
    return Shape("text", _list_named({"x": x, "y": y, "class": css or "t", **attributes}), content)


def line(start: Point, end: Point, stroke: str, width: float = 1) -> Shape:
    return shape("line", x1=start[0], y1=start[1], x2=end[0], y2=end[1], stroke=stroke,
                 stroke_width=width)  # fmt: skip


def chip_width(label: str) -> float:
    return len(label) * MONO + 12


def wrap(text: str, width: float, most: int = 3) -> list[str]:
    """`text` in at most `most` lines of `width` px; the rest is cut off with an ellipsis."""
    room = max(8, int(width / MONO))
    lines: list[str] = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}".strip()
        if len(joined) <= room or not lines[-1]:
            lines[-1] = joined
        else:
            lines.append(word)
    cut = [item if len(item) <= room else item[: room - 1] + "…" for item in lines[:most]]
    if len(lines) > most:
        cut[-1] = cut[-1][: room - 1].rstrip("… ") + "…"
    return cut


def join_words(items: Sequence[str]) -> str:
    """The items as `a, b and c`."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _number(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
