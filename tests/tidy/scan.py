"""One scan of all files of the project: the breaches of every rule, and the outline of each Python
file. To read and parse them takes seconds, so tests that need this are of the group `rules`."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from typing import Final

from tests.tidy.house import File, breaches, imports, is_python, texts
from tests.tidy.rules_of_builtins import BUILTINS_ARE_LISTED_ONCE
from tests.tidy.rules_of_code import RULES_OF_CODE
from tests.tidy.rules_of_text import RULES_OF_TEXT
from tests.tidy.rules_of_words import RULES_OF_WORDS

RULES: Final = (*RULES_OF_CODE, *RULES_OF_TEXT, BUILTINS_ARE_LISTED_ONCE)
ALL: Final = (*RULES, *RULES_OF_WORDS)
"""With the rules whose breaches the ratchet counts."""


@dataclass(frozen=True, slots=True)
class Outline:
    """What a Python file imports, and the classes and functions at its top level."""

    imports: frozenset[str]
    classes: tuple[str, ...]
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scan:
    """What one reading of all files finds."""

    breaches: dict[str, list[str]]
    outlines: dict[str, Outline]


@cache
def scan() -> Scan:
    """The breaches of all rules by their name, and the outlines by path. Each file is parsed once:
    the rules have just used the tree of which the outline is made."""
    found: dict[str, list[str]] = {rule.name: [] for rule in ALL}
    outlines: dict[str, Outline] = {}
    for file in texts():
        for name, said in breaches(ALL, [file]).items():
            found[name] += said
        if is_python(file.path):
            outlines[file.path] = outline(file)
    return Scan(found, outlines)


def outline(file: File) -> Outline:
    """The outline of a Python file."""
    body = file.tree().body
    return Outline(
        frozenset(name for _, name in imports(file)),
        tuple(node.name for node in body if isinstance(node, ast.ClassDef)),
        tuple(node.name for node in body if isinstance(node, ast.FunctionDef)),
    )
