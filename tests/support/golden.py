"""Goldens: committed text that a result must equal, byte by byte."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Golden:
    """Compares results with committed files, or rewrites the files (`pytest --accept`)."""

    accept: bool
    rewritten: list[Path] = field(default_factory=list)

    def matches(self, path: Path, text: str) -> None:
        """Fail with a diff unless the file at `path` holds `text`."""
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if text == before:
            return
        if self.accept:
            path.write_text(text, encoding="utf-8", newline="\n")
            self.rewritten.append(path)
            return
        diff = difflib.unified_diff(before.splitlines(), text.splitlines(), "golden", "now", n=2)
        raise AssertionError("\n".join([f"{path.name} differs (--accept rewrites it)", *diff]))
