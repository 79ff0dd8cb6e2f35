"""Draws the space-time picture of a vector: one lane per element, time downwards; the deviating
step is marked and shows what was expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from charter.formats.canonical import Json
from conform.judging.places import UNKNOWN, ValuePlace
from conform.judging.written_values import show
from conform.reports import shapes
from conform.reports.lanes import FLAG, MANY, ONE, ROW, Field, Lanes, Mark, lanes
from conform.reports.shapes import Picture, Shape, chip_width, join_words, line, shape, words
from conform.reports.traces import ReportedStep, VectorTrace

_LEFT, _LANE, _HEAD, _TEXT = 34, 106, 30, 15
_STEPS = 40
_SAID = 4


@dataclass(frozen=True, slots=True)
class _Chip:
    """A drawn mark. `state`: held, new, gone, wrong (observed, not expected) or missing (expected,
    not observed)."""

    mark: Mark
    state: str


def spacetime(trace: VectorTrace, place: ValuePlace = UNKNOWN) -> Picture | None:
    """The picture of a vector; None if no state mentions an element of a sort. `place` is that of
    an observation."""
    drawn = trace.steps[:_STEPS]
    found = lanes_of(trace, place)
    if found is None:
        return None
    width = _LEFT + _LANE * len(found.names) + 8
    grounds, body, height = _rows(drawn, found, width)
    drawing = [*grounds, *_head(found, height), *body]
    return Picture(
        id=f"spacetime-{trace.id}",
        width=width,
        height=round(height) + 6,
        title=f"Vector {trace.id[:10]}, step by step",
        description=_description(trace, found),
        shapes=tuple(drawing),
        notes=tuple(_notes(trace, found)),
    )


def lanes_of(trace: VectorTrace, place: ValuePlace) -> Lanes | None:
    """The lanes of all states of a vector, observed and expected."""
    if trace.question is None:
        return None
    states: list[Json] = [step.state for step in trace.steps if step.state is not None]
    states += [_read_expected(step) for step in trace.steps if step.deviation]
    return lanes(states, trace.question.sorts, place)


def _description(trace: VectorTrace, found: Lanes) -> str:
    wrong = [str(step.number) for step in trace.deviations]
    which = f"step {wrong[0]} is" if len(wrong) == 1 else f"steps {join_words(wrong)} are"
    where = f"{which} not allowed" if wrong else "all allowed"
    return (
        f"Lanes {join_words(found.names)};"
        f" {len(trace.steps) - 1} steps from top to bottom; {where}."
        " The table of each step has the same in words."
    )


def _notes(trace: VectorTrace, found: Lanes) -> Iterator[str]:
    for field, held in found.steady:
        yield f"In every state, {field.name} holds {join_words(held)}."
    if len(trace.steps) > _STEPS:
        yield f"{len(trace.steps) - _STEPS} more steps are not drawn."


def _head(found: Lanes, height: float) -> Iterator[Shape]:
    for position, name in enumerate(found.names):
        x = _middle(position)
        yield line((x, _HEAD - 4), (x, height), shapes.LINE, 1.5)
        yield shape("rect", x=x - 30, y=3, width=60, height=22, rx=11, fill=shapes.PAPER,
                    stroke=shapes.INK)  # fmt: skip
        yield words(name, x, 18, "lane", text_anchor="middle")


def _middle(position: int) -> float:
    return _LEFT + _LANE * (position + 0.5)


def _rows(
    steps: tuple[ReportedStep, ...], found: Lanes, width: int
) -> tuple[list[Shape], list[Shape], float]:
    """The shapes behind the lanes, the shapes on the lanes, and the y position below the last
    row."""
    grounds: list[Shape] = []
    drawing: list[Shape] = []
    y = float(_HEAD)
    before: frozenset[Mark] = frozenset()
    for step in steps:
        top = y
        shown_row, y = _row(step, before, found, (top, width))
        grounds.append(_ground(step, top, y, width))
        drawing += shown_row
        if step.state is not None:
            before = found.marks(step.state)
    return grounds, drawing, y


def _row(
    step: ReportedStep, before: frozenset[Mark], found: Lanes, place: tuple[float, int]
) -> tuple[list[Shape], float]:
    top, width = place
    columns = _columns(step, before, found)
    call = shapes.wrap(step.short_call, width - _LEFT - 12, 4)
    text = [*((part, "call") for part in call), *((part, "reply") for part in _reply(step, width))]
    text += [(part, "said") for part in _list_differences(step, found, width)]
    body = top + 8 + _TEXT * len(text) + 8
    tallest = max((len(chips) for chips in columns.values()), default=0)
    bottom = body + max(1, tallest) * (shapes.CHIP + 4) + 6
    drawing = [*_event(step, text, top, width)]
    drawing += _actor(step, found, body - 4)
    for lane, chips in columns.items():
        x = _middle(found.names.index(lane))
        for position, chip in enumerate(chips):
            drawing += _chip(chip, found, x, body + 2 + position * (shapes.CHIP + 4))
    return drawing, bottom


def _reply(step: ReportedStep, width: int) -> list[str]:
    if not step.number or (step.status == "not judged" and step.state is None):
        return []
    return shapes.wrap(f"→ {step.answered}", width - _LEFT - 12, 2)


def _list_differences(step: ReportedStep, found: Lanes, width: int) -> list[str]:
    """Lines about the fields of a deviating step that differ and are not drawn as marks."""
    told = []
    for row in step.fields if step.deviation else ():
        if row.kind == "differs" and not row.path.startswith("reply") and not found.draws(row.path):
            sides = ["".join(token.text for token in side) for side in (row.observed, row.expected)]
            told.append(f"{short(row.path)}: {sides[0]}, charter: {sides[1]}")
    more = [f"and {len(told) - _SAID} more fields"] if len(told) > _SAID else []
    lines = [*told[:_SAID], *more]
    return [shapes.wrap(line, width - _LEFT - 12, 1)[0] for line in lines]


def _ground(step: ReportedStep, top: float, bottom: float, width: int) -> Shape:
    wrong = step.deviation is not None
    fill = shapes.WRONG_PAPER if wrong else "none"
    return shape("rect", x=0.5, y=top, width=width - 1, height=bottom - top, fill=fill,
                 stroke=shapes.WRONG if wrong else "none", rx=4)  # fmt: skip


def _event(
    step: ReportedStep, text: list[tuple[str, str]], top: float, width: int
) -> Iterator[Shape]:
    wrong = step.deviation is not None
    yield line((0, top), (width, top), shapes.LINE)
    yield words(str(step.number), 8, top + 19, "number" + (" wrong" if wrong else ""))
    for position, (content, css) in enumerate(text):
        y = top + 8 + _TEXT * (position + 0.75)
        yield shape("rect", x=_LEFT - 2, y=y - 11, width=len(content) * shapes.MONO + 5,
                    height=_TEXT, fill=shapes.WRONG_PAPER if wrong else shapes.PAPER)  # fmt: skip
        yield words(content, _LEFT, y, css)


def _actor(step: ReportedStep, found: Lanes, y: float) -> Iterator[Shape]:
    """A dot on the lane of the first argument that names an element."""
    named = [arg for arg in step.args.values() if isinstance(arg, str) and arg in found.names]
    if named:
        x = _middle(found.names.index(str(named[0])))
        colour = shapes.WRONG if step.deviation else shapes.INK
        yield line((_LEFT, y), (x, y), colour)
        yield shape("circle", cx=x, cy=y, r=3.5, fill=colour)


def _columns(step: ReportedStep, before: frozenset[Mark], found: Lanes) -> dict[str, list[_Chip]]:
    now = found.marks(step.state)
    wanted = found.marks(_read_expected(step)) if step.deviation else now
    if step.state is None and step.deviation is None:
        return {}
    held = {(mark.field, mark.lane) for mark in now}  # those at another position are not gone
    gone = [mark for mark in before if (mark.field, mark.lane) not in held]
    states: dict[Mark, str] = dict.fromkeys(gone, "gone")
    states |= {mark: "held" if mark in before or not step.number else "new" for mark in now}
    states |= dict.fromkeys(wanted - now, "missing")
    states |= dict.fromkeys(now - wanted, "wrong")
    columns: dict[str, list[_Chip]] = {}
    for mark in sorted(states, key=lambda m: (found.fields.index(m.field), m.lane, m.at)):
        columns.setdefault(mark.lane, []).append(_Chip(mark, states[mark]))
    return columns


def _read_expected(step: ReportedStep) -> Json:
    nearest: Mapping[str, Json] | None = step.deviation.nearest if step.deviation else None
    if nearest is None or (step.deviation and "image" in step.deviation.observed):
        return step.state
    return nearest.get("observation")


def colours(found: Lanes, field: Field) -> tuple[str, str]:
    """Background and text colour of a field."""
    if field.kind == ONE:
        return shapes.INK, shapes.PAPER
    if field.kind == FLAG:
        return shapes.PAPER, shapes.MUTED
    sets = [other for other in found.fields if other.kind in (MANY, ROW)]
    return shapes.TINTS[sets.index(field) % len(shapes.TINTS)]


def _chip(chip: _Chip, found: Lanes, x: float, y: float) -> Iterator[Shape]:
    label, at = found.label(chip.mark.field), chip.mark.told
    room = 15 - (len(at) + 1 if at else 0)
    label = label if len(label) <= room else label[: max(room - 1, 3)] + "…"
    label = f"{label} {at}" if at else label
    paper, ink = colours(found, chip.mark.field)
    border, width, dash, css = _style(chip.state, ink, chip.mark.field.kind)
    if chip.state in ("gone", "missing"):
        paper, ink = shapes.PAPER, border
    across = min(chip_width(label), _LANE - 4)
    yield shape("rect", told=_tell(chip), x=x - across / 2, y=y, width=across,
                height=shapes.CHIP, rx=4, fill=paper, stroke=border, stroke_width=width,
                stroke_dasharray=dash)  # fmt: skip
    yield words(label, x, y + 13, css, text_anchor="middle", fill=ink)


def _style(state: str, ink: str, kind: str) -> tuple[str, float, str, str]:
    """Border colour, its width, its dashes and the CSS class of the text."""
    match state:
        case "gone":
            return shapes.MUTED, 1, "2 2", "chip gone"
        case "missing":
            return shapes.WANTED, 1.8, "4 2", "chip strong"
        case "wrong":
            return shapes.WRONG, 2.4, "none", "chip strong"
        case "new":
            return (shapes.INK if kind == ONE else ink), 1.8, "none", "chip strong"
        case _:
            return ("none" if kind != FLAG else shapes.LINE), 1, "none", "chip"


def _tell(chip: _Chip) -> str:
    what = {
        "held": "as before", "new": "new in this step", "gone": "no longer",
        "wrong": "observed, but not allowed", "missing": "expected, but not observed",
    }[chip.state]  # fmt: skip
    where = f"{chip.mark.field.scope}." if chip.mark.field.scope else ""
    at = f" {chip.mark.told}" if chip.mark.at else ""
    return f"{chip.mark.lane}: {where}{chip.mark.field.name}{at} ({what})"


def short(path: str) -> str:
    """The last two parts of a path."""
    return ".".join(path.split(".")[-2:])


def scalar(value: Json, place: ValuePlace) -> str:
    """A value that is not a mark, shortened for a picture."""
    text = show(value, place)
    return text if len(text) <= 16 else text[:15] + "…"
