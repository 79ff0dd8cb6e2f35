"""Measures how much of a suite was judged, what was left out and why, and what was not asked.

It is made once for a run, from what was judged, and kept in its summary.json. Terminal, JSON,
JUnit, pytest, badge, report, comparison and exit code read it and count nothing themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from charter.formats.canonical import Json
from charter.formats.reading import mapping, own_number
from charter.formats.suite import COVER_STATES, SMALL_SUITE, Manifest
from charter.formats.verdict import JUDGED, Kind
from conform.runs.judged_rows import of_kinds
from conform.runs.not_compared import (
    WISHES,
    ComparedScope,
    Left,
    describe,
    left_out,
    obstacle,
    read,
)
from conform.runs.obligations import (
    UNKNOWN,
    AskedObligations,
    Fate,
    Gap,
    count_obligations,
    ledger_of,
    read_obligations,
)
from conform.runs.walk_counts import is_of_suite
from conform.storage.arrow import pa
from conform.storage.bucket_store import RunFolder
from conform.suites.cache import Suite

COVERED_SUITE = "the small suite with a state cover"
"""How a suite is called that has a state cover besides the small one."""
STANDARD_SUITE = "a standard suite"
"""How a suite is called that has triples of operations besides the small one."""
ANOTHER_SMALL_SUITE = "a small suite that no `conform generate` made"
"""How a small suite is called that is not the one of the ledger beside the models."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a suite a run judged. `suite` and `judged` are numbers of vectors, `inconclusive`
    of the judged ones; `left` is what was not compared. `older` names the older charter by which
    was judged ("": none), `small` the small suite ("": it is a full one)."""

    suite: int
    judged: int
    inconclusive: int = 0
    left: tuple[Left, ...] = ()
    obligations: AskedObligations = UNKNOWN
    older: str = ""
    small: str = ""

    @property
    def missing(self) -> bool:
        """Whether something was not compared, or not asked, that must be."""
        return any(not one.allowed for one in self.left) or self.obligations.missing

    @property
    def complete(self) -> bool:
        """Whether all of the suite was judged and compared, and enough is asked by it."""
        every = not self.left and self.judged == self.suite
        return every and not self.obligations.too_few and self.small != ANOTHER_SMALL_SUITE

    @property
    def wishes(self) -> tuple[str, ...]:
        """The options with which the caller left vectors out."""
        return tuple(sorted({one.allowed for one in self.left} & {*WISHES}))

    @property
    def by(self) -> str:
        """By what was judged, if that is neither the charter of today nor a full suite."""
        some = self.small == COVERED_SUITE and self.judged < self.suite
        part = f" ({self.judged:,} of {self.suite:,} vectors)" if some else ""
        return self.older or f"{self.small}{part}"

    def tell(self) -> str:
        """A sentence: how much was judged, what was not compared, and what is not asked."""
        some = f", {self.inconclusive:,} of them inconclusive" if self.inconclusive else ""
        told = f"judged {self.judged:,} of {self.suite:,}{some}"
        return "; ".join(filter(None, (told, self.gaps_told())))

    def gaps_told(self) -> str:
        """What was not compared, and what is not asked; "" for nothing."""
        left = describe(self.left)
        told = f"not compared: {left}" if left else ""
        return "; ".join(filter(None, (told, self.obligations.tell())))

    def json(self) -> dict[str, Json]:
        """The fields of summary.json that say it."""
        return {
            "suite_vectors": self.suite,
            "judged": self.judged,
            "not_compared": [one.json() for one in self.left],
            "obligations": self.obligations.json(),
            "complete": self.complete,
            "older_charter": self.older,
            "small_suite": bool(self.small),
            "generated_suite": self.small != ANOTHER_SMALL_SUITE,
            **({"standard_suite": True} if self.small == STANDARD_SUITE else {}),
            **({"state_cover": True} if self.small == COVERED_SUITE else {}),
        }


def read_extent(summary: Mapping[str, Json]) -> Extent:
    """What summary.json says; runs of earlier versions say less."""
    counted = mapping(summary.get("verdicts"))
    judged = sum(own_number(counted.get(kind, 0)) for kind in JUDGED)
    named = COVERED_SUITE if summary.get("state_cover") else SMALL_SUITE
    named = STANDARD_SUITE if summary.get("standard_suite") else named
    small = named if summary.get("small_suite") else ""
    another = summary.get("generated_suite") is False
    return Extent(
        own_number(summary.get("suite_vectors", summary.get("vectors", judged))),
        own_number(summary.get("judged", judged)),
        own_number(counted.get(Kind.INCONCLUSIVE, 0)),
        read(summary.get("not_compared")),
        read_obligations(summary.get("obligations")),
        str(summary.get("older_charter", "")),
        ANOTHER_SMALL_SUITE if small and another else small,
    )


def extent_of_run(
    folder: RunFolder, suite: Suite, scope: ComparedScope, verdicts: pa.Table, older: str
) -> Extent:
    """The extent of a run, from its committed buckets and their verdicts. Raises `BadSuite`."""
    committed = [bucket for bucket in folder.read_committed().values() if is_of_suite(bucket)]
    imageless = sum(own_number(content.get("imageless", 0)) for content in committed)
    return extent_of(suite, scope, verdicts, imageless, older)


def extent_of(
    suite: Suite, scope: ComparedScope, verdicts: pa.Table, imageless: int, older: str
) -> Extent:
    """The extent of some verdicts (`id`, `kind`, `detail`), of which `imageless` vectors came
    without an image. Raises `BadSuite`."""
    kinds = Counter(verdicts["kind"].to_pylist())
    judged = sum(kinds[kind] for kind in JUDGED)
    left = left_out(scope, verdicts, imageless)
    fate = _fates(scope, verdicts)
    return Extent(
        suite.manifest.vectors, judged, kinds[Kind.INCONCLUSIVE], left,
        count_obligations(suite, fate, scope.allowed), older, small_suite(suite.manifest),
    )  # fmt: skip


def small_suite(manifest: Manifest) -> str:
    """How a small suite is called in a verdict, "" for a full one or one of other origin."""
    if not manifest.small:
        return ""
    book = ledger_of(manifest)
    own = manifest.small_digest or manifest.digest
    if book is not None and book.suite not in ("", own):
        return ANOTHER_SMALL_SUITE
    if "triples" in manifest.counts:
        return STANDARD_SUITE
    return COVERED_SUITE if COVER_STATES in manifest.counts else SMALL_SUITE


def _fates(scope: ComparedScope, verdicts: pa.Table) -> Fate:
    """Why vectors were not judged."""
    lost = {
        row["id"]: Gap.ALLOWED if obstacle(row, scope.allowed) in scope.allowed else Gap.LOST
        for row in of_kinds(verdicts, {*Kind} - JUDGED).to_pylist()
    }
    came = {*verdicts["id"].to_pylist()}
    unasked = Gap.LEFT_OUT if scope.limited or scope.stopped else Gap.LOST
    return lambda vector: lost.get(vector, None if vector in came else unasked)
