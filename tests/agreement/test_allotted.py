"""Counters that rules allot and compare for equality only: both engines find the same."""

from __future__ import annotations

from typing import Literal

import pytest

from charter import api
from charter.explore.result import SearchResult

FENCES = """
protocol test.fences
sort Client
counter Fence
component sem {
  state newest: Fence = 0
  state grant: map Client -> option Fence = [c in Client: none]
  operation acquire(c: Client) -> bool cites silent {
    branch granted {
      newest' = bump(newest)
      grant[c]' = present(bump(newest))
      reply true
    }
  }
  operation release(c: Client) -> bool cites silent {
    branch nothing when grant[c] == none reply false
    branch released { grant[c]' = none  reply true }
  }
}
system pool {
  sem: sem
  state crashed: set Client = {}
  step acquire(c: Client) {
    require not c in crashed
    sem.acquire(c)
  }
  step crash(c: Client) {
    require not c in crashed
    crashed' = crashed | {c}
  }
}
always apart of sem cites silent:
  forall c, present(g) in grant, d, present(h) in grant: c == d or g != h
eventually all_crash of pool cites silent: forall c in Client: c in crashed
witness granted of sem: took acquire/granted
witness one_crashed of pool: crashed != {}
instance tiny of sem { Client = 3 }
instance tiny_pool of pool { Client = 2 }
"""


def search(instance: str, engine: Literal["native", "reference"]) -> SearchResult:
    options = api.ExploreOptions(engine=engine, symmetry=False)
    return api.explore(api.load_text(FENCES), instance, options, lambda *_: None)


@pytest.mark.parametrize("instance", ["tiny", "tiny_pool"])
def test_engines_agree_when_counters_are_allotted_and_never_ordered(instance: str) -> None:
    native, reference = search(instance, "native"), search(instance, "reference")
    assert native.counts == reference.counts
    assert native.verdicts == reference.verdicts


def test_a_new_value_is_held_by_nobody() -> None:
    assert search("tiny", "native").verdicts["apart"] == "holds"


def test_a_run_that_allots_for_ever_is_shown() -> None:
    """A cycle comes back to an equal state up to names of counters."""
    found = search("tiny_pool", "native")
    assert found.verdicts["all_crash"] == "violated"
    assert found.liveness[0].cycle
