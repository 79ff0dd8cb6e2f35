"""What the house rules read: every file of the project, and what a rule is."""

from __future__ import annotations

import ast
import fnmatch
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, TypeVar

Kind = TypeVar("Kind", bound=ast.AST)
ROOT: Final = Path(__file__).resolve().parents[2]
SOURCE_ROOTS: Final = ("compiler/", "conformance/conform/", "generated/charter_models/")
TEMPLATES: Final = "conformance/conform/templates/"
RATCHET: Final = tomllib.loads(
    (ROOT / "tests/tidy/ratchet.toml").read_text(encoding="utf-8")
)  # what was too long when the limit came; a number here may only shrink


@dataclass(frozen=True, slots=True)
class File:
    """A file of the project: path from the root with slashes, and content."""

    path: str
    text: str

    def lines(self) -> Iterator[tuple[int, str]]:
        """Each line with its number."""
        return enumerate(self.text.splitlines(), 1)

    def find(self, pattern: re.Pattern[str]) -> Iterator[tuple[int, re.Match[str]]]:
        """The first match in each line that has one, with its number. Nearly no file has any, which
        one search of the whole file shows."""
        if pattern.search(self.text):
            for number, line in self.lines():
                if match := pattern.search(line):
                    yield number, match

    def tree(self) -> ast.Module:
        """The syntax tree of a Python file; rules that read one file after another share it."""
        return _parse(self)[0]

    def nodes(self, *kinds: type[Kind]) -> Iterator[Kind]:
        """All nodes of that tree that are of one of some classes, class by class."""
        by_class = _parse(self)[1]
        for kind in kinds:
            yield from by_class.get(kind, ())  # type: ignore[misc]  # filed under their own class


Find = Callable[[File], Iterable[str]]


@lru_cache(maxsize=1)
def _parse(file: File) -> tuple[ast.Module, dict[type[ast.AST], list[ast.AST]]]:
    """A tree, and its nodes by their class: most rules look at one class of a million nodes."""
    tree = ast.parse(file.text, file.path)
    nodes: dict[type[ast.AST], list[ast.AST]] = {}
    for node in ast.walk(tree):
        nodes.setdefault(type(node), []).append(node)
    return tree, nodes


@dataclass(frozen=True, slots=True)
class Rule:
    """A house rule: where it holds, how a breach is found, and a file that breaks it.

    `find` gives one sentence for each breach, with the line and the remedy.
    """

    name: str
    holds: Callable[[str], bool]
    find: Find
    bad: tuple[str, str]


def breaches(rules: Sequence[Rule], files: Iterable[File]) -> dict[str, list[str]]:
    """Every breach of each rule, as `path:line: sentence`. What several rules look for in the same
    way is looked for once."""
    found: dict[str, list[str]] = {rule.name: [] for rule in rules}
    for file in files:
        said: dict[Find, list[str]] = {}
        for rule in rules:
            if rule.holds(file.path):
                if rule.find not in said:
                    said[rule.find] = [f"{file.path}:{breach}" for breach in rule.find(file)]
                found[rule.name] += said[rule.find]
    return found


@cache
def paths() -> tuple[str, ...]:
    """Every file below the root that .gitignore does not name, in order."""
    ignored = [line.strip() for line in (ROOT / ".gitignore").read_text().splitlines()]
    patterns = [line.rstrip("/") for line in ignored if line and not line.startswith("#")]
    found: list[str] = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(name for name in folders if not _is_ignored(name, patterns))
        here = Path(folder).relative_to(ROOT)
        found += [(here / name).as_posix() for name in names if not _is_ignored(name, patterns)]
    return tuple(sorted(found))


def _is_ignored(name: str, patterns: list[str]) -> bool:
    return name == ".git" or any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


@cache
def texts() -> tuple[File, ...]:
    """Every file that is text."""
    return tuple(file for path in paths() if (file := read(path)) is not None)


def read(path: str) -> File | None:
    """A file of the project, or None where it is not text or has just gone."""
    try:
        return File(path, (ROOT / path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, FileNotFoundError):
        return None


def is_python(path: str) -> bool:
    """Any Python file."""
    return path.endswith(".py")


def is_generated(path: str) -> bool:
    """A file that `conform generate` writes: in generated/, or the types of an adapter."""
    return path.startswith(("generated/", "conformance/adapters/fakeredis/protocol.py"))


def is_source(path: str) -> bool:
    """A Python file of the three source roots; templates are data."""
    return is_python(path) and path.startswith(SOURCE_ROOTS) and not path.startswith(TEMPLATES)


def module_name(path: str) -> str:
    """The import name of a file of the source roots, such as charter.core.types."""
    parts = Path(path).with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(file: File) -> Iterator[tuple[int, str]]:
    """Each module that a file imports, with the line: `from a import b` gives a and a.b."""
    for node in file.nodes(ast.Import):
        yield from ((node.lineno, alias.name) for alias in node.names)
    for node in file.nodes(ast.ImportFrom):
        if node.module is not None and node.level == 0:
            yield node.lineno, node.module
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
