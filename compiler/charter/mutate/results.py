"""Verdicts on mutants, and their cache: what is known of a mutant in an instance is not searched
again, so that an interrupted run is resumed by the same command."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Literal, cast

from charter.cache.files import cache_folder, from_cache, to_cache
from charter.formats.canonical import Json
from charter.project.compiler_digest import compiler

Answer = Literal["caught", "availability", "unchanged", "survives", "undecided", "refused"]
MOST = 50_000
"""The most cached verdicts."""


@dataclass(frozen=True, slots=True)
class MutantVerdict:
    """What was found of a mutant. `by` is what catches it, in which instance ("" for a scenario)
    and after how many steps. `detail`: how it differs, or why nothing is known. `replies`: it
    survives, and differs in replies alone."""

    id: str
    answer: Answer
    by: str = ""
    instance: str = ""
    steps: int = 0
    detail: str = ""
    replies: bool = False


def recall(key: str) -> MutantVerdict | None:
    """The cached verdict for what it depends on."""
    found = load(key)
    return None if found is None else MutantVerdict(**cast("dict[str, str]", found))  # type: ignore[arg-type]


def remember(key: str, verdict: MutantVerdict) -> None:
    """Caches a verdict."""
    store(key, asdict(verdict))


def load(key: str) -> dict[str, Json] | None:
    """A cached object."""
    data = from_cache(cache_folder("mutants") / _name(key))
    return None if data is None else cast("dict[str, Json]", json.loads(data))


def store(key: str, value: dict[str, Json]) -> None:
    """Caches an object."""
    to_cache(cache_folder("mutants") / _name(key), json.dumps(value).encode(), MOST)


def _name(key: str) -> str:
    return f"{sha256(f'{compiler()} {key}'.encode()).hexdigest()}.json"
