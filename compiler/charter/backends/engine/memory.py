"""Arrays of 64-bit numbers that native code works in."""

from __future__ import annotations

import ctypes
import mmap
from dataclasses import dataclass

LARGE = 1 << 16


@dataclass(frozen=True, slots=True)
class Array:
    """Zeros at first. Memory of a large one is taken from the system when it is touched."""

    view: memoryview
    address: int
    length: int

    @staticmethod
    def of(length: int) -> Array:
        """So many numbers."""
        size = max(8, 8 * length)
        if size >= LARGE:
            room = mmap.mmap(-1, size)
            view = memoryview(room)
            address = ctypes.addressof(ctypes.c_char.from_buffer(room))
        else:
            buffer = (ctypes.c_char * size)()
            view = memoryview(buffer).cast("B")
            address = ctypes.addressof(buffer)
        return Array(view.cast("Q"), address, length)

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
