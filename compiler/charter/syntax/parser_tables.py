"""Makes the parser of a grammar. Its tables take a quarter of a second to make, so they are kept in
the user's cache, as JSON."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Final

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lark import PostLex
from lark.lexer import TerminalDef

from charter.cache.files import cache_folder, from_cache, to_cache

MOST: Final = 8
"""How many versions of the grammar are kept."""


def parser_of(grammar: str, filter_: PostLex) -> Lark:
    """The parser of `grammar`; `filter_` stands between lexer and parser."""
    known = sha256(f"{lark.__version__}\n{grammar}".encode()).hexdigest()
    path = cache_folder("grammar") / f"{known}.json"
    kept = from_cache(path)
    if kept is not None:
        return _load(kept, filter_)
    made = Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        propagate_positions=True,
        maybe_placeholders=True,
        postlex=filter_,
    )
    to_cache(path, json.dumps(_tables(made)).encode(), MOST)
    return made


def _tables(made: Lark) -> dict[str, object]:
    """What lark writes into its stand-alone parsers."""
    data, rules = made.memo_serialize([TerminalDef, Rule])
    data["options"] = {name: each for name, each in data["options"].items() if name != "postlex"}
    return {"data": data, "memo": rules}


def _load(text: bytes, filter_: PostLex) -> Lark:
    """The parser that has these tables."""
    tables = json.loads(text, object_pairs_hook=_restore_numbers)
    parser: Lark = Lark._load_from_dict(**tables, postlex=filter_)  # type: ignore[no-untyped-call]
    return parser


def _restore_numbers(pairs: list[tuple[str, object]]) -> dict[str | int, object]:
    """An object of JSON; keys that are numbers in the tables are numbers again."""
    return {int(key) if key.isdecimal() else key: value for key, value in pairs}
