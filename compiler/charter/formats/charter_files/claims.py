"""Reads the claims of a protocol's texts, with what its charter says of each: a file that is
written by hand (docs/guide/claims.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from charter.formats.files import beside_charter, read_toml

FILE = "claims.toml"

Verdict = Literal["confirmed", "refuted", "contradictory", "open", "out of reach"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
TEXTS = ("id", "says", "verdict", "variant", "why", "command")
LISTS = ("cites", "by", "scenarios")


class BadClaims(Exception):
    """A file of claims is wrong; the text is one sentence with the file and the remedy."""


@dataclass(frozen=True, slots=True)
class TextClaim:
    """A claim of the texts that are cited. `by` are properties, witnesses and mutants, `scenarios`
    titles; they hold in the charter with a `variant` ("": without). `command` is what shows the
    claim where no property says it, `why` says the rest."""

    id: str
    says: str
    verdict: Verdict
    cites: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    variant: str = ""
    why: str = ""
    command: str = ""


@dataclass(frozen=True, slots=True)
class ClaimSection:
    """Claims below one title."""

    title: str
    claims: tuple[TextClaim, ...]


def claims_file(charter: Path) -> Path:
    """The file of the claims of a charter: in its folder, or beside its file."""
    return beside_charter(charter, FILE)


def read_claims(path: Path) -> tuple[ClaimSection, ...]:
    """The claims in a file; none if there is no file. Raises `BadClaims`."""
    if not path.exists():
        return ()
    content = read_toml(path, BadClaims)
    rows = content.pop("section", [])
    if content or not isinstance(rows, list):
        raise BadClaims(f"{path}: only entries [[section]] with [[section.claim]] are known here")
    sections = tuple(_section(path, row) for row in rows)
    ids = [claim.id for section in sections for claim in section.claims]
    for name in ids:
        if ids.count(name) > 1:
            raise BadClaims(f"{path}: the claim {name} is there twice; give one another id")
    return sections


def _section(path: Path, row: object) -> ClaimSection:
    if not isinstance(row, Mapping) or not set(row) <= {"title", "claim"}:
        raise BadClaims(f"{path}: a [[section]] has a title, and entries [[section.claim]]")
    title, claims = row.get("title"), row.get("claim", [])
    if not isinstance(title, str) or not isinstance(claims, list):
        raise BadClaims(f"{path}: a [[section]] has a title, and entries [[section.claim]]")
    return ClaimSection(title, tuple(_claim(path, claim) for claim in claims))


def _claim(path: Path, row: object) -> TextClaim:
    if not isinstance(row, Mapping) or not isinstance(row.get("id"), str):
        raise BadClaims(f"{path}: a [[section.claim]] has no id")
    name = row["id"]
    for key in row:
        if key not in (*TEXTS, *LISTS):
            known = ", ".join((*TEXTS, *LISTS))
            raise BadClaims(f"{path}: the claim {name} has {key!r}; known are {known}")
    texts = {key: _text(path, name, key, row.get(key, "")) for key in TEXTS}
    lists = {key: _texts(path, name, key, row.get(key, [])) for key in LISTS}
    verdict = next((one for one in VERDICTS if one == texts["verdict"]), None)
    if verdict is None:
        raise BadClaims(f"{path}: the verdict of {name} is one of {', '.join(VERDICTS)}")
    return TextClaim(
        name,
        texts["says"],
        verdict,
        lists["cites"],
        lists["by"],
        lists["scenarios"],
        texts["variant"],
        texts["why"],
        texts["command"],
    )


def _text(path: Path, name: str, key: str, value: object) -> str:
    if not isinstance(value, str):
        raise BadClaims(f"{path}: {key} of the claim {name} is a text")
    return value


def _texts(path: Path, name: str, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise BadClaims(f"{path}: {key} of the claim {name} is a list of texts")
    return tuple(value)
