"""A suite that is in the cache already is read again when its files, or the code, are others."""

import shutil
from pathlib import Path

import pytest
from tests.support.toy.vectors import write_toy_suite

from conform.console.errors import BadSuite, CannotWrite
from conform.suites import cache, importing
from conform.suites.cache import open_suite

SUITE = Path(__file__).parents[4] / "generated" / "suites" / "kafka_replication" / "controller"


def test_a_spoiled_copy_of_a_cached_suite_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    good = open_suite(str(SUITE), 1)
    copy = tmp_path / "copy"
    shutil.copytree(SUITE, copy)
    assert open_suite(str(copy), 1).manifest.digest == good.manifest.digest
    vectors = copy / "vectors.jsonl"
    content = vectors.read_text()
    for spoiled in ("", "not json\n", content[: len(content) // 2]):
        vectors.write_text(spoiled)
        with pytest.raises(BadSuite):
            open_suite(str(copy), 1)
    vectors.unlink()
    with pytest.raises(BadSuite):
        open_suite(str(copy), 1)


def test_a_suite_that_another_version_stored_is_stored_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a vector needs is derived when it is stored: an earlier version knew no constants."""
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    with monkeypatch.context() as earlier:
        earlier.setattr(importing, "needs", lambda _: "")
        earlier.setattr(cache, "importer_digest", lambda: "earlier")
        stored = open_suite(str(SUITE), 1)
        assert {item.needs for item in stored.items(0)} == {""}
    digest = stored.manifest.digest
    del stored
    with pytest.raises(BadSuite, match="another version of conform stored it"):
        open_suite(digest, 1)
    again = open_suite(str(SUITE), 1)
    assert all(item.needs for item in again.items(0))
    assert open_suite(digest, 1).stored == again.stored


def test_a_cache_that_cannot_be_written_is_not_the_fault_of_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_toy_suite(tmp_path / "suite", 3)
    monkeypatch.setenv("CHARTER_CACHE", "/proc/nowhere")
    with pytest.raises(CannotWrite, match=r"stored in /proc/nowhere/.*set CHARTER_CACHE"):
        open_suite(str(tmp_path / "suite"), 1)
