"""Sets of messages under renaming: both engines find the same states, and what canonical forms of
such sets need does not grow with permutations."""

from __future__ import annotations

import pytest
from tests.support.engines import both, counts, verdicts

from charter import api
from charter.analysis.narrowed_machine import open_machine
from charter.explore.native.program.compile_instance import Choices, print_program

NET = """protocol test.net
sort Node
sort Value
const most: int 1..9
record Vote { by: Node, value: option Value }
union Message {
  asked(to: Node, from: Node)
  voted(vote: Vote, at: int 1..most)
  done(nodes: set Node)
}
union Phase { idle(number: int 0..9999), waits(sent: set Message), left }

system net {
  state sent: set Message = {}
  state phase: map Node -> Phase = [n in Node: idle(9999)]
  state last: option Vote = none
  state kept: map Node -> set int 0..70 = [n in Node: {}]

  step ask(a: Node, b: Node) {
    require a != b and phase[a] == idle(9999) and size(sent) < 3
    sent' = sent | {asked(b, a)}
    phase[a]' = waits({asked(a, b)})
    kept[b]' = {70}
  }
  step vote(a: Node, v: Value, at: int 1..most) {
    require size(sent) < 3
    sent' = sent | {voted(Vote { by: a, value: present(v) }, at)}
    last' = present(Vote { by: a, value: none })
    kept[a]' = kept[a] | {at}
  }
  step stop(a: Node) {
    require phase[a] != left and size(sent) > 1
    sent' = { m in sent if m != done({}) } | {done({a})}
    phase[a]' = left
  }
  step rest() { require size(sent) > 1 }
}
always one_done of net: size({ n for m in sent, done(n) in sent }) <= 2
witness votes of net: some voted(v, n) in sent: n == most and v.value != none
instance three of net { Node = 3 Value = 2 most = 1 }
instance four of net { Node = 4 Value = 1 most = 1 }
"""

SENT = """protocol test.sent
sort Node
record Message { from: Node, to: Node, number: int 1..20 }
system net {
  state sent: set Message = {}
  step put(from: Node, to: Node, number: int 1..20) {
    require sent == {}
    sent' = {Message { from: from, to: to, number: number }}
  }
}
witness puts of net: took put
instance NAME of net { Node = SIZE }
"""


@pytest.mark.parametrize("number", [0, 1])
def test_both_engines_rename_sets_of_messages_alike(number: int) -> None:
    model = api.load_text(NET)
    found, defined = both(model, model.instances[number])
    assert found.counts.complete and found.counts.distinct > 100
    assert (counts(found), verdicts(found)) == (counts(defined), verdicts(defined))


def measure_text(size: int) -> int:
    """The length of the IR of an instance with so many elements."""
    model = api.load_text(SENT.replace("NAME", "tiny").replace("SIZE", str(size)))
    _, text, _ = print_program(open_machine(model, model.instances[0]), Choices())
    return len(text)


def test_tables_for_sets_grow_with_values_and_not_with_permutations_of_them() -> None:
    # 24 and 720 permutations of 320 and 720 values
    assert measure_text(6) < 6 * measure_text(4)
