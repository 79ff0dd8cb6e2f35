"""Reads the verdicts and deviations of a run once, when it is concluded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from conform.storage.bucket_store import RunFolder

OUTLINE = ("id", "kind", "detail", "judged", "not_judged")
"""The columns of `verdicts` that a conclusion needs."""


@dataclass(frozen=True, slots=True)
class JudgedRows:
    """One row for each vector, with the columns `OUTLINE`, and one for each deviation, with all."""

    verdicts: pa.Table
    deviations: pa.Table

    @classmethod
    def of(cls, folder: RunFolder) -> JudgedRows:
        """The rows of the committed buckets of a run. Raises `BadRun`."""
        return cls(folder.table("verdicts", OUTLINE), folder.table("deviations"))

    def of_suite(self, buckets: int) -> JudgedRows:
        """Those of the vectors of the suite, which are in the first buckets: walks have others."""
        verdicts, deviations = (
            table.filter(pc.less(table["bucket"], buckets))
            for table in (self.verdicts, self.deviations)
        )
        return JudgedRows(verdicts, deviations)

    def of_bucket(self, bucket: int) -> JudgedRows:
        """Those of one bucket; none if there is no such bucket."""
        verdicts, deviations = (
            table.filter(pc.equal(table["bucket"], bucket))
            for table in (self.verdicts, self.deviations)
        )
        return JudgedRows(verdicts, deviations)


VERDICT_COLUMNS = ("id", "kind", "detail", "behaviour", "step", "judged")
"""The columns of `verdicts` that `index_verdicts` reads."""


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """What a run keeps of a vector: the `step` of the first deviation (-1: none), and how many were
    `judged`. What broke the adapter has no `behaviour`."""

    kind: str
    detail: str
    behaviour: str
    step: int
    judged: int


def index_verdicts(table: pa.Table) -> dict[str, VerdictRow]:
    """The rows of a run by vector."""
    names, *columns = (table[name].to_pylist() for name in VERDICT_COLUMNS)
    rows = map(VerdictRow, *columns)
    return dict(zip(names, rows, strict=True))


def of_kinds(verdicts: pa.Table, kinds: Iterable[str]) -> pa.Table:
    """The verdicts of some kinds."""
    wanted = pa.array([str(kind) for kind in kinds], pa.string())
    return verdicts.filter(pc.is_in(verdicts["kind"], value_set=wanted))
