"""Each verdict on a mutant, in one small system; and that verdicts are kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from charter import api
from charter.core import nodes as n
from charter.explore.native.search.traces import Disagreement, Traces
from charter.explore.result import SearchResult
from charter.mutate import run as mutation
from charter.mutate import trial
from charter.mutate.results import MutantVerdict
from charter.mutate.run import WantedMutants
from charter.mutate.trial import Limits, search, why_incomplete

LAMP = """\
protocol test.lamp

enum Light { OFF, ON }

component lamp {
  state light: Light = OFF
  state presses: set bool = {}

  operation press(hard: bool) -> bool cites silent {
    branch ignored when weak: not hard and light == ON reply false
    branch switched {
      light' = ON
      presses' = presses | {hard}
      reply true
    }
  }

  operation read() -> Light cites silent {
    branch dark when light == OFF reply OFF
    branch lit reply ON
  }
}

system room {
  lamp: lamp
  state seen: Light = OFF
  state glances: int 0..2 = 0

  step press(hard: bool) {
    lamp.press(hard)
  }

  step look() {
    let found = lamp.read()
    seen' = found
  }

  step glance() {
    require glances < 2
    glances' = glances + 1
  }
}

always seen_is_true of room cites silent: seen == ON implies lamp.light == ON

eventually somebody_sees of room cites silent fair press(hard), look: seen == ON

witness lit of room: seen == ON

instance tiny of room {}
"""


SCENARIO = """
scenario "a press is remembered" of room cites silent {
  do press(true)
  expect lamp.presses == {true}
}
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path))


def verdicts(
    rule: str = "*",
    states: int = 1000,
    text: str = LAMP,
    jobs: int = 1,
    instances: str = "*",
) -> dict[str, MutantVerdict]:
    """The verdicts by the names of the rules and what the mutants say."""
    model = api.load_text(text)
    made = mutation.select_mutants(model, WantedMutants(rule=rule))
    limits = Limits(states, 60)
    places = mutation.baselines(model, instances, limits, lambda *_: None)
    found = mutation.try_mutants(model, places, made, limits, jobs)
    return {f"{one.place}: {one.says}": verdict for one, verdict in zip(made, found, strict=True)}


def test_every_answer_is_given() -> None:
    found = verdicts()
    caught = found["lamp.press/switched: `ON` becomes `OFF`"]
    assert (caught.answer, caught.by, caught.steps) == ("availability", "somebody_sees", 4)
    caught = found["lamp.read/dark: `OFF` becomes `ON`"]
    assert (caught.answer, caught.by, caught.steps) == ("caught", "seen_is_true", 1)
    unseen = found["lamp.press/switched: the update `presses' = presses | {hard}` is skipped"]
    assert (unseen.answer, unseen.instance, unseen.steps) == ("survives", "tiny", 1)
    assert unseen.detail == "press(false) takes press with another lamp.presses"
    assert found["lamp.press/ignored: `false` becomes `true`"].answer == "unchanged"
    refused = found["room.glance: the conjunct `glances < 2` is dropped"]
    assert refused.answer == "refused"
    assert refused.detail == "this may be anything in 1..3, which is not inside int 0..2"


def test_a_mutant_is_undecided_when_the_search_is_too_long() -> None:
    found = verdicts("room.press", states=2)
    assert {one.answer for one in found.values()} == {"undecided"}


def test_a_bug_of_the_engine_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def disagree(*_: object) -> None:
        raise Disagreement("seen_is_true is not what the engine says")

    monkeypatch.setattr(Traces, "trace_violation", disagree)
    with pytest.raises(Disagreement):
        verdicts("lamp.read/dark")


@pytest.mark.slow
def test_an_instance_in_which_a_property_fails_is_searched_to_its_end() -> None:
    fails = LAMP.replace(
        "instance tiny of room {}",
        "always dark of room cites silent: lamp.light == OFF\ninstance tiny of room { fails dark }",
    )
    assert verdicts(text=fails) == verdicts()


def test_why_a_search_is_not_complete() -> None:
    model = api.load_text(LAMP)
    limits = Limits(1000, 60)
    found = search(model, model.instances[0], limits)
    few = replace(found, counts=replace(found.counts, complete=False, distinct=1001))
    assert why_incomplete(few, limits) == "more than 1,000 states"
    told = "memory is full; 3 states were found"
    assert why_incomplete(replace(few, stopped=told), limits) == told
    unknown = replace(found.liveness[0], answer="unknown", detail="it has too many runs")
    told = "somebody_sees is not known: it has too many runs"
    assert why_incomplete(replace(found, liveness=(unknown,)), limits) == told


