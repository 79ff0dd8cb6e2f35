"""Computes the bounds of what a run judged: the values of constants in its questions, how many
elements the sorts had, and the numbers that operations were called with. A run says nothing about
larger ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import orjson

from charter.formats.canonical import Json
from charter.formats.reading import own_list, own_object

SHOWN = 8
"""The most combinations of constants, or of numbers of elements, that are told in a row."""

Constants = tuple[tuple[str, int | bool], ...]
"""Constants with their values, in the order of their names."""

Sizes = tuple[tuple[str, int], ...]
"""The number of elements of each sort of one question, in the order of their names."""

Range = tuple[int, int]
"""The least and the largest of some numbers."""


@dataclass(slots=True)
class JudgedBounds:
    """What questions had together: `within` has for each combination of constants the numbers of
    elements of sorts, without those that another question exceeds. `scenarios` has the same of
    questions that follow a scenario: one example is no search of what it happens to have."""

    within: dict[Constants, set[Sizes]] = field(default_factory=dict)
    scenarios: dict[Constants, set[Sizes]] = field(default_factory=dict)
    arguments: dict[str, Range | None] = field(default_factory=dict)
    """The least and the largest number of each argument ("submit priority"); None for one that
    refers to what was observed in some question."""
    named: dict[str, int] = field(default_factory=dict)
    """The most elements of each sort that the operations and the given state of one question name:
    a question may have more, about which it asks nothing."""

    @property
    def elements(self) -> dict[str, int]:
        """The most elements of each sort."""
        most: dict[str, int] = {}
        for together in (*self.within.values(), *self.scenarios.values()):
            for sizes in together:
                _grow(most, dict(sizes))
        return most

    @property
    def judged(self) -> dict[Constants, set[Sizes]]:
        """What was judged by more than scenarios; where there is nothing else, by these."""
        return self.within or self.scenarios

    @property
    def beyond(self) -> dict[Constants, set[Sizes]]:
        """What only scenarios had."""
        found: dict[Constants, set[Sizes]] = {}
        for constants, several in self.scenarios.items():
            known = self.judged.get(constants)
            more = {one for one in several if not any(_fits(one, other) for other in known or ())}
            if known is None or more:
                found[constants] = more
        return found

    def add(self, question: bytes | str, *, scenario: bool = False) -> None:
        """Add a question, as JSON."""
        asked = orjson.loads(question)
        sizes = {sort: len(names) for sort, names in asked["sorts"].items()}
        constants = tuple(sorted(asked.get("consts", {}).items()))
        _add_within(self.scenarios if scenario else self.within, constants, sizes)
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
        _grow(self.named, _sizes(bounds.get("named", {})))
        for constants, sizes in _together(bounds):
            _add_within(self.within, constants, sizes)
        for constants, sizes in _list_bounds(bounds.get("scenarios", [])):
            _add_within(self.scenarios, constants, sizes)
        for place, asked in _ranges(bounds.get("arguments", {})):
            self._ask(place, asked)

    def _ask(self, place: str, asked: Range | None) -> None:
        known = self.arguments.setdefault(place, asked)
        if known is None or asked is None:
            self.arguments[place] = None
        else:
            self.arguments[place] = (min(known[0], asked[0]), max(known[1], asked[1]))

    def json(self) -> Json:
        """The field `bounds` of summary.json."""
        elements = dict(sorted(self.elements.items()))
        arguments: dict[str, Json] = {
            place: None if asked is None else list[Json](asked)
            for place, asked in sorted(self.arguments.items())
        }
        return {
            "within": _list(self.within),
            "elements": {**elements},
            "arguments": arguments,
            **({"scenarios": _list(self.scenarios)} if self.scenarios else {}),
            **({"named": {**dict(sorted(self.named.items()))}} if self.named else {}),
        }


def _add_within(
    within: dict[Constants, set[Sizes]], constants: Constants, sizes: Mapping[str, int]
) -> None:
    most = within.setdefault(constants, set())
    made = tuple(sorted(sizes.items()))
    if made and not any(_fits(made, other) for other in most):
        most -= {other for other in most if _fits(other, made)}
        most.add(made)


def _list(within: Mapping[Constants, set[Sizes]]) -> list[Json]:
    return [
        {"constants": dict(values), "elements": [dict(sizes) for sizes in sorted(most)]}
        for values, most in sorted(within.items())
    ]


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
    for place, asked in own_object(arguments).items():
        match asked:
            case [int(least), int(most)]:
                yield place, (least, most)
            case _:
                yield place, None


def _together(bounds: Mapping[str, Json]) -> Iterator[tuple[Constants, dict[str, int]]]:
    """Constants with numbers of elements that questions had together. Runs of earlier versions
    list the two apart."""
    listed = bounds.get("within")
    if listed is None:
        alone, sizes = bounds["constants"], bounds.get("together", [bounds["elements"]])
        listed = [{"constants": values, "elements": sizes} for values in own_list(alone) or [{}]]
    yield from _list_bounds(listed)


def _list_bounds(listed: Json) -> Iterator[tuple[Constants, dict[str, int]]]:
    for one in map(own_object, own_list(listed)):
        for each in own_list(one["elements"]) or [{}]:
            yield _constants(one["constants"]), _sizes(each)


def _fits(sizes: Sizes, others: Sizes) -> bool:
    """Whether no sort has more elements than in `others`."""
    most = dict(others)
    return all(size <= most.get(sort, 0) for sort, size in sizes)


def _sizes(values: Json) -> dict[str, int]:
    return {sort: size for sort, size in own_object(values).items() if isinstance(size, int)}


def _constants(values: Json) -> Constants:
    held = own_object(values).items()
    return tuple(sorted((name, item) for name, item in held if isinstance(item, int)))


Row = tuple[str, str]
"""What was bounded, and by what: a row of the report's table."""


