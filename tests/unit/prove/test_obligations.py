"""The rows of the ledger, and what the definition says meets them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from tests.support.switch import machine, switch

from charter import api
from charter.core.obligations import bound, obligations
from charter.semantics.coverage import Coverage


def names() -> list[str]:
    model = switch()
    return [o.name for o in obligations(model, model.components[0])]


def test_names_are_unique_when_obligations_are_listed() -> None:
    assert [name for name, count in Counter(names()).items() if count > 1] == []


@pytest.mark.parametrize(
    "name",
    [
        "branch befriend/full",
        "reply befriend/full FULL",
        "reply switch/unsure UNSURE",
        "reply switch/unsure FULL",
        "mcdc switch/stranger unknown[1] true",
        "mcdc switch/stranger unknown[2] false",
        "mcdc befriend/full new true",
        "boundary crowded size(people) >= most below",
        "boundary crowded size(people) >= most equal",
        "boundary switch/stale turn_seen < turn below",
        "boundary switch/lights uses < 9 equal",
    ],
)
def test_an_obligation_is_listed_when_the_text_calls_for_it(name: str) -> None:
    assert name in names()


def test_each_condition_is_asked_for_by_its_label_when_a_label_covers_several() -> None:
    text = """protocol p component c { state on: bool = true
      operation go(a: bool, b: bool) -> bool {
        branch yes when a and l: b and on and k: a or b  reply true
        branch no reply false } }
    witness w of c: took go/yes"""
    model = api.load_text(text)
    found = obligations(model, model.components[0])
    asked = [o.name for o in found if o.kind == "mcdc" and o.want == "true"]
    assert asked == [f"mcdc go/yes {part} true" for part in ("1", "l[1]", "l[2]", "k[1]", "k[2]")]


def test_nothing_is_asked_for_when_it_cannot_decide() -> None:
    assert not [name for name in names() if name.startswith("mcdc befriend/added")]
    assert not [name for name in names() if "reply befriend/added" in name]


def met(
    state: dict[str, object], operation: str, args: tuple[object, ...], branch: str
) -> set[str]:
    model = switch()
    there = machine(model)
    coverage = Coverage.of(there, obligations(model, model.components[0]))
    before = {**there.initial(), **state}
    outcome = next(o for o in there.outcomes(before, operation, args) if o.branch == branch)
    return set(coverage.met(before, operation, args, branch, outcome.reply))


def test_a_full_lamp_meets_its_obligations_when_a_stranger_comes() -> None:
    assert met({"friends": frozenset({0, 1})}, "befriend", (2,), "befriend/full") == {
        "branch befriend/full",
        "reply befriend/full FULL",
        "mcdc befriend/full no_room true",
        "mcdc befriend/full new true",
        "boundary crowded size(people) >= most equal",
    }


def test_only_the_condition_that_decides_is_met_when_another_is_false_too() -> None:
    found = met({"friends": frozenset({0})}, "befriend", (0,), "befriend/added")
    assert found == {"branch befriend/added", "boundary crowded size(people) >= most below"}
    found = met({"friends": frozenset({0})}, "befriend", (1,), "befriend/added")
    assert "mcdc befriend/full no_room false" in found


def test_a_group_is_looked_at_whole_when_one_of_its_branches_is_taken() -> None:
    found = met({"turn": 1}, "switch", (0, 0, False), "switch/stranger")
    assert found == {
        "branch switch/stranger",
        "reply switch/stranger STRANGER",
        "mcdc switch/stale old true",
        "mcdc switch/stranger unknown[1] false",
        "mcdc switch/stranger unknown[2] false",
        "boundary switch/stale turn_seen < turn below",
    }


def test_obligations_are_found_again_when_the_text_is_read_twice() -> None:
    first, second = switch(), switch()
    wanted = obligations(first, first.components[0])
    again = bound(second, second.components[0], wanted)
    assert again == wanted
    assert {id(o.expr) for o in again if o.expr} & {id(o.expr) for o in wanted if o.expr} == set()
    with pytest.raises(ValueError, match="no obligation"):
        bound(second, second.components[0], [replace(wanted[0], name="branch nowhere")])
