"""`conform run --exhaustive` asks all transitions of an instance, and certifies what was
executed."""

from __future__ import annotations

import json

import pytest
from tests.judge.test_preludes import SHOP
from tests.support.caches import own_cache

from charter.formats.suite import read_manifest
from charter.suites.touring import tours

ADAPTER = """from conform.sdk import About, Adapter, Unsupported, serve

class Shop(Adapter):
    about = About("shop", "1", "shop", operations=OPERATIONS, observes=("open", "served"))

    def start(self, question):
        self.open, self.served = False, set()

    def perform(self, operation, args):
        if operation == "unlock":
            before, self.open = self.open, True
            return not before
        if not self.open or args["guest"] in self.served:
            WRONG
            return False
        self.served.add(args["guest"])
        return True

    def observe(self):
        return {"open": self.open, "served": sorted(self.served)}

serve(Shop())
"""
TOML = """id = "{id}"
title = "Shop"
protocol = "shop"
component = "shop"
capabilities = []
start = ["{{python}}", "{{adapter}}/adapter.py"]
"""
BOTH = '("serve", "unlock")'
ADAPTERS = {
    "right": ADAPTER.replace("OPERATIONS", BOTH).replace("WRONG", "pass"),
    "forgets": ADAPTER.replace("OPERATIONS", BOTH).replace("WRONG", "self.served.clear()"),
    "shut": ADAPTER.replace("OPERATIONS", '("serve",)').replace("WRONG", "pass"),
}
SYSTEM = """
system street {
  parts shop: shop
  step visit(guest: Guest) {
    do shop.serve(guest)
  }
}
instance road of street {
  Guest = {ann}
}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with a target that is right, one that forgets, and one that cannot unlock."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "spec").mkdir()
    (folder / "charter.toml").touch()
    whole = "\ninstance whole of shop {\n  Guest = {ann, bob, cid}\n}\n"
    (folder / "spec" / "shop.charter").write_text(SHOP + whole)
    for name, text in ADAPTERS.items():
        place = folder / "adapters" / name
        place.mkdir(parents=True)
        (place / "adapter.toml").write_text(TOML.format(id=name))
        (place / "adapter.py").write_text(text)
    return folder


@pytest.fixture
def judge(project, conform, monkeypatch):
    """Runs `conform run --exhaustive` in the project: the exit code, the summary and stderr."""
    monkeypatch.setenv("CHARTER_CACHE", own_cache(project / "cache"))
    monkeypatch.chdir(project)
    if not (project / "generated").exists():
        assert conform("generate")[0] == 0

    def run(target, instance, *options):
        given = ("--target", target, "--exhaustive", instance, "--engine", "inline", "--json")
        code, out, err = conform("run", *given, *options)
        return code, json.loads(out) if out else {}, err

    return run


def test_all_transitions_are_executed_on_a_target_that_follows_the_charter(judge, project):
    code, finished, _ = judge("right", "whole")
    assert code == 0
    held = finished["summary"]["certificate"]
    # Up to renaming: the shop is shut, or open with 0 to 3 guests served.
    assert held["instance"]["states"] == 5
    assert held["transitions"] == held["executed"] > 10
    assert (held["deviating"], held["not_executed"], held["complete"]) == (0, {}, True)
    manifest = read_manifest(project / "build" / "suites" / "shop-charter-exhaustive-whole")
    assert held["suite"] == manifest.digest == finished["run"]["suite"]
    assert held["instance"]["sorts"] == {"Guest": 3}
    assert held["instance"]["operations"] == ["unlock", "serve"]


def test_what_follows_a_deviation_in_another_state_is_not_certified(judge):
    code, finished, _ = judge("forgets", "whole")
    assert code == 3  # no vector conforms, so it has no canaries
    held = finished["summary"]["certificate"]
    assert held["deviating"] > 0
    assert held["unexplained"] == held["deviating"]
    assert held["not_executed"]["elsewhere"] > 0
    assert held["executed"] + sum(held["not_executed"].values()) == held["transitions"]
    assert not held["complete"]


def test_vectors_with_an_unsupported_operation_are_not_certified(judge):
    code, finished, _ = judge("shut", "whole")
    assert code == 3
    held = finished["summary"]["certificate"]
    assert held["not_executed"]["unsupported"] > 0
    assert held["executed"] < held["transitions"]


def test_a_part_of_the_suite_certifies_a_part(judge, monkeypatch):
    monkeypatch.setattr(tours, "OPERATIONS_MAX", 1)
    held = judge("right", "tiny", "--limit", "1")[1]["summary"]["certificate"]
    assert held["not_executed"].keys() == {"left_out"}
    assert held["executed"] + held["not_executed"]["left_out"] == held["transitions"]
    assert not held["complete"]


def test_the_terminal_says_what_was_executed(judge, conform):
    given = ("--exhaustive", "whole", "--engine", "inline")
    assert "certificate: all " in conform("run", "--target", "right", *given)[1]
    assert "in another state, after a deviation" in conform("run", "--target", "forgets", *given)[1]


@pytest.mark.parametrize(
    ("instance", "sentence"),
    [
        ("hole", "shop has no instance 'hole'; did you mean whole?"),
        ("zzz", "shop has no instance 'zzz'; its instances are tiny, whole"),
    ],
)
def test_an_unknown_instance_is_refused(judge, instance, sentence):
    code, _, err = judge("right", instance)
    assert code == 2
    assert sentence in err


def test_a_suite_cannot_be_named_too(judge):
    code, _, err = judge("right", "whole", "--suite", "x")
    assert code == 2
    assert "--exhaustive makes a suite of its own; leave out --suite" in err
