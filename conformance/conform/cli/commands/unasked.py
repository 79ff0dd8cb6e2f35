"""Tells what a small suite asks for only in a given state, of which an adapter without `load` is
not asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from charter.formats.canonical import Json
from charter.formats.suite import LINES, Manifest, read_lines
from conform.console.terminal import plural

KILLS = "kills.json"
_SHOWN = 3


def unasked(folder: Path, manifest: Manifest) -> str:
    """How many obligations, and which mutants, have only vectors that start in a given state; "" if
    none has. Of an obligation that many vectors meet, a suite names the shortest."""
    given: dict[str, bool] = {}
    alone: dict[str, bool] = {}
    for vector in read_lines(folder / LINES):
        given[vector.id] = vector.question.given is not None
        for name in vector.why.obligations:
            alone[name] = alone.get(name, True) and given[vector.id]
    left = sorted(name for name, only in alone.items() if only)
    mutants = [
        name
        for name, kill in _kills(folder).items()
        if (killed := [str(one["vector"]) for one in kill["surely"]])
        and all(given.get(vector, False) for vector in killed)
    ]
    if not left and not mutants:
        return ""
    covered = manifest.counts["obligations_covered"]
    told = [f"{len(left)} of {covered} covered obligations ({_few(left)})"] if left else []
    told += [f"{plural(len(mutants), 'mutant')} ({_few(mutants)})"] if mutants else []
    return (
        f"{' and '.join(told)}: all vectors that the suite names for them start in a given state,"
        " and were not asked; claim `load` in the adapter, or write scenarios that get there"
    )


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def _kills(folder: Path) -> dict[str, dict[str, list[dict[str, Json]]]]:
    """The content of kills.json; empty if there is none."""
    place = folder / KILLS
    if not place.exists():
        return {}
    found: Json = json.loads(place.read_text(encoding="utf-8"))
    return cast("dict[str, dict[str, list[dict[str, Json]]]]", found)
