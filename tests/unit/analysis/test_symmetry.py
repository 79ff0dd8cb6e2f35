"""Which states count as one, and where that would lose something."""

from __future__ import annotations

import pytest
from tests.support.engines import both

from charter import api
from charter.analysis.symmetry import MOST_RENAMINGS, Quotient
from charter.core import nodes as n
from charter.passes.narrow import narrow
from charter.semantics.machine import Machine

RACE = """protocol toy
sort Node
counter Epoch
component box {
  state a: Epoch = 0
  state b: Epoch = 0
  state newest: Epoch = 0
  state at: option Node = none
  state hit: bool = false
  operation raise_b() -> bool {
    branch done when a == b { b' = bump(newest) newest' = bump(newest) reply true }
    branch no { reply false } }
  operation raise_a() -> bool {
    branch done when a == b { a' = bump(newest) newest' = bump(newest) reply true }
    branch no { reply false } }
  operation strike(e: Epoch, n: Node) -> bool {
    branch done when e == a { hit' = true  at' = present(n) reply true }
    branch no { reply false }
  }
}
always never of box: not hit
witness apart of box: a != b
"""


def quotient(instance: str) -> Quotient:
    model = narrow(api.load_text(RACE + instance), "box")
    return Quotient.of(Machine.of(model, model.instances[0]))


def test_sorts_and_counters_are_renamed_when_nothing_looks_at_them() -> None:
    found = quotient("instance tiny of box { Node = 3 }")
    assert (found.sorts, found.counters, found.ranked, found.fixed) == (
        ("Node",), {"Epoch"}, frozenset(), {},
    )  # fmt: skip


def test_a_counter_is_not_renamed_when_several_values_are_bumped() -> None:
    text = RACE.replace("bump(newest) newest'", "bump(b) newest'")
    model = narrow(api.load_text(text + "instance tiny of box { Node = 3 }"), "box")
    assert Quotient.of(Machine.of(model, model.instances[0])).counters == frozenset()


def test_a_sort_is_left_alone_when_only_names_an_element() -> None:
    found = quotient("instance tiny of box { Node = {x, y} only strike if n == x }")
    assert not found.sorts and "names one of its elements" in found.apart["Node"]


def test_only_the_expression_of_where_is_blamed_when_it_alone_names_an_element() -> None:
    text = RACE + "instance tiny of box { Node = {x, y} }"
    charter = api.Charter((api.Source("toy.charter", text),))
    model = charter.with_state_condition(charter.model(), api.PLAIN, "tiny", "at == present(x)")
    found = Quotient.of(Machine.of(narrow(model, "box"), model.instances[0]))
    assert found.apart == {"Node": "the expression of --where names one of its elements"}


def test_a_sort_is_left_alone_when_its_permutations_are_too_many() -> None:
    found = quotient("instance tiny of box { Node = 7 }")
    assert MOST_RENAMINGS < 5_040
    assert not found.sorts and "too many permutations" in found.apart["Node"]


@pytest.mark.parametrize(
    ("only", "fixed"), [("b < e", {}), ("e == max(a, b)", {}), ("e == 1", {"Epoch": 1})]
)
def test_a_counter_keeps_its_order_when_only_looks_at_it(only: str, fixed: dict[str, int]) -> None:
    found = quotient(f"instance tiny of box {{ Node = 1 only strike if {only} }}")
    assert (found.ranked, found.fixed) == ({"Epoch"}, fixed)


def test_engines_lose_nothing_when_only_compares_counters() -> None:
    """Of `a < b` and `b < a` the first is found first, and only the second can be struck."""
    model: n.Model = api.load_text(
        RACE + "instance tiny of box { Node = 1 only strike if b < e and hit == false }"
    )
    for found in both(model, model.instances[0]):
        (never,) = (f for f in found.properties if f.name == "never")
        assert never.seen and len(never.trace or ()) == 2
