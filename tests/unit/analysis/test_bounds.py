"""Bounds of an instance replaced: what is taken, and what is refused with which sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter import api
from charter.api.as_json import search_json
from charter.core import nodes as n
from charter.core.types import MOST_ELEMENTS
from charter.diagnostics import Source
from charter.project.pipeline import check_texts

TEXT = """protocol test.bounds
sort Node
sort Item
const most: int 0..4
const first: int 0..most

component box {
  state held: set Node = {}
  state count: int 0..most = min(first, most)
  operation put(node: Node) -> bool cites silent {
    branch refused when node in held or count == most reply false
    branch done { held' = held | {node} count' = count + 1 reply true }
  }
}
witness some_held of box: held != {}
instance tiny of box { Node = {a, b} Item = 2 most = 2 first = 0 }
instance named of box {
  Node = {a, b}
  Item = {n1}
  most = 3
  first = 1
  start held = {b}
  only put if node == b
}
"""


def instance_of(name: str, *settings: str) -> n.Instance:
    model = api.set_bounds(api.load_text(TEXT), name, settings)
    return next(i for i in model.instances if i.name == name)


def test_bounds_are_replaced_when_they_are_set() -> None:
    made = instance_of("tiny", "most=4", "Node = 3", "first=1", "first=2", "Item=1")
    assert dict(made.consts) == {"most": 4, "first": 2}
    assert dict(made.sorts) == {"Node": ("a", "b", "n3"), "Item": ("i1",)}


def test_a_new_element_has_a_name_of_its_own_when_a_sort_grows() -> None:
    made = instance_of("named", "Node=3", "Item=3")
    assert dict(made.sorts) == {"Node": ("a", "b", "n3"), "Item": ("n1", "n2", "n4")}


@pytest.mark.parametrize(
    ("name", "setting", "why"),
    [
        ("tiny", "least=1", "tiny has no bound 'least'"),
        ("tiny", "most", "does not set most to a whole number"),
        ("tiny", "most=two", "does not set most to a whole number"),
        ("tiny", f"most={'9' * 5000}", "does not set most to a whole number"),
        ("tiny", "most=5", "most=5 is outside the range of most, 0..4"),
        ("tiny", "first=3", "first=3 is outside the range of first, 0..most"),
        ("tiny", "Node=0", "Node can have 1 to 512 elements, not 0"),
        ("tiny", "Node=513", "Node can have 1 to 512 elements, not 513"),
        (
            "named",
            "Node=1",
            "Node=1 leaves out b, which named names. The bounds of named: Node=2, Item=1",
        ),
    ],
)
def test_a_bound_is_refused_with_those_that_exist(name: str, setting: str, why: str) -> None:
    with pytest.raises(api.WrongBound, match=r"bounds (of named: )?Node=2, Item=") as refused:
        instance_of(name, setting)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_bound_is_refused_when_the_initial_state_has_no_value() -> None:
    lucky = "fun lucky(x: option int 0..most) -> int 0..most cites silent = value(x)\n\ncomponent"
    text = TEXT.replace("component", lucky).replace(
        "min(first, most)", "lucky(if most == 2 then present(0) else none)"
    )
    with pytest.raises(api.WrongBound, match="with most=1 the initial state has no value"):
        api.set_bounds(api.load_text(text), "tiny", ["most=1"])


def test_only_the_named_instance_changes() -> None:
    model = api.load_text(TEXT)
    made = api.set_bounds(model, "named", ["most=4"])
    assert made.instances[0] == model.instances[0] != made.instances[1]
    assert api.set_bounds(model, "", []) == model


def test_a_journal_is_of_its_bounds_when_they_change_the_initial_state_alone(
    tmp_path: Path,
) -> None:
    found = {}
    for first in (0, 1):
        model = api.set_bounds(api.load_text(TEXT), "tiny", [f"first={first}"])
        options = api.ExploreOptions(engine="native", journal=tmp_path / str(first))
        for _ in range(2):
            found[first] = api.explore(model, "tiny", options, lambda *_: None)
            bounds = search_json(found[first])["bounds"]
            assert bounds == {"Node": 2, "Item": 2, "most": 2, "first": first}
        other = api.ExploreOptions(engine="native", journal=tmp_path / "0")
    assert found[0].counts.distinct != found[1].counts.distinct
    with pytest.raises(api.CannotExplore, match="holds another search"):
        api.explore(model, "tiny", other, lambda *_: None)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("513", "513"),
        ("1000000000", "1,000,000,000"),
        ("{" + ", ".join(f"e{number}" for number in range(513)) + "}", "513"),
    ],
    ids=["513", "a billion", "names"],
)
@pytest.mark.parametrize("head", ["instance large of box {", 'scenario "s" of box { expect true'])
def test_a_text_is_refused_with_the_same_bound(head: str, value: str, said: str) -> None:
    text = f"{TEXT}{head} Node = {value} Item = 1 most = 1 first = 0 }}"
    (error,) = check_texts((Source("x", text),)).errors
    told = f"`Node` can have 1 to 512 elements, not {said}"
    assert (error.code, error.message) == ("instance/too-large", told)
    assert error.hint.startswith("choose a smaller size")
    assert error.span.quote() == value


def test_the_native_engine_searches_the_largest_sort() -> None:
    """Starting with one element that is held, another one is put, whichever."""
    text = TEXT.replace("only put if node == b", "").replace("most = 3", "most = 2")
    model = api.set_bounds(api.load_text(text), "named", [f"Node={MOST_ELEMENTS}"])
    found = api.explore(model, "named", api.ExploreOptions(engine="native"), lambda *_: None)
    assert (found.complete, found.counts.distinct) == (True, MOST_ELEMENTS)
