"""The bounds of what a run judged: the values of constants in its questions, how many elements the
sorts had, and the numbers that operations were called with, which constants may bound that are in
no question. A run says nothing about larger ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from charter.formats.canonical import Json

SHOWN = 8
"""The most combinations of constants or of numbers of elements, or the most arguments, that are
told in a sentence."""

Constants = tuple[tuple[str, int | bool], ...]
"""Constants with their values, in the order of their names."""

Sizes = tuple[tuple[str, int], ...]
"""The number of elements of each sort of one question, in the order of their names."""

Range = tuple[int, int]
"""The least and the largest of some numbers."""


@dataclass(slots=True)
class JudgedBounds:
    """The combinations of constants, and of the numbers of elements of sorts that one question had
    together, without those that another one exceeds. `elements` are the most of each sort."""

    constants: set[Constants] = field(default_factory=set)
    elements: dict[str, int] = field(default_factory=dict)
    together: set[Sizes] = field(default_factory=set)
    arguments: dict[str, Range | None] = field(default_factory=dict)
    """The least and the largest number of each argument ("submit priority"); None for one that
    refers to what was observed in some question."""
    named: dict[str, int] = field(default_factory=dict)
    """The most elements of each sort that the operations and the given state of one question name:
    a question may have more, about which it asks nothing."""

    def add(self, question: bytes | str) -> None:
        """Add a question, as JSON."""
        asked = orjson.loads(question)
        self.constants.add(tuple(sorted(asked.get("consts", {}).items())))
        sizes = {sort: len(names) for sort, names in asked["sorts"].items()}
        _grow(self.elements, sizes)
        self._add_together(sizes)
        operations = asked.get("operations", ())
        named = {*_texts(asked.get("given"))}
        for call in operations:
            named.update(_texts(call["args"]))
        for sort, names in asked["sorts"].items() if operations else ():
            _grow(self.named, {sort: len(named.intersection(names))})
        for call in operations:
            for place, number in _numbers(call["operation"], call["args"]):
                self._ask(place, None if number is None else (number, number))

    def join(self, bounds: Json) -> None:
        """Add those of a bucket; older buckets have none."""
        if not isinstance(bounds, dict):
            return
        listed, elements = bounds["constants"], bounds["elements"]
        assert isinstance(listed, list) and isinstance(elements, dict)
        self.constants |= {_constants(values) for values in listed}
        _grow(self.elements, _sizes(elements))
        _grow(self.named, _sizes(bounds.get("named", {})))
        together = bounds.get("together", [elements])
        assert isinstance(together, list)
        for sizes in together:
            self._add_together(_sizes(sizes))
        for place, asked in _ranges(bounds.get("arguments", {})):
            self._ask(place, asked)

    def _ask(self, place: str, asked: Range | None) -> None:
        known = self.arguments.setdefault(place, asked)
        if known is None or asked is None:
            self.arguments[place] = None
        else:
            self.arguments[place] = (min(known[0], asked[0]), max(known[1], asked[1]))

    def _add_together(self, sizes: Mapping[str, int]) -> None:
        made = tuple(sorted(sizes.items()))
        if made and not any(_within(made, other) for other in self.together):
            self.together = {other for other in self.together if not _within(other, made)} | {made}

    def json(self) -> Json:
        """The field `bounds` of summary.json."""
        told: list[Json] = [dict(values) for values in sorted(self.constants)]
        together: list[Json] = [dict(sizes) for sizes in sorted(self.together)]
        elements = dict(sorted(self.elements.items()))
        arguments: dict[str, Json] = {
            place: None if asked is None else list[Json](asked)
            for place, asked in sorted(self.arguments.items())
        }
        return {
            "constants": told,
            "elements": {**elements},
            "together": together,
            "arguments": arguments,
            **({"named": {**dict(sorted(self.named.items()))}} if self.named else {}),
        }


def _grow(most: dict[str, int], sizes: Mapping[str, int]) -> None:
    for sort, size in sizes.items():
        most[sort] = max(size, most.get(sort, 0))


def _texts(value: Json) -> Iterator[str]:
    """The texts inside a value, and the keys of its maps."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _texts(item)
        case dict():
            yield from value
            for item in value.values():
                yield from _texts(item)
        case _:
            pass


def _numbers(place: str, value: Json) -> Iterator[tuple[str, int | None]]:
    """The whole numbers inside an argument, each with its place; None for a reference."""
    match value:
        case bool():
            pass
        case int():
            yield place, value
        case list():
            for item in value:
                yield from _numbers(place, item)
        case {"ref": list()}:
            yield place, None
        case dict():
            for name, item in value.items():
                yield from _numbers(f"{place} {name}", item)
        case _:
            pass


def _ranges(arguments: Json) -> Iterator[tuple[str, Range | None]]:
    """The field `arguments` of summary.json."""
    assert isinstance(arguments, dict)
    for place, asked in arguments.items():
        match asked:
            case [int(least), int(most)]:
                yield place, (least, most)
            case _:
                yield place, None


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
    """A sentence such as "(room, tries) = (2, 1), (3, 0); at most 2 Job; priority of submit 0 to
    1"; "" for a run without bounds."""
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
        parts.append(f"at most {_sizes_told(sorted(judged.together))}{_unnamed(judged)}")
    asked = [_argument(place, found) for place, found in sorted(judged.arguments.items()) if found]
    if asked:
        more = f" and {len(asked) - SHOWN} more" if len(asked) > SHOWN else ""
        parts.append(f"{', '.join(asked[:SHOWN])}{more}")
    return "; ".join(parts)


def _unnamed(judged: JudgedBounds) -> str:
    """What to add where no question names as many elements as it has."""
    fewer = [
        f"{most or 'no'} {sort}" for sort, most in sorted(judged.named.items())
        if most < judged.elements.get(sort, 0)
    ]  # fmt: skip
    return f", but no question names more than {', '.join(fewer)}" if fewer else ""


def _argument(place: str, asked: Range) -> str:
    """The numbers of one argument: "priority of submit 0 to 1"."""
    least, most = asked
    name = " of ".join(reversed(place.split(" ")))
    return f"{name} {least}" if least == most else f"{name} {least} to {most}"


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
