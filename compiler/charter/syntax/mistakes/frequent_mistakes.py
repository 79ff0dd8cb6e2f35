"""Writes error messages of the parser: for frequent mistakes, or else with the tokens that could
follow.

A test checks that each example in the table gets its message."""

from __future__ import annotations

from typing import Final, get_args

from charter.formats.spelling import nearest
from charter.syntax.mistakes.misplaced import MISPLACED
from charter.syntax.mistakes.near_misses import NEAR_MISSES
from charter.syntax.mistakes.parser_position import Mistake, Stuck
from charter.syntax.mistakes.tla_habits import HABITS
from charter.syntax.nodes import BinaryOp

UNEXPECTED: Final = "syntax/unexpected"
COMPARATORS: Final = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "subset", "not"})
FOREIGN: Final = {
    "def": "fun", "func": "fun", "function": "fun", "fn": "fun", "struct": "record",
    "class": "component", "module": "component", "invariant": "always", "assert": "always",
    "property": "always", "var": "const", "test": "scenario",
}  # fmt: skip
PLAIN_WORDS: Final = frozenset({"exists", "all", "any", "every", "each"})

DECLARING: Final = frozenset(
    {"source", "sort", "counter", "opaque", "const", "type", "enum", "record", "union", "fun"}
    | {"component", "system", "always", "stepwise", "witness", "eventually", "instance", "scenario"}
    | {"setup", "fragment"}
    | {"variant", "mutant", "overlay"}
)
STATE_ENDS: Final = frozenset(
    {"}", "state", "history", "operation", "step", "observe", "ghost", "volatile", "cached"}
)
"""What may follow a state variable."""
TARGET: Final = frozenset({"'", ".", "=", "["})
"""What follows the name that a statement begins with."""
STATEMENTS: Final = frozenset({"branch", "let", "reply", "require", "send", "receive"})
"""Words that a statement, or what follows it, begins with."""
MEMBERS: Final = frozenset({"state", "operation", "step", "observe"})
"""Words that a part of a component or system begins with."""

