"""Properties that read with which arguments an operation, or a step, was taken: the engines, the
solver, TLC and random walks say what the definition says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.comparing.exhaustive import compare
from tests.support.engines import both, counts, natively, verdicts
from tests.support.tla import tlc

from charter import api
from charter.core import nodes as n
from charter.core.transition import reads_arguments
from charter.explore.simulate import WalkPlan, simulate
from charter.prove import Holds, NotInductive, Proved, Trace, induction, reach
from charter.semantics.machine import Machine

CHARTER = """protocol test.arguments
sort Node
counter Term
component door {
  state holder: option Node = none
  state term: Term = 0
  history asked: set Node = {} then { n in Node if n in asked or took ask(n, _) }
  operation ask(n: Node, t: Term) -> bool {
    branch old when t < term  reply false
    branch given { holder' = present(n)  term' = bump(term)  reply true }
  }
  operation leave() -> bool { branch done { holder' = none  reply true } }
}
stepwise taken_by_who_asks of door:
  forall n in Node: holder' == present(n) and holder != holder' implies took ask/given(n, _)
stepwise newer of door: took ask/given implies not took ask(t: 0) or term == 0
stepwise never_taken_over of door: forall n in Node: took ask(n, _) implies holder == none
stepwise by_the_next_term of door: took ask/given implies took ask(_, term')
witness again of door: some n in Node: took ask/given(n, term) and holder == present(n)
witness left of door: took leave()
always holder_asked of door: match holder { none -> true, present(n) -> n in asked }
instance tiny of door { Node = 2 }
system house {
  door: door
  state last: option Node = none
  channel post: Node carries Node slot lossy
  step ask(a: Node, b: Node) { send post[a] b  door.ask(b, door.term)  last' = present(a) }
  step get(a: Node) { receive m from post[a]  door.leave() }
}
stepwise asked_for of house:
  forall a in Node, b in Node:
    took ask(a, b) implies last' == present(a) and door'.holder == present(b)
stepwise lost of house:
  forall a in Node: took lose_post(a) implies post[a] != none and post'[a] == none
stepwise for_others of house: forall a in Node: not took ask(a, b: a)
witness again_for_oneself of house: some a in Node: took ask(a, a) and last == present(a)
instance small of house { Node = 2 }
"""
BROKEN = {"tiny": {"never_taken_over", "by_the_next_term"}, "small": {"for_others"}}
WITNESSES = {"tiny": {"again", "left"}, "small": {"again_for_oneself"}}
AGAIN = {"again", "again_for_oneself"}
"""Witnesses that read arguments."""


def instance(name: str) -> tuple[n.Model, n.Instance]:
    model = api.load_text(CHARTER)
    return model, next(i for i in model.instances if i.name == name)


@pytest.mark.parametrize("name", BROKEN)
def test_engines_agree_when_properties_read_arguments(name: str) -> None:
    fast, plain = both(*instance(name))
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))
    found = {f.name: f for f in fast.properties if f.seen}
    assert {f.name for f in found.values() if f.kind == "stepwise"} == BROKEN[name]
    assert {f.name for f in found.values() if f.kind == "witness"} >= WITNESSES[name]


@pytest.mark.parametrize("name", BROKEN)
def test_every_transition_is_as_defined_when_properties_read_arguments(name: str) -> None:
    found = natively(*instance(name))
    tally = compare(found, found.search.program.plan.machine)
    assert tally.noted and tally.moves > tally.states


def test_the_solver_agrees_when_properties_read_arguments() -> None:
    machine = Machine.of(*instance("tiny"))
    props = {p.name: p for p in machine.model.properties}
    assert isinstance(induction(machine, props["taken_by_who_asks"]), Proved)
    for name in BROKEN["tiny"]:
        assert isinstance(induction(machine, props[name]), NotInductive)
    again = Holds("again", props["again"].body)
    (found,) = reach(machine, (again,), 3)
    assert isinstance(found, Trace) and len(found.steps) == 2
    assert found.steps[0].args[0] == found.steps[1].args[0]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_walk_finds_the_same_when_properties_read_arguments(compiled: bool) -> None:
    found = simulate(*instance("tiny"), WalkPlan(steps=5, walks=50, seed=1), compiled=compiled)
    assert set(found.failures) == BROKEN["tiny"]


@pytest.mark.parametrize("name", ["tiny", pytest.param("small", marks=pytest.mark.slow)])
def test_tlc_agrees_when_properties_read_arguments(name: str, jar: Path, tmp_path: Path) -> None:
    model, chosen = instance(name)
    found = natively(model, chosen, symmetry=False)
    holding = [f.name for f in found.properties if f.kind != "witness" and not f.seen]
    said = tlc.check(jar, model, chosen, tmp_path, holding)
    assert not said.error and len(holding) > 1
    assert (said.distinct, said.depth) == (found.counts.distinct, len(found.counts.levels))
    wrong = [f for f in found.properties if f.name in BROKEN[name] | AGAIN]
    for one in wrong if name == "small" else wrong[:1]:
        said = tlc.check(jar, model, chosen, tmp_path, [one.name])
        assert said.error and said.steps == len(one.trace or ()), one.name


def test_tla_holds_arguments_where_a_property_reads_them() -> None:
    model, chosen = instance("tiny")
    files, warnings = api.export_tla(model, chosen.name)
    assert not warnings and 'Answers("ask/given", [n |-> n, t |-> t], TRUE)' in files["door.tla"]
    without = tuple(p for p in model.properties if not reads_arguments(p.body))
    files, _ = api.export_tla(replace(model, properties=without), chosen.name)
    assert "args" not in files["door.tla"]
