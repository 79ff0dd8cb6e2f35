"""Lays out TLA+ text in boxes: on one line where it fits, else indented over several.

TLA+ reads lists of `/\\` and `\\/` by their columns, so all lines of a box must move together:
`lines` returns them, and the caller shifts all by the same number of columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

WIDTH = 100
LEAST = 36
"""Boxes that stand deep to the right still get this many columns."""


class Doc(ABC):
    """A text with a form on one line and a form on several lines."""

    __slots__ = ()

    @property
    @abstractmethod
    def flat(self) -> str:
        """The text on one line; "" if it needs several."""

    @abstractmethod
    def tall(self, width: int) -> list[str]:
        """The text on several lines."""

    def lines(self, width: int) -> list[str]:
        """The text within `width` columns, if possible."""
        flat = self.flat
        return [flat] if flat and len(flat) <= width else self.tall(max(width, LEAST))


def place(prefix: str, doc: Doc, width: int) -> list[str]:
    """The lines of `doc` with `prefix` before the first and as much indentation before the
    others."""
    first, *rest = doc.lines(width - len(prefix))
    return [prefix + first, *(" " * len(prefix) + line if line else "" for line in rest)]


def shift(lines: list[str], columns: int) -> list[str]:
    """`lines`, indented by `columns`."""
    return [" " * columns + line if line else "" for line in lines]


@dataclass(frozen=True, slots=True)
class Text(Doc):
    """A text that is never broken."""

    text: str

    @property
    def flat(self) -> str:
        return self.text

    def tall(self, width: int) -> list[str]:
        return [self.text]


@dataclass(frozen=True, slots=True)
class Around(Doc):
    """`before`, a box, `after`."""

    before: str
    inner: Doc
    after: str = ""

    @property
    def flat(self) -> str:
        flat = self.inner.flat
        return f"{self.before}{flat}{self.after}" if flat else ""

    def tall(self, width: int) -> list[str]:
        lines = place(self.before, self.inner, width - len(self.after))
        lines[-1] += self.after
        return lines


@dataclass(frozen=True, slots=True)
class Listed(Doc):
    """`open`, items with commas, `close`: calls, sets, records, binders."""

    open: str
    items: tuple[Doc, ...]
    close: str

    @property
    def flat(self) -> str:
        texts = [item.flat for item in self.items]
        return f"{self.open}{', '.join(texts)}{self.close}" if all(texts) else ""

    def tall(self, width: int) -> list[str]:
        if not self.items:
            return [f"{self.open}{self.close}"]
        hangs = len(self.open) <= 24
        column = len(self.open) if hangs else 4
        lines = [] if hangs else [self.open]
        for number, item in enumerate(self.items):
            box = shift(item.lines(width - column - 1), column)
            box[-1] += self.close if number == len(self.items) - 1 else ","
            lines += box
        if hangs:
            lines[0] = self.open + lines[0][column:]
        return lines


@dataclass(frozen=True, slots=True)
class Infix(Doc):
    """`left op right`; over several lines the operator begins the line of `right`."""

    left: Doc
    op: str
    right: Doc

    @property
    def flat(self) -> str:
        left, right = self.left.flat, self.right.flat
        return f"{left} {self.op} {right}" if left and right else ""

    def tall(self, width: int) -> list[str]:
        left = self.left.lines(width)
        together = f"{left[0]} {self.op} "
        if len(left) == 1 and len(together) <= width // 2:
            return place(together, self.right, width)
        return [*left, *place(f"  {self.op} ", self.right, width)]


@dataclass(frozen=True, slots=True)
class Indexed(Doc):
    """`f[key]` where `f` is any expression."""

    target: Doc
    key: Doc

    @property
    def flat(self) -> str:
        target, key = self.target.flat, self.key.flat
        return f"{target}[{key}]" if target and key else ""

    def tall(self, width: int) -> list[str]:
        lines = self.target.lines(width)
        key = self.key.lines(width - len(lines[-1]) - 2)
        column = len(lines[-1]) + 1
        lines[-1] += f"[{key[0]}"
        lines += [" " * column + line for line in key[1:]]
        lines[-1] += "]"
        return lines


@dataclass(frozen=True, slots=True)
class ListItem:
    """A member of a list: its text after a bullet, its text on one line with others, and a note
    printed as a comment."""

    loose: Doc
    tight: Doc
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bullets(Doc):
    """Items joined by `/\\` or `\\/`: on one line, or each after a bullet on its own line."""

    op: str
    items: tuple[ListItem, ...]

    @property
    def flat(self) -> str:
        texts = [item.tight.flat for item in self.items]
        noted = any(item.note for item in self.items)
        return f" {self.op} ".join(texts) if all(texts) and not noted else ""

    def tall(self, width: int) -> list[str]:
        lines: list[str] = []
        for item in self.items:
            box = place(f"{self.op} ", item.loose, width)
            if item.note:
                box[0] += f"  \\* {item.note}"
            lines += box
        return lines


@dataclass(frozen=True, slots=True)
class Choice(Doc):
    """`IF a THEN b ELSE c`; nested ones in the `ELSE` become `ELSE IF` in the same column."""

    condition: Doc
    then: Doc
    otherwise: Doc

    @property
    def flat(self) -> str:
        parts = self.condition.flat, self.then.flat, self.otherwise.flat
        return "IF {} THEN {} ELSE {}".format(*parts) if all(parts) else ""

    def tall(self, width: int) -> list[str]:
        lines: list[str] = []
        word, here = "IF ", self
        while True:
            lines += place(word, here.condition, width)
            lines += place("THEN ", here.then, width)
            if not isinstance(here.otherwise, Choice):
                return [*lines, *place("ELSE ", here.otherwise, width)]
            word, here = "ELSE IF ", here.otherwise


@dataclass(frozen=True, slots=True)
class Where(Doc):
    """`LET` definitions `IN` a body."""

    definitions: tuple[tuple[str, Doc], ...]
    body: Doc

    @property
    def flat(self) -> str:
        if len(self.definitions) > 1:
            return ""
        ((head, value),) = self.definitions
        parts = value.flat, self.body.flat
        return f"LET {head} == {parts[0]} IN {parts[1]}" if all(parts) else ""

    def tall(self, width: int) -> list[str]:
        lines: list[str] = []
        for head, value in self.definitions:
            lines += shift(place(f"{head} == ", value, width - 4), 4)
        lines[0] = "LET " + lines[0][4:]
        return [*lines, *place("IN  ", self.body, width)]


@dataclass(frozen=True, slots=True)
class Binding(Doc):
    """`\\A x \\in S : body` and the like; over several lines the body is indented by two."""

    head: Doc
    body: Doc

    @property
    def flat(self) -> str:
        head, body = self.head.flat, self.body.flat
        return f"{head} : {body}" if head and body else ""

    def tall(self, width: int) -> list[str]:
        lines = self.head.lines(width - 2)
        lines[-1] += " :"
        return [*lines, *shift(self.body.lines(width - 2), 2)]


@dataclass(frozen=True, slots=True)
class Noted(Doc):
    """Comment lines above a box."""

    notes: tuple[str, ...]
    inner: Doc

    @property
    def flat(self) -> str:
        return "" if self.notes else self.inner.flat

    def tall(self, width: int) -> list[str]:
        return [*(f"\\* {note}".rstrip() for note in self.notes), *self.inner.lines(width)]


def call(name: str, *args: Doc) -> Doc:
    """`name(args)`; without arguments only the name."""
    return Listed(f"{name}(", args, ")") if args else Text(name)


def parens(doc: Doc) -> Doc:
    """`(doc)`."""
    return Around("(", doc, ")")


@dataclass(frozen=True, slots=True)
class Remarked(Doc):
    """A box with a comment at the end of its first line."""

    inner: Doc
    note: str

    @property
    def flat(self) -> str:
        return ""

    def tall(self, width: int) -> list[str]:
        first, *rest = self.inner.lines(width)
        return [f"{first}  \\* {self.note}", *rest]


@dataclass(frozen=True, slots=True)
class Filled(Doc):
    """`open`, names with commas, `close`; each line is filled before the next begins."""

    open: str
    names: tuple[str, ...]
    close: str

    @property
    def flat(self) -> str:
        return f"{self.open}{', '.join(self.names)}{self.close}"

    def tall(self, width: int) -> list[str]:
        lines = [self.open + self.names[0]]
        for name in self.names[1:]:
            lines[-1] += ","
            if len(lines[-1]) + len(name) + 3 > width:
                lines.append(" " * len(self.open) + name)
            else:
                lines[-1] += f" {name}"
        lines[-1] += self.close
        return lines


class Broken(Doc):
    """Generated text that is broken at its outermost separators."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def flat(self) -> str:
        return self.text

    def tall(self, width: int) -> list[str]:
        for mark in (" /\\ ", " \\/ ", " => ", " \\cup ", " ELSE ", " THEN ", " [] "):
            head, *rest = split(self.text, mark)
            if rest:
                lines = Broken(head).lines(width)
                for part in rest:
                    lines += place(mark.lstrip(), Broken(part), width)
                return lines
        return self._group(width)

    def _group(self, width: int) -> list[str]:
        """Breaks inside the largest bracketed group, each of its parts on its own line."""
        start, end = largest(self.text)
        if end - start < 2:
            return [self.text]
        head, inner, close = self.text[: start + 1], self.text[start + 1 : end], self.text[end:]
        for mark in (", ", " |-> ", " : "):
            parts = split(inner, mark)
            if len(parts) > 1:
                behind = mark.rstrip() if mark == ", " else mark
                items = [Around("", Broken(p), behind) for p in parts[:-1]]
                last = Around("", Broken(parts[-1]), close)
                lines = place(head, items[0], width)
                column = min(len(head), 24)
                for item in (*items[1:], last):
                    lines += shift(item.lines(width - column), column)
                return [line.rstrip() for line in lines]
        return place(head, Around("", Broken(inner), close), width)


def split(text: str, mark: str) -> list[str]:
    """Splits `text` before each `mark` outside brackets; later parts start behind their `mark`."""
    found, depth, start = [], 0, 0
    for place_, letter in enumerate(text):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(letter, 0)
        if depth == 0 and text.startswith(mark, place_):
            found.append(text[start:place_])
            start = place_ + len(mark)
    return [*found, text[start:]]


def largest(text: str) -> tuple[int, int]:
    """The positions of the opening and closing bracket of the longest group; (0, 0) for none."""
    best, depth, start = (0, 0), 0, 0
    for place_, letter in enumerate(text):
        if letter in "([{":
            start = place_ if depth == 0 else start
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth == 0 and place_ - start > best[1] - best[0]:
                best = (start, place_)
    return best
