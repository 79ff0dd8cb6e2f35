"""Known findings do not fail a run, and CI is told of everything: baseline and JUnit."""

import json
import re
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.support.toy.vectors import vector, write_toy_vectors

from conform.console.errors import BadBaseline
from conform.runs.findings.baseline import read_baseline

NOBODY = "elect/nobody: expected reply.error = NOBODY, got NOT_LEADER"


@pytest.fixture
def ran(called, targets_folder, tiny_toy_suite):
    """Runs a fake without an overlay over the tiny suite, or another: exit code, summary, the
    rest."""

    def run(mode, *more, suite=tiny_toy_suite):
        file = Path("adapters") / targets_folder(mode) / "adapter.toml"
        file.write_text(file.read_text().replace('overlay = "known"\n', ""))
        given = ("--target", file.parent, "--suite", suite, "--engine", "inline")
        code, out, err = called("run", *given, *more)
        return code, json.loads(out)["summary"] if "--json" in more else {}, out + err

    return run


@pytest.fixture
def path(tmp_path):
    return tmp_path / "known" / "fake.toml"


def summary_suite():
    """The digest of the suite of the last run."""
    (run,) = Path("build/runs").glob("*/run.json")
    return json.loads(run.read_text())["suite"]


def write_baseline(name, reason, finding=""):
    """The text of a baseline by another suite."""
    seen = f'finding = "{finding}"\nsuite = ""\nvectors = 1\nshown = ""\n'
    return f'[{name}]\nreason = "{reason}"\n{seen}'


def review(path, reason="LEASE-17"):
    path.write_text(path.read_text().replace('reason = ""', f'reason = "{reason}"'))


def test_finding_is_known_once_the_baseline_has_a_reason(ran, path):
    given = ("--baseline", path, "--json")
    code, summary, _ = ran("wrong_error", *given, "--update-baseline")
    (finding,) = summary["findings"]
    assert (code, summary["without_reason"]) == (1, [finding["id"]])
    assert finding["sentence"] == NOBODY
    assert tomllib.loads(path.read_text()) == {
        finding["id"]: {
            "reason": "", "finding": f"reply: {NOBODY}", "suite": summary_suite(),
            "vectors": finding["vectors"], "shown": finding["observed"],
        }
    }  # fmt: skip
    review(path)
    code, summary, _ = ran("wrong_error", *given, "--strict")
    assert (code, summary["new_deviations"], summary["reasons"]) == (0, 0, [])
    assert summary["findings"][0]["known"] == "LEASE-17"
    assert summary["baseline_deviations"] == summary["deviations"] > 0


def test_a_known_finding_says_how_many_steps_are_not_judged_because_of_it(ran, path, tmp_path):
    register, elect, failover = ("register", {"node": "n1"}), ("elect", {}), ("failover", {})
    calls = [(elect,), (register, elect, ("expire", {"node": "n1"})), (failover, elect, elect)]
    write_toy_vectors(tmp_path / "suite", [vector(*each) for each in calls])
    given, suite = ("--baseline", path), tmp_path / "suite"
    assert ran("faults", *given, "--update-baseline", suite=suite)[0] == 1
    review(path)
    code, summary, _ = ran("faults", *given, "--json", suite=suite)
    (finding,) = summary["findings"]
    steps = summary["not_judged_steps"]
    assert (code, finding["hides"]) == (0, steps) and steps > 0
    out = ran("faults", *given, suite=suite)[2]
    assert f"known: LEASE-17; {steps} steps behind it were not judged\n" in out
    assert f"known in the baseline; {steps} steps behind them were not judged" in out
    path.write_text("")
    assert "behind" not in ran("faults", *given, suite=suite)[2]
    assert ran("wrong_error", "--json")[1]["findings"][0]["hides"] == 0


def test_reasons_stay_when_the_baseline_is_written_again(ran, path):
    given = ("--baseline", path, "--update-baseline", "--limit", "4")
    assert ran("wrong_error", *given)[0] == 1
    review(path, 'a \\"quoted\\" reason')
    before = path.read_text()
    code, _, out = ran("wrong_error", *given)
    assert path.read_text() == before
    assert code == 0
    assert 'known: a "quoted" reason' in out


def test_finding_that_is_gone_is_told_and_fails_a_strict_run(ran, path):
    path.parent.mkdir()
    path.write_text(write_baseline("f-0123456789", "mended long ago"))
    code, _, out = ran("faithful", "--baseline", path)
    assert code == 0
    assert "lists findings that this run did not show: f-0123456789" in out
    code, _, out = ran("faithful", "--baseline", path, "--limit", "3")
    assert code == 0 and "did not show" not in out  # it was not asked everything
    assert ran("faithful", "--baseline", path, "--strict")[0] == 1
    assert ran("faithful", "--baseline", path, "--update-baseline")[0] == 0
    assert "f-0123456789" not in path.read_text()


