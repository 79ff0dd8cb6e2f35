"""Relabelling by types visits the places that can hold opaque values, and finds the same."""

from hypothesis import given
from hypothesis import strategies as st

from charter.formats.canonical import Json
from charter.formats.labels import Labels
from charter.formats.opaque import OpaqueTypes
from charter.formats.types import read_types

TYPES = OpaqueTypes.of(
    read_types(
        {
            "replies": {"take": "union granted{token: Token, id: Id}, refused{error: Error}"},
            "observes": {
                "held": "map Node -> option {by: Node, token: Token, asked: list Token}",
                "ids": "list Id",
                "pairs": "map int -> Token",
                "left": "int",
                "open": "bool",
                "log": "list {error: Error, at: int}",
            },
            "names": {"Node": "sort", "Token": "ordered", "Id": "opaque", "Error": "enum A, B"},
        },
        "types",
    )
)
"""One opaque counter, and one type of opaque values without order."""

tokens = st.integers(0, 30).map(lambda number: f"@{number}")
ids = st.sampled_from("abc").map(lambda text: f"~{text}")
errors = st.sampled_from("AB")
slots = st.none() | st.fixed_dictionaries(
    {"by": st.just("n1"), "token": tokens, "asked": st.lists(tokens, max_size=3)}
)
observations = st.fixed_dictionaries(
    {
        "held": st.fixed_dictionaries({"n2": slots, "n1": slots}),
        "ids": st.lists(ids, max_size=3),
        "pairs": st.lists(st.tuples(st.integers(0, 3), tokens).map(list), max_size=3),
        "left": st.integers(0, 3),
        "open": st.booleans(),
        "log": st.lists(st.fixed_dictionaries({"error": errors, "at": st.just(1)}), max_size=2),
    }
)
replies = st.fixed_dictionaries(
    {"case": st.just("granted"), "token": tokens, "id": ids}
) | st.fixed_dictionaries({"case": st.just("refused"), "error": errors})


@given(st.lists(st.tuples(replies, observations), max_size=4))
def test_labels_by_types_are_those_of_a_walk_through_all_of_the_json(steps):
    planned, walked = Labels(TYPES), Labels()
    for reply, observation in steps:
        *shown, planned = planned.step(reply, observation, "take")
        *expected, walked = walked.step(reply, observation)
        assert shown == expected
        assert planned == walked
        assert [*map(list, (o for o in shown if isinstance(o, dict)))] == [
            *map(list, (reply, observation))
        ]


def test_a_step_without_new_values_keeps_its_labels():
    _, _, labels = Labels(TYPES).step(None, {"ids": ["~a"], "left": 1})
    assert labels.step(None, {"ids": ["~a", "~a"], "left": 2})[2] is labels


def test_a_text_in_a_place_that_holds_no_opaque_value_stays_and_is_no_label():
    strange: Json = {"left": "@7", "log": [{"error": "~x", "at": "@x"}], "ids": ["~a"]}
    _, shown, labels = Labels(TYPES).step({"case": "refused", "error": "@1"}, strange, "take")
    assert shown == {"left": "@7", "log": [{"error": "~x", "at": "@x"}], "ids": ["~1"]}
    assert labels.raw_names() == {("", "~a"): "~1"}


def test_a_value_of_another_shape_stays():
    strange: Json = {"held": ["@1"], "ids": "~a", "pairs": [["@1"], 3, [1, "@2"]]}
    _, shown, _ = Labels(TYPES).step(None, strange)
    assert shown == {"held": ["@1"], "ids": "~a", "pairs": [["@1"], 3, [1, "#1"]]}


def test_a_variable_that_no_type_names_is_visited_everywhere():
    _, shown, _ = Labels(TYPES).step(None, {"unknown": [{"a": "@5"}]})
    assert shown == {"unknown": [{"a": "#1"}]}
