"""Writes the page for man from the parsers of all commands. docs/man/conform.1 is this page."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from conform.cli.main import EXIT_CODES, commands, parser_of


def man_page() -> str:
    """The page as roff, without the last line end."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield '.TH CONFORM 1 "" charter-conform "User Commands"'
    yield ".SH NAME"
    yield _text(
        "conform - check charters of distributed protocols, and judge implementations against them"
    )
    yield ".SH SYNOPSIS"
    yield "\\fBconform\\fR \\fICOMMAND\\fR ..."
    yield ".SH COMMANDS"
    for name, about in commands().items():
        yield from _command(name, about)
    yield ".SH EXIT STATUS"
    for code, meaning in EXIT_CODES.items():
        yield ".TP"
        yield f"\\fB{code}\\fR"
        yield _text(meaning)
    yield ".SH SEE ALSO"
    yield _text("`conform COMMAND --help` has examples, `conform help` lists the manual.")


def _command(name: str, about: str) -> Iterator[str]:
    actions = parser_of(name, about)._actions  # argparse has no other way to list them
    arguments = [action for action in actions if not action.option_strings]
    head = " ".join(["conform", name, "[OPTION]...", *map(_place, arguments)])
    yield f'.SS "{_text(head)}"'
    yield _text(about[:1].upper() + about[1:] + ".")
    for action in actions:
        if action.dest != "help":
            yield ".TP"
            yield _head(action)
            yield _text(action.help or "")


def _head(action: argparse.Action) -> str:
    """The names of an option and its value, or the name of an argument."""
    if not action.option_strings:
        return f"\\fI{_text(_value(action))}\\fR"
    names = ", ".join(f"\\fB{_text(name)}\\fR" for name in action.option_strings)
    return names if action.nargs == 0 else f"{names} \\fI{_text(_value(action))}\\fR"


def _place(argument: argparse.Action) -> str:
    """An argument in a line of usage."""
    optional = argument.nargs in ("?", "*")
    return f"[{_value(argument)}]" if optional else _value(argument)


def _value(action: argparse.Action) -> str:
    if action.choices is not None:
        return "|".join(map(str, action.choices))
    shown = action.metavar if isinstance(action.metavar, str) else action.dest
    return shown.upper() + (" ..." if action.nargs in ("*", "+", argparse.REMAINDER) else "")


def _text(text: str) -> str:
    """Text on one line, with what roff would read as a request escaped."""
    plain = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain
