"""Steps that use one channel several times: the engines, TLC and the definition agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support import tlc
from tests.support.engines import both, counts, natively, verdicts

from charter import api
from charter.core import nodes as n

POST = """
protocol test.post
sort Node
component node {
  state seen: int 0..2 = 0
  operation see(n: int 0..2) -> bool { branch saw { seen' = n  reply true } }
}
system post {
  node: map Node -> node
  channel box: Node carries int 0..2 KIND
  step put(n: Node) { send box[n] 1 }
  step twice(a: Node, b: Node) { send box[a] 1  send box[b] 2 }
  step take(a: Node, b: Node) { receive m from box[a]  receive w from box[b]  node[b].see(w) }
  step swap(a: Node, b: Node) { receive m from box[a]  send box[b] 2 }
  step loop(a: Node, b: Node) { send box[a] 2  receive m from box[b]  node[a].see(m) }
  step rest() {}
}
always unseen of post cites silent: forall n in Node: node[n].seen < 3
witness seen of post: some n in Node: node[n].seen == 2
instance tiny of post { Node = 2 }
"""


def posted(kind: str) -> n.Model:
    return api.load_text(POST.replace("KIND", kind))


@pytest.mark.parametrize("kind", ["slot", "set", "fifo", "slot duplicating", "set duplicating"])
def test_engines_agree_where_a_step_uses_a_place_twice(kind: str) -> None:
    model = posted(kind)
    fast, plain = both(model, model.instances[0])
    assert fast.counts.complete
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))


@pytest.mark.parametrize("kind", ["slot", "fifo", "set duplicating"])
def test_tlc_agrees_where_a_step_uses_a_place_twice(kind: str, jar: Path, tmp_path: Path) -> None:
    model = posted(kind)
    found = natively(model, model.instances[0], symmetry=False)
    said = tlc.check(jar, model, model.instances[0], tmp_path, ["unseen"])
    assert not said.error
    assert (said.distinct, said.depth) == (found.counts.distinct, len(found.counts.levels))
