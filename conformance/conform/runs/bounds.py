"""The bounds of what a run judged: the values of constants in its questions, and how many elements
the sorts had. A run says nothing about larger ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from charter.formats.canonical import Json

SHOWN = 8
"""The most combinations of constants, or of numbers of elements, that are told in a sentence."""

Constants = tuple[tuple[str, int | bool], ...]
"""Constants with their values, in the order of their names."""

Sizes = tuple[tuple[str, int], ...]
"""The number of elements of each sort of one question, in the order of their names."""


@dataclass(slots=True)
class JudgedBounds:
    """The combinations of constants, and of the numbers of elements of sorts that one question had
    together, without those that another one exceeds. `elements` are the most of each sort."""

    constants: set[Constants] = field(default_factory=set)
    elements: dict[str, int] = field(default_factory=dict)
    together: set[Sizes] = field(default_factory=set)

    def add(self, question: bytes | str) -> None:
        """Add a question, as JSON."""
        asked = orjson.loads(question)
        self.constants.add(tuple(sorted(asked.get("consts", {}).items())))
        sizes = {sort: len(names) for sort, names in asked["sorts"].items()}
        self._grow(sizes)
        self._add_together(sizes)

    def join(self, bounds: Json) -> None:
        """Add those of a bucket; older buckets have none."""
        if not isinstance(bounds, dict):
            return
        listed, elements = bounds["constants"], bounds["elements"]
        assert isinstance(listed, list) and isinstance(elements, dict)
        self.constants |= {_constants(values) for values in listed}
        self._grow(_sizes(elements))
        together = bounds.get("together", [elements])
        assert isinstance(together, list)
        for sizes in together:
            self._add_together(_sizes(sizes))

    def _grow(self, sizes: Mapping[str, int]) -> None:
        for sort, size in sizes.items():
            self.elements[sort] = max(size, self.elements.get(sort, 0))

    def _add_together(self, sizes: Mapping[str, int]) -> None:
        made = tuple(sorted(sizes.items()))
        if made and not any(_within(made, other) for other in self.together):
            self.together = {other for other in self.together if not _within(other, made)} | {made}

    def json(self) -> Json:
        """The field `bounds` of summary.json."""
        told: list[Json] = [dict(values) for values in sorted(self.constants)]
        together: list[Json] = [dict(sizes) for sizes in sorted(self.together)]
        elements = dict(sorted(self.elements.items()))
        return {"constants": told, "elements": {**elements}, "together": together}


def _within(sizes: Sizes, others: Sizes) -> bool:
    """Whether no sort has more elements than in `others`."""
    most = dict(others)
    return all(size <= most.get(sort, 0) for sort, size in sizes)


def _sizes(values: Json) -> dict[str, int]:
    assert isinstance(values, dict)
    return {sort: size for sort, size in values.items() if isinstance(size, int)}


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
    if judged.together:
        parts.append(f"at most {_sizes_told(sorted(judged.together))}")
    return "; ".join(parts)


def _sizes_told(together: Sequence[Sizes]) -> str:
    """Numbers of elements: "2 Job, 1 Worker", or "1 Job with 2 Worker, or 2 Job with 1 Worker"."""
    between = ", " if len(together) == 1 else " with "
    shown = [between.join(f"{size} {sort}" for sort, size in sizes) for sizes in together]
    if len(shown) > SHOWN:
        return f"{', '.join(shown[:SHOWN])} and {len(shown) - SHOWN} more"
    return ", or ".join([", ".join(shown[:-1]), shown[-1]] if shown[1:] else shown)


def _tuple(items: list[str]) -> str:
    return f"({', '.join(items)})" if len(items) > 1 else items[0]


def _value(item: int | bool) -> str:
    return str(item).lower() if isinstance(item, bool) else str(item)
