"""Parameters of a target: who gets their values, and where they are shown."""

import json
import shlex
from pathlib import Path

import pytest

from conform.adapters.targets import target
from conform.runs.failures.record import read_record

TOML = """id = "chosen"
title = "Chosen fake"
protocol = ""
capabilities = ["load", "image"]
start = ["{python}", "-m", "tests.support.fakes.fake", "{mode}"]

[parameters.mode]
default = "faithful"
help = "which mistake to make"
"""
GIVEN = ("--set", "mode=wrong_error")


@pytest.fixture
def chosen(targets_folder):
    """A target whose behaviour is a parameter."""
    folder = (Path("adapters") / targets_folder("faithful")).with_name("chosen")
    folder.mkdir()
    (folder / "adapter.toml").write_text(TOML, encoding="utf-8")
    return folder


@pytest.fixture
def judge(conform, chosen, tiny_toy_suite):
    """Judges it with options."""

    def run(*options, out="run"):
        given = ("--suite", tiny_toy_suite, "--engine", "inline", "--out", out)
        return conform("run", "--target", chosen, *given, *options)

    return run


def describe(place):
    return json.loads((Path(place) / "run.json").read_text(encoding="utf-8"))


def test_an_adapter_gets_the_value_that_is_given_else_the_default(judge):
    assert judge(out="plain")[0] == 0
    assert judge(*GIVEN, out="given")[0] == 1
    assert describe("plain")["parameters"] == {"mode": "faithful"}
    assert describe("given")["parameters"] == {"mode": "wrong_error"}
    assert shlex.join(GIVEN) in shlex.join(describe("given")["command"])


def test_a_replay_takes_the_values_of_the_run_when_none_are_given(conform, judge):
    judge(*GIVEN)
    (finding,) = json.loads(Path("run/summary.json").read_text(encoding="utf-8"))["findings"]
    assert conform("replay", finding["vector"], "--run", "run")[0] == 1
    assert conform("replay", finding["vector"], "--run", "run", "--set", "mode=faithful")[0] == 0


def test_a_run_starts_again_when_a_value_is_another(judge):
    judge(*GIVEN)
    Path("run/summary.json").unlink()
    code, _, err = judge()
    assert code == 0
    assert "the parameters changed since the run" in err


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--set", "mdoe=x"), "chosen has no parameter 'mdoe'; it has mode; did you mean mode?"),
        (("--set", "mode"), "'mode' is not NAME=VALUE, as in url=localhost:6379"),
        ((*GIVEN, *GIVEN), "--set mode=... is there twice; leave one out"),
    ],
)
def test_a_wrong_option_is_refused_with_one_sentence(judge, options, sentence):
    code, out, err = judge(*options)
    assert (code, out) == (2, "")
    assert sentence in err


def test_a_value_must_be_given_where_there_is_no_default(judge, chosen, conform):
    path = chosen / "adapter.toml"
    path.write_text(path.read_text().replace('default = "faithful"\n', ""), encoding="utf-8")
    code, _, err = judge()
    assert code == 2
    assert "chosen needs the parameter 'mode': --set mode=VALUE (which mistake to make)" in err
    assert "(must be given)" in conform("targets")[1]


def test_doctor_starts_the_adapter_with_the_value(conform, chosen):
    asks = ("doctor", "--adapter", chosen, "--sorts", '{"Node": {"n1": 0, "n2": 7}}')
    assert conform(*asks)[0] == 0
    assert conform(*asks, "--set", "mode=bad_nonce")[0] == 1


def test_a_report_tells_runs_of_one_target_apart_by_their_values(conform, judge):
    judge(out="plain")
    judge(*GIVEN, out="given")
    assert conform("report", "plain", "given", "--out", "report")[0] == 0
    front = Path("report/index.html").read_text(encoding="utf-8")
    assert "chosen (mode=faithful)" in front
    assert "chosen (mode=wrong_error)" in front
    page = next(Path("report/runs").glob("chosen*/index.html")).read_text(encoding="utf-8")
    assert "Judged with these parameters of the target" in page


def test_runs_with_other_values_have_folders_of_their_own(conform, chosen, tiny_toy_suite):
    asks = ("run", "--target", chosen, "--suite", tiny_toy_suite, "--engine", "inline")
    conform(*asks)
    conform(*asks, *GIVEN)
    names = sorted(path.name for path in Path("build/runs").iterdir())
    assert len(names) == 2
    assert any(name.startswith("chosen-wrong_error-") for name in names)


def test_runs_whose_values_look_alike_in_a_name_have_folders_of_their_own(
    conform, chosen, tiny_toy_suite
):
    toml = TOML.replace('"-m"', '"-X", "note={note}", "-m"')
    note = '\n[parameters.note]\ndefault = ""\nhelp = "a note"\n'
    (chosen / "adapter.toml").write_text(toml + note, encoding="utf-8")
    for note in ("a/b", "a-b"):
        given = ("--suite", tiny_toy_suite, "--engine", "inline", "--set", f"note={note}")
        assert conform("run", "--target", chosen, *given)[0] == 0
    assert len(list(Path("build/runs").iterdir())) == 2


def test_what_failed_is_kept_by_the_values(judge, chosen):
    judge(*GIVEN, out="given")
    assert judge(out="plain")[0] == 0
    failed, fine = (
        read_record(target(str(chosen)), "", {"mode": mode}) for mode in ("wrong_error", "faithful")
    )
    assert failed.vectors and failed.questions
    assert not (fine.vectors or fine.questions)
