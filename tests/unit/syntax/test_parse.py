"""What the grammar reads, and how it refuses the rest."""

from __future__ import annotations

import logging

import pytest
from lark import Lark, logger

from charter.diagnostics import Diagnostic, Diagnostics, Source
from charter.syntax import nodes
from charter.syntax.mistakes.frequent_mistakes import MISTAKES
from charter.syntax.mistakes.parser_position import Mistake
from charter.syntax.parse import GRAMMAR, PairLets, parse
from charter.syntax.show import show_expr


def parse_body(body: str) -> nodes.File:
    diagnostics = Diagnostics()
    tree = parse(Source("test", f"protocol p\n{body}"), diagnostics)
    assert tree is not None, [item.show() for item in diagnostics]
    return tree


def refuse(body: str) -> Diagnostic:
    diagnostics = Diagnostics()
    assert parse(Source("test", f"protocol p\n{body}"), diagnostics) is None
    return diagnostics.errors[0]


def expression(text: str) -> nodes.Expr:
    (declaration,) = parse_body(f"always a of b: {text}").declarations
    assert isinstance(declaration, nodes.PropertyDecl)
    return declaration.body


def guard(text: str) -> tuple[nodes.Conjunct, ...]:
    branch = f"branch x when {text} reply 1"
    (declaration,) = parse_body(f"component c {{ operation f() -> T {{ {branch} }} }}").declarations
    assert isinstance(declaration, nodes.ComponentDecl)
    (operation,) = declaration.members
    assert isinstance(operation, nodes.Operation)
    (found,) = operation.body
    assert isinstance(found, nodes.Branch)
    return found.guard


# --- mistakes ------------------------------------------------------------------------------------

EXAMPLES = [(mistake, example) for mistake in MISTAKES for example in mistake.examples]


@pytest.mark.parametrize(("mistake", "example"), EXAMPLES, ids=[text for _, text in EXAMPLES])
def test_a_frequent_mistake_is_named_when_it_is_made(mistake: Mistake, example: str) -> None:
    diagnostics = Diagnostics()
    text = example if mistake.whole else f"protocol p\n{example}"
    assert parse(Source("test", text), diagnostics) is None
    (found,) = diagnostics.errors
    assert found.code == "syntax/unexpected"
    assert (found.message, found.hint) == (mistake.message, mistake.hint)


@pytest.mark.parametrize("sign", ["#", "//", "\\*", "(*"])
def test_a_comment_in_another_writing_is_named_when_the_file_begins_with_it(sign: str) -> None:
    diagnostics = Diagnostics()
    assert parse(Source("test", f"{sign} about\nprotocol p"), diagnostics) is None
    assert "a comment begins with two dashes" in diagnostics.errors[0].message


def test_a_single_slash_is_no_comment() -> None:
    assert refuse("fun f(a: int 0..3) -> int 0..3 = a / 2").message.startswith("`/` cannot stand")
    assert refuse("sort A / brokers").message.startswith("`/` cannot stand here; expected a decl")


def test_the_expected_tokens_are_said_in_words_when_nothing_better_is_known() -> None:
    found = refuse("scenario 1 of c { }")
    assert found.message == "`1` cannot stand here; expected a text in quotation marks"
    found = refuse("sort")
    assert found.message == "the file ends too early; expected a name"
    assert found.span.where() == "test:2:5"
    found = refuse("fun f(a: ) -> T = a")
    assert found.message == "`)` cannot stand here; expected a type"
    found = refuse("fun f(a: T) -> T = a +")
    assert found.message == "the file ends too early; expected an expression"


def test_the_position_is_that_of_the_token_when_it_is_unexpected() -> None:
    found = refuse("sort A\nsort 1 -- one")
    assert found.span.where() == "test:3:6"
    assert found.span.source.text[found.span.start : found.span.end] == "1"


def test_an_integer_without_a_range_is_shown_where_it_is() -> None:
    found = refuse("const ttl: int\n\ncomponent c { state x: bool = true }")
    assert (found.message, found.span.where()) == ("`int` has a range", "test:2:12")


@pytest.mark.parametrize(
    "text", ["a and b or c", "a | b & c", "a - b | c", "a & b - c", "a or (b and c) and d"]
)
def test_operators_without_rank_are_refused_when_they_are_mixed(text: str) -> None:
    found = refuse(f"always p of c: {text}")
    assert found.code == "syntax/mixed-operators"
    assert "parenthesise" in found.hint
    assert found.span.source.text[found.span.start : found.span.end] == text


