"""Draws a scene as text for a terminal and as SVG: lanes from left to right, time downwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from html import escape
from itertools import chain, zip_longest
from math import hypot
from textwrap import wrap

from charter.render.story.scene import Event, Message, Scene
from charter.render.story.svg import LINE_HEIGHT, document, draw_finding, draw_text

_COLUMN, _WIDER, _WIDEST = 16, 20, 30
"""Characters of a lane in the terminal: normally; if a message needs more; if even its values alone
need more."""

_BESIDE = 4
"""Characters of an arrow that are not text, with the lane where it begins."""

_WIDE = 100
"""Characters of a line below."""

_LEFT, _TOP, _MOST = 80, 56, 42
_QUIET, _CROSSED, _BOLD = 120, 190, 7.2
"""The least width of a lane in the SVG, that of one whose messages cross to the next lane, and the
width of a bold character."""

_LINES = 3
"""The most lines of a change that is shown with its value before."""
_SHORT = 24
"""Characters of a line at a message's arrow."""

_LONG, _MANY = 36, 4
"""For a message that does not fit on one line: characters of a line, and the most lines."""

_PARTS = tuple(part / 20 for part in range(3, 18))
"""Positions of a text along the line of its message."""

_CLEAR, _BENDS = 10, (0, -30, 30, -60, 60, -90, 90)
"""The distance of a line from the dots of other events, and how far it may be bent for that."""

_CHARACTER = 6.4
"""Approximate width of a character."""


_Dot = tuple[int, int]
_Point = tuple[float, float]

_Way = tuple[_Point, _Point, _Point]
"""The line of a message: its start, the control point of its bend, its end."""


def in_text(scene: Scene) -> str:
    """The scene for a terminal. An arrow is drawn at the event that receives its message; that of a
    message that nobody receives is drawn where it was sent, and ends early."""
    width = _width(scene)
    scene = _even(scene, lambda lanes: lanes * width - _BESIDE)
    rows = [scene.title, "", " " * 6 + "".join(lane.ljust(width) for lane in scene.lanes).rstrip()]
    for number, event in enumerate(scene.events):
        if scene.loop == number:
            rows.append("  ┌── these steps repeat for ever")
        first, *others = _lanes(scene, number, width)
        rows.append(f"{number + 1:>4}  {first}{event.title}")
        said = (*event.rules, *event.notes, *_list_unseen(scene, event, number, width))
        bars = "".join("│".ljust(width) for _ in scene.lanes)
        for lanes, text in zip_longest(others, said):
            rows.append(f"{'':6}{lanes or bars}{f'  {text}' if text else ''}".rstrip())
    if scene.end:
        mark = "✗" if scene.loop is None else "└──"
        rows.append(f"  {mark} {scene.end}")
    rows += (f"    {line}" for text in scene.why for line in wrap(text, _WIDE))
    return "\n".join(rows) + "\n"


