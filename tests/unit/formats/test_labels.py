"""Renaming opaque values keeps equality and order, and nothing else."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from charter.formats.canonical import Json, as_set
from charter.formats.labels import Labels, legend
from charter.formats.opaque import OpaqueTypes
from charter.formats.types import read_types


def relabel(*steps: Json) -> list[Json]:
    labels, renamed = Labels(), []
    for step in steps:
        _, value, labels = labels.step(None, step)
        renamed.append(value)
    return renamed


TWO = OpaqueTypes.of(
    read_types(
        {
            "replies": {"take": "Token", "join": "Life"},
            "observes": {"token": "list Token", "life": "list Life", "seen": "set Seen",
                         "map": "map Token -> Life", "id": "list Id", "key": "list Key"},
            "names": {"Token": "ordered", "Life": "ordered", "Id": "opaque", "Key": "opaque",
                      "Seen": "union held{at: Token}, lived{at: Life}"},
            "state": {"token": "list Token", "life": "list Life", "last": "Life"},
        },
        "types",
    )
)  # fmt: skip
"""Two opaque counters and two types of opaque values without order."""


def by_type(*steps: tuple[str, Json, Json]) -> list[tuple[Json, Json]]:
    """Steps as operation, reply, observation; relabelled by type."""
    labels, renamed = Labels(TWO), []
    for operation, reply, observation in steps:
        shown_reply, shown, labels = labels.step(reply, observation, operation)
        renamed.append((shown_reply, shown))
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


ORDER = '"#1" < "#2": the values of one counter by their order, not the numbers'


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ((), ""),
        (("reply 1.5", 'expected "~1"'), ""),
        (('token = "#2"',), ORDER),
        (
            ('token = "#2"', 'expected "#3", got "#0.5"'),
            f'{ORDER}, "#1.5" lies between #1 and #2',
        ),
    ],
)
def test_legend_explains_the_labels_that_are_shown(texts: tuple[str, ...], told: str) -> None:
    assert legend(texts) == told


def test_each_type_has_its_own_labels():
    assert by_type(
        ("", None, {"token": ["@100"], "life": ["@7"]}),
        ("take", "@110", {"token": ["@100", "@110"], "life": ["@7"]}),
        ("join", "@8", {"token": ["@110"], "life": ["@7", "@8"]}),
        ("join", "@100", {"token": ["@100"], "life": ["@100"]}),
    ) == [
        (None, {"token": ["#1"], "life": ["#1"]}),
        ("#2", {"token": ["#1", "#2"], "life": ["#1"]}),
        ("#2", {"token": ["#2"], "life": ["#1", "#2"]}),
        ("#3", {"token": ["#1"], "life": ["#3"]}),
    ]


def test_types_without_order_have_their_own_labels_too():
    assert by_type(("", None, {"id": ["~a"], "key": ["~b", "~a"]})) == [
        (None, {"id": ["~1"], "key": ["~1", "~2"]})
    ]


@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9))
def test_set_of_two_types_is_sorted_without_comparing_them(token, life, more, other):
    def show(token: int, life: int) -> Json:
        items = [{"case": "held", "at": f"@{token}"}, {"case": "lived", "at": f"@{life}"}]
        return {"seen": as_set(items), "map": [[f"@{token}", f"@{life}"]]}

    assert by_type(("", None, show(token, life))) == by_type(("", None, show(more, other)))


@given(histories, histories, st.integers(1, 50), st.integers(-1000, 1000))
def test_labels_of_one_type_do_not_depend_on_another(tokens, lives, factor, offset):
    def steps(lives: list[list[int]]) -> list[tuple[str, Json, Json]]:
        pairs = zip(as_json(tokens), as_json(lives), strict=False)
        return [("take", token[0] if token else None, {"token": token, "life": life})
                for token, life in pairs]  # fmt: skip

    moved = [[number * factor + offset for number in step] for step in lives]
    renamed = by_type(*steps(lives))
    assert renamed == by_type(*steps(moved))
    assert [shown["token"] for _, shown in renamed] == relabel(*as_json(tokens))[: len(renamed)]
    assert [shown["life"] for _, shown in renamed] == relabel(*as_json(lives))[: len(renamed)]


def test_value_where_none_is_expected_is_of_no_type():
    assert by_type(("take", "@5", {"token": ["@5"], "other": "@7"})) == [
        ("#1", {"token": ["#1"], "other": "#1"})
    ]
    with pytest.raises(ValueError, match="'@x'"):
        by_type(("take", "@x", {}))
