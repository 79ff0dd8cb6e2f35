"""`conform mutate`: the reviewed list of survivors, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from charter.formats.survivors import (
    BadSurvivors,
    Survivor,
    read_survivors,
    survivors_file,
    survivors_text,
)
from conform.cli.main import main

CHARTER = """\
protocol test.switch

component switch {
  state on: bool = false
  state uses: set bool = {}

  operation press(hard: bool) -> bool cites silent {
    branch pressed {
      on' = true
      uses' = {hard}
      reply on
    }
  }
}

stepwise stays_on of switch cites silent: on implies on'

witness used of switch: on

instance tiny of switch {}
"""


@pytest.fixture
def charter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "switch.charter"
    path.write_text(CHARTER, encoding="utf-8")
    return path


def reviewed(charter: Path, change: dict[str, str]) -> None:
    path = survivors_file(charter)
    rows = read_survivors(path)
    path.write_text(survivors_text(Survivor(row.id, **change) for row in rows), encoding="utf-8")


def test_a_new_survivor_fails_until_it_has_a_reason_and_a_citation(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["mutate", str(charter), "--jobs", "1"]
    assert main(command) == 1
    shown = capsys.readouterr().out
    assert "  - uses' = {hard}\n  + (nothing)\n  survives in tiny: press(false) takes" in shown
    assert main([*command, "--update"]) == 1
    assert "has no reason or no citation" in capsys.readouterr().err
    reviewed(charter, {"reason": "it only counts"})
    assert main(command) == 1
    reviewed(charter, {"reason": "it only counts", "cites": "silent"})
    assert main(command) == 0


def test_a_stale_entry_is_told_and_removed_by_update(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = survivors_file(charter)
    path.write_text(survivors_text([Survivor("gone:x:1", "was", "silent")]), encoding="utf-8")
    command = ["mutate", str(charter), "--jobs", "1"]
    assert main(command) == 1
    assert "gone:x:1 no longer survives; --update removes it" in capsys.readouterr().err
    main([*command, "--update"])
    assert "gone:x:1" not in path.read_text(encoding="utf-8")


def test_json_has_each_mutant_with_its_verdict(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mutate", str(charter), "--jobs", "1", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    rows = {row["id"].rpartition(":")[0]: row for row in found["mutants"]}
    lost = rows["switch.press/pressed:forget-reset"]
    assert (lost["answer"], lost["by"]) == ("availability", "witness used is never met")
    assert sum(found["counts"].values()) == len(found["mutants"])


def test_a_sample_is_drawn_by_seed(charter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def drawn(seed: str) -> list[str]:
        main(["mutate", str(charter), "--json", "--jobs", "1", "--limit", "2", "--seed", seed])
        return [row["id"] for row in json.loads(capsys.readouterr().out)["mutants"]]

    assert len(drawn("1")) == 2
    assert drawn("1") == drawn("1")
    assert len({tuple(drawn(str(seed))) for seed in range(4)}) > 1


def test_a_pattern_that_matches_nothing_is_told(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mutate", str(charter), "--rule", "nothing"]) == 2
    assert "no rule matches" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[survivor]]\nid = 1\n", "has the texts id, reason, cites"),
        ("[[survivor]]\nreason = 'x'\n", "an entry has no id"),
        ("[[survivor]]\nid = 'a'\nwhy = 'x'\n", "the key 'why' is not known"),
        ("[[survivor]]\nid = 'a'\n[[survivor]]\nid = 'a'\n", "a is listed twice"),
        ("other = 1\n", "only entries [[survivor]]"),
        ("[[survivor", "is no TOML"),
    ],
)
def test_a_wrong_list_is_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "survivors.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadSurvivors) as wrong:
        read_survivors(path)
    assert said in str(wrong.value)


def test_the_text_of_a_list_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "survivors.toml"
    rows = (Survivor("a:b:c", 'says "no" \\ \x7f ü\n', "S1 §2"), Survivor("d"))
    path.write_text(survivors_text(rows), encoding="utf-8")
    assert read_survivors(path) == rows


def test_the_list_is_in_the_folder_or_beside_the_file(tmp_path: Path) -> None:
    assert survivors_file(tmp_path) == tmp_path / "survivors.toml"
    assert survivors_file(tmp_path / "a.charter") == tmp_path / "a.survivors.toml"
