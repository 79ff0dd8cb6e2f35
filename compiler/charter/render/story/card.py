"""Draws one state: a card for each lane of a space-time diagram, with what its actor has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap

from charter.core import types as t
from charter.core.nodes import Value
from charter.render.story.scene import lanes_of, name_type
from charter.render.story.svg import document, draw_finding, draw_text
from charter.render.story.words import in_values
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.shown_values import show_value
from charter.semantics.values import Universe

_WIDE, _GAP, _LINE, _TOP, _MOST = 264, 16, 18, 40, 36
_CHARACTER, _CELLS = 6.6, 10
"""The width of a character, and the most elements of a sequence that are drawn one by one."""
_WIDEST = 90
"""Characters of a line below the cards."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of a card; `cells` are the elements of a sequence behind it."""

    text: str
    depth: int = 0
    cells: tuple[str, ...] = ()


def state_in_svg(
    machine: Machine, state: State, title: str, end: str = "", why: Sequence[str] = ()
) -> str:
    """A state as an SVG document. Histories, and what bounds a search, are left out; so are entries
    of maps that have nothing. Below it stand what is found in it (`end`), and the reason."""
    labels = [label for _, label in lanes_of(machine)]
    cards: list[list[_Row]] = [[] for _ in (*labels, "")]
    for lane, variable, kind, value in list_placed(machine, state):
        name = variable.rpartition(".")[2]
        cards[lane] += _rows(name, kind, value, machine.universe)
    heads = [*labels, "the whole"]
    shown = [(head, rows) for head, rows in zip(heads, cards, strict=True) if rows]
    width = max(len(shown) * (_WIDE + _GAP) + _GAP, round(7.2 * len(title)) + 2 * _GAP)
    bottom = _TOP + _LINE * (max((len(rows) for _, rows in shown), default=0) + 2)
    said = [line for text in why for line in wrap(text, _WIDEST, subsequent_indent="   ")]
    width = max(width, round(_CHARACTER * max(map(len, [end, *said]))) + 2 * _GAP)
    height = bottom + (_LINE * (len(said) + 1) if end else 0) + _GAP
    parts: list[str] = []
    for place, (head, rows) in enumerate(shown):
        parts += _card(_GAP + place * (_WIDE + _GAP), head, rows)
    if end:
        parts += draw_finding(bottom, width, end, said)
    return document((width, height), title, parts)


def list_placed(machine: Machine, state: State) -> Iterator[tuple[int, str, t.Type, Value]]:
    """The variables by lane, an entry for each lane where they are maps of what lanes stand for;
    behind the last lane what is of none."""
    lanes = [who for who, _ in lanes_of(machine)]
    parts = {p.name for s in machine.model.systems if s.name == machine.instance.machine
             for p in s.parts}  # fmt: skip
    for variable in machine.variables:
        part, dot, _ = variable.name.partition(".")
        kind, value = variable.type, state[variable.name]
        if variable.kind == "ghost" or (dot and part not in parts):
            continue
        owner = (part, None) if dot else (machine.instance.machine, None)
        if owner in lanes:
            yield lanes.index(owner), variable.name, kind, value
        elif isinstance(kind, t.Map) and any(who == name_type(kind.key) for who, _ in lanes):
            domain = machine.universe.domain(kind.key)
            assert isinstance(value, tuple)
            for key, entry in zip(domain, value, strict=True):
                if (name_type(kind.key), key) in lanes:
                    yield lanes.index((name_type(kind.key), key)), variable.name, kind.value, entry
        else:
            yield len(lanes), variable.name, kind, value


def _rows(
    name: str, kind: t.Type, value: Value, universe: Universe, depth: int = 0
) -> Iterator[_Row]:
    match kind, value:
        case t.Option(inner=inner), _ if value is not None:
            yield from _rows(name, inner, value, universe, depth)
        case t.Record(fields=fields), tuple():
            yield _Row(name, depth)
            for (field, inner), part in zip(fields, value, strict=True):
                yield from _rows(field, inner, part, universe, depth + 1)
        case t.Map(key=key, value=inner), tuple():
            for at, entry in zip(universe.domain(key), value, strict=True):
                if entry not in (None, (), frozenset()):
                    shown = f"{name}[{show_value(key, at, universe)}]"
                    yield from _rows(shown, inner, entry, universe, depth)
        case t.Seq(inner=inner), tuple() if 0 < len(value) <= _CELLS:
            cells = tuple(in_values(inner, item, universe) for item in value)
            if sum(len(cell) + 2 for cell in cells) + len(name) + 2 * depth <= _MOST:
                yield _Row(name, depth, cells)
            else:
                yield _Row(name, depth)
                yield from (_Row(line, depth + 1) for c in cells for line in wrap(c, _MOST - 4))
        case _:
            text = f"{name}: {show_value(kind, value, universe)}"
            first, *others = wrap(text, _MOST - 2 * depth)
            yield _Row(first, depth)
            yield from (_Row(line, depth + 1) for line in others)


def _card(left: int, head: str, rows: list[_Row]) -> Iterator[str]:
    height = _LINE * (len(rows) + 1) + 12
    yield (
        f'<rect x="{left}" y="{_TOP}" width="{_WIDE}" height="{height}" rx="6" fill="#f6f7f9"'
        ' stroke="#b8bec6"/>'
    )
    yield draw_text(left + 10, _TOP + 19, head, css='font-weight="bold"')
    for number, row in enumerate(rows, 1):
        x, y = left + 10 + 12 * row.depth, _TOP + 19 + _LINE * number
        yield draw_text(x, y, row.text, css='fill="#20242a"')
        at = x + round(_CHARACTER * len(row.text)) + 8
        for cell in row.cells:
            wide = round(_CHARACTER * len(cell)) + 10
            yield (
                f'<rect x="{at}" y="{y - 13}" width="{wide}" height="16" fill="#ffffff"'
                ' stroke="#1f5fa8"/>'
            )
            yield draw_text(at + 5, y, cell, css='fill="#1f5fa8"')
            at += wide
