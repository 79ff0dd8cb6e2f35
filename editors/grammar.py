"""The grammar of Charter as data: its rules, its tokens, and what its keywords are for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from lark import Token, Tree
from lark.grammar import NonTerminal, Terminal
from lark.load_grammar import load_grammar

from charter.core.builtins import BUILTINS
from charter.syntax.parse import GRAMMAR

Leaf = Token | Terminal | NonTerminal
Part = Tree[Leaf] | Leaf
WORD: Final = re.compile(r"[a-z_]+")


@dataclass(frozen=True, slots=True)
class Grammar:
    """`rules` and `tokens` are lark's trees by name; the tokens of white space and comments are
    `ignored`."""

    rules: dict[str, Tree[Leaf]]
    tokens: dict[str, Tree[Leaf]]
    ignored: tuple[str, ...]

    def strings(self, name: str) -> Iterator[str]:
        """The literals and keywords in a rule."""
        for leaf in leaves(self.rules[name]):
            text = self.literal(leaf)
            if text is not None:
                yield text

    def literal(self, part: Part) -> str | None:
        """The text of a literal, or of a token that is one; None for anything else."""
        match part:
            case Token(type="STRING"):
                return part[1:-1]
            case Terminal(name=name) if name in self.tokens:
                return _constant(self.tokens[name])
            case _:
                return None

    def below(self, start: str, but: frozenset[str] = frozenset()) -> frozenset[str]:
        """The rules that can be reached from a rule, without those in `but`."""
        found: set[str] = set()
        waiting = [start]
        while waiting:
            name = waiting.pop()
            if name in found or name in but:
                continue
            found.add(name)
            for leaf in leaves(self.rules[name]):
                if isinstance(leaf, NonTerminal) and leaf.name in self.rules:
                    waiting.append(leaf.name)
        return frozenset(found)


def leaves(tree: Tree[Leaf]) -> list[Leaf]:
    """The literals and names in a rule, in the order of the text, without the signs between
    them."""
    return list(tree.scan_values(lambda leaf: getattr(leaf, "type", "") != "OP"))


def _constant(tree: Tree[Leaf]) -> str | None:
    """The text of a token that is one literal."""
    (only,) = leaves(tree)
    is_string = isinstance(only, Token) and only.type == "STRING"
    return str(only)[1:-1] if is_string else None


def pattern(tree: Tree[Leaf]) -> str:
    """The regular expression of a token."""
    (only,) = leaves(tree)
    return str(only)[1 : str(only).rindex("/")]


@cache
def grammar() -> Grammar:
    """The grammar, read once."""
    text = GRAMMAR.read_text(encoding="utf-8")
    read, _ = load_grammar(text, GRAMMAR.name, [], False)  # type: ignore[no-untyped-call]
    rules = {str(name): tree for name, _, tree, _ in read.rule_defs}
    tokens = {str(name): tree for name, (tree, _) in read.term_defs if tree is not None}
    return Grammar(rules, tokens, tuple(read.ignore))


@dataclass(frozen=True, slots=True)
class Keywords:
    """All keywords, each once: of `expressions` (`constants` among them stand alone), of `types`,
    and of the `declarations` around them; `phrases` are patterns of several words. `naming` are
    those that a new name follows."""

    constants: tuple[str, ...]
    expressions: tuple[str, ...]
    types: tuple[str, ...]
    declarations: tuple[str, ...]
    phrases: tuple[str, ...]
    naming: tuple[str, ...]
    operators: tuple[str, ...]
    builtins: tuple[str, ...] = (*BUILTINS, "present")


def keywords() -> Keywords:
    """The keywords and operators of the grammar, by what they are for."""
    whole = grammar()
    inner = whole.below("expr")
    of_types = whole.below("type", inner)
    strings = {name: set(whole.strings(name)) for name in whole.rules}
    every = sorted(set().union(*strings.values()))
    words = [text for text in every if WORD.fullmatch(text)]
    alone = {text for text in strings["atom"] if text in _alone(whole)}
    expressions = set().union(*(strings[name] for name in inner)) - alone
    types = set().union(*(strings[name] for name in of_types)) - expressions
    phrases = (pattern(tree) for tree in whole.tokens.values() if _constant(tree) is None)
    return Keywords(
        tuple(word for word in words if word in alone),
        tuple(word for word in words if word in expressions),
        tuple(word for word in words if word in types),
        tuple(word for word in words if word not in expressions | types | alone),
        tuple(text for text in phrases if text[:1].isalpha()),
        tuple(sorted(set(_naming(whole)) - expressions)),
        tuple(text for text in every if not text[0].isalpha()),
    )


def _alone(whole: Grammar) -> Iterator[str]:
    """The literals that are expressions by themselves: `true`, `none`."""
    for tree in whole.rules["atom"].find_data("expansion"):
        parts = leaves(tree)
        text = whole.literal(parts[0]) if len(parts) == 1 else None
        if text is not None:
            yield text


def _naming(whole: Grammar) -> Iterator[str]:
    """The keywords before the first name of a declaration: `operation`, `always`."""
    for rule, tree in whole.rules.items():
        if not rule.endswith("_decl") and rule not in ("operation", "branch", "history", "counter"):
            continue
        for alternative in tree.children:
            parts = parts_of(alternative)
            named = [leaves(part) == [Terminal("NAME")] for part in parts]
            before = parts[: named.index(True)] if True in named else []
            texts = [[whole.literal(leaf) or "" for leaf in leaves(part)] for part in before]
            if texts and all(WORD.fullmatch(text) for part in texts for text in part):
                yield from texts[-1]


def parts_of(alternative: Part) -> list[Tree[Leaf]]:
    """What follows one another in an alternative of a rule."""
    assert isinstance(alternative, Tree)
    inner = alternative.children[0] if alternative.data == "alias" else alternative
    assert isinstance(inner, Tree)
    return [part for part in inner.children if isinstance(part, Tree)]
