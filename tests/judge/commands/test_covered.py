"""`conform test` with a state cover: what it says of how much was judged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.support.caches import own_cache
from tests.unit.suites.test_state_cover import SHELF, without_single

ADAPTER = """from conform.sdk import About, Adapter, serve

class Shelf(Adapter):
    about = About("shelf", "1", "shelf", operations=OPERATIONS, observes=("here", "lent"))

    def start(self, question):
        self.here, self.lent = set(), 0

    def perform(self, operation, args):
        book = args.get("b")
        if operation == "count":
            return self.lent
        if operation == "has":
            return book in self.here
        if operation == "put":
            new = book not in self.here
            self.here.add(book)
            return new
        if book not in self.here:
            return False
        self.here.remove(book)
        self.lent = min(self.lent + 1, 2)
        return True

    def observe(self):
        return {"here": sorted(self.here), "lent": self.lent}

serve(Shelf())
"""
TOML = """id = "ID"
title = "Shelf"
protocol = "shelf"
component = "shelf"
start = ["{python}", "{adapter}/adapter.py"]

[not_compared]
"unsupported count" = "nobody counts"
"unsupported has" = "nobody looks"
obligations = "nobody counts, and nobody looks"
"""
SCENARIO = """scenario "nothing was lent" of shelf { Book = {a}
  do count() -> known do count() -> known }
"""
EVERY = ("put", "lend", "count", "has")


@pytest.fixture
def conform(conform_without_walks):
    """Runs a command in this process, without walks."""
    return conform_without_walks


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a charter of a shelf."""
    (tmp_path / "spec").mkdir()
    (tmp_path / "charter.toml").touch()
    (tmp_path / "spec" / "shelf.charter").write_text(without_single(SHELF))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))
    return tmp_path


def add_adapter(project: Path, name: str, operations: tuple[str, ...]) -> None:
    folder = project / "adapters" / name
    folder.mkdir(parents=True)
    (folder / "adapter.toml").write_text(TOML.replace("ID", name))
    (folder / "adapter.py").write_text(ADAPTER.replace("OPERATIONS", repr(operations)))


def test_a_target_that_lacks_what_answers_is_fine_by_what_was_judged(conform, project):
    add_adapter(project, "whole", EVERY)
    code, out, _ = conform("test")
    assert (code, out.splitlines()[-1]) == (0, "fine by the small suite with a state cover")
    add_adapter(project, "half", EVERY[:2])
    code, out, _ = conform("test")
    (place,) = (project / "build" / "runs").glob("half-*/summary.json")
    counted = json.loads(place.read_text(encoding="utf-8"))
    assert counted["judged"] < counted["suite_vectors"]
    part = f"{counted['judged']} of {counted['suite_vectors']} vectors"
    last = f"fine by the small suite with a state cover ({part})"
    assert (code, out.splitlines()[-1]) == (0, last)


def test_a_cover_of_edited_scenarios_is_not_called_the_one_of_the_charter(conform, project):
    add_adapter(project, "whole", EVERY)
    conform("test")
    cover = "build/suites/shelf-charter-cover"
    run = ("run", "--target", "whole", "--out")
    _, out, _ = conform(*run, "build/same", "--suite", cover)
    assert "fine by the small suite with a state cover" in out.splitlines()[-1]
    charter = project / "spec" / "shelf.charter"
    charter.write_text(charter.read_text() + SCENARIO)
    assert conform("vectors", "spec/shelf.charter", "--profile", "cover")[0] == 0
    _, out, _ = conform(*run, "build/edited", "--suite", cover)
    assert "a small suite that no `conform generate` made" in out.splitlines()[-1]
    assert "cover" not in out.splitlines()[-1]


def test_a_cover_is_made_once_for_all_targets_of_a_charter(conform, project):
    add_adapter(project, "one", EVERY)
    add_adapter(project, "two", EVERY)
    code, out, _ = conform("test")
    assert (code, out.count("of the 9 states of tiny")) == (0, 1)
    runs = sorted((project / "build" / "runs").glob("*/summary.json"))
    covered = [json.loads(one.read_text(encoding="utf-8"))["state_cover"] for one in runs]
    assert covered == [True, True]
