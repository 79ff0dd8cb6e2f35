"""The tree-sitter grammar, as the JSON that `tree-sitter generate` reads, and its highlights.

A rule that lark inlines if it has one part is hidden (`_expr`), and each of its named alternatives
is a rule of its own. Rules that may be empty are not allowed: what names them is optional instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from lark import Token, Tree
from lark.grammar import NonTerminal, Terminal

from charter.syntax.parse import AHEAD, phrase
from editors.grammar import Grammar, Leaf, Part, grammar, keywords, leaves, pattern

Node = dict[str, object]
BLANK: Final[Node] = {"type": "BLANK"}
LATE: Final = ("target",)
"""Rules whose alternatives are called after them where others have the same names."""
CONFLICTS: Final = (("ident", "record"), ("_comparison", "compare"))
"""Where one token more does not say how to go on: `x {` may begin a record, and `in` may compare or
end the value of a `let`. Both ways are tried."""


def choice(members: list[Node]) -> Node:
    return members[0] if len(members) == 1 else {"type": "CHOICE", "members": members}


def optional(content: Node) -> Node:
    return {"type": "CHOICE", "members": [content, BLANK]}


def symbol(name: str) -> Node:
    return {"type": "SYMBOL", "name": name}


@dataclass(slots=True)
class Translation:
    """The rules of tree-sitter that were made so far."""

    whole: Grammar
    rules: dict[str, Node] = field(default_factory=dict)
    empty: set[str] = field(default_factory=set)

    def all(self) -> dict[str, Node]:
        """All rules."""
        self.empty = {name for name, tree in self.whole.rules.items() if _may_be_empty(tree)}
        for name in self.whole.rules:
            self.rules[self.name_of(name)] = {}
        for name in sorted(self.whole.rules, key=LATE.__contains__):
            self.rules[self.name_of(name)] = self._rule(name, self.whole.rules[name])
        self.rules["name"] = {"type": "PATTERN", "value": pattern(self.whole.tokens["NAME"])}
        self.rules["string"] = {"type": "PATTERN", "value": pattern(self.whole.tokens["STRING"])}
        self.rules["number"] = {"type": "PATTERN", "value": self.pattern("INT")}
        self.rules["comment"] = {"type": "PATTERN", "value": "--[^\\n]*"}
        return self.rules

    def name_of(self, rule: str) -> str:
        """The name of lark's rule: hidden if all its alternatives with several parts are named."""
        if rule == "start":
            return "source_file"
        tree = self.whole.rules[rule]
        named = any(child.data == "alias" for child in tree.children if isinstance(child, Tree))
        inlined = rule in ("declaration", "plain_declaration") or (named and _has_plain(tree))
        return f"_{rule}" if inlined else rule

    def _rule(self, rule: str, tree: Tree[Leaf]) -> Node:
        alternatives: list[Node] = []
        for child in tree.children:
            assert isinstance(child, Tree)
            if child.data != "alias":
                alternatives.append(self.part(child))
                continue
            content, alias = child.children
            assert isinstance(alias, NonTerminal)
            named = self.part(content)
            name = alias.name
            named = _not_empty(named) if rule in self.empty else named
            made = self._right(name, named)
            for other in (f"{rule}_{name}", f"{rule}_{name}_{len(alternatives)}"):
                name = name if self.rules.get(name, made) == made else other
            self.rules[name] = made
            alternatives.append(symbol(name))
        found = choice(alternatives)
        if rule in self.empty and found["type"] != "SYMBOL":
            found = _not_empty(found)
        return self._right(self.name_of(rule), found)

    def _right(self, name: str, content: Node) -> Node:
        """What is begun goes on as far as it can, as in lark."""
        if any(name in pair for pair in CONFLICTS):
            return content
        return {"type": "PREC_RIGHT", "value": 1, "content": content}

    def part(self, part: Part) -> Node:
        """A part of a rule."""
        match part:
            case Token(type="STRING"):
                return {"type": "STRING", "value": part[1:-1]}
            case Terminal(name=name):
                return self._token(name)
            case NonTerminal(name=name):
                found = symbol(self.name_of(name))
                return optional(found) if name in self.empty else found
            case Tree(data="expansions", children=children):
                return choice([self.part(child) for child in children])
            case Tree(data="expansion", children=children):
                members = [self.part(child) for child in children]
                return members[0] if len(members) == 1 else {"type": "SEQ", "members": members}
            case Tree(data="maybe", children=[inner]):
                return optional(self.part(inner))
            case Tree(data="expr", children=[inner, sign]):
                content = self.part(inner)
                if sign == "?":
                    return optional(content)
                return {"type": "REPEAT" if sign == "*" else "REPEAT1", "content": content}
            case Tree(data="value" | "literal", children=[inner]):
                return self.part(inner)
            case _:
                raise AssertionError(part)

    def pattern(self, name: str) -> str:
        """The pattern of a token, without what lark looks at behind it: tree-sitter cannot, and
        tries both ways instead (`CONFLICTS`)."""
        return AHEAD.sub("", pattern(self.whole.tokens[name]))

    def _token(self, name: str) -> Node:
        text = "in" if name == "_LET_IN" else self.whole.literal(Terminal(name))
        if text is not None:
            return {"type": "STRING", "value": text}
        known = {"NAME": "name", "STRING": "string", "INT": "number", "RECORD_NAME": "name"}
        if name in known:
            return symbol(known[name])
        inner: Node = {"type": "PATTERN", "value": self.pattern(name)}
        token: Node = {"type": "TOKEN", "content": {"type": "PREC", "value": 2, "content": inner}}
        text = phrase(pattern(self.whole.tokens[name]))
        return {"type": "ALIAS", "content": token, "named": False, "value": text}