def _width(scene: Scene) -> int:
    """The characters of a lane, so that messages fit."""
    least = max([_COLUMN, *(len(lane) + 2 for lane in scene.lanes)])
    most = min(_WIDEST, _WIDE // len(scene.lanes))
    wanted = [least]
    for message in scene.messages:
        lanes = abs(message.sender - message.receiver)
        if lanes:
            needed = [-(-(len(text) + _BESIDE) // lanes) for text in _texts(message)]
            best = needed[0] if needed[0] <= _WIDER else needed[-1]
            wanted += [best] if best <= most else []
    return max(wanted)


def _even(scene: Scene, room: Callable[[int], int]) -> Scene:
    """The scene with all messages of a channel shown in the same way: by their values alone if one
    of them does not fit otherwise and all values fit."""
    across = [m for m in scene.messages if m.sender != m.receiver]
    rooms = [(m, room(abs(m.sender - m.receiver))) for m in across]
    narrow = {m.place[0] for m, most in rooms if len(_texts(m)[0]) > most}
    narrow -= {m.place[0] for m, most in rooms if len(_texts(m)[-1]) > most}
    brief = (replace(m, is_brief=m.place[0] in narrow) for m in scene.messages)
    return replace(scene, messages=tuple(brief))


def _texts(message: Message) -> tuple[str, ...]:
    """The possible texts at an arrow, longest first: the message, its values alone."""
    behind = " (copy)" if message.is_copy else ""
    texts = message.values + behind, message.text + behind
    return texts[:1] if message.is_brief else texts[::-1]


def _fitting(message: Message, room: int) -> str:
    """The text that fits; "" if none does."""
    return next((text for text in _texts(message) if len(text) <= room), "")


def _list_unseen(scene: Scene, event: Event, number: int, width: int) -> Iterator[str]:
    """Changes of channels by messages without an arrow (they stay on one lane), and texts of
    messages whose arrows are too short."""
    within = (m for m in scene.messages if m.sender == m.receiver)
    places = {m.place for m in within if number in (m.sent, m.received)}
    yield from (note for place, note in event.mail if place in places)
    for message in _arrows(scene, number):
        if not _fitting(message, abs(message.sender - message.receiver) * width - _BESIDE):
            yield f"{'sends' if message.received is None else 'receives'} {message.text}"


def _arrows(scene: Scene, number: int) -> list[Message]:
    """The messages whose arrows are drawn at an event, received ones first."""
    across = [m for m in scene.messages if m.sender != m.receiver]
    waiting = (m for m in across if m.received is None and m.sent == number)
    return [*(m for m in across if m.received == number), *waiting]


def _lanes(scene: Scene, number: int, width: int) -> list[str]:
    """The lanes at one event: a dot and arrows, on as many rows as these need."""
    bars = "".join("│".ljust(width) for _ in scene.lanes)
    rows = [list(bars)]
    for message in _arrows(scene, number):
        begin, end = sorted((message.sender, message.receiver))
        span = slice(begin * width + 1, end * width)
        if all("".join(row[span]) != bars[span] for row in rows):
            rows.append(list(bars))
        _arrow(next(row for row in rows if "".join(row[span]) == bars[span]), message, width)
    rows[0][scene.events[number].lane * width] = "●"
    return ["".join(row) for row in rows]


def _arrow(cells: list[str], message: Message, width: int) -> None:
    begin, end = sorted((message.sender * width, message.receiver * width))
    room = end - begin - 1
    is_rightwards = message.sender < message.receiver
    text = _fitting(message, room + 1 - _BESIDE)
    if message.received is None:
        body = text.center(room - 2, "╌")
        body = f"{body}▸ " if is_rightwards else f" ◂{body}"
    else:
        head = "✗" if message.is_lost else "▶" if is_rightwards else "◀"
        body = text.center(room, "─")
        body = body[:-1] + head if is_rightwards else head + body[1:]
        if not message.is_lost:
            cells[message.sender * width] = "○"
    cells[begin + 1 : end] = body


# --- SVG -----------------------------------------------------------------------------------------


def in_svg(scene: Scene) -> str:
    """The scene as an SVG document that stands alone."""
    scene = _even(scene, lambda _: _SHORT)
    tops, bottom = _tops(scene)
    *lanes, width = _lefts(scene)
    said = _below(scene, width)
    height = bottom + (34 if scene.end else 10) + LINE_HEIGHT * len(said) + (8 if said else 0)
    parts: list[str] = []
    for x, lane in zip(lanes, scene.lanes, strict=True):
        parts.append(f'<path d="M{x} {_TOP} V{bottom}" stroke="#b8bec6" stroke-width="1.5"/>')
        parts.append(draw_text(x, _TOP - 8, lane, css='font-weight="bold" text-anchor="middle"'))
    dots = [(lanes[event.lane], y) for event, y in zip(scene.events, tops, strict=True)]
    ways = [_way(message, dots, (lanes[message.receiver], bottom)) for message in scene.messages]
    parts += map(_line, scene.messages, ways)
    parts += _dots(dots)
    heads = [
        _Label(x - round(_BOLD * len(lane) / 2), _TOP - 8, lane, "bold", "")
        for x, lane in zip(lanes, scene.lanes, strict=True)
    ]
    parts += _labels(scene, dots, ways, heads)
    parts += _frame(scene, tops, bottom)
    parts += draw_finding(bottom + 4, width, scene.end, said)
    return document((width, height), scene.title, parts, _description(scene))


def _below(scene: Scene, width: int) -> list[str]:
    """The lines below the picture."""
    most = max(60, int((width - 36) / _CHARACTER))
    return [line for text in scene.why for line in wrap(text, most, subsequent_indent="   ")]


def _rows(event: Event) -> list[tuple[str, str, str]]:
    """The lines beside an event: text, weight, colour."""
    said = [(event.title, "bold", "#20242a")]
    said += [(rule, "normal", "#6b7280") for rule in event.rules]
    said += [(_short(note), "normal", "#9a3412") for note in event.notes]
    return [(line, weight, fill) for text, weight, fill in said for line in _wrap(text)]


def _short(note: str) -> str:
    """A change; if it is long, without the value before."""
    path, colon, change = note.partition(": ")
    _, arrow, after = change.partition(" → ")
    return note if len(_wrap(note)) <= _LINES or not arrow else f"{path}{colon}…{arrow}{after}"


def _wrap(text: str) -> list[str]:
    return wrap(text, _MOST, subsequent_indent="   ", break_on_hyphens=False)


def _lefts(scene: Scene) -> list[int]:
    """Where each lane is, and where the picture ends: each is as wide as its texts."""
    count = len(scene.lanes)
    wide = [max(_QUIET, (len(lane) + 2) * _BOLD) for lane in scene.lanes]
    for event in scene.events:
        texts = [
            len(text) * (_BOLD if weight == "bold" else _CHARACTER)
            for text, weight, _ in _rows(event)
        ]
        wide[event.lane] = max(wide[event.lane], max(texts) + 40)
    for message in scene.messages:
        first, last = sorted((message.sender, message.receiver))
        for lane in range(first, last):
            wide[lane] = max(wide[lane], _CROSSED)
    lefts = [_LEFT + sum(map(round, wide[:lane])) for lane in range(count + 1)]
    return [*lefts[:-1], max(lefts[-1], round(_BOLD * len(scene.title)) + 40)]


def _tops(scene: Scene) -> tuple[list[int], int]:
    """The height of each event's dot, and where the last one ends."""
    tops, y = [], _TOP + 22
    for event in scene.events:
        tops.append(y)
        y += LINE_HEIGHT * len(_rows(event)) + 18
    waits = any(m.received is None and m.sender != m.receiver for m in scene.messages)
    return tops, y + (2 * LINE_HEIGHT if waits else 0)


def _dots(dots: list[_Dot]) -> Iterator[str]:
    """The events and their numbers."""
    for number, (x, y) in enumerate(dots, 1):
        yield f'<circle cx="{x}" cy="{y}" r="5" fill="#20242a"/>'
        yield draw_text(14, y + 4, str(number), css='fill="#6b7280"')


def _labels(scene: Scene, dots: list[_Dot], ways: list[_Way], heads: list[_Label]) -> Iterator[str]:
    """The texts beside events and messages. Below each text the same text is drawn in white and
    wider, so that lines do not cross it. (It is an element of its own: few programs draw a stroke
    below its letters.) `heads` are the titles of lanes."""
    labels = [
        _Label(x + 17, y + 4 + line * LINE_HEIGHT, *row)
        for event, (x, y) in zip(scene.events, dots, strict=True)
        for line, row in enumerate(_rows(event))
    ]
    points = [[_at(way, part / 40) for part in range(41)] for way in ways]
    for number, message in enumerate(scene.messages):
        others = (points[i] for i in range(len(ways)) if i != number)
        taken = _Taken([*heads, *labels], dots)
        labels += _of_message(message, ways[number], taken, list(chain.from_iterable(others)))
    yield (
        '<g aria-hidden="true" fill="#ffffff" stroke="#ffffff" stroke-width="3"'
        ' stroke-linejoin="round">'
    )
    yield from (label.svg() for label in labels)
    yield "</g>"
    yield from (label.svg(f' fill="{label.fill}"') for label in labels)


@dataclass(frozen=True, slots=True)
class _Label:
    x: int
    y: int
    text: str
    weight: str
    fill: str

    def meets(self, other: _Label) -> bool:
        """Whether two labels of one line overlap."""
        if abs(self.y - other.y) >= LINE_HEIGHT + 4:
            return False
        left, right = (self, other) if self.x <= other.x else (other, self)
        return left.x + _CHARACTER * len(left.text) + 4 > right.x

    def covers(self, points: Iterable[_Point]) -> bool:
        """Whether the label covers one of the points."""
        left, middle, right = self.x, self.y, self.x + _CHARACTER * len(self.text)
        return any(left <= x <= right and -LINE_HEIGHT < y - middle < 4 for x, y in points)

    def svg(self, css: str = "") -> str:
        """An element; what `css` does not say is that of the group around it."""
        return (
            f'<text x="{self.x}" y="{self.y}" font-weight="{self.weight}" xml:space="preserve"'
            f"{css}>{escape(self.text)}</text>"
        )


@dataclass(frozen=True, slots=True)
class _Taken:
    """What labels of messages must not cover."""

    labels: list[_Label]
    dots: list[_Dot]

    def leaves(self, labels: list[_Label]) -> bool:
        """Whether there is room for the labels on the page, between texts and dots."""
        on_page = all(label.x >= 4 and label.y > _TOP for label in labels)
        return (
            on_page
            and not any(label.meets(other) for label in labels for other in self.labels)
            and not any(label.covers(self.dots) for label in labels)
        )


def _way(message: Message, dots: list[_Dot], end: _Dot) -> _Way:
    """The line from the dot of the sender to the dot of the receiver, or to the `end` of its lane;
    bent if it would cross the dot of another event."""
    x, y = dots[message.sent]
    u, v = end if message.received is None else (end[0], dots[message.received][1])
    if x == u:
        return (x, y), (x - 40, (y + v) // 2), (u, v)
    between = [(a, b) for a, b in dots if min(x, u) < a < max(x, u)]
    ways = [((x, y), ((x + u) / 2, (y + v) / 2 + bend), (u, v)) for bend in _BENDS]

    def is_clear(way: _Way) -> bool:
        return all(abs(_at(way, (a - x) / (u - x))[1] - b) > _CLEAR for a, b in between)

    return next(filter(is_clear, ways), ways[0])


def _at(way: _Way, part: float) -> _Point:
    """The point at a part of a way."""
    (x, y), (a, b), (u, v) = way
    first, second, third = (1 - part) ** 2, 2 * part * (1 - part), part**2
    return first * x + second * a + third * u, first * y + second * b + third * v


def _line(message: Message, way: _Way) -> str:
    (x, y), (a, b), (u, v) = way
    arrives = message.received is not None and not message.is_lost
    style = "" if arrives else ' stroke-dasharray="4 3"'
    return (
        f"<g><title>{escape(message.text)}</title>"
        f'<path d="M{x} {y} Q{a:g} {b:g} {u} {v}" fill="none" stroke="#1f5fa8"'
        f' stroke-width="1.4"{style}/>{_head(way) if arrives else ""}</g>'
    )


def _head(way: _Way) -> str:
    """The head of an arrow, at the edge of the dot. (Programs turn markers in different ways.)"""
    _, (a, b), (u, v) = way
    far = hypot(u - a, v - b)
    along, across = (u - a) / far, (v - b) / far
    corners = ((5, 0), (14, 4.5), (14, -4.5))
    points = (
        f"{u - back * along - side * across:.1f},{v - back * across + side * along:.1f}"
        for back, side in corners
    )
    return f'<polygon points="{" ".join(points)}" fill="#1f5fa8"/>'


def _of_message(message: Message, way: _Way, taken: _Taken, lines: list[_Point]) -> list[_Label]:
    """The labels of a message where they cover nothing that is `taken`, and the fewest `lines` of
    other messages. What fits nowhere is left out: the line has it as its title."""
    far = abs(message.sender - message.receiver) > 1
    parts = sorted(_PARTS, key=lambda part: abs(part - (1 / 3 if far else 1 / 2)))
    for rows in _wordings(message):
        places = [_along(rows, _at(way, part)) for part in parts]
        free = [labels for labels in places if taken.leaves(labels)]
        clear = (labels for labels in free if not any(label.covers(lines) for label in labels))
        if free:
            return next(clear, free[0])
    return []


def _wordings(message: Message) -> Iterator[list[str]]:
    """The lines that a message may have at its arrow, the best first."""
    lost = " ✗" if message.is_lost else ""
    short = _fitting(message, _SHORT)
    if short:
        yield [short + lost]
    for text in _texts(message):
        rows = wrap(text, _LONG, break_long_words=False)
        if 0 < len(rows) <= _MANY and text != short:
            yield [*rows[:-1], rows[-1] + lost]
    if lost:
        yield ["✗"]


def _along(rows: list[str], point: _Point) -> list[_Label]:
    """Lines of text, upwards from a point on a message's line."""
    x, y = round(point[0]), round(point[1]) - 4
    return [
        _Label(x - 3 * len(row), y - up * LINE_HEIGHT, row, "normal", "#1f5fa8")
        for up, row in enumerate(reversed(rows))
    ]


def _frame(scene: Scene, tops: list[int], bottom: int) -> Iterator[str]:
    """The frame around the steps that repeat."""
    if scene.loop is not None and scene.loop < len(tops):
        y = tops[scene.loop] - 12
        yield (
            f'<path d="M40 {bottom} H32 V{y} H40" fill="none" stroke="#b42318" stroke-width="2"/>'
        )


def _description(scene: Scene) -> str:
    steps = "; ".join(f"{i}. {event.title}" for i, event in enumerate(scene.events, 1))
    return f"Lanes {', '.join(scene.lanes)}. Steps: {steps}. {scene.end}"
