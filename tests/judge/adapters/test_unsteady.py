"""An implementation that answers otherwise when it is asked again is told, run by run and within
one."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def ran(conform, targets_folder, tiny_toy_suite, tmp_path):
    """Runs a fake whose memory is a file: exit code, summary, what it printed."""

    def run(mode, *more):
        file = Path("adapters") / targets_folder(mode, str(tmp_path / "memory")) / "adapter.toml"
        file.write_text(file.read_text().replace('overlay = "known"\n', ""))
        given = ("--target", file.parent, "--suite", tiny_toy_suite, "--engine", "inline")
        code, out, _ = conform("run", *given, "--out", "run", *more)
        return code, json.loads(Path("run/summary.json").read_text()), out

    return run


@pytest.fixture
def once_wrong(ran):
    """A run that found a deviation, which the next one does not show."""
    code, first, _ = ran("wrong_first", "--no-shrink")
    assert (code, first["unsteady"]) == (1, [])


def test_what_failed_with_the_same_files_and_conforms_now_is_told(once_wrong, ran):
    code, summary, out = ran("wrong_first")
    assert (code, len(summary["unsteady"])) == (0, 3)
    assert "3 vectors that failed in the last run of the same files conform now, such as " in out


def test_what_failed_with_the_same_files_and_conforms_now_fails_a_strict_run(once_wrong, ran):
    code, summary, _ = ran("wrong_first", "--strict")
    assert code == 1
    assert summary["reasons"] == [
        "3 vectors that failed in the last run of the same files conform now (--strict)"
    ]


def test_nothing_is_told_when_a_file_changed_since_it_failed(once_wrong, ran):
    Path("adapters/fake-wrong_first/impl.py").write_text("mended")
    code, summary, out = ran("wrong_first", "--strict")
    assert (code, summary["unsteady"], "same files" in out) == (0, [], False)


def test_the_second_answer_to_a_question_must_conform_like_the_first(ran):
    """The canary asks a question again, alone, with another expectation."""
    code, summary, out = ran("wrong_again")
    assert (code, summary["trusted"]) == (3, False)
    assert "expected diverges, got another answer than before: asked again, " in out