MISTAKES: Final = (
    *NEAR_MISSES,
    *MISPLACED,
    *HABITS,
    Mistake(
        "behind `->` stands the branch alone, without its operation",
        "write `do op(a) -> branch`",
        ('scenario "s" of c cites silent { do op(a) -> op/taken }',),
        lambda s: s.text == "/" and s.second_last == "->" and s.expects("do"),
    ),
    Mistake(
        "a comment begins with two dashes",
        "write `-- like this`, to the end of the line",
        (
            "sort A // brokers",
            "sort A # brokers",
            "/* brokers */ sort A",
            "sort A \\* brokers",
            "(* brokers *) sort A",
            "always p of c: x (* brokers *) == y",
            "component c { state x: bool = true // free\n}",
        ),
        lambda s: (
            (s.text + s.behind).startswith(("#", "//", "/*", "\\*", "(*"))
            or (s.text == "*" and s.last == "(")
        ),
    ),
    Mistake(
        "a variant, a mutant and an entry of an overlay have edits only",
        "write this outside of it; if it begins behind it, a `}` is missing before this",
        (
            "variant v { drop witness p\n instance small of c { n = 1 } }",
            "variant v { drop witness p\nvariant w { drop witness q }",
            "mutant m in tiny { drop witness p\n always q of c: true } caught by q",
            'overlay o of c { entry e known_defect because "x" { drop witness p\n sort B } }',
        ),
        lambda s: (
            s.expects("}") and s.expects("replace") and s.text in DECLARING | MEMBERS | {"branch"}
        ),
    ),
    Mistake(
        "this begins inside of a body that is not closed",
        "write the missing `}` before it",
        (
            "component c { operation f() -> bool { branch a { reply true branch b reply false } }",
            "component c { operation f() -> bool { branch a reply true operation g() -> bool",
            "component c { observe all { x }\nfun f() -> bool = true",
            "record R { a: bool\nunion U { b }",
            "instance a of c { n = 1\ninstance b of c { n = 2 }",
            'scenario "a" of c { do f() -> g\nscenario "b" of c { do f() -> g }',
            "fun f(a: bool) -> bool = match a { true -> false\nalways p of c: true",
            "enum E { a, b\ncomponent c { state x: bool = true }",
        ),
        lambda s: (
            (s.expects("}") and s.text in DECLARING | MEMBERS | {"branch"})
            or (s.expects("}") and s.text == "{" and s.second_last in DECLARING)
            or (s.last in DECLARING and s.expects("=", ":", "->") and not s.expects("NAME"))
        ),
    ),
    Mistake(
        "this is a part of a component, and none is open here",
        "remove a `}` above that is one too many, or write `component name { ... }` around it",
        (
            "component c { operation f() -> bool { branch a reply true } } operation g()",
            "state x: bool = true",
        ),
        lambda s: s.text in MEMBERS and s.expects("component"),
    ),
    Mistake(
        "a file begins with the name of its protocol",
        "write `protocol a.b` first",
        ("protocl x", "-- nothing\n\nprotocols x\n"),
        lambda s: s.expects("protocol"),
        whole=True,
    ),
    Mistake(
        "the quotation mark is not closed on its line",
        'end the text with `"`; inside of it `\\"` is a quotation mark and `\\\\` a backslash',
        ('source S "The book\nsort A', 'source S "a\\n"'),
        lambda s: s.text == '"',
    ),
    Mistake(
        "a name has letters, digits and `_`",
        "write `_` in place of `-`",
        ("sort Lock-Holder", "component my-lease { state x: bool = true }"),
        lambda s: s.text == "-" and s.second_last in {"protocol", *DECLARING},
    ),
    Mistake(
        "behind `->` stands the branch that the operation takes, not its reply",
        "write its name alone, as in `do acquire(ann) -> granted`, and behind it `reply true`",
        ('scenario "s" of c { do f(a) -> granted(1) }',),
        lambda s: s.text == "(" and s.second_last == "->" and s.expects("do"),
    ),
    Mistake(
        "`int` has a range",
        "write `int 0..9`; an end can be a constant, as in `int 0..most`",
        ("fun f() -> int = 1", "component c { state x: int = 0 }", "fun f(x: int) -> bool = true"),
        lambda s: s.last == "int",
    ),
    Mistake(
        "`int` has a range",
        "write `int 0..9`; an end can be a constant, as in `int 0..most`",
        (
            "const ttl: int\n\ncomponent c {}",
            "const ttl: int most\nalways p of c: true",
            "record R { a: int\n b: bool }",
        ),
        lambda s: s.second_last == "int" and s.expects(".."),
        back=2,
    ),
    Mistake(
        "there are no commas between the lines of an instance",
        "remove the comma, or write each bound on a line of its own",
        ("instance a of c { n = 1, m = 2 }",),
        lambda s: s.text == "," and s.expects("offers"),
    ),
    Mistake(
        "`&` and `|` join sets; conditions are joined by `and` and `or`",
        "write `a and b`, `a or b`",
        ("fun f(a: bool) -> bool = a && a", "fun f(a: bool) -> bool = a || a"),
        lambda s: s.text in {"&", "|"} and s.last == s.text,
    ),
    Mistake(
        "`!` is no operator",
        "write `not a`",
        ("fun f(a: bool) -> bool = !a",),
        lambda s: s.text == "!",
    ),
    Mistake(
        "an update is not an assignment to a variable",
        "write `x' = x + 1`: the state after equals a value of the state before",
        (
            "component c { operation f() -> bool { branch a { x := 1 reply true } } }",
            "component c { operation f() -> bool { branch a { x += 1 reply true } } }",
            "component c { operation f() -> bool { branch a { x' := 1 reply true } } }",
        ),
        lambda s: s.text in {":", "+", "-"} and s.expects("=") and s.expects("'", ".", "="),
    ),
    Mistake(
        "an arrow of a case is a dash and an angle",
        "write `present(x) -> e`",
        (
            "fun f(a: option bool) -> bool = match a { none => true, present(x) => x }",
            "fun f(a: option bool) -> bool = match a { present(x) => x, none => true }",
            "fun f(a: option bool) -> bool = match a { none: true, present(x): x }",
        ),
        lambda s: (
            (s.text == "=" and s.behind.startswith(">") and s.expects("->"))
            or (s.text == "(" and s.accepted == {":"})
        ),
    ),
    Mistake(
        "the result has no type",
        "write `-> T` behind the parameters",
        (
            "fun f(a: bool) = a",
            "component c { operation f() { branch a reply true } }",
            "fun f(a: bool): bool = a",
        ),
        lambda s: s.text in {"=", "{", "cites", ":"} and s.last == ")" and s.expects("->"),
    ),
    Mistake(
        "`=` gives a name its value; two values are compared with `==`",
        "write `a == b`",
        (
            "always p of c: a = b",
            "fun f(a: bool) -> bool = if a = true then a else a",
            "component c { operation f() -> bool { branch a when x = 1 reply true } }",
        ),
        lambda s: s.text == "=" and s.expects("=="),
    ),
    Mistake(
        "comparisons do not chain",
        "write `a < b and b < c`",
        ("always p of c: 1 < x < 3", "always p of c: a == b == c", "always p of c: a in b in c"),
        lambda s: s.text in COMPARATORS and s.expects("and") and not s.expects(s.text),
    ),
    Mistake(
        "a branch ends with its reply",
        "write `reply e` before the brace",
        ("component c { operation f() -> bool { branch a { x' = 1 } } }",),
        lambda s: s.text == "}" and s.expects("reply") and not s.expects("{"),
    ),
    Mistake(
        "nothing follows the reply of a branch",
        "move the statement before `reply`; updates are simultaneous, so their order is free",
        (
            "component c { operation f() -> bool { branch a { reply true x' = 1 } } }",
            "component c { operation f() -> bool { branch a { reply true let x = 1 } } }",
        ),
        lambda s: (
            s.expects("}")
            and s.expects("==")
            and not s.expects(
                ",", "let", "branch", "state", "step", "offers", "expect", "NAME", "drop"
            )
            and s.text.isidentifier()
        ),
    ),
    Mistake(
        "a branch has a body",
        "write `reply e`, or `{ ... reply e }`",
        ("component c { operation f() -> bool { branch a when x branch b reply true } }",),
        lambda s: s.text in {"branch", "}"} and s.expects("reply"),
    ),
    Mistake(
        "an operation consists of named branches",
        "write `branch done { ... reply e }`",
        (
            "component c { operation f() -> bool { reply true } }",
            "component c { operation f() -> bool { x' = true reply true } }",
            "component c { operation f() -> bool { when x reply true } }",
        ),
        lambda s: s.expects("branch") and s.expects("_LET_STATEMENT") and not s.expects("=="),
    ),
    Mistake(
        "only a step of a system sends, receives and requires",
        "a branch has a guard `when`, and a `reply`",
        (
            "component c { operation f() -> bool { branch a { require x reply true } } }",
            "component c { operation f() -> bool { branch a { send ch[1] x reply true } } }",
        ),
        lambda s: (
            s.second_last in {"require", "send", "receive"} | {"{", "}"}
            and s.last in {"require", "send", "receive"}
            and s.text.isidentifier()
        ),
    ),
    Mistake(
        "`match` and `if` are expressions, not statements",
        "write a step, or a branch, for each case; its `require`, or its `when`, says which",
        (
            "system s { step t(m: M) { match m { ask(n) -> server.ask(n) } } }",
            "system s { step t(n: N) { require x if y then server.ask(n) } }",
            "component c { operation f() -> bool { branch a { if (x) { y' = 1 } reply true } } }",
        ),
        lambda s: s.last in {"match", "if"} and s.accepted == TARGET,
    ),
    Mistake(
        "statements do not loop",
        "a step calls parts one by one; to change all at once, update a map of the system's own"
        " state: `x' = [n in Node: e]`",
        (
            "system s { step t() { client[c].tick() for c in Client } }",
            "system s { step t() { for c in Client { client[c].tick() } } }",
            "system s { step t() { forall c in Client: client[c].tick() } }",
        ),
        lambda s: s.last in {"for", "forall", "while"} and s.accepted == TARGET,
    ),
    Mistake(
        "`sum` begins a sum; it is no name",
        "write `sum x in S: e`, or choose another name",
        (
            "fun f(sum: int 0..9) -> bool = sum > 1",
            "fun f(s: set int 0..9) -> bool = sum(s) > 1",
        ),
        lambda s: s.last == "sum" and s.accepted == {"NAME"},
    ),
    Mistake(
        "a quantifier and a sum have no condition of their own",
        "write `sum x in { x in S if c }: e`, `forall x in S: c implies e`, `some x in S: c and e`",
        (
            "fun f(s: set int 0..9) -> bool = (sum x in s if x > 1: x) > 1",
            "fun f(s: set int 0..9) -> bool = forall x in s if x > 1: x > 2",
        ),
        lambda s: s.text == "if" and s.accepted >= {":", ","} and not s.expects(")"),
    ),
    Mistake(
        "a conjunct is addressed by its label",
        "give it one where it stands: `when label: condition`",
        (
            "variant v { drop conjunct 1 of c.f/a }",
            "mutant m in tiny { replace conjunct 1 of c.f/a with true } caught by p",
        ),
        lambda s: s.text.isdigit() and s.last == "conjunct",
    ),
    Mistake(
        "what is dropped is addressed from its component or system on",
        "write `drop branch component.operation/branch`, `drop step system.step`",
        ("variant v { drop branch b of c.op }", "variant v { drop step t of s }"),
        lambda s: s.text == "of" and s.second_last in {"branch", "operation", "step"},
    ),
    Mistake(
        "a condition of a step is addressed by its label",
        "`require label: e` gives it one; `drop conjunct label of system.step` drops it",
        ("mutant m in tiny { drop require 1 of s.t } caught by p",),
        lambda s: s.text == "require" and s.expects("operation") and s.expects("branch"),
    ),
    Mistake(
        "a branch answers with `reply`",
        "write `reply e`",
        ("component c { operation f() -> bool { branch a { return true } } }",),
        lambda s: s.last == "return",
    ),
    Mistake(
        "a quantifier has a domain",
        "write `forall x in S: ...`",
        ("always p of c: forall x: x == x", "always p of c: some x, y: x == y"),
        lambda s: s.text in {":", ","} and s.expects("in") and not s.expects("=="),
    ),
    Mistake(
        "quantifiers are written `forall`, `some` and `the`",
        "write `forall x in S: ...` or `some x in S: ...`",
        ("always p of c: exists x in S: x", "always p of c: all x in S: x"),
        lambda s: s.last in PLAIN_WORDS and s.text.isidentifier(),
    ),
    Mistake(
        "`forall`, `some` and `the` reach as far right as they can, so no label can follow",
        "put the quantifier in parentheses",
        ("component c { operation f() -> bool { branch a when k: some x in S: x and l: y {} } }",),
        lambda s: s.text == ":" and s.second_last in {"and", "or"} and s.expects("=="),
    ),
    Mistake(
        "`let` inside of an expression goes on with `in`",
        "write `let x = e in body`; put a comparison `a in S` inside of `e` in parentheses",
        (
            "fun f(a: bool) -> bool = let x = a x",
            "fun f(a: A) -> bool = let x = a in B and true in",
        ),
        lambda s: s.expects("_LET_IN") or (s.text == "" and s.last == "in"),
    ),
    Mistake(
        "`if` has no `else`",
        "every expression has a value: write `if c then a else b`",
        ("fun f(a: bool) -> bool = if a then a", "fun f(a: bool) -> bool = { if a then a }"),
        lambda s: s.expects("else"),
    ),
    Mistake(
        "a state variable has an initial value",
        "write `state x: T = e`",
        ("component c { state x: bool }", "component c { state x: bool state y: bool = true }"),
        lambda s: s.text in STATE_ENDS and s.expects("="),
    ),
    Mistake(
        "a history says what it becomes by a step",
        "write `history x: T = initial then e`; `x` is before the step, `x'` after it",
        ("component c { history x: bool = true }", "component c { history x: bool = a ghost state"),
        lambda s: s.text in STATE_ENDS and s.expects("then"),
    ),
    Mistake(
        "a record begins with the name of its type",
        "write `Partition { isr: {} }`; a change of a record is `p with { isr: {} }`",
        ("fun f(a: bool) -> R = { a: a }", "fun f(a: bool) -> R = if a then { x: a } else r"),
        lambda s: s.text == ":" and s.second_last == "{" and s.last.isidentifier(),
    ),
    Mistake(
        "a prime follows a state variable, in the target of an update and in step properties",
        "remove the prime",
        ("fun f(x': bool) -> bool = x", "component c { state x': bool = true }"),
        lambda s: s.text == "'",
    ),
    Mistake(
        "a range is a type and stands behind `int`",
        "write `int 0..9`",
        ("type A = 0..9", "const n: 1..3", "fun f(a: bool) -> bool = size({x}) in 0..3"),
        lambda s: s.text == ".." or (s.text.isdigit() and s.expects("int")),
    ),
    *(
        Mistake(
            f"`{foreign}` is no word of Charter here",
            f"write `{ours}`",
            (f"{foreign} x",),
            lambda s, foreign=foreign: s.text == foreign and s.expects("component"),  # type: ignore[misc]
        )
        for foreign, ours in FOREIGN.items()
    ),
)


