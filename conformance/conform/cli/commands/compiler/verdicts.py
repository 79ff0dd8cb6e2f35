"""`conform verdicts`: which properties hold in which instances and variants."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from charter import api
from charter.api import verdicts
from charter.formats.files import write_whole
from conform.cli.output.charters import errors_shown, exit_code, read_rest
from conform.cli.output.each_instance import CANNOT, NotSearched, instances_named
from conform.cli.output.numbers import count_or_all
from conform.cli.output.search_note import say_how
from conform.console.errors import CannotWrite, ConformError, Interrupted
from conform.console.files import refuse_other
from conform.console.progress import searching
from conform.console.terminal import columns, out, say, visible
from conform.storage.lease import in_turn

if TYPE_CHECKING:
    from charter.api.verdicts import InstanceVerdicts, SearchedPlace

EXAMPLES = """examples:
  conform verdicts spec/kafka --instance 'tiny_*'
  conform verdicts spec/kafka --variant '*' --instance last_standing
  conform verdicts spec/kafka --mutant 'elr_*' --instance tiny_elr
  conform verdicts spec/kafka --variant '*' --mutant '*' --write spec/kafka/verdicts
  conform verdicts spec/examples/paxos.charter --json

Searches each instance, with each variant that is named, and prints a table: a row for each
instance, a column for each property. The charter itself is always searched. For mutants the table
says which properties see the mistake, after how many steps.

--write FOLDER writes README.md, the table with a shortest trace to each violation, and
verdicts.json. The handbook has the table if it is in the folder `verdicts` beside the files of the
charter. A row of verdicts.json whose rules, properties and bounds are still the same is kept and
not searched again; rows of other instances stay, and are marked if they are out of date. So an
interrupted command continues, and several commands may write into one folder at once. Delete the
file to search everything anew.

Exit code 0: every property holds, but where the instance lists it under `fails`; 1: one fails in
the charter itself, or an initial value does not exist there; 3: one is unknown there, since an
instance has more states than were searched, or an instance cannot be searched at all, which is
told: the others are searched, and kept by --write.
What fails with a variant or a mutant is shown, and does not count: `conform explore --mutant` says
whether mutants are caught by the properties that they name. A witness that is not found does not
count either, nor does what an instance lists wrongly under `misses` or `fails`, which is told below
the table: `conform explore` ends with 4 there. 2 in place of 0: scenarios, instances or mutants
with errors are left out, which is told; with --write nothing may have errors.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("charter", type=Path, help="a file, or a folder of files of one protocol")
    parser.add_argument(
        "--instance", default="*", metavar="GLOB", help="search only these instances"
    )
    parser.add_argument(
        "--variant", default="", metavar="GLOB", help="the variants to search besides; '*': all"
    )
    parser.add_argument(
        "--mutant", default="", metavar="GLOB",
        help="the mutants to search, each in its own instance; '*': all",
    )  # fmt: skip
    parser.add_argument(
        "--most", type=count_or_all, default=200_000, metavar="N",
        help="search up to N states of an instance (default: 200,000; 0: all)",
    )  # fmt: skip
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="write README.md and verdicts.json there"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    folder = arguments.write
    rest = read_rest(arguments.charter, api.PLAIN, arguments.instance, whole=folder is not None)
    charter, model = rest.charter, rest.model
    places = _places(model, arguments)
    asked = {"", *model.variants} if folder else {variant for variant, _ in places}
    with_mutants = bool(folder) or any(mutant for _, mutant in places)
    with errors_shown(arguments.charter):
        digests = verdicts.digests(charter, asked, with_mutants)
    table = _VerdictTable(folder, arguments.most, digests)
    table.take_over()
    if folder is not None:
        page = verdicts.verdicts_markdown(arguments.charter.as_posix(), model, ())
        refuse_other(folder / verdicts.PAGE, page)
    try:
        for (variant, mutant), names in places.items():
            with errors_shown(arguments.charter):
                chosen = (
                    charter.model(api.Selection(variant, mutant)) if variant or mutant else model
                )
            _search(chosen, [verdicts.SearchedPlace(variant, mutant, i) for i in names], table)
    finally:
        if folder is not None:
            _write_both(arguments, model, table)
    rows = [table.kept[place] for place in table.asked if place in table.kept]
    if arguments.json:
        out(verdicts.verdicts_text(rows).rstrip())
    else:
        _show(rows)
    if folder is not None:
        if lacking := [_describe(place) for place in table.asked if place not in table.kept]:
            say(f"{folder} has no rows of {', '.join(lacking)}")
        if table.old:
            told = f"{len(table.old)} of {len(table.rows)} rows of {folder} are out of date"
            say(f"{told}; --variant '*' --mutant '*' renews those of all instances")
    return exit_code(min((_status(rows), table.failed.code), key=_WORST.index), rest.broken)


