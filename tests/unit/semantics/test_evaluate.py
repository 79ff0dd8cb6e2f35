"""The definition where nothing else could tell that it is wrong."""

from __future__ import annotations

from copy import copy

import pytest

from charter import api
from charter.core import nodes as n
from charter.core import types as t
from charter.diagnostics import Source, Span
from charter.semantics.builtins import EvaluationError
from charter.semantics.machine import Machine, NoInitialState

TWO_SYSTEMS = """protocol test.two

component lamp {
  state on: bool = false
  operation touch() -> bool cites silent { branch lit { on' = true reply true } }
}
component bell {
  state rings: int 0..1 = 0
  operation touch() -> bool cites silent { branch rung { rings' = 1 reply true } }
}
system room {
  it: lamp
  step touch() { it.touch() }
}
system door {
  it: bell
  step touch() { it.touch() }
}
witness dark of room: not it.on
witness quiet of door: it.rings == 0
instance bright of room {}
instance loud of door {}
"""


def test_a_step_calls_the_part_of_its_own_system_when_another_has_one_of_that_name() -> None:
    model = api.load_text(TWO_SYSTEMS)
    door = Machine.of(model, model.instances[1])
    (outcome,) = door.outcomes(door.initial(), "touch", ())
    assert outcome.state == {"it.rings": 1}


def test_an_update_has_no_value_when_its_key_is_outside_of_the_map() -> None:
    model = api.load_text(TWO_SYSTEMS)
    room = Machine.of(model, model.instances[0])
    number = t.Int(t.Limit("", 0), t.Limit("", 1))
    kind = t.Map(number, t.Bool())
    whole = n.MapNew("k", n.Literal(False, type=t.Bool()), type=kind)
    entry = (n.Literal(2, type=number), n.Literal(True, type=t.Bool()))
    changed = n.MapWith(whole, (entry,), type=kind)
    with pytest.raises(EvaluationError, match="2 is not a key of the map"):
        room.evaluator.value(changed, room.scope(room.initial()), {})


def test_volatile_state_has_its_own_initial_value_when_a_state_is_loaded() -> None:
    """An implementation that loads a state knows nothing of the `start`s of an instance."""
    model = api.load_text("""protocol p component c {
      volatile state seen: int 0..3 = 0  state kept: int 0..3 = 0
      operation stop() -> bool { branch done { crash process  reply true } } }
    witness w of c: took stop/done
    instance tiny of c { start seen = 2  start kept = 1 }""")
    machine = Machine.of(model, model.instances[0])
    assert machine.load(machine.initial()) == {"seen": 0, "kept": 1}


SIZES = """protocol sizes

sort Node
const most: int 0..9

component box {
  state held: seq Node max most = <>
  operation ask() -> bool cites silent {
    branch told reply most + size({ n in Node if true }) == 2
  }
  operation put(n: Node) -> int 0..9 cites silent {
    branch kept { held' = append(held, n)  reply most }
  }
}

witness full of box: size(held) == most
instance small of box { Node = 1  most = 1 }
instance large of box { Node = 3  most = 2 }
"""


def test_each_instance_has_its_own_constants_and_elements_though_expressions_are_shared() -> None:
    model = api.load_text(SIZES)
    small, large = (Machine.of(model, instance) for instance in model.instances)
    for machine, said, most in ((small, True, 1), (large, False, 2), (small, True, 1)):
        state = machine.initial()
        (outcome,) = machine.outcomes(state, "ask", ())
        assert outcome.reply is said
        for _ in range(most):
            ((kept, state),) = ((o.reply, o.state) for o in machine.outcomes(state, "put", (0,)))
            assert kept == most
        with pytest.raises(EvaluationError, match="grows past its limit"):
            machine.outcomes(state, "put", (0,))


def test_errors_are_the_same_in_another_process() -> None:
    span = Span(Source("a.charter", "value(none)"), 0, 11)
    error = EvaluationError("value(none)", span)
    for one in (error, NoInitialState("held", "tiny", error)):
        sent = copy(one)  # by `__reduce__`, as between processes
        assert type(sent) is type(one) and str(sent) == str(one)
        assert (sent.message, sent.span) == (one.message, one.span)