def test_known_finding_that_reads_otherwise_is_told_and_fails_a_strict_run(ran, path):
    """Another bug in the same rule and place has the same id."""
    ran("wrong_error", "--baseline", path, "--update-baseline")
    review(path)
    assert ran("wrong_error", "--baseline", path, "--strict")[0] == 0
    before = tomllib.loads(path.read_text())
    (name,) = before
    path.write_text(path.read_text().replace(before[name]["suite"], "another"))
    junit = path.with_name("junit.xml")
    code, _, out = ran("wrong_error", "--baseline", path, "--strict", "--junit", junit)
    told = "of 1 known finding only the sentence was compared, as another suite listed it"
    assert (code, told in out.splitlines()[-1], told in junit.read_text()) == (0, True, True)
    path.write_text(write_baseline(name, "LEASE-17", "reply: expected A, got B"))
    code, _, out = ran("wrong_error", "--baseline", path)
    assert code == 0
    assert f"lists {name} as `reply: expected A, got B`; now it reads `reply: " in out
    assert f"lists {name} by another suite, so only what they read was compared" in out
    code, summary, _ = ran("wrong_error", "--baseline", path, "--strict", "--json")
    assert (code, [*summary["changed_baseline"]]) == (1, [name])
    assert "findings of the baseline that changed" in "; ".join(summary["reasons"])
    out = ran("wrong_error", "--baseline", path, "--limit", "4")[2]
    assert "known: LEASE-17" in out and "now it reads" not in out
    code, _, out = ran("wrong_error", "--baseline", path, "--update-baseline", "--strict")
    assert (code, "now it reads" in out) == (0, True), "the reason is that of what it was"
    assert tomllib.loads(path.read_text()) == before


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("vectors = 1\n", "shown by 1 vector; now"),
        ('shown = "00"\n', "which observe something else"),
    ],
)
def test_a_known_finding_does_not_hide_another_one_in_its_place(ran, path, line, told):
    """By the same suite each vector that shows it counts, and what it observes there."""
    ran("wrong_error", "--baseline", path, "--update-baseline")
    review(path)
    name = line.partition(" ")[0]
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(line if each.startswith(f"{name} =") else each for each in lines))
    code, _, out = ran("wrong_error", "--baseline", path)
    assert (code, told in out) == (0, True), out
    code, _, out = ran("wrong_error", "--baseline", path, "--strict")
    assert (code, "findings of the baseline that changed: f-" in out) == (1, True)


def test_a_part_of_the_suite_that_shows_more_than_was_listed_has_another_finding(ran, path):
    ran("wrong_error", "--baseline", path, "--update-baseline")
    review(path)
    (name,) = tomllib.loads(path.read_text())
    part = ("--baseline", path, "--strict", "--json", "--limit", "4")
    assert ran("wrong_error", *part)[1]["changed_baseline"] == {}
    path.write_text(re.sub("(?m)^vectors = .*", "vectors = 0", path.read_text()))
    code, summary, _ = ran("wrong_error", *part)
    assert (code, [*summary["changed_baseline"]]) == (1, [name])


def test_messages_of_exceptions_are_not_compared(ran, path):
    """They have addresses and times; the class of the exception counts."""
    ran("faults", "--baseline", path, "--update-baseline")
    review(path)
    code, summary, _ = ran("faults", "--baseline", path, "--strict", "--json")
    assert (code, summary["changed_baseline"], summary["findings"][0]["severity"]) == (
        0, {}, "fault",
    )  # fmt: skip


def test_reasons_stay_when_vectors_are_not_judged(ran, path):
    """What such a run does not show may be there still."""
    path.parent.mkdir()
    path.write_text(write_baseline("f-0123456789", "LEASE-17"))
    code, summary, _ = ran("no_load", "--baseline", path, "--update-baseline", "--json")
    assert (code, summary["stale_baseline"]) == (3, [])
    assert "LEASE-17" in path.read_text()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[", "no TOML"),
        ('[x]\nreason = "y"', "'x' is not the id of a finding"),
        ('[f-0123456789]\nwhy = "y"', "has a text `reason`"),
        ("[f-0123456789]\nreason = 1", "has a text `reason`"),
        ('[f-0123456789]\nreason = "y"\nfinding = 1', "the texts `finding`, `suite` and `shown`"),
        ('[f-0123456789]\nreason = "y"', r"\[f-0123456789\] lacks `finding`"),
        (write_baseline("f-0123456789", "y").replace('shown = ""', ""), "lacks `shown`"),
        (write_baseline("f-0123456789", "y").replace("= 1", "= true"), "the number `vectors`"),
        ("f-0123456789 = 1", "has a text `reason`"),
    ],
)
def test_file_that_is_no_baseline_is_refused(tmp_path, text, told):
    (tmp_path / "b.toml").write_text(text)
    with pytest.raises(BadBaseline, match=told):
        read_baseline(str(tmp_path / "b.toml"))


