"""The commands about charters: what they print, and how they end."""

import json
import shlex
from pathlib import Path

import pytest
from tests.support.boxes import TOY

from charter import api
from charter.explore.result import FirstViolation
from conform.console.files import LIST
from conform.console.progress import SearchListener

ROOT = Path(__file__).resolve().parents[3]


def test_check_is_silent_when_nothing_is_wrong(conform, toy):
    code, out, err = conform("check", toy)
    assert (code, out) == (0, "")
    assert "no errors, no warnings" in err


def test_check_prints_core_as_it_was_checked_or_after_a_pass(conform, toy):
    code, out, err = conform("check", toy, "--show-core")
    assert (code, err) == (0, "") and "protocol " in out and "match" not in out
    matching = "fun f(x: option Node) -> bool = match x { none -> false present(i) -> true }\n"
    toy.write_text(f"{TOY}{matching}always calls of box: f(none) implies held == {{}}\n")
    _, out, _ = conform("check", toy, "--show-core", "companions")
    assert "(match x {none -> false, present(i) -> true})" in out and "calls 1" in out
    code, out, _ = conform("check", toy, "--show-core", "match")
    assert code == 0 and "(if (x is none) then false else true)" in out


def test_check_shows_every_error_with_its_code(conform, toy):
    toy.write_text(TOY.replace("size(held) <= 1", "size(helt) <= no"), encoding="utf-8")
    code, out, err = conform("check", toy)
    assert code == 1
    assert out.count("[name/unknown]") == 2
    assert "2 errors" in err
    code, out, _ = conform("check", toy, "--json")
    assert {item["code"] for item in json.loads(out)} == {"name/unknown"}


def test_explore_finds_what_is_violated_and_the_way_there(conform, toy):
    code, out, _ = conform("explore", toy)
    assert code == 1
    assert "always never_full fails; the shortest trace:" in out
    assert "   1  put(node: n1)\n        by put/kept\n" in out


def test_explore_draws_what_it_found(conform, toy, tmp_path):
    code, out, _ = conform("explore", toy, "--picture", "-")
    assert code == 1
    assert "   1  ●" in out and "✗ always never_full fails here" in out
    picture, trace = tmp_path / "a.svg", tmp_path / "a.itf.json"
    code, _, err = conform("explore", toy, "--picture", picture, "--itf", trace)
    assert code == 1
    assert f"the picture is in {picture}" in err
    assert picture.read_text(encoding="utf-8").startswith("<svg ")
    assert json.loads(trace.read_text())["vars"] == ["held"]


def test_explore_has_nothing_to_draw_where_nothing_is_wrong(conform, toy, tmp_path):
    toy.write_text(TOY.replace('always never_full of box cites S "1": held == {}', ""))
    _, _, err = conform("explore", toy, "--picture", tmp_path / "a.svg")
    assert f"there is no finding to draw in {tmp_path / 'a.svg'}\n" in err
    assert not (tmp_path / "a.svg").exists()
    trace = tmp_path / "a.itf.json"
    _, _, err = conform("explore", toy, "--itf", trace)
    assert f"there is no finding to write to {trace}\n" in err and "draw" not in err
    _, _, err = conform("explore", toy, "--itf", trace, "--picture", "-")
    assert f"there is no finding to draw or to write to {trace}\n" in err


def test_explore_is_vacuous_when_a_witness_is_not_found(conform, toy):
    toy.write_text(TOY.replace('always never_full of box cites S "1": held == {}', ""))
    code, out, _ = conform("explore", toy)
    assert code == 4
    assert "witness two_held was not found" in out
    code, out, _ = conform("explore", toy, "--json")
    assert json.loads(out)["vacuous"] == [{"kind": "witness", "name": "two_held"}]


PARTIAL = """protocol toy.partial

component box {
  state n: int 0..6 = 0
  state last: option int 0..6 = none
  operation add(by: int 0..2) -> bool {
    branch full when n + by > 6 reply false
    branch odd when by == 2 and n == 3 { n' = value(last) reply true }
    branch up { n' = n + by reply true }
  }
}
always small of box: n == 5 implies value(last) == 3
witness some_added of box: n > 0
instance tiny of box {}
"""


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_explore_names_state_step_and_place_when_an_expression_fails(conform, toy, engine):
    toy.write_text(PARTIAL)
    code, out, _ = conform("explore", toy, "--engine", engine)
    assert code == 1
    operation = out[out.index("add asks for a value that does not exist") :]
    ending = "  in the state\n    n: 3\n    last: none\n   3  add(by: 2) fails\n"
    assert ending in operation and "toy.charter:8:47: value(none)" in operation
    prop = out[out.index("small asks for a value that does not exist") :]
    assert "        n: 4 -> 5\n  in the state\n    n: 5\n    last: none\n" in prop
    assert "toy.charter:12:37: value(none)" in prop


