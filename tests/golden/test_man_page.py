"""The page for man: it is what the parsers say, and has every command with every option."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.golden import Golden

from conform.cli.commands.compiler.completion_scripts import describe_all
from conform.cli.main import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "man" / "conform.1"


def test_the_page_is_what_the_parsers_say(
    golden: Golden, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["help", "--man"]) == 0
    golden.matches(PAGE, capsys.readouterr().out)


def test_the_page_has_all_commands_and_options() -> None:
    sections = PAGE.read_text(encoding="utf-8").split('\n.SS "conform ')[1:]
    of = {section.partition(" ")[0]: section.replace("\\-", "-") for section in sections}
    assert list(of) == [each.name for each in describe_all()]
    for each in describe_all():
        options = {name for flag in each.flags for name in flag.names} - {"-h", "--help"}
        assert not {name for name in options if f"\\fB{name}\\fR" not in of[each.name]}


def test_no_line_of_the_page_is_an_unknown_request() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    requests = {line.split()[0] for line in lines if line.startswith((".", "'"))}
    assert requests == {".TH", ".SH", ".SS", ".TP"}
