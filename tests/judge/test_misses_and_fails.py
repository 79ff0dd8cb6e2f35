"""What an instance says that it misses and that fails in it, and what `explore` makes of it."""

import json

import pytest

HALF = """protocol toy.half

sort Node

component box {
  state held: set Node = {}
  state broken: bool = false
  operation put(node: Node) -> bool {
    branch refused when broken reply false
    branch kept { held' = held | {node} reply true }
  }
}

always whole of box: broken implies held == {}
always counted of box: size(held) <= 2
stepwise grows of box: took put/refused implies held == held'
witness some_held of box: held != {}

instance tiny of box { Node = 2 }
instance half of box { Node = 2  misses put/refused, whole, grows }
instance wrong of box { Node = 2  misses put/refused, put/kept, whole, grows, some_held }
"""


def test_explore_is_vacuous_when_a_condition_is_never_met(conform, toy):
    toy.write_text(HALF)
    code, out, _ = conform("explore", toy)
    assert code == 4
    assert "whole was not exercised: `broken` was never met (toy.charter:14:22)" in out
    assert "grows was not exercised: `took put/refused` was never met" in out
    assert "1 of 2 branches was never taken: put/refused" in out
    found = json.loads(conform("explore", toy, "--json")[1])
    assert found["never_taken"] == ["put/refused"]
    assert [(one["kind"], one["name"]) for one in found["vacuous"]] == [
        ("condition", "whole"), ("condition", "grows"), ("branch", "put/refused"),
    ]  # fmt: skip
    assert not set(found["verdicts"]) - {"whole", "counted", "grows", "some_held"}


def test_explore_is_content_when_the_instance_says_what_it_misses(conform, toy):
    toy.write_text(HALF)
    code, out, _ = conform("explore", toy, "--instance", "half")
    assert code == 0
    assert "exercised" not in out
    assert "1 of 2 branches was never taken, as `misses` says" in out


def test_explore_says_so_when_an_instance_meets_what_it_misses(conform, toy):
    toy.write_text(HALF)
    code, out, _ = conform("explore", toy, "--instance", "wrong")
    assert code == 4
    for name in ("put/kept", "some_held"):
        assert f"the instance lists {name} under `misses`, but it was met" in out
    found = json.loads(conform("explore", toy, "--instance", "wrong", "--json")[1])
    assert found["not_missed"] == ["put/kept", "some_held"]


FAILING = (
    HALF
    + """
always empty of box: held == {}
instance known of box { Node = 2  misses put/refused, whole, grows  fails empty }
instance denied of box { Node = 2  misses put/refused, whole, grows  fails empty, counted }
"""
)


def test_explore_shows_what_the_instance_says_that_fails_and_is_content(conform, toy):
    toy.write_text(FAILING)
    code, out, _ = conform("explore", toy, "--instance", "known")
    assert code == 0
    assert "always empty fails; the shortest trace" in out
    assert "as the instance says under `fails`: empty" in out
    assert out.endswith("nothing else is violated\n")
    found = json.loads(conform("explore", toy, "--instance", "known", "--json")[1])
    assert (found["fine"], found["expected"], found["not_failed"]) == (True, ["empty"], [])
    assert found["verdicts"]["empty"] == "violated"


def test_what_fails_is_about_the_bounds_of_the_instance(conform, toy):
    toy.write_text(FAILING)
    code, out, _ = conform("explore", toy, "--instance", "known", "--set", "Node=1")
    assert code == 1
    assert "under `fails`" not in out


def test_explore_says_so_when_a_property_holds_that_the_instance_says_fails(conform, toy):
    toy.write_text(FAILING)
    code, out, _ = conform("explore", toy, "--instance", "denied")
    assert code == 4
    assert "the instance lists counted under `fails`, but it holds" in out


@pytest.mark.parametrize("instance", ["half", "wrong", "tiny"])
def test_what_an_instance_misses_is_of_its_own_bounds(conform, toy, instance):
    toy.write_text(HALF)
    code, out, _ = conform("explore", toy, "--instance", instance, "--set", "Node=1")
    assert code == 0
    assert "1 of 2 branches was never taken: put/refused" in out
    assert "whole was not exercised" in out
    assert "the instance says" not in out


def test_explore_does_not_know_what_is_vacuous_when_it_gives_up(conform, toy):
    toy.write_text(HALF)
    code, out, _ = conform("explore", toy, "--most", 2)
    assert code == 3
    assert "were never taken so far" in out or "was never taken so far" in out
    assert json.loads(conform("explore", toy, "--most", 2, "--json")[1])["vacuous"] == []
