"""What all generated models share: records, and maps."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable

import pytest

from charter_models.prelude import Map, dataclass, replace


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


@dataclass(frozen=True, slots=True)
class Shelf:
    fields_of: int
    books: Map[str, int]


def make() -> Shelf:
    return Shelf(1, Map({"a": 1, "b": 2}))


def test_a_record_is_copied_whatever_its_fields_are_called() -> None:
    shelf = make()
    assert (
        replace(shelf, fields_of=2)
        == Shelf(2, shelf.books)
        == dataclasses.replace(shelf, fields_of=2)
    )
    assert shelf == make()
    assert replace(Nothing()) == Nothing()


def test_maps_that_are_joined_are_a_map() -> None:
    joined = Map({"a": 1, "b": 2}) | {"b": 3}
    assert isinstance(joined, Map) and joined == Map({"a": 1, "b": 3})
    assert {joined.put("b", 2), make().books} == {make().books}


def test_records_and_maps_are_equal_whatever_the_order_of_entries() -> None:
    other = Shelf(1, Map({"b": 2, "a": 1}))
    assert len({other, make()}) == 1
    assert make() != Shelf(1, make().books.put("a", 2))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_record_is_the_same(again: Callable[[Shelf], Shelf]) -> None:
    assert len({again(make()), make()}) == 1
    assert type(again(make()).books) is Map
