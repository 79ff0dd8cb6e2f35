"""Which instance and which mutants are searched, and what is said of a word that is misspelt."""

import contextlib
import json

import pytest
from tests.support.boxes import TOY

from charter import api
from conform.cli import main as cli

MUTANTS = """
instance one of box { Node = 1 }
mutant forgets in one { replace update held of box.put/kept with {} } caught by at_most_one
mutant keeps_all in tiny { drop branch box.put/full } caught by at_most_one
"""


@pytest.fixture
def edited(toy):
    wrong = 'always never_full of box cites S "1": held == {}\n'
    toy.write_text(TOY.replace(wrong, "") + MUTANTS, encoding="utf-8")
    return toy


def test_a_mutant_is_searched_in_its_own_instance(conform, edited):
    code, out, _ = conform("explore", edited, "--mutant", "keeps_all", "--json")
    found = json.loads(out)
    assert (code, found["instance"]) == (1, "tiny")
    assert found["mutant"] == {
        "name": "keeps_all", "caught_by": "at_most_one", "instance": "tiny", "answer": "caught",
        "detail": "",
    }  # fmt: skip
    _, out, _ = conform("explore", edited, "--mutant", "forgets", "--json")
    assert json.loads(out)["instance"] == "one"
    _, out, _ = conform("simulate", edited, "--mutant", "forgets", "--json")
    assert json.loads(out)["instance"] == "one"


def test_a_mutant_that_is_not_caught_is_4(conform, edited):
    code, out, _ = conform("explore", edited, "--mutant", "keeps_all")
    assert code == 1
    assert out.endswith("mutant keeps_all is caught by at_most_one\n")
    code, out, _ = conform("explore", edited, "--mutant", "forgets")
    assert code == 4
    assert "mutant forgets is NOT caught: at_most_one holds in one\n" in out
    code, out, _ = conform("explore", edited, "--mutant", "keeps_all", "--instance", "one")
    assert code == 4
    assert "NOT caught: at_most_one holds in one; it is meant for tiny\n" in out


def test_explore_names_the_other_instances_when_none_was_chosen(conform, edited):
    told = "only tiny was searched, of 2 instances; --instance NAME or '*' searches others: one\n"
    assert told in conform("explore", edited)[2]
    assert "was searched" not in conform("explore", edited, "--instance", "one")[2]
    assert "was searched" not in conform("explore", edited, "--instance", "*")[2]


@pytest.mark.parametrize("command", ["explore", "simulate", "mutate", "vectors"])
def test_a_mutant_with_a_wrong_name_is_an_error_of_every_command(conform, edited, command):
    text = edited.read_text(encoding="utf-8").replace(
        "mutant forgets in one", "mutant forgets in oen"
    )
    edited.write_text(text.replace("caught by at_most_one", "caught by at_most_two", 1))
    code, out, err = conform(command, edited)
    shown = out + err  # `vectors` prints its result on stdout
    assert "the mutant forgets is left out, since it has errors" in err and code > 0
    assert "there is no instance `oen`" in shown and "did you mean `one`?" in shown
    assert "there is no property `at_most_two`" in shown
    if command in ("explore", "simulate"):
        assert "`at_most_two`" in conform(command, edited, "--mutant", "forgets")[1]


def test_a_property_that_calls_the_replaced_function_is_named(conform, edited):
    text = edited.read_text(encoding="utf-8")
    text = text.replace(
        "branch full cites silent when held != {}", "branch full cites silent when full(held)"
    )
    text = text.replace("size(held) <= 1", "full(held) or held == {}")
    text = text.replace(
        "component box", "fun full(held: set Node) -> bool = held != {}\n\ncomponent box"
    )
    bent = "mutant bent in tiny { replace fun full with size(held) != 1 } caught by at_most_one\n"
    edited.write_text(text + bent, encoding="utf-8")
    code, out, _ = conform("explore", edited, "--mutant", "bent")
    assert code == 4
    told = "at_most_one calls full, which the mutant replaces, so it asks for what the mistake does"
    assert told in out
    assert told in conform("explore", edited, "--mutant", "b*")[1]


