"""Translates a model's opaque values to those of a target in the same state."""

from __future__ import annotations

from fractions import Fraction

from charter.formats.canonical import Json
from charter.formats.labels import LabelOrder, Labels


class NoPlace(Exception):
    """An opaque value that was never shown cannot be translated with certainty."""


def translate(value: Json, model: Labels, target: Labels) -> Json:
    """A whole state with each opaque value of the model replaced by the target's value of the same
    type with the same label.

    An ordered value that was never shown gets a number with the same order. Raises `NoPlace`.
    """
    if model.raw_names() == target.raw_names():
        return value
    back = {(kind, label): raw for (kind, raw), label in target.raw_names().items()}
    forward = {
        (kind, raw): back[kind, label]
        for (kind, raw), label in model.raw_names().items()
        if (kind, label) in back
    }
    scales: dict[str, _Scale] = {}

    def replace_value(kind: str, raw: str) -> str:
        known = forward.get((kind, raw))
        if known is not None or raw[:1] != "@":
            return raw if known is None else known
        if kind not in scales:
            scales[kind] = _Scale(model.order(kind), target.order(kind))
        return scales[kind].place(raw)

    return model.types.whole(value, replace_value)


class _Scale:
    """Maps numbers of the model to numbers of the target, of one type, preserving order."""

    def __init__(self, model: LabelOrder, target: LabelOrder) -> None:
        of_label = dict(zip(target.labels, target.numbers, strict=True))
        self.pairs = [
            (number, of_label[label])
            for number, label in zip(model.numbers, model.labels, strict=True)
            if label in of_label
        ]

    def place(self, raw: str) -> str:
        """The target's number for a model's number that was never shown, or was shown in another
        spelling (`@007`)."""
        number = Fraction(raw[1:])
        for ours, theirs in self.pairs:
            if ours == number:
                return f"@{theirs}"
        below = [pair for pair in self.pairs if pair[0] < number]
        above = [pair for pair in self.pairs if pair[0] > number]
        if not self.pairs:
            return raw
        if not above:
            return f"@{below[-1][1] + number - below[-1][0]}"
        if not below:
            return f"@{above[0][1] - (above[0][0] - number)}"
        placed = below[-1][1] + number - below[-1][0]
        if placed >= above[0][1]:
            raise NoPlace(f"the value {raw}, which was never shown, has no certain place")
        return f"@{placed}"


def overlay(state: Json, observed: Json) -> Json:
    """`state` with all observed parts replaced; a union in another case is replaced as a whole."""
    if not isinstance(state, dict) or not isinstance(observed, dict):
        return observed
    if state.get("case") != observed.get("case"):
        return observed
    shown = {name: overlay(state.get(name), value) for name, value in observed.items()}
    return {**state, **shown}
