"""An overlay entry that also allows what the charter says, in a step that it explains, denies
nothing there: `run` and `report` warn of it, unless it is of the class that may."""

import json
from pathlib import Path

import pytest
from tests.support.caches import own_cache

OVERLAY = """protocol lease
overlay mine of service {
  entry reused known_defect {
    replace in service.acquire branch granted {
      pick fresh in {true, false}
      let token = if fresh then bump(newest[lock]) else newest[lock]
      newest[lock]' = token
      lease[lock]' = present(Lease { holder: client, token: token, left: ttl })
      reply granted(token)
    }
  }
}
"""
ADDS = "adds 1 outcome to those of the charter in a step"
TOLD = "warning: the overlay entry reused also allows all that the charter allows, in 1 of the 1"


@pytest.fixture
def project(tmp_path, conform, monkeypatch):
    """The template, whose service reuses tokens, with an overlay; the test is in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))
    conform("init", ".", "--adapter", "python")
    adapter = Path("adapters/lease-python")
    bug = "RELEASED_IS_RENEWED = "
    service = (adapter / "lease.py").read_text(encoding="utf-8")
    (adapter / "lease.py").write_text(service.replace(f"{bug}True", f"{bug}False"))
    about = (adapter / "adapter.toml").read_text(encoding="utf-8")
    (adapter / "adapter.toml").write_text(f'overlay = "mine"\n{about}', encoding="utf-8")
    (adapter / "overlay.charter").write_text(OVERLAY, encoding="utf-8")


def test_run_and_report_warn_of_an_entry_that_also_allows_what_the_charter_says(project, conform):
    assert conform("generate")[0] == 0
    _, told, _ = conform("run", "--target", "lease-python", "--out", "run", "--engine", "inline")
    assert TOLD in told
    assert f"explained by reused: 1 vector; {ADDS}" in told
    _, _, later = conform("report", "run", "--out", "site")
    (page,) = Path("site").glob("runs/*/index.html")
    shown = page.read_text(encoding="utf-8")
    assert TOLD in later and TOLD.removeprefix("warning: ") in shown
    assert ADDS in shown
    summary = json.loads(Path("run/summary.json").read_text(encoding="utf-8"))
    assert summary["entries_allowing_both"] == ["reused"]
    found = summary["entry_steps"]["reused"]
    assert (found["steps"], found["added"], found["both"], found["step"]) == (1, 1, 1, 3)
