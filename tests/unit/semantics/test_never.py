"""`never` lines of scenarios: what no outcome may be."""

from __future__ import annotations

import pytest

from charter import api
from charter.diagnostics import Source
from charter.mutate.mutants import mutants, mutate
from charter.project.compile import format_text
from charter.semantics.scenario import ScenarioFails, failing, follow

TOSS = """protocol test.toss
enum Side { heads, tails, edge }
component coin {
  state up: Side = heads
  state tosses: int 0..2 = 0
  operation toss(lucky: bool) -> Side {
    branch worn when worn_out: tosses == 2 reply edge
    branch tossed {
      pick side in if lucky then {heads} else {heads, tails}
      up' = side
      tosses' = tosses + 1
      reply side
    }
  }
}
system table {
  coin: coin
  step play(lucky: bool) {
    require coin.tosses < 1
    coin.toss(lucky)
  }
}
witness falls of coin: up == tails
witness played of table: coin.tosses == 1
"""


def scenario(lines: str, machine: str = "coin") -> str:
    return f'{TOSS}scenario "s" of {machine} {{\n{lines}\n}}\n'


def failure(lines: str, machine: str = "coin") -> str:
    model = api.load_text(scenario(lines, machine))
    with pytest.raises(ScenarioFails) as fails:
        follow(model, model.scenarios[0])
    return fails.value.sentence()


HOLDS = [
    ("never do toss(false) reply edge", "coin"),
    ("never do toss(true) -> tossed reply tails", "coin"),
    ("never do toss(true) -> worn", "coin"),
    ("do toss(false)  never expect up == edge", "coin"),
    ("do play(true)  never do play(true)", "table"),
]
FAILS = [
    (
        "never do toss(false) reply tails",
        "coin",
        "expected never the reply `tails`, but toss(false) replies heads or tails",
    ),
    (
        "do toss(true)  never do toss(true) -> tossed",
        "coin",
        "expected never toss/tossed, but toss(true) takes toss/tossed",
    ),
    (
        "do toss(false)  never expect up == tails",
        "coin",
        "expected never `up == tails`, but `up` is tails",
    ),
    (
        "never do play(true)",
        "table",
        "expected that this cannot be done, but play(true) is possible",
    ),
]


@pytest.mark.parametrize(("lines", "machine"), HOLDS)
def test_what_no_run_has_is_no_failure(lines: str, machine: str) -> None:
    model = api.load_text(scenario(lines, machine))
    assert follow(model, model.scenarios[0])


@pytest.mark.parametrize(("lines", "machine", "told"), FAILS)
def test_what_a_run_has_fails_and_is_told(lines: str, machine: str, told: str) -> None:
    assert failure(lines, machine).endswith(told)


def test_a_line_that_must_not_come_about_changes_nothing() -> None:
    model = api.load_text(
        scenario(
            "do toss(false)  never do toss(true) -> worn  expect up == tails  expect tosses == 1"
        )
    )
    (run,) = follow(model, model.scenarios[0])
    assert [step.operation for step in run.steps] == ["toss"]


def test_the_line_is_formatted_as_it_stands() -> None:
    text = scenario("  never do toss(true) -> worn reply edge\n  never expect up == edge")
    assert format_text(Source("toss.charter", text)).endswith(text[-80:])


def test_a_mutant_that_allows_more_is_caught_by_what_must_not_come_about() -> None:
    model = api.load_text(scenario("never do toss(true) reply tails"))
    more = [m for m in mutants(model) if m.id.startswith("coin.toss/tossed:drop-branch")]
    assert [bool(failing(mutate(model, one))) for one in more] == [False, True]
