"""Arrays of 64-bit numbers for native code, in memory or, past a budget, in mapped files."""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import resource
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from charter.explore.model_checker import CannotExplore

LARGE = 1 << 14
"""Arrays with fewer bytes are always in memory."""
SPARE_DISK = 1 << 30
"""Bytes to leave free on the disk."""


class NoRoom(CannotExplore):
    """Memory and disk are used up; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Array:
    """Zeros at first. Memory of a large one is taken from the system when it is touched."""

    view: memoryview
    address: int
    length: int

    @staticmethod
    def of(length: int, kind: int = mmap.MAP_PRIVATE) -> Array:
        """So many numbers, in memory. Private: what a process inherits by fork it must not share.
        Raises NoRoom."""
        size = max(8, 8 * length)
        if size >= LARGE:
            try:
                flags = kind | mmap.MAP_ANONYMOUS
                return Array._map(mmap.mmap(-1, size, flags=flags), length)
            except OSError as error:
                raise NoRoom(_explain_refusal(error)) from None
        buffer = (ctypes.c_char * size)()
        address = ctypes.addressof(buffer)
        return Array(memoryview(buffer).cast("B").cast("Q"), address, length)

    @staticmethod
    def in_file(length: int, folder: Path) -> Array:
        """So many numbers in a file without a name, which ends with the array. Its room on the disk
        is taken at once: a disk that is full later would end the process. Raises OSError."""
        size = max(mmap.PAGESIZE, 8 * length)
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            file.truncate(size)
            return Array._map(mmap.mmap(file.fileno(), size), length)

    @staticmethod
    def _map(room: mmap.mmap, length: int) -> Array:
        address = ctypes.addressof(ctypes.c_char.from_buffer(room))
        return Array(memoryview(room).cast("Q"), address, length)

    def at(self, offset: int) -> int:
        """The address of a number."""
        return self.address + 8 * offset

    def numbers(self, start: int, count: int) -> list[int]:
        """Some numbers."""
        return self.view[start : start + count].tolist()

    def write(self, start: int, numbers: list[int]) -> None:
        """Write numbers; negative ones as they are in 64 bits."""
        for i, number in enumerate(numbers, start):
            self.view[i] = number % (1 << 64)


@dataclass(slots=True)
class Room:
    """Allocates large arrays: in memory until `budget` bytes are `used`, those `reserved` for
    buffers among them, then in files in `folder`."""

    budget: int
    folder: Path
    used: int = 0
    spilled: int = 0
    reserved: int = 0
    _sizes: dict[int, int] = field(default_factory=dict)

    def array(self, length: int) -> Array:
        """So many numbers. Raises NoRoom if the disk is full too."""
        size = 8 * length
        if self.used + size > self.budget and size >= LARGE:
            return self.file(length)
        try:
            # One process searches, and threads that touch private memory for the first time wait
            # for each other: with two, new keys took twice as long to enter the visited set.
            array = Array.of(length, mmap.MAP_SHARED)
        except NoRoom:
            self.budget = min(self.budget, self.used)
            return self.file(length)
        self.used += size
        self._sizes[array.address] = size
        return array

    def reserve(self, array: Array) -> None:
        """Count an array that stays in memory regardless of the budget."""
        self.used += 8 * array.length
        self.reserved += 8 * array.length

    def clear(self) -> None:
        """Release all arrays."""
        self.used = self.spilled = self.reserved = 0
        self._sizes.clear()

    def holds(self, array: Array) -> bool:
        """Whether an array is in memory and can be put elsewhere."""
        return array.address in self._sizes

    def file(self, length: int) -> Array:
        """So many numbers in a file. Raises NoRoom if the disk is full."""
        size = 8 * length
        free = shutil.disk_usage(self.folder).free
        used = f"{self.used >> 20} MiB of memory are used"
        if free < size + SPARE_DISK:
            raise NoRoom(f"{used} and {self.folder} has only {free >> 20} MiB left")
        try:
            array = Array.in_file(length, self.folder)
        except OSError as error:
            raise NoRoom(f"{used} and {_explain_refusal(error)}") from None
        self.spilled += size
        return array

    def release(self, array: Array) -> None:
        """Release an array."""
        self.used -= self._sizes.pop(array.address, 0)


def _explain_refusal(error: OSError) -> str:
    if error.errno == errno.ENOMEM:
        return "the system gives no more"
    return f"no file can be made beside it ({error.strerror})"


# --- how much there is ---------------------------------------------------------------------------


def default_budget(root: Path = Path("/")) -> int:
    """Three fifths of the memory that is free for this process now, in bytes: of the machine, of
    the control groups that it is in (a container is one), and of its address space."""
    free = [*_of_the_machine(root), *_of_groups(root), *_of_addresses(root)]
    return min(free, default=4 << 30) * 3 // 5


def _of_the_machine(root: Path) -> Iterator[int]:
    yield from _kibibytes(root / "proc" / "meminfo", "MemAvailable:")


def _of_groups(root: Path) -> Iterator[int]:
    """What each control group leaves, of both versions."""
    for line in _lines(root / "proc" / "self" / "cgroup"):
        _, controllers, path = line.split(":", 2)
        top = root / "sys" / "fs" / "cgroup"
        limit, usage = "memory.max", "memory.current"
        if "memory" in controllers.split(","):
            top, limit, usage = top / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
        elif controllers:
            continue
        # Inside a container the path may be one of outside: then its own group is the top.
        inner = PurePosixPath(path.lstrip("/"))
        for group in (inner, *inner.parents):
            most, used = (_lines(top / group / name) for name in (limit, usage))
            if most and used and most[0].isdecimal() and used[0].isdecimal():
                yield max(0, int(most[0]) - int(used[0]))


def _of_addresses(root: Path) -> Iterator[int]:
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY:
        for used in _kibibytes(root / "proc" / "self" / "status", "VmSize:"):
            yield max(0, most - used)


def _kibibytes(path: Path, name: str) -> Iterator[int]:
    """A size, in bytes, from a file of `name: number kB` lines."""
    for line in _lines(path):
        words = line.split()
        if words[:1] == [name]:
            yield int(words[1]) * 1024


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return []
