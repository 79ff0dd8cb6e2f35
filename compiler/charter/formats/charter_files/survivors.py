"""Reads the reviewed survivors of a charter: mutants that no property refuses, each with a reason
(docs/guide/mutate.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from charter.formats.files import beside_charter, read_toml, toml_string, write_whole

FILE = "survivors.toml"
KEYS = ("id", "reason", "cites")
SILENT = "silent"
"""What is cited where no text says anything."""
HEAD = """\
# Mutants that survive, reviewed: `reason` says why no property has to refuse it, `cites` which text
# leaves it open (silent: none says anything). `conform mutate --update` adds and removes entries.
"""


class BadSurvivors(Exception):
    """A file of survivors is wrong; the text is one sentence with the file and the remedy."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that survives, by its id, why, and the text that leaves it open."""

    id: str
    reason: str = ""
    cites: str = ""

    def is_reviewed(self, sources: Collection[str]) -> bool:
        """Whether it has a reason in words, and cites one of these sources of the charter, or
        `silent`."""
        cited = self.cites.split()[:1]
        return any(map(str.isalnum, self.reason)) and bool({*cited} & {*sources, SILENT})


def survivors_file(charter: Path) -> Path:
    """The file of the survivors of a charter: in its folder, or beside its file."""
    return beside_charter(charter, FILE)


def read_survivors(path: Path) -> tuple[Survivor, ...]:
    """The reviewed survivors; none if there is no file. Raises `BadSurvivors`."""
    if not path.exists():
        return ()
    content = read_toml(path, BadSurvivors)
    rows = content.pop("survivor", [])
    if content or not isinstance(rows, list):
        raise BadSurvivors(f"{path}: only entries [[survivor]] are known here")
    found = tuple(_survivor(path, row) for row in rows)
    ids = [one.id for one in found]
    for name in ids:
        if ids.count(name) > 1:
            raise BadSurvivors(f"{path}: {name} is listed twice; remove one entry")
    return found


def _survivor(path: Path, row: object) -> Survivor:
    if not isinstance(row, Mapping) or not all(isinstance(value, str) for value in row.values()):
        raise BadSurvivors(f"{path}: an entry [[survivor]] has the texts {', '.join(KEYS)}")
    unknown = [key for key in row if key not in KEYS]
    if unknown or "id" not in row:
        wrong = f"the key {unknown[0]!r} is not known" if unknown else "an entry has no id"
        raise BadSurvivors(f"{path}: {wrong}; an entry has {', '.join(KEYS)}")
    return Survivor(**row)


def write_survivors(path: Path, survivors: Iterable[Survivor]) -> None:
    """Writes a file of survivors: wholly, or not at all. Raises `BadSurvivors`."""
    write_whole(path, survivors_text(survivors), BadSurvivors)


def survivors_text(survivors: Iterable[Survivor]) -> str:
    """The content of a file of survivors."""
    entries = (
        f"\n[[survivor]]\nid = {toml_string(one.id)}\nreason = {toml_string(one.reason)}\n"
        f"cites = {toml_string(one.cites)}\n"
        for one in survivors
    )
    return HEAD + "".join(entries)
