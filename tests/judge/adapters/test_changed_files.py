"""A run says which files it judged: all of them, and that they were the same until its end."""

from pathlib import Path

import pytest

from conform.adapters.prepared import path_digest
from conform.adapters.sources import files_digest
from conform.adapters.targets import target
from conform.judging import model
from conform.reports import write
from conform.runs.engines import inline
from conform.runs.engines.inline import run as unchanged
from conform.runs.execute import run_target
from conform.runs.options import RunOptions


@pytest.fixture
def linked(targets_folder, tmp_path):
    """The code of the reference, in a folder to which one of its adapter's leads."""
    code = tmp_path / "src" / "lease.py"
    code.parent.mkdir()
    code.write_text("an implementation")
    (tmp_path / "adapters" / "reference" / "impl").symlink_to("../../src")
    (code.parent / "self").symlink_to(".")
    return code


def test_files_of_a_linked_folder_are_in_the_digests(linked):
    chosen = target("reference")
    before = files_digest(chosen), path_digest(chosen.folder)
    linked.write_text("another implementation")
    assert files_digest(chosen) != before[0]
    assert path_digest(chosen.folder) != before[1]


@pytest.fixture
def judged(targets_folder, tiny_toy_suite, monkeypatch):
    """Judges the reference while a file changes (None: none does)."""

    def judge(path, out="run"):
        def run(*given):
            found = unchanged(*given)
            if path is not None:
                path.write_text(path.read_text() + "\n# changed\n")
            return found

        monkeypatch.setattr(inline, "run", run)
        options = RunOptions("reference", suite=str(tiny_toy_suite), engine="inline", out=out)
        return run_target(options, lambda _: None)

    return judge


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("src/lease.py", "the adapter's files changed during the run, so"),
        ("generated/charter_models/toy/no_epoch_check.py", "the models changed during the run, so"),
    ],
)
def test_a_run_during_which_a_file_changed_is_not_trusted(linked, judged, tmp_path, place, told):
    finished = judged(tmp_path / place)
    assert finished.exit_code == 3
    assert not finished.summary["trusted"]
    assert told in "; ".join(finished.summary["reasons"])
    assert judged(None, "again").exit_code == 0


def test_a_file_that_the_adapter_changes_before_its_first_answer_is_noticed(
    judged, targets_folder, tmp_path
):
    file = tmp_path / "adapters" / "reference" / "adapter.toml"
    first = 'start = ["sh", "-c", "date +%N > {adapter}/lease.py; exec \\"$0\\" \\"$@\\"", '
    file.write_text(file.read_text().replace("start = [", first))
    finished = judged(None)
    assert (finished.exit_code, finished.summary["trusted"]) == (3, False)
    assert finished.summary["files_changed"] == ["adapter's files"]


def test_what_is_said_of_a_charter_is_part_of_its_models(judged, tmp_path):
    sections = Path("generated/charter_models/toy/charter.sections.json")
    sections.parent.mkdir(parents=True, exist_ok=True)
    finished = judged(None)
    before = model.digest(["charter_models.toy.charter"])
    assert before == finished.run.models
    assert "generated/ has changed" not in "".join(write([Path("run")], Path("site")).lines)
    sections.with_name("other.sections.json").write_text("{}")
    assert model.digest(["charter_models.toy.charter"]) != before
    assert "generated/ has changed since" in "".join(write([Path("run")], Path("site")).lines)
