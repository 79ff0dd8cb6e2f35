"""`conform test`: one command from a charter and an adapter to a report."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
from tests.support import charters
from tests.support.caches import own_cache

ADAPTER = """import sys
from conform import sdk

class Lamp(sdk.Adapter):
    about = sdk.About("lamp", "1", "lamp", ("press",), ("lit",), ("load",))
    def start(self, question):
        self.lit = False if question.given is None else question.given["lit"]
    def perform(self, operation, args):
        self.lit = not self.lit
        return self.lit
    def observe(self):
        return {"lit": self.lit}

sdk.serve(Lamp())
"""
TOML = """id = "lamp"
title = "Lamp"
protocol = "lamp"
component = "lamp"
capabilities = ["load"]
start = ["{python}", "{adapter}/adapter.py"]
"""
LAMP = charters.LAMP + 'scenario "twice" of lamp { do press() -> on do press() -> off }\n'


@pytest.fixture
def conform(conform_without_walks):
    """Runs a command in this process; the tests of walks use `called`."""
    return conform_without_walks


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a lamp and its adapter, in a folder with blanks and umlauts."""
    root = tmp_path / "Lampen für alle"
    (root / "spec").mkdir(parents=True)
    (root / "adapters" / "lamp").mkdir(parents=True)
    (root / "charter.toml").touch()
    (root / "spec" / "lamp.charter").write_text(LAMP)
    (root / "adapters" / "lamp" / "adapter.toml").write_text(TOML)
    (root / "adapters" / "lamp" / "adapter.py").write_text(ADAPTER)
    monkeypatch.chdir(root)
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))
    return root


def test_a_fine_implementation_is_fine_and_a_broken_one_is_not(conform, project: Path) -> None:
    code, out, err = conform("test")
    assert code == 0, out + err
    assert [line.split()[0] for line in out.splitlines()[:6]] == [
        "check", "scenarios", "explore", "vectors", "generate", "ledger",
    ]  # fmt: skip
    assert "check     spec/lamp.charter: no errors, no warnings\n" in out
    assert "ledger    lamp: 4 obligations covered, 0 proved infeasible, 0 open\n" in out
    assert "explore   tiny: 2 states, nothing is violated" in out
    assert (project / "build" / "report" / "index.html").is_file()
    suites = [line for line in out.splitlines() if line.startswith("suite ")]
    assert [one.split("--profile ")[1].split()[0] for one in suites] == ["standard", "full"]
    assert suites[0].startswith("suite     small. One of some thousand vectors")
    assert "`, then `conform run --target lamp --suite build/standard`" in suites[0]
    assert out.endswith("fine by the small suite\n")
    source = project / "adapters" / "lamp" / "adapter.py"
    source.write_text(ADAPTER.replace("not self.lit", "True"))
    code, out, _ = conform("test", "spec/lamp.charter", "--adapter", "lamp", "--json")
    assert code == 1
    told = json.loads(out)
    assert told["exit"] == 1
    (run,) = told["runs"]
    assert {one["rule"] for one in run["summary"]["findings"]} == {"press/off"}
    vector = run["summary"]["findings"][0]["vector"]
    code, out, _ = conform("replay", vector, "--run", run["folder"])
    assert code == 1 and "DIVERGES" in out
    known = project / "baselines" / "lamp.toml"
    known.parent.mkdir()
    conform("run", "--target", "lamp", "--baseline", known, "--update-baseline")
    known.write_text(known.read_text().replace('reason = ""', 'reason = "old"'))
    code, out, err = conform("test")
    assert code == 0, out + err


def test_walks_are_made_if_no_option_says_otherwise(called, project: Path) -> None:
    code, out, err = called("test")
    assert code == 0, out + err
    assert out.endswith("\nfine by the small suite and 200 walks (seed 1)\n")
    assert "fine by the small suite and 200 walks (seed 1): no deviation from the charter;" in out
    code, out, err = called("test", "--walks", "9", "--seed", "4", "--json")
    assert [run["run"]["walks"]["count"] for run in json.loads(out)["runs"]] == [9]