def _has_plain(tree: Tree[Leaf]) -> bool:
    return any(
        isinstance(child, Tree) and child.data != "alias" and len(leaves(child)) == 1
        for child in tree.children
    ) or all(isinstance(child, Tree) and child.data == "alias" for child in tree.children)


def _may_be_empty(tree: Tree[Leaf]) -> bool:
    """Whether a rule is only something optional or repeated."""
    inner: Part = tree
    while isinstance(inner, Tree) and inner.data in ("expansions", "expansion", "alias"):
        if len(inner.children) != 1 and inner.data != "alias":
            return False
        inner = inner.children[0]
    return isinstance(inner, Tree) and inner.data == "expr" and inner.children[1] in ("*", "?")


def _not_empty(node: Node) -> Node:
    """The same without the empty text."""
    if node["type"] == "REPEAT":
        return {**node, "type": "REPEAT1"}
    members = node["members"]
    assert isinstance(members, list) and members[1] == BLANK
    first = members[0]
    assert isinstance(first, dict)
    return first


def tree_sitter() -> Node:
    """The grammar."""
    rules = Translation(grammar()).all()
    start = {"source_file": rules.pop("source_file")}
    return {
        "name": "charter",
        "word": "name",
        "rules": {**start, **rules},
        "extras": [{"type": "PATTERN", "value": "[ \\t\\r\\n\\f]+"}, symbol("comment")],
        "conflicts": [list(pair) for pair in CONFLICTS],
        "precedences": [],
        "externals": [],
        "inline": [],
        "supertypes": [],
        "reserved": {},
    }


def highlights() -> str:
    """The query by which editors colour the tree."""
    found = keywords()

    def list_words(words: Iterable[str]) -> str:
        return " ".join(f'"{word}"' for word in words)

    phrases = [phrase(text) for text in found.phrases]
    signs = [sign for sign in found.operators if sign not in "(){}[],.'"]
    return "\n".join(
        [
            "(comment) @comment",
            "(string) @string",
            "(number) @number",
            f"[{list_words([*found.expressions, *phrases])}] @keyword.operator",
            f"[{list_words(found.types)}] @type.builtin",
            f"[{list_words(found.declarations)}] @keyword",
            f"[{list_words(found.constants)}] @constant.builtin",
            f"[{list_words(signs)}] @operator",
            "(named_type (name) @type)",
            "(apply . (name) @function.call)",
            "(fun_decl . (name) @function)",
            "(operation . (name) @function)",
            "(branch . (name) @label)",
            "(field_of (name) @variable.member)",
            "",
        ]
    )
