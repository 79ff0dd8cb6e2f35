"""What a text says of declarations that cannot be parsed: where the next one begins, and which
names they would have declared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from charter.diagnostics import Source, Span
from charter.formats.spelling import nearest
from charter.syntax.mistakes.frequent_mistakes import DECLARING

WITH_MEMBERS: Final = frozenset({"enum", "record", "union", "component", "system", "overlay"})
"""Declarations whose members have names that others use."""
SINGLE: Final = frozenset({"scenario", "instance", "mutant"})
"""Declarations of which each is about something of its own: what a mistyped keyword was meant to be
is asked for these alone."""
NO_CODE: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"|--[^\n]*')
STATEMENTS: Final = (
    "let", "do", "never", "expect", "step", "include", "start", "offers", "only", "misses", "fails",
    "like", "cites", "replace", "drop", "add", "caught", "and", "or", "not", "implies",
)  # fmt: skip
"""What other lines at the margin may begin with."""
NEXT: Final = re.compile(rf"^(?:{'|'.join(sorted(DECLARING))})[ \t]+[\"A-Za-z_]", re.MULTILINE)
LIKE_ONE: Final = re.compile(
    rf"^(?!(?:{'|'.join(STATEMENTS)})\b)[A-Za-z_]\w*[ \t]+[\"A-Za-z_]", re.MULTILINE
)
"""A line at the margin that may have been meant as the head of a declaration."""
HEAD: Final = re.compile(
    r'([a-z]+)\b(?:\s+(?:counter\s+)?(?:([A-Za-z_]\w*)|"((?:[^"\\\n]|\\.)*)"))?'
)
WORD: Final = re.compile(r"[A-Za-z_]\w*")
BLANKED: Final = re.compile(r"[^\n]")
BEHIND: Final = re.compile(r"[ \t]*--[^\n]*")


def next_declaration(text: str, start: int) -> int:
    """Where the first declaration at the margin begins, at `start` or behind it; else the end."""
    found = NEXT.search(text, start)
    return found.start() if found else len(text)


def without_comments_behind(text: str, start: int, end: int) -> int:
    """The end of a passage without the blank lines and the comments that end it: these are about
    what follows."""
    lines = text[start:end].split("\n")
    while len(lines) > 1 and lines[-1].strip()[:2] in ("", "--"):
        lines.pop()
    return start + len("\n".join(lines).rstrip())


def may_begin_one(text: str, start: int) -> bool:
    """Whether a line begins at `start` that may have been meant as the head of a declaration."""
    return LIKE_ONE.match(text, start) is not None


def head_of(span: Span) -> tuple[str, str]:
    """The keyword of a declaration that cannot be parsed, and its name, or the title of a scenario;
    "" for what cannot be read, and no keyword if the span may hold more than one declaration."""
    text = span.source.text[span.start : span.end]
    found = HEAD.match(text)
    if found is None or not _is_one(text):
        return "", ""
    keyword = found[1] if found[1] in DECLARING else nearest(found[1], sorted(DECLARING), 0.75)
    if keyword != found[1] and keyword not in SINGLE:
        return "", ""
    if keyword == "scenario":
        return "scenario", re.sub(r"\\(.)", r"\1", found[3] or "")
    return keyword, found[2] or ""


def _is_one(text: str) -> bool:
    """Whether a text that begins with a declaration holds no other one: no line inside of it may
    have been meant as a head, or each that may stands between its braces, which are closed."""
    code = NO_CODE.sub(lambda found: "x" * len(found[0]), text)
    others = [found.start() for found in LIKE_ONE.finditer(text, 1)]
    depths = [code.count("{", 0, end) - code.count("}", 0, end) for end in (*others, len(code))]
    return not others or (all(depth > 0 for depth in depths[:-1]) and depths[-1] == 0)


def find_lost_names(spans: Iterable[Span]) -> frozenset[str]:
    """The names that declarations which cannot be parsed may have declared."""
    found: set[str] = set()
    for span in spans:
        keyword, name = head_of(span)
        if keyword in WITH_MEMBERS or not keyword:
            found |= {*WORD.findall(span.source.text[span.start : span.end])}
        else:
            found.add(name)
    return frozenset(found - {""})


def blank_out(source: Source, spans: Iterable[Span]) -> Source:
    """A text with blanks instead of spans and of their comments: else these would be taken for
    comments of what follows."""
    text = source.text
    for span in spans:
        if span.source == source:
            start, end = _first(source, span.start), span.end
            comment = BEHIND.match(text, end)
            end = comment.end() if comment else end
            text = text[:start] + BLANKED.sub(" ", text[start:end]) + text[end:]
    return Source(source.name, text)


def _first(source: Source, start: int) -> int:
    """The start of the comments in the lines above `start`, else `start`."""
    line, column = source.position(start)
    if source.line(line)[: column - 1].strip():
        return start
    while line > 1 and source.line(line - 1).strip()[:2] in ("", "--"):
        line -= 1
    return source.line_starts[line - 1]
