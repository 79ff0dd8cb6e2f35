"""Mistakes of authors used to TLA+: its notation, each with Charter's equivalent."""

from __future__ import annotations

from typing import Final

from charter.syntax.mistakes.parser_position import Mistake

WORDS: Final = {
    "in": "x in S", "notin": "x not in S", "A": "forall x in S: ...", "E": "some x in S: ...",
    "union": "s | t", "cup": "s | t", "intersect": "s & t", "cap": "s & t",
    "subseteq": "s subset t",
}  # fmt: skip
"""Words behind a backslash."""

HABITS: Final = (
    Mistake(
        "conditions are joined by `and` and `or`",
        "write `a and b`, `a or b`",
        (
            "always p of c: a /\\ b",
            "always p of c: a \\/ b",
            "always p of c:\n  /\\ a\n  /\\ b",
            "component c { operation f() -> bool { branch a when x \\/ y reply true } }",
            "system s { step t() { require x /\\ y } }",
        ),
        lambda s: (s.text + s.behind).startswith(("/\\", "\\/")),
    ),
    Mistake(
        "not equal is `!=`",
        "write `a != b`",
        ("always p of c: x /= y",),
        lambda s: s.text == "/" and s.behind.startswith("=") and s.expects("!="),
    ),
    Mistake(
        "not equal is `!=`, and a comment begins with two dashes",
        "write `a != b`, or `-- like this`",
        (
            "always p of c: x # y",
            "component c { operation f() -> bool { branch a when x[k] # {} reply true } }",
        ),
        lambda s: s.text == "#" and s.expects("!="),
    ),
    Mistake(
        "`=>` is no operator",
        "write `a implies b`",
        (
            "always p of c: a => b",
            "component c { operation f() -> bool { branch a when x => y reply true } }",
            "always p of c: a ==> b",
        ),
        lambda s: (
            (s.text == "=" and s.behind.startswith(">") and s.expects("implies"))
            or (s.text == ">" and s.last == "==")
        ),
    ),
    Mistake(
        "`<=>` is no operator",
        "write `a == b`",
        ("always p of c: a <=> b", "always p of c: a <-> b"),
        lambda s: s.text == ">" and (s.last == "<=" or (s.second_last, s.last) == ("<", "-")),
    ),
    Mistake(
        "less or equal is `<=`",
        "write `a <= b`",
        ("always p of c: a =< b",),
        lambda s: s.text == "=" and s.behind.startswith("<") and s.expects("<="),
    ),
    *(
        Mistake(
            f"`\\{foreign}` is no word of Charter",
            f"write `{ours}`",
            (f"always p of c: \\{foreign} x", f"always p of c: a \\{foreign} x"),
            lambda s, foreign=foreign: s.text == "\\" and s.word == foreign,  # type: ignore[misc]
        )
        for foreign, ours in WORDS.items()
    ),
    Mistake(
        "set difference is written with a minus",
        "write `s - t`",
        ("always p of c: s \\ t == {}",),
        lambda s: s.text == "\\" and s.behind.startswith(" ") and s.expects("-"),
    ),
    Mistake(
        "`~` is no operator",
        "write `not a`",
        ("always p of c: ~a", "system s { step t() { require x and ~y } }"),
        lambda s: s.text == "~" and not s.behind.startswith(">"),
    ),
    Mistake(
        "`~>` is no operator",
        "write `eventually p of system: a leads to b`",
        ("eventually p of s: a ~> b", "always p of s: a ~> b"),
        lambda s: s.text == "~" and s.behind.startswith(">"),
    ),
    Mistake(
        "an update has one `=`",
        "write `x' = e`: the state after equals a value of the state before",
        (
            "component c { operation f() -> bool { branch a { x' == 1 reply true } } }",
            "system s { step t() { x[k]' == 1 } }",
        ),
        lambda s: s.text == "=" and (s.second_last, s.last) == ("'", "="),
    ),
    Mistake(
        "`==` compares two values; a name gets its value with `=`",
        "write one `=`",
        ("fun f(a: bool) -> bool == a", "instance tiny of c { N == 2 }"),
        lambda s: s.text == "=" and s.last == "=",
    ),
    Mistake(
        "what is not assigned stays as it was",
        "leave `UNCHANGED` out",
        (
            "system s { step t() { x' = 1 UNCHANGED y } }",
            "system s { step t() { UNCHANGED <<x, y>> } }",
            "component c { operation f() -> bool { branch a { UNCHANGED x reply true } } }",
        ),
        lambda s: s.last == "UNCHANGED",
    ),
    Mistake(
        "one entry of a map, or one field of a record, is named alone",
        "write `f[k]' = v` as an update; as a value `f with [k: v]`, or `r with { a: v }`",
        (
            "component c { operation f() -> bool { branch a { f' = [f EXCEPT ![k] = v] } } }",
            "always p of c: [r.s EXCEPT !.a = v] == r",
        ),
        lambda s: s.accepted == {"in"} and "EXCEPT" in (s.text, *s.behind.split()),
    ),
    Mistake(
        "`|->` is no sign of Charter",
        "write a map over a type as `[k in K: e]`, a record as `R { a: e }`",
        ("always p of c: [k in K |-> 0] == x", "always p of c: [a |-> 0] == x"),
        lambda s: (
            (s.text == ">" and (s.second_last, s.last) == ("|", "-"))
            or (s.text == "|" and s.behind.startswith("->"))
        ),
    ),
)
