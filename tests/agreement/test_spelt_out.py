"""What `check` spells out, such as functions that read state and binders that take values apart:
the engines and the generated model answer as the definition does."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.comparing.agreement import import_model
from tests.support.comparing.exhaustive import compare
from tests.support.comparing.modelled import Compared
from tests.support.engines import natively

from charter import api
from charter.semantics.machine import Machine

WORLD = """protocol test.world
sort Broker
union Mail { quiet, asked(from: Broker), told(from: Broker, yes: bool) }
record Row { owner: option Broker, yes: bool }

fun owned(b: Broker) of c -> bool = some o, present(r) in row: r.owner == present(b) and not o in shut
fun told_by(b: Broker) of c -> set bool = { yes for told(f, yes) in mail if f == b }
fun quiet_now() of c -> bool = mail == {} and forall b in Broker: told_by(b) == {}

component c {
  state row: map Broker -> option Row = [b in Broker: none]
  state mail: set Mail = {}
  state shut: set Broker = {}
  operation fill(b: Broker, owner: option Broker, yes: bool) -> bool {
    branch shut when b in shut or owned(b)  reply false
    branch filled { row[b]' = present(Row { owner: owner, yes: yes })  reply owned(b, shut: {b}) }
  }
  operation say(m: Mail) -> bool {
    branch again when some told(from, yes) in mail: m == told(from, not yes)  reply quiet_now()
    branch said when size({ f for told(f, _) in mail }) < 2 {
      pick yes in {true} | { r.yes for b, present(r) in row }
      mail' = mail | {m}
      reply yes
    }
    branch kept reply exactly one b, present(r) in row: r.yes
  }
  operation close(b: Broker) -> bool {
    branch closed when quiet_now() { shut' = shut | {b}  reply true }
    branch left when row[b] is present(r) and r.owner is present(o) and other: o != b and o in shut {
      row[b]' = present(r with { owner: none })
      reply r.yes and o == b
    }
    branch open reply forall present(r) in row[b], present(o) in r.owner: o == b
  }
}
witness held of c: some b, present(r) in row, present(o) in r.owner: o != b and r.yes
witness lone of c:
  (exactly one b, present(r) in row: r.yes) and (the b, present(r) in row: r.yes) in shut
witness same of c:
  { f for told(f, yes) in mail if yes } == { b for b, present(r) in row if r.yes } and mail != {}
always shut_is_owned of c: forall b in shut: row[b] == none or owned(b, shut: {})
stepwise rows_stay of c: forall b, present(r) in row, present(q) in row'[b]: took say implies r == q
stepwise nothing_opens of c: forall b in Broker: owned(b) implies owned(b, row: row') or b in shut'

system two {
  c: map Broker -> c
  ghost state seen: set Mail = {}
  step fill(b: Broker, o: Broker) { require may_fill(b, o)  c[b].fill(o, present(b), true) }
  step give(b: Broker, o: Broker) {
    require c[b].row[o] is present(r) and r.yes
    require r.owner is present(owner) and owner != b
    c[b].fill(owner, present(o), not r.yes)
  }
  step say(b: Broker, o: Broker) { c[b].say(told(o, b == o))  seen' = seen | {told(o, b == o)} }
}
fun may_fill(b: Broker, o: Broker) of two -> bool =
  forall x, rows in c.row, present(r) in rows[o]:
    r.owner == present(b) or owned(o, row: c[x].row, shut: c[b].shut)
always heard of two: forall b, mail in c.mail, told(f, yes) in mail: yes == (f == b) and told(f, yes) in seen
witness filled of two: forall b, rows in c.row: exactly one o, present(r) in rows: r.yes

instance tiny of c { Broker = 2 }
instance small of two { Broker = 2 }
"""  # noqa: E501


@pytest.mark.parametrize("every", [16, pytest.param(1, marks=pytest.mark.slow)])
def test_a_component_answers_as_the_definition_does(every: int, tmp_path: Path) -> None:
    model = api.load_text(WORLD)
    (tiny, _) = model.instances
    found = natively(model, tiny)
    machine = found.search.program.plan.machine
    module = import_model(model, model.components[0], tmp_path, "spelt_out")
    beside = Compared.beside(machine, {"c": module})
    tally = compare(found, beside, every)
    assert isinstance(beside.evaluator, Compared) and beside.evaluator.compared
    assert tally.states > 100 and tally.moves > 2_000


def test_a_system_answers_as_the_definition_does() -> None:
    model = api.load_text(WORLD)
    (_, small) = model.instances
    found = natively(model, small)
    machine: Machine = found.search.program.plan.machine
    tally = compare(found, machine, 1)
    assert tally.states > 100 and tally.moves > 500


UNNAMED = """protocol test.unnamed
sort Seat
union Place { free, held(left: bool), sold(to: Seat, price: int 0..2) }
component office {
  state seat: map Seat -> Place = [s in Seat: free]
  operation put(s: Seat, place: Place) -> bool {
    branch twice when some x, sold(_, _) in seat: x != s  reply false
    branch done { seat[s]' = place  reply true }
  }
  operation ask() -> int 0..2 {
    branch none_sold when not exactly one x, sold(_, _) in seat: true  reply 0
    branch price reply price()
  }
}
fun price() of office -> int 0..2 =
  match seat[the x, sold(_, _) in seat: true] { held(_) -> 1  sold(_, p) -> p  free -> 2 }
witness sells of office: took ask/price
instance tiny of office { Seat = 2 }
"""


def test_parameters_without_a_name_are_told_apart_in_nested_matches(tmp_path: Path) -> None:
    model = api.load_text(UNNAMED)
    found = natively(model, model.instances[0])
    module = import_model(model, model.components[0], tmp_path, "unnamed")
    beside = Compared.beside(found.search.program.plan.machine, {"office": module})
    tally = compare(found, beside, 1)
    assert isinstance(beside.evaluator, Compared) and beside.evaluator.compared
    assert tally.moves > 20
