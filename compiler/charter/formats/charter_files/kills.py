"""Lists which vectors of a small suite distinguish each mutant from the charter: kills.json next to
its lines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from charter.formats.canonical import Json
from charter.formats.files import regular
from charter.formats.reading import BadVector, JsonReader

KILLS = "kills.json"


@dataclass(frozen=True, slots=True)
class KillingVector:
    """A vector that tells a mutant from the charter, and what it was made for."""

    vector: str
    source: str

    def json(self) -> dict[str, Json]:
        return {"vector": self.vector, "source": self.source}


@dataclass(frozen=True, slots=True)
class MutantKills:
    """The vectors that tell a mutant from the charter in each of its runs, and in some of them."""

    killed: bool
    killed_in_some_runs: bool
    surely: tuple[KillingVector, ...]
    in_some_runs: tuple[KillingVector, ...]

    def json(self) -> dict[str, Json]:
        return {
            "killed": self.killed,
            "killed_in_some_runs": self.killed_in_some_runs,
            "surely": [one.json() for one in self.surely],
            "in_some_runs": [one.json() for one in self.in_some_runs],
        }


def read_kills(folder: Path) -> dict[str, MutantKills]:
    """The kills of a suite by mutant; empty if there is no such file. Raises `BadVector`."""
    place = folder / KILLS
    if not place.exists():
        return {}
    try:
        raw: Json = json.loads(regular(place).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise BadVector(f"{place} cannot be read ({error}); generate it again") from None
    return {name: _kills(one) for name, one in JsonReader(raw, str(place)).entries()}


def _kills(one: JsonReader) -> MutantKills:
    one.fields("killed", "killed_in_some_runs", "surely", "in_some_runs")
    return MutantKills(
        one.value("killed") is True,
        one.value("killed_in_some_runs") is True,
        _vectors(one.item("surely")),
        _vectors(one.item("in_some_runs")),
    )


def _vectors(listed: JsonReader) -> tuple[KillingVector, ...]:
    return tuple(KillingVector(one.text("vector"), one.text("source")) for one in listed.items())
