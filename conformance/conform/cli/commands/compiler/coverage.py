"""`conform coverage`: which instances reach which classes of states."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from charter import api
from charter.api import coverage
from charter.formats.canonical import Json
from charter.formats.charter_files.white_pairs import FILE as WHITE
from charter.formats.charter_files.white_pairs import BadReasons, WhitePairs, read_white_pairs
from charter.formats.files import beside_charter
from conform.cli.output.charters import errors_shown, exit_code, read_rest
from conform.cli.output.coverage_pairs import (
    pair_tables,
    pairs_json,
    pairs_markdown,
    show_pairs,
    wrong_reasons,
)
from conform.cli.output.each_instance import NotSearched, each_searched, instances_named
from conform.cli.output.numbers import count_or_all
from conform.cli.output.search_note import say_how
from conform.console.errors import ConformError
from conform.console.files import write_named
from conform.console.terminal import columns, number, out, out_json, plural, say

if TYPE_CHECKING:
    from charter.api.coverage import ReachedClasses, StateClass

EXAMPLES = """examples:
  conform coverage spec/kafka
  conform coverage spec/kafka --instance 'pair*' --json
  conform coverage spec/kafka --write spec/kafka/coverage/README.md
  conform coverage spec/kafka --pairs --write spec/kafka/coverage/steps.md

Searches the instances, and shows for each class of states in how many steps an instance reaches it
first. Classes are witnesses in the folder `coverage` beside the charter, or in NAME.coverage beside
NAME.charter (--classes names another folder, or a file); other searches do not look for them. What
no instance reaches is either impossible, or an instance is missing.

--pairs needs no classes: a row and a column for each step, and in how many instances the second can
be taken right after the first. An instance with more states than --most is walked at random: of it
the pairs count that a walk saw. The files of the classes may declare instances that are not
searched at all, since they allow too much, and scenarios. `s`: no instance has the pair, but a
scenario. `·`: neither has it; white.toml beside the classes can say why.

Exit code 0: each class is reached; 4: one is reached in no instance; 3: the same, but an instance
has more states than were searched; or an instance cannot be searched, which is told: the others
are, and --write writes nothing (1, if an initial value of it does not exist). With --pairs, 1: a
scenario fails, or white.toml is out of date (a pair `·` has no reason there, or another pair has
one); 3: an instance has more states than were searched; 0: none of these. With --instance or
--variant white.toml is not held against the table. 2 in place of 0: scenarios, instances or mutants
with errors are left out, which is told; with --write nothing may have errors.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charter", type=Path, help="a file, or a folder of files of one protocol")
    parser.add_argument(
        "--classes", type=Path, metavar="PATH",
        help="a file or folder with witnesses (default: coverage/ beside the charter)",
    )  # fmt: skip
    parser.add_argument(
        "--instance", default="*", metavar="GLOB", help="search only these instances"
    )
    parser.add_argument("--variant", default="", help="a variant of the charter")
    parser.add_argument(
        "--most", type=count_or_all, default=200_000, metavar="N",
        help="search up to N states of an instance (default: 200,000; 0: all)",
    )  # fmt: skip
    parser.add_argument(
        "--pairs", action="store_true",
        help="show in how many instances a step follows another one, in place of classes",
    )  # fmt: skip
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table as Markdown")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    if arguments.pairs:
        return _pairs(arguments)
    model, classes, broken = _classes(arguments)
    machines = {one.machine for one in classes}
    chosen = instances_named(model, arguments.instance)
    names = [i.name for i in model.instances if i.name in chosen and i.machine in machines]
    if not names:
        raise ConformError(
            f"no instance that matches {arguments.instance!r} is of a machine that a class is of"
        )
    searches = each_searched(
        names, lambda name, progress: coverage.find_reached(model, name, arguments.most, progress)
    )
    failed, tables = searches.failed, _tables(classes, [*searches.found.values()])
    if arguments.json:
        rows: list[Json] = [asdict(row) for table in tables for row in table.rows]
        never: list[Json] = [name for table in tables for name in table.never]
        out_json({"instances": rows, "never": never})
    else:
        _show(tables)
    if arguments.write is not None:
        _write(arguments.write, _markdown(arguments.charter, tables), failed)
    if failed.code or not any(table.never for table in tables):
        return exit_code(failed.code, broken)
    return 4 if all(row.complete for table in tables for row in table.rows) else 3


