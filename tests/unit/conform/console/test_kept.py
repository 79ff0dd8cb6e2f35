"""States kept as Parquet: what stands in them, and which folders are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from charter.formats.states import LEVEL, NUMBER, Chunk, Column, Head
from conform.console.errors import CannotWrite
from conform.storage import state_dump as kept

HEAD = Head(
    protocol="test.kept",
    variant="",
    mutant="",
    machine="box",
    instance="tiny",
    bounds={"Node": 2},
    program="0123",
    permuted=("Node",),
    expression="",
    distinct=25_000,
    levels=(1, 24_999),
    complete=True,
    lossy=0.0,
    columns=(NUMBER, LEVEL, Column("lit", "truth"), Column("held", "json")),
)
PLACE = {
    "protocol": "test.kept",
    "variant": "",
    "mutant": "",
    "machine": "box",
    "instance": "tiny",
    "bounds": {"Node": 2},
}


class Counted:
    """As many rows as the head says, or fewer: then reading them breaks off."""

    def __init__(self, head: Head = HEAD, stop: int = 1 << 60) -> None:
        self.head = head
        self.stop = stop

    def chunks(self, size: int) -> Iterator[Chunk]:
        for first in range(0, self.head.distinct, size):
            if first >= self.stop:
                raise OSError(28, "No space left on device")
            numbers = range(first, min(first + size, self.head.distinct))
            yield [
                [*numbers],
                [min(1, n) for n in numbers],
                [n % 2 == 0 if n else None for n in numbers],
                ['["a"]' for _ in numbers],
            ]


def test_states_come_back_when_they_are_kept(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    folder = tmp_path / "deep" / "states"
    assert kept.keep(Counted(), folder, lambda *now: told.append(now)) == 1
    assert told == [(10_000, 25_000), (20_000, 25_000), (25_000, 25_000)]
    table = pq.read_table(folder / "states")
    assert table.column_names == ["_number", "_level", "lit", "held"]
    assert table["_number"].to_pylist() == list(range(25_000))
    assert table["lit"].to_pylist()[:3] == [None, False, True]
    manifest, files = kept.open_dump(folder)
    assert {name: manifest[name] for name in PLACE} == PLACE
    assert (manifest["complete"], manifest["levels"]) == (True, [1, 24_999])
    assert [file.name for file in files] == ["part-00000.parquet"]
    assert [path.name for path in folder.parent.iterdir()] == ["states"]


def test_there_are_several_files_when_there_are_many_states(tmp_path: Path) -> None:
    kept.keep(Counted(replace(HEAD, distinct=200_001)), tmp_path / "s", lambda *_: None)
    manifest, files = kept.open_dump(tmp_path / "s")
    listed = manifest["files"]
    assert isinstance(listed, list) and len(files) == 3
    assert [item["rows"] for item in listed if isinstance(item, dict)] == [100_000, 100_000, 1]
    assert pq.read_table(tmp_path / "s" / "states").num_rows == 200_001


def test_kept_states_are_replaced_when_they_are_of_the_same_place(tmp_path: Path) -> None:
    kept.keep(Counted(), tmp_path / "s", lambda *_: None)
    kept.refuse_other(tmp_path / "s", PLACE)
    kept.keep(Counted(replace(HEAD, distinct=3)), tmp_path / "s", lambda *_: None)
    assert kept.open_dump(tmp_path / "s")[0]["distinct"] == 3
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_nothing_changes_when_states_cannot_be_written(tmp_path: Path) -> None:
    kept.keep(Counted(), tmp_path / "s", lambda *_: None)
    with pytest.raises(CannotWrite, match="No space left on device"):
        kept.keep(Counted(stop=10_000), tmp_path / "s", lambda *_: None)
    assert kept.open_dump(tmp_path / "s")[0]["distinct"] == 25_000
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_a_folder_is_refused_when_it_holds_other_states(tmp_path: Path) -> None:
    kept.keep(Counted(), tmp_path / "s", lambda *_: None)
    with pytest.raises(kept.NotKept, match=r'its bounds is {"Node":2}; name another folder'):
        kept.refuse_other(tmp_path / "s", {**PLACE, "bounds": {"Node": 3}})


@pytest.mark.parametrize("other", [{"mutant": "forgets"}, {"variant": "two_disks"}])
def test_states_of_a_mutant_or_a_variant_are_other_states(
    tmp_path: Path, other: dict[str, str]
) -> None:
    kept.keep(Counted(), tmp_path / "s", lambda *_: None)
    with pytest.raises(kept.NotKept, match=f'its {next(iter(other))} is ""; name another folder'):
        kept.refuse_other(tmp_path / "s", {**PLACE, **other})


def test_all_states_stay_when_a_search_gave_up(tmp_path: Path) -> None:
    kept.keep(Counted(), tmp_path / "s", lambda *_: None)
    fewer = Counted(replace(HEAD, distinct=3, complete=False))
    with pytest.raises(kept.NotKept, match="holds all 25000 states, and this search gave up"):
        kept.keep(fewer, tmp_path / "s", lambda *_: None)
    assert kept.open_dump(tmp_path / "s")[0]["distinct"] == 25_000
    kept.keep(fewer, tmp_path / "t", lambda *_: None)
    kept.keep(fewer, tmp_path / "t", lambda *_: None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s", "t"]


def test_kept_states_come_back_when_new_ones_cannot_be_moved_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.keep(Counted(), tmp_path / "s", lambda *_: None)
    rename = Path.rename

    def refuse(made: Path, target: Path) -> Path:
        if made.name == ".s.part":
            raise OSError(13, "Permission denied")
        return rename(made, target)

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(CannotWrite, match="Permission denied"):
        kept.keep(Counted(replace(HEAD, distinct=3)), tmp_path / "s", lambda *_: None)
    assert kept.open_dump(tmp_path / "s")[0]["distinct"] == 25_000
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_a_folder_is_refused_or_fine_when_a_bit_of_a_file_was_flipped(tmp_path: Path) -> None:
    """At its end, where Parquet describes itself; its reader raises errors of many kinds."""
    folder = tmp_path / "s"
    kept.keep(Counted(replace(HEAD, distinct=3)), folder, lambda *_: None)
    part = folder / "states" / "part-00000.parquet"
    content, refused = part.read_bytes(), 0
    for place, bit in product(range(-900, 0), (0x80, 0x10, 0x04)):
        flipped = bytearray(content)
        flipped[place] ^= bit
        part.write_bytes(flipped)
        try:
            kept.open_dump(folder)
        except kept.NotKept:
            refused += 1
    assert refused > 1000


def test_a_folder_is_fine_when_it_is_empty_or_not_there(tmp_path: Path) -> None:
    kept.refuse_other(tmp_path, PLACE)
    kept.refuse_other(tmp_path / "no" / "such", PLACE)
    kept.keep(Counted(), tmp_path, lambda *_: None)
    assert kept.open_dump(tmp_path)[0]["distinct"] == 25_000


@pytest.mark.parametrize("damage", ["cut off", "missing", "other rows", "no list"])
def test_a_folder_is_refused_when_states_are_missing(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "s"
    kept.keep(Counted(), folder, lambda *_: None)
    part = folder / "states" / "part-00000.parquet"
    manifest = json.loads((folder / "manifest.json").read_text())
    match damage:
        case "cut off":
            part.write_bytes(part.read_bytes()[:-100])
        case "missing":
            part.unlink()
        case "other rows":
            manifest["files"][0]["rows"] += 1
        case _:
            manifest["files"] = []
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(kept.NotKept, match="is damaged") as refused:
        kept.refuse_other(folder, PLACE)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("content", [None, "{", "[]", '{"kind": "run"}', '{"kind": "states"}'])
def test_a_folder_is_refused_when_it_is_of_something_else(
    tmp_path: Path, content: str | None
) -> None:
    (tmp_path / "other.txt").write_text("mine")
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(kept.NotKept, match="is not a folder of stored states"):
        kept.refuse_other(tmp_path, PLACE)
    assert (tmp_path / "other.txt").read_text() == "mine"


def test_a_file_is_refused_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(kept.NotKept, match="is not a folder of stored states"):
        kept.refuse_other(tmp_path / "file", PLACE)