def test_explore_gives_up_where_it_is_told_to(conform, toy):
    toy.write_text(TOY.replace('always never_full of box cites S "1": held == {}\n', ""))
    assert conform("explore", toy, "--most", 1)[0] == 3
    assert conform("explore", toy, "--most", 0)[0] == conform("explore", toy)[0]


def test_what_is_violated_counts_in_a_search_that_gave_up(conform, toy):
    code, out, _ = conform("explore", toy, "--most", 2)
    assert code == 1
    assert "always never_full fails" in out and "the search stopped early" in out


SEVERAL = (
    TOY.replace("held == {}", "size(held) <= 1")
    + "instance large of box { Node = 3 }\ninstance tiny_one of box { Node = 1 }\n"
)


def test_explore_searches_all_instances_of_a_pattern(conform, toy):
    toy.write_text(SEVERAL)
    _, out, _ = conform("explore", toy, "--instance", "tiny*")
    told = [line for line in out.splitlines() if line.startswith("box in the instance")]
    assert told == ["box in the instance tiny", "box in the instance tiny_one"]
    found = json.loads(conform("explore", toy, "--instance", "*", "--json")[1])["instances"]
    assert [one["instance"] for one in found] == ["tiny", "large", "tiny_one"]
    code, _, err = conform("explore", toy, "--instance", "huge*")
    assert (code, err.count("there is no instance 'huge*'")) == (2, 1)
    code, _, err = conform("explore", toy, "--instance", "*", "--journal", toy.parent / "j")
    assert code == 2 and "--journal and --keep are for one instance" in err


def test_the_exit_code_of_several_searches_is_that_of_the_worst(conform, toy):
    large = "size({x for x in Node}) < 3 or held == {}"
    toy.write_text(SEVERAL.replace("never_full of box cites S \"1\": size(held) <= 1",
                                   f"never_full of box cites S \"1\": {large}"))  # fmt: skip
    names = ("tiny", "large", "tiny_one", "tiny*", "*")
    codes = [conform("explore", toy, "--instance", name)[0] for name in names]
    assert codes == [4, 1, 4, 4, 1]


@pytest.mark.parametrize(("more", "says"), [
    ((), "nothing is kept"),
    (("--journal", "build/there"), "the same command continues from the levels in build/there"),
])  # fmt: skip
def test_explore_says_what_is_kept_when_it_is_interrupted(conform, toy, monkeypatch, more, says):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("charter.api.explore", interrupt)
    code, _, err = conform("explore", toy, *more)
    assert code == 130 and says in err


@pytest.mark.parametrize("more", [(), ("--json",), ("--engine", "reference")])
def test_explore_says_what_was_found_before_it_was_interrupted(conform, toy, monkeypatch, more):
    toy.write_text(TOY.replace("when held != {}", "when size(held) > 2").replace("= 2 }", "= 3 }"))
    listen = SearchListener.__call__

    def interrupt(self, *now):
        listen(self, *now)
        if self.found.startswith("2 violations"):
            raise KeyboardInterrupt

    monkeypatch.setattr(SearchListener, "__call__", interrupt)
    monkeypatch.setattr("charter.explore.reference.search.REPORT_EVERY", 1)
    code, out, err = conform("explore", toy, *more)
    assert (code, out) == (130, "")
    *found, ended = err.splitlines()[-4:]
    assert found == [
        "always never_full fails, after 1 step",
        "always at_most_one fails, after 2 steps",
        "the same command with --most 1,000 shows their traces",
    ]
    assert ended.startswith("conform: interrupted after ") and "nothing is kept" in ended


def test_explore_says_what_was_found_before_a_search_failed(conform, toy, monkeypatch):
    def fails(_model, _instance, options, _progress):
        options.on_violation(FirstViolation("stepwise", "grows", 6, 12_345))
        raise api.CannotExplore("the disk is full")

    monkeypatch.setattr("charter.api.explore", fails)
    code, _, err = conform("explore", toy)
    assert code == 2
    assert err.splitlines()[-3:] == [
        "stepwise grows fails, after 6 steps",
        "the same command with --most 13,000 shows its trace",
        "conform: the disk is full",
    ]


