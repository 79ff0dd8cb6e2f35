"""The tutorial, done as a newcomer would: each block is written, each command run, each output
compared. `--accept` rewrites the outputs; what depends on the clock stands there as `...`."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from tests.support.golden import Golden

from charter import api
from conform.cli.main import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "tutorial.md"
BLOCK = re.compile(r"(?:([^\n]*)\n)?\n```(charter|console)\n(.*?)```\n", re.DOTALL)
SECONDS = re.compile(r"^(seconds +)[0-9.]+$", re.MULTILINE)


class Newcomer:
    """Does what the page says, in a folder of its own, and keeps the page as it should read."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "lock.charter"
        self.code = 0
        self.wanted = ""

    def write(self, told: str, text: str) -> None:
        """A block of charter; the line before it says what to do with it."""
        if "Write this" in told:
            self.file.write_text(text, encoding="utf-8")
            return
        old = self.file.read_text(encoding="utf-8")
        if told.endswith("with:"):
            new = old.replace(self.wanted, text)
        elif "Replace in `lock.charter`:" in told:
            assert old.count(text) == 1
            self.wanted = text
            return
        elif "Delete from `lock.charter`:" in told:
            assert old.count(text) == 1
            new = old.replace(text, "")
        else:
            assert "Add to `lock.charter`:" in told, told
            new = old + text
        self.file.write_text(new, encoding="utf-8")

    def run(self, text: str) -> str:
        """A block of commands, with their outputs as they are."""
        lines = [line for line in text.splitlines() if line.startswith("$ ")]
        return "".join(f"{line}\n{self.output(line.removeprefix('$ '))}" for line in lines)

    def output(self, command: str) -> str:
        if command == "echo $?":
            return f"{self.code}\n"
        name, *arguments = shlex.split(command)
        assert name == "conform"
        seen = io.StringIO()
        with contextlib.redirect_stdout(seen), contextlib.redirect_stderr(seen):
            self.code = main(arguments)
        return SECONDS.sub(r"\1...", seen.getvalue())


def test_the_tutorial_is_true_when_it_is_done(
    tmp_path: Path, golden: Golden, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    newcomer = Newcomer(tmp_path)
    page = PAGE.read_text(encoding="utf-8")

    def done(block: re.Match[str]) -> str:
        told, kind, text = block.groups()
        if kind == "charter":
            newcomer.write(told, text)
            return block.group(0)
        return block.group(0).replace(text, newcomer.run(text))

    golden.matches(PAGE, BLOCK.sub(done, page))
    assert not api.check_charter(newcomer.file).errors


def test_every_block_of_the_tutorial_is_done() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page.count("```") == 2 * len(BLOCK.findall(page))
