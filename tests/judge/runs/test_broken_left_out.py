"""Each command that reads a charter goes on without the scenarios and instances that have errors,
also those that cannot be parsed."""

import io
import json
import shutil
import sys

import pytest
from tests.judge.adapters.test_errors_of_others import BOX, INSTANCE, SCENARIO
from tests.support import spec

CUT = 'scenario "cut" of box { Node = {a} do put( }\n'
NONSENSE = "instance nonsense of box { Node = 2 and so on )\n"
BROKEN = SCENARIO + CUT + INSTANCE + NONSENSE
TOLD = ('scenario "bad"', 'scenario "cut"', "instance odd", "instance nonsense")
CLAIMS = """[[section]]
title = "Counts"
[[section.claim]]
id = "B1"
says = "Two fit."
cites = []
verdict = "confirmed"
scenarios = ["two"]
"""
CLASSES = "protocol toy.box\nwitness both of box: size(held) == 2\n"


@pytest.fixture
def charter(tmp_path, monkeypatch):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "coverage").mkdir()
    (tmp_path / "coverage" / "classes.charter").write_text(CLASSES)
    (tmp_path / "box.claims.toml").write_text(CLAIMS)

    def write(*more, text=BOX):
        path = tmp_path / "box.charter"
        path.write_text(text + "".join(more))
        return path

    return write


@pytest.mark.parametrize(
    "words",
    [
        "explore CHARTER --json",
        "simulate CHARTER --walks 3",
        "coverage CHARTER",
        "coverage CHARTER --pairs",
        "verdicts CHARTER",
        "claims CHARTER",
        "prove CHARTER",
        "eval CHARTER held",
        "eval CHARTER held --scenario two",
        "mutate CHARTER --jobs 1 --rule *kept --limit 1 --seed 1",
        "vectors CHARTER --out suite --json",
        "generate CHARTER --backend tla --out tla",
        "generate CHARTER --backend handbook --format markdown --out book",
        "generate CHARTER --adapter python --out adapter",
    ],
)
def test_the_results_about_the_rest_stand(conform, charter, tmp_path, words):
    def call(path):
        told = [str(path) if word == "CHARTER" else word for word in words.split()]
        code, out, err = conform(*told)
        texts = {}
        for name in ("suite", "tla", "book", "adapter"):
            files = (file for file in (tmp_path / name).rglob("*") if file.suffix != ".json")
            texts |= {str(file): file.read_bytes() for file in files if file.is_file()}
            shutil.rmtree(name, ignore_errors=True)
        if "explore" in words:
            out = json.loads(out) | {"seconds": 0}
        return code, out, err, texts

    sound, broken = call(charter()), call(charter(BROKEN))
    assert sound[0] in (0, 1, 3, 4) and broken[0] == (sound[0] or 2), broken
    if "vectors" in words:
        counts = [json.loads(said[1])["counts"] for said in (sound, broken)]
        assert counts[0] == counts[1]
    else:
        assert broken[1] == sound[1]
    assert broken[3] == sound[3]
    for one in TOLD:
        assert f"the {one} is left out, since it has errors\n" in broken[2]
        assert f"the {one} " not in sound[2]
    assert broken[2].count("error: [syntax/unexpected]") == 2
    assert broken[2].count("error: [name/unknown]") == 2


def test_repl_goes_on_and_ends_with_2(conform, charter, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("held\n:quit\n"))
    code, out, err = conform("repl", charter(BROKEN))
    assert (code, out) == (2, "{}: set Node\n")
    assert all(f"the {one} is left out" in err for one in TOLD)


@pytest.mark.parametrize(
    "words",
    [
        "verdicts CHARTER --write kept",
        "coverage CHARTER --write kept",
        "coverage CHARTER --pairs --write kept",
        "claims CHARTER --write kept",
        "mutate CHARTER --jobs 1 --update",
        "vectors CHARTER --search --out kept",
        "vectors CHARTER --profile full --out kept",
        "simulate CHARTER --instance nonsense",
        "prove CHARTER --instance odd",
        "eval CHARTER held --instance nonsense",
        "eval CHARTER held --scenario cut",
    ],
)
def test_what_is_kept_or_asked_for_must_be_whole(conform, charter, tmp_path, words):
    path = charter(BROKEN)
    before = sorted(tmp_path.glob("*"))
    code, out, err = conform(*[str(path) if word == "CHARTER" else word for word in words.split()])
    assert code == 1 and "error: [syntax/unexpected]" in out + err
    assert {*tmp_path.glob("*")} - {*before} <= {tmp_path / "cache"}


@pytest.mark.parametrize("command", ["simulate", "verdicts", "prove", "claims", "vectors"])
def test_a_rule_that_cannot_be_parsed_refuses_with_all_errors(conform, charter, command):
    path = charter(BROKEN, "fun f(n: Node) -> bool = \nalways seen of box: f(helt)\n")
    code, out, err = conform(command, path)
    assert code == 1 and "left out" not in err
    told = out + err
    assert told.count("error: [syntax/unexpected]") == 3
    assert "`helt`" in told and told.count("error: [name/unknown]") == 3


def test_a_claim_by_what_has_errors_is_told(conform, charter, tmp_path):
    path = charter(BROKEN)
    claims = tmp_path / "box.claims.toml"
    claims.write_text(CLAIMS.replace('"two"', '"cut"'))
    code, out, _ = conform("claims", path)
    assert code == 4 and "B1 is not confirmed: cut has errors" in out


def test_generated_files_need_charters_without_errors(conform, tmp_path):
    (tmp_path / "spec").mkdir()
    (tmp_path / "charter.toml").touch()
    (tmp_path / "spec" / "box.charter").write_text(BOX + CUT)
    for more in ((), ("--check",)):
        code, out, err = conform("generate", "--root", tmp_path, *more)
        assert code == 1 and "error: [syntax/unexpected]" in out
        assert "nothing was generated: 1 error" in err
    assert not (tmp_path / "generated").exists()


def test_check_tells_every_error_of_a_text(conform, charter):
    code, out, err = conform("check", charter(BROKEN))
    assert code == 1 and "4 errors" in err
    assert out.count("error: [") == 4


def test_an_example_is_explored_without_the_scenario_that_cannot_be_parsed(conform, tmp_path):
    text = (spec.SPEC / "examples" / "paxos.charter").read_text(encoding="utf-8")
    title = text.index('scenario "')
    path = tmp_path / "paxos.charter"
    path.write_text(text[:title] + text[title:].replace("  do ", "  done ", 1))
    code, out, err = conform("explore", path, "--most", "50")
    assert code == 3 and "synod in the instance tiny" in out
    assert err.count("error: [") == 1 and 'the scenario "' in err
