"""Counts the walks of a bucket and of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from charter.formats.canonical import Json
from charter.formats.reading import mapping, own_number
from charter.formats.verdict import JUDGED, Kind
from conform.console.terminal import plural
from conform.storage.tables import WALKS, DatasetRows

OF_WALKS, OF_FOLLOWED, OF_REMEMBERED = "walks", "followed", "remembered"
OF_CROSSCHECKS = "crosschecks"
"""What the summary of a bucket has that is not of the suite."""
_NUMBERS = ("walks", "steps", "performed", "varying", "shortened", "astray", "kept", "cut",
            "not_kept")  # fmt: skip


@dataclass(slots=True)
class WalkCounts:
    """How many walks were judged, with how many `steps`. The adapter `performed` more of them if
    the questions grew. `varying` answered an earlier step otherwise in a longer question,
    `shortened` ended early, since the charter leaves too much open. `astray` did not come through
    the prelude of their instance. `kept` are whole, the time
    `cut` so many blocks. An earlier run had `not_kept` so many, which were not judged again. `rows`
    are the rows of a bucket. Remembered questions are counted alike (`of`)."""

    of: str = OF_WALKS
    counts: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    rows: DatasetRows = field(default_factory=lambda: DatasetRows(WALKS))

    def join(self, value: Json) -> None:
        """Add what the commit file of a bucket says."""
        held = value if isinstance(value, dict) else {}
        self.counts.update({name: own_number(held.get(name, 0)) for name in _NUMBERS})
        verdicts = held.get("verdicts")
        if isinstance(verdicts, Mapping):
            self.verdicts.update({name: own_number(count) for name, count in verdicts.items()})

    def tell_unjudged(self) -> str:
        """That some were not judged, by kind; "" if all were. A remembered question may ask for
        what the adapter does not claim any more."""
        walks = self.of == OF_WALKS
        fine = {*JUDGED} if walks else {*JUDGED, Kind.UNSUPPORTED}
        lost = {kind: n for kind, n in sorted(self.verdicts.items()) if n and kind not in fine}
        if not lost:
            return ""
        listed = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in lost.items())
        count, noun = sum(lost.values()), "walk" if walks else "remembered question"
        return f"{count} {noun}{' was' if count == 1 else 's were'} not judged: {listed}"

    def json(self) -> dict[str, Json]:
        """As a commit file and summary.json have them."""
        counted: dict[str, Json] = {name: self.counts[name] for name in _NUMBERS}
        return {**counted, "verdicts": dict(sorted(self.verdicts.items()))}


def is_of_suite(bucket: Mapping[str, Json]) -> bool:
    """Whether the summary of a bucket counts vectors of the suite."""
    return not bucket.keys() & {OF_WALKS, OF_FOLLOWED, OF_REMEMBERED, OF_CROSSCHECKS}


def count_remembered(summary: Mapping[str, Json]) -> int:
    """How many remembered questions a run judged."""
    verdicts = mapping(mapping(summary.get(OF_REMEMBERED)).get("verdicts"))
    return sum(own_number(verdicts.get(kind, 0)) for kind in JUDGED)


def count_going_on(summary: Mapping[str, Json]) -> int:
    """How many questions that go on a run judged."""
    verdicts = mapping(mapping(summary.get("hidden")).get("verdicts"))
    return sum(own_number(verdicts.get(kind, 0)) for kind in JUDGED)


def tell_going_on(count: int) -> str:
    """So many questions that go on, in words; "" for none."""
    goes = "question that goes on" if count == 1 else "questions that go on"
    return f"{count:,} {goes}" if count else ""


def tell_besides(summary: Mapping[str, Json]) -> str:
    """How many walks, remembered questions and questions that go on a run judged besides its suite;
    "" for none."""
    counts = (
        (own_number(mapping(summary.get(OF_WALKS)).get("walks", 0)), "walk"),
        (count_remembered(summary), "remembered question"),
    )
    some = [plural(count, noun) for count, noun in counts if count]
    return " and ".join(filter(None, (*some, tell_going_on(count_going_on(summary)))))
