"""Parses text to the surface tree. The only module that knows the parser generator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from lark import Lark, Token
from lark import Tree as LarkTree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from lark.lark import PostLex
from lark.lexer import PatternStr
from lark.parsers.lalr_interactive_parser import InteractiveParser

from charter.diagnostics import Diagnostics, Source, Span
from charter.syntax import nodes
from charter.syntax.build_edit import file
from charter.syntax.build_expr import TreeReader
from charter.syntax.comments import remarks
from charter.syntax.concrete import Leaf, Part, Tree
from charter.syntax.mistakes.frequent_mistakes import UNEXPECTED, explain
from charter.syntax.mistakes.parser_position import Stuck
from charter.syntax.mistakes.recovery import (
    blank_out,
    may_begin_one,
    next_declaration,
    without_comments_behind,
)

GRAMMAR: Final = Path(__file__).with_name("charter.lark")
DEEPEST: Final = 100
"""The largest height of a tree: later phases walk it by recursion."""
OPENING: Final = frozenset({"LPAR", "LBRACE", "LSQB"})
CLOSING: Final = frozenset({"RPAR", "RBRACE", "RSQB"})
WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
AHEAD: Final = re.compile(r"\\b$|\(\?[=!].*$", re.DOTALL)
SPACES: Final = re.compile(r"\\s\+|\[(?:\s|\\[trnf])+\]\+")
PHRASE: Final = re.compile(r"[a-z]+(?: [a-z]+)+")
BINDING: Final = frozenset({"FORALL", "SOME", "EXACTLY_ONE", "THE", "SUM", "COMMA"})


class PairLets(PostLex):
    """A filter between lexer and parser: the `in` that ends the value of `let x = e in body`
    becomes the token `_LET_IN`. It is the first `in` at the bracket level of the `let` that does
    not belong to a binder."""

    always_accept = ("NAME", "IN")

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """The same tokens, with `_LET_IN` for each `in` that ends a `let`."""
        waiting = [0]
        before, last = "", ""
        outside: list[tuple[str, str]] = []
        for token in stream:
            kind, opened = token.type, ("", "")
            if kind in OPENING:
                waiting.append(0)
                outside.append((before, last))
            elif kind in CLOSING and len(waiting) > 1:
                waiting.pop()
                opened = outside.pop()
            elif kind == "_LET_EXPRESSION":
                waiting[-1] += 1
            elif kind == "IN" and waiting[-1] and before not in BINDING and last != "NOT":
                waiting[-1] -= 1
                kind = "_LET_IN"
            before, last = opened if (kind, opened[1]) == ("RPAR", "NAME") else (last, kind)
            yield token if kind == token.type else Token.new_borrow_pos(kind, token.value, token)


@cache
def parser() -> Lark:
    """The parser of the grammar. To make its tables takes a quarter of a second."""
    return Lark(
        GRAMMAR.read_text(encoding="utf-8"),
        parser="lalr",
        lexer="contextual",
        propagate_positions=True,
        maybe_placeholders=True,
        postlex=PairLets(),
    )


def parse(source: Source, diagnostics: Diagnostics) -> nodes.File | None:
    """The surface tree of one file; None, and errors in `diagnostics`, if it has syntax errors.

    Codes: `syntax/unexpected`, `syntax/mixed-operators`, `syntax/too-deep`."""
    errors = len(diagnostics.errors)
    tree = parse_rest(source, diagnostics)
    return tree if len(diagnostics.errors) == errors else None


def parse_rest(source: Source, diagnostics: Diagnostics) -> nodes.File | None:
    """The surface tree of one file without the declarations that have syntax errors, whose places
    are its `broken`; None if the error is before the first declaration. The errors, with the codes
    of `parse`, go to `diagnostics`: of each declaration the first unexpected token."""
    broken: list[Span] = []
    found = _parse(source, diagnostics, broken)
    if found is None:
        return None
    root = _shallow(_concrete(found), source, diagnostics, broken)
    known = len(diagnostics.items)
    text = blank_out(source, broken).text if broken else source.text
    tree = file(TreeReader(source, diagnostics, remarks(text, root)), root)
    errors = [item.span for item in diagnostics.items[known:]]
    wrong = {d.span for d in tree.declarations if any(d.span.holds(error) for error in errors)}
    if not (wrong or broken):
        return tree
    kept = tuple(d for d in tree.declarations if d.span not in wrong)
    return replace(tree, declarations=kept, broken=(*broken, *wrong))


def _shallow(root: Tree, source: Source, diagnostics: Diagnostics, broken: list[Span]) -> Tree:
    """A tree without the declarations that are nested too deeply, which become `broken`."""
    if root.depth <= DEEPEST:
        return root
    kept: list[Part] = []
    for child in root.children:
        if isinstance(child, Tree) and child.depth >= DEEPEST:
            diagnostics.error(
                "syntax/too-deep",
                f"expressions are nested more than {DEEPEST} levels deep",
                _deepest(source, child),
                hint="name parts of it with `let` or `fun`",
            )
            broken.append(Span(source, child.start, child.end))
        else:
            kept.append(child)
    return replace(root, children=tuple(kept))


def _deepest(source: Source, root: Tree) -> Span:
    """The span of the first node of a declaration that is nested too deeply."""
    node, allowed = root, DEEPEST - 1
    while allowed and any(isinstance(child, Tree) for child in node.children):
        inner = [child for child in node.children if isinstance(child, Tree)]
        node = max(inner, key=lambda child: child.depth)
        allowed -= 1
    return Span(source, node.start, max(node.end, node.start + 1))


def _parse(source: Source, diagnostics: Diagnostics, broken: list[Span]) -> LarkTree[Token] | None:
    """The parser's tree, without the declarations that become `broken`."""
    state = parser().parse_interactive(source.text)
    fed: list[Token] = []
    while not isinstance(found := _feed_rest(state, fed), LarkTree):
        start = _report(found, fed, source, diagnostics)
        left_out = _skip(state, fed, source, start)
        if left_out is None:
            return None
        broken.append(left_out)
    return found