@pytest.mark.parametrize(
    "text", ["a - b - c", "a | b | c", "a + b - c", "(a | b) & c", "a or b or c"]
)
def test_operators_are_read_from_the_left_when_they_have_a_rank(text: str) -> None:
    assert show_expr(expression(text)) == text


def test_all_mixtures_of_a_file_are_reported_when_it_parses() -> None:
    diagnostics = Diagnostics()
    text = "protocol p\nalways a of b: x and y or z\nalways c of d: x | y & z"
    assert parse(Source("test", text), diagnostics) is None
    assert len(diagnostics.errors) == 2


# --- precedence and reach ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("not a == b", "not (a == b)"),
        ("a implies b implies c", "a implies (b implies c)"),
        ("-a with { f: 1 }", "-(a with { f: 1 })"),
        ("p with { f: 1 }.g", ""),
        ("a and forall x in S: b and c", "a and (forall x in S: b and c)"),
        ("if a then b else c + d", "if a then b else (c + d)"),
        ("a + b * c", "a + (b * c)"),
        ("a not in S", "a not in (S)"),
        ("let x = a not in S in x", "let x = (a not in S) in x"),
        ("let x = some y in S: y == z in x", "let x = (some y in S: y == z) in x"),
        ("let x = let y = a in y in x", "let x = (let y = a in y) in x"),
        ("{ x in S | T if x in U }", "{ x in (S | T) if (x in U) }"),
    ],
)
def test_parentheses_change_nothing_when_they_follow_the_grammar(text: str, same: str) -> None:
    if same:
        assert expression(text) == expression(same)
    else:
        assert refuse(f"always p of c: {text}").code == "syntax/unexpected"


def test_a_brace_opens_a_record_when_a_field_follows_the_name() -> None:
    body = "component c { operation f() -> T { branch a when b in session { reply R { f: 1 } } } }"
    (declaration,) = parse_body(body).declarations
    assert isinstance(declaration, nodes.ComponentDecl)
    expected = nodes.RecordLit(
        nodes.Name("R"), (nodes.FieldInit(nodes.Name("f"), nodes.IntLit(1)),)
    )
    assert expression("R { -- why\n f : 1 }") == expected
    assert expression("match R { f: 1 } { A -> 1 }") == nodes.Match(
        expected, (nodes.Case(nodes.Name("A"), (), nodes.IntLit(1)),)
    )


@pytest.mark.parametrize(
    "body",
    [
        "record R { set: bool max: T first: seq T max 3 state, when: bool slot: int 0..3 fifo: T }",
        "always p of c: x.set.max.state.reply.in_order",
        "always p of c: set(x) == max(a, b) and map == seq",
        "component c { operation step(max: T) -> T { branch reply when set reply option } }",
        "enum E { branch, state reply of }",
        "component c { observe state { set: ranking, operation.branch: set } }",
    ],
)
def test_a_keyword_is_a_name_when_only_a_name_can_stand_there(body: str) -> None:
    parse_body(body)


def test_a_keyword_ends_at_its_last_letter_when_a_name_goes_on() -> None:
    assert expression("inner") == nodes.Ident("inner")
    assert refuse("always p of c: a inner").message.startswith("`inner` cannot stand here")


# --- guards, updates, calls ----------------------------------------------------------------------


def test_a_guard_is_split_at_each_and_when_nothing_is_labelled() -> None:
    assert [part.condition for part in guard("a and b")] == [expression("a"), expression("b")]


def test_a_label_reaches_to_the_next_label_when_a_guard_has_several() -> None:
    text = "a and b and l: c and not d and k: e or f"
    assert [(part.label and part.label.text, part.condition) for part in guard(text)] == [
        (None, expression("a")),
        (None, expression("b")),
        ("l", expression("c and not d")),
        ("k", expression("e or f")),
    ]


def test_a_guard_is_one_condition_when_it_is_no_conjunction() -> None:
    for text in ("(a and b)", "a or b", "a and b implies c"):
        (only,) = guard(text)
        assert only.condition == expression(text)


def test_a_label_inside_of_or_is_refused_when_it_names_no_part() -> None:
    found = refuse("component c { operation f() -> T { branch x when a or k: b reply 1 } }")
    assert "label" in found.message


