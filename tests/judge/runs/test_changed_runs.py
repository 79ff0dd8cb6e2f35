"""A run of which something was changed or lost after it ended is refused, whoever reads it."""

import json
import shutil

import orjson
import pytest
from tests.support.caches import own_cache
from tests.unit.reports.sample import write_suite_and_run

from conform.console.errors import BadRun
from conform.storage.bucket_store import RunFolder

DATASETS = ("verdicts", "deviations", "observations", "transitions")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a suite, a run, and the cache that both need."""
    place = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHARTER_CACHE", own_cache(place / "cache"))
        return place, write_suite_and_run(place).relative_to(place)


@pytest.fixture
def run(made, tmp_path, monkeypatch):
    """A copy of the run, in a copy of the folder."""
    place, run = made
    shutil.copytree(place, tmp_path, symlinks=True, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)  # else `rejudge` compares the suite with spec/kafka
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    return tmp_path / run


def part(name):
    return f"{name}/bucket=0000/part-0.parquet"


FILES = ["run.json", "summary.json", "canaries.json", "commits/bucket=0000.json",
         *map(part, DATASETS)]  # fmt: skip


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["missing", "cut off", "flipped"])
def test_reader_refuses_a_run_when_a_file_was_damaged(name, damage, run, conform, tmp_path):
    path = run / name
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "cut off":
        path.write_bytes(content[: len(content) // 2])
    else:
        half = len(content) // 2
        path.write_bytes(content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :])
    suite = tmp_path / "suite"
    for command in (
        ("report", run, "--out", tmp_path / "site"),
        ("rejudge", run, "--suite", suite, "--out", tmp_path / "again"),
        ("compare", run, run),
    ):
        code, out, err = conform(*command)
        assert (code, out) == (2, ""), command
        assert err.startswith("conform: ") and err.count("\n") == 1
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("summary.json", "new_deviations", 0),
        ("summary.json", "trusted", True),
        ("canaries.json", "trusted", True),
        ("run.json", "release", "4.3.2"),
        ("commits/bucket=0000.json", "vectors", 7),
        ("commits/bucket=0000.json", "files", {}),
    ],
)
def test_value_that_was_changed_is_noticed(name, field, value, run):
    content = json.loads((run / name).read_text())
    content[field] = value if content.get(field) != value else "other"
    (run / name).write_bytes(orjson.dumps(content))
    with pytest.raises(BadRun, match="was changed since the run ended"):
        RunFolder(str(run)).check()


def test_run_is_read_when_nothing_was_changed(run, conform, tmp_path):
    digest = json.loads((run / "summary.json").read_text())["digest"]
    code, out, _ = conform("compare", run, run)
    assert (code, "exit 3: 1 of 6 questions was not judged" in out) == (3, True)
    assert conform("report", run, "--out", tmp_path / "site")[0] == 0
    assert (
        digest in (tmp_path / "site" / "runs" / "kafka-controller-4.3.1" / "index.html").read_text()
    )
    assert digest in (tmp_path / "site" / "summary.md").read_text()


def test_bucket_is_judged_again_when_its_files_were_changed(run):
    """As after a power cut: a commit without all of its data."""
    folder = RunFolder(str(run))
    assert folder.drop_damaged() == 0
    (run / part("observations")).write_bytes(b"")
    assert folder.drop_damaged() == 1
    assert folder.read_committed() == {}


def test_commit_with_a_foreign_name_is_not_read(run):
    (run / "commits" / "bucket=first.json").write_text("{}")
    assert list(RunFolder(str(run)).read_committed()) == [0]
