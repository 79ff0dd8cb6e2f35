"""Scenarios that share the outcomes of operations, with those of other versions of a protocol too,
run and fail as they do alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from random import Random

import pytest
from tests.support import spec
from tests.support.comparing.sampled import few_or_all

from charter import api
from charter.analysis.shared_outcomes import SharedOutcomes
from charter.core import nodes as n
from charter.core.affected import find_affected
from charter.mutate import run as mutation
from charter.mutate.mutants import mutate
from charter.mutate.run import WantedMutants
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.scenario import MachineOf, ScenarioFails, ScenarioTrace, follow_in

HOUSE = """protocol test.house
sort Room
const most: int 0..9
fun lit(on: bool) -> bool = same(on)
fun same(on: bool) -> bool = on
component lamp {
  state on: bool = false
  state rooms: set Room = {}
  state presses: int 0..9 = 0
  state spare: bool = false
  operation press() -> bool {
    branch worn_out when worn: presses >= most { reply false }
    branch pressed { on' = not on  presses' = presses + 1  reply true }
  }
  operation turn(to: bool) -> bool { branch turned { on' = to  reply on } }
  operation look() -> bool { branch looked { reply lit(on) } }
  operation put() -> int 0..9 { branch everywhere { rooms' = {r in Room if presses < 9}  reply 1 } }
}
system house {
  lamp: lamp
  state steps: int 0..3 = 0
  state unused: bool = false
  step enter() { require steps < 3  steps' = steps + 1  lamp.press() }
  step rest() { require steps < 3  steps' = steps + 1 }
}
witness lights of lamp: on
scenario "press" of lamp {
  Room = {a}  most = 1
  do press() -> pressed reply true
  do look() reply true
}
scenario "again" of lamp {
  Room = {a}  most = 1
  do press() -> pressed
  do press() -> worn_out
  do look() reply true
}
scenario "more" of lamp { Room = {a}  most = 2  do press()  do press() -> pressed  do look() }
scenario "one room" of lamp { Room = {a}  most = 1  do put()  expect size(rooms) == 1 }
scenario "two rooms" of lamp { Room = {a, b}  most = 1  do put()  expect size(rooms) == 2 }
scenario "turn" of lamp { Room = {a}  most = 1
  do turn(false)  expect not on
  do turn(true)  expect on
}
scenario "enter" of house { Room = {a}  most = 1  do enter()  expect lamp.on }
scenario "rest" of house { Room = {a}  most = 1  do rest()  do enter()  expect steps == 2 }
"""
STATE = "  state on: bool = false\n  state rooms: set Room = {}\n"
EDITS = [
    ("-> bool = on\n", "-> bool = not on\n"),
    ("reply lit(on)", "reply not lit(on)"),
    ("on' = not on", "on' = on"),
    ("on: bool = false", "on: bool = true"),
    ("presses: int 0..9 = 0", "presses: int 0..9 = 1"),
    ("presses >= most", "presses > 0"),
    ("lamp.press()", ""),
    ("steps: int 0..3 = 0", "steps: int 0..3 = 1"),
    (STATE, f"{STATE}  state more: bool = true\n"),
    (STATE, "\n".join(reversed(STATE.splitlines())) + "\n"),
    ("spare", "extra"),
    ("unused", "extra"),
    ("{r in Room if presses < 9}", "{r in Room if presses == 1}"),
]
Fails = dict[str, object]


def tell(model: n.Model, machine_of: MachineOf) -> list[tuple[ScenarioTrace, ...] | Fails]:
    """What becomes of each scenario: its traces, or how it fails."""
    found: list[tuple[ScenarioTrace, ...] | Fails] = []
    for scenario in model.scenarios:
        try:
            found.append(follow_in(machine_of(model, scenario.instance), scenario))
        except ScenarioFails as problem:
            found.append({"fails": problem.json()})
    return found


class Counted:
    """How often the definition is asked for outcomes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        plain = Machine.outcomes

        def outcomes(
            of: Machine, state: State, name: str, args: tuple[n.Value, ...]
        ) -> tuple[Outcome, ...]:
            self.count += 1
            return plain(of, state, name, args)

        monkeypatch.setattr(Machine, "outcomes", outcomes)

    def since(self) -> int:
        """The number since the last time that it was asked for."""
        counted, self.count = self.count, 0
        return counted


def same_when_shared(models: Sequence[n.Model], counted: Counted) -> list[tuple[int, int]]:
    """Compares what becomes of the scenarios of each model alone and with shared outcomes; how many
    the definition computed in both cases."""
    shared, found = SharedOutcomes(), list[tuple[int, int]]()
    for model in models:
        counted.since()
        alone = tell(model, Machine.of)
        asked = counted.since()
        assert tell(model, shared.among(model)) == alone
        found.append((asked, counted.since()))
    return found


def test_scenarios_are_as_alone_when_each_edit_shares_with_those_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert all(HOUSE.count(before) == 1 for before, _ in EDITS)
    texts = [HOUSE, *(HOUSE.replace(before, after) for before, after in EDITS), HOUSE]
    found = same_when_shared([api.load_text(text) for text in texts], Counted(monkeypatch))
    assert found[0] == (15, 13)
    assert found[-1] == (15, 0)


def test_an_operation_that_an_instance_does_not_offer_is_not_shared_with_it() -> None:
    model = api.load_text(HOUSE)
    machine_of, instance = SharedOutcomes().among(model), model.scenarios[0].instance
    whole, part = (
        machine_of(model, instance),
        machine_of(model, replace(instance, offers=("look",))),
    )
    assert whole.outcomes(whole.initial(), "press", ())
    with pytest.raises(KeyError):
        part.outcomes(part.initial(), "press", ())


def draw(of: n.Model, titles: Collection[str]) -> n.Model:
    """A version of Kafka's charter with some scenarios."""
    return replace(of, scenarios=tuple(s for s in of.scenarios if s.title in titles))


@pytest.mark.slow
def test_scenarios_of_kafka_are_as_alone_when_variants_share_of_some(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = spec.model("kafka")
    models = [api.load(spec.SPEC / "kafka", api.Selection(variant=v)) for v in plain.variants]
    titles = {s.title for one in models for s in find_affected(plain, one)}
    some = Random(0).sample(sorted(titles), 40)
    versions = [draw(one, some) for one in (plain, *models)]
    found = same_when_shared(versions, Counted(monkeypatch))
    assert sum(few < many for many, few in found) > len(found) // 2
    many, few = (sum(counts) for counts in zip(*found, strict=True))
    assert 2 * few < many


@pytest.mark.xdist_group("kafka is checked")
@few_or_all(3, 20)
def test_scenarios_of_kafka_are_as_alone_when_mutants_share_of_some(
    examples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = spec.model("kafka")
    some = Random(1).sample(sorted(s.title for s in plain.scenarios), 20)
    made = mutation.select_mutants(plain, WantedMutants(limit=examples, seed=1))
    versions = [draw(one, some) for one in (plain, *(mutate(plain, each) for each in made))]
    many, few = (
        sum(x) for x in zip(*same_when_shared(versions, Counted(monkeypatch)), strict=True)
    )
    assert 2 * few < many