def _feed_rest(
    state: InteractiveParser, fed: list[Token]
) -> LarkTree[Token] | UnexpectedToken | UnexpectedCharacters:
    """Feed the rest of the text to the parser: its tree, or what is unexpected. A keyword where
    only a name is allowed is taken as a name: the lexer, which knows only the next state, cannot
    always tell."""
    try:
        for token in state.lexer_thread.lex(state.parser_state):  # type: ignore[no-untyped-call]
            fed.append(_feed(state, token))
        result: LarkTree[Token] = state.feed_eof()  # type: ignore[no-untyped-call]
        return result
    except (UnexpectedToken, UnexpectedCharacters) as error:
        return error


def _report(
    error: UnexpectedToken | UnexpectedCharacters,
    fed: list[Token],
    source: Source,
    diagnostics: Diagnostics,
) -> int:
    """Record an error, and return where the parser stopped."""
    if isinstance(error, UnexpectedToken):
        at_end = error.token.type == "$END"
        last = fed[-1].end_pos if fed else 0
        stopped = (last if at_end else error.token.start_pos) or 0
        text = "" if at_end else str(error.token)
    else:
        stopped = error.pos_in_stream or 0
        text = source.text[stopped]
    before = tuple(str(token) for token in fed[-8:])
    start, end = stopped, stopped + len(text)
    behind = source.text[end:].partition("\n")[0]
    message, hint, back = explain(Stuck(text, before, behind, _list_accepted(fed)))
    if back:
        start, end = fed[-back].start_pos or 0, fed[-back].end_pos or 0
    diagnostics.error(UNEXPECTED, message, Span(source, start, max(end, start + 1)), hint=hint)
    return stopped


def _skip(state: InteractiveParser, fed: list[Token], source: Source, at: int) -> Span | None:
    """Go on at the next declaration, and return what is left out: the declaration in which the
    parser stopped `at` a place, or what stands there at the margin behind a finished one. None if
    no declaration has begun."""
    states, values = state.parser_state.state_stack, state.parser_state.value_stack
    text = source.text
    finished = may_begin_one(text, at) and _can_end(state)
    if len(values) < 2 or not isinstance(values[1], LarkTree):
        return None
    has_some = len(values) > 2 and str(getattr(values[2], "data", "")).startswith("__")
    kept = 3 if has_some else 2
    first = at if finished else min((at, *(_start(value, at) for value in values[kept:])))
    del states[kept + 1 :], values[kept:]
    del fed[2 * len(values[1].children) :]
    behind = next_declaration(text, first + 1)  # its keyword may have been read as a name
    lexer = state.lexer_thread.state
    assert lexer is not None
    lexer.line_ctr.char_pos = behind
    return Span(source, first, max(without_comments_behind(text, first, behind), first + 1))


