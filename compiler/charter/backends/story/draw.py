"""A scene as text for a terminal, and as SVG: lanes from left to right, time downwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from html import escape
from itertools import zip_longest
from textwrap import wrap

from charter.backends.story.scene import Event, Message, Scene

_COLUMN, _WIDER, _WIDEST = 16, 20, 30
"""Characters of a lane in the terminal: as a rule; where a message needs them; where even its
values alone do."""

_BESIDE = 4
"""Characters of an arrow that are not its text, the lane that it begins at among them."""

_WIDE = 100
"""Characters of a line below."""

_LANE, _LEFT, _TOP, _LINE, _MOST = 280, 64, 56, 15, 42
_SHORT = 24
"""Characters of a line at a message's arrow."""

_PARTS = tuple(part / 20 for part in range(3, 18))
"""Where on a message's way its text may stand."""

_CHARACTER = 6.4
"""Width of a character, about."""


def in_text(scene: Scene) -> str:
    """The scene for a terminal. An arrow stands where its message arrives; one that nobody receives
    stands where it was sent, and ends before it arrives."""
    width = _width(scene)
    scene = _even(scene, lambda lanes: lanes * width - _BESIDE)
    rows = [scene.title, "", " " * 6 + "".join(lane.ljust(width) for lane in scene.lanes).rstrip()]
    for number, event in enumerate(scene.events):
        if scene.loop == number:
            rows.append("  ┌── from here on, again and again")
        first, *others = _lanes(scene, number, width)
        rows.append(f"{number + 1:>4}  {first}{event.title}")
        said = (*event.rules, *event.notes, *_unseen(scene, event, number, width))
        bars = "".join("│".ljust(width) for _ in scene.lanes)
        for lanes, text in zip_longest(others, said):
            rows.append(f"{'':6}{lanes or bars}{f'  {text}' if text else ''}".rstrip())
    if scene.end:
        mark = "✗" if scene.loop is None else "└──"
        rows.append(f"  {mark} {scene.end}")
    rows += (f"    {line}" for text in scene.why for line in wrap(text, _WIDE))
    return "\n".join(rows) + "\n"