def _write(file: Path, page: str, failed: NotSearched) -> None:
    """Writes a table, unless it lacks instances, which is told."""
    if failed.why:
        failed.refuse(file)
    else:
        write_named(file, page)


def _pairs(arguments: argparse.Namespace) -> int:
    if arguments.classes is not None:
        raise ConformError("--pairs is about steps: it has no --classes")
    model, walked, broken = _load_walked(arguments)
    chosen = instances_named(model, arguments.instance)
    reasons = _reasons(arguments.charter)
    most = {n: 1 if n in walked else arguments.most for n in chosen}
    tables, unsearched = pair_tables(model, most, reasons)
    if arguments.json:
        out_json(pairs_json(tables))
    else:
        show_pairs(tables)
    if arguments.write is not None:
        _write(arguments.write, pairs_markdown(arguments.charter, tables), unsearched)
    failed = [fails.sentence() for table in tables for fails in table.failed]
    every = len(chosen) == len(model.instances) and not (
        arguments.variant or broken or unsearched.why
    )
    wrong = wrong_reasons(tables, reasons) if reasons and every else []
    for sentence in (*failed, *wrong):
        say(sentence)
    if failed or wrong:
        return 1
    partial = any(table.partial for table in tables)
    return exit_code(unsearched.code or (3 if partial else 0), broken)


def _reasons(charter: Path) -> Sequence[WhitePairs]:
    """The reasons of white pairs that stand beside the classes. Raises `ConformError`."""
    folder = _folder(charter)
    try:
        return () if folder.is_file() else read_white_pairs(folder / WHITE)
    except BadReasons as error:
        raise ConformError(str(error)) from None


def _rest(arguments: argparse.Namespace) -> api.LoadedRest:
    """The charter, whole if a table is written. Raises `ConformError`."""
    selection = api.Selection(arguments.variant)
    is_kept = arguments.write is not None
    return read_rest(arguments.charter, selection, arguments.instance, whole=is_kept)


def _load_walked(arguments: argparse.Namespace) -> tuple[api.Model, set[str], Collection[object]]:
    """The model with the instances that stand beside the classes, the names of these, and what is
    left out of the charter. Raises `ConformError`."""
    rest, folder = _rest(arguments), _folder(arguments.charter)
    model = rest.model
    if not folder.is_file() and not any(folder.glob("*.charter")):
        return model, set(), rest.broken
    with errors_shown(folder):
        wider = coverage.with_walked(rest.charter, folder, api.Selection(arguments.variant))
    walked = {i.name for i in wider.instances} - {i.name for i in model.instances}
    return wider, walked, rest.broken


@dataclass(frozen=True, slots=True)
class _ReachedTable:
    """The classes of one machine, and what its instances reach."""

    machine: str
    classes: Sequence[StateClass]
    rows: Sequence[ReachedClasses]

    @property
    def never(self) -> list[str]:
        """The classes that no instance reaches."""
        steps = [row.steps for row in self.rows]
        return [c.name for c in self.classes if all(found[c.name] is None for found in steps)]

    @property
    def head(self) -> list[str]:
        """The names of the columns."""
        return ["instance", "states", *(str(place + 1) for place in range(len(self.classes)))]

    def cells(self, row: ReachedClasses) -> list[str]:
        """An instance's row: for each class the steps to it, a dot where it is not reached."""
        steps = (row.steps[one.name] for one in self.classes)
        shown = ["·" if count is None else str(count) for count in steps]
        return [row.instance, f"{number(row.states)}{'' if row.complete else '+'}", *shown]


