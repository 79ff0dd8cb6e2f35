"""A full suite is stored for the judge when it is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.toy.vectors import write_toy_suite

from charter import api
from charter.formats.suite import read_manifest
from conform.cli.main import main
from conform.suites import cache


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite that `conform vectors` then seems to have made."""
    folder = tmp_path / "suite"
    write_toy_suite(folder, 3)
    made = api.MadeSuite(
        manifest=read_manifest(folder), folder=folder, refused={}, open={}, failed=(), unasked={},
        searched=("tiny",), unsearched=(), new=(), left_out={}, looked=True, pairs="",
    )  # fmt: skip
    monkeypatch.setattr(api, "make_suite", lambda *_: made)
    return folder


def test_a_full_suite_is_stored_when_it_is_made(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    assert main(["vectors", "x.charter"]) == 0
    assert not (tmp_path / "cache").exists()
    assert main(["vectors", "x.charter", "--profile", "full"]) == 0
    monkeypatch.setattr(cache, "import_line", lambda line, where: pytest.fail("read again"))
    assert cache.open_suite(str(suite), 1).manifest == read_manifest(suite)


def test_a_full_suite_is_made_where_nothing_can_be_stored(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHARTER_CACHE", "/proc/nowhere")
    assert main(["vectors", "x.charter", "--profile", "full"]) == 0


@pytest.mark.parametrize(
    ("more", "kept"),
    [
        (("--profile", "full"), "; 2 of 5 parts are kept, and the same command makes the others"),
        ((), ""),
    ],
)
def test_interrupted_command_says_what_is_kept(
    more: tuple[str, ...], kept: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    def make(_: object, progress: Callable[[str, int, int], None], *__: object) -> None:
        progress("explored tiny", 2, 5)
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "make_suite", make)
    assert main(["vectors", "x.charter", *more]) == 130
    told = capsys.readouterr().err.splitlines()[-1]
    assert told == f"conform: interrupted; the suite was not written{kept}"