def test_a_charter_without_instances_is_judged_without_walks(called, project: Path) -> None:
    path = project / "spec" / "lamp.charter"
    text = LAMP.partition("mutant stays_dark")[0] + LAMP.partition("instance tiny of lamp { }\n")[2]
    path.write_text(text)
    _, out, err = called("test")
    assert "walks     lamp: none: the charter has no instance of lamp to walk in\n" in out, err


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("lit' = true reply true", "lit' = 1 reply true", "type/mismatch"),
        ('"twice" of lamp { do press() -> on', '"twice" of lamp { do press() -> off',
         "scenarios 1, 1 failure"),
        ("scenario", "variant stuck { replace update lit of lamp.press/on with false }\nscenario",
         "scenarios 1, 1 failure"),
        ("scenario", "variant odd { drop update nothing of lamp.press/on }\nscenario",
         "1 error, no warnings"),
        ("took press/on implies lit'", "took press/off implies lit'", "1 violated"),
        ("{ lit' = true reply true }", "{ lit' = false reply true }", "1 violated"),
    ],
)  # fmt: skip
def test_a_wrong_charter_is_not_judged_by(
    conform, project: Path, before: str, after: str, said: str
) -> None:
    path = project / "spec" / "lamp.charter"
    path.write_text(LAMP.replace(before, after, 1))
    code, out, err = conform("test")
    assert (code, said in out + err) == (1, True), out + err
    assert ("no errors" in out) == (" 0 failures" in out)
    assert ("error: " in out) == (conform("check", path)[0] == 1)
    assert not (project / "build").exists()


def test_mutants_that_are_added_later_are_asked_for_and_those_without_a_vector_named(
    conform, project: Path
) -> None:
    spec = project / "spec" / "lamp.charter"
    told = "mutants   lamp: "
    code, out, err = conform("test")
    assert code == 0 and f"{told}1 of 1 mutant told from the charter\n" in out, out + err
    assert out.endswith("fine by the small suite\n")
    spec.write_text(
        LAMP
        + """
mutant never_dark in tiny { replace in lamp.press branch off { lit' = true reply false } }
caught by toggles
mutant same in tiny { replace conjunct dark of lamp.press/on with lit == false } caught by toggles
"""
    )
    code, out, err = conform("test")
    assert code == 0, out + err
    assert "vectors   lamp: looked for questions" in out
    assert f"{told}2 of 3 mutants told from the charter; by no vector: same\n" in out
    assert out.endswith(
        "fine by the small suite; none of its vectors tells the mutant same from the charter\n"
    )
    assert "vectors   lamp: the questions are of these rules" in conform("test")[1]


def test_open_obligations_are_counted_and_the_command_that_lists_them_named(
    conform, project: Path
) -> None:
    spec = project / "spec" / "lamp.charter"
    spec.write_text(LAMP[: LAMP.index("scenario")])
    code, first, err = conform("test")
    assert code == 0, first + err
    (proofs,) = (project / "spec" / "found").rglob("proofs.json")
    for questions in proofs.parent.glob("*.jsonl"):
        questions.write_text("")
    names = [f"branch press/{name}" for name in ("on", "off")]
    names += [f"mcdc press/on dark {name}" for name in ("true", "false")]
    noted = {"open": dict.fromkeys(names, "not met")}
    proofs.write_text(json.dumps(json.loads(proofs.read_text()) | noted))
    code, out, err = conform("test")
    (line,) = (line for line in out.splitlines() if line.startswith("ledger"))
    command = "conform vectors spec/lamp.charter --component lamp"
    assert line == (
        f"ledger    lamp: 0 obligations covered, 0 proved infeasible, 4 open; `{command}` lists"
        " the open ones"
    )
    listed = conform(*command.split()[1:])[1]
    lines = listed.partition("open, not met:\n")[2].splitlines()
    assert sorted(lines[:4]) == [f"  {name}" for name in sorted(names)]


def test_continue_goes_on_with_a_run_that_was_interrupted(conform, project: Path) -> None:
    assert conform("test")[0] == 0
    (summary,) = project.glob("build/runs/*/summary.json")
    summary.unlink()
    assert "starts again, and 1 bucket is judged again: without `sources`" in conform("test")[2]
    summary.unlink()
    code, out, err = conform("test", "--continue")
    assert (code, err.count("continuing the run in ")) == (0, 1)
    assert "starts again" not in err
    assert "1 bucket was judged before, perhaps with another implementation" in out


