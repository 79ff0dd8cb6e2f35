"""Lists mistakes of authors who write a list or a type as another language has it."""

from __future__ import annotations

import re
from typing import Final

from charter.syntax.mistakes.parser_position import Mistake, Stuck

UNSEPARATED: Final = re.compile(r"(?:^| )(?:offers|misses|fails|,) \w+(?: / \w+)? \w+$")
"""The last tokens, joined by blanks, where a name follows one of a list and no comma is between."""


def _lacks_comma(stuck: Stuck) -> bool:
    """Whether the second of two names in a list of an instance has no comma before it."""
    is_bound = stuck.text.isdigit() or stuck.text == "{"
    return (
        stuck.accepted == {"="}
        and not is_bound
        and UNSEPARATED.search(" ".join(stuck.before)) is not None
    )


NEAR_MISSES: Final = (
    Mistake(
        "several names are separated by commas",
        "write a comma before this one, as in `misses read/empty, write/full`",
        (
            "instance a of c { n = 1 misses f/b g/b }",
            "instance a of c { n = 1 offers f g }",
            "instance a of c { n = 1 offers f g h }",
            "instance a of c { n = 1 fails p q n = 2 }",
            "instance a of c { misses f/b, g/b h }",
        ),
        _lacks_comma,
        back=1,
    ),
    Mistake(
        "a range of numbers has to have a name where its numbers are listed",
        "declare `type Small = int 0..3`, and write `in Small`",
        (
            "always p of c: some i in int 0..3: i == n",
            "always p of c: { i in int 0..3 if i > n } == s",
            "component c { operation f() -> bool { branch a { pick i in int 0..3 reply true } } }",
        ),
        lambda s: s.last == "int" and s.second_last == "in",
        back=1,
    ),
    Mistake(
        "a function is no value: it has no type, and is no argument",
        "write what it computes where it is used, or one function for each",
        (
            "fun higher(f: fun(V) -> bool, a: V) -> bool = f(a)",
            "record R { f: fun(V) -> bool }",
            "fun higher() -> fun(V) -> bool = f",
        ),
        lambda s: (
            (s.text == "fun" and s.last in {":", "->"} and s.expects("option"))
            or (s.text == "(" and s.last == "fun" and s.second_last in {":", "->"})
        ),
    ),
    Mistake(
        "there are no semicolons between or after statements",
        "remove the semicolon",
        ("sort A;", "component c { operation f() -> bool { branch a { let x = 1; reply x } } }"),
        lambda s: s.text == ";",
    ),
)
