"""The suite of an instance with a prelude is judged on a target that loads nothing."""

import json
from pathlib import Path

import pytest
from tests.support.caches import own_cache

from charter.formats.suite import LINES, read_manifest
from conform.cli import main as cli

SHOP = """protocol shop

sort Guest

component shop {
  state open: bool = false
  state served: set Guest = {}
  operation unlock() -> bool {
    branch unlocked when shut: not open { open' = true  reply true }
    branch already reply false
  }
  operation serve(guest: Guest) -> bool {
    branch closed when shut: not open reply false
    branch again when known: guest in served reply false
    branch served { served' = served | {guest}  reply true }
  }
  observe all { open, served }
}
witness all_served of shop: forall guest in Guest: guest in served

instance tiny of shop {
  Guest = {ann, bob}
  start open = true
  start served = {ann}
  prelude {
    do unlock() -> unlocked
    do serve(ann) -> served
  }
  offers serve
}
"""
TOML = """id = "shop"
title = "Shop"
protocol = "shop"
component = "shop"
start = ["{python}", "{adapter}/adapter.py"]
"""


ADAPTER = """
from conform import sdk

class Shop(sdk.Adapter):
    about = sdk.About("shop", "1.0", "shop", operations={operations}, observes=("open", "served"))

    def start(self, question):
        self.open, self.served = False, set()

    def perform(self, operation, args):
        if operation == "unlock":
            {unlock}
            opens, self.open = not self.open, True
            return opens
        serves = self.open and args["guest"] not in self.served
        self.served |= {{args["guest"]}} if serves else set()
        return serves

    def observe(self):
        return {{"open": self.open, "served": sorted(self.served)}}

sdk.serve(Shop())
"""


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A project whose instance has a prelude: the vectors of its suite, and their folder."""
    (tmp_path / "spec").mkdir()
    (tmp_path / "adapters" / "shop").mkdir(parents=True)
    (tmp_path / "adapters" / "shop" / "adapter.toml").write_text(TOML)
    (tmp_path / "charter.toml").touch()
    (tmp_path / "spec" / "shop.charter").write_text(SHOP)
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    assert cli.main(["vectors", "spec/shop.charter", "--search", "--out", "build/found"]) == 0
    assert cli.main(["generate"]) == 0
    place = tmp_path / "generated" / "suites" / "shop" / "shop"
    return [json.loads(line) for line in (place / LINES).read_text().splitlines()], place


@pytest.fixture
def refuse(shop, conform):
    """Judges a shop that refuses to unlock: the exit code, the summary, how many vectors unlock it,
    and what was said."""

    def run(unlock, operations=("unlock", "serve")):
        text = ADAPTER.format(operations=operations, unlock=unlock)
        Path("adapters/shop/adapter.py").write_text(text)
        run = ("run", "--target", "shop", "--engine", "inline", "--out", "build/run")
        code, said, err = conform(*run)
        summary = json.loads(Path("build/run/summary.json").read_text())
        every = [line["question"]["operations"] for line in shop[0]]
        on_path = sum(any(call["operation"] == "unlock" for call in calls) for calls in every)
        return code, summary, on_path, said + err

    return run


def test_vectors_whose_path_the_target_lacks_are_not_compared_and_others_are(refuse):
    code, summary, on_path, said = refuse("pass", operations=("serve",))
    kinds = summary["verdicts"]
    assert (code, kinds["unsupported"], kinds["conforms"]) == (3, on_path, 1)
    assert f"judged 1 of {on_path + 1}; not compared: {on_path} unsupported unlock" in said


def test_a_path_that_the_target_refuses_is_one_finding_and_others_are_judged(refuse):
    code, summary, on_path, said = refuse('raise sdk.Fault("Locked", "no key")')
    kinds, sentences = summary["verdicts"], [one["sentence"] for one in summary["findings"]]
    assert (code, kinds["diverges"], kinds["conforms"]) == (1, on_path, 1)
    assert sentences == ["unlock/unlocked: expected true, got the fault Locked"]
    count = f"{on_path} of {on_path + 1}"
    assert f"{count} vectors end in their first operation with the fault Locked: no key" in said


def test_a_target_that_cannot_load_performs_the_whole_suite(shop, capsys):
    lines, place = shop
    assert lines and all(line["question"]["given"] is None for line in lines)
    assert "unreached" not in read_manifest(place).counts
    capsys.readouterr()
    run = ["run", "--target", "reference", "--out", "build/run", "--suite", str(place), "--json"]
    assert cli.main([*run, "--engine", "inline"]) == 0
    kinds = json.loads(capsys.readouterr().out)["summary"]["verdicts"]
    assert kinds["conforms"] == sum(kinds.values()) == len(lines)
