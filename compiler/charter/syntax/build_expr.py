"""Builds the surface tree: names, citations, types and expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from charter.diagnostics import Diagnostics, Source, Span
from charter.syntax import nodes
from charter.syntax.comments import Remarks
from charter.syntax.concrete import Leaf, Part, Tree, leaf, tree, trees
from charter.syntax.nodes import Expr, Name

SET_OPERATORS: Final = frozenset("|&")
NUMBERS: Final = frozenset("+-")


@dataclass(frozen=True, slots=True)
class TreeReader:
    """What every builder needs: the source for spans, the diagnostics, and the comments of each
    item."""

    source: Source
    diagnostics: Diagnostics
    remarks: Mapping[int, Remarks]

    def span(self, part: Tree | Leaf) -> Span:
        """The span of `part` in the text."""
        return Span(self.source, part.start, part.end)


def name(reader: TreeReader, part: Part) -> Name:
    """An identifier."""
    token = leaf(part)
    return Name(token.text, span=reader.span(token))


def optional_name(reader: TreeReader, part: Part) -> Name | None:
    """An identifier that may be missing."""
    return None if part is None else name(reader, part)


def names(reader: TreeReader, part: Part) -> tuple[Name, ...]:
    """Identifiers between commas; none if the list is missing."""
    return () if part is None else tuple(name(reader, child) for child in tree(part).children)


def text(part: Part) -> str:
    """The characters that a string literal stands for; "" if it is missing."""
    if part is None:
        return ""
    return re.sub(r"\\(.)", r"\1", leaf(part).text[1:-1])


def citations(reader: TreeReader, part: Part) -> tuple[nodes.Citation, ...]:
    """The citations behind `cites`."""
    if part is None:
        return ()
    return tuple(
        nodes.Citation(
            leaf(child.children[0]).text, text(child.children[1]), span=reader.span(child)
        )
        for child in trees(tree(part).children)
    )


# --- types ---------------------------------------------------------------------------------------


def type_of(reader: TreeReader, part: Part) -> nodes.Type:
    """Any type."""
    node = tree(part)
    span = reader.span(node)
    match node.rule, node.children:
        case "named_type", (Leaf(text=named),):
            return nodes.NamedType(named, span=span)
        case "int_type", (low, high):
            return nodes.IntType(expr(reader, low), expr(reader, high), span=span)
        case "wrapped_type", (Leaf(text=("option" | "set" | "ranking") as wrapper), inner):
            return nodes.WrappedType(wrapper, type_of(reader, inner), span=span)
        case "seq_type", (inner, limit):
            return nodes.SeqType(type_of(reader, inner), expr(reader, limit), span=span)
        case "map_type", (key, value):
            return nodes.MapType(type_of(reader, key), type_of(reader, value), span=span)
        case _:
            raise AssertionError(node.rule)


def params(reader: TreeReader, part: Part) -> tuple[nodes.Param, ...]:
    """`x: T, y: U`; none if the list is missing."""
    if part is None:
        return ()
    return tuple(
        nodes.Param(
            name(reader, child.children[0]),
            type_of(reader, child.children[1]),
            _optional(reader, child.children[2]) if len(child.children) > 2 else None,
            span=reader.span(child),
        )
        for child in trees(tree(part).children)
    )


# --- expressions ---------------------------------------------------------------------------------


def expr(reader: TreeReader, part: Part) -> Expr:
    """Any expression."""
    node = tree(part)
    return EXPRESSIONS[node.rule](reader, node)


def arguments(reader: TreeReader, part: Part) -> tuple[Expr, ...]:
    """`a, b` of a call."""
    return tuple(expr(reader, child) for child in tree(part).children)


def build_named_argument(reader: TreeReader, node: Tree) -> nodes.NamedArg:
    """`name: e`."""
    called, value = node.children
    return nodes.NamedArg(name(reader, called), expr(reader, value), span=reader.span(node))


def binder(reader: TreeReader, part: Part) -> nodes.Binder:
    """`x in S`."""
    node = tree(part)
    variable, domain = node.children
    return nodes.Binder(name(reader, variable), expr(reader, domain), span=reader.span(node))


def binders_of(reader: TreeReader, part: Part) -> tuple[nodes.AnyBinder, ...]:
    """The binders behind a quantifier, or behind `for`."""
    return tuple(_any_binder(reader, child) for child in trees(tree(part).children))


def _any_binder(reader: TreeReader, node: Tree) -> nodes.AnyBinder:
    if node.rule == "binder":
        return binder(reader, node)
    key, value, domain = node.children
    bound = name(reader, value) if isinstance(value, Leaf) else _pattern(reader, tree(value))
    return nodes.PatternBinder(
        optional_name(reader, key), bound, expr(reader, domain), span=reader.span(node)
    )


def _pattern(reader: TreeReader, node: Tree) -> nodes.Pattern:
    tag, inside = node.children
    return nodes.Pattern(name(reader, tag), names(reader, inside), span=reader.span(node))


def _optional(reader: TreeReader, part: Part) -> Expr | None:
    return None if part is None else expr(reader, part)


def _inits(reader: TreeReader, parts: tuple[Part, ...]) -> tuple[nodes.FieldInit, ...]:
    return tuple(
        nodes.FieldInit(name(reader, field), expr(reader, value), span=span)
        for field, value, span in _pairs(reader, parts)
    )


def _entries(reader: TreeReader, parts: tuple[Part, ...]) -> tuple[nodes.Entry, ...]:
    return tuple(
        nodes.Entry(expr(reader, key), expr(reader, value), span=span)
        for key, value, span in _pairs(reader, parts)
    )


def _pairs(reader: TreeReader, parts: tuple[Part, ...]) -> Iterator[tuple[Part, Part, Span]]:
    for child in trees(parts):
        key, value = child.children
        yield key, value, reader.span(child)


def refuse_mixed(reader: TreeReader, operators: list[str], span: Span) -> None:
    """Report `syntax/mixed-operators` if a chain joins operators without a common precedence."""
    kinds = set(operators)
    if len(kinds) > 1 and not kinds <= NUMBERS:
        shown = " and ".join(f"`{operator}`" for operator in sorted(kinds))
        reader.diagnostics.error(
            "syntax/mixed-operators",
            f"{shown} are mixed without parentheses",
            span,
            hint="parenthesise, for example `(a | b) & c`"
            if kinds & SET_OPERATORS
            else "parenthesise, for example `(a and b) or c`",
        )


def fold(reader: TreeReader, operands: list[Expr], operators: list[str], span: Span) -> Expr:
    """`a + b + c` as `(a + b) + c`; operators without a common precedence are refused."""
    refuse_mixed(reader, operators, span)
    left = operands[0]
    for operator, right in zip(operators, operands[1:], strict=True):
        left = nodes.Binary(
            cast(nodes.BinaryOp, operator), left, right, span=left.span.to(right.span)
        )
    return left


def _chain(reader: TreeReader, node: Tree) -> Expr:
    operands = [expr(reader, child) for child in node.children[::2]]
    operators = [leaf(child).text for child in node.children[1::2]]
    return fold(reader, operands, operators, reader.span(node))


def _compare(reader: TreeReader, node: Tree) -> Expr:
    left, *operator, right = node.children
    words = " ".join(leaf(word).text for word in operator)
    return nodes.Binary(
        cast(nodes.BinaryOp, words),
        expr(reader, left),
        expr(reader, right),
        span=reader.span(node),
    )


def _implies(reader: TreeReader, node: Tree) -> Expr:
    left, _, right = node.children
    return nodes.Binary("implies", expr(reader, left), expr(reader, right), span=reader.span(node))


def _build_primed(reader: TreeReader, node: Tree) -> Expr:
    target = expr(reader, node.children[0])
    if isinstance(target, nodes.Ident) and not target.primed:
        return nodes.Ident(target.name, primed=True, span=reader.span(node))
    reader.diagnostics.error(
        "syntax/unexpected",
        "a prime follows the name of a state variable, and only once",
        reader.span(node),
        hint="write `partition'[t].leader`: everything after the prime reads the state after",
    )
    return target


def _filter(reader: TreeReader, node: Tree) -> Expr:
    condition = expr(reader, node.children[1])
    match expr(reader, node.children[0]):
        case nodes.Binary("in", nodes.Ident(variable, primed=False) as ident, domain) as found:
            bound = nodes.Binder(Name(variable, span=ident.span), domain, span=found.span)
            return nodes.Comprehension(None, (bound,), condition, span=reader.span(node))
        case other:
            reader.diagnostics.error(
                "syntax/unexpected",
                "a set with a condition begins with `x in S`",
                other.span,
                hint="write `{ x in S if c }`, or `{ e for x in S if c }`",
            )
            return nodes.SetLit((other,), span=reader.span(node))


def _quantifier(reader: TreeReader, node: Tree) -> Expr:
    kind, binders, body = node.children
    match " ".join(leaf(kind).text.split()):
        case ("forall" | "some" | "exactly one" | "the" | "sum") as word:
            return nodes.Quantifier(
                word, binders_of(reader, binders), expr(reader, body), span=reader.span(node)
            )
        case other:
            raise AssertionError(other)


def _match(reader: TreeReader, node: Tree) -> Expr:
    subject, *cases = node.children
    return nodes.Match(
        expr(reader, subject),
        tuple(
            nodes.Case(
                name(reader, case.children[0]),
                names(reader, case.children[1]),
                expr(reader, case.children[2]),
                span=reader.span(case),
            )
            for case in trees(tuple(cases))
        ),
        span=reader.span(node),
    )


def _comprehension(reader: TreeReader, node: Tree) -> Expr:
    body, binders, condition = node.children
    return nodes.Comprehension(
        expr(reader, body),
        binders_of(reader, binders),
        _optional(reader, condition),
        span=reader.span(node),
    )


def _let_in(reader: TreeReader, node: Tree) -> Expr:
    variable, value, body = node.children
    return nodes.LetIn(
        name(reader, variable), expr(reader, value), expr(reader, body), span=reader.span(node)
    )


def _with(reader: TreeReader, node: Tree) -> Expr:
    target, *rest = node.children
    if node.rule == "with_fields":
        inits = _inits(reader, tuple(rest))
        return nodes.WithFields(expr(reader, target), inits, span=reader.span(node))
    entries = _entries(reader, tuple(rest))
    return nodes.WithEntries(expr(reader, target), entries, span=reader.span(node))


def _if(reader: TreeReader, node: Tree) -> Expr:
    condition, then, otherwise = (expr(reader, child) for child in node.children)
    return nodes.If(condition, then, otherwise, span=reader.span(node))


def _took(reader: TreeReader, node: Tree) -> Expr:
    operation, branch, args = node.children
    given = None if args is None else arguments(reader, args)
    return nodes.Took(
        name(reader, operation), optional_name(reader, branch), given, span=reader.span(node)
    )


def _name_of(node: Tree) -> str:
    return leaf(node.children[0]).text


EXPRESSIONS: Final[Mapping[str, Callable[[TreeReader, Tree], Expr]]] = {
    "int": lambda r, n: nodes.IntLit(int(_name_of(n)), span=r.span(n)),
    "true": lambda r, n: nodes.BoolLit(True, span=r.span(n)),
    "false": lambda r, n: nodes.BoolLit(False, span=r.span(n)),
    "none": lambda r, n: nodes.NoneLit(span=r.span(n)),
    "ident": lambda r, n: nodes.Ident(_name_of(n), span=r.span(n)),
    "primed": _build_primed,
    "named_argument": build_named_argument,
    "apply": lambda r, n: nodes.Apply(
        name(r, n.children[0]), arguments(r, n.children[1]), span=r.span(n)
    ),
    "field_of": lambda r, n: nodes.FieldOf(
        expr(r, n.children[0]), name(r, n.children[1]), span=r.span(n)
    ),
    "index": lambda r, n: nodes.Index(
        expr(r, n.children[0]), expr(r, n.children[1]), span=r.span(n)
    ),
    "record": lambda r, n: nodes.RecordLit(
        name(r, n.children[0]), _inits(r, n.children[1:]), span=r.span(n)
    ),
    "with_fields": _with,
    "with_entries": _with,
    "set": lambda r, n: nodes.SetLit(tuple(expr(r, c) for c in n.children), span=r.span(n)),
    "filter": _filter,
    "comprehension": _comprehension,
    "sequence": lambda r, n: nodes.SeqLit(tuple(expr(r, c) for c in n.children), span=r.span(n)),
    "map_of": lambda r, n: nodes.MapLit(
        binder(r, n.children[0]), expr(r, n.children[1]), span=r.span(n)
    ),
    "quantifier": _quantifier,
    "not": lambda r, n: nodes.Unary("not", expr(r, n.children[0]), span=r.span(n)),
    "minus": lambda r, n: nodes.Unary("-", expr(r, n.children[0]), span=r.span(n)),
    "chain": _chain,
    "compare": _compare,
    "is_case": lambda r, n: nodes.Is(
        expr(r, n.children[0]), _pattern(r, tree(n.children[1])), span=r.span(n)
    ),
    "implies": _implies,
    "if": _if,
    "let_in": _let_in,
    "match": _match,
    "took": _took,
    "paren": lambda r, n: expr(r, n.children[0]),
}
