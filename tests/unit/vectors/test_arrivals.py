"""Small instances are asked by every way into a state: one that the charter takes for the initial
state may be another one for an implementation."""

from __future__ import annotations

import pytest

from charter import api
from charter.suites import explored
from charter.suites.explored import ExploredInstance

HOLD = """
protocol test.hold
counter Token
component desk {
  state held: option Token = none
  state newest: Token = 0
  state left: int 0..2 = 0
  operation take() -> option Token {
    branch busy when held != none reply none
    branch taken {
      newest' = bump(newest)
      held' = present(bump(newest))
      left' = 2
      reply present(bump(newest))
    }
  }
  operation keep(token: Token) -> bool {
    branch gone when held != present(token) reply false
    branch kept reply true
  }
  operation give(token: Token) -> bool {
    branch gone when held != present(token) reply false
    branch given { held' = none  left' = 0  reply true }
  }
  operation tick() -> bool {
    branch ended when left == 1 { held' = none  left' = 0  reply true }
    branch ticked { left' = max(left - 1, 0)  reply false }
  }
}
witness keeps of desk: took keep/kept
instance tiny of desk { }
"""


def list_asked() -> set[tuple[str, ...]]:
    model = api.load_text(HOLD)
    found = ExploredInstance.of(model, model.instances[0])
    return {
        tuple(call.operation for call in vector.question.operations) for vector in found.arrivals()
    }


def test_a_token_is_asked_for_after_it_ended_and_after_it_was_given_back() -> None:
    found = list_asked()
    assert ("take", "tick", "tick", "keep") in found
    assert ("take", "give", "keep") in found


def test_nothing_is_asked_when_it_were_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explored, "ARRIVALS", 10)
    monkeypatch.setattr(explored, "MOST_CASES", 10)
    assert list_asked() == set()
