"""Refuses to load pyarrow where the limit of memory (`ulimit -v`) leaves too little for it: what it
loads ends the process with the exit code of a finding, or crashes it. Also sets how often Python
looks for cycles."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

NEEDED_BYTES = 360 << 20
"""What pyarrow with numpy takes of the address space, as measured on two cores."""


class NeedsRoom(MetaPathFinder):
    """Finds no module, and raises MemoryError where there is no room for pyarrow below `limit`
    bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "pyarrow" and self.limit - _read_used() < NEEDED_BYTES:
            raise MemoryError
        return None


def find_cycles_rarely() -> None:
    """Let Python look for cycles of objects rarely. Models and caches are kept: looking through
    them takes up to a quarter of the time."""
    gc.set_threshold(1_000_000, 10, 10)


def _read_used() -> int:
    """The bytes of the address space of this process; 0 if the system does not say."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return pages * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return 0


def refuse_without_room() -> None:
    """Raise MemoryError from now on where pyarrow is imported and the limit leaves no room."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, OSError):
        return
    if limit != resource.RLIM_INFINITY:
        sys.meta_path.insert(0, NeedsRoom(limit))
