"""Mistakes of authors who know a word of Charter, but not the place where it stands."""

from __future__ import annotations

import re
from typing import Final

from charter.syntax.mistakes.parser_position import Mistake, Stuck

STORAGE: Final = frozenset({"flush", "crash"})
"""Words that a statement about storage begins with."""
OPERATORS: Final = ("(", "=", "!", "<", ">", "+", "-", "|")
"""How an operator behind a value, or a call, begins."""
WORDS: Final = frozenset({"in", "not", "and", "or", "implies"})
"""Operators that are words."""
TAIL: Final = re.compile(r"require (?!not |forall |some )\w+ [A-Za-z_]\w*( \. \w+)*( =)?$")
"""The last tokens, joined by blanks, where a value follows a name and no colon is between them."""


def _lacks_colon(stuck: Stuck) -> bool:
    """Whether a condition of a step begins right behind its label."""
    tokens = " ".join(stuck.before)
    begun = TAIL.search(tokens) is not None and (
        stuck.text.startswith(OPERATORS) or stuck.text in WORDS
    )
    return begun or re.search(r"require \w+ not$", tokens) is not None


MISPLACED: Final = (
    Mistake(
        "there is no operator `/`; an operation and its branch are no value",
        "write `took operation/branch`: the last step took this branch",
        (
            "witness gaps of node: store/gap",
            "witness gaps of node: x and store/gap",
            "always p of node: store/gap implies x",
        ),
        lambda s: (
            s.text == "/"
            and s.last.isidentifier()
            and s.behind[:1].isidentifier()
            and s.expects("and")
        ),
    ),
    Mistake(
        "`crash` and `flush` stand in a branch of a component",
        "a step calls an operation with such a branch, as in `node[n].lose_power()`",
        (
            "system s { c: c step t() { crash machine } }",
            "system s { c: c step t() { flush log } }",
            "system s { c: c step t() { c.f() flush c.log } }",
        ),
        lambda s: s.last in STORAGE and s.expects("'") and s.text.isidentifier(),
    ),
    Mistake(
        "a label ends with a colon",
        "write `require label: condition`",
        (
            "system s { c: c step t() { require head first(c.x) == y } }",
            "system s { c: c step t() { require head c.x == y } }",
            "system s { c: c step t() { require head c.x != y } }",
            "system s { c: c step t() { require head c.x.z < y } }",
            "system s { c: c step t() { require head n in c.x } }",
            "system s { c: c step t() { require head not c.x } }",
        ),
        _lacks_colon,
    ),
    Mistake(
        "no edit reaches a `flush` or a `crash`",
        "replace the branch: `replace in component.operation branch b { ... }`",
        (
            "variant v { drop flush log of c.f/gap }",
            "mutant m in tiny { drop crash of c.f/gap } caught by p",
            "variant v { replace flush log of c.f/gap with x }",
        ),
        lambda s: s.text in STORAGE and s.last in {"drop", "replace"},
    ),
)
