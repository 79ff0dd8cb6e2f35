"""The companions of properties: witnesses of what a property is about."""

from __future__ import annotations

from charter import api
from charter.core import nodes as n
from charter.core.show import show_expr
from charter.core.valid import validate
from charter.passes.companions import companions, run

HEAD = """protocol toy

sort Node
record Row { up: bool, peers: set Node }

component box {
  state rows: map Node -> option Row = [n in Node: none]
  state on: bool = false
  operation flip() -> bool { branch done { on' = not on reply true } }
}
witness turned of box: on
instance tiny of box { Node = 2 }
"""


def model(properties: str) -> n.Model:
    return api.load_text(HEAD + properties)


def list_texts(properties: str) -> list[tuple[str, str]]:
    found = companions(model(properties), "box")
    return [(one.text, show_expr(one.witness.body)) for one in found]


def test_the_left_side_is_a_condition_when_a_property_implies() -> None:
    assert list_texts("always p of box: on implies rows == [n in Node: none]") == [("on", "@on")]


def test_conditions_keep_what_stands_around_them() -> None:
    (outer, inner) = list_texts(
        """always p of box: forall n in Node: match rows[n] {
             none -> true
             present(r) -> let u = r.up in u implies forall m in r.peers: m != n
           }"""
    )
    assert outer[0] == "u"
    assert inner[0] == "r.peers"
    for _, text in (outer, inner):
        assert text.startswith("(some n in ") and "none -> false" in text and "let u" in text
    assert "(u and (some m in r.peers: true))" in inner[1]


def test_each_side_has_its_conditions_when_a_property_is_a_conjunction() -> None:
    found = list_texts("always p of box: (on implies true) and (not on implies true)")
    assert [text for text, _ in found] == ["on", "not on"]


def test_the_cases_that_say_something_are_met_when_a_property_has_no_condition() -> None:
    (found,) = list_texts(
        """always p of box: forall n in Node:
             match rows[n] { none -> true, present(r) -> not n in r.peers }"""
    )
    assert found[0] == ""
    assert "none -> false" in found[1] and "present(r) -> true" in found[1]


def test_there_is_no_companion_when_a_property_always_says_something() -> None:
    assert not list_texts("always p of box: forall n in Node: rows[n] == none or on")
    assert not list_texts("stepwise p of box: on or not (some n in Node: on implies on')")


def test_companions_are_core_and_clash_with_no_name() -> None:
    known = model(
        """always p of box: forall n in Node: rows[n] != none implies
             forall m in value(rows[n]).peers: if on then on implies m == n else not on
           stepwise q of box: on implies on'"""
    )
    whole, found = run(known, "box"), companions(known, "box")
    validate(whole, "test")
    names = [prop.name for prop in whole.properties]
    assert len(names) == len(set(names)) == len(known.properties) + len(found)
    assert {one.of for one in found} == {"p", "q"}
    assert companions(whole, "box") == found
    assert run(known, "") == whole
    assert run(known, "elsewhere") == known


def test_the_trigger_is_met_when_something_leads_to_something() -> None:
    known = api.load_text(
        HEAD
        + """system s {
               box: box
               step flip() { box.flip() }
             }
             eventually e of s fair flip: forall n in Node:
               box.rows[n] != none leads to box.on"""
    )
    (found,) = companions(known, "s")
    assert (found.of, found.text) == ("e", "box.rows[n] != none")
    assert show_expr(found.witness.body).startswith("(some n in ")
