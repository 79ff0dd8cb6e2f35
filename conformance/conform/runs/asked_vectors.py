"""Finds the vectors of a run: those of its suite, and the walks that it kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from charter.formats.reading import own_calls
from conform.console.errors import BadSuite
from conform.judging.answer import CannotAnswer, answer_of
from conform.judging.model import JudgeModel
from conform.judging.verdict import VectorItem
from conform.storage.bucket_store import RunFolder
from conform.storage.tables import OF_WALKS, SUITE
from conform.suites.cache import Suite
from conform.suites.importing import item_of

NO_REASON = b'{"label":"","obligations":[],"purpose":[],"source":"finding","title":"shrunk"}'
"""The reason for a vector that was made of another one."""


@dataclass(frozen=True, slots=True)
class AskedVectors:
    """The vectors of a suite, and the walks of a run."""

    suite: Suite
    folder: RunFolder

    def find(self, start: str) -> VectorItem:
        """The one vector whose id starts with `start`. Raises `BadSuite`."""
        try:
            return item_of(self.suite.find(start))
        except BadSuite:
            walks = self._walks(pc.starts_with(pc.field("id"), start)).to_pylist()
            if len(walks) != 1:
                raise
            return read_item(walks[0])

    def rows(self, ids: Collection[str]) -> pa.Table:
        """The rows of vectors with these ids, as a stored suite has them, in the order of their
        ids. Raises `BadSuite`."""
        walks = self._walks(pc.field("id").isin(sorted(ids)))
        count = walks.num_rows
        columns = {
            "id": walks["id"],
            "bucket": pa.array([0] * count, pa.int32()),
            **{name: walks[name] for name in ("question", "answer", "why")},
            "obligations": pa.array([[]] * count, pa.list_(pa.string())),
            "needs": walks["needs"],
            "ways": pa.array(["{}"] * count, pa.string()),
        }
        found = pa.table(columns, schema=SUITE)
        return pa.concat_tables([self.suite.rows(ids), found]).sort_by("id")

    def _walks(self, wanted: pc.Expression) -> pa.Table:
        """The walks that were kept whole and that fulfil a condition; each vector once, since two
        walks may ask the same."""
        found = self.folder.table(OF_WALKS, rows=wanted & (pc.field("question") != ""))
        first: dict[str, int] = {}
        for number, name in enumerate(found["id"].to_pylist()):
            first.setdefault(name, number)
        return found.take(pa.array([*first.values()], pa.int64()))


def answer_item(
    model: JudgeModel, question: Mapping[str, Json], opaque: OpaqueTypes
) -> VectorItem | None:
    """A question with the answer that the model gives it; None if it gives none."""
    try:
        return answer_question(model, question, opaque)
    except CannotAnswer:
        return None


def answer_question(
    model: JudgeModel, question: Mapping[str, Json], opaque: OpaqueTypes
) -> VectorItem:
    """A question with the answer that the model gives it. Raises `CannotAnswer`."""
    answer = answer_of(model, question, opaque)
    names = sorted({str(call["operation"]) for call in own_calls(question)})
    return VectorItem(
        canonical.digest(dict(question)),
        orjson.dumps(question, option=orjson.OPT_SORT_KEYS),
        orjson.dumps(answer, option=orjson.OPT_SORT_KEYS),
        NO_REASON,
        " ".join(names),
    )


def answer_again(
    row: Mapping[str, str], model: JudgeModel, opaque: OpaqueTypes
) -> VectorItem | None:
    """The vector of a walk with the answer of a model; None if it gives none."""
    item = answer_item(model, orjson.loads(row["question"]), opaque)
    return item and replace(item, why=row["why"].encode())


def read_item(row: Mapping[str, str]) -> VectorItem:
    """The vector of a row of `AskedVectors.rows`, or of the walks of a run."""
    question, answer, why = (row[name].encode() for name in ("question", "answer", "why"))
    return VectorItem(row["id"], question, answer, why, row["needs"])
