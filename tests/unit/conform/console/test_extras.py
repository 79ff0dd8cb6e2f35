"""Optional packages: a missing one is one sentence, before any work, or less is done and said."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests.support.charters import LAMP

from charter import api
from conform.cli.main import main
from conform.console import extras
from conform.runs.engines.choose import INLINE, engine_for
from conform.runs.options import RunOptions


@pytest.fixture
def base(monkeypatch, tmp_path):
    """An installation without extras, in a folder with a charter."""
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    monkeypatch.setattr("charter.suites.make.find_spec", lambda _: None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lamp.charter").write_text(LAMP)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (("prove", "missing"), "`conform prove` needs z3, which is not installed: pip install"
         " 'charter-conform[smt]'"),
        (("run", "--target", "x", "--engine", "spark"), "--engine spark needs pyspark, which is not"
         " installed: pip install 'charter-conform[spark]', or use --engine inline"),
        (("explore", "lamp.charter", "--engine", "spark"), "--engine spark needs pyspark, which is"
         " not installed: pip install 'charter-conform[spark]', or use --engine native"),
    ],
)  # fmt: skip
def test_a_missing_extra_is_one_sentence(base, capsys, command, sentence):
    assert main(command) == 2
    assert capsys.readouterr().err == f"conform: {sentence}\n"


def test_doctor_is_content_without_extras(base, capsys):
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("-") and "charter-conform[smt]" in line for line in lines)


def test_search_without_the_solver_finds_what_exploration_does(base, capsys):
    assert main(["vectors", "lamp.charter", "--search", "--json"]) == 0
    said = capsys.readouterr()
    assert "what only the solver finds or proves is left out (pip install" in said.err
    made = json.loads(said.out)
    assert made["counts"]["mutants_killed"] == 1
    assert made["vectors"] >= 2


VECTORS = "vectors lamp.charter"
COMMANDS = [
    "check lamp.charter", "explore lamp.charter", "simulate lamp.charter",
    "coverage lamp.charter --pairs", "mutate lamp.charter", "verdicts lamp.charter",
    VECTORS, "generate --backend handbook lamp.charter --out handbook",
]  # fmt: skip


def test_commands_need_only_what_the_base_installs(tmp_path):
    """Nor what comes with an extra, as NumPy with Spark. One process has all of them: it starts for
    longer than they take."""
    (tmp_path / "lamp.charter").write_text(LAMP)
    program = (
        "import sys\n"
        "for name in ('numpy', 'pandas', 'pyspark', 'z3', 'pygls', 'pytest', 'hypothesis'):\n"
        "    sys.modules[name] = None\n"
        "from conform.cli.main import main\n"
        f"for command in {COMMANDS}:\n"
        "    print('next:', command, file=sys.stderr)\n"
        "    print('ends with', main(command.split()), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "ImportError" not in done.stderr and "Error: import of" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr
    assert [line[6:] for line in done.stderr.splitlines() if line[:6] == "next: "] == COMMANDS
    suite = done.stderr.partition(f"next: {VECTORS}\n")[2].partition("next: ")[0]
    assert "the suite has no vectors" in suite and suite.endswith("ends with 4\n"), done.stderr


@pytest.mark.slow  # the one before makes this suite, too
def test_suites_are_made_without_importing_the_solver(tmp_path):
    (tmp_path / "lamp.charter").write_text(LAMP)
    program = (
        "import sys; sys.modules['z3'] = None;"
        "from conform.cli.main import main; sys.exit(main(['vectors', 'lamp.charter']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "the suite has no vectors" in done.stderr) == (4, True), done.stderr


def test_proofs_of_the_solver_are_kept_when_it_is_missing_later(tmp_path, monkeypatch):
    path = tmp_path / "lamp.charter"
    hot = LAMP.replace("observe all { lit }", "state hot: bool = false\n  observe all { lit hot }")
    hot = hot.replace(
        "branch on when", "branch never when burns: hot reply false\n  branch on when", 1
    )
    path.write_text(hot + "always cold of lamp cites silent: not hot\n")
    wanted = api.SuiteRequest(path, search=True, out=tmp_path / "suite")
    before = api.make_suite(wanted, lambda *_: None).manifest.counts["obligations_infeasible"]
    assert before > 0
    monkeypatch.setattr("charter.suites.make.find_spec", lambda _: None)
    assert (
        api.make_suite(wanted, lambda *_: None).manifest.counts["obligations_infeasible"] == before
    )


def test_engine_is_inline_for_few_vectors_and_spark_above(monkeypatch):
    said = []
    auto = RunOptions("x")
    assert engine_for(auto, INLINE, said.append) == "inline"
    assert engine_for(auto, INLINE + 1, said.append) == "spark"
    assert engine_for(RunOptions("x", limit=10), INLINE + 1, said.append) == "inline"
    assert engine_for(RunOptions("x", engine="spark"), 1, said.append) == "spark"
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    assert not said and engine_for(auto, INLINE + 1, said.append) == "inline"
    assert said == [
        "20,001 vectors are judged in one process; Spark uses all cores: pip install"
        " 'charter-conform[spark]'"
    ]
