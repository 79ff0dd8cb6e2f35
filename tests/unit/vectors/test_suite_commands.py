"""`conform vectors`: where a suite goes, and what is told of one without vectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from charter import api
from charter.suites.build import WantedParts, tasks
from conform.cli.main import main

TEXT = """protocol NAME
component lamp {
  state lit: bool = false
  operation press() -> bool cites silent { branch on { lit' = true  reply lit } }
  observe all { lit }
}
witness shines of lamp: lit
instance tiny of lamp { }
"""

SCENARIO = """scenario "pressed" of lamp {
  do press() -> on
}
"""


def test_suites_of_two_protocols_with_one_name_of_a_component_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = []
    for name in ("one.lamp", "two.lamp", "one.lamp"):
        path = tmp_path / f"{name}.charter"
        path.write_text(TEXT.replace("NAME", name))
        made = api.make_suite(api.SuiteRequest(path), lambda *_: None)
        folders.append(str(made.folder))
    usual = "build/suites/lamp-charter-smoke"
    assert folders == [usual, "build/suites/two.lamp-lamp-charter-smoke", usual]


def test_suite_without_vectors_says_how_to_get_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lamp.charter").write_text(TEXT.replace("NAME", "lamp"))
    assert main(["vectors", "lamp.charter"]) == 4
    told = capsys.readouterr().err
    assert "the suite has no vectors; `conform vectors lamp.charter --search` searches" in told
    assert main(["vectors", "lamp.charter", "--search"]) == 0
    assert "no vectors" not in capsys.readouterr().err


@pytest.mark.parametrize("profile", ["smoke", "full"])
def test_component_without_instance_and_scenario_is_refused(
    profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """The instances are of a system, whose steps are no questions."""
    monkeypatch.chdir(tmp_path)
    ring = Path(__file__).resolve().parents[3] / "spec" / "examples" / "ring_election.charter"
    Path("ring.charter").write_text(ring.read_text(encoding="utf-8"), encoding="utf-8")
    for more in ((), ("--search",)):
        command = ["vectors", "ring.charter", "--profile", profile, *more]
        assert main([*command, "--out", "suite"]) == 2
        told = capsys.readouterr().err
        assert "conform: no instance and no scenario is of process, so there are no quest" in told
        assert not Path("suite").exists()


def test_search_is_named_where_none_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lamp.charter").write_text(f"{TEXT.replace('NAME', 'lamp')}{SCENARIO}")
    assert main(["vectors", "lamp.charter"]) == 0
    told = capsys.readouterr().err
    assert told.endswith("\n`conform vectors lamp.charter --search` searches for questions\n")
    assert told.startswith("at most 1 vector with 0 operations, some ")
    assert main(["vectors", "lamp.charter", "--search"]) == 0
    assert "searches for questions" not in capsys.readouterr().err


def test_counts_of_a_full_suite_say_which_are_of_the_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lamp.charter").write_text(f"{TEXT.replace('NAME', 'lamp')}{SCENARIO}")
    shown = {}
    for profile in ("smoke", "full"):
        assert main(["vectors", "lamp.charter", "--profile", profile]) == 0
        shown[profile] = [line.rpartition("  ")[0] for line in capsys.readouterr().out.splitlines()]
    words = {profile: [line.strip() for line in lines] for profile, lines in shown.items()}
    small = [f"{word} (small suite)" for word in ("mutants killed", "obligations covered")]
    assert "mutants killed" in words["smoke"] and {*small} <= {*words["full"]}
    assert "mutants" in words["full"] and "states" in words["full"]


@pytest.mark.parametrize("scenario", ["", "scenario"])
def test_instances_that_are_not_searched_are_told(
    scenario: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    text = TEXT.replace("NAME", "lamp").replace("tiny", "dark")
    Path("lamp.charter").write_text(text + (SCENARIO if scenario else ""))
    for more in ((), ("--search",)):
        assert main(["vectors", "lamp.charter", *more]) == (0 if scenario or more else 4)
        told = capsys.readouterr().err
        assert "no instance of it is searched for questions" in told
        assert "--search` searches" not in told


@pytest.mark.parametrize("name", ["exploration.jsonl", "findings.jsonl", "proofs.json"])
@pytest.mark.parametrize("damage", [b'{"question":{"format', b'{"x": "\xff"}\n', b"[]\n"])
def test_damaged_result_of_a_search_is_one_sentence_with_the_remedy(
    name: str, damage: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("charter.toml").write_text("")
    adapter = Path("adapters", "lamp", "adapter.toml")
    adapter.parent.mkdir(parents=True)
    adapter.write_text(
        'id = "lamp"\ntitle = "a lamp"\nprotocol = "lamp"\ncomponent = "lamp"\nstart = ["true"]\n'
    )
    charter = Path("spec", "lamp.charter")
    charter.parent.mkdir()
    charter.write_text(TEXT.replace("NAME", "lamp"))
    assert main(["vectors", "spec/lamp.charter", "--search"]) == 0
    capsys.readouterr()
    Path("spec/found/lamp/charter", name).write_bytes(damage)
    for command in (["vectors", "spec/lamp.charter"], ["generate"], ["generate", "--check"]):
        assert main(command) == 2
        told = capsys.readouterr().err
        line = ":1" if name.endswith("l") and damage[2:3] != b"x" else ""
        place = f"found/lamp/charter/{name}{line}"
        assert place in told and "Traceback" not in told and told.count("\n") == 1, told
        if name == "findings.jsonl":
            assert "mend the line" in told
        else:
            assert "remove it and make it anew: `conform vectors " in told
            assert "spec/lamp.charter --search`" in told


def test_instance_that_is_too_large_is_left_out_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lamp.charter").write_text(TEXT.replace("NAME", "lamp"))
    told = "tiny (more than 1 states); give it fewer elements"
    assert main(["vectors", "lamp.charter", "--search", "--most", "1"]) == 0
    assert told in capsys.readouterr().err
    assert main(["vectors", "lamp.charter"]) == 0
    assert told in capsys.readouterr().err
    (lamp,) = (model := api.load(Path("lamp.charter"))).components
    kinds = [(t.kind, t.instance) for t in tasks(WantedParts(model, lamp.name, ["tiny"]), tmp_path)]
    assert kinds == [("walks", "tiny")]
    assert main(["vectors", "lamp.charter", "--search"]) == 0
    assert told not in capsys.readouterr().err
