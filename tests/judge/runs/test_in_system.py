"""A run says of each finding whether a system of the charter takes the steps that show it."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.toy.machine import Machine
from tests.support.toy.vectors import vector, write_toy_vectors

from conform.reports import write

KEEPER = """protocol toy.lease
sort Node

component keeper {
  state leader: option Node = none
  state session: set Node = {}

  operation register(node: Node) -> bool cites silent {
    branch accepted { session' = session | {node} reply true }
  }
  operation elect() -> bool cites silent {
    branch nobody when empty: session == {} reply false
    branch chosen { pick n in session leader' = present(n) reply true }
  }
  operation expire(node: Node) -> bool cites silent {
    branch idle when absent: not node in session reply false
    branch expired {
      session' = session - {node}
      leader' = if leader == present(node) then none else leader
      reply true
    }
  }
  observe all { leader session }
}
"""
SYSTEM = """
system nodes {
  keeper: keeper
  step arrive(n: Node) cites silent { keeper.register(n) }
  step choose() cites silent { keeper.elect() }
  step miss(n: Node) cites silent { keeper.expire(n) }
}
witness led of nodes: keeper.leader != none
instance two of nodes { Node = {a, b} }
"""


@pytest.fixture
def run(conform, targets_folder, toy_suite, tmp_path):
    """Judges a keeper that keeps a leader without a session, by a charter; what is said, and the
    folder of the run."""
    target = Path("adapters") / targets_folder("keeps_leader")
    file = target / "adapter.toml"
    file.write_text(file.read_text().replace('overlay = "known"\n', ""))
    given = ("--target", target, "--suite", toy_suite, "--engine", "inline", "--limit", "50")
    out = tmp_path / "run"

    def judge(charter, *more, code=1):
        Path("spec").mkdir(exist_ok=True)
        Path("spec/toy.charter").write_text(charter, encoding="utf-8")
        junit = ("--junit", tmp_path / "junit.xml", "--in-system")
        left, said, err = conform("run", *given, "--out", out, *junit, *more)
        assert left == code, err
        return said, err, out

    return judge


def test_finding_says_which_steps_of_a_system_show_it(run, conform, tmp_path):
    said, err, out = run(KEEPER + SYSTEM)
    lines = [line.strip() for line in said.splitlines()]
    at = lines.index("in the system nodes, instance two: 3 steps")
    assert lines[at + 1 : at + 4] == [
        "1  arrive(n: n1)  keeper.register/accepted",
        "2  choose()  keeper.elect/chosen",
        "3  miss(n: n1)  keeper.expire/expired",
    ]
    assert "searching the systems of the charter for f-" in err
    failure = ElementTree.parse(tmp_path / "junit.xml").find("./testcase/failure")
    assert "in the system nodes, instance two: 3 steps" in failure.text.splitlines()
    finding = json.loads((out / "summary.json").read_text())["findings"][0]
    write([out], tmp_path / "report")
    (page,) = (tmp_path / "report").glob(f"runs/*/findings/{finding['id']}.html")
    assert "in the system nodes, instance two: 3 steps." in page.read_text()
    # What is known is not searched for again.
    again, err, _ = run(KEEPER + SYSTEM)
    assert "searching" not in err and "in the system nodes, instance two: 3 steps" in again


def test_finding_says_why_no_system_shows_it(run):
    said, _, out = run(KEEPER + SYSTEM.replace("keeper.expire(n)", "keeper.register(n)"))
    assert "in the component alone: no step of nodes calls expire\n" in said
    answers = json.loads((out / "in_system.json").read_text())["answers"]
    assert [(one["system"], one["states"]) for one in answers] == [("", 0)] * len(answers)


def test_explained_finding_of_walks_alone_is_searched_by_what_the_walk_did(
    conform, targets_folder, tmp_path, monkeypatch
):
    calm = {"calm": ({"Node": "n1 n2"}, {"most": 3}, "register elect expire")}
    monkeypatch.setattr(Machine, "INSTANCES", calm)
    folder = Path("adapters") / targets_folder("keeps_leader")
    write_toy_vectors(tmp_path / "poor", [vector(("register", {"node": "n1"}))])
    Path("spec").mkdir(exist_ok=True)
    Path("spec/toy.charter").write_text(KEEPER + SYSTEM, encoding="utf-8")
    given = ("--target", folder, "--suite", tmp_path / "poor", "--engine", "inline")
    walks = ("--walks", "20", "--steps", "5", "--instance", "calm", "--in-system")
    _, said, err = conform("run", *given, *walks, "--out", tmp_path / "run")
    (finding,) = json.loads((tmp_path / "run" / "summary.json").read_text())["findings"]
    assert finding["entry"] and not finding["shrunk"]
    assert "cannot be searched" not in err
    assert "in the system nodes, instance two: " in said


def test_finding_that_is_not_found_names_bounds_and_states(run, tmp_path):
    system = SYSTEM.replace("keeper.expire(n)", "require keeper.leader == none keeper.expire(n)")
    said, _, out = run(KEEPER + system)
    answers = json.loads((out / "in_system.json").read_text())["answers"]
    (sentence,) = {one["why"] for one in answers if one["states"]}
    assert re.fullmatch(
        r"not found in all \d+ states of nodes \(two\); steps with a budget that call no operation"
        r" were taken 4 times at most, each",
        sentence,
    )
    assert f"{sentence}\n" in said and f"in the component alone: {sentence}" not in said
    failures = ElementTree.parse(tmp_path / "junit.xml").findall("./testcase/failure")
    assert any(sentence in failure.text.splitlines() for failure in failures)
    write([out], tmp_path / "report")
    pages = (tmp_path / "report").glob("runs/*/findings/*.html")
    assert any(f"{sentence}." in page.read_text() for page in pages)


def test_answers_of_an_earlier_version_are_searched_for_again(run):
    _, _, out = run(KEEPER + SYSTEM)
    place = out / "in_system.json"
    held = json.loads(place.read_text())
    place.write_text(json.dumps({**held, "format": 1}))
    _, err, _ = run(KEEPER + SYSTEM)
    assert "searching the systems of the charter" in err


def test_known_finding_says_it_too(run, tmp_path, conform):
    run(KEEPER + SYSTEM)
    baseline = ("--baseline", "known.toml")
    run(KEEPER + SYSTEM, *baseline, "--update-baseline")
    text = Path("known.toml").read_text().replace('reason = ""', 'reason = "known"')
    Path("known.toml").write_text(text)
    said, _, _ = run(KEEPER + SYSTEM, *baseline, code=0)
    sentence = "not searched: keeper has no operation write"  # what is known is not shrunk
    assert f"known: known; 1 step behind it was not judged\n         {sentence}\n" in said
    skipped = ElementTree.parse(tmp_path / "junit.xml").findall("./testcase/skipped")
    assert any(one.text == sentence for one in skipped)


def test_charter_without_a_system_says_nothing_of_systems(run):
    said, err, out = run(KEEPER + "witness led of keeper: leader != none")
    assert "system" not in said and "searching" not in err
    assert not (out / "in_system.json").exists()


def test_verdicts_hold_when_the_charter_has_an_error(run):
    said, err, _ = run(KEEPER + SYSTEM.replace("keeper.elect()", "keeper.elects()"))
    assert "no system was searched: " in err and "spec/toy.charter has 1 error" in err
    assert "see: conform replay" in said and "in the component" not in said


def test_operation_that_the_charter_does_not_have_is_named(run):
    said, _, _ = run((KEEPER + SYSTEM).replace("register(n", "registers(n"))
    assert "not searched: keeper has no operation register\n" in said