def test_an_update_of_a_path_has_no_prime_in_the_tree_when_it_is_parsed() -> None:
    text = "component c { operation f() -> T { branch x { a[k].f' = 1 reply 1 } } }"
    (declaration,) = parse_body(text).declarations
    assert isinstance(declaration, nodes.ComponentDecl)
    (operation,) = declaration.members
    assert isinstance(operation, nodes.Operation)
    (branch,) = operation.body
    assert isinstance(branch, nodes.Branch)
    assert branch.body[0] == nodes.Assign(expression("a[k].f"), nodes.IntLit(1))


@pytest.mark.parametrize(
    "statement", ["a = 1", "a[k] = 1", "a'' = 1", "a'[k]' = 1", "a.b.c(1)", "receive m from a.b"]
)
def test_a_statement_is_refused_when_its_target_is_malformed(statement: str) -> None:
    found = refuse(f"system s {{ step t() {{ {statement} }} }}")
    assert found.code == "syntax/unexpected"
    assert found.hint


# --- the grammar ---------------------------------------------------------------------------------


def test_only_what_reaches_right_is_ambiguous_when_the_grammar_is_built(
    caplog: pytest.LogCaptureFixture,
) -> None:
    level = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(caplog.handler)
    try:
        Lark(GRAMMAR.read_text(encoding="utf-8"), parser="lalr", postlex=PairLets(), debug=True)
    finally:
        logger.removeHandler(caplog.handler)
        logger.setLevel(level)
    rules = {line.strip(" *<>") for line in caplog.messages if line.lstrip().startswith("*")}
    ambiguous = {rule.split(" :")[0] for rule in rules}
    assert ambiguous == {"expr", "logic", "comparison", "sum", "product", "keys"}


def test_a_sum_reaches_as_far_right_as_a_quantifier() -> None:
    found = expression("sum a, present(x) in m, b in s: x + b")
    assert isinstance(found, nodes.Quantifier) and found.kind == "sum" and len(found.binders) == 2
    assert show_expr(found) == "sum a, present(x) in m, b in s: x + b"
    assert show_expr(expression("(sum b in s: b) + 1")) == "(sum b in s: b) + 1"


def test_exactly_and_one_are_names_where_they_do_not_stand_together() -> None:
    found = expression("exactly\n one one_ in exactly: one({one_}) and exactly_one")
    assert isinstance(found, nodes.Quantifier) and found.kind == "exactly one"
    assert show_expr(found) == "exactly one one_ in exactly: one({one_}) and exactly_one"


def test_a_prime_before_the_key_of_an_update_is_one_error_with_the_way_to_write_it() -> None:
    diagnostics = Diagnostics()
    update = "component c { operation f() -> T { branch x { token'[k] = none  reply 1 } } }"
    parse(Source("test", f"protocol p\n{update}"), diagnostics)
    (error,) = diagnostics.errors
    assert "one prime, at its end" in error.message
    assert error.hint == "write `token[k]' = e`"


@pytest.mark.parametrize(
    ("text", "wrong", "meant"),
    [
        ("comonent c { state x: bool = true }", "comonent", "component"),
        ("component c { stae x: bool = true }", "stae", "state"),
        ("component c { opration f() -> bool { branch a reply true } }", "opration", "operation"),
        ("component c { operation f() -> bool { brnach a reply true } }", "brnach", "branch"),
        ("component c { operation f() -> bool { branch a { repyl true } } }", "repyl", "reply"),
        ("component c { operation f() -> bool { branch a whne x reply true } }", "whne", "when"),
        ("component c { operation f() -> bool { branch a { lte x = 1 reply x } } }", "lte", "let"),
        ("alwyas p of c: true", "alwyas", "always"),
        ("instnace tiny of c { Node = 2 }", "instnace", "instance"),
        ("mutant m in tiny { drop brnch c.f/a } caught by p", "brnch", "branch"),
        ("fun f(a: bool) -> bool = if a thne a else a", "thne", "then"),
    ],
)
def test_a_misspelt_keyword_gets_the_one_that_was_meant(text, wrong, meant) -> None:
    diagnostics = Diagnostics()
    assert parse(Source("test", f"protocol p\n{text}"), diagnostics) is None
    (found,) = diagnostics.errors
    told = (f"`{wrong}` is no word of Charter here", f"did you mean `{meant}`?")
    assert (found.message, found.hint) == told


def test_a_hyphen_in_the_name_of_a_protocol_is_told() -> None:
    diagnostics = Diagnostics()
    assert parse(Source("test", "protocol acme-lease\n"), diagnostics) is None
    (found,) = diagnostics.errors
    assert (found.message, found.hint) == (
        "a name has letters, digits and `_`", "write `_` in place of `-`",
    )  # fmt: skip
