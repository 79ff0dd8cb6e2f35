"""A step that only a bound of the instance refuses is no rule, and its finding says so."""

import json

import pytest
from tests.support.caches import own_cache

from conform.cli import main as cli

SHELF = """protocol shelf

const most: int 1..3

component shelf {
  state held: int 0..most = 0
  state open: bool = true
  operation put() -> bool {
    branch closed when shut: not open reply false
    branch full when no_room: held == most reply false
    branch stored { held' = held + 1  reply true }
  }
  operation close() -> bool {
    branch done { open' = false  reply true }
  }
  observe all { open }
}

witness fills of shelf: held == most

instance tiny of shelf {
  most = 1
}
"""
ADAPTER = """
from conform import sdk

ABOUT = sdk.About("shelf", "1.0", "shelf", operations=("put", "close"), observes=("open",),
                  consts=("most",))

class Shelf(sdk.Adapter):
    about = ABOUT
    ignores_close = {ignores_close}

    def start(self, question):
        self.open = True

    def perform(self, operation, args):
        if operation == "close":
            self.open = False
            return True
        return self.open or self.ignores_close  # it has room for whatever comes

    def observe(self):
        return {{"open": self.open}}

sdk.serve(Shelf())
"""
TOML = """id = "shelf"
title = "Shelf"
protocol = "shelf"
component = "shelf"
sources = []
start = ["{python}", "{adapter}/adapter.py"]
"""


@pytest.fixture
def judge(tmp_path, monkeypatch):
    """The findings of a shelf that has room for whatever comes."""
    (tmp_path / "spec").mkdir()
    (tmp_path / "adapters" / "shelf").mkdir(parents=True)
    (tmp_path / "adapters" / "shelf" / "adapter.toml").write_text(TOML)
    (tmp_path / "charter.toml").touch()
    (tmp_path / "spec" / "shelf.charter").write_text(SHELF)
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    assert cli.main(["vectors", "spec/shelf.charter", "--search", "--out", "build/found"]) == 0
    assert cli.main(["generate"]) == 0

    def run(*, ignores_close):
        text = ADAPTER.format(ignores_close=ignores_close)
        (tmp_path / "adapters" / "shelf" / "adapter.py").write_text(text)
        out = ["--engine", "inline", "--out", "build/run"]
        assert cli.main(["run", "--target", "shelf", *out]) == 1
        summary = json.loads((tmp_path / "build" / "run" / "summary.json").read_text())
        return {one["rule"]: one["sentence"] for one in summary["findings"]}

    return run


def test_finding_says_that_a_bound_refused_the_step(judge):
    found = judge(ignores_close=False)
    assert found == {
        "put/full": "bound of the model (most = 1): put/full: expected reply = false, got true"
    }


def test_finding_of_a_rule_says_nothing_of_bounds(judge):
    found = judge(ignores_close=True)
    assert found["put/closed"] == "put/closed: expected reply = false, got true"
