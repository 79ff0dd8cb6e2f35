"""Draws a deviation with three states: before, expected, observed."""

from __future__ import annotations

from collections.abc import Iterator

from charter.formats.canonical import Json
from conform.judging.places import UNKNOWN, ValuePlace
from conform.reports import shapes
from conform.reports.lanes import ROW, Field, Lanes, Mark, in_order
from conform.reports.shapes import Picture, Shape, join_words, line, shape, words
from conform.reports.spacetime import colours, lanes_of, scalar, short
from conform.reports.traces import DeviationRow, VectorTrace
from conform.reports.values import flat, list_places

_ROW, _GAP, _CELL, _TOP = 25, 14, 24, 50
_SCALARS = 8


def state_picture(
    trace: VectorTrace, deviation: DeviationRow, place: ValuePlace = UNKNOWN
) -> Picture | None:
    """The picture; None for a fault, an image, or states that mention no element of a sort."""
    nearest = deviation.nearest
    observed = deviation.observed.get("observation")
    if nearest is None or observed is None or "image" in deviation.observed:
        return None
    panels = (deviation.before, nearest.get("observation"), observed)
    found = lanes_of(trace, place)
    if found is None:
        return None
    used = {mark.field for state in panels for mark in found.marks(state)}
    drawn = [field for field in found.fields if field in used]
    values = _scalars(panels, found)
    label = max(len(name) for name in [*(found.label(f) for f in drawn), *values, "1"])
    left = min(label, 26) * shapes.MONO + 14
    across = max(len(found.names) * _CELL, 72)
    drawing = [*_heads(found, left, across)]
    y = float(_TOP)
    for field in drawn:
        drawing += _members(field, found, panels, (left, across, y))
        y += _ROW
    for name, held in values.items():
        drawing += _values(name, held, (left, across, y))
        y += _ROW
    return Picture(
        id=f"state-{trace.id}-{deviation.step}",
        width=round(left + 3 * across + 2 * _GAP + 6),
        height=round(y) + 4,
        title=f"The state around step {deviation.step}",
        description=_description(found, panels),
        shapes=tuple(drawing),
        notes=tuple(
            f"In all three, {f.name} holds {join_words(held)}." for f, held in found.steady
        ),
    )


def _description(found: Lanes, panels: tuple[Json, Json, Json]) -> str:
    parts = []
    for name, state in zip(("before", "expected", "observed"), panels, strict=True):
        marks = found.marks(state)
        held = [f"{found.label(field)} {_members_text(field, marks)}" for field in found.fields]
        parts.append(f"{name}: {', '.join(held)}")
    return "; ".join(parts) + "."


def _members_text(field: Field, marks: frozenset[Mark]) -> str:
    held = ", ".join(in_order(mark for mark in marks if mark.field == field))
    return f"<{held}>" if field.kind == ROW else f"{{{held}}}"


def _heads(found: Lanes, left: float, across: float) -> Iterator[Shape]:
    for panel, name in enumerate(("before", "charter", "observed")):
        start = left + panel * (across + _GAP)
        yield words(name, start + across / 2, 14, "head", text_anchor="middle")
        yield line((start, 21), (start + across, 21), shapes.INK)
        for position, lane in enumerate(found.names):
            x = start + _offset(found, across, position)
            yield words(lane, x, 38, "lane", text_anchor="middle")


def _offset(found: Lanes, across: float, position: int) -> float:
    return across * (position + 0.5) / len(found.names)


def _members(
    field: Field, found: Lanes, panels: tuple[Json, Json, Json], place: tuple[float, float, float]
) -> Iterator[Shape]:
    left, across, y = place
    yield words(_cut(found.label(field), 26), left - 10, y + 12, "t", text_anchor="end")
    before, wanted, got = (
        {mark.lane: mark for mark in found.marks(state) if mark.field == field} for state in panels
    )
    paper, ink = colours(found, field)
    for panel, marks in enumerate((before, wanted, got)):
        start = left + panel * (across + _GAP)
        for position, lane in enumerate(found.names):
            mark = marks.get(lane)
            x = start + _offset(found, across, position)
            differs = panel > 0 and wanted.get(lane) != got.get(lane)
            told = f"{lane} {'is' if mark else 'is not'} in {found.label(field)}"
            told = f"{told} {mark.told}" if mark and mark.at else told
            if mark:
                yield shape("circle", told=told, cx=x, cy=y + 8, r=7, fill=paper, stroke=ink,
                            stroke_width=1.2)  # fmt: skip
                yield from _position(mark, x, y + 12, ink)
            else:
                yield shape("circle", told=told, cx=x, cy=y + 8, r=1.8, fill=shapes.LINE)
            if differs:
                yield _ring(x, y + 8, panel)


def _position(mark: Mark, x: float, y: float, ink: str) -> Iterator[Shape]:
    """The first position of an element in a sequence; the title of the circle has all."""
    if mark.at:
        more = "+" if len(mark.at) > 1 else ""
        yield words(f"{mark.at[0]}{more}", x, y, "lane", text_anchor="middle", fill=ink)


def _ring(x: float, y: float, panel: int) -> Shape:
    if panel == 2:
        return shape("circle", cx=x, cy=y, r=10.5, fill="none", stroke=shapes.WRONG, stroke_width=2)
    return shape("circle", cx=x, cy=y, r=10.5, fill="none", stroke=shapes.WANTED, stroke_width=1.6,
                 stroke_dasharray="4 2")  # fmt: skip


def _values(
    name: str, held: tuple[str, str, str], place: tuple[float, float, float]
) -> Iterator[Shape]:
    left, across, y = place
    yield words(_cut(name, 26), left - 10, y + 12, "t", text_anchor="end")
    for panel, text in enumerate(held):
        x = left + panel * (across + _GAP) + across / 2
        differs = panel > 0 and held[1] != held[2]
        css = "value" + ((" wanted" if panel == 1 else " wrong") if differs else "")
        yield words(text, x, y + 12, css, text_anchor="middle")


def _scalars(panels: tuple[Json, Json, Json], found: Lanes) -> dict[str, tuple[str, str, str]]:
    """The values that are not marks and are not equal in all three states; those that differ from
    the expectation first."""
    sides = [flat(state) for state in panels]
    places = {
        path: place for state in panels for path, place in list_places(state, found.place).items()
    }
    rows: list[tuple[bool, str, tuple[str, str, str]]] = []
    for path in dict.fromkeys(path for side in sides[1:] for path in side):
        if found.draws(path):
            continue
        first, wanted, got = (
            scalar(side[path], places[path]) if path in side else "—" for side in sides
        )
        if (first, wanted) != (wanted, got):
            rows.append((wanted == got, path, (first, wanted, got)))
    return {short(path): held for _, path, held in sorted(rows)[:_SCALARS]}


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else "…" + text[-(most - 1) :]
