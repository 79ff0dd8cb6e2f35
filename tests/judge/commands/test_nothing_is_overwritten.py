"""What a command writes never replaces what another program or a person wrote."""

import json
import shutil
from pathlib import Path

import pytest

from conform.console.errors import CannotWrite
from conform.console.files import write_folder, write_named
from conform.reports.junit import write_junit

GREEN = "<?xml version='1.0' encoding='utf-8'?>\n<testsuite name='x'/>\n"

MINE = "mine, and there is no copy"
FOLDERS = {
    "handbook": (["generate", "--backend", "handbook", "TOY", "--out", "PLACE"], "index.html"),
    "markdown": (["generate", "--backend", "handbook", "--format", "markdown", "TOY", "--out",
                  "PLACE"], "index.md"),
    "tla": (["generate", "--backend", "tla", "TOY", "--out", "PLACE"], "box.tla"),
    "vectors": (["vectors", "TOY", "--out", "PLACE"], "manifest.json"),
    "full vectors": (["vectors", "TOY", "--profile", "full", "--out", "PLACE"], "vectors.jsonl"),
    "journal": (["explore", "TOY", "--instance", "tiny", "--journal", "PLACE"], "levels"),
    "keep": (["explore", "TOY", "--instance", "tiny", "--keep", "PLACE"], "manifest.json"),
    "verdicts": (["verdicts", "TOY", "--write", "PLACE"], "README.md"),
    "adapter": (["generate", "--adapter", "go", "TOY", "--out", "PLACE"], "main.go"),
}  # fmt: skip
FILES = {
    "picture": ["explore", "TOY", "--instance", "tiny", "--picture"],
    "itf": ["explore", "TOY", "--instance", "tiny", "--itf"],
    "junit": ["run", "--target", "reference", "--suite", "SUITE", "--engine", "inline", "--out",
              "RUN", "--junit"],
}  # fmt: skip


def fill(command, **places):
    return [str(places.get(part, part)) for part in command]


@pytest.mark.parametrize("what", FOLDERS)
@pytest.mark.parametrize("own", [True, False], ids=["the same name", "another name"])
def test_folder_that_holds_something_else_is_refused(what, own, conform, toy, tmp_path):
    command, name = FOLDERS[what]
    if not own and what in ("verdicts", "adapter"):
        return  # these belong into a folder with others, and take nothing away
    place = tmp_path / "mine"
    place.mkdir()
    mine = place / (name if own else "notes.txt")
    mine.write_text(MINE)
    code, _, err = conform(*fill(command, TOY=toy, PLACE=place))
    assert (code, [path.name for path in place.iterdir()]) == (2, [mine.name]), err
    assert mine.read_text() == MINE
    assert str(place) in err
    assert any(f"{words} f" in err for words in ("another", "an empty or a new"))


@pytest.mark.parametrize("what", ["handbook", "tla", "vectors", "journal", "verdicts"])
def test_folder_that_the_same_command_wrote_is_written_again(what, conform, toy, tmp_path):
    command = fill(FOLDERS[what][0], TOY=toy, PLACE=tmp_path / "mine")
    codes = [conform(*command)[0] for _ in range(2)]
    assert 2 not in codes and codes[0] == codes[1]


@pytest.mark.parametrize("what", ["picture", "itf"])
def test_file_of_another_kind_is_refused_and_one_of_the_same_kind_is_replaced(
    what, conform, toy, tmp_path
):
    file = tmp_path / "file"
    command = fill(FILES[what], TOY=toy)
    file.write_text(MINE)
    code, _, err = conform(*command, file)
    assert (code, file.read_text()) == (2, MINE), err
    assert "holds something else, which would be lost; name another file" in err
    file.write_text("")
    codes = [conform(*command, file)[0] for _ in range(2)]
    assert 2 not in codes and codes[0] == codes[1]