def _width(scene: Scene) -> int:
    """Characters of a lane, so that messages have room."""
    least = max([_COLUMN, *(len(lane) + 2 for lane in scene.lanes)])
    wanted = [least]
    for message in scene.messages:
        lanes = abs(message.sender - message.receiver)
        if lanes:
            needed = [-(-(len(text) + _BESIDE) // lanes) for text in _texts(message)]
            wanted.append(needed[0] if needed[0] <= _WIDER else needed[-1])
    return max(least, min(max(wanted), _WIDEST))


def _even(scene: Scene, room: Callable[[int], int]) -> Scene:
    """The scene with all messages of a channel told alike: by their values alone, if one of them
    has no `room` for more, so many lanes as it crosses."""
    narrow = {
        m.place[0]
        for m in scene.messages
        if len(_texts(m)[0]) > room(abs(m.sender - m.receiver)) and m.sender != m.receiver
    }
    brief = (replace(m, is_brief=m.place[0] in narrow) for m in scene.messages)
    return replace(scene, messages=tuple(brief))


def _texts(message: Message) -> tuple[str, ...]:
    """What may stand at an arrow: a message, or where that has no room, its values alone."""
    behind = " (copy)" if message.is_copy else ""
    texts = message.values + behind, message.text + behind
    return texts[:1] if message.is_brief else texts[::-1]


def _fitting(message: Message, room: int) -> str:
    """The text that fits; "" if none does."""
    return next((text for text in _texts(message) if len(text) <= room), "")


def _unseen(scene: Scene, event: Event, number: int, width: int) -> Iterator[str]:
    """What changed in channels by messages that have no arrow (they stay on one lane), and texts of
    messages whose arrows are too short."""
    within = (m for m in scene.messages if m.sender == m.receiver)
    places = {m.place for m in within if number in (m.sent, m.received)}
    yield from (note for place, note in event.mail if place in places)
    for message in _arrows(scene, number):
        if not _fitting(message, abs(message.sender - message.receiver) * width - _BESIDE):
            yield f"{'sends' if message.received is None else 'receives'} {message.text}"


def _arrows(scene: Scene, number: int) -> list[Message]:
    """The messages whose arrows stand at an event, those that arrive first."""
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
    line = "─" if message.received is not None else "╌"
    body = list(_fitting(message, room + 1 - _BESIDE).center(room, line))
    ahead = (-1, -2) if is_rightwards else (0, 1)
    if message.received is None:
        body[ahead[0]], body[ahead[1]] = " ", "▸" if is_rightwards else "◂"
    else:
        body[ahead[0]] = "✗" if message.is_lost else "▶" if is_rightwards else "◀"
        if not message.is_lost:
            cells[message.sender * width] = "○"
    cells[begin + 1 : end] = body


# --- SVG -----------------------------------------------------------------------------------------


def in_svg(scene: Scene) -> str:
    """The scene as an SVG document that stands alone."""
    scene = _even(scene, lambda _: _SHORT)
    tops, bottom = _tops(scene)
    width = _LEFT + _LANE * len(scene.lanes) + 20
    said = _below(scene, width)
    height = bottom + (34 if scene.end else 10) + _LINE * len(said) + (8 if said else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" font-size="12">',
        f"<title>{escape(scene.title)}</title>",
        f"<desc>{escape(_description(scene))}</desc>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8"'
        ' markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#1f5fa8"/></marker>'
        "</defs>",
        _text(16, 20, scene.title, css='font-weight="bold"'),
    ]
    for position, lane in enumerate(scene.lanes):
        x = _x(position)
        parts.append(f'<path d="M{x} {_TOP} V{bottom}" stroke="#b8bec6" stroke-width="1.5"/>')
        parts.append(_text(x, _TOP - 8, lane, css='font-weight="bold" text-anchor="middle"'))
    parts += (_line(message, _way(message, tops, bottom)) for message in scene.messages)
    parts += _dots(scene, tops)
    parts += _labels(scene, tops, bottom)
    parts += _frame(scene, tops, bottom, width)
    parts += (
        _text(18, bottom + 44 + _LINE * i, line, css='fill="#20242a"')
        for i, line in enumerate(said)
    )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _below(scene: Scene, width: int) -> list[str]:
    """The lines below the picture."""
    most = max(60, int((width - 36) / _CHARACTER))
    return [line for text in scene.why for line in wrap(text, most, subsequent_indent="   ")]


def _rows(event: Event) -> list[tuple[str, str, str]]:
    """The lines beside an event: text, weight, colour."""
    said = [(event.title, "bold", "#20242a")]
    said += [(rule, "normal", "#6b7280") for rule in event.rules]
    said += [(note, "normal", "#9a3412") for note in event.notes]
    return [(line, weight, fill) for text, weight, fill in said for line in _wrapped(text)]


def _wrapped(text: str) -> list[str]:
    """A few lines; what does not fit is left out."""
    return wrap(
        text, _MOST, subsequent_indent="   ", break_on_hyphens=False, max_lines=3, placeholder=" …"
    )


def _x(lane: int) -> int:
    return _LEFT + lane * _LANE + 16


def _tops(scene: Scene) -> tuple[list[int], int]:
    """The height of each event's dot, and where the last one ends."""
    tops, y = [], _TOP + 22
    for event in scene.events:
        tops.append(y)
        y += _LINE * len(_rows(event)) + 18
    return tops, y


def _dots(scene: Scene, tops: list[int]) -> Iterator[str]:
    """The events and their numbers."""
    for number, (event, y) in enumerate(zip(scene.events, tops, strict=True), 1):
        yield f'<circle cx="{_x(event.lane)}" cy="{y}" r="5" fill="#20242a"/>'
        yield _text(14, y + 4, str(number), css='fill="#6b7280"')


def _labels(scene: Scene, tops: list[int], bottom: int) -> Iterator[str]:
    """What is said beside events and messages. Lines do not cross it: below all of it lies the
    same text in white and wider (an element of its own, as few programs paint a stroke below the
    letters that it belongs to)."""
    labels = [
        _Label(_x(event.lane) + 11, y + 4 + line * _LINE, *row)
        for event, y in zip(scene.events, tops, strict=True)
        for line, row in enumerate(_rows(event))
    ]
    for message in scene.messages:
        labels += _of_message(message, _way(message, tops, bottom), labels)
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
        """Whether the two, one line each, lie on each other."""
        left, right = sorted((self, other), key=lambda label: label.x)
        return (
            abs(self.y - other.y) < _LINE + 4 and left.x + _CHARACTER * len(left.text) + 4 > right.x
        )

    def svg(self, css: str = "") -> str:
        """An element; what `css` does not say is that of the group around it."""
        return (
            f'<text x="{self.x}" y="{self.y}" font-weight="{self.weight}" xml:space="preserve"'
            f"{css}>{escape(self.text)}</text>"
        )


def _text(x: int, y: int, text: str, *, css: str) -> str:
    return f'<text x="{x}" y="{y}" {css}>{escape(text)}</text>'


_Way = tuple[tuple[int, int], tuple[int, int]]
"""The two ends of a message on the page."""


def _way(message: Message, tops: list[int], bottom: int) -> _Way:
    """From the dot that sent a message to the one that received it, or to the end of the lane."""
    last = bottom if message.received is None else tops[message.received]
    return (_x(message.sender), tops[message.sent]), (_x(message.receiver), last)


def _line(message: Message, way: _Way) -> str:
    (x, y), (u, v) = way
    arrives = message.received is not None and not message.is_lost
    style = ' marker-end="url(#head)"' if arrives else ' stroke-dasharray="4 3"'
    bend = f"M{x} {y} Q{x - 40} {(y + v) // 2} {u} {v}" if x == u else f"M{x} {y} L{u} {v}"
    return (
        f'<g><title>{escape(message.text)}</title><path d="{bend}" fill="none" stroke="#1f5fa8"'
        f' stroke-width="1.4"{style}/></g>'
    )


def _of_message(message: Message, way: _Way, others: list[_Label]) -> list[_Label]:
    """What stands at a message's line, where it meets the fewest others."""
    lines = [_fitting(message, _SHORT)]
    if not lines[0]:
        text = _texts(message)[-1]
        lines = wrap(text, _SHORT, break_long_words=False, break_on_hyphens=False)
    if message.is_lost:
        lines[-1] += " ✗"
    far = abs(message.sender - message.receiver) > 1
    parts = sorted(_PARTS, key=lambda part: abs(part - (1 / 3 if far else 1 / 2)))
    places = [_along(lines, way, part) for part in parts]
    return min(places, key=lambda labels: sum(a.meets(b) for a in labels for b in others))


def _along(lines: list[str], way: _Way, part: float) -> list[_Label]:
    """Lines of text at a part of a message's way, upwards from there."""
    (x, y), (u, v) = way
    middle = round(x + (u - x) * part if x != u else x - 80 * part * (1 - part))
    low = round(y + (v - y) * part) - 4
    return [
        _Label(middle - 3 * len(line), low - up * _LINE, line, "normal", "#1f5fa8")
        for up, line in enumerate(reversed(lines))
    ]


def _frame(scene: Scene, tops: list[int], bottom: int, width: int) -> Iterator[str]:
    """What is wrong at the end, and the part that repeats."""
    if scene.loop is not None and scene.loop < len(tops):
        y = tops[scene.loop] - 12
        yield (
            f'<path d="M40 {bottom} H32 V{y} H40" fill="none" stroke="#b42318" stroke-width="2"/>'
        )
    if scene.end:
        box = f'x="8" y="{bottom + 4}" width="{width - 16}" height="24" rx="4"'
        yield f'<rect {box} fill="#fde8e6"/>'
        yield _text(18, bottom + 21, scene.end, css='fill="#b42318" font-weight="bold"')


def _description(scene: Scene) -> str:
    steps = "; ".join(f"{i}. {event.title}" for i, event in enumerate(scene.events, 1))
    return f"Lanes {', '.join(scene.lanes)}. Steps: {steps}. {scene.end}"