def test_prove_tells_proved_from_open(conform, toy):
    code, out, _ = conform("prove", toy, "--json")
    found = json.loads(out)
    assert code == 3
    assert "at_most_one" in found["proved"]
    assert list(found["open"]) == ["never_full"]


def test_prove_refuses_an_instance_of_a_system(conform, tmp_path):
    text = (ROOT / "spec" / "examples" / "two_phase_commit.charter").read_text(encoding="utf-8")
    path = tmp_path / "commit.charter"
    for more, components in (
        ("", "none"),
        ("instance votes of participant { Participant = 1 }\n", "votes"),
    ):
        path.write_text(text + more, encoding="utf-8")
        code, out, err = conform("prove", path, "--instance", "tiny")
        told = "conform: tiny is an instance of the system transaction, and proofs are of"
        rest = "components: `conform explore` searches it; instances of components:"
        assert (code, out, err) == (2, "", f"{told} {rest} {components}\n")


def test_simulate_walks_alike_for_equal_seeds(conform, toy):
    walks = [conform("simulate", toy, "--steps", 3, "--seed", seed)[1] for seed in (5, 5)]
    assert walks[0] == walks[1]
    assert walks[0].startswith("   1  put(")


def test_simulate_finds_what_is_violated_and_the_seed_that_finds_it_again(conform, toy):
    code, out, _ = conform("simulate", toy, "--walks", 60, "--workers", 2)
    assert code == 1
    assert "always never_full fails; a shortened trace:\n   1  put(node: n" in out
    again = f"conform simulate {toy} --instance tiny --walks 50 --steps 10 --seed 0"
    assert f"  reproduce with: {again}\n" in out
    assert "never seen: witness two_held" in out


def test_simulate_repeats_a_finding_with_the_options_that_were_given(conform, toy):
    toy.write_text(
        TOY.replace("when held != {}", "when some_held: held != {}") + "mutant forgets in tiny "
        "{ replace conjunct some_held of box.put/full with false } caught by at_most_one\n"
    )
    given = ("--mutant", "forgets", "--set", "Node=3", "--unguided", "--steps", 7)
    _, out, _ = conform("simulate", toy, *given, "--walks", 60)
    line = next(line for line in out.splitlines() if "reproduce with: " in line)
    again = shlex.split(line.partition("reproduce with: ")[2])
    assert again == [
        "conform", "simulate", str(toy), "--instance", "tiny",
        "--mutant", "forgets", "--set", "Node=3",
        "--walks", "50", "--steps", "7", "--seed", "0", "--unguided",
    ]  # fmt: skip
    code, repeated, _ = conform(*again[1:])
    assert code == 1 and line in repeated.splitlines()


def test_simulate_says_the_same_in_any_number_of_processes(conform, toy):
    told = [
        conform("simulate", toy, "--walks", 120, "--workers", workers, "--json")[1]
        for workers in (1, 2)
    ]
    assert told[0] == told[1]
    found = json.loads(told[0])
    assert found["walks"] == 120 and found["steps"] == 1200
    assert [one["name"] for one in found["findings"]] == ["never_full"]


PASSES = "fold, narrow, companions, channels, match, updates, builtins, only, unused"


def test_simulate_is_0_when_nothing_is_violated(conform, toy):
    toy.write_text(TOY.replace('always never_full of box cites S "1": held == {}', ""))
    code, out, _ = conform("simulate", toy, "--walks", 20, "--unguided")
    assert code == 0
    assert out.endswith("nothing is violated on these walks\n")


@pytest.mark.parametrize("command", ["explore", "prove", "simulate"])
def test_instance_that_does_not_exist_is_named(conform, toy, command):
    code, _, err = conform(command, toy, "--instance", "huge")
    assert code == 2
    assert err == "conform: there is no instance 'huge'; there are: tiny\n"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("explore", "--mutant", "lay"), "there is no mutant 'lay'; there are: lazy"),
        (("simulate", "--mutant", "lay"), "there is no mutant 'lay'; there are: lazy"),
        (("explore", "--variant", "big"), "there is no variant 'big'; there are: none"),
        (("prove", "--variant", "big"), "there is no variant 'big'; there are: none"),
        (("vectors", "--variant", "big"), "there is no variant 'big'; there are: none"),
        (("check", "--show", "big"), "there is no variant 'big'; there are: none"),
        (("check", "--show-core", "mach"), f"there is no pass 'mach'; there are: {PASSES}"),
        (
            ("generate", "--backend", "tla", "--mutant", "x"),
            "there is no mutant 'x'; there are: lazy",
        ),
    ],
)
def test_variant_or_mutant_that_does_not_exist_is_one_sentence(conform, toy, words, sentence):
    mutant = "mutant lazy in tiny { drop update held of box.put/kept } caught by at_most_one\n"
    toy.write_text(TOY + mutant, encoding="utf-8")
    code, out, err = conform(*words, toy)
    assert (code, out) == (2, "")
    assert err == f"conform: {sentence}\n"


