"""Observations that are written as changes are read as they were."""

import importlib.util
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.formats.canonical import text
from charter.formats.changes import shorter, whole

PAGE = Path(__file__).parents[3] / "docs" / "formats" / "vector.md"

NAMES = st.sampled_from(["a", "b", "@1", "#1"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["@1", "#1", "~1", "-", ""]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)
STATES = st.dictionaries(NAMES, VALUES, max_size=3)


def read(before, observations):
    line = shorter(before, observations)
    return whole(before, line["observations"], line["changes"], "x")


@given(st.none() | STATES, st.lists(STATES | VALUES, max_size=4))
def test_what_was_written_is_read(before, observations):
    assert text(list(read(before, observations))) == text(observations)


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, {"b": 3}),
        ({"a": 1}, {"a": 1, "b": None}, {"b": None}),
        ({"a": 1, "b": 2}, {"a": None}, {"a": None, "b": "-"}),
        ({"a": {"b": 1, "c": [1]}}, {"a": {"b": 1, "c": []}}, {"a": {"c": []}}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": "-"}}),
        ({"a": {"b": 1}}, {"a": [1]}, {"a": [1]}),
        ({"a": None}, {"a": {"b": None}}, {"a": {"b": None}}),
        ({"a": 1}, {"a": True}, {"a": True}),
        ({"a": [1]}, {"a": [True]}, {"a": [True]}),
        ({"a": {}}, {"a": {}}, {}),
    ],
)
def test_a_change_has_what_changed(before, after, change):
    assert shorter(None, [before, after]) == {"observations": [before], "changes": [change]}
    assert text(list(read(None, [before, after]))) == text([before, after])


def test_the_given_state_is_compared_with_labels_in_place_of_its_values():
    before = {"held": {"@7": {"by": "c1"}}, "last": "@7", "next": "@8"}
    after = {"held": {"#7": {"by": "c2"}}, "last": "#1"}
    change = {"held": {"#7": {"by": "c2"}}, "last": "#1", "next": "-"}
    assert shorter(before, [after]) == {"observations": [], "changes": [change]}


@pytest.mark.parametrize("odd", [{"a": "-"}, [1], None, "x"])
def test_what_a_change_cannot_say_is_written_whole(odd):
    assert shorter(None, [{"a": 1}, odd]) == {"observations": [{"a": 1}, odd], "changes": []}
    assert text(list(read(None, [{"a": 1}, odd]))) == text([{"a": 1}, odd])


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """The code on the page as a module."""
    (block,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    path = tmp_path_factory.mktemp("page") / "reader.py"
    path.write_text(block, "utf-8")
    spec = importlib.util.spec_from_file_location("reader", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@given(before=st.none() | STATES, observations=st.lists(STATES, min_size=1, max_size=4))
def test_the_reader_on_the_page_reads_it(reader, before, observations):
    found = reader.observations({"given": before}, shorter(before, observations))
    assert text(found) == text(observations)
