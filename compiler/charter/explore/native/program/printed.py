"""Stores metadata of generated IR, so that a cache hit needs no text. To print the IR takes longer
than many searches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path

from charter.cache.files import MOST, from_cache, to_cache
from charter.core import encoding
from charter.core import nodes as n
from charter.project.compiler_digest import compiler
from charter.semantics.machine import Machine

MOST_FILES = 2 * MOST
"""The most files in a cache of programs: object code, and what is known of its IR."""


@dataclass(frozen=True, slots=True)
class Printed:
    """Metadata of an IR text: SHA-256 in hexadecimal, length, and the number of words for the
    conditions in guards (`MachineContext.trail`), which depends on lowered core."""

    digest: str
    length: int
    trail: int

    @staticmethod
    def of(text: str, trail: int) -> Printed:
        """What is kept of a text."""
        return Printed(sha256(text.encode()).hexdigest(), len(text), trail)

    @staticmethod
    def read(place: Path) -> Printed | None:
        """What the cache has in a place; None if it has nothing, or it is damaged."""
        found = from_cache(place)
        return None if found is None else Printed(**json.loads(found))

    def keep(self, place: Path) -> None:
        """Store it, beside the object code."""
        to_cache(place, json.dumps(asdict(self)).encode(), MOST_FILES)


def place_of(
    cache: Path, machine: Machine, predicates: Sequence[n.Property] | None, choices: object
) -> Path:
    """The file of what is known of a machine's IR: named by this compiler, by core without spans
    and comments, and by all that was chosen. The model of the machine has been narrowed."""
    asked, of, instance = predicates or (), machine.model, machine.instance
    # Which counters are compared depends on the conditions of all instances (`CounterUses`).
    conditions = dict.fromkeys(other.only for other in of.instances)
    instances = (instance, *(replace(instance, starts=(), only=only) for only in conditions))
    whole = replace(of, instances=instances, properties=(*of.properties, *asked))
    number = None if predicates is None else len(predicates)
    parts = compiler(), encoding.digest(whole), number, choices
    return cache / f"{sha256(repr(parts).encode()).hexdigest()}.json"