def test_all_mutants_of_a_pattern_are_tried(conform, edited):
    code, out, _ = conform("explore", edited, "--mutant", "*")
    assert code == 4
    assert out == (
        "forgets    NOT CAUGHT  by at_most_one in one\n"
        "keeps_all  caught      by at_most_one in tiny after 2 steps\n"
        "1 of 2 mutants are caught\n"
    )
    code, out, _ = conform("explore", edited, "--mutant", "k*", "--json")
    (row,) = json.loads(out)["mutants"]
    assert (code, row["answer"], row["steps"]) == (0, "caught", 2)
    code, out, err = conform("explore", edited, "--mutant", "x*")
    assert (code, out) == (2, "")
    assert "no mutant is called 'x*'; there are: forgets, keeps_all" in err


def test_a_mutant_is_not_known_to_be_caught_when_the_search_gives_up(conform, edited):
    code, out, _ = conform("explore", edited, "--mutant", "f*", "--most", "1")
    assert code == 3
    assert out.startswith("forgets  not known   by at_most_one in one: the search gave up\n")
    code, out, _ = conform("explore", edited, "--mutant", "forgets", "--most", "1")
    assert code == 3
    assert (
        "whether mutant forgets is caught by at_most_one is not known: the search gave up\n" in out
    )


@pytest.mark.parametrize("option", [("--instance", "tiny"), ("--set", "Node=1"), ("--itf", "a")])
def test_a_pattern_of_mutants_takes_each_in_its_own_instance(conform, edited, option):
    code, _, err = conform("explore", edited, "--mutant", "*", *option)
    assert code == 2
    assert f"{option[0]} is for one mutant; a pattern takes each in its instance" in err


@pytest.mark.parametrize(
    ("instances", "chosen"),
    [
        ("instance only of box { Node = 1 }", "only"),
        ("instance tiny_b of box { Node = 1 }\ninstance tiny of box { Node = 1 }", "tiny"),
        ("instance a of box { Node = 1 }\ninstance tiny_b of box { Node = 1 }", "tiny_b"),
    ],
)
def test_an_instance_need_not_be_named_where_one_is_meant(conform, toy, instances, chosen):
    toy.write_text(TOY.replace("instance tiny of box { Node = 2 }", instances), encoding="utf-8")
    _, out, _ = conform("explore", toy, "--json")
    assert json.loads(out)["instance"] == chosen


def test_an_instance_has_to_be_named_where_none_is_meant(conform, toy):
    toy.write_text(TOY.replace("tiny", "a") + "instance b of box { Node = 1 }", encoding="utf-8")
    code, _, err = conform("explore", toy)
    assert code == 2
    assert "no instance is called tiny: choose one; there are: a, b" in err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("explore", "x", "--instence", "tiny"), "did you mean --instance?"),
        (("explore", "x", "--pictrue=a.svg"), "did you mean --picture?"),
        (("exlore",), "did you mean explore?"),
    ],
)
def test_a_misspelt_word_is_asked_about(capsys, words, meant):
    with contextlib.suppress(SystemExit):
        assert cli.main(words) == 2
    assert meant in capsys.readouterr().err


def test_a_wrong_value_is_no_misspelt_option(capsys):
    with contextlib.suppress(SystemExit):
        assert cli.main(("run", "--target", "x", "--limit", "0")) == 2
    told = capsys.readouterr().err
    assert "argument --limit: '0' is not a whole number from 1 on; conform run --help" in told


