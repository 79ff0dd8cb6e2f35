"""What an edit leaves as it is: nodes in which no name means something else. The core of an edited
protocol is the same, whether what is unchanged is taken over or elaborated again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support import spec

from charter.check.declarations import machines
from charter.check.declarations.elaborate import elaborate, elaborate_declarations, elaborate_edited
from charter.check.edits.flatten import apply_selection
from charter.check.names.declared import declarations
from charter.check.names.unchanged import Unchanged
from charter.core import nodes as n
from charter.core.encoding import encode
from charter.diagnostics import Diagnostics, Source
from charter.project import pipeline
from charter.project.sources import read_sources
from charter.syntax import nodes as sx

CHARTER = """\
protocol lamp

fun low(y: int 0..3 = 1) -> int 0..3 cites silent = y
fun start(x: int 0..3 = low()) -> int 0..3 cites silent = x
fun bright() of lamp -> bool cites silent = level > 1
fun glows() of lamp -> bool cites silent = bright()

component lamp {
  state level: int 0..3 = low()
  state broken: bool = false
  cached state kept: seq bool max 3 = <> on disk written
  state written: int 0..3 = 0
  history shone: bool = false then shone or bright()
  history kicked: bool = false then kicked or took kick/breaks
  operation press(to: int 0..3 = low()) -> bool cites silent {
    branch dims when glows: glows() { level' = 0  reply false }
    branch turns { level' = to  kept' = append(kept, true)  flush kept  reply true }
  }
  operation kick() -> bool cites silent {
    branch stays when whole: not broken { reply false }
    branch breaks { broken' = true  reply true }
  }
}

component desk {
  state set_to: int 0..3 = 0
  operation turn() -> bool cites silent {
    branch turned { set_to' = start()  reply true }
  }
}

system room {
  lamp: lamp
  desk: desk
  history used: bool = false then used or took press_it(_)
  step press_it(to: int 0..3) cites silent { lamp.press(to) }
  step press_low() cites silent { lamp.press() }
  step turn_it() cites silent { desk.turn() }
}

setup same_name of lamp { start level = low() }
fragment same_name() of lamp { do kick() }
fragment pressed() of lamp { do press() }
instance lit of lamp like same_name { }
instance dark of lamp { }
instance tiny of room { }
always dim of lamp cites silent: not bright() or level < 4
stepwise whole of lamp cites silent: took kick/breaks implies broken'
witness lit_up of lamp cites silent: level == 3
scenario "pressed" of lamp cites silent { include pressed() include same_name() }
"""
EDITS = {
    "default of a function": "replace fun low(y: int 0..3 = 2) -> int 0..3 cites silent = y",
    "body of a function": "replace fun low cites silent with 3",
    "state that a function reads": "replace fun bright cites silent with broken",
    "more state of a step": "replace fun glows cites silent with bright() and not shone",
    "a dropped branch": "drop branch lamp.kick/stays",
    "a dropped last branch": "drop branch lamp.kick/breaks",
    "a dropped update": "drop update kept of lamp.press/turns",
    "default of an operation": (
        "replace in lamp operation press(to: int 0..3 = 3) -> bool cites silent {"
        " branch turns { level' = to  reply true } }"
    ),
    "a dropped step": "drop step room.press_it",
}


def parse_text(text: str) -> sx.Protocol:
    return pipeline.parse_or_refuse((Source("lamp", text),))


def same(files: sx.Protocol, edited: sx.Protocol, variant: str, is_bent: bool) -> None:
    earlier = elaborate_declarations(files)
    assert earlier.core
    make = elaborate_edited if is_bent else elaborate
    found: list[tuple[bytes, list[str]]] = []
    for kept in (earlier, replace(earlier, core={})):
        said = Diagnostics()
        model: n.Model = make(edited, variant, said, kept)
        found.append((encode(model), [item.show() for item in said.items]))
    assert found[0] == found[1]


@pytest.mark.parametrize("edit", EDITS)
def test_core_is_the_same_when_what_is_unchanged_is_taken_over(edit: str) -> None:
    text = f"{CHARTER}variant other cites silent {{ {EDITS[edit]} }}\n"
    bent = text.replace("variant other cites silent", "mutant other in dark")
    said = Diagnostics()
    as_variant = apply_selection(parse_text(text), "other", "", said)
    as_mutant = apply_selection(parse_text(f"{bent.rstrip()} caught by dim\n"), "", "other", said)
    assert not said.items
    same(parse_text(text), as_variant, "other", is_bent=False)
    same(parse_text(f"{bent.rstrip()} caught by dim\n"), as_mutant, "", is_bent=True)


def list_changed(edit: str) -> set[str]:
    """The names of the members and declarations that are elaborated again after an edit."""
    text = f"{CHARTER}variant other cites silent {{ {edit} }}\n"
    before = parse_text(text)
    after = apply_selection(before, "other", "", Diagnostics())
    table, _ = machines.collect(before, Diagnostics())
    edited, _ = machines.collect(after, Diagnostics())
    kept = Unchanged(before, table).among(edited)
    found: set[str] = set()
    for node in declarations(after):
        members = node.members if isinstance(node, sx.ComponentDecl | sx.SystemDecl) else ()
        for item in (node, *members):
            if id(item) not in kept and not isinstance(item, sx.ObserveDecl | sx.ScenarioDecl):
                found.add(item.name.text)
    return found - {"lamp", "desk", "room"}


def test_only_the_edited_node_is_elaborated_again_when_no_name_means_something_else() -> None:
    assert list_changed("replace fun glows cites silent with bright() and true") == {"glows"}


def test_callers_are_elaborated_again_when_a_default_value_changes() -> None:
    found = list_changed(EDITS["default of a function"])
    assert {"low", "start", "turn", "same_name", "pressed", "lit", "press_low"} <= found
    assert not found & {"glows", "dark", "tiny", "lit_up"}


def test_all_branches_are_elaborated_again_when_a_history_calls_what_has_changed() -> None:
    found = list_changed(EDITS["state that a function reads"])
    assert {"press", "kick", "bright", "glows", "dim"} <= found
    assert not found & {"turn", "start", "dark", "lit_up", "turn_it"}


def test_nothing_is_taken_over_when_a_type_means_something_else() -> None:
    before = parse_text(f"{CHARTER}type Level = int 0..3\n")
    table, _ = machines.collect(before, Diagnostics())
    other, _ = machines.collect(parse_text(f"{CHARTER}type Level = int 0..2\n"), Diagnostics())
    assert not Unchanged(before, table).among(other)


MUTANTS, VARIANTS = spec.list_declared("mutant"), spec.list_declared("variant")


@pytest.mark.slow
@pytest.mark.parametrize("edit", [*MUTANTS, *VARIANTS])
def test_core_of_kafka_is_the_same_when_what_is_unchanged_is_taken_over(edit: str) -> None:
    files = pipeline.parse_or_refuse(read_sources(spec.SPEC / "kafka"))
    assert [*pipeline.edits_of(files, sx.MutantDecl)] == MUTANTS
    assert [*pipeline.edits_of(files, sx.VariantDecl)] == VARIANTS
    is_bent = edit in MUTANTS
    chosen = ("", edit) if is_bent else (edit, "")
    same(files, apply_selection(files, *chosen, Diagnostics()), chosen[0], is_bent)
