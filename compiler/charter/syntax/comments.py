"""Assigns each comment to a declaration or a statement. No comment is lost.

A comment on a line of its own goes to the next item inside the item that surrounds it; the last
ones before a closing brace, or before the end of the file, are `closing`. A comment at the end of a
line goes to the item that ends there or opens its brace there. All other comments, mostly those
inside expressions, move above the item that contains them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from charter.syntax.concrete import Tree

COMMENT: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|--([^\n]*)')
BLANK_LINE: Final = re.compile(r"\s*\n[ \t\r]*\n\s*")

BLOCKS: Final = frozenset(
    [
        "record_decl",
        "union_decl",
        "component_decl",
        "operation",
        "any_order",
        "observe_decl",
        "system_decl",
        "step_decl",
        "setup_decl",
        "instance_decl",
        "fragment_decl",
        "scenario_decl",
        "prelude",
        "variant_decl",
        "mutant_decl",
        "overlay_decl",
        "overlay_entry",
    ]
)
WRAPPERS: Final = frozenset(
    ["replace", "replace_branch", "replace_operation", "add", "add_in", "implication"]
)
ITEMS: Final = (
    BLOCKS
    | WRAPPERS
    | frozenset(
        [
            "source_decl",
            "sort_decl",
            "counter",
            "opaque_counter",
            "opaque",
            "const_decl",
            "alias_decl",
            "enum_decl",
            "field_decl",
            "case_decl",
            "fun_decl",
            "state_decl",
            "history",
            "branch",
            "conjunct",
            "observed",
            "part_decl",
            "channel_decl",
            "assume",
            "let",
            "let_call",
            "call",
            "pick",
            "assign",
            "reply",
            "require",
            "send",
            "receive",
            "clear",
            "flush",
            "crash",
            "property_decl",
            "eventually_decl",
            "bound",
            "start_value",
            "offers",
            "only",
            "misses",
            "fails",
            "do",
            "expect",
            "moment",
            "include",
            "replace_fun",
            "replace_part",
            "replace_let",
            "replace_history",
            "replace_image",
            "drop_part",
            "drop_at",
            "drop_named",
            "add_fault",
        ]
    )
)


@dataclass(frozen=True, slots=True)
class Remarks:
    """The comments of one item; see `charter.syntax.nodes.Item`."""

    comments: tuple[str, ...] = ()
    trailing: str = ""
    closing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Comment:
    """One comment: its offsets, its text without dashes, and whether it is `alone` on its line."""

    start: int
    end: int
    text: str
    alone: bool


@dataclass(slots=True)
class _Collected:
    """The comments found for one item so far. Moved comments go below those above it."""

    above: list[str] = field(default_factory=list)
    moved: list[str] = field(default_factory=list)
    trailing: str = ""
    closing: list[str] = field(default_factory=list)

    def remarks(self) -> Remarks:
        """The same, fixed."""
        while self.closing and not self.closing[-1]:
            self.closing.pop()
        return Remarks((*self.above, *self.moved), self.trailing, tuple(self.closing))


@dataclass(slots=True)
class _Items:
    """The items of a file in the order of the text, each with the index of the item around it."""

    root: Tree
    trees: list[Tree] = field(default_factory=list)
    around: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: dict[int, int] = field(default_factory=dict)
    collected: dict[int, _Collected] = field(default_factory=dict)

    def __post_init__(self) -> None:
        waiting: list[tuple[Tree, int]] = [(self.root, -1)]
        while waiting:
            node, surrounding = waiting.pop()
            if node.rule in ITEMS or node is self.root:
                self.trees.append(node)
                self.around.append(surrounding)
                surrounding = len(self.trees) - 1
                self.starts.append(node.start)
                end = _end_of_header(node) if node is self.root else node.end
                self.ends.setdefault(end, surrounding)
            inner = [child for child in node.children if isinstance(child, Tree)]
            waiting.extend((child, surrounding) for child in reversed(inner))

    def innermost(self, offset: int) -> int:
        """The innermost item at `offset`; -1 before the first or after the last token."""
        item = bisect_right(self.starts, offset) - 1
        while item >= 0 and self.trees[item].end <= offset:
            item = self.around[item]
        return item

    def owner(self, item: int) -> int:
        """The item that gets the comments above and behind `item`: for the declaration inside an
        edit, the edit; for the only `implies` of a guard, the guard."""
        around = self.around[item]
        wrapped = around >= 0 and self.trees[around].rule in WRAPPERS
        return around if wrapped else item

    def of(self, item: int) -> _Collected:
        """The comments of `item` so far."""
        return self.collected.setdefault(item, _Collected())


def remarks(text: str, root: Tree) -> Mapping[int, Remarks]:
    """The comments of `text` by the identity of the item's tree."""
    items = _Items(root)
    for comment in _comments(text):
        if comment.alone:
            _place_alone(text, items, comment)
        else:
            _place_behind(text, items, comment)
    return {id(items.trees[item]): found.remarks() for item, found in items.collected.items()}


def _comments(text: str) -> list[_Comment]:
    found = []
    for match in COMMENT.finditer(text):
        if match[1] is None:
            continue
        line_start = text.rfind("\n", 0, match.start()) + 1
        alone = not text[line_start : match.start()].strip()
        found.append(
            _Comment(match.start(), match.end(), match[1].removeprefix(" ").rstrip(), alone)
        )
    return found


def _end_of_header(root: Tree) -> int:
    head = root.children[0]
    assert head is not None
    return head.end


def _is_block(node: Tree) -> bool:
    if node.rule == "branch":
        body = node.children[-1]
        return isinstance(body, Tree) and body.rule == "block"
    return node.rule in BLOCKS


def _paragraph(lines: list[str], comment: _Comment, text: str, until: int) -> None:
    """Append a line, and "" if a blank line separates it from the next comment or the item."""
    lines.append(comment.text or " ")
    rest = BLANK_LINE.match(text, comment.end)
    if rest is not None and (text.startswith("--", rest.end()) or rest.end() == until):
        lines.append("")


def _place_alone(text: str, items: _Items, comment: _Comment) -> None:
    inside = items.innermost(comment.start)
    following = bisect_right(items.starts, comment.start)
    end = items.trees[inside].end if inside >= 0 else len(text)
    if following < len(items.trees) and items.starts[following] < end:
        lines = items.of(items.owner(following)).above
        _paragraph(lines, comment, text, items.starts[following])
    elif inside < 0:
        _paragraph(items.of(0).closing, comment, text, -1)
    elif _is_block(items.trees[inside]):
        _paragraph(items.of(inside).closing, comment, text, -1)
    elif comment.text:
        items.of(items.owner(inside)).moved.append(comment.text)


def _place_behind(text: str, items: _Items, comment: _Comment) -> None:
    if not comment.text:
        return
    before = text[: comment.start].rstrip()
    ended = items.ends.get(len(before))
    if ended is None and before.endswith(","):
        ended = items.ends.get(len(before[:-1].rstrip()))
    inside = items.innermost(comment.start)
    if ended is not None:
        owner = items.owner(ended)
    elif inside < 0:
        items.of(0).closing.append(comment.text)
        return
    else:
        owner = items.owner(inside)
        node = items.trees[inside]
        opens = _is_block(node) or node.rule == "enum_decl"
        if not (opens and before.endswith("{")):
            items.of(owner).moved.append(comment.text)
            return
    found = items.of(owner)
    if found.trailing:
        found.moved.append(comment.text)
    else:
        found.trailing = comment.text
