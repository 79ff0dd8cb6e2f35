"""`conform watch`: checks and explores again when a charter changes."""

from __future__ import annotations

import argparse
import io
from itertools import islice
from pathlib import Path

import pytest
from tests.support.edited_texts import LEASE

from conform.cli.commands.compiler import watch
from conform.cli.commands.compiler.watch import Watch
from conform.cli.main import main

# Without the counter, which would grow for ever.
BOUNDED = LEASE.replace("lock.token' = next\n", "").replace(
    "always few of lease: lock.uses == 0", "always few of lease: lock.token == 0"
)


class Folder:
    """A folder with one charter, and a watch of it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.path = folder / "lease.charter"
        self.capsys = capsys
        given = {"charter": folder, "instance": "", "variant": "", "most": 5000, "once": False}
        self.watch = Watch(argparse.Namespace(**given))
        self.times = 0

    def save(self, text: str) -> tuple[int, list[str]]:
        """Save the charter; the exit code and the lines that are shown."""
        self.path.write_text(text, encoding="utf-8")
        self.times += 1
        code = self.watch.look({self.path.name: (self.times, len(text))})
        return code, self.capsys.readouterr().out.splitlines()


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Folder:
    return Folder(tmp_path, capsys)


def test_counts_and_violations_are_shown_when_a_rule_changes(folder: Folder) -> None:
    code, lines = folder.save(BOUNDED)
    assert code == 0
    assert lines[0].endswith(": no errors") and "changed:" not in lines[0]
    assert lines[1] == "tiny: 2 states; nothing is violated"
    code, lines = folder.save(BOUNDED.replace("lock.token == 0", "lock.owner == none"))
    assert code == 1
    assert lines[0] == "changed: lease.charter"
    assert lines[2] == "tiny: 2 states (as many as before); violated: few"
    assert any("acquire(client: ann)" in line for line in lines)
    code, lines = folder.save(BOUNDED.replace("present(client)\n", "present(ann)\n"))
    assert code == 1 and "`ann` is not declared" in "\n".join(lines)
    assert lines[-1].endswith(": 1 error (1 new)")
    code, lines = folder.save(BOUNDED)
    assert code == 0
    assert lines[1].endswith(": no errors (1 mended)")
    assert lines[2] == "tiny: 2 states (as many as before); nothing is violated"


def test_nothing_is_explored_again_when_the_rules_mean_the_same(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.save(BOUNDED)
    monkeypatch.setattr("charter.api.explore", None)
    code, lines = folder.save("-- a comment\n" + BOUNDED)
    assert code == 0
    assert lines[2] == "tiny: 2 states (means what it meant); nothing is violated"


def test_a_failing_scenario_is_shown_when_it_fails(folder: Folder) -> None:
    code, lines = folder.save(BOUNDED.replace("== present(ann)\n}", "== present(bob)\n}"))
    assert code == 1
    assert "expected" in "\n".join(lines) and "ann first" in "\n".join(lines)


def test_a_missing_file_is_told_when_it_was_removed(folder: Folder) -> None:
    folder.save(BOUNDED)
    folder.path.unlink()
    assert folder.watch.look({}) == 2
    assert "holds no file that ends in .charter" in folder.capsys.readouterr().out


def test_the_exit_code_is_that_of_the_search_when_it_looks_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lease.charter"
    path.write_text(BOUNDED, encoding="utf-8")
    assert main(["watch", str(path), "--once"]) == 0
    assert main(["watch", str(path), "--once", "--instance", "huge"]) == 2
    assert "there is no instance 'huge'" in capsys.readouterr().err


def test_a_new_look_is_taken_when_a_file_is_saved_or_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.charter").write_text("protocol a", encoding="utf-8")
    naps = []

    def nap(_: float) -> None:
        naps.append(1)
        if len(naps) == 3:
            (tmp_path / "b.charter").write_text("protocol a", encoding="utf-8")

    monkeypatch.setattr(watch, "sleep", nap)
    first, second = islice(watch.versions(tmp_path), 2)
    assert set(first) == {"a.charter"} and set(second) == {"a.charter", "b.charter"}
    assert len(naps) == 3


def test_what_a_look_shows_is_delivered_when_the_output_is_a_pipe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.charter").write_text("protocol a", encoding="utf-8")
    pipe, shown = io.BytesIO(), []

    def interrupt(_: float) -> None:
        shown.append(pipe.getvalue())
        raise KeyboardInterrupt

    monkeypatch.setattr(watch, "sleep", interrupt)
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(pipe, encoding="utf-8"))
    assert main(["watch", str(tmp_path)]) == 130
    assert shown and b": no errors" in shown[0]


def test_it_ends_with_130_when_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.charter").write_text(BOUNDED, encoding="utf-8")

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(watch, "sleep", interrupt)
    assert main(["watch", str(tmp_path)]) == 130
