"""Concludes a pytest session: how much of the suite its tests judged, whether files changed, and
what failed before.

With pytest-xdist the tests run in workers, so each notes its verdict in its report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import orjson

from charter.formats.run_description import RunDescription
from charter.formats.verdict import Verdict
from conform.runs.extent import Extent, extent_of
from conform.runs.failures.record import AskedVerdicts, list_unsteady, record_failed
from conform.runs.not_compared import CHOSEN, NOT_ASKED, ComparedScope
from conform.runs.run_json import list_changed
from conform.runs.select import variables
from conform.storage.arrow import pa
from conform.testing.implementation import VectorJudge

NOTE = "charter verdict"
"""The name of the property of a report with the verdict of its vector."""


@dataclass(frozen=True, slots=True)
class VectorNote:
    """What a report keeps of a vector: its verdict, whether an image was missing, and whether a
    finding is `new`: neither the overlay nor the baseline lists it."""

    id: str
    kind: str
    detail: str
    imageless: bool
    new: bool


def note_of(verdict: Verdict, *, imageless: bool, new: bool) -> tuple[str, str]:
    """The property of a report that keeps a verdict."""
    note = [verdict.id, verdict.kind, verdict.detail, imageless, new]
    return NOTE, orjson.dumps(note).decode()


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """What follows from a session: how much it judged, which files changed since it began, and
    which vectors failed in the last run of the same files and conform now (`unsteady`)."""

    extent: Extent
    files_changed: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()


@dataclass(slots=True)
class JudgedVectors:
    """What was noted of the vectors that ran, by id; of one that ran twice the last."""

    verdicts: dict[str, VectorNote] = field(default_factory=dict)

    def add(self, note: str) -> None:
        """Add what a report keeps."""
        made = VectorNote(*orjson.loads(note))
        self.verdicts[made.id] = made

    def end(
        self, judge: VectorJudge, files: RunDescription | None, older: str, *, trusted: bool
    ) -> SessionEnd:
        """What follows from the vectors that ran; `files` are the digests of an adapter that has
        files, from before it was started. Keeps which vectors failed; a session that is not
        `trusted` drops no remembered question. Raises `ConformError`."""
        extent, resolved = self.extent(judge, older), judge.judged.resolved
        if files is None:
            return SessionEnd(extent)
        prepared, welcome = resolved.prepared, judge.session.connection.welcome
        about = replace(
            files,
            release=prepared.release,
            implementation={"name": welcome.name, "version": welcome.version},
            spec_digest=resolved.suite.manifest.spec_digest,
            entries=resolved.entries,
            parameters=prepared.parameters,
        )
        kinds = {name: note.kind for name, note in self.verdicts.items()}
        deviating = frozenset(name for name, note in self.verdicts.items() if note.new)
        verdicts = AskedVerdicts(kinds, deviating)
        unsteady = list_unsteady(prepared.target, about, verdicts)
        record_failed(prepared.target, about, verdicts, trusted=trusted)
        return SessionEnd(extent, list_changed(files, resolved), unsteady)

    def extent(self, judge: VectorJudge, older: str) -> Extent:
        """How much of the suite they are; what pytest did not run was the caller's wish. Raises
        `ConformError`."""
        resolved = judge.judged.resolved
        columns = {
            "id": [*self.verdicts],
            "kind": [note.kind for note in self.verdicts.values()],
            "detail": [note.detail for note in self.verdicts.values()],
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
        imageless = sum(note.imageless for note in self.verdicts.values())
        return extent_of(resolved.suite, intended, pa.table(columns), imageless, older)


def gaps_told(extent: Extent) -> str:
    """What was not compared, apart from what did not run, and what is not asked."""
    left = tuple(one for one in extent.left if one.what != NOT_ASKED)
    return replace(extent, left=left).gaps_told()
