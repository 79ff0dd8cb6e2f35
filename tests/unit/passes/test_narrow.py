"""A machine is the same whatever else its protocol declares."""

from __future__ import annotations

from charter import api
from charter.analysis.narrowed_machine import open_machine
from charter.core.show import show_model
from charter.explore.native.program.compile_instance import Choices, print_program
from charter.explore.reference.search import explore
from charter.passes.narrow import narrow
from charter.suites.search_results import rules_digest

LAMP = """
protocol test.narrow
sort Room
counter Turn
const most: int 0..9
enum Glow { DARK, BRIGHT }
fun next(g: Glow) -> Glow cites silent = if g == DARK then BRIGHT else DARK
component lamp {
  state glow: map Room -> Glow = [r in Room: DARK]
  state turn: Turn = 0
  state used: int 0..most = 0
  operation press(r: Room) -> bool cites silent {
    branch worn when used >= most reply false
    branch pressed {
      glow' = glow with [r: next(glow[r])]
      turn' = bump(turn)
      used' = used + 1
      reply true
    }
  }
}
witness lit of lamp: some r in Room: glow[r] == BRIGHT
instance tiny of lamp { Room = 2  most = 2 }
"""

STRANGERS = """
counter Tick
const longest: int 0..9
record Note { at: Turn, tick: Tick, size: int 0..longest }
fun later(a: Turn, b: Turn) -> bool cites silent = a < b or a == 7
component clock {
  state note: Note = Note { at: 0, tick: 0, size: 0 }
  operation tick(t: Turn) -> bool cites silent {
    branch late when later(note.at, t) { note.at' = t reply true }
    branch same reply false
  }
}
system house {
  lamp: lamp
  clock: clock
  step press(r: Room) { lamp.press(r) clock.tick(lamp.turn) }
}
always small of house cites silent: clock.note.size <= longest
instance small of house { Room = 1  most = 1  longest = 1 }
"""


def test_a_component_is_the_same_when_strangers_stand_beside_it() -> None:
    alone, beside = api.load_text(LAMP), api.load_text(LAMP + STRANGERS)
    assert show_model(narrow(alone, "lamp")) == show_model(alone)
    assert show_model(narrow(beside, "lamp")) == show_model(alone)
    assert rules_digest(narrow(beside, "lamp"), ()) == rules_digest(alone, ())


def test_counts_stay_when_strangers_compare_its_counters() -> None:
    alone, beside = api.load_text(LAMP), api.load_text(LAMP + STRANGERS)
    one, two = (explore(m, m.instances[0]) for m in (alone, beside))
    assert one.counts.complete
    assert (one.counts, one.properties, one.branches) == (two.counts, two.properties, two.branches)
    texts = [print_program(open_machine(m, m.instances[0]), Choices())[1] for m in (alone, beside)]
    assert texts[0] == texts[1]


def test_a_system_brings_its_parts_and_what_they_mention() -> None:
    cut = narrow(api.load_text(LAMP + STRANGERS), "house")
    assert [c.name for c in cut.components] == ["lamp", "clock"]
    assert [f.name for f in cut.functions] == ["next", "later"]
    assert [name for name, _ in cut.consts] == ["most", "longest"]
    assert [i.name for i in cut.instances] == ["small"]
    assert [r.name for r in cut.records] == ["Note"]
