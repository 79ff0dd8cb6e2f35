"""Charters that the check accepts, and that the native engine cannot print as they are."""

from __future__ import annotations

import pytest
from tests.support.engines import both, counts, verdicts

from charter import api
from charter.explore import select
from charter.explore.model_checker import ExploreOptions

LOCKS = """protocol test.took
sort Lock
component c {
  state held: map Lock -> bool = [l in Lock: false]
  state n: int 0..3 = 0
  operation acquire(lock: Lock) -> bool cites silent {
    branch done when free: not held[lock] { held' = held with [lock: true] reply true }
    branch no reply false
  }
  operation tick() -> bool cites silent {
    branch ticked when n < 3 { n' = n + 1 reply true }
    branch full reply false
  }
}
stepwise p of c cites silent: BODY
witness w of c: n == 1
instance tiny of c { Lock = 2  offers tick }
"""
BODIES = [
    "forall l in Lock: took acquire/done(lock: l) implies held'[l]",
    "forall l in Lock: not took acquire(lock: l) or n > 1",
    "some l in Lock: took acquire/done(lock: l)",
    "if took acquire/no then false else true",
]


@pytest.mark.parametrize("body", BODIES)
def test_an_operation_that_is_not_offered_is_never_taken(body: str) -> None:
    model = api.load_text(LOCKS.replace("BODY", body))
    fast, plain = both(model, model.instances[0])
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))


COUNTERS = """protocol test.counters
{kind} V
component c {{
  state v: V = {first}
  operation tick(to: V) -> bool cites silent {{ branch ticked when v == to {{ reply true }}
    branch no {{ v' = {then} reply false }} }}
}}
always p of c cites silent: v == {named} implies v == v
witness w of c: took tick/no
instance tiny of c {{ }}
"""


def silent(*_: object) -> None:
    """Progress that nobody reads."""


@pytest.mark.parametrize("kind", ["counter", "opaque counter"])
@pytest.mark.parametrize(
    ("first", "then", "named"),
    [(64, "v", 0), (65536, "v", 0), (0, "v", 63), (0, "v", 15000), (0, "v", 200), (63, "v", 63)],
)
def test_large_numbers_of_counters_have_a_result(
    kind: str, first: int, then: str, named: int
) -> None:
    model = api.load_text(COUNTERS.format(kind=kind, first=first, then=then, named=named))
    results = [
        select.explore(model, model.instances[0], ExploreOptions(engine=engine), silent)
        for engine in ("auto", "reference")
    ]
    assert results[0].counts == results[1].counts
    assert first <= 63 or results[0].engine == "reference"