@pytest.mark.parametrize("command", ["check", "explore", "prove", "simulate"])
def test_charter_that_is_not_there_is_one_sentence(conform, command):
    code, _, err = conform(command, "nowhere.charter")
    assert code == 2
    assert err == "conform: nowhere.charter does not exist\n"


def test_broken_charter_is_shown_and_1(conform, toy):
    toy.write_text(TOY.replace("held != {} reply", "held ! {} reply"), encoding="utf-8")
    code, out, err = conform("explore", toy)
    assert code == 1
    assert "error: [syntax/unexpected]" in out
    assert "has 1 error" in err


def test_generate_brings_a_project_up_to_date_and_check_says_so(conform, tmp_path):
    (tmp_path / "spec").mkdir()
    (tmp_path / "charter.toml").touch()
    (tmp_path / "spec" / "toy.charter").write_text(TOY, encoding="utf-8")
    code, _, err = conform("generate", "--root", tmp_path)
    assert (code, "files changed" in err) == (0, True)
    assert conform("generate", "--root", tmp_path, "--check")[0] == 0
    next((tmp_path / "generated").rglob("prelude.py")).unlink()
    assert conform("generate", "--root", tmp_path)[2] == "1 file changed\n"
    changed = TOY.replace("when held != {}", "when size(held) > 1")
    (tmp_path / "spec" / "toy.charter").write_text(changed, encoding="utf-8")
    code, out, _ = conform("generate", "--root", tmp_path, "--check")
    assert code == 1
    assert "is stale; run `conform generate`" in out


def test_generate_writes_tla_of_one_charter(conform, toy, tmp_path):
    folder = tmp_path / "tla"
    code, out, _ = conform("generate", "--backend", "tla", toy, "--out", folder)
    assert code == 0
    assert sorted(Path(line).name for line in out.split()) == sorted(
        p.name for p in folder.iterdir() if p.name != LIST
    )
    assert "Charter.tla" in out and "_tiny.cfg" in out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--backend", "tla"), "--backend takes a charter"),
        (("--instance", "tiny"), "need --backend"),
        (("--backend", "tla", "TOY", "--instance", "huge"), "there is no instance 'huge'"),
        (("--backend", "tla", "nowhere.charter"), "nowhere.charter does not exist"),
    ],
)
def test_generate_says_what_is_missing_when_tla_is_asked_for(conform, toy, words, sentence):
    code, _, err = conform("generate", *(toy if word == "TOY" else word for word in words))
    assert (code, sentence in err) == (2, True)


def test_tla_that_cannot_be_written_is_refused_and_1(conform, toy, tmp_path):
    wide = TOY.replace("component ", "counter Deep\n\ncomponent ", 1)
    wide = wide.replace("operation put(", "operation deep(all: set Deep) -> bool cites silent"
                        " { branch only reply true }\n  operation put(", 1)  # fmt: skip
    toy.write_text(wide, encoding="utf-8")
    code, out, err = conform("generate", "--backend", "tla", toy, "--out", tmp_path / "tla")
    assert (code, "[tla/argument]" in out, "nothing was written" in err) == (1, True, True)
    assert not (tmp_path / "tla").exists()


def test_explain_shows_the_page_of_a_code(conform):
    code, out, _ = conform("explain", "type/mismatch")
    assert (code, out.startswith("# type/mismatch")) == (0, True)
    assert conform("explain", "no/such")[0] == 2
    assert "type/mismatch" in conform("explain", "--list")[1].split()


def test_explore_and_simulate_take_other_bounds_when_they_are_set(conform, toy):
    code, out, _ = conform("explore", toy, "--set", "Node=3", "--json")
    found = json.loads(out)
    assert (code, found["set"], found["bounds"]) == (1, {"Node": 3}, {"Node": 3})
    code, out, _ = conform("explore", toy, "--set", "Node=3")
    assert "box in the instance tiny with Node=3\n" in out
    code, out, _ = conform("simulate", toy, "--walks", "20", "--set", "Node=1", "--workers", "1")
    assert "box in the instance tiny with Node=1: 20 walks" in out
    assert "n2" not in out


