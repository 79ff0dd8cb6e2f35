"""The bounds of what a run judged: the values of constants in its questions, and how many elements
the sorts had. A run says nothing about larger ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from charter.formats.canonical import Json

SHOWN = 8
"""The most combinations of constants that are told in a sentence."""

Constants = tuple[tuple[str, int | bool], ...]
"""Constants with their values, in the order of their names."""


@dataclass(slots=True)
class JudgedBounds:
    """The combinations of constants, and for each sort the most elements of one question."""

    constants: set[Constants] = field(default_factory=set)
    elements: dict[str, int] = field(default_factory=dict)

    def add(self, question: bytes | str) -> None:
        """Add a question, as JSON."""
        asked = orjson.loads(question)
        self.constants.add(tuple(sorted(asked.get("consts", {}).items())))
        self._grow({sort: len(names) for sort, names in asked["sorts"].items()})

    def join(self, bounds: Json) -> None:
        """Add those of a bucket; older buckets have none."""
        if not isinstance(bounds, dict):
            return
        listed, elements = bounds["constants"], bounds["elements"]
        assert isinstance(listed, list) and isinstance(elements, dict)
        self.constants |= {_constants(values) for values in listed}
        self._grow({sort: size for sort, size in elements.items() if isinstance(size, int)})

    def _grow(self, sizes: Mapping[str, int]) -> None:
        for sort, size in sizes.items():
            self.elements[sort] = max(size, self.elements.get(sort, 0))

    def json(self) -> Json:
        """The field `bounds` of summary.json."""
        told: list[Json] = [dict(values) for values in sorted(self.constants)]
        return {"constants": told, "elements": dict(sorted(self.elements.items()))}


def _constants(values: Json) -> Constants:
    assert isinstance(values, dict)
    return tuple(sorted((name, item) for name, item in values.items() if isinstance(item, int)))


def bounds_told(bounds: Json) -> str:
    """A sentence such as "(room, tries) = (2, 1), (3, 0); at most 2 Job"; "" for a run without
    bounds."""
    judged = JudgedBounds()
    judged.join(bounds)
    parts = []
    combinations = sorted(values for values in judged.constants if values)
    if combinations:
        names = [name for name, _ in combinations[0]]
        shown = [_tuple([_value(item) for _, item in values]) for values in combinations]
        more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
        parts.append(f"{_tuple(names)} = {', '.join(shown[:SHOWN])}{more}")
    if judged.elements:
        sizes = ", ".join(f"{size} {sort}" for sort, size in sorted(judged.elements.items()))
        parts.append(f"at most {sizes}")
    return "; ".join(parts)


def _tuple(items: list[str]) -> str:
    return f"({', '.join(items)})" if len(items) > 1 else items[0]


def _value(item: int | bool) -> str:
    return str(item).lower() if isinstance(item, bool) else str(item)
