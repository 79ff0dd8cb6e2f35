"""Translates a model's opaque values to those of a target in the same state."""

from __future__ import annotations

from fractions import Fraction

from charter.formats.canonical import Json
from charter.formats.labels import Labels


class NoPlace(Exception):
    """An opaque value that was never shown cannot be translated with certainty."""


def translate(value: Json, model: Labels, target: Labels) -> Json:
    """`value` with each opaque value of the model replaced by the target's value with the same
    label.

    An ordered value that was never shown gets a number with the same order. Raises `NoPlace`.
    """
    back = {label: raw for raw, label in target.raw_names().items()}
    forward = {raw: back[label] for raw, label in model.raw_names().items() if label in back}
    return _replace(value, forward, _Scale(model, target))


class _Scale:
    """Maps numbers of the model to numbers of the target, preserving order."""

    def __init__(self, model: Labels, target: Labels) -> None:
        of_label = dict(zip(target.labels, target.numbers, strict=True))
        self.pairs = [
            (number, of_label[label])
            for number, label in zip(model.numbers, model.labels, strict=True)
            if label in of_label
        ]

    def place(self, raw: str) -> str:
        """The target's number for a model's number that was never shown."""
        number = Fraction(raw[1:])
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


def _replace(value: Json, forward: dict[str, str], scale: _Scale) -> Json:
    if isinstance(value, str):
        if value[:1] == "@":
            return forward.get(value) or scale.place(value)
        return forward.get(value, value) if value[:1] == "~" else value
    if isinstance(value, dict):
        return {name: _replace(item, forward, scale) for name, item in value.items()}
    if isinstance(value, list):
        return [_replace(item, forward, scale) for item in value]
    return value
