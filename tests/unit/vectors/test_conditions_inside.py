"""The small suite shows the conditions inside `if`, `let` and `match` of a function that a guard
calls."""

from collections import Counter
from dataclasses import replace
from functools import cache

import pytest

from charter import api
from charter.core.obligations import obligations
from charter.diagnostics import Source
from charter.explore.reference.graph import DefinedGraph
from charter.explore.select import state_graph
from charter.prove import Infeasible, SingleStep, StepQuestion, single_step
from charter.semantics.machine import Machine
from charter.suites.search import search
from charter.suites.smoke import Smoke, smoke
from charter.suites.subject import subject
from charter.vectors.answer import Answers
from charter.vectors.kills import tells

GATE = """protocol gate

sort Guest

enum Day { work, feast, closed }

record Pass {
  owner: Guest
  uses: int 0..2
}

fun admits(guest: Guest, day: Day, pass: option Pass, strict: bool) -> bool cites silent =
  let known = pass != none in
  match day {
    work -> if strict and known then own(guest, pass) else known
    feast -> true
    closed -> false
  }

fun own(guest: Guest, pass: option Pass) -> bool cites silent =
  match pass { none -> false, present(p) -> p.owner == guest and p.uses < 2 }

component gate {
  state pass: option Pass = none
  state strict: bool = false
  operation enter(guest: Guest, day: Day) -> bool cites silent {
    branch refused when not admits(guest, day, pass, strict) reply false
    branch entered reply true
  }
  operation sell(guest: Guest, uses: int 0..2) -> bool cites silent {
    branch sold { pass' = present(Pass { owner: guest, uses: uses })  reply true }
  }
  operation guard(on: bool) -> bool cites silent {
    branch done when dull: if on then strict else not strict reply false
    branch set { strict' = on  reply true }
  }
  observe all { strict }
}

witness strictly of gate: strict and pass != none
instance tiny of gate { Guest = 2 }
"""

BUGS = {
    "a feast is closed": ("feast -> true", "feast -> false"),
    "closed is open": ("closed -> false", "closed -> true"),
    "never strict": ("strict and known then own", "false and known then own"),
    "anybody on a work day": ("else known", "else true"),
    "nobody on a work day": ("else known", "else false"),
    "the pass of another guest": ("p.owner == guest and p.uses < 2", "p.uses < 2"),
    "a pass that is used up": ("p.owner == guest and p.uses < 2", "p.owner == guest"),
    "strict all the same": ("if on then strict else not strict", "if on then strict else true"),
}
"""Mistakes in conditions below `if`, `let` and `match`."""


@cache
def small() -> Smoke:
    """The small suite, searched without the solver."""
    about = subject((Source("gate.charter", GATE),), "")
    return smoke(replace(about, found=search(about, lambda *_: None, False)))


@pytest.mark.parametrize("text", BUGS.values(), ids=BUGS)
def test_the_small_suite_tells_a_mistake_in_a_condition_inside(text: tuple[str, str]) -> None:
    assert text[0] in GATE
    planted = api.load_text(GATE.replace(*text))
    machine = Machine.of(planted, replace(planted.instances[0], offers=(), only=()))
    answers = Answers(machine, machine.outcomes)
    vectors = [entry.vector for entry in small().entries]
    assert any(tells(answers, v.question, v.answer) == "always" for v in vectors)


def test_every_condition_inside_has_rows_that_are_met() -> None:
    book = small().ledger
    asked = [r.name for r in book.rows if r.kind == "mcdc" and r.branch == "enter/refused"]
    admits = "mcdc enter/refused 1 admits"
    assert asked == [
        *(f"{admits}[1] {want}" for want in ("true", "false")),
        *(f"{admits}[2] {want}" for want in ("true", "false")),
        f"{admits}[3] own[1] false",
        *(f"{admits}[3] own[{i}] {want}" for i in (2, 3) for want in ("true", "false")),
        *(f"{admits}[4] {want}" for want in ("true", "false")),
        f"{admits}[5] true",
        f"{admits}[6] false",
    ]
    # Without a pass `known` is false in both ways, and nobody asks whose pass it is.
    impossible = [f"{admits}[2] false", f"{admits}[3] own[1] false"]
    assert [r.name for r in book.rows if r.status != "covered"] == impossible


def test_the_solver_asks_for_the_same_conditions() -> None:
    """Every step is replayed on the definition."""
    model = api.load_text(GATE)
    wanted = obligations(model, model.components[0])
    found = single_step(Machine.of(model, model.instances[0]), StepQuestion(wanted, ()))
    left = [a.obligation for a in found if isinstance(a, Infeasible)]
    assert len(left) + sum(isinstance(a, SingleStep) for a in found) == len(wanted)
    assert left == [r.name for r in small().ledger.rows if r.status != "covered"]


def test_both_graphs_tell_transitions_apart_by_the_conditions_inside() -> None:
    model = api.load_text(GATE)
    instance = model.instances[0]
    fast, slow = state_graph(model, instance), DefinedGraph.of(model, instance)
    assert [*fast.cases()] == [*slow.cases()]
    first = Counter(case.step.branch for case in slow.cases() if case.source == 0)
    assert first["enter/refused"] == 2 and first["enter/entered"] == 1
