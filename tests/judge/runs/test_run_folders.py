"""One run has a folder at a time, and goes on only with the adapter that it was begun with."""

import errno
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.judging import environment

from charter.formats.run_description import RunDescription
from conform.console.errors import BadRun, CannotWrite
from conform.runs import resume
from conform.runs.execute import run_target
from conform.runs.options import RunOptions
from conform.storage.bucket_store import RunFolder
from conform.storage.lease import Lease

HOLD = """
import sys
from pathlib import Path
from conform.storage.lease import Lease
lease = Lease(Path(sys.argv[1]))
print(lease.take(), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def judged(toy_suite, tmp_path):
    """A run into one folder: what it says, and the run."""

    def run(target):
        said = []
        options = RunOptions(
            target, suite=str(toy_suite), engine="inline", out=str(tmp_path / "run")
        )
        return said, run_target(options, said.append)

    return run


def test_folder_that_another_run_writes_into_is_refused(judged, targets_folder, tmp_path):
    held = Lease(tmp_path / "run" / ".lock")
    assert held.take()
    with pytest.raises(BadRun, match="another run writes into"):
        judged("reference")
    held.close()
    assert judged("reference")[1].exit_code == 0


def test_run_that_was_killed_leaves_its_folder_free(judged, targets_folder, tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path / "run" / ".lock")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **environment()}
    ) as child:
        assert child.stdout.readline() == b"True\n"
        with pytest.raises(BadRun, match="another run writes into"):
            judged("reference")
        child.kill()
    assert judged("reference")[1].exit_code == 0


def test_folder_that_became_read_only_is_told_with_the_remedy(tmp_path, monkeypatch):
    folder = RunFolder(str(tmp_path))
    for name in ("run.json", "summary.json"):
        folder.write_json(name, {"target": "old"})

    def refuse(self, missing_ok):
        raise OSError(errno.EROFS, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "unlink", refuse)
    remedy = r"could not be written \(Read-only file system\); .* name another folder: --out"
    with pytest.raises(CannotWrite, match=remedy):
        resume.start_or_resume(folder, RunDescription(target="new"), lambda _: None)


def test_folder_of_somebody_else_gets_no_lock(judged, targets_folder, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.txt").write_text("years of work")
    with pytest.raises(BadRun, match="holds something else"):
        judged("reference")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["thesis.txt"]


def test_run_without_its_run_json_is_told_as_such(judged, targets_folder, tmp_path):
    judged("reference")
    (tmp_path / "run" / "run.json").unlink()
    with pytest.raises(BadRun, match=r"holds a run, but its run\.json is gone; remove the folder"):
        judged("reference")


@pytest.mark.parametrize("changed", ["notes.txt", ".hidden/notes.txt", "__pycache__/notes.pyc"])
def test_run_goes_on_only_with_the_adapter_that_it_was_begun_with(
    changed, judged, targets_folder, tmp_path
):
    _, first = judged("reference")
    done = len(first.folder.read_committed())
    (tmp_path / "run" / "summary.json").unlink()
    path = Path("adapters") / "reference" / changed
    path.parent.mkdir(exist_ok=True)
    path.write_text("another adapter")
    said, again = judged("reference")
    anew = f"the adapter's files changed since the run in {tmp_path / 'run'} started"
    same = f"continuing the run in {tmp_path / 'run'}: {done} buckets are done"
    (sentence,) = said
    assert sentence.startswith(anew if changed == "notes.txt" else same)
    assert again.exit_code == 0


@pytest.mark.parametrize("changed", ["classes/Main.class", "jars/kafka-4.3.1.jar"])
def test_run_goes_on_only_with_the_files_that_were_prepared(
    changed, judged, targets_folder, tmp_path
):
    for name in ("classes/Main.class", "jars/kafka-4.3.1.jar"):
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text("bytes")
    classpath = f"{tmp_path}/classes:{tmp_path}/jars/*"
    reference = tmp_path / "adapters" / "reference" / "adapter.toml"
    says = json.dumps({"classpath": classpath, "release": "4.3.1"})
    command = ["{python}", "-c", f"print({says!r})"]
    text = reference.read_text().replace("start =", f"prepare = {json.dumps(command)}\nstart =")
    reference.write_text(text)
    _, first = judged("reference")
    assert list(first.run.prepared) == ["classes", "kafka-4.3.1.jar"]
    jar = hashlib.sha256(b"bytes").hexdigest()
    assert first.run.prepared["kafka-4.3.1.jar"] == jar
    (tmp_path / "run" / "summary.json").unlink()
    (tmp_path / changed).write_text("other bytes")
    said, again = judged("reference")
    assert said[0].startswith(f"the prepared files changed since the run in {tmp_path / 'run'}")
    assert again.run.prepared != first.run.prepared


def test_run_has_no_result_when_it_is_killed_while_an_older_one_is_removed(tmp_path, monkeypatch):
    folder = RunFolder(str(tmp_path))
    for name in ("run.json", "summary.json"):
        folder.write_json(name, {"target": "old"})
    (tmp_path / "verdicts").mkdir()

    def kill(place, ignore_errors):
        raise KeyboardInterrupt

    monkeypatch.setattr(resume.shutil, "rmtree", kill)
    with pytest.raises(KeyboardInterrupt):
        resume.start_or_resume(folder, RunDescription(target="new"), lambda _: None)
    assert not folder.has("summary.json")
    assert folder.has("run.json")


def test_damaged_run_json_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "run.json").write_text("mine")
    with pytest.raises(BadRun, match=r"run\.json is not JSON"):
        resume.start_or_resume(RunFolder(str(tmp_path)), RunDescription(), lambda _: None)
    assert (tmp_path / "run.json").read_text() == "mine"
