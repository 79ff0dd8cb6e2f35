"""Groups the vectors of a run on which the adapter failed by how it failed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import pyarrow as pa

from charter.formats.canonical import Json
from charter.formats.verdict import STDERR, Kind
from conform.judging.refutations import SUCH_AS
from conform.judging.relabel import key
from conform.runs.judged_rows import of_kinds
from conform.runs.not_compared import obstacle

FAILED = (Kind.CRASHED, Kind.TIMED_OUT, Kind.ADAPTER_ERROR)
"""The verdicts that say that the adapter failed."""
_SILENT = re.compile(r"^(no answer in )([0-9.]+) s")
"""How a detail begins of a question without an answer: each has less time than the one before."""
STEP = re.compile(r"^step [0-9]+: ")
"""How a detail begins that names the step."""
_MOST = 20


@dataclass(slots=True)
class _Failure:
    kind: str
    detail: str
    vectors: int
    vector: str
    allowed: str

    def json(self) -> dict[str, Json]:
        return asdict(self)


def adapter_trouble(verdicts: pa.Table, allowed: Mapping[str, str]) -> list[Json]:
    """How the adapter failed, most frequent first: kind, the detail and the id of one vector, the
    number of vectors, and the reason by which adapter.toml allows these by name. Details that
    differ only in the step, in an example, in stderr or in the time without an answer are one; the
    longest time is told."""
    rows = of_kinds(verdicts, FAILED)
    found: dict[tuple[str, str, str], _Failure] = {}
    for row in rows.sort_by("id").to_pylist():
        reason = allowed.get(obstacle(row, allowed), "")
        failure = _Failure(row["kind"], row["detail"], 0, row["id"], reason)
        one = found.setdefault((row["kind"], how_it_failed(row["detail"]), reason), failure)
        one.vectors += 1
        if _read_wait(failure.detail) > _read_wait(one.detail):
            one.detail, one.vector = failure.detail, failure.vector
    ordered = sorted(found.values(), key=lambda failure: (-failure.vectors, failure.vector))
    return [failure.json() for failure in ordered[:_MOST]]


def how_it_failed(detail: str) -> str:
    """What a detail has in common with others of the same cause: without the step, an example, what
    went to stderr, and the time without an answer."""
    how = STEP.sub("", detail).partition(STDERR)[0].partition(SUCH_AS)[0]
    return _SILENT.sub(r"\1", how)


def _read_wait(detail: str) -> float:
    """The seconds without an answer that a detail tells; 0 if it tells of none."""
    silent = _SILENT.match(detail)
    return float(silent[2]) if silent else 0.0


def place_told(failure: Mapping[str, Json]) -> str:
    """Where a vector breaks the adapter, to follow a sentence about how it does; "" if that is not
    known."""
    at = failure.get("at")
    if not isinstance(at, dict) or not at:
        return ""
    if not at["operation"]:
        return ", in its initial state"
    return f", in step {at['step']}: {at['operation']} {key(at['args']).decode()}"
