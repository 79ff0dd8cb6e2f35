"""`conform test` finds a wrong lag of an empty stream, on fakeredis and on redis-server 7.0.15. It
does so by a cover of all states, which is made of the charter alone, before any walk: so every seed
finds it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
OTHERS = {
    "fakeredis": {"read_new/no_group", "read_history/no_group", "read_history/read"},
    "redis-server": {"read_new/nothing", "xclaim/nothing", "xautoclaim/swept"},
}
"""What the small suite shows besides: before 7.2 a consumer that gets nothing is not made."""
LONG = re.compile(r"-- For walks on a server.*?^}\n", re.DOTALL | re.MULTILINE)
"""An instance that `conform test` would explore for some seconds, and that has no questions."""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with the charter, what was found for it, and both adapters."""
    charter = ROOT / "spec" / "streams" / "consumer_groups.charter"
    text, cut = LONG.subn("", charter.read_text(encoding="utf-8"))
    assert cut == 1
    (tmp_path / "spec").mkdir()
    (tmp_path / "spec" / charter.name).write_text(text, encoding="utf-8")
    shutil.copytree(charter.parent / "found", tmp_path / "spec" / "found")
    for name in OTHERS:
        shutil.copytree(ROOT / "conformance" / "adapters" / name, tmp_path / "adapters" / name)
    (tmp_path / "charter.toml").write_text('charters = "spec"\nadapters = "adapters"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))  # nothing is remembered there
    return tmp_path


def read_findings(project, target):
    """The findings of the only run of a target, by their rules."""
    (place,) = (project / "build" / "runs").glob(f"{target}-*/summary.json")
    summary = json.loads(place.read_text(encoding="utf-8"))
    assert summary["trusted"] and summary["state_cover"]
    return {one["rule"]: one for one in summary["findings"]}


def check_lag(found):
    """A wrong lag of an empty stream is among the findings, in at most six operations."""
    lag = found["info_lag/answered"]
    calls = [one["operation"] for one in lag["shrunk"]["question"]["operations"]]
    assert len(calls) <= 6
    assert calls[-2:] == ["xtrim", "info_lag"]


def test_a_wrong_lag_of_fakeredis_is_found_without_walks(conform, project):
    code, out, _ = conform("test", "--adapter", "fakeredis", "--walks", "0")
    assert code == 1
    covered = "cover     stream: 335 of the 335 states of tiny, each after a shortest path, answer"
    assert f"{covered} xpending, info_lag with all arguments that can be named" in out
    assert "judged 253 of 253" in out
    found = read_findings(project, "fakeredis")
    assert {*found} == {"info_lag/answered", *OTHERS["fakeredis"]}
    check_lag(found)


@pytest.mark.slow
@pytest.mark.parametrize("target", OTHERS)
def test_a_wrong_lag_is_found_when_a_server_is_tested_with_defaults(conform, project, target):
    code, _, _ = conform("test", "--adapter", target)
    assert code == 1
    found = read_findings(project, target)
    assert {*found} >= OTHERS[target]
    check_lag(found)