# --- what could have stood there -----------------------------------------------------------------

GROUPS: Final = (
    ("a declaration", frozenset({"sort", "enum", "record", "fun", "component", "always"})),
    (
        "an operator",
        frozenset({*" ".join(get_args(BinaryOp)).split(), "with", ".", "[", "'"}),
    ),
    ("a type", frozenset({"int", "option", "set", "ranking", "seq", "map", "NAME"})),
    (
        "an expression",
        frozenset({"NAME", "RECORD_NAME", "INT", "true", "false", "none", "{", "[", "(", "<"})
        | frozenset({"-", "not", "if", "match", "forall", "some", "EXACTLY_ONE", "the", "sum"})
        | frozenset({"took", "_LET_EXPRESSION"}),
    ),
)
"""Groups of tokens that the message names by the first one, if at least two thirds of the group are
acceptable."""

WORDS: Final = {
    "NAME": "a name",
    "RECORD_NAME": "a name",
    "INT": "a number",
    "STRING": "a text in quotation marks",
    "END": "the end of the file",
    "_IN_ANY_ORDER": "`in any order`",
    "_LET_STATEMENT": "`let`",
    "EXACTLY_ONE": "`exactly one`",
    "_LET_EXPRESSION": "`let`",
    "_LET_IN": "`in`",
    "_LEADS_TO": "`leads to`",
}
MOST: Final = 8
"""A message with more alternatives does not help."""


