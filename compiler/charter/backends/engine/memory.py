"""Arrays of 64-bit numbers that native code works in: in memory, or past a budget in files that the
system can write out."""

from __future__ import annotations

import ctypes
import mmap
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

LARGE = 1 << 14
"""Smaller arrays, in bytes, are never worth a file."""
SPARE_DISK = 1 << 30
"""Bytes that are left free on the disk."""


class NoRoom(Exception):
    """Neither memory nor disk is left; the message is a sentence for a person."""


@dataclass(frozen=True, slots=True)
class Array:
    """Zeros at first. Memory of a large one is taken from the system when it is touched."""

    view: memoryview
    address: int
    length: int

    @staticmethod
    def of(length: int) -> Array:
        """So many numbers, in memory."""
        size = max(8, 8 * length)
        if size >= LARGE:
            return Array._mapped(mmap.mmap(-1, size), length)
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
            return Array._mapped(mmap.mmap(file.fileno(), size), length)

    @staticmethod
    def _mapped(room: mmap.mmap, length: int) -> Array:
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
    """Where large arrays are made: in memory until `budget` bytes are used, then in files in
    `folder`."""

    budget: int
    folder: Path
    used: int = 0
    spilled: int = 0
    _sizes: dict[int, int] = field(default_factory=dict)

    def array(self, length: int) -> Array:
        """So many numbers. Raises NoRoom if the disk is full too."""
        size = 8 * length
        if self.used + size <= self.budget or size < LARGE:
            array = Array.of(length)
            self.used += size
            self._sizes[array.address] = size
            return array
        return self.file(length)

    def reserve(self, array: Array) -> None:
        """Count an array that stays in memory whatever the budget is."""
        self.used += 8 * array.length

    def holds(self, array: Array) -> bool:
        """Whether an array is in memory and can be put elsewhere."""
        return array.address in self._sizes

    def file(self, length: int) -> Array:
        """So many numbers in a file. Raises NoRoom if the disk is full."""
        size = 8 * length
        free = shutil.disk_usage(self.folder).free
        try:
            if free < size + SPARE_DISK:
                raise OSError
            array = Array.in_file(length, self.folder)
        except OSError:
            raise NoRoom(
                f"{self.used >> 20} MiB of memory are used and {self.folder} has only "
                f"{free >> 20} MiB left"
            ) from None
        self.spilled += size
        return array

    def release(self, array: Array) -> None:
        """An array that nobody uses any more."""
        self.used -= self._sizes.pop(array.address, 0)


def default_budget() -> int:
    """Three fifths of the memory that is free now, in bytes."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        free = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(free.split()[1]) * 1024 * 3 // 5
    except (OSError, StopIteration, ValueError):
        return 4 << 30
