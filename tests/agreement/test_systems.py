"""The definition and compiled code on a system of components, channels and budgets."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.counted import never_met

from charter import api
from charter.analysis.environment import Arguments
from charter.core import nodes as n
from charter.explore.native.program.compiled import CompiledMachine
from charter.explore.reference.search import ReferenceOptions, explore

CHARTER = """
protocol test.system

sort Node
counter Term
const losses: int 0..3
const rounds: int 0..3

union Reply { granted(term: Term), refused }

component clerk {
  state term: Term = 0
  state holder: option Node = none
  state served: int 0..rounds = 0
  volatile state busy: bool = false

  operation ask(n: Node, seen: Term) -> Reply cites silent {
    branch old when behind: seen < term reply refused
    in any order {
      branch taken when held: holder != none and holder != present(n) reply refused
      branch tired when spent: served >= rounds reply refused
    }
    branch given {
      pick winner in {n}
      term' = bump(term)
      holder' = present(winner)
      served' = served + 1
      busy' = true
      reply granted(bump(term))
    }
  }
  operation rest() -> bool cites silent { branch done { busy' = false reply true } }
  operation failover() -> bool cites silent { branch done { busy' = false reply true } }
}

component voter {
  state term: Term = 0
  state leads: bool = false
  operation told(r: Reply) -> bool cites silent {
    branch yes when good: match r { granted(t) -> t > term, refused -> false } {
      term' = match r { granted(t) -> t, refused -> term }
      leads' = true
      reply true
    }
    branch no { leads' = false reply false }
  }
}

system office {
  clerk: clerk
  voter: map Node -> voter
  channel mail: Node carries Reply slot lossy
  state asked: set Node = {}
  state heard: Term = 0

  step ask(n: Node) {
    require n == n and new: not (n in asked) and calm: not clerk.busy or heard == clerk.term
    let answer = clerk.ask(n, voter[n].term)
    send mail[n] answer
    asked' = asked | {n}
  }
  step hear(n: Node) {
    receive r from mail[n]
    voter[n].told(r)
    asked' = asked - {n}
    let now = voter'[n].term
    heard' = max(now, heard)
  }
  step break_down() budget losses { clerk.failover() }
}

variant hasty {
  drop conjunct calm of office.ask
  replace conjunct new of office.ask with not (n in asked) or heard == voter[n].term
  replace update heard of office.hear with voter[n].term
}
variant short {
  replace in office step break_down() budget losses { require clerk.busy  clerk.failover() }
  drop update asked of office.hear
}
always one_holder of office cites silent: forall n in Node: voter[n].term <= clerk.term
stepwise terms_grow of office cites silent: clerk.term <= clerk'.term
always heard_of_all of office cites silent: forall n in Node: voter[n].term <= heard
witness leader of office: some n in Node: voter[n].leads
witness asked_once of office: took ask and not clerk.busy

instance tiny of office { Node = 2  losses = 1  rounds = 3 }
instance narrow of office { Node = 2  losses = 0  rounds = 1 }
instance later of office {
  Node = {n1, n2}  losses = 0  rounds = 2
  start clerk.served = 1
  start clerk.term = 3
  start voter.term = [n in Node: if n == n1 then 3 else 2]
  start heard = 3
}
instance one_asks of office {
  Node = {n1, n2}  losses = 0  rounds = 2
  only ask if n == n1
}
"""


@pytest.mark.parametrize("variant", ["", "hasty", "short"])
def test_steps_agree_when_a_system_is_explored(variant: str) -> None:
    model = api.load_text(CHARTER, api.Selection(variant))
    instance = model.instances[0]
    found = explore(model, instance, ReferenceOptions(symmetry=False, renaming=False))
    compiled, machine = CompiledMachine.of(model, instance, None), found.graph.machine
    assert found.counts.complete and found.counts.distinct > 20
    assert variant or not never_met(found)
    for state in found.graph.states:
        arguments = Arguments.at(machine, state)
        for step in machine.operations.values():
            for args in arguments.of(step.params):
                expected = machine.outcomes(state, step.name, args)
                assert compiled.outcomes(state, step.name, args) == expected


def test_properties_agree_when_a_system_is_explored() -> None:
    model = api.load_text(CHARTER)
    found = explore(model, model.instances[0])
    assert [(f.name, bool(f.seen)) for f in found.properties] == [
        ("one_holder", False),
        ("terms_grow", False),
        ("heard_of_all", False),
        ("leader", True),
        ("asked_once", True),
    ]
    assert found.counts.outside == 0


def without(model: n.Model, branch: str) -> n.Model:
    """The model without a branch: more than the checker would allow."""
    clerk = model.components[0]
    ask = clerk.operations[0]
    kept = tuple(b for b in ask.branches if b.name != branch)
    operations = (replace(ask, branches=kept), *clerk.operations[1:])
    components = (replace(clerk, operations=operations), *model.components[1:])
    return replace(model, components=components)


def test_transitions_are_outside_when_a_number_leaves_its_range() -> None:
    model = without(api.load_text(CHARTER), "tired")
    found = explore(model, model.instances[1])
    assert found.counts.outside > 0 and found.counts.complete
    assert not [f for f in found.failures if f.kind == "undefined"]


def test_quotients_reach_the_same_when_symmetry_is_off() -> None:
    model = api.load_text(CHARTER)
    instance = model.instances[0]
    apart = explore(model, instance, ReferenceOptions(symmetry=False))
    folded = explore(model, instance)
    assert folded.counts.distinct < apart.counts.distinct <= 2 * folded.counts.distinct
    assert len(folded.counts.levels) == len(apart.counts.levels)
    form = folded.graph.canonical.form
    assert {form(state) for state in apart.graph.states} == set(folded.graph.numbers)


def test_parts_start_where_the_instance_says() -> None:
    model = api.load_text(CHARTER)
    found = explore(model, model.instances[2])
    begin = found.graph.states[0]
    assert (begin["clerk.served"], begin["voter.term"], begin["heard"]) == (1, (3, 2), 3)
    assert found.counts.complete and not any(
        f.seen for f in found.properties if f.kind != "witness"
    )


def test_only_the_steps_that_an_instance_offers_are_taken() -> None:
    """One that names an element tells it apart, so the quotient by permutations would be wrong."""
    model = api.load_text(CHARTER)
    found = explore(model, model.instances[3])
    asked = {step.args for _, step in found.graph.parents if step and step.operation == "ask"}
    assert asked == {(0,)} and found.counts.complete
    apart = explore(model, model.instances[3], ReferenceOptions(symmetry=False))
    assert (found.counts, found.properties) == (apart.counts, apart.properties)
    for state in found.graph.states:
        wanted = state["asked"]
        assert isinstance(wanted, frozenset) and 1 not in wanted
