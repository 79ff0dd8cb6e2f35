"""Sets whose items have some thousand possible values are native, and agree with the definition.
Where a limit remains, the reason names the set, the number of its values, and the limit."""

from __future__ import annotations

import pytest
from tests.support.engines import both, counts, verdicts

from charter import api
from charter.explore.native.memory.layout import CannotCompile
from charter.explore.native.search.explore import NativeOptions
from charter.explore.native.search.explore import explore as explore_native

RECORDS = """protocol large.records

record M { x: int 1..64, y: int 1..9, last: bool }
const most: int 0..9

system sending {
  state sent: set M = {}
  state kept: set M = { M { x: 64, y: 9, last: true } }
  step send(x: int 1..64, y: int 1..2) {
    require size(sent) < most and x > 61
    require not M { x: x, y: y, last: false } in sent
    sent' = sent | { M { x: x, y: y, last: false } }
  }
  step keep() {
    require sent != {}
    pick m in sent
    kept' = kept | { M { x: k.x, y: 9, last: true } for k in sent if k != m }
    sent' = sent - {m}
  }
  step clean() {
    require kept & sent == {} and size(kept) > 2
    kept' = { m in kept if m.x > 63 }
  }
}

witness both_kept of sending: some a in kept, b in kept: a.x == 62 and b.x == 63
always small of sending: forall m in sent | kept: m.y == 9 or m.y <= 2
always never_three of sending: size(kept) < 3
instance tiny of sending { most = 2 }
"""

MESSAGES = """protocol large.messages

sort Node
record Entry { term: int 0..2, mine: bool }
union Message {
  vote(from: Node, term: int 0..2)
  entries(from: Node, entries: seq Entry max 3, commit: option int 0..2)
  nothing()
}
const most: int 0..9

fun is_entries(m: Message) -> bool =
  match m { vote(_, _) -> false, entries(_, _, _) -> true, nothing -> false }

system sending {
  state sent: set Message = {}
  state log: seq Entry max 3 = <>
  step write(term: int 0..2) {
    require size(log) < most
    log' = append(log, Entry { term: term, mine: term == 1 })
  }
  step send(n: Node, done: option int 0..2) {
    require size(sent) < 2 and done != present(2)
    sent' = sent | { entries(n, log, done) }
  }
  step ask(n: Node) {
    require size(sent) < 2
    sent' = sent | { vote(n, 2) }
  }
  step stop() { sent' = (sent - { m in sent if is_entries(m) }) | { nothing() } }
  step forget() {
    require nothing() in sent
    sent' = {}
    log' = take(log, 1)
  }
}

witness two of sending: size(sent) == 2
always no_empty of sending: forall n in Node: not entries(n, <>, none) in sent
instance tiny of sending { Node = 2  most = 1 }
"""

CHOICES = """protocol large.choices

sort Server
record Append { term: int 0..7, index: int 0..7, commit: int 0..7 }
const top: int 0..7

fun offers_of(s: Server, t: int 0..7, me: Server) -> set option Append =
  if s == me then {none} else {none, present(Append { term: t, index: top, commit: 0 })}

system deciding {
  state at: int 0..7 = 0
  state out: map Server -> option Append = [s in Server: none]
  step decide(me: Server) {
    require at < top
    pick sent for s in Server in offers_of(s, at, me)
    out' = sent
    at' = at + 1
  }
}

witness sent_all of deciding: forall s in Server: out[s] != none
always known of deciding: forall s in Server: out[s] is present(o) implies o.index == top
instance tiny of deciding { Server = 3  top = 2  misses sent_all }
"""


@pytest.mark.parametrize(
    "text", [RECORDS, MESSAGES, CHOICES], ids=["records", "messages", "choices"]
)
def test_both_engines_agree_on_sets_of_many_possible_values(text: str) -> None:
    model = api.load_text(text)
    native, reference = both(model, model.instances[0])
    assert counts(native) == counts(reference)
    assert verdicts(native) == verdicts(reference)
    assert native.counts.distinct > 6


@pytest.mark.parametrize(
    ("size", "values", "states"), [(56, 4_032, 3), (57, 4_104, 0), (1000, 72_000, 0)]
)
def test_a_set_past_the_limit_is_named_with_its_values_and_the_limit(
    size: int, values: int, states: int
) -> None:
    text = f"""protocol large.refused
record M {{ x: int 1..{size}, y: int 1..9, z: int 1..8 }}
system s {{
  state sent: set M = {{}}
  step send() {{ sent' = sent | {{ M {{ x: 1, y: 1, z: if sent == {{}} then 1 else 2 }} }} }}
}}
witness some_sent of s: sent != {{}}
instance tiny of s {{ }}
"""
    model = api.load_text(text)
    if states:
        assert explore_native(model, model.instances[0], NativeOptions()).counts.distinct == states
        return
    with pytest.raises(CannotCompile) as refused:
        explore_native(model, model.instances[0], NativeOptions())
    assert refused.value.phrase == (
        f"a set or a map over M, which has {values:,} values here: the native engine holds at most"
        " 4,096"
    )
    assert refused.value.place == "<text>:4:3"
