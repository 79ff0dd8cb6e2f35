"""Arguments that are counters: besides what the state tells, the numbers that the rules compare
with. The engines and TLC offer the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.engines import both, counts, natively, verdicts
from tests.support.tla import tlc

from charter import api
from charter.analysis.compared_numbers import NOTHING, NumbersCompared, find_compared
from charter.explore.native.memory.layout import CannotCompile
from charter.explore.reference.search import explore as by_definition

CHARTER = """protocol test.offered
counter Epoch
fun far(seen: Epoch, limit: Epoch) -> bool cites silent = seen > limit
component gate {
  state epoch: Epoch = 0
  state begun: bool = false
  state open: bool = false
  operation renew(seen: Epoch) -> bool cites silent {
    branch stale when old: seen < epoch reply false
    branch renewed {
      epoch' = if begun then epoch else bump(epoch)
      begun' = true
      open' = open or CONDITION
      reply true
    }
  }
}
witness w of gate: took renew/renewed
always never_open of gate cites silent: not open
instance tiny of gate { }
"""
CONDITIONS = {
    "seen == 3": NumbersCompared(frozenset({3})),
    "3 == seen": NumbersCompared(frozenset({3})),
    "seen > 4": NumbersCompared(frozenset({3, 4, 5})),
    "seen >= bump(bump(epoch))": NumbersCompared(ahead=3),
    "seen == bump(bump(epoch))": NumbersCompared(ahead=2),
    "seen > bump(epoch)": NumbersCompared(ahead=2),
    "seen in {5, 7}": NumbersCompared(frozenset({5, 7})),
    "far(seen, 6)": NumbersCompared(frozenset({5, 6, 7})),
    "seen == 2 or seen == 9": NumbersCompared(frozenset({2, 9})),
    "present(seen) == present(3)": NumbersCompared(frozenset({3})),
    "present(seen) in {present(4), none}": NumbersCompared(frozenset({4})),
    "<seen> == <bump(bump(epoch))>": NumbersCompared(ahead=2),
    "{5} == {seen}": NumbersCompared(frozenset({5})),
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_engines_offer_what_the_rules_compare_with(condition: str) -> None:
    model = api.load_text(CHARTER.replace("CONDITION", condition))
    tiny = model.instances[0]
    assert find_compared(model, "gate") == {"Epoch": CONDITIONS[condition]}
    fast, plain = both(model, tiny)
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))
    (opened,) = (p for p in fast.properties if p.kind == "always")
    assert opened.seen, condition


@pytest.mark.parametrize(
    "condition", ["seen == epoch", "seen > epoch", "seen == bump(epoch)", "epoch != seen"]
)
def test_nothing_more_is_offered_when_the_state_and_the_next_value_are_enough(
    condition: str,
) -> None:
    model = api.load_text(CHARTER.replace("CONDITION", condition))
    assert find_compared(model, "gate") == {}
    assert NOTHING.after(4) == {5}


SHAPES = {
    "seen: option Epoch": "seen == present(3)",
    "seen: map Node -> option Epoch": "some n in Node: seen[n] == present(3)",
    "seen: Epoch, other: Epoch": "seen == 3 and other == epoch",
    "seen: Epoch, node: Node": "seen == 3 and held[node] == none",
}


@pytest.mark.parametrize("params", SHAPES)
def test_engines_offer_it_in_arguments_of_each_shape(params: str) -> None:
    text = CHARTER.replace("(seen: Epoch) -> bool", f"({params}) -> bool")
    for old, new in (
        ("branch stale when old: seen < epoch reply false\n", ""),
        ("counter Epoch\n", "counter Epoch\nsort Node\n"),
        (
            "  state begun",
            "  state held: map Node -> option Epoch = [n in Node: none]\n  state begun",
        ),
        ("gate { }", "gate { Node = 2 }"),
        ("CONDITION", f"({SHAPES[params]})"),
    ):
        assert old in text
        text = text.replace(old, new)
    model = api.load_text(text)
    fast, plain = both(model, model.instances[0])
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))
    (opened,) = (p for p in fast.properties if p.kind == "always")
    assert opened.seen


def test_engines_offer_it_for_a_counter_that_the_state_does_not_hold() -> None:
    text = CHARTER.replace("state epoch: Epoch = 0", "state last: option Epoch = none")
    text = text.replace("branch stale when old: seen < epoch reply false\n", "")
    text = text.replace("      epoch' = if begun then epoch else bump(epoch)\n", "")
    model = api.load_text(text.replace("CONDITION", "seen == 3"))
    fast, plain = both(model, model.instances[0])
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))
    (opened,) = (p for p in fast.properties if p.kind == "always")
    assert opened.seen


@pytest.mark.parametrize("condition", ["seen == 63", "seen > 62"])
def test_the_greatest_number_of_the_native_engine_is_offered(condition: str) -> None:
    model = api.load_text(CHARTER.replace("CONDITION", condition))
    fast, plain = both(model, model.instances[0])
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))
    (opened,) = (p for p in fast.properties if p.kind == "always")
    assert opened.seen


@pytest.mark.parametrize("condition", ["seen > 63", "seen == 64", "seen == 300"])
def test_a_greater_number_is_refused_by_the_native_engine(condition: str) -> None:
    model = api.load_text(CHARTER.replace("CONDITION", condition))
    with pytest.raises(CannotCompile):
        natively(model, model.instances[0])
    found = by_definition(model, model.instances[0])
    (opened,) = (p for p in found.properties if p.kind == "always")
    assert opened.seen


def test_what_is_offered_does_not_depend_on_what_is_asked() -> None:
    text = CHARTER.replace("CONDITION", "seen == epoch")
    model = api.load_text(text.replace("not open", "not open or epoch > 7"))
    assert find_compared(model, "gate") == {}


@pytest.mark.parametrize(
    "condition",
    [
        pytest.param("seen == 3", marks=pytest.mark.slow),
        "seen in {5, 7} or seen > bump(epoch)",
    ],
)
def test_tlc_offers_the_same(condition: str, jar: Path, tmp_path: Path) -> None:
    model = api.load_text(CHARTER.replace("CONDITION", condition).replace("not open", "epoch < 2"))
    tiny = model.instances[0]
    said = tlc.check(jar, model, tiny, tmp_path)
    found = natively(model, tiny, symmetry=False).counts
    assert (said.error, said.distinct, said.depth) == ("", found.distinct, len(found.levels))


def test_a_bound_of_a_search_is_offered_nothing_for() -> None:
    bounded = CHARTER.replace("gate { }", "gate { only renew if epoch <= 3 }")
    model = api.load_text(bounded.replace("CONDITION", "seen == epoch"))
    assert find_compared(model, "gate") == {}
