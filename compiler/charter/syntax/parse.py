"""Text to surface tree. The only module that knows the parser generator."""

from __future__ import annotations

import re
from collections.abc import Iterator
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
from charter.syntax.mistakes import UNEXPECTED, explain
from charter.syntax.parser_position import Stuck
from charter.syntax.parser_tables import parser_of

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
    """The parser of the grammar."""
    return parser_of(GRAMMAR.read_text(encoding="utf-8"), PairLets())


def parse(source: Source, diagnostics: Diagnostics) -> nodes.File | None:
    """The surface tree of one file; None, and an error in `diagnostics`, if it has a syntax error.

    Codes: `syntax/unexpected`, `syntax/mixed-operators`, `syntax/too-deep`. Stops at the first
    unexpected token."""
    found = _parsed(source, diagnostics)
    if found is None:
        return None
    root = _concrete(found)
    if root.depth > DEEPEST:
        diagnostics.error(
            "syntax/too-deep",
            f"expressions are nested more than {DEEPEST} levels deep",
            _deepest(source, root),
            hint="name parts of it with `let` or `fun`",
        )
        return None
    errors = len(diagnostics.errors)
    tree = file(TreeReader(source, diagnostics, remarks(source.text, root)), root)
    return tree if len(diagnostics.errors) == errors else None


def _deepest(source: Source, root: Tree) -> Span:
    """The span of the first node that is nested too deeply."""
    node, allowed = root, DEEPEST
    while allowed and any(isinstance(child, Tree) for child in node.children):
        inner = [child for child in node.children if isinstance(child, Tree)]
        node = max(inner, key=lambda child: child.depth)
        allowed -= 1
    return Span(source, node.start, max(node.end, node.start + 1))


def _parsed(source: Source, diagnostics: Diagnostics) -> LarkTree[Token] | None:
    """The parser's tree. A keyword where only a name is allowed is taken as a name: the lexer,
    which knows only the next state, cannot always tell."""
    state = parser().parse_interactive(source.text)
    fed: list[Token] = []
    try:
        for token in state.lexer_thread.lex(state.parser_state):  # type: ignore[no-untyped-call]
            fed.append(_feed(state, token))
        result: LarkTree[Token] = state.feed_eof()  # type: ignore[no-untyped-call]
        return result
    except UnexpectedToken as error:
        at_end = error.token.type == "$END"
        last = fed[-1].end_pos if fed else 0
        start = (last if at_end else error.token.start_pos) or 0
        text = "" if at_end else str(error.token)
    except UnexpectedCharacters as error:
        start = error.pos_in_stream or 0
        text = source.text[start]
    before = tuple(str(token) for token in fed[-8:])
    end = start + len(text)
    behind = source.text[end:].partition("\n")[0]
    message, hint, back = explain(Stuck(text, before, behind, _accepted(fed)))
    if back:
        start, end = fed[-back].start_pos or 0, fed[-back].end_pos or 0
    diagnostics.error(UNEXPECTED, message, Span(source, start, max(end, start + 1)), hint=hint)
    return None


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


def _accepted(fed: list[Token]) -> frozenset[str]:
    """The tokens that may follow `fed`, as messages show them."""
    return frozenset(_written(kind) for kind in _kinds(fed))


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


def _written(kind: str) -> str:
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
