"""A step that only a bound of the instance may refuse: its finding says so, and stays a finding."""

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
        self.open, self.held, self.most = True, 0, question.consts["most"]

    def perform(self, operation, args):
        if operation == "close":
            self.open = False
            return True
        self.held += 1
        return (self.open or self.ignores_close) and {has_room}

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
    """The findings of a shelf that has room, or not: their sentences, and what is below them."""
    (tmp_path / "spec").mkdir()
    (tmp_path / "adapters" / "shelf").mkdir(parents=True)
    (tmp_path / "adapters" / "shelf" / "adapter.toml").write_text(TOML)
    (tmp_path / "charter.toml").touch()
    (tmp_path / "spec" / "shelf.charter").write_text(SHELF)
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    assert cli.main(["vectors", "spec/shelf.charter", "--search", "--out", "build/found"]) == 0
    assert cli.main(["generate"]) == 0

    def run(*, ignores_close=False, has_room="True"):
        text = ADAPTER.format(ignores_close=ignores_close, has_room=has_room)
        (tmp_path / "adapters" / "shelf" / "adapter.py").write_text(text)
        out = ["--engine", "inline", "--out", "build/run"]
        assert cli.main(["run", "--target", "shelf", *out]) == 1
        summary = json.loads((tmp_path / "build" / "run" / "summary.json").read_text())
        return {
            one["rule"]: (one["sentence"], one["shrunk"]["shown"][-1])
            for one in summary["findings"]
        }

    return run


@pytest.mark.parametrize("has_room", ["True", "self.held - 1 <= self.most"])
def test_finding_says_below_its_sentence_that_a_bound_may_refuse_the_step(judge, has_room):
    """A target that is off by one looks the same, so the sentence of the finding stays."""
    found = judge(has_room=has_room)
    assert found == {
        "put/full": (
            "put/full: expected reply = false, got true",
            "conforms with most = 2: if `most` is only a bound of the instance, this is the bound"
            " of the model",
        )
    }


def test_finding_of_a_rule_says_nothing_of_bounds(judge):
    sentence, last = judge(ignores_close=True)["put/closed"]
    assert sentence == "put/closed: expected reply = false, got true"
    assert "conforms" not in last
