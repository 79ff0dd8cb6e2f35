"""Memory and files of the native engine: how much there is, and what happens without."""

from __future__ import annotations

import mmap
import resource
from pathlib import Path
from typing import Self

import pytest

from charter import api
from charter.explore.native.memory import arrays
from charter.explore.native.memory.arrays import LARGE, NoRoom, Room, default_budget
from charter.explore.native.search.explore import Choices, NativeOptions, explore

SPEC = Path(__file__).resolve().parents[3] / "spec"
GIB = 1 << 30
LENGTH = LARGE // 8


def root(folder: Path, files: dict[str, str]) -> Path:
    """A machine whose system files are these."""
    for name, text in {"proc/meminfo": "MemAvailable:   10485760 kB\n", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


GROUP = "sys/fs/cgroup/"
OLD = "sys/fs/cgroup/memory/"


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, 10 * GIB),
        ({"proc/self/cgroup": "0::/\n", GROUP + "memory.max": "max\n"}, 10 * GIB),
        (
            {
                "proc/self/cgroup": "0::/a/b\n",
                GROUP + "a/memory.max": f"{3 * GIB}\n",
                GROUP + "a/memory.current": f"{GIB}\n",
                GROUP + "a/b/memory.max": "max\n",
                GROUP + "a/b/memory.current": f"{GIB}\n",
            },
            2 * GIB,
        ),
        (
            {
                "proc/self/cgroup": "3:cpu:/x\n5:memory:/outside\n",
                OLD + "memory.limit_in_bytes": f"{4 * GIB}\n",
                OLD + "memory.usage_in_bytes": f"{3 * GIB}\n",
            },
            GIB,
        ),
        (
            {
                "proc/self/cgroup": "0::/\n",
                GROUP + "memory.max": f"{GIB}\n",
                GROUP + "memory.current": f"{2 * GIB}\n",
            },
            0,
        ),
    ],
    ids=["machine", "no limit", "group", "old group", "nothing left"],
)
def test_the_budget_is_of_what_is_free_for_this_process(
    tmp_path: Path, files: dict[str, str], free: int
) -> None:
    assert default_budget(root(tmp_path, files)) == free * 3 // 5


def test_the_budget_is_of_the_address_space_where_that_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (5 * GIB, 5 * GIB))
    folder = root(tmp_path, {"proc/self/status": "Name: x\nVmSize:  2097152 kB\n"})
    assert default_budget(folder) == 3 * GIB * 3 // 5


def test_the_budget_is_a_guess_where_nothing_is_known(tmp_path: Path) -> None:
    assert default_budget(tmp_path) == 4 * GIB * 3 // 5


def test_files_are_used_where_the_system_gives_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = Room(GIB, tmp_path)
    first = room.array(LENGTH)

    def refuse(length: int, kind: int) -> arrays.Array:
        raise NoRoom("no more")

    monkeypatch.setattr(arrays.Array, "of", refuse)
    array = room.array(LENGTH)
    array.view[LENGTH - 1] = 7
    assert room.holds(first) and not room.holds(array)
    assert (room.spilled, room.budget) == (LARGE, room.used)


def test_there_is_no_room_where_the_system_gives_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(length: int, folder: Path) -> arrays.Array:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(arrays.Array, "in_file", refuse)
    with pytest.raises(NoRoom, match="0 MiB of memory are used and the system gives no more"):
        Room(0, tmp_path).array(LENGTH)


class Limited(mmap.mmap):
    """Memory of a system that has 40 MiB."""

    left = 40 << 20
    taken = 0

    def __new__(cls, file: int, size: int, flags: int = mmap.MAP_SHARED) -> Self:
        if size > Limited.left:
            raise OSError(12, "Cannot allocate memory")
        Limited.left -= size
        made = super().__new__(cls, file, size, flags)
        made.taken = size
        return made

    def __del__(self) -> None:
        Limited.left += self.taken


def test_a_search_ends_with_what_it_knows_where_there_is_no_more_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = api.load(SPEC / "examples" / "primary_backup.charter")
    (instance,) = (i for i in model.instances if i.name == "small")
    monkeypatch.setattr(arrays.mmap, "mmap", Limited)
    found = explore(model, instance, NativeOptions(workers=1, choices=Choices(symmetry=False)))
    assert not found.counts.complete and 0 < found.counts.distinct < 392_992
    assert "the system gives no more; " in found.stopped and "bytes each" in found.stopped
