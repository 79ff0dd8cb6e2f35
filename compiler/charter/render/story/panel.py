"""Draws some parts of a state in a narrow picture: a card for each actor, marked where it has
changed."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from charter.core import types as t
from charter.core.nodes import Value
from charter.render.story.card import list_placed
from charter.render.story.scene import lanes_of, name_type
from charter.render.story.svg import document, draw_text
from charter.render.story.words import in_values, speak
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.shown_values import show_value
from charter.semantics.values import Universe

_WIDTH, _EDGE, _GAP, _INSIDE, _LINE, _ABREAST = 372, 6, 6, 8, 18, 3
"""Pixels of a picture, which fits a narrow page, and how many small cards are in a row."""
_CHARACTER, _CELL = 6.4, 20
_VALUE_COLOUR, _NAME_COLOUR, _MARK_COLOUR = "#20242a", "#5b6472", "#1f5fa8"

Part = tuple[str, ...]
"""A variable, and fields inside it. Keys of maps are left out: `controller.partition`, `isr`."""


@dataclass(frozen=True, slots=True)
class PanelRow:
    """A line of a card: what it says of what (`name`, "" for a truth value); `cells` are the
    elements of a sequence."""

    name: str
    text: str
    cells: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """The line in words."""
        shown = " ".join(self.cells) if self.cells else self.text
        return f"{self.name} {shown}".strip()


Panel = tuple[tuple[PanelRow, ...], ...]
"""The lines of each card, by lane."""


def panel_of(machine: Machine, state: State, shown: Collection[Part]) -> Panel:
    """The `shown` parts of a state, by lane: what an actor has of each other one is on the card of
    that one. Histories are left out."""
    places = {who: lane for lane, (who, _) in enumerate(lanes_of(machine))}
    lanes: list[list[PanelRow]] = [[] for _ in places]
    for lane, variable, kind, value in list_placed(machine, state):
        if isinstance(kind, t.Map) and isinstance(value, tuple):
            domain = machine.universe.domain(kind.key)
            for key, each in zip(domain, value, strict=True):
                to = places.get((name_type(kind.key), key), lane)
                if to < len(lanes):
                    lanes[to] += _rows((variable,), kind.value, each, shown, machine.universe)
        elif lane < len(lanes):
            lanes[lane] += _rows((variable,), kind, value, shown, machine.universe)
    return tuple(map(tuple, lanes))


def _rows(
    part: Part, kind: t.Type, value: Value, shown: Collection[Part], universe: Universe
) -> Iterator[PanelRow]:
    """The rows of a part of the state, or of what is shown inside it."""
    if part in shown:
        yield _row(part[-1].rpartition(".")[2].replace("_", " "), kind, value, universe)
        return
    if not any(one[: len(part)] == part for one in shown):
        return
    match kind, value:
        case t.Option(inner=inner), _ if value is not None:
            yield from _rows(part, inner, value, shown, universe)
        case t.Record(fields=fields), tuple():
            for (field, inner), each in zip(fields, value, strict=True):
                yield from _rows((*part, field), inner, each, shown, universe)
        case t.Map(value=inner), tuple():
            for each in value:
                yield from _rows(part, inner, each, shown, universe)
        case _:
            return


def _row(name: str, kind: t.Type, value: Value, universe: Universe) -> PanelRow:
    match kind, value:
        case t.Bool(), bool():
            return PanelRow("", speak(name, "true" if value else "false"))
        case t.Seq(inner=inner), tuple() if value:
            return PanelRow(name, "", tuple(in_values(inner, each, universe) for each in value))
        case t.Seq(), _:
            return PanelRow(name, "empty")
        case t.Set(), frozenset() if not value:
            return PanelRow(name, "nobody" if isinstance(kind.inner, t.Sort) else "empty")
        case t.Option(inner=t.Sort()), None:
            return PanelRow(name, "nobody")
        case t.Record(), _:
            return PanelRow(name, in_values(kind, value, universe))
        case _:
            return PanelRow(name, show_value(kind, value, universe))


def say_panel(machine: Machine, panel: Panel) -> str:
    """A panel in words."""
    labels = (label for _, label in lanes_of(machine))
    cards = zip(labels, panel, strict=True)
    return "; ".join(
        f"{head}: {', '.join(row.said for row in rows)}" for head, rows in cards if rows
    )


def panel_in_svg(machine: Machine, before: Panel, after: Panel, title: str) -> str:
    """A panel as an SVG document, with what is not as it was `before` in bold: a broad card for
    each part, and below them small ones for the elements of lanes."""
    parts: list[str] = []
    broad: list[_Card] = []
    small: list[_Card] = []
    for ((_, element), head), rows, then in zip(lanes_of(machine), after, before, strict=True):
        if rows:
            card = _Card(head, rows, frozenset(rows) - frozenset(then))
            (broad if element is None else small).append(card)
    top = _EDGE
    for card in broad:
        parts += card.draw(_EDGE, top, _WIDTH - 2 * _EDGE)
        top += card.height(_WIDTH - 2 * _EDGE) + _GAP
    wide = (_WIDTH - 2 * _EDGE - (_ABREAST - 1) * _GAP) // _ABREAST
    for first in range(0, len(small), _ABREAST):
        row = small[first : first + _ABREAST]
        high = max(card.height(wide) for card in row)
        for place, card in enumerate(row):
            parts += card.draw(_EDGE + place * (wide + _GAP), top, wide, high)
        top += high + _GAP
    return document(
        (_WIDTH, top + _EDGE - _GAP), title, parts, say_panel(machine, after), bare=True
    )


@dataclass(frozen=True, slots=True)
class _Card:
    head: str
    rows: tuple[PanelRow, ...]
    changed: frozenset[PanelRow]

    def height(self, wide: int) -> int:
        lines = sum(1 if self._fits(row, wide) else 2 for row in self.rows)
        return _LINE * (lines + 1) + 2 * _INSIDE

    def _fits(self, row: PanelRow, wide: int) -> bool:
        """Whether name and value are on one line."""
        if row.cells:
            return _CHARACTER * len(row.name) + _CELL * len(row.cells) + 2 * _INSIDE + 6 <= wide
        return not row.name or _CHARACTER * (len(row.said) + 1) + 2 * _INSIDE <= wide

    def draw(self, left: int, top: int, wide: int, high: int = 0) -> Iterator[str]:
        """The card with its corner there; at least so high."""
        edge = f'stroke="{_MARK_COLOUR}" stroke-width="2"' if self.changed else 'stroke="#b8bec6"'
        yield (
            f'<rect x="{left}" y="{top}" width="{wide}" height="{high or self.height(wide)}"'
            f' rx="6" fill="#f6f7f9" {edge}/>'
        )
        y = top + _INSIDE + 13
        yield draw_text(left + _INSIDE, y, self.head, css='font-weight="bold"')
        for row in self.rows:
            y += _LINE
            ink = (
                f'fill="{_MARK_COLOUR}" font-weight="bold"'
                if row in self.changed
                else f'fill="{_VALUE_COLOUR}"'
            )
            x = left + _INSIDE
            if row.name:
                yield draw_text(x, y, row.name, css=f'fill="{_NAME_COLOUR}"')
                x += round(_CHARACTER * (len(row.name) + 1))
            if not self._fits(row, wide):
                x, y = left + _INSIDE + 6, y + _LINE
            if not row.cells:
                yield draw_text(x, y, row.text, css=ink)
            for cell in row.cells:
                yield (
                    f'<rect x="{x}" y="{y - 13}" width="{_CELL - 3}" height="16" fill="#ffffff"'
                    f' stroke="{_MARK_COLOUR}"/>'
                )
                yield draw_text(x + 5, y, cell, css=ink)
                x += _CELL
