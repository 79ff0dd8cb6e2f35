"""The comparison with the definition finds what it is made for: a transition, a reply, a property's
verdict, an offer or an answer of the generated model that is not as defined."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from tests.support.comparing.agreement import import_model
from tests.support.comparing.exhaustive import compare
from tests.support.comparing.modelled import Compared
from tests.support.comparing.sharing import Sharing
from tests.support.spec import SPEC

from charter import api
from charter.analysis.environment import list_offered
from charter.analysis.narrowed_machine import open_machine
from charter.cache.files import cache_folder
from charter.core import nodes as n
from charter.explore.native.search.explore import Choices, Exploration, NativeOptions, explore
from charter.semantics.builtins import EvaluationError
from charter.semantics.machine import Machine

GATE = """protocol test.gate
sort Seat
record Ticket { seat: Seat, paid: bool }
component gate {
  state open: bool = false
  state uses: int 0..3 = 0
  state last: option Seat = none
  operation enter(t: Ticket, late: bool) -> bool cites silent {
    let again = last == present(t.seat)
    in any order {
      branch shut when not open reply false
      branch unpaid when not t.paid or late reply late
      branch full when uses == 3 or (uses == 2 and not again) reply false
    }
    branch let_in {
      pick by in {t.seat} | { s in Seat if not again }
      uses' = uses + 1
      last' = present(by)
      reply again
    }
  }
  operation turn(on: bool) -> bool cites silent {
    branch turned { open' = on  reply on }
  }
  operation who() -> Seat cites silent { branch told reply value(last) }
}
always none_at_first of gate: uses == 0 implies last == none
always few of gate: uses < 3
stepwise once of gate: uses' != uses implies uses' == uses + 1
stepwise paid of gate: took enter/let_in implies last' != none
witness two of gate: uses == 2
instance tiny of gate { Seat = 2  only enter if t.paid or not late }
"""


def tiny(text: str) -> tuple[n.Model, n.Instance]:
    """A charter, and its instance of this name."""
    model = api.load_text(text)
    (instance,) = [each for each in model.instances if each.name == "tiny"]
    return model, instance


@cache
def search(text: str) -> Exploration:
    """What the native engine finds, with replies."""
    options = NativeOptions(Choices(detailed=True), cache=cache_folder("engine"), optimized=False)
    return explore(*tiny(text), options)


def machine_of(text: str) -> Machine:
    """The machine as a search has it."""
    return open_machine(*tiny(text))


def test_nothing_is_found_where_nothing_is_planted(tmp_path: Path) -> None:
    found, model = search(GATE), api.load_text(GATE)
    module = import_model(model, model.components[0], tmp_path, "gate")
    machine = Compared.beside(found.search.program.plan.machine, {"gate": module})
    tally = compare(found, machine)
    assert tally == compare(found, machine_of(GATE))
    assert tally.states > 5 and tally.moves > 100 and tally.noted > 3
    assert isinstance(machine.evaluator, Compared) and machine.evaluator.compared > 50


PLANTED = {
    "branch": ("when not open reply", "when not open and not late reply"),
    "state after": ("last' = present(by)", "last' = present(t.seat)"),
    "reply": ("reply late", "reply not late"),
    "number of outcomes": ("if not again }", "if again }"),
    "no value": ("told reply value(last)", "told reply default(last, the s in Seat: true)"),
    "guard": ("uses == 2 and", "uses >= 1 and"),
    "offer": ("only enter if t.paid or", "only enter if t.paid and"),
    "offer of another state": ("only enter if t.paid or", "only enter if open or t.paid or"),
    "verdict on states": ("gate: uses < 3", "gate: uses < 2"),
    "witness": ("gate: uses == 2", "gate: uses >= 2"),
    "verdict on steps": ("implies uses' == uses + 1", "implies uses' == uses + 1 and uses < 1"),
    "verdict on branches": ("gate: took enter/let_in implies", "gate: took turn implies"),
}
"""What is right in the charter, and what is wrong in the definition."""


@pytest.mark.parametrize(("right", "wrong"), PLANTED.values(), ids=PLANTED)
def test_what_is_planted_is_found(right: str, wrong: str) -> None:
    assert GATE.count(right) == 1
    found, other = search(GATE), machine_of(GATE.replace(right, wrong))
    with pytest.raises(AssertionError):
        compare(found, other)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("took start(p) implies not", "took start(p) implies"),
        ("m.number >= n[p]", "m.number < n[p]"),
        ("require started", "require not started"),
    ],
)
def test_what_is_planted_in_a_system_is_found(right: str, wrong: str) -> None:
    ring = (SPEC / "examples" / "ring_election.charter").read_text("utf-8")
    assert ring.count(right) == 1
    found, other = search(ring), machine_of(ring.replace(right, wrong))
    with pytest.raises(AssertionError):
        compare(found, other)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("reply late", "reply not late"),
        ("last' = present(by)", "last' = present(t.seat)"),
        ("uses == 2 and", "uses >= 1 and"),
        ("told reply value(last)", "told reply default(last, the s in Seat: true)"),
    ],
)
def test_what_is_planted_in_the_generated_model_is_found(
    right: str, wrong: str, tmp_path: Path
) -> None:
    found, planted = search(GATE), api.load_text(GATE.replace(right, wrong))
    module = import_model(planted, planted.components[0], tmp_path, "planted_gate")
    machine = Compared.beside(found.search.program.plan.machine, {"gate": module})
    with pytest.raises(AssertionError):
        compare(found, machine)


def test_what_is_evaluated_once_is_what_each_argument_list_gives() -> None:
    machine = machine_of(GATE)
    sharing, states = Sharing.within(machine), [machine.initial()]
    asked = 0
    for state in states:
        for operation, args in list_offered(machine, state):
            asked += 1
            try:
                outcomes = machine.outcomes(state, operation, args)
            except EvaluationError:
                with pytest.raises(EvaluationError):
                    sharing.outcomes(state, operation, args)
                continue
            assert sharing.outcomes(state, operation, args) == outcomes
            inside = [o.state for o in outcomes if not machine.outside(o.state)]
            states += [after for after in inside if after not in states]
    assert len(states) > 10 and asked > 100