def test_a_verdict_is_not_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = verdicts("lamp.press/switched")

    def search(*_: object, **__: object) -> None:
        raise AssertionError("it was searched again")

    monkeypatch.setattr("charter.mutate.trial.search", search)
    monkeypatch.setattr("charter.mutate.run.search", search)
    assert verdicts("lamp.press/switched") == first


def test_two_processes_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = verdicts("lamp.press/switched", jobs=2)
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "other"))
    assert verdicts("lamp.press/switched") == first


def test_a_scenario_catches_a_mutant() -> None:
    found = verdicts("lamp.press/switched", text=LAMP + SCENARIO)
    caught = found["lamp.press/switched: the update `presses' = presses | {hard}` is skipped"]
    assert (caught.answer, caught.by) == ("caught", "scenario a press is remembered")


def test_the_scenarios_of_a_large_system_come_before_its_instances(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They compute together what mutants do alike, and to compile it takes longer."""
    update = "lamp.press/switched: the update `presses' = presses | {hard}` is skipped"
    searched: list[object] = []
    real = trial.search

    def count_searches(
        model: n.Model, instance: n.Instance, limits: trial.Limits, *, first: bool = True
    ) -> SearchResult:
        searched.append(instance.name)
        return real(model, instance, limits, first=first)

    monkeypatch.setattr(trial, "search", count_searches)
    assert verdicts("lamp.press/switched", text=LAMP + SCENARIO)[update].by.startswith("scenario")
    before = len(searched)
    monkeypatch.setattr(trial, "DEAR", 3)
    later = verdicts("lamp.press/switched", states=1001, text=LAMP + SCENARIO)[update]
    assert later.by == "scenario a press is remembered"
    assert len(searched) - before < before


def test_the_scenarios_of_a_large_machine_answer_before_any_instance_is_searched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model = api.load_text(LAMP + SCENARIO)
    made = mutation.select_mutants(model, WantedMutants(rule="lamp.press/switched"))
    assert [*mutation.by_scenarios(model, made, 1)] == [None] * len(made)
    monkeypatch.setattr(trial, "DEAR", 3)
    found = [*mutation.by_scenarios(model, made, 1)]
    caught = [one.by for one in found if one is not None]
    assert "scenario a press is remembered" in caught
    assert None in found  # what no scenario sees, instances may


def test_only_instances_that_may_show_a_mutant_are_searched_for_it() -> None:
    model = api.load_text(LAMP + "witness dark of lamp: light == OFF\ninstance alone of lamp {}\n")
    step, branch = (
        mutation.select_mutants(model, WantedMutants(rule=rule))
        for rule in ("room.glance", "lamp.press/switched")
    )
    assert [one.name for one in mutation.select_searched(model, step).instances] == ["tiny"]
    assert [one.name for one in mutation.select_searched(model, branch).instances] == [
        "tiny",
        "alone",
    ]


def test_a_mutant_of_a_rule_that_no_instance_takes_survives() -> None:
    never = LAMP.replace("lamp.press(hard)", "require hard and not hard\n    lamp.press(hard)")
    found = verdicts("lamp.press/switched", text=never)
    assert {one.detail for one in found.values()} == {"no instance takes this rule"}


SHARED = """
fun is_known(presses: set bool, light: Light) -> bool cites silent =
  light == OFF or true in presses or false in presses or (presses == {} and light == OFF)

always known of room cites silent: is_known(lamp.presses, lamp.light)
"""


def test_a_function_that_a_property_calls_is_compiled_as_it_was() -> None:
    """It is large enough to be a function in compiled code, too."""
    guard = "branch ignored when weak: not hard and light == ON reply false"
    assert guard in LAMP
    text = LAMP.replace(guard, guard.replace("light == ON", "is_known(presses, light)"))
    found = verdicts("is_known", text=text + SHARED)
    assert found
    assert not {one.detail for one in found.values() if one.answer == "undecided"}


@pytest.mark.parametrize(
    ("rule", "detail"),
    [("{true, false}", "with fewer outcomes"), ("{false}", "with another reply")],
)
def test_a_survivor_says_whether_outcomes_are_missing_or_others(rule: str, detail: str) -> None:
    text = f"""\
protocol test.coin

component coin {{
  state thrown: bool = false

  operation throw() -> bool cites silent {{
    branch thrown {{
      pick side in {rule}
      thrown' = true
      reply side
    }}
  }}
}}

witness thrown of coin: thrown

instance tiny of coin {{}}
"""
    found = verdicts("coin.throw/*", text=text)
    assert {one.detail for one in found.values() if one.answer == "survives"} == {
        f"throw() takes throw/thrown {detail}"
    }


IDS = """protocol ids
counter Id
component c {
  state last: Id = 0
  state items: set Id = {}
  operation add() -> bool cites silent {
    branch done when first: items == {} { items' = {last}  reply true }
    branch again reply false }
}
always few of c: size(items) < 2
witness some_item of c: items != {}
instance tiny of c {}
"""


def test_nothing_is_known_of_a_rule_whose_instances_cannot_be_searched() -> None:
    """A set of counters has no bounds, so that the native engine cannot search it."""
    found = [*verdicts(text=IDS).values()]
    assert {one.answer for one in found} == {"undecided"}
    assert (found[0].instance, "cannot explore tiny" in found[0].detail) == ("tiny", True)


GATE = """\
protocol test.gate

const most: int 0..2

fun start() -> int 0..2 cites silent = 0

component gate {
  state n: int 0..2 = start()

  operation reset() -> bool cites silent {
    branch done { n' = start()  reply start() < 3 }
  }
  operation count(k: int 0..2) -> bool cites silent {
    branch counted { n' = max(n, k)  reply true }
  }
}

system yard {
  gate: gate
  state opened: bool = false

  step count(k: int 0..2) { gate.count(k) }
  step open() {
    require most < gate.n
    opened' = true
  }
}

always open_above of yard cites silent: opened implies most != 2
witness counted of yard: gate.n == 2
witness any of gate: n == 0

instance low of yard { most = 0 }
instance high of yard { most = 2  misses open, open_above }
instance tiny of gate {}
"""


def test_a_mutant_of_a_requirement_is_tried_where_its_step_was_never_taken() -> None:
    found = verdicts("yard.open", text=GATE)
    lost = found["yard.open: the conjunct `most < gate.n` is dropped"]
    assert (lost.answer, lost.by, lost.instance) == ("caught", "open_above", "high")


@pytest.mark.parametrize("mutant", ["yard.open: `3` becomes `2`", "gate.read/read: `b` is negated"])
def test_a_mutant_of_a_call_is_tried_where_a_requirement_after_it_never_held(mutant: str) -> None:
    read = """operation read(b: bool) -> int 0..3 cites silent {
    branch read reply if b then n else 3
  }
}

system yard {"""
    text = GATE.replace("}\n\nsystem yard {", read)
    text = text.replace(
        "require most < gate.n", "let found = gate.read(most < 3)\n  require most < found"
    )
    lost = verdicts(mutant.partition(":")[0], text=text, instances="high")[mutant]
    assert (lost.answer, lost.by, lost.instance) == ("caught", "open_above", "high")


def test_another_initial_state_is_a_difference() -> None:
    found = verdicts("start", text=GATE.replace("n' = start()  reply", "n' = 0  reply"))
    other = found["start: `0` becomes `1`"]
    assert other.answer != "unchanged", other


def test_a_baseline_that_ran_out_of_time_is_searched_again() -> None:
    model = api.load_text(LAMP)
    hasty = Limits(1000, -1)
    (first,) = mutation.baselines(model, "*", hasty, lambda *_: None)
    assert first.unknown == "more than -1 seconds"
    told: list[str] = []
    mutation.baselines(model, "*", hasty, lambda name, *_: told.append(name))
    assert told == ["tiny"]


def test_nothing_is_known_of_a_rule_when_a_baseline_was_not_searched_to_its_end() -> None:
    never = LAMP.replace("require glances < 2\n", "require glances < 2 and lamp.light == ON\n")
    found = verdicts("room.glance", states=2, text=never)
    assert {one.answer for one in found.values()} <= {"undecided", "refused"}


def test_survivors_that_differ_in_replies_alone_are_told_from_others() -> None:
    """`ask` is asked first: its reply differs where the state differs after `press`."""
    text = """protocol lamp
component lamp {
  state on: bool = false
  state count: int 0..2 = 0
  operation ask() -> bool cites silent {
    branch asked reply late()
  }
  operation press() -> int 0..2 cites silent {
    branch full when count == 2 reply 2
    branch pressed {
      on' = late()
      count' = count + 1
      reply count
    }
  }
}
fun late() of lamp -> bool cites silent = count > 0
witness lit of lamp: on
instance tiny of lamp {}
"""
    found = verdicts(text=text)
    survivors = {name: one for name, one in found.items() if one.answer == "survives"}
    assert {name for name, one in survivors.items() if one.replies} == {
        "lamp.ask/asked: `late()` is negated",
        "lamp.press/full: `2` becomes `1`",
    }
    both = survivors["late: `>` becomes `>=`"]
    assert (both.detail, both.steps) == ("press() takes press/pressed with another on", 1)
