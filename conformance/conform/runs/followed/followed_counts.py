"""Counts the questions of a suite that went on, for a target that hides state, and what became of
each hidden variable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from charter.formats.canonical import Json
from charter.formats.reading import mapping, own_list, own_number, own_object, texts
from charter.formats.verdict import JUDGED, Kind
from conform.storage.tables import WALKS, DatasetRows
from conform.walks.hidden_state import BOUNDS, HiddenEffect


@dataclass(slots=True)
class FollowedCounts:
    """The questions that went on, by verdict; for each hidden variable the branches whose effect on
    it shows later (`shown`), and those after which the search found nothing that would show a wrong
    value (`unshown`, perhaps shown elsewhere). `bounds` says in words how far it looked. `rows` are
    the questions of a bucket."""

    verdicts: Counter[str] = field(default_factory=Counter)
    shown: dict[str, set[str]] = field(default_factory=dict)
    unshown: dict[str, set[str]] = field(default_factory=dict)
    bounds: str = BOUNDS
    rows: DatasetRows = field(default_factory=lambda: DatasetRows(WALKS))

    def note(self, effect: HiddenEffect) -> None:
        """Note what a search after a question found."""
        for name in effect.shown:
            self.shown.setdefault(name, set()).add(effect.branch)
        for name in effect.unshown:
            self.unshown.setdefault(name, set()).add(effect.branch)

    def join(self, value: Json) -> None:
        """Add what the commit file of a bucket says."""
        held = mapping(value)
        counted = mapping(held.get("verdicts"))
        self.verdicts.update({kind: own_number(count) for kind, count in counted.items()})
        self.bounds = str(held.get("bounds", self.bounds))
        for row in map(own_object, own_list(held.get("variables", []))):
            for known, key in ((self.shown, "shown"), (self.unshown, "not_shown")):
                known.setdefault(str(row["variable"]), set()).update(texts(row[key]))

    def tell_unjudged(self) -> str:
        """That questions that go on were not judged, by kind; "" if all were. What a target does
        not support is named by the vectors of the suite."""
        fine = {*JUDGED, Kind.UNSUPPORTED}
        lost = {kind: n for kind, n in sorted(self.verdicts.items()) if n and kind not in fine}
        listed = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in lost.items())
        return f"of the questions that go on some were not judged: {listed}" if lost else ""

    def json(self, hidden: Sequence[str] = ()) -> dict[str, Json]:
        """As a commit file and summary.json have them; `hidden` are named in any case."""
        names = sorted({*hidden, *self.shown, *self.unshown})
        return {
            "verdicts": dict(sorted(self.verdicts.items())),
            "variables": [self._row(name) for name in names],
            "bounds": self.bounds,
        }

    def _row(self, name: str) -> dict[str, Json]:
        shown = self.shown.get(name, set())
        left = self.unshown.get(name, set()) - shown
        return {"variable": name, "shown": [*sorted(shown)], "not_shown": [*sorted(left)]}


@dataclass(frozen=True, slots=True)
class HiddenVariable:
    """A variable that a target does not show: the branches whose effect on it shows later, and
    those of which nothing was found that shows it."""

    name: str
    shown: tuple[str, ...]
    not_shown: tuple[str, ...]


def read_hidden(summary: Mapping[str, Json]) -> tuple[tuple[HiddenVariable, ...], str]:
    """What summary.json says of hidden variables, and the bounds of the search."""
    held = mapping(summary.get("hidden"))
    rows = map(own_object, own_list(held.get("variables", [])))
    found = tuple(
        HiddenVariable(str(row["variable"]), texts(row["shown"]), texts(row["not_shown"]))
        for row in rows
    )
    return found, str(held.get("bounds", ""))