def test_baseline_that_is_not_there_is_one_sentence(ran, tmp_path):
    code, _, err = ran("faithful", "--baseline", tmp_path / "none.toml")
    assert (code, err.count("\n")) == (2, 1)
    assert "--update-baseline writes it" in err


def cases(path):
    root = ElementTree.parse(path).getroot()
    assert root.get("tests") == str(len(root))
    return {f"{case.get('classname')} {case.get('name')}": case for case in root}


def test_junit_has_the_differing_step_and_the_command(ran, tmp_path):
    junit = tmp_path / "build" / "junit.xml"
    assert ran("wrong_error", "--junit", junit, "--limit", "60")[0] == 1
    found = cases(junit)
    (failed,) = [case for case in found.values() if case.find("failure") is not None]
    assert failed.get("classname") == "toy.lease.keeper.elect"
    assert failed.get("name").startswith("nobody [f-")
    failure = failed.find("failure")
    assert (failure.get("type"), failure.get("message")) == ("reply", NOBODY)
    lines = failure.text.splitlines()
    assert "1 elect()" in lines
    assert "               expected  observed" in lines
    assert "  reply.error  NOBODY    NOT_LEADER" in lines
    assert lines[-1].startswith("conform replay ")
    assert "toy.lease.keeper.register accepted" in found
    assert "judged 5 of 5" in found["conform the run"].find("system-out").text


def test_junit_says_why_when_a_run_is_not_trusted_or_never_began(ran, tmp_path):
    junit = tmp_path / "junit.xml"
    assert ran("flaky", "--junit", junit, "--limit", "12")[0] == 3
    (case,) = cases(junit).values()
    assert "so the run cannot be trusted" in case.find("error").get("message")
    assert ran("mute", "--junit", junit)[0] == 2
    (case,) = cases(junit).values()
    assert "the adapter did not start" in case.find("error").get("message")


def test_junit_has_what_a_build_that_failed_wrote_to_stderr(
    called, targets_folder, tiny_toy_suite, tmp_path
):
    junit, file = tmp_path / "junit.xml", Path("adapters") / targets_folder("faithful")
    built = "import sys; print('main.go:7: undefined: x', file=sys.stderr); sys.exit(1)"
    line = f'prepare = ["{{python}}", "-c", "{built}"]\n[deadlines]'
    toml = file / "adapter.toml"
    toml.write_text(toml.read_text().replace("[deadlines]", line))
    asked = ("run", "--target", file, "--suite", tiny_toy_suite, "--junit", junit)
    assert called(*asked)[0] == 2
    error = next(iter(cases(junit).values())).find("error")
    assert "could not be prepared" in error.get("message")
    assert error.text == "the last lines that it wrote to stderr:\nmain.go:7: undefined: x"


def test_junit_says_why_when_the_project_file_is_wrong(ran, tmp_path):
    Path("charter.toml").write_text("adapters = 1")
    junit = tmp_path / "junit.xml"
    assert ran("faithful", "--junit", junit)[0] == 2
    (case,) = cases(junit).values()
    assert "adapters is not a text" in case.find("error").get("message")


def test_a_run_that_is_judged_again_knows_its_baseline(ran, called, tiny_toy_suite, path):
    given = ("--baseline", path, "--update-baseline", "--json", "--out", "run")
    (finding,) = ran("wrong_error", *given)[1]["findings"]
    review(path)
    again = ("rejudge", "run", "--suite", tiny_toy_suite, "--json", "--out")
    assert called(*again, "plain")[0] == 1
    code, out, _ = called(*again, "again", "--baseline", path)
    summary = json.loads(out)["summary"]
    assert (code, summary["findings"][0]["known"]) == (0, "LEASE-17")
    assert summary["findings"][0]["id"] == finding["id"]


def test_junit_is_written_when_a_run_is_interrupted(ran, monkeypatch, tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("conform.runs.engines.inline.run", interrupt)
    code, _, said = ran("faithful", "--junit", tmp_path / "junit.xml")
    assert code == 130
    assert "interrupted; no bucket was finished, so the same command starts again" in said
    (error,) = ElementTree.parse(tmp_path / "junit.xml").iter("error")
    assert "the run was interrupted; repeat the command" in error.get("message", "")
