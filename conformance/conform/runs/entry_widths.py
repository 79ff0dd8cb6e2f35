"""Counts how much each overlay entry allows in the steps that it explains, and finds the entries
that also allow what the charter says there: they call a difference known without denying anything.
Only an entry of the class `charter_gap` may."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

from charter.formats.canonical import Json
from charter.formats.charter_files.obligations import UNREADABLE, whole_sections
from charter.formats.reading import mapping, texts
from conform.console.terminal import plural
from conform.judging.candidates import EntryWidth
from conform.judging.model import sections_of

_MAY_ALLOW_BOTH = "charter_gap"


@dataclass(frozen=True, slots=True)
class StepsOfEntry:
    """The steps that an entry explains: how many, the most outcomes that it adds to the charter's
    in one, in how many it still allows all that the charter allows, and the first of these: vector
    and step."""

    steps: int = 0
    added: int = 0
    both: int = 0
    vector: str = ""
    step: int = 0

    def join(self, other: StepsOfEntry) -> StepsOfEntry:
        places = [(one.vector, one.step) for one in (self, other) if one.both]
        both = self.both + other.both
        added = max(self.added, other.added)
        return StepsOfEntry(self.steps + other.steps, added, both, *min(places, default=("", 0)))

    def json(self) -> dict[str, Json]:
        return asdict(self)


@dataclass(slots=True)
class EntrySteps:
    """The steps that overlay entries explain, by entry."""

    found: dict[str, StepsOfEntry] = field(default_factory=dict)

    def add(self, vector: str, widths: Iterable[EntryWidth]) -> None:
        """Count the steps of a vector."""
        for one in widths:
            place = (1, vector, one.step) if one.keeps else (0, "", 0)
            self._join(one.entry, StepsOfEntry(1, one.added, *place))

    def join(self, table: Json) -> None:
        """Add what `json` gave for a bucket."""
        for entry, steps in entry_steps(table).items():
            self._join(entry, steps)

    def _join(self, entry: str, steps: StepsOfEntry) -> None:
        self.found[entry] = self.found.get(entry, StepsOfEntry()).join(steps)

    def json(self) -> dict[str, Json]:
        return {entry: steps.json() for entry, steps in sorted(self.found.items())}


def entry_steps(table: Json) -> dict[str, StepsOfEntry]:
    """What a bucket or summary.json says of entries; earlier versions say nothing."""
    return {entry: _steps(row) for entry, row in mapping(table).items() if isinstance(row, dict)}


def _steps(row: Mapping[str, Json]) -> StepsOfEntry:
    def number(name: str) -> int:
        value = row.get(name, 0)
        return value if isinstance(value, int) else 0

    vector = str(row.get("vector", ""))
    return StepsOfEntry(number("steps"), number("added"), number("both"), vector, number("step"))


def allowing_both(found: EntrySteps, charter: str, overlay: str) -> tuple[str, ...]:
    """The entries that also allow what the charter says where they explain what was seen, though
    their class is none that may; `charter` is the module of its model."""
    gaps = _gaps(charter, overlay)
    return tuple(name for name, one in sorted(found.found.items()) if one.both and name not in gaps)


def _gaps(charter: str, overlay: str) -> set[str]:
    """The entries of the class that may allow both, by the sections.json of a charter."""
    path = sections_of(charter)
    try:
        value = whole_sections(path) if path else None
    except UNREADABLE:
        return set()
    rows = value.get("entries") if isinstance(value, dict) else None
    held = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return {
        str(row.get("name"))
        for row in held
        if row.get("overlay") == overlay and row.get("class") == _MAY_ALLOW_BOTH
    }


def adds_told(steps: StepsOfEntry) -> str:
    """How many outcomes an entry adds in a step that it explains."""
    most = plural(steps.added, "outcome")
    return f"adds {most if steps.steps == 1 else f'up to {most}'} to those of the charter in a step"


def both_told(summary: Mapping[str, Json]) -> tuple[str, ...]:
    """A warning for each entry that allows both, by a summary.json."""
    known, listed = entry_steps(summary.get("entry_steps")), summary.get("entries_allowing_both")
    return tuple(_both_told(name, known.get(name, StepsOfEntry())) for name in texts(listed))


def _both_told(entry: str, steps: StepsOfEntry) -> str:
    return (
        f"the overlay entry {entry} also allows all that the charter allows, in {steps.both} of the"
        f" {steps.steps} steps that it explains, such as step {steps.step} of {steps.vector[:12]}:"
        " it should say when the target differs, and allow only that there"
    )
