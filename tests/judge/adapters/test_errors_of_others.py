"""`conform explore` and `conform mutate` go on without scenarios, instances and mutants that have
errors and that nobody asked for."""

import json

import pytest

BOX = """protocol toy.box
sort Node
component box {
  state held: set Node = {}
  operation put(node: Node) -> bool { branch kept { held' = held | {node} reply held == {node} } }
}
always counted of box: size(held) <= 2
witness some_held of box: held != {}
instance tiny of box { Node = 2 }
instance alone of box { Node = 1 }
scenario "two" of box { Node = {a, b} do put(a) do put(b) expect size(held) == 2 }
mutant forgets in tiny { drop update held of box.put/kept } caught by counted
"""
SCENARIO = 'scenario "bad" of box { Node = {a} do pat(a) }\n'
INSTANCE = "instance odd of box { Nod = 1 }\n"
MUTANT = "mutant lazy in tiny { drop update held of box.put/kept } caught by countd\n"


@pytest.fixture
def charter(tmp_path, monkeypatch):
    monkeypatch.setenv("CHARTER_CACHE", str(tmp_path / "cache"))

    def write(*more, text=BOX):
        path = tmp_path / "box.charter"
        path.write_text(text + "".join(more))
        return path

    return write


def test_explore_goes_on_when_what_has_errors_was_not_asked_for(conform, charter):
    path = charter(SCENARIO, INSTANCE, MUTANT)
    for asked in ((), ("--instance", "tiny")):
        code, out, err = conform("explore", path, *asked)
        assert code == 2 and "box in the instance tiny" in out and "nothing is violated" in out
        for line, told in (
            (13, "[name/unknown] box has no operation `pat`"),
            (14, "[name/unknown] `Nod` is neither a sort nor a constant"),
            (15, "[property/unknown] there is no property `countd`"),
        ):
            assert f"box.charter:{line}:" in err and f"error: {told}" in err
        assert "hint: did you mean `put`?" in err
        for one in ('scenario "bad"', "instance odd", "mutant lazy"):
            assert f"the {one} is left out, since it has errors\n" in err
    code, out, err = conform("explore", path, "--instance", "*", "--json")
    assert code == 2 and err
    rows = json.loads(out)["instances"]
    assert [row["instance"] for row in rows] == ["tiny", "alone"]


def test_explore_ends_as_it_would_when_there_is_a_finding(conform, charter):
    wrong = BOX.replace("<= 2", "<= 1")
    code, out, err = conform("explore", charter(SCENARIO, text=wrong), "--instance", "tiny")
    assert code == 1 and "counted" in out and 'scenario "bad" is left out' in err
    code, _, err = conform("explore", charter(SCENARIO), "--instance", "tiny", "--most", "1")
    assert code == 3 and 'scenario "bad" is left out' in err
    missed = "instance big of box { Node = 2  misses some_held }\n"
    code, _, err = conform("explore", charter(SCENARIO, missed), "--instance", "big")
    assert code == 4 and 'scenario "bad" is left out' in err


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        (INSTANCE, ("--instance", "odd")),
        (MUTANT, ("--mutant", "lazy")),
        (SCENARIO + "fun f(x: Nod) -> bool = true\n", ()),
        (SCENARIO + "fun f(x: Node) -> bool = ", ()),
    ],
)
def test_explore_refuses_when_what_has_errors_is_needed(conform, charter, more, asked):
    code, out, err = conform("explore", charter(more), *asked)
    assert code == 1 and "error: [" in out
    assert "left out" not in err and "conform explain CODE" in err


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ("instance more of box like odd {}\n", "instance more"),
        (MUTANT.replace("tiny", "odd").replace("countd", "counted"), "mutant lazy"),
    ],
)
def test_what_needs_something_with_errors_is_left_out_with_it(conform, charter, more, named):
    code, out, err = conform("explore", charter(INSTANCE, more), "--instance", "tiny")
    assert code == 2 and "nothing is violated" in out
    for one in ("instance odd", named):
        assert f"{one} is left out, since it has errors" in err


def test_explore_refuses_when_the_default_instance_has_errors(conform, charter):
    text = BOX[: BOX.index("instance alone")].replace("Node = 2 }", "Nod = 2 }")
    code, out, _ = conform("explore", charter("instance tiny_1 of box { Node = 1 }\n", text=text))
    assert code == 1 and "`Nod` is neither" in out
    two = text.replace("instance tiny", "instance first")
    code, out, _ = conform("explore", charter("instance second of box { Node = 1 }\n", text=two))
    assert code == 1 and "`Nod` is neither" in out  # the second is not the only one


def test_explore_tries_the_other_mutants_when_one_has_errors(conform, charter):
    wrong = "mutant no_update in tiny { drop update hld of box.put/kept } caught by counted\n"
    caught = BOX.replace("always counted of box: size(held) <= 2", "always counted of box: true")
    caught = caught.replace("always", "stepwise").replace(": true", ": held' != {}")
    code, out, err = conform("explore", charter(wrong, MUTANT, text=caught), "--mutant", "*")
    assert code == 2 and out.splitlines()[-1] == "1 of 1 mutants are caught", out + err
    assert "there is no update of `hld`" in err and "the mutant no_update is left out" in err
    assert "the mutant lazy is left out" in err
    code, out, _ = conform("explore", charter(wrong, text=caught), "--mutant", "*", "--json")
    assert code == 2 and [row["name"] for row in json.loads(out)["mutants"]] == ["forgets"]


def test_an_instance_is_searched_when_only_the_broken_text_changes(conform, charter):
    code, _, _ = conform("explore", charter(SCENARIO))
    assert code == 2
    assert conform("check", charter(SCENARIO))[0] == 1
    assert conform("simulate", charter(SCENARIO), "--walks", "1")[0] == 2
    assert conform("explore", charter(SCENARIO.replace("pat", "put")))[0] == 0


def test_mutate_goes_on_without_what_has_errors(conform, charter):
    code, out, _ = conform("mutate", charter(), "--jobs", "1", "--json")
    sound = json.loads(out)
    path = charter(SCENARIO, INSTANCE)
    broken, out, err = conform("mutate", path, "--jobs", "1", "--json")
    assert (code, broken) == (1, 1) and json.loads(out)["new"] == sound["new"] != []
    assert 'the scenario "bad" is left out' in err and "error: [name/unknown]" in err
    held = ("--rule", "*kept", "--limit", "1", "--seed", "1")
    codes = [conform("mutate", charter(*more), "--jobs", "1", *held)[0] for more in ((), (MUTANT,))]
    assert codes == [0, 2]


def test_mutate_refuses_when_it_would_update_or_was_asked_for_it(conform, charter):
    path = charter(SCENARIO, INSTANCE)
    for asked in (("--update",), ("--instance", "odd")):
        code, out, err = conform("mutate", path, "--jobs", "1", *asked)
        assert code == 1 and "error: [" in out and "left out" not in err
    assert [file.name for file in path.parent.glob("*.toml")] == []
