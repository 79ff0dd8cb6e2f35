"""A suite that is in the cache already is still read when its files are other ones."""

import shutil
from pathlib import Path

import pytest

from conform.console.errors import BadSuite
from conform.suites.cache import open_suite

SUITE = Path(__file__).parents[3] / "generated" / "suites" / "kafka_replication" / "controller"


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
