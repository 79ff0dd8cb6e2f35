"""Traces that were written down as text are read back as the steps that they were."""

from __future__ import annotations

import pytest

from charter import api
from charter.analysis.retell import NotARun
from charter.analysis.spelt_trace import acts_of
from charter.semantics.machine import Machine
from charter.semantics.shown_values import show_call

SHELF = """protocol test.shelf
sort Node
opaque counter Ticket
record Box { owner: option Node, tickets: set Ticket }
component shelf {
  state box: option Box = none
  state last: Ticket = 0
  operation put(n: Node, heavy: bool) -> bool {
    branch full when there: box != none  reply false
    branch put {
      pick other in Node
      box' = present(Box { owner: present(other), tickets: {bump(last)} })
      last' = bump(last)
      reply heavy
    }
  }
  operation give(to: option Node, t: Ticket) -> bool {
    branch given when known: box is present(b) and t in b.tickets and b.owner == to {
      box' = none
      reply true
    }
    branch unknown reply false
  }
}
always never_given of shelf: box == none implies last == 0
witness full of shelf: box != none
instance tiny of shelf { Node = 2 }
"""


@pytest.fixture(scope="module")
def machine() -> Machine:
    model = api.load_text(SHELF)
    return Machine.of(model, model.instances[0])


def test_a_shortest_trace_is_read_back(machine: Machine) -> None:
    found = api.explore(machine.model, "tiny", api.ExploreOptions(), lambda *_: None)
    broken = next(one for one in found.properties if one.name == "never_given")
    steps = api.tell(machine.model, "tiny", broken).steps
    texts = [show_call(step.operation, step.args) for step in steps]
    assert [text.partition("(")[0] for text in texts] == ["put", "give"]
    assert broken.trace is not None
    assert acts_of(machine, texts) == tuple((s.operation, s.args) for s in broken.trace)


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("take(n: n1)", "the instance offers no take(n: n1)"),
        ("put(n: n9, heavy: true)", "the instance offers no put(n: n9, heavy: true)"),
        ("put(n: n1)", "the instance offers no put(n: n1)"),
        ("", "the instance offers no "),
    ],
)
def test_a_text_that_is_no_step_is_told(machine: Machine, text: str, sentence: str) -> None:
    with pytest.raises(NotARun) as told:
        acts_of(machine, ["put(n: n1, heavy: true)", text])
    assert str(told.value) == sentence


def test_a_step_that_is_not_possible_is_told() -> None:
    model = api.load_text(
        """protocol test.once
component lamp { state on: bool = false
  operation press() -> bool { branch pressed { on' = true reply true } } }
system room { lamp: lamp  step enter() { require not lamp.on  lamp.press() } }
witness lit of room: lamp.on
instance tiny of room {}
"""
    )
    with pytest.raises(NotARun, match=r"the definition does not allow enter\(\)"):
        acts_of(Machine.of(model, model.instances[0]), ["enter()", "enter()"])
