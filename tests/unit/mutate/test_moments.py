"""The mutation rules about time and number: what each makes, and that core stays valid."""

from __future__ import annotations

import pytest

from charter import api
from charter.core.valid import validate
from charter.mutate.moments import FAMILIES, MOMENTS, OTHER_FAMILY, name_family
from charter.mutate.mutants import MadeMutant, mutants, mutate
from charter.passes.order import lower_instance

LEASES = """\
protocol test.leases

sort Node

record Lease {
  holder: option Node
  waiting: set Node
}

fun next_of(before: Lease, now: Lease) -> Lease cites silent =
  let freed = now with { holder: none } in
  if before.waiting subset now.waiting then freed else now

component office {
  state lease: map Node -> Lease = [n in Node: Lease { holder: none, waiting: {} }]
  state counted: set Node = {}
  operation ask(n: Node) -> bool cites silent {
    let leased = lease with [n: Lease { holder: none, waiting: {n} }]
    branch known when lease[n].waiting & {n} == {} {
      let freed = [m in Node: next_of(lease[m], leased[m])]
      lease' = [m in Node: freed[m]]
      counted' = count(leased)
      reply true
    }
    branch late reply false
  }
}

fun count(leases: map Node -> Lease) -> set Node cites silent =
  { n in Node if leases[n].holder != none }

system town {
  office: office
  state open: bool = true
  channel letter: Node carries bool slot
  channel answer: Node carries bool slot
  step write(n: Node) {
    send letter[n] true
  }
  step close() {
    open' = false
    clear letter[n] for n in Node
  }
  step serve(n: Node) {
    require open
    receive said from letter[n]
    require answer[n] == none
    require office.counted == {}
    let r = office.ask(n)
    clear answer[n]
    send answer[n] said and r
  }
}

witness leased of office: took ask/known
witness served of town: took serve
instance tiny of office { Node = 2 }
instance small of town { Node = 2 }
"""

MISTAKES = {
    "next_of:kept-value": "`now` is read for `freed`, its value after the update",
    "next_of:old-record": "`before.waiting` is read of `now`",
    "next_of:some-of-all": "one member is enough for `before.waiting subset now.waiting`",
    "office.ask/known:all-but-one": "one member may be left in `lease[n].waiting & {n} == {}`",
    "office.ask/known:kept-value": "`lease` is read for `leased`, its value after the update",
    "office.ask/known:wrong-moment": "`lease` is read for `leased`, its value after the update",
    "office.ask/known:one-for-all": "one entry alone is updated of"
    " `lease' = [m in Node: freed[m]]`",
    "town.close:one-for-all": "`clear letter[n] for n in Node` is done for one of them",
    "town.serve:swap-messages": "`send answer[n] said and r` comes before `clear answer[n]`",
    "town.serve:unchecked-wait": "nothing is checked again: `require open`,"
    " `require answer[n] == none`, `require office.counted == {}`",
}


def of_leases(name: str) -> dict[str, MadeMutant]:
    """The mutants of a rule by one kind, by what each says."""
    made = mutants(api.load_text(LEASES))
    return {one.says: one for one in made if one.id.rpartition(":")[0] == name}


@pytest.mark.parametrize("name", MISTAKES)
def test_each_rule_makes_its_mistake(name: str) -> None:
    assert MISTAKES[name] in of_leases(name)


def test_each_rule_has_a_mistake_in_the_small_charter() -> None:
    assert {name.rpartition(":")[2] for name in MISTAKES} == set(MOMENTS)


def test_core_is_valid_with_each_mutant_and_can_be_searched() -> None:
    model = api.load_text(LEASES)
    for made in mutants(model):
        changed = mutate(model, made)
        validate(changed, made.id)
        for instance in changed.instances:
            validate(lower_instance(changed, instance)[0], made.id)


def test_a_mutant_of_one_for_all_changes_one_entry() -> None:
    """Two nodes: there are two ways to take one letter, and the other one stays."""
    model = api.load_text(LEASES)
    (made,) = of_leases("town.close:one-for-all").values()
    changed = mutate(model, made)
    found = api.explore(changed, "small", api.ExploreOptions(), lambda *_: None)
    before = api.explore(model, "small", api.ExploreOptions(), lambda *_: None)
    assert found.counts.generated > before.counts.generated


def test_each_family_has_rules_and_no_rule_two() -> None:
    kinds = [kind for family in FAMILIES.values() for kind in family]
    assert len({*kinds}) == len(kinds) and {*MOMENTS} <= {*kinds}
    assert name_family("kept-value") == "a value is kept that should be read again"
    assert name_family("compare") == OTHER_FAMILY
