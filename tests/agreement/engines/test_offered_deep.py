"""Arguments with counters deep inside: in records, unions, options and sequences. The engines offer
what the definition offers."""

from __future__ import annotations

import pytest
from tests.support.comparing.exhaustive import compare
from tests.support.engines import both, counts, natively, verdicts

from charter import api
from charter.core import nodes as n

CHARTER = """protocol test.deep
sort Node
counter Term
record Note { from: Node, term: Term, also: option Term, count: int 0..1 }
union Word { nothing, told(term: Term, n: Node), two(terms: seq Term max 2) }
component box {
  state term: map Node -> Term = [n in Node: 0]
  state kept: option Term = none
  state longest: int 0..2 = 0
  state odd: bool = false
  operation take(note: Note) -> bool {
    branch old when note.term < term[note.from]  reply false
    branch kept when same: note.term == term[note.from] { kept' = note.also  reply true }
    branch newer {
      term[note.from]' = note.term
      odd' = note.count == 1 and note.also != present(note.term)
      reply true
    }
  }
  operation hear(n: Node, word: Word, more: option Note) -> bool {
    branch quiet when word == nothing and more == none  reply false
    branch heard {
      longest' = match word { nothing -> 0, told(t, m) -> if t == term[m] then 1 else 0,
        two(terms) -> size(terms) }
      kept' = match more { none -> kept, present(note) -> note.also }
      reply true
    }
  }
}
witness long of box: longest == 2
witness wrong of box: odd
always new_is_kept of box: kept == none or some n in Node: kept == present(term[n])
instance told of box { Node = {a, b}  offers take }
instance heard of box { Node = {a} }
"""


def instance(name: str) -> tuple[n.Model, n.Instance]:
    model = api.load_text(CHARTER)
    return model, next(i for i in model.instances if i.name == name)


@pytest.mark.parametrize("name", ["told", "heard"])
def test_engines_agree_when_counters_are_deep_in_arguments(name: str) -> None:
    fast, plain = both(*instance(name))
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))
    assert any(f.seen for f in fast.properties if f.kind == "witness")


@pytest.mark.parametrize("name", ["told", "heard"])
def test_every_transition_is_as_defined_when_counters_are_deep_in_arguments(name: str) -> None:
    found = natively(*instance(name))
    tally = compare(found, found.search.program.plan.machine)
    assert tally.moves > tally.states
