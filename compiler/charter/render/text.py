"""Shared text helpers: an emitter of lines, and the template environment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from jinja2 import Environment, PackageLoader, StrictUndefined

INDENT = "    "


@dataclass(slots=True)
class Emitter:
    """Collects lines at a current depth."""

    depth: int = 0
    lines: list[str] = field(default_factory=list)

    def line(self, text: str = "") -> None:
        """Add one line at the current depth; an empty one stays empty."""
        self.lines.append(f"{INDENT * self.depth}{text}" if text else "")

    def extend(self, texts: list[str]) -> None:
        """Add several lines, each already indented relative to the current depth."""
        for text in texts:
            self.line(text)

    @contextmanager
    def indent(self) -> Iterator[None]:
        """One level deeper for the duration of a `with` block."""
        self.depth += 1
        yield
        self.depth -= 1

    def text(self) -> str:
        """All lines, each with its newline."""
        return "".join(f"{line}\n" for line in self.lines)


def environment(package: str) -> Environment:
    """The templates of one backend (`package`/templates), strict about undefined names."""
    return Environment(
        loader=PackageLoader(package, "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
