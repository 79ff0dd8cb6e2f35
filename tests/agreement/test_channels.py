"""Steps that use one channel several times, send to many, receive several messages at once, or
clear: the engines, TLC and the definition agree."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.engines import both, counts, natively, verdicts
from tests.support.tla import tlc

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

STREAM = """
protocol test.stream
sort Node
const longest: int 1..9
component node {
  state up: bool = true
  state seen: int 0..3 = 0
  operation read(news: seq int 1..3 max longest) -> bool {
    branch saw { seen' = match last(news) { none -> 0, present(n) -> n }  reply true }
  }
  operation turn() -> bool { branch turned { up' = not up  seen' = 0  reply true } }
}
system stream {
  node: map Node -> node
  channel news: Node carries int 1..3 fifo max longest
  channel wire: Node -> Node carries int 1..3 KIND
  state newest: int 0..3 = 0
  step publish() {
    require newest < 3
    newest' = newest + 1
    send news[n] newest + 1 for n in Node if node[n].up
  }
  step read(n: Node, many: int 1..longest) {
    require node[n].up
    receive found[many] from news[n]
    node[n].read(found)
    send wire[n][other] last_of(found) for other in Node if other != n
  }
  step hear(a: Node, b: Node) { receive m from wire[a][b]  require m != node[b].seen }
  step turn(n: Node) {
    node[n].turn()
    clear news[n]
    clear wire[n][other] for other in Node
    clear wire[other][n] for other in { o in Node if node[o].up }
    send news[n] newest if newest > 0 and not node[n].up
  }
}
fun last_of(found: seq int 1..3 max longest) -> int 1..3 cites silent =
  match last(found) { none -> 1, present(n) -> n }
always in_order of stream cites silent:
  forall n in Node: (last(news[n]) is present(m) implies m == newest or not node[n].up)
witness skipped of stream: some n in Node: size(news[n]) == 2 and size(news'[n]) == 0
instance tiny of stream { Node = 2  longest = 2 }
"""


def post(kind: str) -> n.Model:
    return api.load_text(POST.replace("KIND", kind))


@pytest.mark.parametrize(
    "kind",
    [
        *("slot", "set", "slot duplicating", "set duplicating"),
        pytest.param("fifo", marks=pytest.mark.slow),  # the other system below is smaller
    ],
)
def test_engines_agree_where_a_step_uses_a_place_twice(kind: str) -> None:
    model = post(kind)
    fast, plain = both(model, model.instances[0])
    assert fast.counts.complete
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))


@pytest.mark.parametrize(
    "kind",
    ["set duplicating", *(pytest.param(k, marks=pytest.mark.slow) for k in ("slot", "fifo"))],
)
def test_tlc_agrees_where_a_step_uses_a_place_twice(kind: str, jar: Path, tmp_path: Path) -> None:
    model = post(kind)
    found = natively(model, model.instances[0], symmetry=False)
    said = tlc.check(jar, model, model.instances[0], tmp_path, ["unseen"])
    assert not said.error
    assert (said.distinct, said.depth) == (found.counts.distinct, len(found.counts.levels))


@pytest.mark.parametrize("kind", ["slot", "set", "fifo", "slot duplicating"])
def test_engines_agree_where_a_step_sends_to_many_reads_a_batch_and_clears(kind: str) -> None:
    model = api.load_text(STREAM.replace("KIND", kind))
    fast, plain = both(model, model.instances[0])
    assert fast.counts.complete
    assert fast.counts.distinct > 70
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))


def test_tlc_agrees_where_a_step_sends_to_many_reads_a_batch_and_clears(
    jar: Path, tmp_path: Path
) -> None:
    model = api.load_text(STREAM.replace("KIND", "slot"))
    found = natively(model, model.instances[0], symmetry=False)
    said = tlc.check(jar, model, model.instances[0], tmp_path, ["in_order"])
    assert not said.error
    assert (said.distinct, said.depth) == (found.counts.distinct, len(found.counts.levels))
