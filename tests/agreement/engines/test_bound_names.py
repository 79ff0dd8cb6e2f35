"""A name that an expression binds ends with it in the native engine, as in the definition."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.engines import both, counts, verdicts

from charter import api

CHARTER = """
protocol two
sort Key
union Reply { refused, found(n: int 0..3) }
component store {
  state held: map Key -> option int 0..3 = [k in Key: none]
  operation put(key: Key, n: int 0..3) -> Reply {
    branch taken when known: some k in Key: held[k] == present(n) reply refused
    branch made {
      held' = held with [key: present(n)]
      reply found(n)
    }
  }
  operation ask(n: int 0..3, m: int 0..3) -> Reply {
    FIRST
    let at = { k in Key if held[k] is present(p) and p == n }
    let one = if at == {} then none else held[the k in at: true]
    branch absent when found: one == none reply refused
    let p = value(one)
    let key = the k in at: true
    branch there {
      held' = held with [key: present(p)]
      reply found(p)
    }
  }
}
witness both of store: forall k in Key: held[k] != none
instance tiny of store { Key = {k1, k2} }
"""
BOUND = "forall k, present(p) in held: p != n or m <= p"
FIRST = {
    "an assumption": f"assume read: {BOUND}",
    "a let": f"let read = {BOUND}\n    branch late when known: not read reply refused",
    "a guard": f"branch late when known: not ({BOUND}) reply refused",
}


@pytest.mark.parametrize("first", FIRST)
def test_a_bound_name_is_no_later_let(first: str, tmp_path: Path) -> None:
    charter = tmp_path / "two.charter"
    charter.write_text(CHARTER.replace("FIRST", FIRST[first]), encoding="utf-8")
    model = api.load(charter)
    (instance,) = model.instances
    fast, plain = both(model, instance)
    assert counts(fast) == counts(plain)
    assert verdicts(fast) == verdicts(plain)