_WORST = (1, 3, 0)
"""Exit codes; the first of those that apply is that of the command."""


def _places(
    model: api.Model, arguments: argparse.Namespace
) -> dict[tuple[str, str], Sequence[str]]:
    """The instances to search by variant and mutant: a mutant in its own instance."""
    instances = instances_named(model, arguments.instance)
    variants = _matching("variant", model.variants, arguments.variant)
    mutants = _matching("mutant", [m.name for m in model.mutants], arguments.mutant)
    own = {m.name: m.instance for m in model.mutants}
    return {
        **{(variant, ""): instances for variant in ("", *variants)},
        **{("", name): (own[name],) for name in mutants if own[name] in instances},
    }


def _matching(kind: str, names: Sequence[str], pattern: str) -> list[str]:
    found = [name for name in names if fnmatchcase(name, pattern)]
    if pattern and not found:
        there_are = ", ".join(names) or "none"
        raise ConformError(f"no {kind} matches {pattern!r}; there are: {there_are}")
    return found


@dataclass(slots=True)
class _VerdictTable:
    """The rows of the table in `folder` (None: it is not written) that still hold, and those that
    were searched: `kept`; and its rows that are out of date, and have not been searched again:
    `old`. `digests` are those of all that the table can have; `asked` are the places that this
    command is about; `failed` are those that could not be searched."""

    folder: Path | None
    most: int
    digests: Mapping[SearchedPlace, str]
    kept: dict[SearchedPlace, InstanceVerdicts] = field(default_factory=dict)
    old: dict[SearchedPlace, InstanceVerdicts] = field(default_factory=dict)
    asked: list[SearchedPlace] = field(default_factory=list)
    failed: NotSearched = field(default_factory=NotSearched)

    @property
    def rows(self) -> tuple[InstanceVerdicts, ...]:
        """All rows that are written."""
        return (*self.kept.values(), *self.old.values())

    def has(self, place: SearchedPlace) -> bool:
        """Whether a row is there, of as many states as were requested."""
        row = self.kept.get(place)
        return row is not None and (row.complete or 0 < self.most <= row.states)

    def take_over(self) -> None:
        """Keep what the file has of the charter as it is now, where it is of more states: another
        command may have written it meanwhile."""
        if self.folder is None:
            return
        try:
            rows = verdicts.read_verdicts(self.folder / verdicts.FILE)
        except verdicts.BadVerdicts as error:
            raise ConformError(str(error)) from None
        for row in verdicts.mark_rows(self.digests, rows):
            own = self.kept.get(row.place)
            if row.out_of_date:
                self.old |= {} if own else {row.place: row}
            elif own is None or (row.complete, row.states) > (own.complete, own.states):
                self._keep(row)

    def _keep(self, row: InstanceVerdicts) -> None:
        self.kept[row.place] = row
        self.old.pop(row.place, None)

    def add(self, row: InstanceVerdicts) -> None:
        """Add a row that was searched, and store it: an interrupted command goes on after it."""
        self._keep(row)
        if self.folder is not None:
            with in_turn(self.folder):
                self.take_over()
                text = verdicts.verdicts_text(self.rows)
                write_whole(self.folder / verdicts.FILE, text, CannotWrite)