@pytest.mark.parametrize("command", ["test", "generate"])
def test_a_command_waits_for_another_one_that_writes_into_the_project(
    conform, project: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    other, said = os.open(project, os.O_RDONLY), list[str]()
    fcntl.flock(other, fcntl.LOCK_EX)

    def say(told: str) -> None:
        """The other one ends as soon as this one says that it waits."""
        said.append(told)
        fcntl.flock(other, fcntl.LOCK_UN)

    monkeypatch.setattr("conform.cli.commands.compiler.generate.say", say)
    assert conform(command)[0] == 0
    assert said[0] == f"another command writes into {project}: waiting until it ends"
    said.clear()
    assert conform(command)[0] == 0
    os.close(other)
    assert not any("waiting" in told for told in said)


def test_what_is_proved_infeasible_is_told_with_the_instances_of_the_proof(
    conform, project: Path
) -> None:
    spec = project / "spec" / "lamp.charter"
    worn = "lit: bool = false\n  state worn: bool = false\n"
    text = LAMP.replace("lit: bool = false\n", worn) + "always whole of lamp: not worn\n"
    never = "    branch odd when broken: worn { reply false }\n    branch on when"
    spec.write_text(text.replace("    branch on when", never))
    out = conform("test")[1]
    (told,) = [line for line in out.splitlines() if line.startswith("ledger")]
    assert told == "ledger    lamp: 5 obligations covered, 2 proved infeasible in tiny, 0 open"


def test_obligations_that_only_a_removed_scenario_covered_are_searched(
    conform, project: Path
) -> None:
    assert conform("test")[0] == 0
    (proofs,) = (project / "spec" / "found").rglob("proofs.json")
    for questions in proofs.parent.glob("*.jsonl"):
        questions.write_text("")
    (suite,) = (project / "generated" / "suites").rglob("manifest.json")
    suite.with_name("full.json").write_text('{"spec_digest": "0"}')
    spec = project / "spec" / "lamp.charter"
    spec.write_text(LAMP[: LAMP.index("scenario")])
    out = conform("test")[1]
    assert "vectors   lamp: looked again for what no question showed\n" in out
    assert "ledger    lamp: 4 obligations covered, 0 proved infeasible, 0 open\n" in out
    assert "files changed, but generated/suites/lamp/lamp/full.json is of an older version" in out


def test_what_is_not_searched_to_the_end_is_named(conform, project: Path) -> None:
    _, out, _ = conform("test", "--most", "1")
    assert "left out of the search for questions, and of the full suite: tiny (more than 1" in out
    assert "explore   tiny: not searched to the end" in out
    assert out.endswith("fine by the small suite\nnot searched to the end: tiny\n")


def test_a_component_without_an_instance_that_is_searched_is_told(conform, project: Path) -> None:
    path = project / "spec" / "lamp.charter"
    assert "tiny" in LAMP
    path.write_text(LAMP.replace("tiny", "small"))
    told = "vectors   lamp: no instance of it is searched for questions, since none has a name"
    assert told in conform("test")[1]


def test_instances_that_are_not_explored_for_questions_are_named(conform, project: Path) -> None:
    said = "not explored for questions"
    assert said not in conform("test")[1]
    assert said not in "".join(conform("vectors", "spec/lamp.charter")[1:])
    names = ("small", "standard", "other", "more", "most")
    more = "".join(f"instance {name} of lamp {{ }}\n" for name in names)
    path = project / "spec" / "lamp.charter"
    path.write_text(f"{LAMP}instance small of lamp {{ }}\n")
    told = f"{said}: small (only instances whose names begin with `tiny` are)\n"
    assert f"vectors   lamp: {told}" in conform("test")[1]
    assert told in conform("vectors", path)[2]
    path.write_text(LAMP + more)
    assert f"{said}: small, other, more and 1 more (only" in conform("vectors", path)[2]
    assert "begin with `tiny`" in conform("explain", "small suite")[1]


@pytest.mark.parametrize("command", ["test", "generate", "run", "doctor", "targets"])
def test_an_overlay_that_is_not_there_is_one_sentence(conform, project: Path, command: str) -> None:
    (project / "adapters" / "lamp" / "adapter.toml").write_text(TOML + 'overlay = "known"\n')
    option = {"run": ("--target", "lamp"), "doctor": ("--adapter", "lamp")}.get(command, ())
    code, out, err = conform(command, *option)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert "'overlay' is 'known', and there is no overlay.charter beside it; write one, or" in err


def test_mistakes_of_the_caller_are_one_sentence(conform, project: Path) -> None:
    assert (
        "'light' is no adapter of the project; there are: lamp"
        in conform("test", "--adapter", "light")[2]
    )
    (project / "spec" / "lamp.charter").rename(project / "lamp.charter")
    code, _, err = conform("test")
    assert (code, "has no charter; name one" in err) == (2, True)
    code, out, err = conform("test", "lamp.charter")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "lamp.charter is not in spec, the folder of the charters by which" in err
    outside = (project / "lamp.charter").rename(project.parent / "lamp.charter")
    code, out, err = conform("test", outside)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "is in no project, and implementations are judged by the charters of one" in err
    assert "there is no charter" not in conform("check", outside)[1]
    err = conform("run", "--target", "lamp")[2]
    assert "the protocol 'lamp'; `conform generate` makes those of the charters in spec/" in err


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("protocol", "the adapter lamp is of the protocol 'lmap', not of lamp; did you mean lamp?"),
        ("component", "of the component 'lmap', but lamp has lamp; did you mean lamp? mend its"),
    ],
)
def test_an_adapter_that_fits_nothing_is_no_success(
    conform, project: Path, key: str, said: str
) -> None:
    path = project / "adapters" / "lamp" / "adapter.toml"
    path.write_text(TOML.replace(f'{key} = "lamp"', f'{key} = "lmap"'))
    code, out, err = conform("test")
    assert (code, said in err) == (2, True), out + err
    if key == "component":
        code, _, err = conform("generate")
        assert (code, "there is no component 'lmap'" in err) == (2, True)