def bounds_rows(bounds: Json) -> tuple[Row, ...]:
    """Rows such as ("ttl = 1, 3", "at most 2 Node") and ("priority of submit", "0 to 1"); none for
    a run without bounds. What only scenarios had follows what was searched."""
    judged = JudgedBounds()
    judged.join(bounds)
    rows = _groups(judged.judged)
    rows += [(f"{what}, in scenarios alone", most) for what, most in _groups(judged.beyond)]
    if fewer := _list_unnamed(judged):
        rows.append(("elements that the operations of one question name", fewer))
    rows += [_argument(place, found) for place, found in sorted(judged.arguments.items()) if found]
    return tuple(rows)


def _groups(within: Mapping[Constants, set[Sizes]]) -> list[Row]:
    """Combinations of constants with the most elements that they had."""
    alike: dict[tuple[Sizes, ...], list[Constants]] = {}
    for constants, most in sorted(within.items()):
        alike.setdefault(tuple(sorted(most)), []).append(constants)
    rows = list[Row]()
    for sizes, several in alike.items():
        told = f"at most {_sizes_told(sizes)}" if sizes else ""
        what = _combinations([values for values in several if values])
        rows += [(what or "elements", told)] if what or told else []
    return rows


def _combinations(several: Sequence[Constants]) -> str:
    """Some combinations of constants; "" without any."""
    if not several:
        return ""
    names = [name for name, _ in several[0]]
    shown = [_tuple([_value(item) for _, item in values]) for values in several]
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    return f"{_tuple(names)} = {', '.join(shown[:SHOWN])}{more}"


def _list_unnamed(judged: JudgedBounds) -> str:
    """The most elements that a question names, of the sorts of which it has more; "" for none."""
    elements = judged.elements
    fewer = [
        f"{most or 'no'} {sort}" for sort, most in sorted(judged.named.items())
        if most < elements.get(sort, 0)
    ]  # fmt: skip
    return f"at most {', '.join(fewer)}" if fewer else ""


def _argument(place: str, asked: Range) -> Row:
    """The numbers of one argument."""
    least, most = asked
    name = " of ".join(reversed(place.split(" ")))
    return name, f"{least}" if least == most else f"{least} to {most}"


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
