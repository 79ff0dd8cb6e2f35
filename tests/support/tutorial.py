"""The tutorial, done as a newcomer would: each block is written, each command run. What depends on
the clock stands on the page as `...`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "guide" / "tutorial.md"
BLOCK = re.compile(r"(?:([^\n]*)\n)?\n```(charter|console)\n(.*?)```\n", re.DOTALL)
SECONDS = re.compile(r"^(seconds +)[0-9.]+$", re.MULTILINE)


Conform = Callable[[Sequence[str]], tuple[int, str]]
"""Runs `conform` with arguments, in the newcomer's folder: exit code, and all that was printed."""


class Newcomer:
    """Does what the page says, in a folder of its own."""

    def __init__(self, folder: Path, conform: Conform) -> None:
        self.file = folder / "lock.charter"
        self.conform = conform
        self.code = 0
        self.wanted = ""

    def page(self) -> str:
        """Do all of the page; returns it with the outputs as they are."""

        def run_block(block: re.Match[str]) -> str:
            told, kind, text = block.groups()
            if kind == "charter":
                self.write(told, text)
                return block.group(0)
            return block.group(0).replace(text, self.run(text))

        return BLOCK.sub(run_block, PAGE.read_text(encoding="utf-8"))

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
        self.code, seen = self.conform(arguments)
        return SECONDS.sub(r"\1...", seen)
