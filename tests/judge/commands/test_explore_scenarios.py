"""`conform explore` follows the scenarios of what it searches."""

import json

import pytest

BOX = """protocol toy.box
sort Node
component box {
  state held: set Node = {}
  operation put(node: Node) -> bool { branch kept { held' = held | {node} reply true } }
}
always counted of box: size(held) <= 2
witness some_held of box: held != {}
instance tiny of box { Node = 2 }
instance tiny_alone of box { Node = 1 }
"""


@pytest.fixture
def toy(tmp_path):
    return tmp_path / "toy.charter"


def test_explore_follows_the_scenarios_of_what_it_searches(conform, toy):
    scenario = """scenario "three" of box {
  Node = {a, b}
  step "1 the first"
  do put(a)
  step "2 the second"
  do put(b)
  expect size(held) == 1
}
"""
    toy.write_text(BOX + scenario)
    code, out, _ = conform("explore", toy, "--instance", "tiny")
    assert code == 1
    line = 1 + (BOX + scenario).splitlines().index("  expect size(held) == 1")
    said = (
        'scenario "three", step "2 the second": expected `size(held) == 1`, but `size(held)` is 2'
    )
    assert out.count(f"toy.charter:{line}:3: {said}") == 1
    assert "nothing is violated" not in out
    found = json.loads(conform("explore", toy, "--instance", "tiny", "--json")[1])
    assert [(one["scenario"], one["step"]) for one in found["failing_scenarios"]] == [
        ("three", "2 the second")
    ]
    code, out, _ = conform("explore", toy, "--instance", "*")
    assert code == 1 and out.count(said) == 1


def test_explore_ends_with_a_table_when_there_are_several_instances(conform, toy):
    more = """always empty of box: held == {}
instance broken of box { Node = 2  fails empty, counted }
instance bare of box { Node = 1  misses some_held, put/kept  fails empty }
"""
    toy.write_text(BOX + more)
    code, out, _ = conform("explore", toy, "--instance", "*")
    lines = out.split("\n\n")[-1].replace("\n      ", " ").splitlines()
    table = [line.split(maxsplit=6) for line in lines if not line.startswith(" ")]
    assert [[name, states, misses, result] for name, _, states, _, _, misses, result in table] == [
        ["instance", "distinct", "misses", "result"],
        ["tiny", "3", "0", "violated: empty"],
        ["tiny_alone", "2", "0", "violated: empty"],
        ["broken", "3", "0", "fails as it says: empty; does not fail: counted"],
        ["bare", "2", "2", "fails as it says: empty; met after all: some_held, put/kept"],
    ]
    assert code == 1


def test_explore_follows_no_scenario_when_the_charter_is_bent(conform, toy):
    scenario = """scenario "one" of box { Node = {a, b}  do put(a)  expect held == {a} }
mutant lazy in tiny { replace update held of box.put/kept with held } caught by counted
"""
    toy.write_text(BOX + scenario)
    assert conform("explore", toy, "--instance", "tiny")[0] == 0
    code, out, _ = conform("explore", toy, "--mutant", "lazy")
    assert code == 4 and "scenario" not in out
    assert (
        json.loads(conform("explore", toy, "--mutant", "lazy", "--json")[1])["failing_scenarios"]
        == []
    )
