"""Reads what a person has written about a finding, for those who can mend it
(docs/formats/finding.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from charter.formats.files import read_toml
from charter.formats.project import Project
from charter.formats.spelling import suggest

COSTS: Mapping[str, str] = {
    "loses_records": "loses acknowledged records",
    "no_leader": "leaves a partition without a leader",
    "controller_fails_over": "makes the controller fail over",
    "loses_redundancy": "loses redundancy",
    "wrong_answer": "gives a wrong answer",
    "cosmetic": "is cosmetic",
}
"""What a finding costs, in words; the gravest first."""
_NO_RANGE = '\'releases\' is no pair of a first and a last release, as in ["4.3.0", ""]'
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_REQUIRED_KEYS = ("target", "title", "cost", "often", "says", "path", "fix")
_OPTIONAL_KEYS = ("log", "cluster", "on_purpose", "hides", "unseen")
_TABLES: Mapping[str, tuple[str, ...]] = {
    "where": ("class", "method", "note"),
    "texts": ("source", "section", "quote"),
    "threads": ("key", "says"),
}
_KEYS = (*_REQUIRED_KEYS, *_OPTIONAL_KEYS, *_TABLES, "causes", "differs", "releases", "searched")


class BadFinding(Exception):
    """A file about a finding is wrong; the text is one sentence with the file and the remedy."""


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A place in the implementation's source: class, method, and what is wrong there."""

    type: str
    method: str
    note: str


@dataclass(frozen=True, slots=True)
class Quotation:
    """A short quotation from a section of a text."""

    source: str
    section: str
    quote: str


@dataclass(frozen=True, slots=True)
class PublicThread:
    """A public thread that knows a finding, or something near: its key, and what it says."""

    key: str
    says: str


@dataclass(frozen=True, slots=True)
class ReviewedFinding:
    """What a person has written about the finding with the entry `name` in the overlay of `target`.

    `path` is the title of the vector that leads to it, `causes` are the numbers of its operations
    without which it does not happen. `says` is the sentence with which its test fails.
    `differs` are the places that count after the last operation, if others differ on purpose.
    `releases` are the first and the last on which an operator meets it, if the entry has others.
    `cluster` says whether a whole cluster gets there, and how that was seen.
    `searched` are the words and the date of the search for threads.
    """

    name: str
    target: str
    title: str
    cost: str
    often: str
    says: str
    path: str
    fix: str
    where: tuple[SourcePlace, ...]
    texts: tuple[Quotation, ...]
    threads: tuple[PublicThread, ...]
    causes: tuple[int, ...]
    searched: tuple[str, str]
    log: str = ""
    cluster: str = ""
    on_purpose: str = ""
    hides: str = ""
    unseen: str = ""
    differs: tuple[str, ...] = ()
    releases: tuple[str, str] | None = None

    def bound_releases(self, first: str, last: str) -> tuple[str, str]:
        """The first and the last release that show it ("": no bound), by those of its entry."""
        return self.releases or (first, last)

    @property
    def gravity(self) -> int:
        """A number to sort by: 0 is the gravest."""
        return [*COSTS].index(self.cost)

    @property
    def costs(self) -> str:
        """What it costs, in words."""
        return COSTS[self.cost]


Reviewed = Mapping[str, Mapping[str, ReviewedFinding]]
"""What is written about findings, by target and name."""


def read_all_reviewed(project: Project | None) -> Reviewed:
    """What is written about the findings of a project's targets. Raises `BadFinding`."""
    found: dict[str, dict[str, ReviewedFinding]] = {}
    for path in sorted(project.findings.glob("*.toml")) if project else ():
        one = read_reviewed(path)
        found.setdefault(one.target, {})[one.name] = one
    return found


def read_reviewed(path: Path) -> ReviewedFinding:
    """What one file says, whose name is that of the entry. Raises `BadFinding`."""
    content = read_toml(path, BadFinding)
    try:
        return _finding(path.stem, content)
    except ValueError as error:
        raise BadFinding(f"{path}: {error}; `conform help finding` has the format") from None


def _finding(name: str, content: Mapping[str, object]) -> ReviewedFinding:
    for key in content:
        if key not in _KEYS:
            like = suggest(key, _KEYS)
            raise ValueError(f"the key {key!r} is not known{like and f'; {like}'}")
    needed = {key: _text(content, key) for key in _REQUIRED_KEYS}
    if needed["cost"] not in COSTS:
        raise ValueError(f"'cost' is {needed['cost']!r}, and not one of {', '.join(COSTS)}")
    where, texts, threads = (_rows(content, key) for key in _TABLES)
    if not where or not texts:
        raise ValueError("there is no [[where]], or no [[texts]]; write at least one of each")
    return ReviewedFinding(
        name=name,
        **needed,
        **{key: _text(content, key) for key in _OPTIONAL_KEYS if key in content},
        where=tuple(SourcePlace(*row) for row in where),
        texts=tuple(Quotation(*row) for row in texts),
        threads=tuple(PublicThread(*row) for row in threads),
        causes=_read_causes(content.get("causes")),
        searched=_read_search(content.get("searched")),
        differs=_read_differs(content.get("differs", [])),
        releases=_read_releases(content["releases"]) if "releases" in content else None,
    )


def _text(content: Mapping[str, object], key: str) -> str:
    value = content.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{key!r} is missing, or no text")
    return value.strip()


def _rows(content: Mapping[str, object], key: str) -> list[tuple[str, ...]]:
    """The rows of a list of tables, with their texts in order; the last may be missing."""
    names, held = _TABLES[key], content.get(key, [])
    if not isinstance(held, list) or not all(isinstance(row, Mapping) for row in held):
        raise ValueError(f"{key!r} is no list of tables; begin each of them with [[{key}]]")
    for row in held:
        for name in row:
            if name not in names:
                like = suggest(str(name), names)
                raise ValueError(f"a [[{key}]] has the unknown key {name!r}{like and f'; {like}'}")
    return [tuple(_text(row, name) for name in names) for row in held]


def _read_causes(value: object) -> tuple[int, ...]:
    held = value if isinstance(value, list) else []
    if not held or not all(type(one) is int and one > 0 for one in held):
        raise ValueError(
            "'causes' is no list of numbers of operations, as in [8]: the path without them must"
            " not show the finding"
        )
    return tuple(sorted(set(held)))


def _read_differs(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise ValueError("'differs' is no list of places, as in [\"partition.t1.leader\"]")
    return tuple(value)


def _read_releases(value: object) -> tuple[str, str]:
    if not isinstance(value, list) or len(value) != 2 or not any(value):
        raise ValueError(_NO_RANGE)
    first, last = value
    if not isinstance(first, str) or not isinstance(last, str):
        raise ValueError(_NO_RANGE)
    return first, last


def _read_search(value: object) -> tuple[str, str]:
    held = value if isinstance(value, Mapping) else {}
    words, day = held.get("words"), held.get("date")
    if not isinstance(words, str) or not words.strip() or set(held) != {"words", "date"}:
        raise ValueError(
            "'searched' lacks the words or the date of the search for public threads, as in"
            ' searched = { words = "ClearElrRecord index", date = "2026-11-29" }'
        )
    if not isinstance(day, str) or not _is_date(day):
        raise ValueError(f"the date of 'searched' is {day!r}, and not such as \"2026-11-29\"")
    return words.strip(), day


def _is_date(text: str) -> bool:
    """Whether a text is a day of the calendar, as in "2026-11-29"."""
    try:
        return bool(_DATE.fullmatch(text) and date.fromisoformat(text))
    except ValueError:
        return False
