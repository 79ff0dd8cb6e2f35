"""The table of which properties hold in which instances and variants."""

from __future__ import annotations

import fcntl
import json
import os
import re
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

import pytest

from charter.api import verdicts
from charter.api.charters import load_charter
from charter.api.handbook import handbook
from charter.formats.charter_files.verdicts import FORMAT
from conform.cli.main import main
from conform.storage.lease import in_turn

LIGHT = """protocol light

-- A light with a counter of a few steps.

component light {
  state on: bool = false
  state pressed: int 0..5 = 0

  operation press() -> bool cites silent {
    branch worn_out when pressed >= 3 reply false
    branch pressed_now { on' = not on  pressed' = pressed + 1  reply true }
  }
  observe all { on, pressed }
}

-- Nobody presses three times.
always seldom of light: pressed < 3
always even of light: on implies pressed in {1, 3}
always far of light: pressed == 5 implies on
always third of light: pressed == 3 implies on
witness dark_again of light: pressed == 2 and not on
witness five of light: pressed == 5

instance tiny of light { misses far, five fails seldom }

mutant dark in tiny { replace update on of light.press/pressed_now with false } caught by third

variant soft cites silent {
  replace update on of light.press/pressed_now with true
  drop witness five
}
"""


@pytest.fixture
def charter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "light.charter"
    path.write_text(LIGHT, encoding="utf-8")
    return path


def read_written(charter: Path) -> dict[tuple[str, str], verdicts.PropertyVerdict]:
    rows = verdicts.read_verdicts(verdicts.verdicts_file(charter))
    return {(row.variant, name): one for row in rows for name, one in row.verdicts.items()}


def search(*more: str) -> int:
    return main(["verdicts", "light.charter", "--variant", "*", "--write", "light.verdicts", *more])


def test_each_property_has_its_verdict_in_each_variant(charter: Path) -> None:
    assert search() == 0
    found = read_written(charter)
    assert {key: (one.word, one.steps) for key, one in found.items()} == {
        ("", "seldom"): ("violated", 3),
        ("", "even"): ("holds", None),
        ("", "far"): ("not exercised", None),
        ("", "third"): ("holds", None),
        ("", "dark_again"): ("found", 2),
        ("", "five"): ("not found", None),
        ("soft", "seldom"): ("violated", 3),
        ("soft", "even"): ("violated", 2),
        ("soft", "far"): ("not exercised", None),
        ("soft", "third"): ("holds", None),
        ("soft", "dark_again"): ("not found", None),
    }
    assert found["", "seldom"].expected and found["soft", "even"].trace == ("press()",) * 2


def test_the_page_has_a_row_for_each_search_and_the_traces(charter: Path) -> None:
    search()
    lines = (charter.parent / "light.verdicts" / "README.md").read_text("utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| `tiny` | 4 ")]
    assert rows == ["| `tiny` | 4 | 4 | ✗ 3 | ✓ | · | ✓ | 2 | · |",
                    "| `tiny` | 4 | 4 | ✗ 3 | ✗ 2 | · | ✓ | · |  |"]  # fmt: skip
    assert "| `tiny` | `even` | `press() → press()` |" in lines
    assert any(
        "Nobody presses three times." in line and "fails in `tiny`" in line for line in lines
    )


RENAMED = """
variant renamed cites silent { replace update on of light.press/pressed_now with on == false }
"""


def test_a_search_of_a_variant_that_shows_the_same_is_not_written_twice(charter: Path) -> None:
    charter.write_text(LIGHT + RENAMED, encoding="utf-8")
    search()
    page = (charter.parent / "light.verdicts" / "README.md").read_text("utf-8")
    renamed = page.partition("variant renamed")[2]
    assert "As in the charter itself: `tiny`." in renamed and "| `tiny` |" not in renamed
    rows = json.loads(verdicts.verdicts_file(charter).read_text("utf-8"))["instances"]
    assert [(row["variant"], "verdicts" in row) for row in rows] == [
        ("", True), ("soft", True), ("renamed", False),
    ]  # fmt: skip
    found = read_written(charter)
    assert found["renamed", "seldom"] == found["", "seldom"] and ("renamed", "five") in found


def test_a_row_that_refers_to_one_that_is_not_there_is_refused(charter: Path) -> None:
    charter.write_text(LIGHT + RENAMED, encoding="utf-8")
    search()
    file = verdicts.verdicts_file(charter)
    lines = file.read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join(line for line in lines if '"variant":"",' not in line), "utf-8")
    with pytest.raises(verdicts.BadVerdicts, match="tiny of the charter itself has no row"):
        verdicts.read_verdicts(file)


