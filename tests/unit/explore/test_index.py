"""The index of a search on disk: what was changed in it is not used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from charter.explore.native.memory.index import DAMAGED, OtherSearch, SearchIndex, explain_damage

ROWS: list[dict[str, object]] = [
    {"count": 1, "notes": [[0, 0]]},
    {"count": 7, "notes": [[3, 1]]},
    {"count": 9, "notes": [[5, 1]]},
]
HEAD: dict[str, object] = {"bits": 4}


@pytest.fixture
def index(tmp_path: Path) -> SearchIndex:
    made = SearchIndex(tmp_path / "new" / "index.json", "program")
    assert made.read().rows == ()
    made.write(HEAD, ROWS)
    return made


def test_rows_come_back(index: SearchIndex) -> None:
    found = index.read()
    assert (found.head, list(found.rows), found.message) == (HEAD, ROWS, "")
    index.write(HEAD, ROWS[:1])
    assert list(index.read().rows) == ROWS[:1]


@pytest.mark.parametrize("at", range(3))
@pytest.mark.parametrize("field", ["count", "notes", "digest", "more"])
def test_a_row_that_was_changed_is_not_used_nor_are_those_behind(
    index: SearchIndex, at: int, field: str
) -> None:
    said = json.loads(index.path.read_text())
    said["levels"][at][field] = 0
    index.path.write_text(json.dumps(said))
    found = index.read()
    assert (list(found.rows), found.message) == (ROWS[:at], explain_damage(at))


@pytest.mark.parametrize("change", ["lost", "twice", "swapped", "head"])
def test_rows_are_bound_to_their_place(index: SearchIndex, change: str) -> None:
    said = json.loads(index.path.read_text())
    levels = said["levels"]
    match change:
        case "lost":
            del levels[1]
        case "twice":
            levels.insert(1, levels[0])
        case "swapped":
            levels[1], levels[2] = levels[2], levels[1]
        case _:
            said["head"]["bits"] = 5
    index.path.write_text(json.dumps(said))
    assert list(index.read().rows) == ([] if change == "head" else ROWS[:1])


@pytest.mark.parametrize("text", ["", '{"program": "pro', '{"program": "program"}', "\xff"])
def test_what_is_no_index_is_damaged(index: SearchIndex, text: str) -> None:
    index.path.write_bytes(text.encode("latin-1"))
    assert index.read().message == DAMAGED


@pytest.mark.parametrize("text", ["[]", "{}", '{"program": "other", "levels": []}'])
def test_the_file_of_somebody_else_is_left_alone(index: SearchIndex, text: str) -> None:
    index.path.write_text(text)
    with pytest.raises(OtherSearch, match="holds another search"):
        index.read()


def test_a_row_that_is_no_row_is_damaged(index: SearchIndex) -> None:
    said = json.loads(index.path.read_text())
    said["levels"][1] = "row"
    index.path.write_text(json.dumps(said))
    assert list(index.read().rows) == ROWS[:1]


def test_the_index_of_another_program_is_left_alone(index: SearchIndex) -> None:
    with pytest.raises(OtherSearch, match="holds another search"):
        SearchIndex(index.path, "other").read()


def test_a_file_holds_no_journal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OtherSearch, match="cannot hold a journal"):
        SearchIndex(tmp_path / "file" / "index.json", "program").read()