@pytest.mark.parametrize("command", ["explore", "simulate"])
@pytest.mark.parametrize("setting", ["Nod=3", "Node=x", "Node=513"])
def test_a_bound_is_refused_with_those_that_exist(conform, toy, command, setting):
    code, out, err = conform(command, toy, "--set", setting)
    assert (code, out) == (2, "")
    assert "tiny has the bounds Node=2" in err and err.count("\n") == 1


def test_explore_lists_the_states_that_an_expression_is_true_in(conform, toy, tmp_path):
    code, out, _ = conform(
        "explore", toy, "--no-symmetry", "--where", "held != {}", "--limit", "1", "--picture", "-"
    )
    assert code == 1  # what the charter says of itself is violated, as without the question
    assert "held != {}: true in 2 of 3 states\nstate 1, level 1:\n   1  put(node: n1)\n" in out
    assert "and 1 more: --limit lists them" in out
    assert "put(n1)" in out
    code, out, _ = conform("explore", toy, "--where", "n2 in held", "--json")
    where = json.loads(out)["where"]
    assert (where["expression"], where["count"], where["undefined"]) == ("n2 in held", 1, 0)
    assert [state["state"] for state in where["states"]] == [{"held": ["n2"]}]
    assert [step["args"] for step in where["states"][0]["trace"]] == [{"node": "n2"}]
    assert "--where" not in json.loads(out)["verdicts"]


def test_explore_says_where_the_expression_of_a_question_is_wrong(conform, toy):
    code, out, err = conform("explore", toy, "--where", "size(held) == no")
    assert code == 2
    assert "--where:1:15: error: [name/unknown] `no` is not declared" in out
    assert "the expression of --where has 1 error" in err
    code, _, err = conform("explore", toy, "--where", "true", "--engine", "reference")
    assert (code, err) == (
        2,
        "conform: the reference engine cannot do it: --where needs the native one\n",
    )


@pytest.mark.parametrize("command", ["explore", "simulate"])
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--picture", "nowhere/a.svg"), "the folder nowhere does not exist"),
        (("--picture", "."), ". is a folder; name a file"),
        (("--itf", "nowhere/a.json"), "the folder nowhere does not exist"),
        (("--itf", "-"), "name a file; --json prints the trace of each finding"),
    ],
)
def test_a_picture_that_cannot_be_written_is_refused_before_the_search(
    conform, toy, command, words, sentence
):
    code, out, err = conform(command, toy, *words)
    assert (code, out) == (2, "")
    assert sentence in err


@pytest.mark.parametrize("command", ["explore", "simulate"])
def test_json_is_not_mixed_with_a_drawing(conform, toy, command):
    code, out, err = conform(command, toy, "--json", "--picture", "-")
    assert (code, out) == (2, "")
    assert "--json and --picture - both print; name a file for the picture" in err


@pytest.mark.parametrize("command", ["explore", "simulate"])
def test_json_has_the_trace_of_each_finding_in_itf(conform, toy, command):
    _, out, _ = conform(command, toy, "--json")
    (finding,) = [f for f in json.loads(out)["findings"] if f["kind"] == "always" and f["seen"]]
    assert finding["itf"]["vars"] == ["held"]
    assert len(finding["itf"]["states"]) == len(finding["steps"]) + 1


@pytest.mark.parametrize("size", ["0", "-1", "nan", "inf", "much"])
def test_an_amount_of_memory_is_more_than_nothing(conform, toy, size):
    code, _, err = conform("explore", toy, f"--memory={size}")
    assert code == 2
    assert f"'{size}' is not an amount of memory in GiB" in err


def test_an_empty_question_is_none(conform, toy):
    code, _, err = conform("explore", toy, "--where", " ")
    assert code == 2
    assert "an expression of the charter is expected" in err


def test_a_failure_of_which_no_run_can_be_shown_promises_none(conform):
    words = ("--instance", "small", "--mutant", "waits_for_ever", "--most", "9000")
    charter = ROOT / "spec" / "examples" / "two_phase_commit.charter"
    code, out, _ = conform("explore", charter, *words)
    assert code == 1
    assert "eventually decision fails\n  no run is shown: " in out
