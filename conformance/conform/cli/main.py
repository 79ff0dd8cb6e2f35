"""Runs the command `conform`. Each command is a module that is imported only when it is called."""

from __future__ import annotations

import argparse
import errno
import gc
import importlib
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from textwrap import wrap
from typing import NoReturn, Protocol, cast

_PROJECT = {
    "init": "make a project: a charter, an adapter, a CI file",
    "test": "check, explore, generate, judge and report, in one command",
}
_JUDGE = {
    "run": "judge an implementation",
    "replay": "run one vector on an implementation, and show every step",
    "reproduce": "write a test of a finding for the implementation's own tests",
    "findings": "list what is written about the findings of a target, and what is not",
    "keep": "keep a question that failed, so that the suite has it",
    "rejudge": "judge the observations of an earlier run by another suite",
    "compare": "show runs by their findings, and where they behaved differently",
    "report": "write a report of runs, as a static site",
    "targets": "list the implementations that can be judged",
    "doctor": "check this machine, or check an adapter against the protocol",
}
_COMPILER = {
    "check": "check a charter, and show all errors",
    "fmt": "format charters",
    "explain": "explain a diagnostic code, or a count",
    "explore": "search all states of an instance",
    "coverage": "show which instances reach which classes of states",
    "verdicts": "show which properties hold in which instances and variants",
    "claims": "show what became of the claims of a protocol's texts",
    "mutate": "make small mistakes in the rules, and show which nothing sees",
    "prove": "prove invariants by induction",
    "simulate": "make random walks through an instance",
    "generate": "write generated/, or a charter as a handbook or TLA+",
    "vectors": "make a suite of vectors",
    "watch": "check and explore again whenever a charter is saved",
    "eval": "evaluate an expression in a state",
    "repl": "evaluate expressions, and go from state to state",
    "lsp": "serve an editor (Language Server Protocol)",
    "help": "show a page of the manual",
    "completion": "print a completion script for bash, zsh or fish",
}
_RESUMABLE, _KEPT = ("mutate",), "finished work is kept"
_REMEDIES = {
    errno.EROFS: "; work on a copy of it in a folder of yours",
    errno.EACCES: "; change its permissions, or work on a copy of it",
    errno.ENOSPC: "; make room",
}

_NO_MEMORY = re.compile(
    r"cannot allocate memory|failed to map segment|can't start new thread"
    r"|worker thread: resource temporarily unavailable",
    re.IGNORECASE,
)
_MORE_MEMORY = (
    "there is not enough memory, for this process or for its threads; raise its limits (`ulimit -v`"
    " and `ulimit -u` show them), or end other programs"
)

# Python reads a byte of a path that the locale cannot decode as half of a pair of UTF-16.
_NOT_UTF8 = re.compile(r'[^/"\n]*[\ud800-\udfff][^/"\n]*')
_OTHER_NAME = "; rename it, or choose a locale that can read it, such as LC_ALL=C.UTF-8"
_INVALID = re.compile(r".*invalid choice: '([^']*)' \(choose from (.*)\)")

EXIT_CODES = {
    0: "fine",
    1: "a finding",
    2: "an error that you can fix",
    3: "incomplete or not to be trusted",
    4: "vacuous",
    5: "a bug of a generated model",
    130: "interrupted",
    141: "the reader closed the pipe",
}

_EXAMPLES = """examples:
  conform init my-project
  conform test
  conform explore one.charter
  conform run --target kafka-controller --release 4.3.1
  conform replay 3b0c91 --run build/runs/kafka-controller-4.3.1-9f01c2aa
  conform compare build/runs/A build/runs/B
  conform report build/runs/A build/runs/B --out build/report
"""


