"""The codecs of adapters in Python: values of a charter's types to and from JSON."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import pytest

from charter.formats import codecs as c


class Colour(Enum):
    RED = "RED"
    BLUE = "BLUE"


@dataclass(frozen=True, slots=True)
class Item:
    name: str
    token: int | None


@dataclass(frozen=True, slots=True)
class Put:
    item: Item


@dataclass(frozen=True, slots=True)
class Clear:
    pass


ITEM = c.record(Item, {"name": c.name(str), "token": c.option(c.opaque_counter(int))})
ORDER = c.union({"put": (Put, {"item": ITEM}), "clear": (Clear, {})})


@pytest.mark.parametrize(
    ("codec", "value", "json"),
    [
        (c.BOOL, True, True),
        (c.INT, -3, -3),
        (c.opaque_counter(int), 12, "@12"),
        (c.opaque(str), "a~b", "~a~b"),
        (c.enum(Colour), Colour.BLUE, "BLUE"),
        (c.option(c.INT), None, None),
        (c.sequence(c.enum(Colour)), (Colour.RED, Colour.RED), ["RED", "RED"]),
        (c.set_of(c.opaque_counter(int)), frozenset({10, 9}), ["@9", "@10"]),
        (c.mapping(c.BOOL, c.INT), {True: 1, False: 0}, {"true": 1, "false": 0}),
        (c.mapping(c.enum(Colour), c.BOOL), {Colour.RED: False}, {"RED": False}),
        (c.pairs(c.INT, c.BOOL), {10: True, 9: False}, [[10, True], [9, False]]),
        (ITEM, Item("a", 7), {"name": "a", "token": "@7"}),
        (ORDER, Put(Item("a", None)), {"case": "put", "item": {"name": "a", "token": None}}),
        (ORDER, Clear(), {"case": "clear"}),
    ],
)
def test_a_value_is_written_and_read(codec, value, json) -> None:
    assert codec.encode(value) == json
    assert codec.decode(json) == value


def test_what_was_never_issued_is_a_number_or_a_text() -> None:
    assert c.counter(int).decode(c.WISH) == c.NEVER_ISSUED
    assert c.opaque_counter(int).decode(c.WISH) == c.NEVER_ISSUED
    assert c.opaque(str).decode(c.WISH) == c.NEVER_ISSUED_TEXT


@pytest.mark.parametrize(
    ("codec", "json"), [(c.sequence(c.INT), {}), (ITEM, []), (c.set_of(c.INT), None)]
)
def test_json_of_another_type_is_refused(codec, json) -> None:
    with pytest.raises(ValueError, match="is no"):
        codec.decode(json)


@pytest.mark.parametrize(
    ("codec", "value", "told"),
    [
        (ORDER, None, "None is none of Put, Clear"),
        (ORDER, {"case": "clear"}, "{'case': 'clear'} is none of Put, Clear"),
        (c.option(ITEM), ("a", 1), r"('a', 1) is no Item"),
        (c.enum(Colour), "RED", "'RED' is no Colour"),
    ],
)
def test_a_value_of_another_type_is_named_with_its_type(codec, value, told) -> None:
    with pytest.raises(TypeError) as raised:
        codec.encode(value)
    assert str(raised.value) == told


def test_an_element_twice_stays_for_the_judge_to_tell() -> None:
    assert c.set_of(c.INT).encode((2, 1, 2)) == [1, 2, 2]  # type: ignore[arg-type]  # no set
