"""Finds and draws the modes of what a component keeps: which there are, and which operations lead
from one to another, as runs show it. A mode is what truth values, members of enums and the presence
of options say; numbers and sets are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from charter.core import types as t
from charter.core.nodes import Value
from charter.render.story.svg import document, draw_text
from charter.render.story.tell import Story
from charter.render.story.words import speak
from charter.semantics.expressions import State
from charter.semantics.machine import Machine

Ways = dict[tuple[str, str], dict[str, None]]
"""From one mode to another: the operations that lead there, in the order in which they were met."""

_BOX, _WIDE, _COLUMN, _LINE, _TOP = 34, 200, 132, 14, 48
_FEWEST, _MOST, _OPERATIONS = 3, 9, 5
"""How many modes make a picture, and the most operations that an arrow names."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A variable of a component, or an entry of one, before and after a step."""

    name: str
    type: t.Type
    before: Value
    after: Value


def modes_of(component: str, stories: Iterable[Story]) -> dict[str, Ways]:
    """For each variable of a component that has some modes how they follow each other; for "" the
    modes of all truth values and enums together."""
    found: dict[str, Ways] = {}
    for story in stories:
        for part in _parts(story.machine, component):
            for number, step in enumerate(story.steps):
                before, after = story.states[number : number + 2]
                called = [rule.rpartition(".")[2].partition("/")[0] for rule in step.rules
                          if not part or rule.startswith(part)]  # fmt: skip
                for name, old, new in _moves(story.machine, part, before, after):
                    ways = found.setdefault(name, {}).setdefault((old, new), {})
                    ways.update(dict.fromkeys(called or [step.operation]))
    return {name: ways for name, ways in found.items() if _FEWEST <= len(_modes(ways)) <= _MOST}


def _parts(machine: Machine, component: str) -> Iterator[str]:
    """The parts of a machine that are a component; "" if it is one itself."""
    if machine.instance.machine == component:
        yield ""
    for system in machine.model.systems:
        if system.name == machine.instance.machine:
            yield from (part.name for part in system.parts if part.component == component)


def _moves(
    machine: Machine, part: str, before: State, after: State
) -> Iterator[tuple[str, str, str]]:
    """The variables whose mode a step changes, with the modes."""
    is_many = any(p.name == part and p.index is not None for s in machine.model.systems
                  if s.name == machine.instance.machine for p in s.parts)  # fmt: skip
    plain: dict[int, list[_Entry]] = {}
    for variable in machine.variables:
        owner, _, name = variable.name.rpartition(".")
        if owner != part or variable.kind == "ghost":
            continue
        whole = _Entry(name, variable.type, before[variable.name], after[variable.name])
        for number, one in enumerate(_entries(whole) if is_many else [whole]):
            if isinstance(one.type, t.Bool | t.Enum):
                plain.setdefault(number, []).append(one)
                continue
            for entry in _entries(one):
                if entry.before != entry.after:
                    old, new = (_mode([(entry.type, name, v)]) for v in (entry.before, entry.after))
                    if old and new and old != new:
                        yield name, old, new
    for entries in plain.values():
        old = _mode([(e.type, e.name, e.before) for e in entries])
        new = _mode([(e.type, e.name, e.after) for e in entries])
        if old != new:
            yield "", old, new


def _entries(whole: _Entry) -> Iterator[_Entry]:
    """The entries of a map; what is no map is one entry."""
    if isinstance(whole.type, t.Map):
        assert isinstance(whole.before, tuple) and isinstance(whole.after, tuple)
        for old, new in zip(whole.before, whole.after, strict=True):
            yield _Entry(whole.name, whole.type.value, old, new)
    else:
        yield whole


def _mode(values: list[tuple[t.Type, str, Value]]) -> str:
    """The mode in words; "" if it has none."""
    return ", ".join(fact for kind, name, value in values for fact in _facts(kind, name, value))


