"""Relabels opaque values in order of appearance, so that they compare as bytes.

An implementation picks its own numbers for opaque counters (`"@17"`) and its own texts for opaque
values (`"~Jx4"`). Along one vector they are renamed in order of first appearance, step by step:
a number greater than all before becomes the next label (`"#3"`), one that is not gets a label
between its neighbours (`"#2.5"`), and several new ones in the same step count in ascending order.
So two runs have equal labels exactly if equality and order of their values agree. `~` values
become `"~1"`, `"~2"` in the order in which the canonical traversal meets them.

What is already renamed can be renamed again (`"#2.5"` counts as the number 2.5): this is how an
expectation is cut down to what a target shows.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from charter.formats.canonical import Json

Number = Fraction

_LABEL = re.compile(r'"#[0-9]+(\.[0-9]+)?"')


@dataclass(frozen=True, slots=True)
class Labels:
    """The names given so far along one vector. Immutable: each step yields the next one.

    `numbers` are the ordered values seen, ascending, and `labels` their names, in parallel;
    `texts` are the unordered ones in order of appearance.
    """

    numbers: tuple[Number, ...] = ()
    labels: tuple[Number, ...] = ()
    texts: tuple[str, ...] = ()
    _names: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    def step(self, reply: Json, observation: Json) -> tuple[Json, Json, Labels]:
        """The reply and the observation of one step renamed (they are labelled as one), and the
        labels for the next step. Raises ValueError for an `@` value that is not a number."""
        seen: dict[str, None] = {}
        _collect(reply, seen)
        _collect(observation, seen)
        labels = self._with(seen)
        return labels._rename(reply), labels._rename(observation), labels

    @property
    def text(self) -> str:
        """All that was seen, with its names: equal for labels that are equal."""
        ordered = zip(self.numbers, self.labels, strict=True)
        return " ".join([*(f"{raw}={label}" for raw, label in ordered), *self.texts])

    def raw_names(self) -> dict[str, str]:
        """A copy of the table from raw value to label."""
        return dict(self._names)

    def _with(self, seen: dict[str, None]) -> Labels:
        new = [raw for raw in seen if raw not in self._names]
        if not new:
            return self
        names = dict(self._names)
        numbers, labels = list(self.numbers), list(self.labels)
        texts = list(self.texts)
        ordered = sorted({(_number(raw), raw) for raw in new if raw[0] != "~"})
        for number, raw in ordered:
            names[raw] = "#" + _decimal(_insert(number, numbers, labels))
        for raw in new:
            if raw[0] == "~":
                texts.append(raw)
                names[raw] = f"~{len(texts)}"
        return Labels(tuple(numbers), tuple(labels), tuple(texts), names)

    def _rename(self, value: Json) -> Json:
        if isinstance(value, str):
            return self._names[value] if value[:1] in _OPAQUE else value
        if isinstance(value, dict):
            return {key: self._rename(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._rename(item) for item in value]
        return value


def legend(texts: Iterable[str]) -> str:
    """What the labels of counters mean that texts hold, in one line; "" if they hold none."""
    found = [match for text in texts for match in _LABEL.finditer(text)]
    if not found:
        return ""
    between = ', "#1.5" lies between #1 and #2' if any(match[1] for match in found) else ""
    return f'"#1" < "#2": counters by their order, not their values{between}'


_OPAQUE = ("@", "~", "#")
_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,400})?")


def _collect(value: Json, seen: dict[str, None]) -> None:
    if isinstance(value, str):
        if value[:1] in _OPAQUE:
            seen[value] = None
    elif isinstance(value, dict):
        for key in sorted(value):
            _collect(value[key], seen)
    elif isinstance(value, list):
        for item in value:
            _collect(item, seen)


def _number(raw: str) -> Number:
    if not _NUMBER.fullmatch(raw, 1):
        raise ValueError(f"the opaque value {raw!r} is not '@' and a number")
    return Fraction(raw[1:])


def _insert(number: Number, numbers: list[Number], labels: list[Number]) -> Number:
    """Put `number` in its place and return its label (the one it has, if it is there)."""
    at = bisect_left(numbers, number)
    if at < len(numbers) and numbers[at] == number:
        return labels[at]
    if at == len(numbers):
        label = Fraction(int(labels[-1]) + 1) if labels else Fraction(1)
    else:
        below = labels[at - 1] if at else Fraction(0)
        label = (below + labels[at]) / 2
    numbers.insert(at, number)
    labels.insert(at, label)
    return label


def _decimal(label: Number) -> str:
    """Exact decimal text; labels are sums of halves, so it always ends."""
    whole, rest = divmod(label, 1)
    digits = ""
    while rest:
        digit, rest = divmod(rest * 10, 1)
        digits += str(digit)
    return f"{whole}.{digits}" if digits else str(whole)
