"""One text for one value."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.formats import canonical
from charter.formats.labels import Labels
from charter_models import prelude

scalars = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(max_size=6)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values)
def test_text_is_what_orjson_writes(value):
    """The judge writes with orjson, everybody else with the standard library."""
    assert canonical.text(value).encode() == orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def test_text_when_a_number_is_no_number():
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical.text(float("nan"))


def test_set_when_opaque_numbers_have_different_lengths():
    assert canonical.as_set(["@10", "@9", "@9"]) == ["@9", "@10"]
    assert canonical.as_set([{"e": "@10"}, {"e": "@-1"}]) == [{"e": "@-1"}, {"e": "@10"}]


@given(st.sets(st.integers(0, 10**6), max_size=6))
def test_order_of_a_set_survives_renaming(numbers):
    items = canonical.as_set([{"epoch": f"@{number}"} for number in numbers])
    _, renamed, _ = Labels().step(None, items)
    assert renamed == [{"epoch": f"#{i}"} for i in range(1, len(numbers) + 1)]


@given(st.sets(st.integers(-(10**6), 10**6), max_size=6))
def test_generated_models_sort_a_set_alike(numbers):
    """A run is followed with a model after a deviation, in the implementation's own numbers."""
    items = [{"epoch": f"@{number}", "from": "b1"} for number in numbers]
    assert prelude.by_text(items) == canonical.as_set(items)


def test_digest_when_keys_are_in_another_order():
    assert canonical.digest({"a": 1, "b": 2}) == canonical.digest({"b": 2, "a": 1})
    assert len(canonical.digest(None)) == 20


def test_pairs_are_sorted():
    assert canonical.as_pairs([([2], "x"), ([1], "y")]) == [[[1], "y"], [[2], "x"]]
