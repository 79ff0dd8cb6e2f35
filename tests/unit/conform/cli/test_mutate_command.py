"""`conform mutate`: the reviewed list of survivors, and the exit codes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from charter.formats.charter_files.survivors import (
    BadSurvivors,
    Survivor,
    read_survivors,
    survivors_file,
    survivors_text,
    write_survivors,
)
from conform.cli.commands.compiler import mutate
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


def review(charter: Path, change: dict[str, str]) -> None:
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
    told = capsys.readouterr()
    assert "has no reason, or cites no source of the charter (nor `silent`)" in told.err
    assert "0 of 3 survivors have a reason and a citation" in told.out
    for made_up in ({"reason": "."}, {"cites": "MADE §1"}, {"cites": "."}):
        review(charter, {"reason": "it only counts", "cites": "silent", **made_up})
        assert main(command) == 1
        assert "0 of 3 survivors have a reason and a citation" in capsys.readouterr().out
    review(charter, {"reason": "it only counts", "cites": "silent"})
    capsys.readouterr()
    assert main(command) == 0
    assert "3 of 3 survivors have a reason and a citation" in capsys.readouterr().out


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


def test_the_cost_is_told_first_and_the_rest_while_it_runs(
    charter: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    @contextmanager
    def tasks(_: str) -> Iterator[Callable[[str, int, int], None]]:
        yield lambda name, *_: told.append(name)

    monkeypatch.setattr(mutate, "tasks", tasks)
    monkeypatch.setattr(mutate, "_WORTH_TELLING", 0)
    monkeypatch.setattr(mutate, "_MANY", 3)
    main(["mutate", str(charter), "--jobs", "1"])
    first = capsys.readouterr().err.splitlines()[0]
    assert first == (
        "5 mutants to try, by 0 scenarios and in 1 instance, each with up to 50,000 states and"
        " for at most 60 seconds; first without a mutant; --rule, --instance and --limit"
        " choose fewer"
    )
    tried = [name for name in told if name.startswith("switch.press/")]
    assert tried[0].endswith(", no estimate yet")
    assert all(re.search(r", some \d+ s left$", name) for name in tried[1:])


def test_there_is_no_estimate_of_few_mutants_and_none_of_what_came_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first ones come together, after all that is computed once."""
    clock = [1_000.0]
    monkeypatch.setattr("conform.cli.commands.compiler.mutate.time.monotonic", lambda: clock[0])
    left = mutate._Rest(total=2_000)
    assert {left.tell(done) for done in range(1, 200)} == {", no estimate yet"}
    clock[0] += 100
    assert left.tell(201) == ", some 15 min left"
    assert not left.tell(2_000)


def test_a_sample_is_drawn_by_seed(charter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def draw(seed: str) -> list[str]:
        main(["mutate", str(charter), "--json", "--jobs", "1", "--limit", "2", "--seed", seed])
        return [row["id"] for row in json.loads(capsys.readouterr().out)["mutants"]]

    assert len(draw("1")) == 2
    assert draw("1") == draw("1")
    assert len({tuple(draw(str(seed))) for seed in range(4)}) > 1


def test_a_pattern_that_matches_nothing_is_told(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mutate", str(charter), "--rule", "nothing"]) == 2
    assert "no rule matches" in capsys.readouterr().err
    assert main(["mutate", str(charter), "--rule", "press"]) == 2
    told = capsys.readouterr().err
    assert "no rule matches 'press'; --rule '*press*' matches 1: switch.press/pressed" in told
    assert main(["mutate", str(charter), "--rule", "press/*"]) == 2
    assert "--rule '*press/*' matches 1: switch.press/pressed" in capsys.readouterr().err


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


def test_a_pattern_of_instances_that_matches_nothing_is_told(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mutate", str(charter), "--jobs", "1", "--instance", "tny*"]) == 2
    assert "no instance is called 'tny*'" in capsys.readouterr().err


def test_an_instance_in_which_the_charter_is_wrong_is_left_out_with_a_word(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    charter.write_text(CHARTER + "always off of switch cites silent: not on\n", encoding="utf-8")
    assert main(["mutate", str(charter), "--jobs", "1"]) == 2
    told = capsys.readouterr().err
    assert "tiny is left out: off fails there without a mutant" in told
    assert "no instance is left; mend the charter first" in told


FAILS = """
scenario "it never goes on" of switch cites silent {
  do press(true)
  expect not on
}
"""


def test_a_scenario_that_fails_anyway_catches_nothing(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["mutate", str(charter), "--jobs", "1", "--json"]
    code = main(command)
    alone = json.loads(capsys.readouterr().out)
    assert alone["counts"]["survives"]
    charter.write_text(CHARTER + FAILS, encoding="utf-8")
    assert main(command) == code
    said = capsys.readouterr()
    assert json.loads(said.out)["counts"] == alone["counts"]
    assert "a scenario is left out, which fails without a mutant: " in said.err
    assert 'scenario "it never goes on": expected `not on`, but ' in said.err


def test_update_needs_all_instances(charter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutate", str(charter), "--instance", "tiny", "--update"]) == 2
    assert "--update needs all instances" in capsys.readouterr().err


def test_a_reviewed_mutant_that_a_part_of_the_instances_does_not_see_is_not_stale(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = CHARTER.replace("protocol test.switch\n", "protocol test.switch\nconst most: int 0..1\n")
    text = text.replace("uses' = {hard}", "uses' = if most == 1 then {hard} else uses")
    two = "instance tiny of switch { most = 0 }\ninstance broad of switch { most = 1 }"
    charter.write_text(text.replace("instance tiny of switch {}", two), encoding="utf-8")
    main(["mutate", str(charter), "--jobs", "1", "--update"])
    assert "[[survivor]]" in survivors_file(charter).read_text(encoding="utf-8")
    capsys.readouterr()
    main(["mutate", str(charter), "--jobs", "1", "--instance", "tiny"])
    assert "no longer survives" not in capsys.readouterr().err


def test_a_list_that_cannot_be_written_keeps_what_it_had(tmp_path: Path) -> None:
    path = tmp_path / "survivors.toml"
    (tmp_path / "survivors.toml.new").mkdir()
    path.write_text("old", encoding="utf-8")
    with pytest.raises(BadSurvivors, match="cannot be written"):
        write_survivors(path, (Survivor("d"),))
    assert path.read_text(encoding="utf-8") == "old"


def test_a_table_counts_the_mistakes_of_each_family_and_part(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mutate", str(charter), "--jobs", "1", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    rows = found["families"]
    assert {row["part"] for row in rows} == {"switch"}
    assert sum(int(row["made"]) for row in rows) == len(found["mutants"])
    assert sum(int(row["survives"]) for row in rows) == found["counts"]["survives"]
    for row in rows:
        parts = (row["caught"], row["survives"], row["neither"])
        assert int(row["made"]) == sum(map(int, parts)), row