def test_mutants_as_tla_have_a_folder_of_their_own(conform, edited, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, out, _ = conform("generate", edited, "--backend", "tla", "--mutant", "forgets")
    assert all(line.startswith("build/tla-forgets/") for line in out.splitlines())


TWO = """
component lamp { operation press() -> bool cites silent { branch pressed reply true } }
witness pressed of lamp: took press
instance dark of lamp { }
"""


@pytest.mark.parametrize("command", ["explore", "simulate"])
def test_a_mutant_is_not_searched_in_an_instance_of_another_machine(conform, edited, command):
    edited.write_text(edited.read_text() + TWO)
    code, out, err = conform(command, edited, "--mutant", "forgets", "--instance", "dark")
    assert (code, out) == (2, "")
    assert "mutant forgets is of box (instance one); dark is an instance of lamp" in err


def test_a_mutant_with_errors_is_told_and_the_others_are_tried(conform, edited):
    wrong = "mutant bad in one { replace update held of box.put/kept with 3 } caught by at_most_one"
    edited.write_text(edited.read_text() + wrong)
    code, out, err = conform("explore", edited, "--mutant", "*")
    assert code == 4 and out.splitlines()[-1] == "1 of 2 mutants are caught"
    assert "[type/mismatch]" in err and "the mutant bad is left out, since it has errors" in err
    code, out, err = conform("explore", edited, "--mutant", "bad")
    assert code == 1 and "[type/mismatch]" in out and "toy.charter has 1 error" in err


def test_what_the_engine_cannot_do_is_told_with_the_mutant(conform, edited):
    words = ("--mutant", "*", "--engine", "reference", "--fingerprints")
    code, _, err = conform("explore", edited, *words)
    assert code == 2
    assert "mutant forgets: the reference engine cannot do it" in err


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_mutants_that_were_tried_are_told_when_it_is_interrupted(
    conform, edited, monkeypatch, words
):
    explore, tried = api.explore, []

    def interrupt(*given):
        if tried:
            raise KeyboardInterrupt
        tried.append(explore(*given))
        return tried[0]

    monkeypatch.setattr(api, "explore", interrupt)
    code, out, err = conform("explore", edited, "--mutant", "*", *words)
    assert code == 130
    assert "interrupted; 1 of 2 mutants were tried" in err
    assert "forgets" in out and "keeps_all" not in out


FAILS_OTHERWISE = """protocol toy.cup
component cup {
  state held: option bool = none
  operation put() -> bool {
    branch full when held != none reply false
    branch done { held' = present(true) reply true }
  }
  operation take() -> bool {
    branch nothing when empty: held == none reply false
    branch taken { held' = none reply value(held) }
  }
}
always small of cup: held != present(false)
witness one of cup: held == present(true)
instance tiny of cup {}
mutant takes_nothing in tiny {
  replace conjunct empty of cup.take/nothing with false
} caught by small
"""


def test_a_mutant_that_fails_otherwise_says_how(conform, toy):
    toy.write_text(FAILS_OTHERWISE)
    told = "it fails otherwise: take asks for a value that does not exist ("
    code, out, _ = conform("explore", toy, "--mutant", "*")
    assert code == 4
    assert out.startswith(f"takes_nothing  NOT CAUGHT  by small in tiny: {told}")
    code, out, _ = conform("explore", toy, "--mutant", "takes_nothing")
    assert code == 1
    assert f"takes_nothing is NOT caught: small holds in tiny; {told}" in out


def test_a_mutant_that_another_property_sees_says_which(conform, toy):
    wrong = """mutant keeps_all in tiny { drop branch box.put/full } caught by even
always even of box: size(held) < 9
"""
    toy.write_text(TOY.replace('always never_full of box cites S "1": held == {}\n', "") + wrong)
    told = "it fails otherwise: at_most_one does not hold"
    _, out, _ = conform("explore", toy, "--mutant", "*")
    assert out.startswith(f"keeps_all  NOT CAUGHT  by even in tiny: {told}")
    assert told in conform("explore", toy, "--mutant", "keeps_all")[1]
