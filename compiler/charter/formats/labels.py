"""Relabels opaque values in order of appearance, so that they compare as bytes.

An implementation picks its own numbers for opaque counters (`"@17"`) and its own texts for opaque
values (`"~Jx4"`). Along one vector they are renamed in order of first appearance, step by step:
a number greater than all before becomes the next label (`"#3"`), one that is not gets a label
between its neighbours (`"#2.5"`), and several new ones in the same step count in ascending order.
`~` values become `"~1"`, `"~2"` in the order in which the canonical traversal meets them. Each
type counts by itself: a token and an epoch are never compared, and both begin with `"#1"`. So two
runs have equal labels exactly if equality and order of their values agree, within each type.

What is already renamed can be renamed again (`"#2.5"` counts as the number 2.5): this is how an
expectation is cut down to what a target shows.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from charter.formats.adapter import is_fault
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes

Number = Fraction

Name = tuple[str, str]
"""The name of a type ("" if it need not be known), and an opaque value or a label of it."""

_LABEL = re.compile(r'"#[0-9]+(\.[0-9]+)?"')


class _NewValue(Exception):
    """A value that has no name yet."""


@dataclass(frozen=True, slots=True)
class LabelOrder:
    """The ordered values of one type that were seen, ascending, and their labels, in parallel."""

    numbers: tuple[Number, ...] = ()
    labels: tuple[Number, ...] = ()


@dataclass(frozen=True, slots=True)
class Labels:
    """The names given so far along one vector. Immutable: each step yields the next one.

    `types` say of which type a value is. By type, sorted: `orders` are the ordered values with
    their labels, `texts` the unordered ones in order of appearance. `text` is all of that: equal
    for labels that are equal.
    """

    types: OpaqueTypes = field(default_factory=OpaqueTypes, compare=False)
    orders: tuple[tuple[str, LabelOrder], ...] = ()
    texts: tuple[tuple[str, tuple[str, ...]], ...] = ()
    text: str = field(default="", compare=False, repr=False)
    _names: dict[Name, str] = field(default_factory=dict, compare=False, repr=False)

    def step(
        self, reply: Json, observation: Json, operation: str = ""
    ) -> tuple[Json, Json, Labels]:
        """The reply of `operation` and the observation of one step renamed (they are labelled as
        one), and the labels for the next step. A fault stays as it is: a message may begin with
        `@`. Raises ValueError for an `@` value that is not a number."""
        if is_fault(reply):
            _, shown, labels = self.step(None, observation)
            return reply, shown, labels
        try:
            return *self._rename(reply, observation, operation), self
        except _NewValue:  # most steps have none
            pass
        seen: dict[Name, None] = {}

        def note(kind: str, value: str) -> str:
            seen[kind, value] = None
            return value

        self.types.reply(operation, reply, note)
        self.types.observation(observation, note)
        labels = self._with(seen)
        return *labels._rename(reply, observation, operation), labels

    def _rename(self, reply: Json, observation: Json, operation: str) -> tuple[Json, Json]:
        """Reply and observation by the names that were given. Raises `_NewValue`."""
        names = self._names

        def rename(kind: str, value: str) -> str:
            name = names.get((kind, value))
            if name is None:
                raise _NewValue
            return name

        shown_reply = self.types.reply(operation, reply, rename)
        return shown_reply, self.types.observation(observation, rename)

    def order(self, kind: str) -> LabelOrder:
        """The ordered values of a type."""
        return next((order for name, order in self.orders if name == kind), LabelOrder())

    def highest(self) -> Number:
        """The greatest number of any type; 0 if there is none."""
        return max((order.numbers[-1] for _, order in self.orders), default=Fraction(0))

    def raw_names(self) -> Mapping[Name, str]:
        """The table from type and raw value to label."""
        return self._names

    def _with(self, seen: Mapping[Name, None]) -> Labels:
        new = [name for name in seen if name not in self._names]
        if not new:
            return self
        names = dict(self._names)
        orders, texts = dict(self.orders), dict(self.texts)
        for kind in dict.fromkeys(kind for kind, _ in new):
            values = [value for name, value in new if name == kind]
            ordered = [value for value in values if value[0] != "~"]
            if ordered:
                orders[kind] = _number_values(kind, ordered, self.order(kind), names)
            for value in (value for value in values if value[0] == "~"):
                texts[kind] = (*texts.get(kind, ()), value)
                names[kind, value] = f"~{len(texts[kind])}"
        held = tuple(sorted(orders.items(), key=_first)), tuple(sorted(texts.items()))
        return Labels(self.types, *held, _show_all(*held), names)


def _show_all(
    orders: Iterable[tuple[str, LabelOrder]], texts: Iterable[tuple[str, tuple[str, ...]]]
) -> str:
    """All that was seen, with its names."""
    parts = []
    for kind, order in orders:
        ordered = zip(order.numbers, order.labels, strict=True)
        parts += [kind, *(f"{raw}={label}" for raw, label in ordered)]
    for kind, seen in texts:
        parts += [f"~{kind}", *seen]
    return " ".join(parts)


def _first(item: tuple[str, LabelOrder]) -> str:
    return item[0]


def _number_values(
    kind: str, values: Iterable[str], before: LabelOrder, names: dict[Name, str]
) -> LabelOrder:
    """Ordered values of a type added to those before; their labels are put into `names`."""
    numbers, labels = list(before.numbers), list(before.labels)
    for number, raw in sorted((_number(raw), raw) for raw in values):
        names[kind, raw] = "#" + _decimal(_insert(number, numbers, labels))
    return LabelOrder(tuple(numbers), tuple(labels))


def legend(texts: Iterable[str]) -> str:
    """What the labels of counters mean that texts hold, in one line; "" if they hold none."""
    found = [match for text in texts for match in _LABEL.finditer(text)]
    if not found:
        return ""
    between = ', "#1.5" lies between #1 and #2' if any(match[1] for match in found) else ""
    return f'"#1" < "#2": the values of one counter by their order, not the numbers{between}'


_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,400})?")


def _number(raw: str) -> Number:
    if not _NUMBER.fullmatch(raw, 1):
        raise ValueError(f"the opaque value {raw!r} is not '@' and a number")
    return Fraction(raw[1:] if "." in raw else int(raw[1:]))  # a text takes five times as long


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
