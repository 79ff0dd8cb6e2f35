"""`conform coverage`: which instances reach which classes of states."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.caches import own_cache

from charter.api.generated import protocols
from charter.formats.project import project_at
from charter.ide.workspace import Workspace
from conform.cli.main import main

LAMPS = """protocol lamps
sort Lamp
component lamps {
  state on: set Lamp = {}
  operation press(lamp: Lamp) -> bool cites silent {
    branch lit when not lamp in on { on' = on | {lamp}  reply true }
    branch burning reply false
  }
}
witness lit of lamps: on != {}
instance one of lamps { Lamp = 1 }
instance two of lamps { Lamp = 2 }
"""
CLASSES = """protocol lamps
fun burning() of lamps -> set Lamp cites silent = on
-- No lamp burns: `on | {}` is empty.
witness dark of lamps: on == {}
witness both of lamps: size(burning()) == 2
witness pressed_again of lamps: took press/burning
"""


@pytest.fixture
def charter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))
    (tmp_path / "spec" / "coverage").mkdir(parents=True)
    (tmp_path / "spec" / "coverage" / "classes.charter").write_text(CLASSES, encoding="utf-8")
    (tmp_path / "spec" / "lamps.charter").write_text(LAMPS, encoding="utf-8")
    return tmp_path / "spec" / "lamps.charter"


def test_each_class_has_the_steps_to_it_in_each_instance(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["coverage", str(charter)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[:4] == ["lamps:", "  1  dark", "  2  both", "  3  pressed_again"]
    assert [line.split() for line in shown[5:]] == [
        ["instance", "states", "1", "2", "3"],
        ["one", "2", "0", "·", "2"],
        ["two", "3", "0", "2", "2"],
    ]


def test_missing_classes_name_both_places_where_they_can_stand(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (charter.parent / "coverage" / "classes.charter").unlink()
    (charter.parent / "coverage").rmdir()
    assert main(["coverage", str(charter)]) == 2
    said = capsys.readouterr().err
    here = charter.parent
    assert f"neither {here / 'lamps.coverage'} nor {here / 'coverage'} exists: a file, or" in said
    assert main(["coverage", str(here)]) == 2
    said = capsys.readouterr().err
    assert f"{here / 'coverage'} does not exist: a folder with files that declare" in said
    assert main(["coverage", str(charter), "--classes", str(here / "none")]) == 2
    said = capsys.readouterr().err
    assert f"{here / 'none'} does not exist: a file, or a folder with files, that dec" in said


@pytest.mark.parametrize(
    "other",
    [
        "always dim of lamps: size(on) < 2",
        "stepwise once of lamps: on subset on'",
        "fun f() of lamps -> bool cites silent = true\nalways dim of lamps: f()",
    ],
)
def test_a_property_among_the_classes_is_refused(
    other: str, charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = charter.parent / "coverage" / "more.charter"
    more.write_text(f"protocol lamps\n{other}\n", encoding="utf-8")
    assert main(["coverage", str(charter)]) == 2
    said = capsys.readouterr().err
    name = "stepwise once" if "stepwise" in other else "always dim"
    assert f"declares `{name}`: a file of classes has witnesses only" in said


def test_the_same_is_told_when_the_charter_comes_from_the_cache(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["coverage", str(charter)])
    first = capsys.readouterr().out
    main(["coverage", str(charter)])
    assert capsys.readouterr().out == first


def test_a_class_that_no_instance_reaches_fails(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["coverage", str(charter), "--instance", "one"]) == 4
    assert "both is reached in no instance" in capsys.readouterr().out
    assert main(["coverage", str(charter), "--instance", "two", "--most", "1"]) == 3
    assert "two has more than" in capsys.readouterr().err


def test_json_and_markdown_have_the_table(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = charter.with_name("table.md")
    assert main(["coverage", str(charter), "--json", "--write", str(page)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["never"] == []
    assert found["instances"][0]["steps"] == {"dark": 0, "both": None, "pressed_again": 2}
    text = page.read_text(encoding="utf-8")
    assert "| 1 | `dark` | No lamp burns: `on \\| {}` is empty. | 2 | 0 steps, `one` |" in text
    assert "| `one` | 2 | 0 | · | 2 |" in text
    assert "`conform explore` can count more states" in text


def add_operation(charter: Path, text: str) -> None:
    """Give the component one operation more."""
    before = charter.read_text(encoding="utf-8")
    after = before.replace("}\nwitness", f"  operation {text}\n}}\nwitness")
    charter.write_text(after, encoding="utf-8")


def test_pairs_of_steps_that_follow_each_other(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_operation(charter, "blow() -> bool cites silent { branch out { on' = {} reply true } }")
    page = charter.with_name("pairs.md")
    assert main(["coverage", str(charter), "--pairs", "--write", str(page)]) == 0
    first, *table = capsys.readouterr().out.splitlines()
    assert first == "lamps: 3 of 4 pairs follow each other in some instance"
    assert [line.split() for line in table[:3]] == [
        ["1", "2"],
        ["1", "press", "1", "2"],
        ["2", "blow", "2", "·"],
    ]
    assert "| 1 | `press` | 1 | 2 |" in page.read_text(encoding="utf-8")
    assert main(["coverage", str(charter), "--pairs", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["lamps"]
    assert found["followed_by"] == {
        "press": {"press": ["two"], "blow": ["one", "two"]},
        "blow": {"press": ["one", "two"]},
    }


def test_a_step_that_changes_nothing_is_in_no_pair(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_operation(charter, "look() -> bool cites silent { branch seen { reply on != {} } }")
    page = charter.with_name("pairs.md")
    assert main(["coverage", str(charter), "--pairs", "--write", str(page)]) == 0
    shown = capsys.readouterr().out
    assert "lamps: 1 of 1 pairs follow each other in some instance" in shown
    assert "look is in no pair: it changes nothing, or no instance takes it" in shown
    assert "- `look`" in page.read_text(encoding="utf-8")


def test_an_instance_with_too_many_states_is_walked(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = charter.with_name("pairs.md")
    arguments = ["coverage", str(charter), "--pairs", "--instance", "two", "--most", "1"]
    assert main([*arguments, "--write", str(page)]) == 3
    shown = capsys.readouterr().out
    assert "two was walked at random" in shown
    assert main(arguments[:-2]) == 0
    searched = capsys.readouterr().out
    assert shown.partition("\ntwo was")[0].strip() == searched.strip()
    *_, of, _, why, _, name = page.read_text(encoding="utf-8").splitlines()
    assert (of, name) == ("Of 1 instance.", "- `two`")
    assert why == "Walked at random, since they have more states than are searched:"


def test_an_instance_beside_the_classes_counts_for_pairs_alone(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    further = charter.parent / "coverage" / "walks.charter"
    further.write_text(LAMPS.partition("\n")[0] + "\ninstance further of lamps { Lamp = 2 }\n")
    assert main(["coverage", str(charter)]) == 0
    assert "further" not in capsys.readouterr().out
    assert main(["coverage", str(charter), "--pairs", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["lamps"]["partial"] == ["further"]


SCENARIOS = """
setup dark of lamps { Lamp = {a, b} }
scenario "L1 a lamp is lit, and the light goes out" of lamps like dark cites silent {
  do press(a) -> lit
  do press(a) -> burning
  do blow() -> out
  do press(b) -> lit
}
"""
WHITE = """
[[white]]
machine = "lamps"
first = ["blow"]
second = ["blow"]
reason = "no lamp burns then"
"""


@pytest.fixture
def blown(charter: Path) -> Path:
    """A charter with two operations, of which no instance allows one right after the other."""
    add_operation(charter, "blow() -> bool cites silent { branch out { on' = {} reply true } }")
    text = charter.read_text(encoding="utf-8")
    for size in ("Lamp = 1", "Lamp = 2"):
        text = text.replace(f"{{ {size} }}", f"{{ {size} offers press }}")
    charter.write_text(text, encoding="utf-8")
    return charter


def test_a_pair_of_a_scenario_counts_where_no_instance_has_it(
    blown: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beside = blown.parent / "coverage" / "pairs.charter"
    beside.write_text(f"protocol lamps\n{SCENARIOS}", encoding="utf-8")
    page = blown.with_name("pairs.md")
    assert main(["coverage", str(blown), "--pairs", "--write", str(page)]) == 0
    first, *table = capsys.readouterr().out.splitlines()
    assert first == (
        "lamps: 1 of 4 pairs follow each other in some instance, and 2 in a scenario alone"
    )
    assert [line.split() for line in table[:3]] == [
        ["1", "2"],
        ["1", "press", "1", "s"],
        ["2", "blow", "s", "·"],
    ]
    text = page.read_text(encoding="utf-8")
    assert "| 1 | `press` | 1 | s |" in text
    title = "L1 a lamp is lit, and the light goes out"
    assert f"- {title}: `press` → `blow`, `blow` → `press`" in " ".join(text.split())
    assert main(["coverage", str(blown), "--pairs", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["lamps"]
    assert found["in_scenarios"] == {"press": {"blow": [title]}, "blow": {"press": [title]}}
    assert found["white"] == {"blow": {"blow": ""}}


def test_each_white_pair_has_a_reason_and_no_other_has_one(
    blown: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beside = blown.parent / "coverage" / "pairs.charter"
    beside.write_text(f"protocol lamps\n{SCENARIOS}", encoding="utf-8")
    white = beside.with_name("white.toml")
    page = blown.with_name("pairs.md")
    asked = ["coverage", str(blown), "--pairs", "--write", str(page)]
    white.write_text(WHITE, encoding="utf-8")
    assert main(asked) == 0
    assert "- `blow` → `blow`: no lamp burns then" in page.read_text(encoding="utf-8")
    capsys.readouterr()

    white.write_text(WHITE.replace('first = ["blow"]', 'first = ["blow", "press"]'))
    assert main(asked) == 1
    assert "press -> blow has a reason in white.toml, but it is reached" in capsys.readouterr().err
    white.write_text(WHITE.replace('"blow"', '"sneeze"'))
    assert main(asked) == 1
    said = capsys.readouterr().err
    assert "white.toml names sneeze: lamps has no such step in a pair" in said
    assert "blow -> blow is white and has no reason in white.toml" in said
    white.write_text(WHITE.replace('"lamps"', '"bulbs"'))
    assert main(asked) == 1
    assert "white.toml names bulbs: no instance is of it" in capsys.readouterr().err
    assert main([*asked, "--instance", "two*"]) == 0, "reasons are about all instances"


def test_a_scenario_that_fails_counts_for_no_pair(
    blown: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    beside = blown.parent / "coverage" / "pairs.charter"
    wrong = SCENARIOS.replace("do press(a) -> burning", "do press(a) -> lit")
    beside.write_text(f"protocol lamps\n{wrong}", encoding="utf-8")
    assert main(["coverage", str(blown), "--pairs"]) == 1
    told = capsys.readouterr()
    assert "expected press/lit, but press(a) takes press/burning" in told.err
    assert "1 of 1 pairs follow each other" in told.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("white = 3", "only entries [[white]] are known here"),
        (WHITE.replace("reason", "why"), "the key 'why' is not known"),
        (WHITE.replace('reason = "no lamp burns then"', ""), "an entry has no reason"),
        (WHITE.replace("no lamp burns then", " "), "an entry has no reason"),
        (WHITE.replace('["blow"]', '"blow"'), "first is a list of names"),
        (WHITE + WHITE, "blow -> blow of lamps stands in two entries"),
    ],
)
def test_a_wrong_file_of_reasons_is_refused(
    text: str, said: str, blown: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (blown.parent / "coverage" / "white.toml").write_text(text, encoding="utf-8")
    assert main(["coverage", str(blown), "--pairs"]) == 2
    assert said in capsys.readouterr().err


def test_pairs_need_no_classes(charter: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (charter.parent / "coverage" / "classes.charter").unlink()
    assert main(["coverage", str(charter), "--pairs"]) == 0
    assert main(["coverage", str(charter), "--pairs", "--classes", "spec"]) == 2
    assert "--pairs is about steps" in capsys.readouterr().err


def test_a_mistake_in_the_classes_is_shown_with_its_place(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    classes = charter.parent / "coverage" / "classes.charter"
    classes.write_text(CLASSES.replace("on == {}", "onn == {}"), encoding="utf-8")
    assert main(["coverage", str(charter)]) == 1
    told = capsys.readouterr()
    assert "classes.charter:4:" in told.out + told.err
    classes.write_text("protocol lamps\n", encoding="utf-8")
    assert main(["coverage", str(charter)]) == 2
    assert "declares no witness" in capsys.readouterr().err
    assert main(["coverage", str(charter), "--classes", "nowhere"]) == 2
    assert "nowhere does not exist" in capsys.readouterr().err


def test_classes_are_no_charter_of_their_own(charter: Path) -> None:
    """Not for `conform generate`, and an editor reads them with the charter that they speak of."""
    project = charter.parent.parent / "charter.toml"
    project.write_text(f'charters = "{charter.parent.name}"\n', encoding="utf-8")
    (lamps,) = protocols(project_at(project.parent))
    assert lamps.place == f"{charter.parent.name}/lamps.charter"
    classes = (charter.parent / "coverage" / "classes.charter").as_posix()
    snapshot = Workspace().refresh(classes)
    assert not any(snapshot.found.values())
    assert len(snapshot.files) == 2


def test_each_of_several_charters_in_a_folder_has_classes_of_its_own(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = charter.with_name("bulbs.charter")
    other.write_text(LAMPS.replace("protocol lamps", "protocol bulbs"), encoding="utf-8")
    folder = charter.with_name("bulbs.coverage")
    folder.mkdir()
    classes = "protocol bulbs\nwitness dim of lamps: on == {}\n"
    (folder / "classes.charter").write_text(classes, encoding="utf-8")
    assert main(["coverage", str(other), "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["instances"][0]["steps"]) == ["dim"]
    assert main(["coverage", str(charter)]) == 0
    (charter.parents[1] / "charter.toml").write_text("", encoding="utf-8")
    known = [one.place for one in protocols(project_at(charter.parents[1]))]
    assert known == ["spec/bulbs.charter", "spec/lamps.charter"]