def test_an_unexpected_violation_and_an_unknown_answer_have_their_exit_codes(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    charter.write_text(LIGHT.replace(" fails seldom", ""), encoding="utf-8")
    assert main(["verdicts", "light.charter"]) == 1
    charter.write_text(LIGHT, encoding="utf-8")
    assert main(["verdicts", "light.charter", "--most", "1"]) == 3
    shown = capsys.readouterr()
    assert "?" in shown.out and "--most searches more" in shown.err
    assert main(["verdicts", "light.charter", "--variant", "sofd"]) == 2
    assert "no variant matches 'sofd'; there are: soft" in capsys.readouterr().err


def test_what_an_instance_lists_wrongly_is_told_and_kept(
    charter: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = LIGHT.replace("misses far, five fails seldom", "misses even, five fails seldom, third")
    charter.write_text(listed, encoding="utf-8")
    assert search() == 0
    told = (
        "condition far was never met, and is not under `misses`",
        "even is under `misses`, but was met",
        "third is under `fails`, but holds",
    )
    assert capsys.readouterr().out.splitlines()[-3:] == [f"tiny: {one}" for one in told]
    rows = verdicts.read_verdicts(verdicts.verdicts_file(charter))
    assert [(row.variant, row.misstated) for row in rows] == [("", told), ("soft", ())]
    charter.write_text(LIGHT, encoding="utf-8")
    search()
    assert "misstated" not in verdicts.verdicts_file(charter).read_text("utf-8")


def test_what_did_not_change_is_not_searched_again(
    charter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search()
    asked: list[str] = []
    searched = verdicts.search_instance

    def note(model, place, rules, most, progress):  # type: ignore[no-untyped-def]
        asked.append(place.variant or place.mutant)
        return searched(model, place, rules, most, progress)

    monkeypatch.setattr(verdicts, "search_instance", note)
    same = LIGHT.replace("-- A light", "-- The light").replace(
        "when pressed", "when tired: pressed"
    )
    same = same.replace("component", 'source BOX "the box"\ncomponent', 1)
    charter.write_text(same.replace("cites silent {", 'cites BOX "§1" {', 1), encoding="utf-8")
    search()
    assert not asked
    charter.write_text(LIGHT.replace("with true", "with pressed < 2"), encoding="utf-8")
    search()
    assert asked == ["soft"]


TWO_LABELS = """protocol pair

component pair {
  state left: bool = false
  state right: bool = false

  operation go() -> bool cites silent {
    branch gone when a: not left and b: not right { left' = true  reply true }
    branch stays { right' = true  reply false }
  }
}

always apart of pair cites silent: not (left and right)
witness both of pair cites silent: left and right
instance tiny of pair { misses apart, both }
mutant late in tiny { drop conjunct a of pair.go/gone } caught by apart
"""


def test_a_mutant_is_searched_again_when_a_label_that_it_names_is_another(charter: Path) -> None:
    def digests(text: str) -> dict[str, str]:
        charter.write_text(text, encoding="utf-8")
        known, _ = load_charter(charter)
        return {place.mutant: told for place, told in verdicts.digests(known, [""], True).items()}

    swapped = TWO_LABELS.replace("a: not left and b: not right", "b: not left and a: not right")
    first, second = digests(TWO_LABELS), digests(swapped)
    assert first[""] == second[""]
    assert first["late"] != second["late"]


def test_rows_of_an_earlier_version_of_the_searches_are_searched_again(
    charter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search("--mutant", "*")
    rows = verdicts.read_verdicts(verdicts.verdicts_file(charter))
    known, _ = load_charter(charter)
    assert verdicts.current(known, rows) == rows
    monkeypatch.setattr(verdicts, "SEARCHES", verdicts.SEARCHES + 1)
    assert verdicts.current(known, rows) == ()
    search("--mutant", "*")
    again = verdicts.read_verdicts(verdicts.verdicts_file(charter))
    assert verdicts.current(known, again) == again
    assert [row.verdicts for row in again] == [row.verdicts for row in rows]


def test_a_mutant_shows_which_properties_see_it(charter: Path) -> None:
    assert search("--mutant", "*") == 0
    (row,) = (r for r in verdicts.read_verdicts(verdicts.verdicts_file(charter)) if r.mutant)
    assert row.verdicts["third"].trace == ("press()",) * 3
    assert row.verdicts["even"].word == "not exercised" and row.verdicts["seldom"].steps == 3
    page = (charter.parent / "light.verdicts" / "README.md").read_text("utf-8")
    assert "| `dark` | 4 | 4 | ✗ 3 | · | · | ✗ 3 | 2 | · |" in page
    assert "| `dark` | `third` | `press() → press() → press()` |" in page
    site = handbook(charter, "html")
    assert "by these steps: <code>press() → press()" in site["light.html"]
    drawn = site["pictures/mutant.dark.svg"]
    assert drawn.count("press()") >= 3 and "always third fails here" in drawn
    assert (
        '<img src="pictures/mutant.dark.svg" alt="dark: third fails in tiny"' in site["light.html"]
    )
    assert "<details><summary>seldom fails in tiny</summary>" in site["light.html"]
    assert "always seldom fails here" in site["pictures/fails--tiny-seldom.svg"]
    changed = LIGHT.replace("pressed_now with false", "pressed_now with pressed > 2")
    charter.write_text(changed, encoding="utf-8")
    search()
    (row,) = (r for r in verdicts.read_verdicts(verdicts.verdicts_file(charter)) if r.mutant)
    assert row.out_of_date


def test_the_table_keeps_other_instances_and_searches_more_where_that_is_asked(
    charter: Path,
) -> None:
    second = "instance more of light { misses far, five fails seldom }"
    charter.write_text(f"{LIGHT}\n{second}\n", encoding="utf-8")
    search("--instance", "tiny", "--most", "1")
    search("--instance", "more")
    rows = verdicts.read_verdicts(verdicts.verdicts_file(charter))
    assert [(r.variant, r.instance, r.complete) for r in rows] == [
        ("", "tiny", False), ("", "more", True), ("soft", "tiny", False), ("soft", "more", True)
    ]  # fmt: skip
    search()
    rows = verdicts.read_verdicts(verdicts.verdicts_file(charter))
    assert len(rows) == 4 and all(row.complete for row in rows)


def test_two_commands_at_once_keep_the_rows_of_each_other(
    charter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the first one searches, the second one begins and ends."""
    second = "instance more of light { misses far, five fails seldom }"
    charter.write_text(f"{LIGHT}\n{second}\n", encoding="utf-8")
    searched, others = verdicts.search_instance, ["more", "tiny"]

    def meanwhile(*given):  # type: ignore[no-untyped-def]
        if others:
            search("--instance", others.pop(0), "--mutant", "*")
        return searched(*given)

    monkeypatch.setattr(verdicts, "search_instance", meanwhile)
    search("--instance", "tiny", "--most", "1")
    rows = verdicts.read_verdicts(verdicts.verdicts_file(charter))
    assert {(r.variant, r.mutant, r.instance) for r in rows} == {
        ("", "", "tiny"), ("soft", "", "tiny"), ("", "dark", "tiny"),
        ("", "", "more"), ("soft", "", "more"),
    }  # fmt: skip
    assert all(row.complete for row in rows)
    page = (charter.parent / "light.verdicts" / "README.md").read_text("utf-8")
    assert page.count("| `more` |") > 1 and "| `dark` |" in page


def test_a_folder_is_written_by_one_command_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "verdicts"
    with in_turn(folder):
        second = os.open(folder, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(second)
    assert not list(folder.iterdir())


def test_the_handbook_says_where_an_instance_lists_a_property(charter: Path) -> None:
    page = handbook(charter, "markdown")["table-of-properties.md"]
    assert "| fails in [`tiny`](light.md#tiny) |" in page
    assert page.count("| listed under `misses` of [`tiny`](light.md#tiny) |") == 2


def test_what_fails_in_the_first_state_is_drawn_as_that_state(charter: Path) -> None:
    """In the table and below the instance."""
    text = LIGHT.replace("fails seldom }", "fails seldom, lit }")
    text = text.replace(
        "witness dark_again", "-- It is lit.\nalways lit of light: on\nwitness dark_again"
    )
    charter.write_text(text, encoding="utf-8")
    assert search() == 0
    found = read_written(charter)["", "lit"]
    assert (found.word, found.steps, found.trace) == ("violated", None, ())
    lines = (charter.parent / "light.verdicts" / "README.md").read_text("utf-8").splitlines()
    assert "| `tiny` | `lit` | in the first state |" in lines
    site = handbook(charter, "html")
    picture = "pictures/fails--tiny-lit.svg"
    assert ">on: false<" in site[picture] and ">always lit fails here<" in site[picture]
    assert ">It is lit.<" in site[picture] and ">this is false: on<" in site[picture]
    ElementTree.fromstring(site[picture])
    for page in ("light.html", "table-of-verdicts.html"):
        assert f'<img src="{picture}"' in site[page]
    assert "lit fails in the first state of tiny" in site["light.html"]
    assert "pictures/fails--tiny-seldom.svg" in site


DAMAGED = {
    "empty": b"",
    "no object": b"[]",
    "deep": b"[" * 100_000,
    "another format": b'{"format": 9, "instances": []}',
    "no fields": json.dumps({"format": FORMAT, "instances": [{}]}).encode(),
    "no text": b"\xff",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_one_sentence(
    charter: Path, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = charter.parent / "light.verdicts"
    folder.mkdir()
    (folder / "verdicts.json").write_bytes(content)
    for call in (
        ["verdicts", "light.charter", "--write", "light.verdicts"],
        ["generate", "--backend", "handbook", "light.charter", "--out", "book"],
    ):
        assert main(call) == 2
        said = capsys.readouterr().err.strip()
        assert "verdicts.json has no verdicts that can be read" in said and "\n" not in said
        assert "delete it, and `conform verdicts CHARTER --write FOLDER` writes it anew" in said


def test_a_file_of_the_earlier_format_is_read_and_its_searches_are_kept(
    charter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search()
    path = verdicts.verdicts_file(charter)
    rows, text = verdicts.read_verdicts(path), path.read_text("utf-8")
    assert '"verdicts":"*hnh*w"' in text
    for row in rows:
        assert verdicts.verdicts_text([row]).count("\n") == 4
    earlier = {"format": 1, "instances": [_as_objects(row) for row in rows]}
    path.write_text(json.dumps(earlier), encoding="utf-8")
    assert verdicts.read_verdicts(path) == rows
    monkeypatch.setattr(verdicts, "search_instance", None)
    assert search() == 0 and path.read_text("utf-8") == text


def test_a_file_with_texts_in_its_traces_is_read(charter: Path) -> None:
    """Format 4."""
    search()
    path = verdicts.verdicts_file(charter)
    rows = verdicts.read_verdicts(path)
    assert any(one.trace for row in rows for one in row.verdicts.values())
    earlier = json.loads(path.read_text("utf-8"))
    texts = earlier.pop("steps")
    for row in earlier["instances"]:
        for answer in row.get("details", {}).values():
            if isinstance(answer, dict) and "trace" in answer:
                answer["trace"] = [texts[number] for number in answer["trace"]]
    path.write_text(json.dumps(earlier | {"format": 4}), encoding="utf-8")
    assert verdicts.read_verdicts(path) == rows


def test_a_number_of_no_step_is_told_in_one_sentence(charter: Path) -> None:
    search()
    path = verdicts.verdicts_file(charter)
    text = path.read_text("utf-8")
    assert '"trace":[0,' in text
    path.write_text(text.replace('"trace":[0,', '"trace":[99,'), encoding="utf-8")
    with pytest.raises(verdicts.BadVerdicts, match="no step has the number 99"):
        verdicts.read_verdicts(path)


@pytest.mark.parametrize(
    "wrong, told",
    [
        ('"*hnh*x"', "`x` says nothing of five"),
        ('"*hnh*"', "not a letter for each property"),
        ('"*hnh**"', "`*` says nothing of five"),
    ],
)
def test_a_file_with_other_letters_is_told_in_one_sentence(
    charter: Path, wrong: str, told: str
) -> None:
    search()
    path = verdicts.verdicts_file(charter)
    path.write_text(path.read_text("utf-8").replace('"*hnh*w"', wrong), encoding="utf-8")
    with pytest.raises(verdicts.BadVerdicts, match=re.escape(told)):
        verdicts.read_verdicts(path)


def _as_objects(row: verdicts.InstanceVerdicts) -> dict[str, object]:
    whole = asdict(row)
    del whole["misstated"], whole["out_of_date"]
    whole["verdicts"] = {
        name: {"word": one.word, "trace": list(one.trace), "expected": one.expected}
        | ({} if one.steps is None else {"steps": one.steps})
        for name, one in row.verdicts.items()
    }
    return whole
