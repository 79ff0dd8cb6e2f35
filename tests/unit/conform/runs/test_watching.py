"""How far a run is: workers note what they judged, and nothing of it stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from conform.runs.engines import progress_notes
from conform.runs.engines.progress_notes import BucketNotes, JudgedSoFar
from conform.storage.bucket_store import RunFolder


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(str(tmp_path / "run"))


def test_what_is_noted_counts_until_its_bucket_is_committed(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged = JudgedSoFar(folder)
    assert judged() == 0
    monkeypatch.setattr(progress_notes, "SECONDS", 0.0)
    BucketNotes(folder, 0)(64)
    BucketNotes(folder, 1)(20)
    assert judged() == 84
    folder.commit(1, {}, {"vectors": 70})
    assert judged() == 64 + 70
    folder.drop_notes()
    assert judged() == 70


def test_a_short_run_notes_nothing(folder: RunFolder) -> None:
    BucketNotes(folder, 0)(64)
    assert folder.read_noted() == {}


def test_a_note_that_cannot_be_read_or_written_changes_nothing(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.note(0, 64)
    Path(folder.place, "progress", "bucket=0000.json").write_text("")
    assert JudgedSoFar(folder)() == 0
    RunFolder("/proc/nowhere").note(0, 64)


def test_the_note_of_a_committed_bucket_is_not_read(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.note(0, 64)
    folder.commit(0, {}, {"vectors": 70})
    monkeypatch.setattr("conform.storage.bucket_store._note", lambda _: pytest.fail("it is read"))
    assert JudgedSoFar(folder)() == 70
