"""`conform explain` finds its pages in the source tree, and where a wheel puts them."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from conform.cli.commands.compiler.explain import explanation

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The package `conform` as a wheel has it, away from the tree."""
    place = tmp_path_factory.mktemp("site")
    shutil.copytree(
        ROOT / "conformance" / "conform",
        place / "conform",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for source, target in project["tool"]["hatch"]["build"]["targets"]["wheel"][
        "force-include"
    ].items():
        copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
        (place / target).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / source, place / target)
    return place


def explain(folder, *words):
    done = subprocess.run(
        [sys.executable, "-m", "conform.cli.main", "explain", *words],
        env={**os.environ, "PYTHONPATH": str(folder)}, cwd=folder, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("words", [("--list",), ("type/mismatch",), ("stale",), ("canary",)])
def test_pages_are_the_same_when_installed(words, installed):
    code, out, err = explain(installed, *words)
    assert code == 0, err
    assert len(out) > 100
    assert out == explain(ROOT / "conformance", *words)[1]


def test_pages_are_read_from_the_package_when_installed(installed):
    page = installed / "conform" / "builtin" / "docs" / "diagnostics" / "type" / "mismatch.md"
    kept = page.read_text(encoding="utf-8")
    page.write_text("# Another page", encoding="utf-8")
    assert explain(installed, "type/mismatch")[1] == "# Another page\n"
    page.write_text(kept, encoding="utf-8")


@pytest.mark.parametrize(
    ("label", "title"),
    [
        ("mutants killed", "killed"), ("mutants killed (small suite)", "killed"),
        ("mutants killed in some runs", "killed in some runs"),
        ("obligations open", "open"), ("obligations covered", "covered"),
        ("obligations infeasible", "infeasible"), ("(state, branch) pairs", "state branch pairs"),
        ("scenarios failed", "scenarios failed"), ("stale questions", "stale questions"),
        ("mutants", "mutants"), ("obligations", "obligations"), ("states", "states"),
        ("steps judged", "steps judged"), ("steps not judged", "steps not judged"),
        ("distinct", "distinct"), ("generated", "generated"), ("depth", "depth"),
        ("outside", "outside"), ("engine", "engine"), ("symmetry", "symmetry"),
        ("pairs", "pairs"), ("ledger", "ledger"), ("constants", "constants"),
        ("not asked", "not asked"), ("bounds of the questions", "bounds of the questions"),
        ("small suite", "small suite"), ("fault", "fault"), ("state", "state"),
        ("caught", "caught"), ("availability", "availability"), ("survives", "survives"),
    ],
)  # fmt: skip
def test_label_is_found_as_it_is_printed(label, title):
    assert explanation(label).startswith(f"# {title}\n")


@pytest.mark.parametrize(
    ("word", "like"), [("type/mismach", "type/mismatch"), ("mismatch", "type/mismatch")]
)
def test_a_misspelt_word_is_told_with_the_one_that_is_probably_meant(word, like):
    code, _, err = explain(ROOT / "conformance", word)
    assert code == 2
    assert f"'{word}' is neither a diagnostic code nor a count; did you mean {like}" in err