def _search(model: api.Model, places: Sequence[SearchedPlace], table: _VerdictTable) -> None:
    """Searches the instances of a model that are not known, and adds what they show."""
    for place in places:
        table.asked.append(place)
        if table.has(place):
            continue
        try:
            with searching() as progress:
                one = verdicts.search_instance(
                    model, place, table.digests[place], table.most, progress
                )
        except CANNOT as error:
            table.failed.add(
                _describe(place), error, is_finding=not (place.variant or place.mutant)
            )
            continue
        except KeyboardInterrupt as ended:
            kept = (
                "--write FOLDER keeps each finished search"
                if table.folder is None
                else f"the same command continues from {table.folder / verdicts.FILE}"
            )
            name = place.mutant or place.instance
            raise Interrupted(f"interrupted while {name} was searched; {kept}", ended) from None
        table.add(one.row)
        say_how(one.row.instance, one.row.states, one.row.complete, one.why_slow)


def _describe(place: SearchedPlace) -> str:
    """An instance, with the variant or the mutant that it is searched with."""
    edited = [f"the variant {place.variant}"] * bool(place.variant)
    edited += [f"the mutant {place.mutant}"] * bool(place.mutant)
    return f"{place.instance} with {' and '.join(edited)}" if edited else place.instance


def _write_both(arguments: argparse.Namespace, model: api.Model, table: _VerdictTable) -> None:
    """Writes both files, the rows in the order of the charter."""
    variants, mutants = ("", *model.variants), ["", *(m.name for m in model.mutants)]
    instances = [i.name for i in model.instances]

    def order(row: InstanceVerdicts) -> tuple[int, int, int]:
        place = row.place
        return (
            mutants.index(place.mutant),
            variants.index(place.variant),
            instances.index(place.instance),
        )

    with in_turn(arguments.write):
        table.take_over()
        rows = sorted(table.rows, key=order)
        page = verdicts.verdicts_markdown(arguments.charter.as_posix(), model, rows)
        write_whole(arguments.write / verdicts.PAGE, visible(page), CannotWrite)
        write_whole(arguments.write / verdicts.FILE, verdicts.verdicts_text(rows), CannotWrite)


def _show(rows: Sequence[InstanceVerdicts]) -> None:
    for machine in dict.fromkeys(row.machine for row in rows):
        mine = [row for row in rows if row.machine == machine]
        names = verdicts.names_of(mine)
        out(f"{machine}:")
        for place, name in enumerate(names, 1):
            out(f"{place:>3}  {name}")
        head = ["states", "depth", *(str(place + 1) for place in range(len(names)))]
        for variant in dict.fromkeys(row.variant for row in mine):
            shown = [row for row in mine if row.variant == variant and not row.mutant]
            if shown:
                out(f"\nwith the variant {variant}:" if variant else "")
                rest = (verdicts.instance_cells(row, names) for row in shown)
                out(columns([["instance", *head], *rest]))
        if mutants := [row for row in mine if row.mutant]:
            out("\neach mutant in its instance:")
            rest = ([row.mutant, *verdicts.instance_cells(row, names)[1:]] for row in mutants)
            out(columns([["mutant", *head], *rest]))
        out("")
    for row in rows:
        for wrong in row.misstated:
            out(f"{row.instance}: {wrong}")


def _status(rows: Sequence[InstanceVerdicts]) -> int:
    plain = [row for row in rows if row.is_of_charter]
    of_charter = [one for row in plain for one in row.verdicts.values()]
    if any(one.word == "violated" and not one.expected for one in of_charter):
        return 1
    return 3 if any(one.word == "unknown" for one in of_charter) else 0
