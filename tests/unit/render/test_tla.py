"""The TLA+ export: what it refuses, how it names, and one module as it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.golden import Golden
from tests.support.tla.tlc import read

from charter import api
from charter.core import nodes as n
from charter.render.tla.boxes import Broken
from charter.render.tla.export import export

SPEC = Path(__file__).parents[3] / "spec"
GOLDEN = Path(__file__).parents[2] / "golden" / "tla"

LOCK = """protocol test.lock
-- Who may hold the lock.
sort Client
counter Term
opaque Ticket
const most: int 0..9
source S "A text"
union Reply { granted(value: Ticket), refused(value: Term), Nothing }

-- Whether anybody waits.
fun waits(Next: set Client) -> bool cites S "2 (Waiting)" = Next != {}

component lock {
  -- Who holds it.
  state holder: option Client = none
  state queue: set Client = {}
  state term: Term = 0
  state ticket: Ticket = 0
  ghost state count: int 0..most = 0

  -- A client asks.
  operation ask(c: Client, seen: Term) -> Reply cites S "1" {
    let next = bump(ticket)
    in any order {
      -- It was told before.
      branch old cites S "1.1" when behind: seen < term or (seen == term and holder == present(c))
        reply refused(term)
      branch held when taken: holder != none { queue' = queue | {c} reply Nothing }
    }
    branch given { holder' = present(c) ticket' = next term' = bump(term) reply granted(next) }
  }
  operation leave() -> Reply {
    branch passed when waits(queue) {
      pick heir in queue or none
      holder' = heir
      queue' = { c in queue if present(c) != heir }
      reply Nothing
    }
    branch free { holder' = none reply Nothing }
  }
}
always count_small of lock cites S "3": count <= most
stepwise terms of lock: term <= term'
witness queued of lock: took ask/held and some c in Client: c in queue'
instance tiny of lock { Client = {a, b}  most = 1  start term = 1 }
"""


def export_text(model: n.Model) -> dict[str, str]:
    return dict(export(model, model.instances).files)


def list_warnings(model: n.Model) -> list[str]:
    with pytest.raises(api.Refused) as caught:
        export_text(model)
    return [item.code for item in caught.value.diagnostics]


def test_modules_are_the_golden_ones_when_a_component_is_exported(golden: Golden) -> None:
    for name, text in export_text(api.load_text(LOCK)).items():
        if name != "Charter.tla":
            golden.matches(GOLDEN / name, text)


def test_labels_of_a_step_are_noted_when_a_system_is_exported() -> None:
    system = """
system pair {
  lock: lock
  step ask(c: Client) {
    require lock.holder != present(c) and calm: lock.holder == none and busy: lock.queue != {}
    lock.leave()
  }
}
witness asked of pair: took ask
instance two of pair { Client = {a, b}  most = 1 }
"""
    text = export_text(api.load_text(LOCK + system))["pair.tla"]
    noted = [line.strip() for line in text.splitlines() if line.endswith(("calm", "busy"))]
    assert noted == ["/\\ lock.holder = None  \\* calm", "/\\ lock.queue # {}  \\* busy"]


def test_a_part_is_named_when_the_initial_state_fits_on_one_line() -> None:
    system = """protocol test.small
component lamp {
  state on: bool = false
  operation press() -> bool { branch pressed { on' = not on  reply true } }
}
system room { lamp: lamp  state count: int 0..1 = 0  step press() { lamp.press() } }
witness lit of room: lamp.on
instance one of room {}
"""
    text = export_text(api.load_text(system))["room.tla"]
    assert "Init == lamp = [on |-> FALSE] /\\ count = 0\n" in text


def test_a_truth_is_in_parentheses_when_a_variable_equals_it() -> None:
    flags = """protocol test.flags
const most: int 0..3
component box {
  state few: bool = most < 2
  state odd: bool = few_at_first() and most == 1
  operation both() -> bool { branch done { few' = few and odd  reply true } }
  operation same() -> bool { branch done { few' = few == odd  reply true } }
}
fun few_at_first() -> bool = most < 2
witness off of box: not few
instance tiny of box { most = 1  start few = most == 1 or most == 2 }
"""
    files = export_text(api.load_text(flags))
    equal = [
        line.strip().split(" /\\ Answers")[0]
        for name in ("box.tla", "box_tiny.tla")
        for line in files[name].splitlines()
        if "few = " in line or "odd = " in line or "few' = " in line
    ]
    assert equal == [
        "/\\ few = (most < 2)",
        "/\\ odd = (few_at_first /\\ most = 1)",
        "(few' = (few /\\ odd))",
        "(few' = (few = odd))",
        "/\\ few = (most = 1 \\/ most = 2)",
        "/\\ odd = (few_at_first /\\ most = 1)",
    ]


def test_equal_charters_give_equal_bytes() -> None:
    assert export_text(api.load_text(LOCK)) == export_text(api.load_text(LOCK))


def test_the_event_is_told_under_other_names_when_variables_have_its_names() -> None:
    text = LOCK.replace(
        "state queue", "state reply: bool = false\n  state branch: bool = false\n  state queue"
    )
    module = export_text(api.load_text(text))["lock.tla"]
    assert "Answers(branch_, reply_) ==" in module
    assert "event' = [branch |-> branch_, reply |-> reply_, turn" in module


def test_a_set_of_unordered_counters_is_refused() -> None:
    text = LOCK.replace("ticket: Ticket = 0", "ticket: Ticket = 0\n  state old: set Ticket = {}")
    assert list_warnings(api.load_text(text)) == ["tla/unordered"]


def test_a_parameter_with_a_counter_deep_inside_is_refused() -> None:
    text = LOCK.replace("operation leave()", "operation leave(all: set Term)")
    assert list_warnings(api.load_text(text)) == ["tla/argument"]


def test_liveness_is_left_out_aloud() -> None:
    model = api.load(SPEC / "examples" / "dining_philosophers.charter")
    files, warnings = api.export_tla(model, model.instances[0].name)
    assert {warning.code for warning in warnings} == {"tla/property"}
    assert len(warnings) == len(model.liveness) > 0
    assert "LEFT OUT: eventually nobody_starves" in files["table.tla"]


def test_a_long_text_is_broken_at_its_outermost_marks_alone() -> None:
    text = "{f(a, b) : x \\in (A \\cup B)} \\cup {" + "g(x), " * 20 + "g(y)}"
    lines = Broken(text).lines(60)
    assert lines[0] == "{f(a, b) : x \\in (A \\cup B)}" and lines[1].startswith("\\cup {g(x),")
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_what_tlc_says_is_read() -> None:
    text = (
        "Error: Invariant Check_a is violated.\nState 1: <Init>\nState 2: <b line 1>\n"
        "1,235 states generated, 17 distinct states found, 3 states left on queue.\n"
        "The depth of the complete state graph search is 4.\n"
    )
    said = read(text)
    assert (said.generated, said.distinct, said.depth, said.steps) == (1_234, 17, 4, 1)
    assert said.error == "Invariant Check_a is violated."


def test_sections_stand_once_above_their_first_operation() -> None:
    text = LOCK.replace("  -- A client asks.", "  -- What clients do.\n\n  -- A client asks.")
    module = export_text(api.load_text(text))["lock.tla"]
    assert module.count("\\* What clients do.") == 1
    assert "\\* What clients do.\n\n\\* A client asks." in module
