"""What the pages tell people to type exists: commands with their options, targets of make."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from tests.tidy.house import ROOT, texts

from conform.cli.main import commands, parser_of

BLOCK: Final = re.compile(r"^```(?:sh|console|bash)?\n(.*?)^```", re.MULTILINE | re.DOTALL)
CALL: Final = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?(conform|make) +([a-z]+)(.*)$", re.MULTILINE)
INLINE: Final = re.compile(r"`(conform|make) ([a-z]+)([^`]*)`")


def calls() -> Iterator[tuple[str, str, str, str]]:
    """Each call that a page shows: the page, the program, its command, the rest of the line."""
    for file in texts():
        if file.path.endswith(".md") and not file.path.startswith("docs/reports/"):
            for block in BLOCK.findall(file.text):
                yield from ((file.path, *call) for call in CALL.findall(block))
            yield from ((file.path, *call) for call in INLINE.findall(file.text))


@cache
def help_of(command: str) -> str:
    """What `conform COMMAND --help` says, or "" if there is no such command."""
    known = commands()
    return parser_of(command, known[command]).format_help() if command in known else ""


def test_every_conform_command_exists_when_a_page_names_it() -> None:
    wrong = [
        f"{page}: conform {command}{rest}" for page, program, command, rest in calls()
        if program == "conform" and not (
            help_of(command) and all(option in help_of(command) for option in _options(rest))
        )
    ]  # fmt: skip
    assert not wrong, "\n".join(wrong)


def test_every_target_of_make_exists_when_a_page_names_it() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    wrong = [
        f"{page}: make {target}" for page, program, target, _ in calls()
        if program == "make" and target not in targets
    ]  # fmt: skip
    assert not wrong, "\n".join(wrong)


def _options(rest: str) -> list[str]:
    return re.findall(r"(?<!\S)--[a-z-]+", rest.split(" #", maxsplit=1)[0])
