"""The TextMate grammar: what VS Code and many other editors colour a charter by."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from editors.grammar import Keywords, keywords

Rule = dict[str, object]
NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"


def words(found: Iterable[str]) -> str:
    """A pattern of whole words. A name behind a dot or before a prime is no keyword."""
    return rf"(?<![.\w])(?:{'|'.join(found)})(?![\w'])"


def textmate() -> Rule:
    """The grammar as VS Code reads it from JSON."""
    found = keywords()
    return {
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": "Charter",
        "scopeName": "source.charter",
        "fileTypes": ["charter"],
        "patterns": _patterns(found),
    }


def _patterns(found: Keywords) -> list[Rule]:
    naming = rf"(?<![.\w])({'|'.join(found.naming)})\s+({NAME})"
    captures = {"1": {"name": "keyword.declaration.charter"},
                "2": {"name": "entity.name.function.charter"}}  # fmt: skip
    escape = {"name": "constant.character.escape.charter", "match": r'\\["\\]'}
    return [
        {"name": "comment.line.double-dash.charter", "match": "--.*$"},
        {"name": "string.quoted.double.charter", "begin": '"', "end": '"|$', "patterns": [escape]},
        {"match": naming, "captures": captures},
        _name_rule("keyword.control", words(_by_length(found.phrases))),
        _name_rule("keyword.control", words(found.expressions)),
        _name_rule("constant.language", words(found.constants)),
        _name_rule("storage.type", words((*found.types, "bool"))),
        _name_rule("keyword.other", words(found.declarations)),
        _name_rule("support.function", rf"{words(found.builtins)}(?=\s*\()"),
        _name_rule("constant.numeric", r"\b[0-9]+\b"),
        _name_rule("constant.other", r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b"),
        _name_rule("entity.name.type", r"\b[A-Z]\w*\b"),
        _name_rule("keyword.operator", _operators(found.operators)),
    ]


def _name_rule(scope: str, match: str) -> Rule:
    return {"name": f"{scope}.charter", "match": match}


def _by_length(found: Iterable[str]) -> list[str]:
    return sorted(found, key=lambda text: (-len(text), text))


def _operators(found: Iterable[str]) -> str:
    """The signs but brackets and commas, the longest first."""
    signs = (text for text in found if text not in "(){}[],.")
    return "|".join("".join(f"\\{sign}" for sign in text) for text in _by_length(signs))
