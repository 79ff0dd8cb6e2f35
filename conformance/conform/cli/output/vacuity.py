"""Reports what an exploration never reached: witnesses, conditions of properties, branches."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from conform.console.terminal import out, shorten

if TYPE_CHECKING:
    from charter.explore.result import SearchResult

WIDTH = 100


def show_unmet(found: SearchResult) -> None:
    """Prints a line for each item never reached, and one for all branches."""
    for line in list_unmet(found):
        out(textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False))


def list_unmet(found: SearchResult) -> Iterator[str]:
    """The lines. Items listed as `misses` by the instance are counted but not named. With a
    counterexample only witnesses are reported."""
    unexpected = found.vacuous
    named = {one.name for one in unexpected}
    for one in found.properties:
        if one.kind == "witness" and not one.seen:
            expected = found.complete and one.name not in named
            yield f"witness {one.name} was not found{AS_SAID if expected else ''}"
    if found.complete and not found.fine:
        return
    for missing in unexpected:
        if missing.kind == "condition":
            path, _, place = missing.where.partition(":")
            where = f"{Path(path).name}:{place}"
            if missing.condition:
                met = f"`{shorten(missing.condition, 60)}` was never met ({where})"
                yield f"{missing.name} was not exercised: {met}"
            else:
                yield f"{missing.name} was not exercised: it was always trivially true ({where})"
    yield from _branches(found)
    for name in found.not_missed:
        yield f"the instance lists {name} under `misses`, but it was met"
    for name in found.not_failed:
        yield f"the instance lists {name} under `fails`, but it holds"


AS_SAID = ", as `misses` says"


def _branches(found: SearchResult) -> Iterator[str]:
    never, count = found.never_taken, len(found.branches)
    if not never:
        return
    word = "branches" if any("/" in one.name for one in found.branches) else "steps"
    said = f"{len(never)} of {count} {word} {'was' if len(never) == 1 else 'were'} never taken"
    dead = [one.name for one in found.vacuous if one.kind == "branch"]
    details = {one.detail for one in found.branches if one.name in dead and one.detail}
    if not found.complete:
        yield f"{said} so far"
    elif not dead:
        yield f"{said}{AS_SAID}"
    elif len(dead) == len(never):
        yield f"{said}: {', '.join(dead)}"
    else:
        yield f"{said}; not listed under `misses`: {', '.join(dead)}"
    if found.complete:
        yield from sorted(details)
