"""The five minutes of the README, done as they stand there, on a copy of the project."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")
RULES = Path("spec") / "kafka" / "10-rules.charter"
FENCE = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ID = re.compile(r"\b[0-9a-f]{8,20}\b")

Done = subprocess.CompletedProcess[str]


def blocks(title: str) -> list[str]:
    """The blocks under a heading of the README that begins so."""
    section = next(part for part in README.split("\n## ") if part.startswith(title))
    return FENCE.findall(section)


def without_known_differences(target: str) -> str:
    """A target without overlay and variants: their models take most of `conform generate`, and
    test_generated.py makes them all."""
    head, _, rest = re.sub(r"^overlay = .*\n", "", target, flags=re.M).partition("[variants]\n")
    return head + rest.partition("\n\n")[2]


def without_ids(text: str) -> list[str]:
    return [ID.sub("ID", line.strip()) for line in text.splitlines()]


class Shell:
    """Runs the commands of the README in a copy; says what came of them."""

    def __init__(self, place: Path) -> None:
        self.place = place
        variables = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL")
        names = (*variables, *(name.replace("AUTHOR", "COMMITTER") for name in variables))
        self.environment = {
            **os.environ,
            **dict.fromkeys(names, "reader"),
        }

    def __call__(self, command: str) -> Done:
        program, *more = shlex.split(command)
        programs = {
            "conform": [sys.executable, "-m", "conform.cli.main"],
            "git": ["git", "--no-pager"],
        }
        return subprocess.run(
            [*programs[program], *more], cwd=self.place, env=self.environment, check=False,
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    place = tmp_path_factory.mktemp("tour")
    shutil.copy(ROOT / "charter.toml", place)
    shutil.copytree(ROOT / "spec", place / "spec")
    shutil.copytree(ROOT / "generated", place / "generated")
    for path in (ROOT / "conformance" / "adapters").glob("*/adapter.toml"):
        (folder := place / path.parent.relative_to(ROOT)).mkdir(parents=True, exist_ok=True)
        (folder / path.name).write_text(without_known_differences(path.read_text("utf-8")))
    (place / ".gitignore").write_text("build/\n__pycache__/\n")
    run = Shell(place)
    for command in ("git init -q", "git add .", "git commit -q -m before"):
        assert run(command).returncode == 0
    return run


def says_nothing(done: Done) -> None:
    assert done.returncode == 0
    assert done.stdout == ""
    assert "no errors, no warnings" in done.stderr


def fine(done: Done) -> None:
    assert done.returncode == 0, done.stderr


def fails_after_3_steps(done: Done) -> None:
    assert done.returncode == 1
    _, _, way = done.stdout.partition("always unclean_exclusion fails; the shortest trace:\n")
    way, _, _ = way.partition("\nalways ")
    assert re.findall(r"^ {3}(\d+)  \w+\(", way, re.MULTILINE) == ["1", "2", "3"]
    assert "the picture is in build/wrong.svg" in done.stderr


def shows_a_difference(done: Done) -> None:
    assert done.returncode == 0
    _, _, model = done.stdout.partition(
        "+++ b/generated/charter_models/kafka_replication/controller.py"
    )
    assert re.search(r"^-.* - isr - suspect$", model, re.MULTILINE)


def names_the_branch(done: Done) -> None:
    assert done.returncode == 1, done.stdout + done.stderr
    said = without_ids(done.stdout)
    for line in without_ids(blocks("Five minutes")[-1]):
        assert line in said


CLAIMS: dict[str, tuple[str, Callable[[Done], None]]] = {
    "conform check spec/kafka": (
        "types, effects, totality, citations: nothing to say", says_nothing,
    ),
    "conform vectors spec/kafka --out build/before": (
        "questions, with the answers of today's charter", fine,
    ),
    "conform explore spec/kafka --instance tiny_elr --picture build/wrong.svg": (
        "unclean_exclusion fails, after 3 steps", fails_after_3_steps,
    ),
    "conform generate": ("the model's Python changes with the rule", fine),
    "git diff generated/": ("the model's Python changes with the rule", shows_a_difference),
    "conform run --target reference --suite build/before --engine inline": (
        "the new model, yesterday's answers", names_the_branch,
    ),
}  # fmt: skip
"""What the README says beside each command, and how to see that it is so."""
BACK = "git checkout spec generated", "git clean -fdq generated"


def commands(block: str) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with the claim beside it."""
    for line in block.splitlines():
        text, _, claim = line.partition("#")
        for command in text.split("&&"):
            yield command.strip(), claim.strip()


def test_each_command_of_the_five_minutes_says_what_is_shown_by_running_it() -> None:
    rule, before, after, _ = blocks("Five minutes")
    assert rule in (ROOT / RULES).read_text(encoding="utf-8")
    setup, activate, *before_that = commands(before)
    assert (setup, activate) == (("make setup", ""), (". .venv/bin/activate", ""))
    told = {command: claim for command, (claim, _) in CLAIMS.items()}
    assert dict([*before_that, *commands(after)]) == told
    assert "delete ` - suspect` at the end of the rule" in README
    assert f"`{' && '.join(BACK)}` puts it all back." in README


@pytest.mark.slow  # other tests run these commands, most of them on small charters
def test_five_minutes_are_as_the_readme_tells_them(shell: Shell) -> None:
    rule, before, after, _ = blocks("Five minutes")
    path = shell.place / RULES
    text = path.read_text(encoding="utf-8")
    _, _, *before_that = commands(before)
    for command, _ in before_that:
        CLAIMS[command][1](shell(command))
    path.write_text(text.replace(rule, rule.rstrip().removesuffix(" - suspect") + "\n"))
    for command, _ in commands(after):
        CLAIMS[command][1](shell(command))
    for command in BACK:
        fine(shell(command))
    assert shell("git status --porcelain spec generated").stdout == ""
    assert path.read_text(encoding="utf-8") == text
