"""Validates parsed JSON strictly; each error is one sentence with its location."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from charter.formats.canonical import Json


class BadVector(Exception):
    """A vector or a suite violates its format; the text is one sentence with the location."""


@dataclass(frozen=True, slots=True)
class JsonReader:
    """A JSON value with its place in the document."""

    raw: Json
    where: str

    def fields(self, *names: str) -> JsonReader:
        """This reader, if the value is an object with exactly these fields."""
        held = self.object()
        for name in names:
            if name not in held:
                raise BadVector(f"{self.where}: the field {name!r} is missing")
        for name in held:
            if name not in names:
                raise BadVector(f"{self.where}: the field {name!r} is not known here")
        return self

    def value(self, name: str) -> Json:
        """The field `name`, unread."""
        return self.object()[name]

    def item(self, name: str) -> JsonReader:
        """The field `name` of an object."""
        held = self.object()
        if name not in held:
            raise BadVector(f"{self.where}: the field {name!r} is missing")
        return JsonReader(held[name], f"{self.where}.{name}")

    def text(self, name: str) -> str:
        """The field `name`, a text."""
        value = self.item(name).raw
        if not isinstance(value, str):
            raise BadVector(f"{self.where}.{name}: not a text")
        return value

    def integer(self) -> int:
        """This value, a whole number."""
        if isinstance(self.raw, bool) or not isinstance(self.raw, int):
            raise BadVector(f"{self.where}: not a whole number")
        return self.raw

    def object(self) -> dict[str, Json]:
        """This value, an object."""
        if not isinstance(self.raw, dict):
            raise BadVector(f"{self.where}: not an object")
        return self.raw

    def entries(self) -> Iterator[tuple[str, JsonReader]]:
        """The fields of an object with arbitrary names."""
        for name, value in self.object().items():
            yield name, JsonReader(value, f"{self.where}.{name}")

    def items(self) -> Iterator[JsonReader]:
        """The items of an array."""
        if not isinstance(self.raw, list):
            raise BadVector(f"{self.where}: not an array")
        for position, value in enumerate(self.raw):
            yield JsonReader(value, f"{self.where}[{position}]")

    def texts(self) -> tuple[str, ...]:
        """An array of texts."""
        held = []
        for item in self.items():
            if not isinstance(item.raw, str):
                raise BadVector(f"{item.where}: not a text")
            held.append(item.raw)
        return tuple(held)


def own_number(value: Json) -> int:
    """The number in a file of our own making. Anything else is a bug."""
    assert isinstance(value, int)
    return value


def own_list(value: Json) -> list[Json]:
    """The array in a file of our own making. Anything else is a bug."""
    assert isinstance(value, list)
    return value


def own_object(value: Json) -> dict[str, Json]:
    """The object in a file of our own making. Anything else is a bug."""
    assert isinstance(value, dict)
    return value


def own_calls(question: Mapping[str, Json]) -> list[dict[str, Json]]:
    """The operations of a question of a suite."""
    return [own_object(call) for call in own_list(question["operations"])]


def mapping(value: Json) -> dict[str, Json]:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def texts(value: Json) -> tuple[str, ...]:
    """The texts in an array; empty if `value` is not an array."""
    return tuple(str(item) for item in value) if isinstance(value, list) else ()
