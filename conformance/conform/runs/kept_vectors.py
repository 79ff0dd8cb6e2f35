"""Keeps vectors in the folder of a run: those that it names, and others that did not conform. So
`conform replay` and the report work when the suite has left the cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from charter.formats.canonical import Json
from charter.formats.run_description import RunDescription
from charter.formats.suite import MANIFEST
from charter.formats.verdict import Kind
from conform.runs.asked_vectors import AskedVectors
from conform.runs.judged_rows import of_kinds
from conform.suites.cache import Suite, store_in

MOST = 10_000
"""The most vectors that are kept besides those that a run names."""

PLACE = "suite"
"""The folder of the kept vectors in that of a run."""
_KEPT = sorted({*Kind} - {Kind.CONFORMS, Kind.INCONCLUSIVE, Kind.UNSUPPORTED})


def keep(vectors: AskedVectors, summary: Mapping[str, Json], verdicts: pa.Table) -> None:
    """Keep vectors of a run, as a stored suite with one bucket: those that its findings and its
    trouble with the adapter name, and at most `MOST` others that did not conform."""
    others = sorted(of_kinds(verdicts, _KEPT)["id"].to_pylist())[:MOST]
    wanted = {*others, *_list_named(summary["findings"]), *_list_named(summary["adapter_trouble"])}
    if not wanted:
        return
    folder, suite = vectors.folder, vectors.suite
    folder.write_table(f"{PLACE}/bucket=0000/part-0.parquet", vectors.rows(wanted))
    folder.write_json(f"{PLACE}/{MANIFEST}", suite.manifest.json())


def _list_named(listed: Json) -> Iterator[str]:
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict):
            yield str(item["vector"])


def read_kept(run: Path) -> Suite | None:
    """The vectors that a run kept; None if it kept none."""
    place = run / PLACE
    return store_in(place, 1) if (place / MANIFEST).is_file() else None


def remedy(about: RunDescription) -> str:
    """What to say of a vector that a run did not keep of a suite that is gone."""
    variant = f" --variant {about.variant}" if about.variant else ""
    return (
        f"the suite {about.suite} of the run cannot be read from the cache any more, which"
        f" holds the last ones: `conform vectors CHARTER --component {about.component}{variant}"
        " --profile full --out build/full` makes it again if the charter is as it was; name it with"
        " --suite build/full (a small suite: `conform generate`)"
    )
