"""Counters of which several values are bumped, each on its own: a search may miss a violation."""

from __future__ import annotations

import pytest

from charter import api

TWO = """
protocol test.apart
sort Server
counter Term
component c {
  state x: Term = 0
  state y: Term = 0
  state each: map Server -> Term = [s in Server: 0]
  state behind: bool = false
  operation go(s: Server) -> bool cites silent {
    branch done {
      BODY
      reply true
    }
  }
}
always never of c cites silent: not behind or x <= y
witness started of c: took go/done
instance tiny of c { Server = 2 }
instance one of c { Server = 1 }
"""


@pytest.mark.parametrize(
    ("body", "instance", "found"),
    [
        ("x' = bump(x)", "tiny", {}),
        ("x' = bump(x)  y' = bump(x)", "tiny", {}),
        ("x' = bump(x)  y' = bump(y)", "tiny", {"Term": ("x", "y")}),
        ("each[s]' = bump(each[s])", "tiny", {"Term": ("each",)}),
        ("each[s]' = bump(each[s])", "one", {}),
    ],
)
def test_values_that_are_bumped_on_their_own_are_found(
    body: str, instance: str, found: dict[str, tuple[str, ...]]
) -> None:
    model = api.load_text(TWO.replace("BODY", body))
    options = api.ExploreOptions(most_states=10)
    assert api.explore(model, instance, options, lambda *_: None).bumped_apart == found