def list_expected(accepted: frozenset[str]) -> str:
    """The acceptable tokens, in words."""
    rest = set(accepted)
    found: list[str] = []
    for called, tokens in GROUPS:
        if len(tokens & rest) * 3 >= len(tokens) * 2:
            found.append(called)
            rest -= DECLARING if called == "a declaration" else tokens
    found.extend(sorted({WORDS.get(token, f"`{token}`") for token in rest}))
    if len(found) > MOST:
        return ""
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} or {found[-1]}"


def explain(stuck: Stuck) -> tuple[str, str, int]:
    """Message and hint for the position where parsing failed, and how many tokens before it they
    are about."""
    like = _find_misspelt(stuck)
    if like:
        wrong = stuck.last if stuck.accepted == TARGET else stuck.text
        return f"`{wrong}` is no word of Charter here", f"did you mean `{like}`?", 0
    for mistake in MISTAKES:
        if mistake.made(stuck):
            return mistake.message, mistake.hint, mistake.back
    possible = list_expected(stuck.accepted)
    message = f"`{stuck.text}` cannot stand here" if stuck.text else "the file ends too early"
    return (f"{message}; expected {possible}" if possible else message), _general_hint(stuck), 0


def _find_misspelt(stuck: Stuck) -> str:
    """The keyword that a word was probably meant to be, or "": the word where the parser is stuck,
    or a name at the beginning of a statement that goes on like no update."""
    if stuck.accepted == TARGET:
        word, known, least = stuck.last, STATEMENTS, 0.65
    else:
        words = frozenset(filter(str.isalpha, stuck.accepted))
        word, known, least = stuck.text, words - {"NAME", "protocol"}, 0.75
    if not word.isidentifier() or word in FOREIGN or word in known:
        return ""
    return nearest(word, known, least)


def _general_hint(stuck: Stuck) -> str:
    if not stuck.text:
        return "a bracket or a declaration is not finished"
    if stuck.text.isidentifier() and stuck.expects("=="):
        return "the expression before ended here; an operator or a bracket may be missing"
    if stuck.text in {")", "]", "}"}:
        return f"something before `{stuck.text}` is missing, or there is a bracket too many"
    return "`conform help language` shows each construct with examples"
