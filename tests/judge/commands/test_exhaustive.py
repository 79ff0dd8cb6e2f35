"""`conform run --exhaustive` asks all transitions of an instance, and certifies what was
executed."""

from __future__ import annotations

import json
import re

import pytest
from tests.judge.test_preludes import SHOP
from tests.support.caches import own_cache

from charter.formats.suite import read_manifest
from charter.suites.touring import tours
from conform.runs.touring.certificate_text import tell_certificate

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
COIN = """protocol coin

enum Side { heads, tails, none_yet }

component coin {
  state side: Side = none_yet
  state spent: bool = false
  operation flip() -> bool {
    branch again when thrown: side != none_yet reply false
    branch thrown { pick s in {heads, tails}  side' = s  reply true }
  }
  operation spend() -> bool {
    branch no when not_tails: side != tails reply false
    branch yes { spent' = true  reply true }
  }
  observe all { side, spent }
}

witness spends of coin: spent

instance once of coin {
}
"""
ALWAYS_HEADS = """from conform.sdk import About, Adapter, serve

class Coin(Adapter):
    about = About("coin", "1", "coin", operations=("flip", "spend"), observes=("side", "spent"))

    def start(self, question):
        self.side = "none_yet"

    def perform(self, operation, args):
        before, self.side = self.side, "heads" if operation == "flip" else self.side
        return operation == "flip" and before == "none_yet"

    def observe(self):
        return {"side": self.side, "spent": False}

serve(Coin())
"""
TOML = """id = "{id}"
title = "{title}"
protocol = "{protocol}"
component = "{protocol}"
capabilities = []
start = ["{{python}}", "{{adapter}}/adapter.py"]
"""
BOTH = '("serve", "unlock")'
ADAPTERS = {
    "right": ADAPTER.replace("OPERATIONS", BOTH).replace("WRONG", "pass"),
    "forgets": ADAPTER.replace("OPERATIONS", BOTH).replace("WRONG", "self.served.clear()"),
    "shut": ADAPTER.replace("OPERATIONS", '("serve",)').replace("WRONG", "pass"),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with a shop that is right, one that forgets, one that cannot unlock, and a coin
    that always shows heads."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "spec").mkdir()
    (folder / "charter.toml").touch()
    whole = "\ninstance whole of shop {\n  Guest = {ann, bob, cid}\n}\n"
    (folder / "spec" / "shop.charter").write_text(SHOP + whole)
    (folder / "spec" / "coin.charter").write_text(COIN)
    for name, text in {**ADAPTERS, "heads": ALWAYS_HEADS}.items():
        place = folder / "adapters" / name
        place.mkdir(parents=True)
        about = "coin" if name == "heads" else "shop"
        toml = TOML.format(id=name, title=about.capitalize(), protocol=about)
        (place / "adapter.toml").write_text(toml)
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
    code, finished, err = judge("right", "whole")
    assert code == 0
    assert "older version" not in err
    assert not any("older version" in reason for reason in finished["summary"]["reasons"])
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


def test_no_tour_has_an_operation_that_the_target_lacks(judge, project):
    code, finished, _ = judge("shut", "whole")
    assert code == 3  # the small suite has it
    held = finished["summary"]["certificate"]
    suite = project / "build" / "suites" / "shop-charter-exhaustive-whole"
    vectors = map(json.loads, (suite / "vectors.jsonl").read_text().splitlines())
    tours = [vector for vector in vectors if "asks" in vector["why"]]
    assert {c["operation"] for v in tours for c in v["question"]["operations"]} == {"serve"}
    # It can serve a guest in the first state; all else needs the door.
    assert (held["executed"], held["not_executed"]) == (1, {"unsupported": held["transitions"] - 1})
    assert held["instance"]["unsupported"] == held["transitions"] - 1


def test_spark_gives_the_same_certificate(judge, spark, tmp_path):
    one, two = (
        judge("forgets", "whole", "--engine", engine, "--out", str(tmp_path / engine))[1]
        for engine in ("inline", "spark")
    )
    assert one["summary"]["certificate"] == two["summary"]["certificate"]
    assert one["summary"]["asked_transitions"] == two["summary"]["asked_transitions"]


def test_a_run_that_was_cut_off_goes_on_to_the_same_certificate(judge, tmp_path):
    place = tmp_path / "run"
    once = judge("forgets", "whole", "--out", str(place))[1]["summary"]
    (place / "summary.json").unlink()
    commits = sorted((place / "commits").iterdir())
    commits[-1].unlink()
    _, again, err = judge("forgets", "whole", "--out", str(place))
    assert f"continuing the run in {place}: {len(commits) - 1} buckets are done" in err
    assert again["summary"]["certificate"] == once["certificate"]


def test_judging_again_and_the_report_have_the_certificate(judge, conform, tmp_path):
    finished = judge("right", "whole")[1]
    again = str(tmp_path / "again")
    named = ("--suite", "build/suites/shop-charter-exhaustive-whole", "--out", again)
    text = conform("rejudge", finished["folder"], *named, "--json")[1]
    assert json.loads(text)["summary"]["certificate"] == finished["summary"]["certificate"]
    assert conform("report", again, "--out", str(tmp_path / "site"))[0] == 0
    pages = [path.read_text() for path in (tmp_path / "site").rglob("*.html")]
    assert any("transitions of whole were executed" in page for page in pages)


def test_the_sentences_of_a_target_that_hides_variables_say_so():
    counts = {"transitions": 4, "executed": 2, "deviating": 1, "instance": {"name": "tiny"}}
    lost = {"not_executed": {"elsewhere": 1, "behind_choice": 1}}
    assert [*tell_certificate({"certificate": counts | lost, "hidden": {}})] == [
        "certificate: 2 of 4 transitions of tiny were executed, 1 of these deviates,"
        " as far as the target shows it",
        "not executed: 1, made in another state after a deviation;"
        " 1, behind a choice of the target",
    ]


def test_a_part_of_the_suite_certifies_a_part(judge, monkeypatch):
    monkeypatch.setattr(tours, "OPERATIONS_MAX", 1)
    held = judge("right", "tiny", "--limit", "1")[1]["summary"]["certificate"]
    assert held["not_executed"].keys() == {"left_out"}
    assert held["executed"] + held["not_executed"]["left_out"] == held["transitions"]
    assert not held["complete"]


def test_behind_a_choice_counts_where_the_target_went(judge):
    code, finished, _ = judge("heads", "once")
    assert code == 0
    held = finished["summary"]["certificate"]
    # Both operations count before the flip, and on the side that this target always shows.
    assert held["transitions"] == 8
    assert (held["executed"], held["not_executed"]) == (4, {"behind_choice": 4})
    assert not held["complete"]


def test_the_terminal_says_what_was_executed(judge, conform):
    given = ("--exhaustive", "whole", "--engine", "inline")
    right = conform("run", "--target", "right", *given)[1]
    assert " transitions of whole were executed, none of these deviates\n" in right
    assert re.search(r"certificate: all \d+ transitions of", right)
    assert "older version" not in right
    forgets = conform("run", "--target", "forgets", *given)[1]
    assert re.search(r"\nnot executed: \d+, made in another state after a deviation\n", forgets)


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
