"""A charter in which the initial value of a variable does not exist, in each command."""

from __future__ import annotations

import json

import pytest

CHARTER = """protocol demo.store

enum Answer { OK }

fun nothing() -> option int 0..3 = none

component store {
  state held: int 0..3 = value(nothing())

  operation keep() -> Answer {
    branch kept {
      held' = 1
      reply OK
    }
  }
}

always small of store: held < 3
witness one of store: held == 1

mutant grows in tiny { replace update held of store.keep/kept with 3 } caught by small

instance tiny of store { }
instance started of store { start held = 2 }
"""
SCENARIO = 'scenario "kept" of store { do keep() reply OK }\n'
WHY = "demo.charter:8:26: held has no initial value in tiny: value(none)"


@pytest.fixture
def demo(tmp_path):
    path = tmp_path / "demo.charter"
    path.write_text(CHARTER, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("explore", ()),
        ("explore", ("--engine", "reference")),
        ("explore", ("--bounds",)),
        ("simulate", ()),
        ("simulate", ("--walks", 2000, "--workers", 2)),
        ("eval", ("held",)),
        ("repl", ()),
        ("prove", ()),
        ("mutate", ()),
        ("vectors", ()),
        ("vectors", ("--search",)),
        ("vectors", ("--profile", "full")),
    ],
    ids=lambda part: " ".join(map(str, part)) if isinstance(part, tuple) else part,
)
def test_a_value_that_does_not_exist_ends_a_command_with_one_sentence(
    conform, demo, tmp_path, command, more
):
    out = ("--out", tmp_path / "out") if command == "vectors" else ()
    code, _, err = conform(command, demo, *more, *out)
    assert code == 1
    told = [line for line in err.splitlines() if "no initial value" in line]
    assert len(told) == 1 and told[0].startswith("conform: ") and told[0].endswith(WHY), err
    assert not (tmp_path / "out").exists()


def test_check_reports_it_of_a_scenario(conform, demo):
    demo.write_text(CHARTER + SCENARIO, encoding="utf-8")
    code, out, _ = conform("check", demo)
    assert code == 1
    assert (
        '[scenario/fails] scenario "kept": expected a first state, but held has no initial' in out
    )
    code, out, _ = conform("explore", demo, "--instance", "started")
    assert code == 1 and "nothing is violated" not in out
    assert 'scenario "kept": expected a first state' in out


def test_explore_tells_it_and_searches_the_other_instances(conform, demo):
    code, out, err = conform("explore", demo, "--instance", "*")
    assert code == 1
    assert f"{WHY}\n" in err
    assert "store in the instance started" in out and "nothing is violated" in out
    code, out, _ = conform("explore", demo, "--instance", "*", "--json")
    found = json.loads(out)
    assert [row["instance"] for row in found["instances"]] == ["started"]
    assert found["not_searched"]["tiny"].endswith(WHY)


def test_coverage_and_verdicts_tell_it_and_search_the_other_instances(conform, demo):
    for command in (["coverage", demo, "--pairs"], ["verdicts", demo]):
        code, out, err = conform(*command)
        assert code == 1
        assert err.startswith("tiny is not searched: ") and err.endswith(f"{WHY}\n")
        assert "store:" in out


def test_test_tells_it_of_an_instance(conform, demo, monkeypatch):
    monkeypatch.chdir(demo.parent)
    (demo.parent / "charter.toml").write_text("")
    (demo.parent / "spec").mkdir()
    demo.rename(demo.parent / "spec" / demo.name)
    code, out, _ = conform("test")
    assert code == 1
    assert f"explore   tiny: spec/{WHY}" in out and "explore   started: " in out


def test_watch_tells_it(conform, demo):
    code, out, err = conform("watch", demo, "--once")
    assert code == 1
    assert WHY in out + err