def test_an_adapter_is_found_from_outside_of_the_project(
    conform, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folder is relative to where the caller is, like the charter."""
    monkeypatch.chdir(project.parent)
    source = project / "adapters" / "lamp" / "adapter.toml"
    source.write_text(TOML.replace('protocol = "lamp"', 'protocol = "lamb"'))
    given = (f"{project.name}/spec/lamp.charter", "--adapter", f"{project.name}/adapters/lamp")
    code, _, err = conform("test", *given)
    assert code == 2, err
    assert "the adapter lamp is of the protocol 'lamb', not of lamp; did you mean lamp? mend" in err


def test_values_of_parameters_go_to_the_adapter_and_into_the_printed_commands(
    conform, project: Path
) -> None:
    toml = project / "adapters" / "lamp" / "adapter.toml"
    text = toml.read_text().replace('adapter.py"]', 'adapter.py", "{colour}"]')
    toml.write_text(f'{text}\n[parameters.colour]\nhelp = "the colour of its light"\n')
    code, out, _ = conform("test", "--adapter", "lamp", "--set", "colour=red")
    assert code == 0
    assert "conform run --target lamp --suite build/full --set colour=red`" in out
    (run,) = (project / "build" / "runs").glob("*/run.json")
    assert json.loads(run.read_text(encoding="utf-8"))["parameters"] == {"colour": "red"}
    code, _, err = conform("test", "--set", "color=red")
    assert code == 2
    assert "lamp has no parameter 'color'; it has colour; did you mean colour?" in err


def test_commands_are_printed_as_they_work_outside_of_the_project(
    conform, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each works from the folder in which the one that printed it was typed."""

    def run_typed(command: str, expected: int) -> str:
        words = shlex.split(command)
        folder = words[1] if words[0] == "cd" else ""
        monkeypatch.chdir(project.parent / folder)
        code, out, err = conform(*words[words.index("conform") + 1 :])
        assert code == expected, out + err
        return str(out)

    charter = project / "spec" / "lamp.charter"
    test = shlex.join(["conform", "test", str(charter), "--adapter", "lamp"])
    out = run_typed(test, 0)
    make, judge = re.findall(r"`([^`]*)`", next(x for x in out.splitlines() if "small. " in x))
    run_typed(make, 0)
    run_typed(judge, 0)

    source = project / "adapters" / "lamp" / "adapter.py"
    source.write_text(ADAPTER.replace("not self.lit", "True"))
    again = re.findall(r"see:? (?:step \d+ of: )?(.*conform replay.*)", run_typed(test, 1))
    assert "diverges" in run_typed(again[0], 1)
    source.write_text(ADAPTER.replace("not self.lit", "sys.exit(0)"))
    again = re.findall(r"see: (.*conform replay.*)", run_typed(test, 3))
    run_typed(again[0], 3)

    assert not (project.parent / "build").exists()


def test_a_charter_outside_of_a_project_says_how_to_make_one(
    conform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lamp.charter").write_text(LAMP)
    assert conform("check", "lamp.charter")[0] == 0
    assert conform("explore", "lamp.charter")[0] == 0
    code, _, err = conform("test", "lamp.charter")
    assert (code, "`conform init` makes a project" in err) == (2, True)


def test_a_target_elsewhere_is_found_again_by_its_run(conform, project: Path) -> None:
    elsewhere = project.parent / "elsewhere"
    (project / "adapters" / "lamp").rename(project / "adapters" / "light")
    shutil.copytree(project / "adapters" / "light", elsewhere)
    path = elsewhere / "adapter.toml"
    path.write_text(TOML.replace('id = "lamp"', 'id = "other"'))
    assert conform("generate")[0] == 0
    assert conform("run", "--target", elsewhere, "--out", "run")[0] in (0, 3)
    first = (project / "generated" / "suites" / "lamp" / "lamp" / "vectors.jsonl").read_text()
    vector = json.loads(first.splitlines()[0])["answer"]["question"]
    code, out, err = conform("replay", vector, "--run", "run")
    assert (code, "conforms" in out) == (0, True), err


def test_interrupted_command_says_that_not_all_was_tested(
    conform, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("charter.api.generated.write", interrupt)
    code, _, err = conform("test")
    assert code == 130
    told = "not all was tested; the next `conform test` begins with the checks again"
    assert err.splitlines()[-1] == f"conform: interrupted; {told}"


def test_finding_behind_a_deviation_says_from_which_state_it_is_judged(
    conform, project: Path
) -> None:
    source = project / "adapters" / "lamp" / "adapter.py"
    start = "self.lit = False if"
    wrong = ADAPTER.replace(start, f"self.pressed = False\n        {start}")
    wrong = wrong.replace("self.lit = not self.lit", "self.pressed, self.lit = True, not self.lit")
    source.write_text(wrong.replace('{"lit": self.lit}', '{"lit": self.lit != self.pressed}'))
    _, out, _ = conform("test")
    first, second, third = out.split("\n  state  ")[1].split("\n  reply  ")
    told = "deviates, too: step {} is judged from the state that was observed there"
    assert "press/on: expected lit = true, got false" in first and "deviates, too" not in first
    assert "press/on: expected reply = true, got false" in second
    assert f"  step 1 {told.format(2)}" in second and f"  step 2 {told.format(3)}\n" in third


@pytest.fixture
def queue(conform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The charter of a new project with the skeleton of an adapter; the test is in the project."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHARTER_CACHE", own_cache(tmp_path / "cache"))
    assert conform("init", "--template", "queue", "--adapter", "python")[0] == 0
    return tmp_path / "spec" / "queue.charter"


def test_types_of_an_adapter_that_are_of_an_earlier_charter_are_told(
    conform, project: Path
) -> None:
    given = ("spec/lamp.charter", "--component", "lamp", "--out", "adapters/other")
    assert conform("generate", "--adapter", "python", *given)[0] == 0
    shutil.rmtree(project / "adapters" / "lamp")
    assert "\ntypes " not in conform("test")[1]
    text = LAMP.partition("scenario ")[0].replace("-> bool cites", "-> option bool cites")
    text = text.replace("reply true", "reply present(true)").replace("reply false", "reply none")
    (project / "spec" / "lamp.charter").write_text(text)
    (told,) = [line for line in conform("test")[1].splitlines() if line.startswith("types ")]
    command = told.partition("it is written again by ")[2]
    assert told.startswith("types     adapters/") and "protocol.py is not of this charter" in told
    assert conform(*shlex.split(command)[1:])[0] == 0
    assert "\ntypes " not in conform("test")[1]


def test_a_suite_without_vectors_is_told_with_the_command_that_looks_for_questions(
    conform, queue: Path
) -> None:
    queue.write_text(queue.read_text().partition("scenario ")[0])
    (told,) = [line for line in conform("generate")[2].splitlines() if "no vectors" in line]
    command = re.findall("`([^`]*)`", told)[1]
    assert conform(*shlex.split(command)[1:])[0] == 0
    assert "no vectors" not in conform("generate")[2]


def test_properties_that_no_instance_searches_are_named(conform, project: Path) -> None:
    (project / "spec" / "lamp.charter").write_text(
        charters.LAMP.partition("mutant")[0] + LAMP.removeprefix(charters.LAMP)
    )
    code, out, err = conform("test")
    assert code == 4, out + err
    told = "explore   lamp has no instance, so nothing searches toggles, shines; write one, as in"
    assert told in out
    code, out, _ = conform("test", "--json")
    assert json.loads(out)["charters"][0]["unsearched"] == ["toggles", "shines"]
