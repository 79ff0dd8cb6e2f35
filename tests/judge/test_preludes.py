"""The suite of an instance with a prelude is judged on a target that loads nothing."""

import json

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
start = ["nothing"]
"""


def test_a_target_that_cannot_load_performs_the_whole_suite(tmp_path, monkeypatch, capsys):
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
    lines = [json.loads(line) for line in (place / LINES).read_text().splitlines()]
    assert lines and all(line["question"]["given"] is None for line in lines)
    assert "unreached" not in read_manifest(place).counts
    capsys.readouterr()
    run = ["run", "--target", "reference", "--out", "build/run", "--suite", str(place), "--json"]
    assert cli.main([*run, "--engine", "inline"]) == 0
    kinds = json.loads(capsys.readouterr().out)["summary"]["verdicts"]
    assert kinds["conforms"] == sum(kinds.values()) == len(lines)