def _can_end(state: InteractiveParser) -> bool:
    """Whether another declaration may begin here; if so, the one before is complete afterwards."""
    try:
        state.feed_token(Token("SORT", "sort"))
    except UnexpectedToken:
        return False
    return True


def _start(value: LarkTree[Token] | Token, otherwise: int) -> int:
    """Where a part of the parser's stack begins; `otherwise` if it is empty."""
    if isinstance(value, Token):
        return otherwise if value.start_pos is None else value.start_pos
    return otherwise if value.meta.empty else value.meta.start_pos


def acceptable(text: str) -> frozenset[str]:
    """What may follow a text: keywords, phrases and signs as they are written, and kinds of tokens
    such as NAME. Empty if the text has a syntax error itself."""
    state = parser().parse_interactive(text)
    fed: list[Token] = []
    try:
        for token in state.lexer_thread.lex(state.parser_state):  # type: ignore[no-untyped-call]
            fed.append(_feed(state, token))
    except (UnexpectedToken, UnexpectedCharacters):
        return frozenset()
    return frozenset(_phrase(kind) for kind in _kinds(fed))


def _feed(state: InteractiveParser, token: Token) -> Token:
    """Feed `token` to the parser, as a name if necessary; returns the token that was accepted."""
    try:
        state.feed_token(token)
    except UnexpectedToken:
        accepted = state.accepts()  # type: ignore[no-untyped-call]
        if not WORD.fullmatch(token) or "NAME" not in accepted:
            raise
        token = Token.new_borrow_pos("NAME", str(token), token)
        state.feed_token(token)
    return token


def _list_accepted(fed: list[Token]) -> frozenset[str]:
    """The tokens that may follow `fed`, as messages show them."""
    return frozenset(_write_kind(kind) for kind in _kinds(fed))


def _kinds(fed: list[Token]) -> set[str]:
    """The kinds of the tokens that may follow `fed`, by a parser that has not yet seen the
    unacceptable one."""
    state = parser().parse_interactive("")
    for token in fed:
        state.feed_token(token)
    found: set[str] = state.accepts()  # type: ignore[no-untyped-call]
    return found


def _phrase(kind: str) -> str:
    """A kind of token as text, also where its words are a pattern: `in any order`."""
    pattern = next((each.pattern for each in parser().terminals if each.name == kind), None)
    if isinstance(pattern, PatternStr):
        return pattern.value
    words = "" if pattern is None else phrase(pattern.value)
    return words if PHRASE.fullmatch(words) else kind


def phrase(pattern: str) -> str:
    """The words of a token's pattern: without looking ahead, and with one blank between them."""
    return SPACES.sub(" ", AHEAD.sub("", pattern))


def _write_kind(kind: str) -> str:
    """A kind of token as text; token classes such as NAME keep their name."""
    if kind == "$END":
        return "END"
    pattern = next((each.pattern for each in parser().terminals if each.name == kind), None)
    if isinstance(pattern, PatternStr) and kind not in {"_LET_STATEMENT", "_LET_EXPRESSION"}:
        return pattern.value
    return kind


def _concrete(found: LarkTree[Token]) -> Tree:
    """Converts the parser's tree to ours, without recursion."""
    built: dict[int, Tree] = {}

    def part(child: LarkTree[Token] | Token | None) -> Part:
        if child is None:
            return None
        if isinstance(child, Token):
            start, end = child.start_pos or 0, child.end_pos or 0
            return Leaf(child.type, str(child), start, end)
        return built[id(child)]

    for each in found.iter_subtrees():
        children = tuple(part(child) for child in each.children)
        below = max((child.depth for child in children if isinstance(child, Tree)), default=0)
        chain = len(children) // 2 if each.data in {"chain", "guard", "implication"} else 0
        empty = each.meta.empty
        built[id(each)] = Tree(
            str(each.data),
            children,
            0 if empty else each.meta.start_pos,
            0 if empty else each.meta.end_pos,
            below + 1 + chain,
        )
    return built[id(found)]
