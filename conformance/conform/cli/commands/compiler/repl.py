"""`conform repl`."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from charter.api import Refused, evaluate
from conform.cli.commands.compiler.eval import add_state, choose_place, values
from conform.cli.output.charters import exit_code
from conform.console.errors import ConformError
from conform.console.terminal import out, say

if TYPE_CHECKING:
    from charter.api.evaluate import Place

EXAMPLES = """examples:
  conform repl spec/examples/paxos.charter --instance tiny
  conform repl spec/kafka --scenario 'Case D' --line 195
  conform repl spec/examples/paxos.charter --trace trace.json

Each line is an expression, or one of these:
  :state      the state variables, with their values
  :steps      what can happen next, numbered
  :step N     go there
  do op(a, b) take a step as a scenario does; `-> branch` behind it chooses one of several outcomes
  :back       go back
  :help       show these lines
  :quit       end, as the end of the input does
`help`, `quit` and `exit` do the same, unless the charter has a variable of this name.

Exit code 0: ended; 2: no such state, or scenarios, instances or mutants with errors were left out,
which is told at the start.
"""
COMMANDS = ":state, :steps, :step N, do op(...), :back, :help, :quit"
WORDS = {"help": ":help", "quit": ":quit", "exit": ":quit"}
"""What people type first, and the command that they mean."""
CALL = re.compile(r"(\w+)\s*\((.*)\)(?:\s*->\s*(\w+))?", re.DOTALL)
MOST = 200
"""The steps that `:steps` shows."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_state(parser)


def run(arguments: argparse.Namespace) -> int:
    first, broken = choose_place(arguments)
    places = [first]
    if sys.stdin.isatty():
        with suppress(ImportError):
            import readline  # noqa: F401  (gives `input` lines that can be edited)
        say(f"{places[0].told}; {COMMANDS}, or an expression")
    while (line := _expand(_line(), places[0])) not in (None, ":quit"):
        if not line:
            continue
        try:
            _do(line, places)
        except (ConformError, evaluate.WrongState) as error:
            say(str(error))
    return exit_code(0, broken)


def _line() -> str | None:
    """The next line; None at the end of the input."""
    try:
        return input("> " if sys.stdin.isatty() else "").strip()
    except EOFError:
        return None


def _expand(line: str | None, place: Place) -> str | None:
    """A line, or the command that it means."""
    if line not in WORDS or line in {name for name, _ in place.variables()}:
        return line
    return WORDS[line]


def _do(line: str, places: list[Place]) -> None:
    """Do what a line says; the last of `places` is the present one."""
    command, _, argument = line.partition(" ")
    match command:
        case ":state":
            for name, value in places[-1].variables():
                out(f"{name} = {value}")
        case ":steps":
            for number, (told, _) in enumerate(places[-1].steps(), start=1):
                if number > MOST:
                    out("...")
                    break
                out(f"{number:>3}  {told}")
        case ":step":
            _go(argument, places)
        case ":back":
            if len(places) == 1:
                raise ConformError("this is the first state")
            places.pop()
            out(places[-1].told)
        case ":help":
            out(f"an expression, or one of these: {COMMANDS}")
        case "do":
            _take(argument, places)
        case _ if line.startswith(":"):
            raise ConformError(f"there is no {command}; {COMMANDS}")
        case _ if _names_a_step(line, places[-1]):
            raise ConformError(_is_a_step(line, places[-1]))
        case _:
            for each in values(places[-1], line):
                out(f"{each.text}: {each.type}")


def _name(line: str) -> str:
    """What a line calls: the name before its arguments."""
    return line.partition("(")[0].strip()


def _names_a_step(line: str, place: Place) -> bool:
    """Whether a line calls an operation or a step, and nothing else has its name."""
    values = {name for name, _ in place.variables()}
    others = values | {function.name for function in place.machine.model.functions}
    return _name(line) in place.machine.operations and _name(line) not in others


def _is_a_step(line: str, place: Place) -> str:
    """That a line is no expression but a step, with the command that takes it."""
    call = "".join(line.split())
    for number, (told, _) in enumerate(place.steps(), start=1):
        if "".join(told.partition(")")[0].split()) + ")" == call:
            return f"{_name(line)} is no function but a step; to take it: :step {number}"
    return (
        f"{_name(line)} is no function but a step; :steps lists those that can be taken, :step N"
        " takes one"
    )


def _take(call: str, places: list[Place]) -> None:
    """Take the step that is written as in a scenario: `op(a, b)` or `op(a, b) -> branch`."""
    place, parts = places[-1], CALL.fullmatch(call.strip())
    if parts is None:
        raise ConformError("write `do op(a, b)`, or `do op(a, b) -> branch`")
    name, args, branch = parts.groups()
    if name not in place.machine.operations:
        raise ConformError(f"there is no step {name!r}; :steps lists those that can be taken")
    given = ", ".join(_value(arg, place) for arg in _arguments(args))
    wanted = f"{name}({given})"
    ends = (f" -> {branch}: ",) if branch else (": ", " -> ")
    found = [
        (number, told, after)
        for number, (told, after) in enumerate(place.steps(), start=1)
        if told.startswith(tuple(wanted + end for end in ends))
    ]
    if not found:
        raise ConformError(f"{call.strip()} cannot be taken; :steps lists what can")
    if len(found) > 1:
        ways = "\n".join(f"{number:>3}  {told}" for number, told, _ in found)
        raise ConformError(f"{len(found)} outcomes are allowed; :step N takes one\n{ways}")
    _, told, after = found[0]
    places.append(after)
    out(told)


def _arguments(text: str) -> Iterator[str]:
    """Arguments without the commas between them; those inside of brackets are no separators."""
    depth, begun = 0, 0
    for at, char in enumerate(text):
        depth += (char in "([{<") - (char in ")]}>")
        if char == "," and not depth:
            yield text[begun:at].strip()
            begun = at + 1
    if text.strip():
        yield text[begun:].strip()


def _value(argument: str, place: Place) -> str:
    """An argument as `:steps` shows it; its text if it has no value by itself, as `none`."""
    try:
        (valued,) = place.evaluate(argument)
    except (Refused, evaluate.WrongState):
        return argument
    return valued.text


def _go(argument: str, places: list[Place]) -> None:
    wanted = int(argument) if argument.isascii() and argument.isdigit() else 0
    for number, (told, place) in enumerate(places[-1].steps(), start=1):
        if number == wanted:
            places.append(place)
            out(told)
            return
    raise ConformError(f"there is no step {argument!r}; :steps lists them")
