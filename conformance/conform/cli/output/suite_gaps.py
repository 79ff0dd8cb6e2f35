"""Tells what a small suite does not ask an adapter for: mutants that no vector tells from the
charter, and, of an adapter without `load`, what is asked for only in a given state."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from charter.formats.charter_files.kills import MutantKills, read_kills
from charter.formats.reading import BadVector
from charter.formats.suite import LINES, Manifest, read_lines
from conform.console.errors import BadSuite
from conform.console.terminal import plural

_SHOWN = 3


def explain_unasked(folder: Path, manifest: Manifest) -> str:
    """How many obligations, and which mutants, have only vectors that start in a given state; "" if
    none has. Of an obligation that many vectors meet, a suite names the shortest."""
    given: dict[str, bool] = {}
    alone: dict[str, bool] = {}
    for vector in read_lines(folder / LINES):
        given[vector.id] = vector.question.given is not None
        for name in vector.why.obligations:
            alone[name] = alone.get(name, True) and given[vector.id]
    left = sorted(name for name, only in alone.items() if only)
    mutants = [
        name
        for name, kill in _kills(folder).items()
        if kill.surely and all(given.get(one.vector, False) for one in kill.surely)
    ]
    if not left and not mutants:
        return ""
    covered = manifest.counts["obligations_covered"]
    told = [f"{len(left)} of {covered} covered obligations ({_few(left)})"] if left else []
    told += [f"{plural(len(mutants), 'mutant')} ({_few(mutants)})"] if mutants else []
    return (
        f"{' and '.join(told)}: all vectors that the suite names for them start in a given state,"
        " and were not asked; claim `load` in the adapter, or write preludes or scenarios that get"
        " there"
    )


def list_untold(folder: Path) -> tuple[str, ...]:
    """The mutants that no vector of a small suite tells from the charter, by their names."""
    kills = _kills(folder)
    return tuple(name for name, k in kills.items() if not k.surely and not k.in_some_runs)


def not_seen(mutants: Collection[str]) -> str:
    """What a suite says nothing about, as the end of a sentence: these mutants; "" without any."""
    if not mutants:
        return ""
    word = "mutant" if len(mutants) == 1 else "mutants"
    return f"; none of its vectors tells the {word} {_few([*mutants])} from the charter"


def mutants_told(folder: Path) -> str:
    """How many mutants the vectors of a small suite tell from the charter, and which they do not;
    "" if the charter has none."""
    kills = _kills(folder)
    if not kills:
        return ""
    some = [name for name, kill in kills.items() if not kill.surely and kill.in_some_runs]
    none = [*list_untold(folder)]
    told = [f"{len(kills) - len(some) - len(none)} of {plural(len(kills), 'mutant')}"
            " told from the charter"]  # fmt: skip
    told += [f"in some of their runs only: {_few(some)}"] if some else []
    told += [f"by no vector: {_few(none)}"] if none else []
    return "; ".join(told)


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def _kills(folder: Path) -> Mapping[str, MutantKills]:
    """What kills.json has. Raises `BadSuite`."""
    try:
        return read_kills(folder)
    except BadVector as error:
        raise BadSuite(str(error)) from None