def _facts(kind: t.Type, name: str, value: Value) -> Iterator[str]:
    match kind, value:
        case t.Bool(), bool():
            yield speak(name.replace("_", " "), "true" if value else "false")
        case t.Enum(), str():
            yield value
        case t.Union(), (str() as tag, *_):
            yield tag
        case t.Option(inner=t.Record() as record), tuple():
            yield from _facts(record, name, value)
        case t.Option(), _:
            yield f"no {name}" if value is None else name
        case t.Record(fields=fields), tuple():
            for (field, inner), part in zip(fields, value, strict=True):
                if isinstance(inner, t.Bool | t.Enum | t.Option):
                    yield from _facts(inner, field, part)
        case _:
            pass


def _modes(ways: Ways) -> list[str]:
    return list(dict.fromkeys(mode for way in ways for mode in way))


def modes_in_svg(ways: Ways, title: str) -> str:
    """The modes below each other, with a column for each arrow: those downwards on the right,
    those upwards on the left, the shortest next to the modes."""
    modes = _modes(ways)
    order = {mode: number for number, mode in enumerate(modes)}
    spans = sorted(ways, key=lambda way: (abs(order[way[0]] - order[way[1]]), order[way[0]]))
    down = [way for way in spans if order[way[0]] < order[way[1]]]
    up = [way for way in spans if order[way[0]] > order[way[1]]]
    step = _BOX + _LINE * (min(_OPERATIONS, max(map(len, ways.values()))) + 2)
    wide = max(_WIDE, *(round(6.6 * len(mode)) + 24 for mode in modes))
    left = 16 + _COLUMN * len(up)
    width = max(left + wide + _COLUMN * len(down) + 16, round(7.2 * len(title)) + 32)
    height = _TOP + step * (len(modes) - 1) + _BOX + 16
    said = "; ".join(f"from {old} to {new}: {', '.join(ways[old, new])}" for old, new in ways)
    parts: list[str] = []
    for side, found in ((1, down), (-1, up)):
        for number, (old, new) in enumerate(found):
            edge = left + wide if side > 0 else left
            out = edge + side * (30 + _COLUMN * number)
            ends = [_TOP + step * order[m] + _BOX // 2 + s for m, s in ((old, 5), (new, -5))]
            parts += _arrow((edge, out), ends, side)
            gap = (order[old] + order[new]) // 2
            at = out + 6 if side > 0 else out - _COLUMN + 36
            parts += _names(at, _TOP + step * gap + _BOX + _LINE, list(ways[old, new]))
    for mode, number in order.items():
        y = _TOP + step * number
        parts += (
            f'<rect x="{left}" y="{y}" width="{wide}" height="{_BOX}" rx="8" fill="#f6f7f9"'
            ' stroke="#20242a"/>',
            draw_text(left + wide // 2, y + 21, mode, css='text-anchor="middle"'),
        )
    return document((width, height), title, parts, said)


def _arrow(across: tuple[int, int], ends: list[int], side: int) -> Iterator[str]:
    (edge, out), (start, end) = across, ends
    yield (
        f'<path d="M{edge} {start} H{out} V{end} H{edge + 8 * side}" fill="none"'
        ' stroke="#1f5fa8" stroke-width="1.4"/>'
    )
    tip = f"{edge},{end} {edge + 10 * side},{end - 5} {edge + 10 * side},{end + 5}"
    yield f'<polygon points="{tip}" fill="#1f5fa8"/>'


def _names(x: int, y: int, operations: list[str]) -> Iterator[str]:
    """The operations of an arrow, with white below them."""
    shown = operations[:_OPERATIONS]
    if len(operations) > len(shown):
        shown.append(f"and {len(operations) - len(shown)} more")
    for number, name in enumerate(shown):
        for css in ('stroke="#ffffff" stroke-width="4" aria-hidden="true"', 'fill="#1f5fa8"'):
            yield draw_text(x, y + _LINE * number, name, css=css)