@pytest.mark.parametrize("mine", [MINE, "<?xml version='1.0' encoding='utf-8'?>\n<plan/>"])
def test_junit_replaces_no_other_file_and_no_run_is_made(
    mine, conform, targets_folder, toy_suite, tmp_path
):
    file = tmp_path / "charter.toml"
    file.write_text(mine)
    command = fill(FILES["junit"], SUITE=toy_suite, RUN=tmp_path / "run")
    code, _, err = conform(*command, file)
    assert (code, file.read_text(), (tmp_path / "run").exists()) == (2, mine, False), err


WRONG = [["--limit", "0"], ["--limit=none"], ["--relase", "4"], ["--engine", "none"], []]


@pytest.mark.parametrize("wrong", WRONG)
def test_junit_of_an_earlier_run_is_replaced_when_an_option_is_wrong(wrong, conform, tmp_path):
    file = tmp_path / "junit.xml"
    write_junit(str(file), GREEN)
    code, _, err = conform("run", *(["--target", "x"] if wrong else []), *wrong, "--junit", file)
    assert code == 2
    assert '<error type="not run"' in file.read_text()
    assert err.strip().partition("'")[0].partition(": ")[2] in file.read_text()


def test_junit_of_an_earlier_run_is_replaced_before_anything_can_end_the_run(
    called, toy_suite, tmp_path, monkeypatch
):
    file = tmp_path / "junit.xml"
    write_junit(str(file), GREEN)
    monkeypatch.setattr("conform.cli.commands.judge.run.run_target", lambda *_, **__: 1 // 0)
    code, _, err = called(*fill(FILES["junit"], SUITE=toy_suite, RUN=tmp_path / "run"), file)
    assert (code, "ZeroDivisionError" in err) == (3, True)
    assert '<error type="not run"' in file.read_text()


def test_list_of_a_folder_is_no_leave_for_other_files(tmp_path):
    write_folder(tmp_path / "a", {"x": "1", "y/z": "2"})
    (tmp_path / "a" / "mine").write_text(MINE)
    write_folder(tmp_path / "a", {"x": "3"})
    write_folder(tmp_path / "a", {"y/z": "4"})
    assert (tmp_path / "a" / "x").read_text() == "3"
    with pytest.raises(CannotWrite, match="mine is not of an earlier call"):
        write_folder(tmp_path / "a", {"x": "5", "mine": "6"})
    assert (tmp_path / "a" / "x").read_text() == "3"


def test_named_file_may_be_a_device():
    write_named(Path("/dev/null"), "text")


def test_suite_that_was_left_half_written_is_written_again(conform, toy, tmp_path):
    place = tmp_path / "suite"
    command = fill(FOLDERS["vectors"][0], TOY=toy, PLACE=place)
    conform(*command)
    (place / "manifest.json").rename(place / ".manifest.json.part")  # the moment before its name
    assert conform(*command)[0] != 2
    assert "spec_digest" in json.loads((place / "manifest.json").read_text())
    shutil.rmtree(place)
    (place / ".unfinished").mkdir(parents=True)
    assert conform(*command)[0] != 2


def test_direction_in_a_charter_turns_no_page_and_no_picture(conform, toy, tmp_path):
    """U+202E turns what follows, so that a reader sees another text."""
    toy.write_text(toy.read_text().replace('"a text"', '"a \u202etext"') + "-- ends \u202ehere\n")
    for form in ("html", "markdown"):
        place = tmp_path / form
        code, _, err = conform(
            "generate", "--backend", "handbook", "--format", form, toy, "--out", place
        )
        assert code == 0, err
        texts = [path.read_text() for path in place.rglob("*") if path.is_file()]
        assert not any("\u202e" in text for text in texts)
        assert any("\\u202e" in text for text in texts)
    write_named(tmp_path / "picture.svg", "<svg>\u202e</svg>")
    assert (tmp_path / "picture.svg").read_text() == "<svg>\\u202e</svg>"