def _tables(classes: Sequence[StateClass], rows: Sequence[ReachedClasses]) -> list[_ReachedTable]:
    return [
        _ReachedTable(
            machine,
            [one for one in classes if one.machine == machine],
            [row for row in rows if row.machine == machine],
        )
        for machine in dict.fromkeys(row.machine for row in rows)
    ]


def _classes(
    arguments: argparse.Namespace,
) -> tuple[api.Model, Sequence[StateClass], Collection[object]]:
    """The model with its classes, and what is left out of the charter. Raises `ConformError`."""
    rest = _rest(arguments)
    folder = arguments.classes or _folder(arguments.charter)
    if not folder.exists():
        raise ConformError(
            f"{_missing(arguments)} that declare witnesses, one for each class of states;"
            " `conform help coverage` shows some"
        )
    with errors_shown(folder):
        made = coverage.with_classes(rest.charter, folder, api.Selection(arguments.variant))
    return *made, rest.broken


def _missing(arguments: argparse.Namespace) -> str:
    """Where the classes could stand, and do not."""
    if arguments.classes:
        return f"{arguments.classes} does not exist: a file, or a folder with files,"
    folder = _folder(arguments.charter)
    if arguments.charter.is_dir():
        return f"{folder} does not exist: a folder with files"
    own = beside_charter(arguments.charter, coverage.COVERAGE)
    return f"neither {own} nor {folder} exists: a file, or a folder with files,"


def _folder(charter: Path) -> Path:
    """The folder of the classes of a charter: for one in a file its own, or that of all beside
    it."""
    own = beside_charter(charter, coverage.COVERAGE)
    return own if charter.is_dir() or own.exists() else charter.with_name(coverage.COVERAGE)


def _show(tables: Sequence[_ReachedTable]) -> None:
    for table in tables:
        out(f"{table.machine}:")
        for place, one in enumerate(table.classes, 1):
            out(f"{place:>3}  {one.name}")
        out("")
        out(columns([table.head, *(table.cells(row) for row in table.rows)]))
        for name in table.never:
            out(f"{name} is reached in no instance")
        for row in table.rows:
            say_how(row.instance, row.states, row.complete, row.why_slow)


def _markdown(charter: Path, tables: Sequence[_ReachedTable]) -> str:
    """The tables as a Markdown page."""
    lines = [
        f"# What the instances of {charter.as_posix()} reach",
        "",
        f"Written by `conform coverage {charter.as_posix()} --write FILE`. Each column is a class",
        "of states; a cell has the number of steps to the first such state, `·` where the instance",
        "reaches none. `+`: not all states were searched.",
        "",
        "`conform explore` can count more states of the same instance: it checks the properties,",
        "and where one compares values of a counter by their order, states that differ in that",
        "order alone are told apart. Here there are classes in place of properties.",
    ]
    for table in tables:
        lines += ["", f"## {table.machine}", ""]
        lines += ["| | class | | instances that reach it | first |", "|---|---|---|---|---|"]
        lines += [_class_line(table, place, one) for place, one in enumerate(table.classes, 1)]
        lines += ["", f"| {' | '.join(table.head)} |", "|---" * len(table.head) + "|"]
        for row in table.rows:
            name, *cells = table.cells(row)
            lines.append(f"| {' | '.join([f'`{name}`', *cells])} |")
    return "\n".join(lines) + "\n"


def _class_line(table: _ReachedTable, place: int, one: StateClass) -> str:
    first = sorted(
        (steps, row.instance) for row in table.rows if (steps := row.steps[one.name]) is not None
    )
    where = f"{plural(first[0][0], 'step')}, `{first[0][1]}`" if first else "never"
    doc = " ".join(one.doc.split()).replace("|", "\\|")
    return f"| {place} | `{one.name}` | {doc} | {len(first)} | {where} |"
