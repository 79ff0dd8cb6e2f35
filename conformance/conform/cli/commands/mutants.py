"""Checks that each mutant is caught by the property that it names, in the instance that it
names."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from charter import api
from charter.formats.canonical import Json
from conform.cli.commands.charters import edited
from conform.console.errors import ConformError, Interrupted
from conform.console.progress import searching
from conform.console.terminal import out, out_json

if TYPE_CHECKING:
    from charter.api import Model, Opened, Selection, Wanted

ANSWERS = {"violated": "caught", "holds": "missed"}
"""What the verdict on its property says of a mutant; without one it is `unknown`."""
WORDS = {"caught": "caught", "missed": "NOT CAUGHT", "unknown": "not known"}
FOR_ONE = ("instance", "bounds", "where", "keep", "journal", "picture", "itf")
"""Options that mean nothing for several mutants."""


def of_pattern(model: Model, pattern: str) -> tuple[str, ...]:
    """The names of the mutants that a pattern stands for. Raises `ConformError`."""
    found = tuple(m.name for m in model.mutants if fnmatchcase(m.name, pattern))
    if not found:
        known = ", ".join(m.name for m in model.mutants) or "none"
        raise ConformError(f"no mutant is called {pattern!r}; there are: {known}")
    return found


def own_instance(model: Model, mutant: str) -> str:
    """The instance that a mutant names; "" without a mutant."""
    return next((m.instance for m in model.mutants if m.name == mutant), "")


def chosen(model: Model, arguments: argparse.Namespace) -> tuple[str, ...]:
    """The names of the instances that are asked for, of a mutant its own if none is named. Raises
    `ConformError`, also for one of another machine than the mutant's: what it bends is not
    there."""
    mutant = arguments.mutant
    own = own_instance(model, mutant)
    try:
        names = api.instances(model, arguments.instance or own)
    except api.Missing as error:
        raise ConformError(str(error)) from None
    machines = {i.name: i.machine for i in model.instances}
    for name in names if own else ():
        if machines[name] != machines[own]:
            raise ConformError(
                f"mutant {mutant} is of {machines[own]} (instance {own}); {name} is an instance of "
                f"{machines[name]}"
            )
    return names


def judged(model: Model, mutant: str, found: Mapping[str, Json]) -> dict[str, Json] | None:
    """What a search says of its mutant: `caught`, `missed` (its property holds), or `unknown`."""
    for one in model.mutants:
        if one.name == mutant:
            verdicts = found["verdicts"]
            assert isinstance(verdicts, dict)
            answer = ANSWERS.get(str(verdicts.get(one.caught_by)), "unknown")
            return {
                "name": mutant,
                "caught_by": one.caught_by,
                "instance": one.instance,
                "answer": answer,
                "detail": _why_unknown(one.caught_by, found) if answer == "unknown" else "",
            }
    return None


def _why_unknown(name: str, found: Mapping[str, Json]) -> str:
    """Why a search does not know whether a property holds."""
    findings = found["findings"]
    assert isinstance(findings, list)
    details = (f["detail"] for f in findings if isinstance(f, dict) and f["name"] == name)
    return next((str(d) for d in details if d), "") or "the search gave up"


def sentence(found: Mapping[str, Json]) -> str:
    """The same in words; "" without a mutant."""
    mutant = found["mutant"]
    if not isinstance(mutant, dict):
        return ""
    name, prop, here = mutant["name"], mutant["caught_by"], found["instance"]
    match mutant["answer"]:
        case "caught":
            return f"mutant {name} is caught by {prop}"
        case "missed":
            also = f"; it is meant for {mutant['instance']}" if mutant["instance"] != here else ""
            return f"mutant {name} is NOT caught: {prop} holds in {here}{also}"
        case _:
            also = f" (it is meant for {mutant['instance']})" if mutant["instance"] != here else ""
            why = mutant["detail"]
            return f"whether mutant {name} is caught by {prop} is not known{also}: {why}"


def try_all(charter: Opened, model: Model, wanted: Wanted, arguments: argparse.Namespace) -> int:
    """Search each mutant of a pattern in its own instance, and tell which are caught. Exit code 0:
    all are; 3: of some it is not known; 4: some are not."""
    for option in FOR_ONE:
        if getattr(arguments, option):
            name = "set" if option == "bounds" else option
            raise ConformError(f"--{name} is for one mutant; a pattern takes each in its instance")
    names = of_pattern(model, arguments.mutant)
    widths = [max(len(n) for n in names), max(len(word) for word in WORDS.values())]
    rows: list[dict[str, Json]] = []
    try:
        for name in names:
            rows.append(_tried(charter, model, wanted, api.Selection(arguments.variant, name)))
            if not arguments.json:
                _show(rows[-1], widths)
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; {len(rows)} of {len(names)} mutants were tried") from None
    finally:
        if arguments.json:
            out_json({"mutants": list[Json](rows)})
    answers = [row["answer"] for row in rows]
    if not arguments.json:
        out(f"{answers.count('caught')} of {len(rows)} mutants are caught")
    if "missed" in answers:
        return 4
    return 3 if "unknown" in answers else 0


def _show(row: Mapping[str, Json], widths: Sequence[int]) -> None:
    cells = zip((str(row["name"]), WORDS[str(row["answer"])]), widths, strict=True)
    name, word = (cell.ljust(width) for cell, width in cells)
    steps, loops, more = row["steps"], row["loops"], ""
    if steps is not None:
        count = f"{steps} {'step' if steps == 1 else 'steps'}"
        more = f" in a run of {count} that goes on for ever" if loops else f" after {count}"
    elif row["detail"]:
        more = f": {row['detail']}"
    out(f"{name}  {word}  by {row['caught_by']} in {row['instance']}{more}")


def _tried(charter: Opened, model: Model, wanted: Wanted, selection: Selection) -> dict[str, Json]:
    """What is known of a mutant, with the `steps` of what catches it, and whether these go on for
    ever. Raises `ConformError`."""
    name = selection.mutant
    bent = edited(charter, selection, f"mutant {name}")
    try:
        with searching() as progress:
            found = api.explored(bent, own_instance(model, name), wanted, progress)
    except api.CannotExplore as error:
        raise ConformError(f"mutant {name}: {error}") from None
    row = judged(bent, name, found)
    findings = found["findings"]
    assert row is not None and isinstance(findings, list)
    row |= {"steps": None, "loops": False}
    for finding in findings:
        assert isinstance(finding, dict)
        trace = finding["trace"]
        if finding["name"] == row["caught_by"] and finding["seen"] and isinstance(trace, list):
            row |= {"steps": len(trace), "loops": finding.get("loop") is not None}
    return {**row, "distinct": found["distinct"], "seconds": found["seconds"]}
