"""The world of a walk that begins with operations of a question."""

from random import Random

from charter.formats.canonical import Json
from conform.walks.block import _begin_with
from conform.walks.offered import OfferedWorld

LARGER = OfferedWorld({"Broker": ("b1", "b2", "b3")}, {})


def choose_world(args: dict[str, Json]) -> OfferedWorld:
    question: dict[str, Json] = {
        "sorts": {"Broker": {"b1": 1, "b2": 2}},
        "operations": [{"operation": "propose", "args": args}],
    }
    return _begin_with(Random(1), question, LARGER)[0]


def test_a_walk_begins_in_a_larger_world_when_that_has_the_elements() -> None:
    assert choose_world({"broker": "b1", "epoch": {"ref": [0, "epoch"]}}) == LARGER


def test_it_begins_in_the_world_of_the_question_when_a_map_has_no_value_for_more() -> None:
    assert choose_world({"epochs": {"b1": None, "b2": 3}}).sorts == {"Broker": ("b1", "b2")}
