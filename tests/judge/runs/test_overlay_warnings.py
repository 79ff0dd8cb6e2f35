"""What the compiler warns of in an overlay is told wherever the overlay is used."""

from pathlib import Path

import pytest
from tests.support.caches import own_cache

from conform.adapters.targets import target
from conform.cli.output import overlay

CHARTER = """protocol toy.lock
component lock {
  state held: bool = false
  operation ask() -> bool {
    branch ok { held' = true reply true }
  }
  observe all { held }
}
witness w of lock: took ask/ok
"""
OVERLAY = """protocol toy.lock
overlay some_lock of lock {
  entry careless known_defect { add fault "java.lang.Error" to lock.ask/ok }
}
"""
TOML = """id = "some-lock"
title = "Some lock"
protocol = "toy.lock"
component = "lock"
overlay = "some_lock"
start = ["{python}", "-c", ""]
"""
TOLD = "this explains every java.lang.Error"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with an overlay that the compiler warns of, where the test then is."""
    adapter = tmp_path / "adapters" / "some-lock"
    for folder in (adapter, tmp_path / "spec"):
        folder.mkdir(parents=True)
    (tmp_path / "charter.toml").touch()
    (tmp_path / "spec" / "lock.charter").write_text(CHARTER)
    (adapter / "overlay.charter").write_text(OVERLAY)
    (adapter / "adapter.toml").write_text(TOML)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))
    return tmp_path


def test_a_fault_without_a_message_is_told_and_kept_until_the_overlay_changes(project, monkeypatch):
    (told,) = overlay.overlay_warnings(target("some-lock"))
    assert TOLD in told and "overlay.charter:3" in told
    checked = []
    called = "charter.project.compile.check_overlay_files"
    monkeypatch.setattr(called, lambda *given: checked.append(given) or ())
    assert overlay.overlay_warnings(target("some-lock")) == (told,)
    assert not checked
    file = Path("adapters/some-lock/overlay.charter")
    file.write_text(f"{OVERLAY}\n")
    assert overlay.overlay_warnings(target("some-lock")) == ()
    assert checked


def test_generate_run_and_test_tell_the_warnings_of_overlays(project, conform):
    code, _, err = conform("generate")
    assert (code, TOLD in err) == (0, True)
    _, _, err = conform("run", "--target", "some-lock")
    assert TOLD in err
    _, out, _ = conform("test")
    assert TOLD in out
    assert "overlay   adapters/some-lock/overlay.charter: 1 warning" in out


def test_a_report_tells_the_warnings_of_the_overlays_of_its_runs(
    conform, targets_folder, tiny_toy_suite, monkeypatch
):
    given = ("--suite", tiny_toy_suite, "--engine", "inline", "--out", "run")
    conform("run", "--target", targets_folder("faithful"), *given)
    monkeypatch.setattr("conform.cli.commands.judge.report.overlay_warnings", lambda _: (TOLD,))
    code, _, err = conform("report", "run", "run", "--out", "site")
    assert (code, err.count(TOLD)) == (0, 1)