class Command(Protocol):
    """A module of conform.cli.commands."""

    EXAMPLES: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it, and return the exit code."""


class _WrongUsage(SystemExit):
    """The options are wrong; this ends the process with exit code 2."""

    def __init__(self, sentence: str) -> None:
        super().__init__(2)
        self.sentence = sentence


class _Parser(argparse.ArgumentParser):
    """Errors of usage are one sentence, and exit code 2."""

    def error(self, message: str) -> NoReturn:
        wrong = message.removeprefix("unrecognized arguments: ").partition(" ")[0]
        meant, invalid = "", _INVALID.match(message)
        if invalid:
            meant = suggest(invalid[1], re.findall(r"'([^']+)'", invalid[2]))
        elif message.startswith("unrecognized"):
            meant = suggest(wrong.partition("=")[0], self._option_string_actions)
            if wrong[:1] not in ("", "-") and "--instance" in self._option_string_actions:
                meant = "an instance is named by --instance NAME; "
        sentence = f"{self.prog}: {message}; {meant}{self.prog} --help shows how"
        sys.stderr.write(f"{sentence}\n")
        raise _WrongUsage(sentence)


def suggest(word: str, known: Iterable[str]) -> str:
    """`did you mean X? ` with the most similar known word, or ""."""
    from charter.formats.spelling import suggest

    like = suggest(word, known)
    return like and f"{like} "


def overview() -> str:
    """The text of `conform --help`."""
    lines = ["usage: conform COMMAND ...", "", "Check charters of distributed protocols,"
             " and judge implementations against them.", ""]  # fmt: skip
    for title, commands in (
        ("the project", _PROJECT), ("the charter", _COMPILER), ("the judge", _JUDGE),
    ):  # fmt: skip
        lines.append(f"{title}:")
        lines += [f"  {name:<10} {about}" for name, about in commands.items()]
        lines.append("")
    lines.append("conform COMMAND --help shows more, conform help TOPIC a page of the manual.")
    codes = "; ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items())
    return "\n".join([*lines, "", _EXAMPLES, *wrap(f"exit codes: {codes}", 97), ""])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Nothing that a user can cause is a traceback, and a
    traceback never ends with the exit code of a finding."""
    if arguments is not None:
        return _answer(list(arguments))
    from conform.console.interrupts import ignore_signals
    from conform.console.streams import prepare_streams

    try:
        prepare_streams()
        code = _answer(sys.argv[1:], _prepare_process)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt as ended:  # before the command began
        return getattr(ended, "exit_code", 130)
    except MemoryError:  # before the command began, or while an error was told
        return _without_memory()
    except BrokenPipeError:
        return _unread()
    except OSError as error:
        return _end_unwritten(error)
    finally:
        ignore_signals()  # nothing is left but cleaning up
        gc.freeze()  # else Python looks for cycles in all that is left, several times


def _answer(given: list[str], prepare: Callable[[], None] = lambda: None) -> int:
    """Show the help or the version, or `prepare` and run the command; returns the exit code."""
    if not given or given[0] in ("-h", "--help"):
        sys.stdout.write(overview())
        return 0 if given else 2
    if given[0] == "--version":
        from importlib.metadata import version

        sys.stdout.write(f"conform {version('charter-conform')}\n")
        return 0
    name, known = given[0], commands()
    if name not in known:
        meant = suggest(name, known)
        sys.stderr.write(
            f"conform: there is no command {name!r}; {meant}conform --help lists them\n"
        )
        return 2
    prepare()
    return _run(name, known[name], given[1:])


def _prepare_process() -> None:
    """Signals, memory and temporary files of a process of its own."""
    from conform.console.interrupts import end_if_hanging, interrupts_later, stop_on_signals
    from conform.console.memory import find_cycles_rarely, refuse_without_room
    from conform.storage.scratch import clean_up, make_scratch

    find_cycles_rarely()
    stop_on_signals()
    end_if_hanging(clean_up)
    refuse_without_room()
    with interrupts_later():
        # An exception while it is imported crashes the process.
        import orjson  # noqa: F401
    make_scratch()


