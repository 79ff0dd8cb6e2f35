"""Makes the extent of a pytest session: how much of the suite its tests judged.

With pytest-xdist the tests run in workers, so each notes its verdict in its report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import orjson

from charter.formats.verdict import Verdict
from conform.runs.extent import Extent, extent_of
from conform.runs.not_compared import CHOSEN, NOT_ASKED, ComparedScope
from conform.runs.select import variables
from conform.storage.arrow import pa
from conform.testing.implementation import VectorJudge

NOTE = "charter verdict"
"""The name of the property of a report with the verdict of its vector."""


def note_of(verdict: Verdict, *, imageless: bool) -> tuple[str, str]:
    """The property of a report that keeps a verdict."""
    return NOTE, orjson.dumps([verdict.id, verdict.kind, verdict.detail, imageless]).decode()


@dataclass(slots=True)
class JudgedVectors:
    """The verdicts of the vectors that ran, by id: kind, detail, and whether an image was missing;
    of one that ran twice the last."""

    verdicts: dict[str, tuple[str, str, bool]] = field(default_factory=dict)

    def add(self, note: str) -> None:
        """Add what a report keeps."""
        name, *rest = orjson.loads(note)
        self.verdicts[name] = (rest[0], rest[1], rest[2])

    def extent(self, judge: VectorJudge, older: str) -> Extent:
        """How much of the suite they are; what pytest did not run was the caller's wish. Raises
        `ConformError`."""
        resolved = judge.judged.resolved
        columns = {
            "id": [*self.verdicts],
            "kind": [kind for kind, _, _ in self.verdicts.values()],
            "detail": [detail for _, detail, _ in self.verdicts.values()],
        }
        shows = judge.session.connection.welcome.observes
        ran = len(self.verdicts)
        intended = ComparedScope(
            ran,
            resolved.suite.manifest.vectors - ran,
            [name for name in variables(resolved.suite) if name not in shows],
            resolved.prepared.target.not_compared,
            CHOSEN,
        )
        imageless = sum(without for _, _, without in self.verdicts.values())
        return extent_of(resolved.suite, intended, pa.table(columns), imageless, older)


def gaps_told(extent: Extent) -> str:
    """What was not compared, apart from what did not run, and what is not asked."""
    left = tuple(one for one in extent.left if one.what != NOT_ASKED)
    return replace(extent, left=left).gaps_told()
