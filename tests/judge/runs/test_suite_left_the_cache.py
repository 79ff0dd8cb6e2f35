"""`conform replay` of a run whose suite is neither in a folder nor in the cache any more."""

import json
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from conform.storage.bucket_store import RunFolder


@pytest.fixture
def gone(conform, targets_folder, toy_suite, monkeypatch):
    """Judges the toy suite, and loses the cache; returns what a run has of each verdict."""

    def lose(mode):
        given = ("--suite", toy_suite, "--engine", "inline", "--out", "run")
        conform("run", "--target", targets_folder(mode), *given)
        monkeypatch.setenv("CHARTER_CACHE", str(Path("empty").resolve()))
        rows = RunFolder(str(Path("run").resolve())).table(
            "verdicts", ["id"], pc.field("kind") != "x"
        )
        digest = json.loads(Path("run/run.json").read_text())["suite"]
        return digest, sorted(rows["id"].to_pylist())

    return lose


MADE = "`conform vectors CHARTER --component keeper --profile full --out build/full` makes it again"


def test_suite_that_is_gone_is_told_with_how_it_is_made_again(conform, gone):
    digest, ids = gone("faithful")
    code, _, err = conform("replay", ids[0], "--run", "run")
    assert (code, err.count("\n")) == (2, 1)
    assert f"the suite {digest} of the run cannot be read from the cache any more" in err
    assert f"{MADE} if the charter is as it was; name it with --suite build/full" in err


def test_vector_that_a_run_did_not_keep_is_told_apart(conform, gone):
    _, ids = gone("wrong_error")
    kept = {*pq.read_table("run/suite/bucket=0000/part-0.parquet")["id"].to_pylist()}
    code, _, err = conform("replay", next(name for name in ids if name not in kept), "--run", "run")
    assert code == 2
    assert "the run kept only vectors that did not conform, and none of them starts with" in err
    assert MADE in err