def _run(name: str, about: str, given: list[str]) -> int:
    from charter.formats.project import BadProject
    from conform.cli.unused_options import refuse_unused
    from conform.console.errors import ConformError
    from conform.console.interrupts import interrupt_behind
    from conform.console.terminal import say

    try:
        command = command_of(name)
        try:
            chosen = parser_of(name, about).parse_args(given)
            refuse_unused(name, parser_of(name, about), given, chosen)
        except (_WrongUsage, ConformError) as wrong:
            if report := getattr(command, "report_wrong_usage", None):
                report(given, wrong.sentence if isinstance(wrong, _WrongUsage) else str(wrong))
            raise
        chosen.given = [name, *given]
        code = command.run(chosen)
        sys.stdout.flush()  # at the exit of Python a closed pipe is not caught
        return code
    except ConformError as error:
        say(f"conform: {error}")
        return error.exit_code
    except BadProject as error:
        sys.stderr.write(f"conform: {error}\n")
        return 2
    except KeyboardInterrupt as ended:
        return _end_interrupted(name, ended)
    except BrokenPipeError:
        return _unread()
    except MemoryError:
        return _without_memory()
    except OSError as error:
        if _NO_MEMORY.search(str(error)):
            return _without_memory()
        return _end_unwritten(error)
    except Exception as error:
        if _NO_MEMORY.search(str(error)):
            return _without_memory()
        if interrupt := interrupt_behind(error):
            return _end_interrupted(name, interrupt)
        told = _mendable(error)
        if told:
            say(f"conform: {told}")
            return _status(error)
        return _end_crashed()


def _end_interrupted(name: str, ended: KeyboardInterrupt) -> int:
    from conform.console.terminal import say

    notes = list(getattr(ended, "__notes__", ()))
    kept = "".join(f"; {note}" for note in notes or [_KEPT] * (name in _RESUMABLE))
    say(f"\nconform: interrupted{kept}")
    return getattr(ended, "exit_code", 130)


def _without_memory() -> int:
    """The exit code of a command that got no memory. Imports nothing, which would need some."""
    sys.stderr.write(f"conform: {_MORE_MEMORY}\n")
    return 2


def _mendable(error: Exception) -> str:
    """What to say of an exception that any command can raise because of its input, or ""."""
    from charter import api
    from charter.explore.workers import WorkerDied

    if isinstance(error, UnicodeEncodeError) and (found := _NOT_UTF8.search(error.object)):
        return f"the name {found[0]} is not in UTF-8{_OTHER_NAME}"
    known = (api.TooManyValues, api.NoInitialState, WorkerDied)
    return str(error) if isinstance(error, known) else ""


def _status(error: Exception) -> int:
    """The exit code of such an exception: a value that does not exist is a finding."""
    from charter import api

    return 1 if isinstance(error, api.NoInitialState) else 2


def _unread() -> int:
    """The exit code after a closed pipe (SIGPIPE); it is not 0, since the result was not delivered.
    Drops buffered output."""
    from conform.console.streams import to_nowhere

    to_nowhere(sys.__stdout__.fileno() if sys.__stdout__ else 1)
    return 128 + 13


def _end_unwritten(error: OSError) -> int:
    """The exit code after a file, or stdout, that could not be read or written."""
    from conform.console.terminal import say

    place = f"{error.filename}: " if error.filename else ""
    remedy = _REMEDIES.get(error.errno or 0, "")
    say(f"conform: {place}{error.strerror or error}{remedy}")
    return 2


def _end_crashed() -> int:
    """The exit code after an unexpected exception, which must not look like a finding (1)."""
    import traceback

    from conform.console.terminal import say

    say(
        f"{traceback.format_exc()}"
        "conform: this is a bug of conform, so there is no result; report it with the lines above"
    )
    return 3


def commands() -> dict[str, str]:
    """All commands, with what they do."""
    return {**_PROJECT, **_COMPILER, **_JUDGE}


def parser_of(name: str, about: str) -> argparse.ArgumentParser:
    """The parser of a command, which does what `about` says."""
    command = command_of(name)
    parser = _Parser(
        prog=f"conform {name}",
        description=about[:1].upper() + about[1:] + ".",
        epilog=command.EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    return parser


def module_of(name: str) -> str:
    """The full name of a command's module."""
    group = "project" if name in _PROJECT else "judge" if name in _JUDGE else "compiler"
    return f"conform.cli.commands.{group}.{name}"


def command_of(name: str) -> Command:
    """The module of a command."""
    from conform.console.errors import ConformError

    try:
        return cast("Command", importlib.import_module(module_of(name)))
    except ModuleNotFoundError as error:
        raise ConformError(
            f"this installation lacks {error.name}, which `conform {name}` needs; install"
            " charter-conform again"
        ) from None


if __name__ == "__main__":
    sys.exit(main())
