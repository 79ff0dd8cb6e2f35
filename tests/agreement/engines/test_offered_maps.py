"""Arguments that are maps to optional counters: all entries current or none, but for one at most.
The engines and TLC offer the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.engines import both, counts, natively, verdicts
from tests.support.tla import tlc

from charter import api

CHARTER = """protocol test.offered
sort Node
counter Term
component box {
  state term: map Node -> Term = [n in Node: 0]
  state given: set Node = {}
  state wrong: set Node = {}
  operation move(n: Node) -> bool {
    branch done { term[n]' = bump(term[n])  reply true }
  }
  operation put(seen: map Node -> option Term) -> bool {
    branch done {
      given' = { n in Node if seen[n] == present(term[n]) }
      wrong' = { n in Node if seen[n] != none and seen[n] != present(term[n]) }
      reply true
    }
  }
}
always apart of box: given & wrong == {}
witness all_given of box: given == Node and wrong == {}
witness one_given of box: size(given) == 1 and wrong == {}
witness all_but_one_given of box: size(given) == size(Node) - 1 and wrong == {}
witness one_wrong_alone of box: given == {} and size(wrong) == 1
witness one_wrong of box: size(given) == size(Node) - 1 and size(wrong) == 1
instance tiny of box { Node = SIZE  only move if term[n] == 0 }
"""


@pytest.mark.parametrize("size", [*(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2)), 3])
def test_engines_and_tlc_offer_the_same_maps(size: int, jar: Path, tmp_path: Path) -> None:
    model = api.load_text(CHARTER.replace("SIZE", str(size)))
    tiny = model.instances[0]
    fast, plain = both(model, tiny)
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))
    witnesses = {p.name for p in fast.properties if p.kind == "witness" and p.seen}
    all_of_one = {"all_but_one_given"} if size == 1 else set()
    assert len(witnesses | all_of_one) == 5
    said = tlc.check(jar, model, tiny, tmp_path)
    found = natively(model, tiny, symmetry=False).counts
    assert (said.error, said.distinct, said.depth) == ("", found.distinct, len(found.levels))
