"""A prelude leads from the machine's own first state to the start of its instance."""

from __future__ import annotations

import pytest

from charter.analysis.preludes import replay
from charter.api.charters import load_text
from charter.diagnostics import Diagnostic, Diagnostics, Source
from charter.project.pipeline import check_texts
from charter.syntax.parse import parse
from charter.syntax.show import show

ROOM = """protocol test.room

sort Person

opaque ordered
counter Ticket

component room {
  state inside: map Person -> option Ticket = [p in Person: none]
  state last: Ticket = 0
  state open: bool = false

  operation unlock() -> bool {
    branch unlocked when shut: not open {
      open' = true
      reply true
    }
    branch already reply false
  }

  operation enter(p: Person) -> option Ticket {
    branch closed when shut: not open reply none
    branch in_already when present: inside[p] != none reply inside[p]
    branch entered {
      let ticket = bump(last)
      inside' = inside with [p: present(ticket)]
      last' = ticket
      reply present(ticket)
    }
  }

  operation choose() -> bool {
    branch chosen {
      pick wide in {true, false}
      open' = wide
      reply wide
    }
  }

  observe all {
    inside
    open
  }
}

witness full of room: forall p in Person: inside[p] != none
"""

OPEN = """
setup unlocked of room {
  Person = {ann, bob}
  start open = true
  prelude {
    do unlock() -> unlocked
  }
}
"""

FULL = """
fragment comes(p: Person) of room {
  do enter(p) -> entered
}

instance full of room like unlocked {
  start inside = [p in Person: present(if p == ann then 7 else 9)]
  start last = 9
  -- In this order.
  prelude {
    include comes(ann)  -- the first ticket
    let first = inside[ann]
    expect first != none
    include comes(bob)
  }
  offers unlock
}
"""


def errors(text: str) -> tuple[Diagnostic, ...]:
    return check_texts((Source("x", ROOM + OPEN + text),)).errors


def test_a_prelude_leads_there_up_to_the_numbers_of_counters() -> None:
    assert errors(FULL) == ()
    model = load_text(ROOM + OPEN + FULL)
    led = replay(model, model.instances[0])
    assert led is not None
    assert [step.operation for step in led.steps] == ["unlock", "enter", "enter"]
    assert led.first["open"] is False and led.state["last"] == 2


def test_a_prelude_that_leads_elsewhere_names_the_variable() -> None:
    (error,) = errors(FULL.replace("    include comes(bob)\n", ""))
    assert error.code == "instance/prelude"
    assert error.message.startswith("the prelude of `full` does not lead to its start: `inside`")
    assert error.span.quote().startswith("prelude {")


def test_a_line_of_a_prelude_that_cannot_be_is_reported_at_its_place() -> None:
    (error,) = errors(FULL.replace("    include comes(ann)  -- the first ticket\n", ""))
    assert error.code == "instance/prelude"
    assert error.message.startswith("the prelude of `full`: expected `first != none`")
    assert error.span.quote() == "expect first != none"


def test_a_copied_prelude_that_leads_elsewhere_is_reported_where_it_is_copied() -> None:
    (error,) = errors(
        "setup shut of room like unlocked { start open = false  prelude { } }\n"
        "instance one of room like shut { }"
    )
    assert error.span.quote() == "shut"
    assert "`open` becomes true, and the start has false" in error.message


def test_a_start_without_a_prelude_of_its_own_copies_none() -> None:
    text = "instance one of room like unlocked { start open = false  misses full }"
    assert errors(text) == ()
    (instance,) = load_text(ROOM + OPEN + text).instances
    assert instance.prelude is None


def test_one_of_several_outcomes_must_lead_there() -> None:
    start = "instance one of room { Person = 1  start open = true  prelude { do choose() } }"
    assert errors(start) == ()
    (error,) = errors(start.replace("prelude", "start inside = [p in Person: present(3)]  prelude"))
    assert error.code == "instance/prelude"


def test_a_scenario_has_a_prelude() -> None:
    text = """
scenario "bob follows" of room like unlocked {
  start last = 5
  start inside = [p in Person: if p == ann then present(5) else none]
  prelude {
    do enter(ann)
  }
  do enter(bob) -> entered reply present(6)
}
"""
    assert errors(text) == ()
    (error,) = errors(text.replace("    do enter(ann)\n", ""))
    assert "the prelude of `bob follows`" in error.message


SYSTEM = """
system hall {
  room: map Person -> room
  state opened: set Person = {}
  step open_up(p: Person) {
    require not p in opened
    let done = room[p].unlock()
    require done
    opened' = opened | {p}
  }
}
witness all_open of hall: forall p in Person: p in opened
instance half of hall {
  Person = {ann, bob}
  start opened = {ann}
  start room.open = [p in Person: p == ann]
  prelude { do open_up(ann) }
}
"""


def test_the_prelude_of_a_system_has_steps() -> None:
    assert errors(SYSTEM) == ()
    (error,) = errors(SYSTEM.replace("do open_up(ann)", "do open_up(bob)"))
    assert error.message.startswith("the prelude of `half` does not lead to its start")


def test_a_variant_is_checked_too() -> None:
    edit = "variant shut { replace update open of room.unlock/unlocked with false }\n"
    (error,) = errors(FULL + edit)
    assert error.code == "instance/prelude"
    assert any("in variant `shut`" in note for note, _ in error.notes)


@pytest.mark.parametrize("text", [FULL, "\ninstance one of room {\n  prelude { }\n}\n"])
def test_a_prelude_is_printed_as_it_was_written(text: str) -> None:
    whole = ROOM + OPEN + text
    tree = parse(Source("x", whole), Diagnostics())
    assert tree is not None
    assert show(tree) == whole
