"""Renaming opaque values keeps equality and order, and nothing else."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.formats.canonical import Json
from charter.formats.labels import Labels, legend


def relabel(*steps: Json) -> list[Json]:
    labels, renamed = Labels(), []
    for step in steps:
        _, value, labels = labels.step(None, step)
        renamed.append(value)
    return renamed


numbers = st.integers(min_value=-50, max_value=10**12)
histories = st.lists(st.lists(numbers, max_size=4), max_size=6)


def as_json(history: list[list[int]]) -> list[Json]:
    return [[f"@{number}" for number in step] for step in history]


def value(label: Json) -> float:
    assert isinstance(label, str)
    return float(label[1:])


def test_labels_when_values_rise():
    assert relabel(["@5"], ["@9", "@5"]) == [["#1"], ["#2", "#1"]]


def test_labels_when_a_value_is_below_all_others():
    assert relabel(["@5"], ["@9"], ["@7", "@1", "@8"]) == [
        ["#1"],
        ["#2"],
        ["#1.5", "#0.5", "#1.75"],
    ]


def test_labels_when_several_are_new_in_one_step():
    assert relabel(["@30", "@4", "@7"]) == [["#3", "#1", "#2"]]


def test_labels_when_reply_and_observation_show_the_same_value():
    reply, observation, _ = Labels().step({"epoch": "@12"}, {"a": "@10", "b": "@12"})
    assert reply == {"epoch": "#2"}
    assert observation == {"a": "#1", "b": "#2"}


def test_labels_when_values_have_no_order():
    assert relabel({"b": "~zz", "a": "~y"}, {"c": "~zz"}) == [{"b": "~2", "a": "~1"}, {"c": "~2"}]


def test_labels_when_nothing_is_opaque():
    assert relabel({"a": [1, None, True, "b1"]}) == [{"a": [1, None, True, "b1"]}]


def test_labels_when_the_value_is_no_number():
    with pytest.raises(ValueError, match="'@x'"):
        Labels().step(None, "@x")


@given(histories)
def test_equality_and_order_are_kept(history):
    raw = [number for step in history for number in step]
    renamed = [value(label) for step in relabel(*as_json(history)) for label in step]
    for i, a in enumerate(raw):
        for j, b in enumerate(raw):
            assert (a < b) == (renamed[i] < renamed[j])
            assert (a == b) == (renamed[i] == renamed[j])


@given(histories, st.integers(1, 1000), st.integers(-1000, 1000))
def test_labels_depend_on_order_only(history, factor, offset):
    moved = [[number * factor + offset for number in step] for step in history]
    assert relabel(*as_json(history)) == relabel(*as_json(moved))


@given(histories)
def test_histories_that_differ_in_order_have_other_labels(history):
    """The converse: swapping two different values of one step shows."""
    for step in history:
        for a, b in pairwise(step):
            if a != b:
                swapped = [[{a: b, b: a}.get(n, n) if s is step else n for n in s] for s in history]
                if swapped != history and order_pattern(swapped) != order_pattern(history):
                    assert relabel(*as_json(swapped)) != relabel(*as_json(history))


def order_pattern(history):
    flat = [number for step in history for number in step]
    return [[(a > b) - (a < b) for b in flat] for a in flat]


@given(histories)
def test_renaming_twice_changes_nothing(history):
    once = relabel(*as_json(history))
    assert relabel(*once) == once


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ((), ""),
        (("reply 1.5", 'expected "~1"'), ""),
        (('token = "#2"',), '"#1" < "#2": counters by their order, not their values'),
        (
            ('token = "#2"', 'expected "#3", got "#0.5"'),
            '"#1" < "#2": counters by their order, not their values, "#1.5" lies between #1 and #2',
        ),
    ],
)
def test_legend_explains_the_labels_that_are_shown(texts: tuple[str, ...], told: str) -> None:
    assert legend(texts) == told
