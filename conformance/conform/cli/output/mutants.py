"""Checks that each mutant is caught by the property and in the instance that it names."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

from charter import api
from charter.core.reach import list_replaced_in_property
from charter.formats.canonical import Json
from conform.cli.output.charters import exit_code, tell_left_out
from conform.cli.output.each_instance import CANNOT, instances_named
from conform.console.errors import ConformError, Interrupted
from conform.console.progress import searching
from conform.console.terminal import out, out_json

if TYPE_CHECKING:
    from charter.api import Charter, ExploreOptions, LoadedRest, Model, Selection
    from charter.explore.result import SearchResult

Answer = Literal["caught", "missed", "unknown"]
ANSWERS: Mapping[str, Answer] = {"violated": "caught", "holds": "missed"}
"""What the verdict on its property says of a mutant; without one it is `unknown`."""
WORDS = {"caught": "caught", "missed": "NOT CAUGHT", "unknown": "not known"}
FOR_ONE = ("instance", "bounds", "bounds_only", "where", "keep", "journal", "picture", "itf")
"""Options that mean nothing for several mutants."""


def of_pattern(model: Model, pattern: str) -> tuple[str, ...]:
    """The names of the mutants that match a pattern. Raises `ConformError`."""
    found = tuple(m.name for m in model.mutants if fnmatchcase(m.name, pattern))
    if not found:
        known = ", ".join(m.name for m in model.mutants) or "none"
        raise ConformError(f"no mutant is called {pattern!r}; there are: {known}")
    return found


def own_instance(model: Model, mutant: str) -> str:
    """The instance that a mutant names; "" without a mutant."""
    return next((m.instance for m in model.mutants if m.name == mutant), "")


def choose_instances(model: Model, arguments: argparse.Namespace) -> tuple[str, ...]:
    """The names of the instances to search: those requested, else the mutant's own. Raises
    `ConformError`, also for an instance of a machine that the mutant does not edit."""
    mutant = arguments.mutant
    own = own_instance(model, mutant)
    names = instances_named(model, arguments.instance or own)
    machines = {i.name: i.machine for i in model.instances}
    for name in names if own else ():
        if machines[name] != machines[own]:
            raise ConformError(
                f"mutant {mutant} is of {machines[own]} (instance {own}); {name} is an instance of "
                f"{machines[name]}"
            )
    return names


@dataclass(frozen=True, slots=True)
class MutantStatus:
    """The result of one mutant: `caught`, `missed` (its property holds) or `unknown`, with the
    reason."""

    name: str
    caught_by: str
    instance: str
    answer: Answer
    detail: str = ""

    def json(self) -> dict[str, Json]:
        """The result as `--json` prints it."""
        return asdict(self)

    def sentence(self, here: str) -> str:
        """The result as a sentence, after a search of the instance `here`."""
        name, prop, is_elsewhere = self.name, self.caught_by, self.instance != here
        match self.answer:
            case "caught":
                return f"mutant {name} is caught by {prop}"
            case "missed":
                also = f"; it is meant for {self.instance}" if is_elsewhere else ""
                why = f"; {self.detail}" if self.detail else ""
                return f"mutant {name} is NOT caught: {prop} holds in {here}{also}{why}"
            case "unknown":
                also = f" (it is meant for {self.instance})" if is_elsewhere else ""
                said = f"whether mutant {name} is caught by {prop} is not known{also}"
                return f"{said}: {self.detail}"


def judge_mutant(model: Model, mutant: str, found: SearchResult) -> MutantStatus | None:
    """The result of a search for a mutant; None without a mutant."""
    for one in model.mutants:
        if one.name == mutant:
            said = found.verdicts.get(one.caught_by, "unknown")
            answer: Answer = ANSWERS.get(said, "unknown")
            why = ""
            if answer == "missed":
                why = _how_else(found, one.caught_by) or _why_missed(model, mutant, one.caught_by)
            why = _why_unknown(one.caught_by, found) if answer == "unknown" else why
            return MutantStatus(mutant, one.caught_by, one.instance, answer, why)
    return None


def _how_else(found: SearchResult, caught_by: str) -> str:
    """How a machine fails whose property `caught_by` holds; "" if it does not."""
    verdicts = found.verdicts
    others = [one.name for one in found.wrong if verdicts.get(one.name) == "violated"]
    if others := [name for name in others if name != caught_by]:
        do = "does" if len(others) == 1 else "do"
        return f"it fails otherwise: {', '.join(others)} {do} not hold"
    for one in found.failures:
        if one.seen and one.kind == "undefined":
            where = f" ({one.detail})" if one.detail else ""
            return f"it fails otherwise: {one.name} asks for a value that does not exist{where}"
        if one.seen:
            return "it fails otherwise: no step can happen any more in some state (deadlock)"
    return ""


def _why_missed(model: Model, mutant: str, prop: str) -> str:
    """That a property cannot see a mistake in a function that it calls itself; "" if it calls
    none."""
    shared = list_replaced_in_property(model, mutant)
    if not shared:
        return ""
    return (
        f"{prop} calls {', '.join(shared)}, which the mutant replaces, so it asks for"
        " what the mistake does: write in the property what it means instead"
    )


def _why_unknown(name: str, found: SearchResult) -> str:
    """Why it is unknown whether a property holds."""
    details = (one.detail for one in found.everything if one.name == name)
    return next((detail for detail in details if detail), "") or "the search gave up"


def try_all(rest: LoadedRest, options: ExploreOptions, arguments: argparse.Namespace) -> int:
    """Searches each mutant that matches a pattern in its own instance and reports which are caught.
    One that has errors is left out, as the charter's scenarios and instances are. Exit code 0: all
    are; 2: of those that have no errors; 3: unknown for some; 4: some are not. Raises
    `ConformError` if none can be searched."""
    for option in FOR_ONE:
        if getattr(arguments, option):
            name = {"bounds": "set", "bounds_only": "bounds"}.get(option, option)
            raise ConformError(f"--{name} is for one mutant; a pattern takes each in its instance")
    names = of_pattern(rest.model, arguments.mutant)
    broken: list[object] = [*rest.broken]
    widths = [max(len(n) for n in names), max(len(word) for word in WORDS.values())]
    rows: list[dict[str, Json]] = []
    try:
        for name in names:
            mutated = _load_mutated(rest.charter, api.Selection(arguments.variant, name))
            if mutated is None:
                broken.append(name)
                continue
            rows.append(_try_mutant(mutated, name, options))
            if not arguments.json:
                _show(rows[-1], widths)
    except KeyboardInterrupt as ended:
        raise Interrupted(
            f"interrupted; {len(rows)} of {len(names)} mutants were tried", ended
        ) from None
    finally:
        if arguments.json:
            out_json({"mutants": list[Json](rows)})
    answers = [row["answer"] for row in rows]
    if rows and not any(row["distinct"] for row in rows):
        raise ConformError(f"mutant {rows[0]['name']}: {rows[0]['detail']}")
    if not arguments.json:
        out(f"{answers.count('caught')} of {len(rows)} mutants are caught")
    if "missed" in answers:
        return 4
    return exit_code(3 if "unknown" in answers else 0, broken)


def _show(row: Mapping[str, Json], widths: Sequence[int]) -> None:
    cells = zip((str(row["name"]), WORDS[str(row["answer"])]), widths, strict=True)
    name, word = (cell.ljust(width) for cell, width in cells)
    steps, loops, more = row["steps"], row["loops"], ""
    if steps is not None:
        count = f"{steps} {'step' if steps == 1 else 'steps'}"
        more = f" with a lasso of {count}" if loops else f" after {count}"
    elif row["detail"]:
        more = f": {row['detail']}"
    out(f"{name}  {word}  by {row['caught_by']} in {row['instance']}{more}")


def _load_mutated(charter: Charter, selection: Selection) -> Model | None:
    """The core with a mutant; None, and its errors are told, if it has some."""
    try:
        return charter.model(selection)
    except api.Refused as refused:
        tell_left_out(refused.diagnostics, [f"mutant {selection.mutant}"])
        return None


def _try_mutant(mutated: Model, name: str, options: ExploreOptions) -> dict[str, Json]:
    """The status of a mutant as JSON, with the number of `steps` of the counterexample and whether
    it is an infinite run. It is unknown if the mutant cannot be searched."""
    try:
        with searching() as progress:
            found = api.explore(mutated, own_instance(mutated, name), options, progress)
    except CANNOT as error:
        about = next(m for m in mutated.mutants if m.name == name)
        status = MutantStatus(name, about.caught_by, about.instance, "unknown", str(error))
        return {**status.json(), "steps": None, "loops": False, "distinct": 0, "seconds": 0.0}
    mutant = judge_mutant(mutated, name, found)
    assert mutant is not None
    row: dict[str, Json] = {**mutant.json(), "steps": None, "loops": False}
    for finding in found.findings:
        if finding.name == mutant.caught_by and finding.seen:
            row |= {"steps": len(finding.trace or ()), "loops": False}
    for verdict in found.liveness:
        if verdict.name == mutant.caught_by and verdict.has_run:
            row |= {"steps": len(verdict.stem) + len(verdict.cycle), "loops": True}
    return {**row, "distinct": found.counts.distinct, "seconds": round(found.seconds, 3)}
