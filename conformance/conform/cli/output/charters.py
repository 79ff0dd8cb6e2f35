"""Loads charters for commands and shows their errors."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from charter import api
from charter.formats.canonical import Json
from conform.console.errors import ConformError
from conform.console.terminal import out, plural, say

if TYPE_CHECKING:
    from charter.api import (
        Charter,
        Diagnostic,
        Diagnostics,
        LoadedRest,
        Model,
        Refused,
        Selection,
    )


class Errors(ConformError):
    """The charter has errors, which were already shown."""

    exit_code = 1


def load_charter(path: Path, variant: str = "", mutant: str = "") -> Model:
    """The core of a charter. Raises `ConformError` if it cannot be read, `Errors` after showing its
    errors."""
    return read(path, api.Selection(variant, mutant))[1]


def read(path: Path, selection: Selection) -> tuple[Charter, Model]:
    """A charter and its core. Raises as `load_charter` does."""
    with errors_shown(path):
        return api.load_charter(path, selection)


@contextmanager
def errors_shown(path: Path) -> Iterator[None]:
    """What the compiler says of the files at `path`, as `load_charter` raises it."""
    try:
        yield
    except (api.Unreadable, api.Missing) as error:
        raise ConformError(str(error)) from None
    except api.Refused as error:
        raise Errors(
            f"{path} has {show_refused(error)}; `conform explain CODE` explains more"
        ) from None


def read_rest(
    path: Path, selection: Selection, instance: str = "*", *, whole: bool = False
) -> LoadedRest:
    """A charter and its core without the scenarios, instances and mutants that have errors, if the
    command can do without: it tells the errors, and what is left out. `instance` is the one that is
    asked for, or a pattern. `whole`: nothing may be left out, since the result is written to be
    kept with the charter. Raises as `load_charter` does."""
    with errors_shown(path):
        if whole:
            return api.LoadedRest(*api.load_charter(path, selection))
        found = api.load_rest(path, selection, instance)
    tell_left_out(found.errors, [one.told for one in found.broken])
    return found


def tell_left_out(found: Iterable[Diagnostic], broken: Iterable[str]) -> None:
    """Tells the errors of declarations that are left out, and which those are."""
    for item in found:
        say(item.show())
    for what in broken:
        say(f"the {what} is left out, since it has errors")


def exit_code(code: int, broken: Collection[object]) -> int:
    """The exit code of a command that left out what is `broken`: 2 instead of 0, but a finding, or
    what is unknown, is still said."""
    return code or (2 if broken else 0)


def check_charter(path: Path) -> Diagnostics:
    """The diagnostics of a charter, its variants and mutants, and its scenarios in each variant.
    Raises `ConformError` if it cannot be read."""
    try:
        return api.check_charter(path)
    except (api.Unreadable, api.Missing) as error:
        raise ConformError(str(error)) from None


def diagnostics_json(found: Diagnostics) -> list[Json]:
    """The diagnostics as JSON."""
    return [
        {
            "code": item.code,
            "severity": item.severity,
            "message": item.message,
            "where": item.span.where(),
            "hint": item.hint,
        }
        for item in found
    ]


def tally(found: Diagnostics) -> str:
    """`1 error, no warnings`."""
    errors = len(found.errors)
    return f"{_count(errors, 'error')}, {_count(len(list(found)) - errors, 'warning')}"


def _count(count: int, noun: str) -> str:
    return plural(count, noun) if count else f"no {noun}s"


def show_refused(error: Refused) -> str:
    """Shows all errors; returns a text with their number."""
    for item in error.diagnostics:
        out(item.show())
    return plural(len(error.diagnostics.errors), "error")


def add_bounds(parser: argparse.ArgumentParser) -> None:
    """Adds the option that `set_bounds` reads."""
    parser.add_argument(
        "--set", action="append", default=[], metavar="BOUND=N", dest="bounds",
        help="override the size of a sort or the value of a constant of the instance; repeatable",
    )  # fmt: skip


def set_bounds(model: Model, instance: str, settings: Sequence[str]) -> Model:
    """The core with the bounds of an instance replaced. Raises `ConformError`."""
    if not settings:
        return model
    try:
        return api.set_bounds(model, instance, settings)
    except (api.Missing, api.WrongBound) as error:
        raise ConformError(str(error)) from None


def settings_of(bounds: Mapping[str, int], settings: Sequence[str]) -> dict[str, int]:
    """The bounds of an instance that the command line sets."""
    names = {text.partition("=")[0].strip() for text in settings}
    return {name: value for name, value in bounds.items() if name in names}


def settings_line(chosen: Mapping[str, int]) -> str:
    """The same as text for a line: ` with length=2`; "" without any."""
    pairs = (f"{name}={str(value).lower()}" for name, value in chosen.items())
    return f" with {', '.join(pairs)}" if chosen else ""
