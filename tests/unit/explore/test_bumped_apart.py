"""Counters of which values below the greatest may be bumped are searched as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from charter import api
from conform.cli.main import main

TWO = """
protocol test.apart
sort Server
counter Term
component c {
  state x: Term = 0
  state y: Term = 0
  state each: map Server -> Term = [s in Server: 0]
  state last: option Term = none
  state behind: bool = false
  operation go(s: Server, o: Server, e: Term) -> bool cites silent {
    branch done {
      BODY
      reply true
    }
  }
}
always never of c cites silent: not behind or x <= y
witness started of c: took go/done
instance tiny of c { Server = 2 }
instance one of c { Server = 1 }
"""


@pytest.mark.parametrize(
    ("body", "instance", "found"),
    [
        ("x' = bump(x)", "tiny", {}),
        ("x' = bump(x)  y' = bump(x)", "tiny", {}),
        ("x' = bump(x)  y' = bump(y)", "tiny", {"Term": ("x", "y")}),
        ("each[s]' = bump(each[s])", "tiny", {}),
        ("each[s]' = bump(each[s])  behind' = each[s] < x", "tiny", {"Term": ("each",)}),
        (
            "each[s]' = bump(each[s])  behind' = forall p in Server: each[p] <= each[s]",
            "tiny",
            {"Term": ("each",)},
        ),
        ("each[s]' = bump(each[s])  behind' = e == each[s]", "tiny", {}),
        (
            "each[s]' = bump(each[s])  behind' = forall p in Server: e == each[p]",
            "tiny",
            {"Term": ("each",)},
        ),
        (
            "each[s]' = if behind then bump(each[s]) else each[o]",
            "tiny",
            {"Term": ("each",)},
        ),
        ("x' = bump(x)  y' = x", "tiny", {}),
        ("x' = bump(x)  y' = bump(bump(x))", "tiny", {"Term": ("x",)}),
        ("y' = bump(x)", "tiny", {"Term": ("x",)}),
        ("let next = bump(x)  y' = next  x' = next", "tiny", {}),
        ("x' = bump(x)  y' = bump(max(x, y))", "tiny", {"Term": ("max(...)", "x")}),
        ("x' = if behind then bump(x) else y", "tiny", {"Term": ("x",)}),
        ("x' = if behind then bump(x) else x  y' = if behind then bump(x) else y", "tiny", {}),
        ("x' = if not behind then x else bump(x)  y' = if behind then bump(x) else y", "tiny", {}),
        (
            "let up = behind  x' = if up then bump(x) else x  y' = if up then bump(x) else y",
            "tiny",
            {},
        ),
        ("let next = if behind then bump(x) else x  x' = next  y' = next", "tiny", {}),
        (
            "x' = let next = bump(x) in if behind then next else x"
            "  y' = if behind then bump(x) else y",
            "tiny",
            {},
        ),
        ("x' = if e == x then bump(x) else x  y' = if e != x then y else bump(x)", "tiny", {}),
        (
            "last' = if last == none then present(bump(x)) else last"
            "  x' = match last { none -> bump(x)  present(_) -> x }",
            "tiny",
            {},
        ),
        (
            "x' = if behind then bump(x) else x  y' = if not behind then bump(x) else y",
            "tiny",
            {"Term": ("x",)},
        ),
        (
            "x' = if behind then bump(x) else x  y' = if e == x then bump(x) else y",
            "tiny",
            {"Term": ("x",)},
        ),
        (
            "x' = if behind then bump(x) else x  y' = if behind then bump(bump(x)) else y",
            "tiny",
            {"Term": ("x",)},
        ),
        (
            "x' = if behind then bump(x) else y  y' = if behind then bump(x) else y",
            "tiny",
            {"Term": ("x",)},
        ),
        (
            "x' = if some p in Server: each[p] == e then bump(x) else x"
            "  each' = [p in Server: if each[p] == e then bump(x) else each[p]]",
            "tiny",
            {"Term": ("x",)},
        ),
        ("y' = bump(match last { none -> x  present(_) -> y })", "tiny", {"Term": ("x", "y")}),
        ("y' = bump(let which = y in which)  x' = bump(x)", "tiny", {"Term": ("x", "y")}),
    ],
)
def test_values_that_are_bumped_on_their_own_are_found(
    body: str, instance: str, found: dict[str, tuple[str, ...]]
) -> None:
    model = api.load_text(TWO.replace("BODY", body))
    options = api.ExploreOptions(most_states=10)
    assert api.explore(model, instance, options, lambda *_: None).bumped_apart == found


ENDLESS = """
protocol test.endless
counter Term
component c {
  state x: Term = 0
  state y: Term = 0
  state behind: bool = false
  operation ahead() -> bool cites silent { branch done { x' = bump(x) reply true } }
  operation follow() -> bool cites silent {
    branch done { y' = bump(y)  behind' = behind or bump(y) < x  reply true }
  }
}
always never of c cites silent: not behind
witness led of c: took ahead
instance tiny of c { }
"""


def test_violation_is_told_though_a_counter_grows_for_ever() -> None:
    """With 2 and 0 the next value of the smaller one is smaller, with 1 and 0 it is equal."""
    found = api.explore(api.load_text(ENDLESS), "tiny", api.ExploreOptions(), lambda *_: None)
    assert found.verdicts["never"] == "violated"
    assert not found.counts.complete
    assert re.fullmatch(
        r"the search stopped since a counter would exceed 63; [\d,]+ states were found, and "
        r"[\d,]+ of them were not searched further; `only OPERATION if CONDITION` in the instance "
        r"bounds it",
        found.stopped,
    )


def test_search_ends_when_a_counter_that_is_not_renamed_grows_for_ever() -> None:
    text = ENDLESS.replace("not behind", "behind or not behind")
    found = api.explore(api.load_text(text), "tiny", api.ExploreOptions(), lambda *_: None)
    assert (found.engine, found.verdicts["never"]) == ("native", "unknown")


def test_counter_that_nothing_holds_may_be_bumped() -> None:
    text = """
protocol test.nowhere
counter Term
component c {
  state on: bool = false
  operation go() -> Term cites silent { branch done { on' = true  reply bump(origin()) } }
}
fun origin() -> Term = 0
always fine of c cites silent: on or not on
witness went of c: took go
instance tiny of c { }
"""
    found = api.explore(api.load_text(text), "tiny", api.ExploreOptions(), lambda *_: None)
    assert (found.bumped_apart, found.verdicts["fine"]) == ({}, "holds")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            "x' = if behind then bump(x) else x  y' = bump(x)",
            "13:48: `bump(x)` is stored where x may stay below it; set x to it in the same branch"
            " and under the same condition",
        ),
        (
            "x' = if behind then bump(x) else y",
            "13:40: `y` may be less than x was; `max(x, ...)` is not",
        ),
        ("x' = bump(x)  y' = bump(y)", "13:12: `bump(x)`"),
        (
            "x' = bump(x)  behind' = e >= bump(bump(x))",
            "13:36: `bump(bump(x))` is compared where x may stay below it; set x to it in the same"
            " branch and under the same condition, or compare with less",
        ),
        (
            "x' = bump(x)  behind' = (let up = bump(bump(x)) in e >= up)",
            "13:41: `bump(bump(x))` is used where x may stay below it; set x to it in the same"
            " branch and under the same condition",
        ),
    ],
)
def test_place_where_a_value_below_the_greatest_is_bumped_is_told(
    body: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    charter = tmp_path / "apart.charter"
    charter.write_text(TWO.replace("BODY", body))
    main(["explore", str(charter), "--instance", "tiny", "--most", "10"])
    told = capsys.readouterr().err
    assert "values of Term below the greatest may be bumped" in told
    assert f"  {charter}:{sentence}\n" in told
