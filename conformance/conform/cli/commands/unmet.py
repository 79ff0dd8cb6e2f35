"""Reports what an exploration never met: witnesses, conditions of properties, branches."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from charter.formats.canonical import Json
from conform.console.terminal import out, shortened

WIDTH = 100


def show_unmet(found: dict[str, Json]) -> None:
    """Print a line for each thing that was never met, and one for all branches."""
    for line in unmet(found):
        out(textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False))


def unmet(found: dict[str, Json]) -> Iterator[str]:
    """The lines. What the instance says that it `misses` is counted, and not named. Beside a
    counterexample only witnesses are spoken of."""
    findings = _rows(found["findings"])
    unexpected = _rows(found["vacuous"])
    for one in findings:
        if one["kind"] == "witness" and not one["seen"]:
            expected = found["complete"] and one["name"] not in {e["name"] for e in unexpected}
            yield f"witness {one['name']} was not found{AS_SAID if expected else ''}"
    if found["complete"] and not found["fine"]:
        return
    for one in unexpected:
        if one["kind"] == "condition":
            path, _, place = str(one["at"]).partition(":")
            where = f"{Path(path).name}:{place}"
            if one["condition"]:
                met = f"`{shortened(str(one['condition']), 60)}` was never met ({where})"
                yield f"{one['name']} was not exercised: {met}"
            else:
                yield f"{one['name']} was not exercised: it never had anything to say ({where})"
    yield from _branches(found, findings, unexpected)
    missed = found["not_missed"]
    assert isinstance(missed, list)
    for name in missed:
        yield f"the instance says that it misses {name}, and meets it"


AS_SAID = ", as the instance says"


def _branches(
    found: dict[str, Json], findings: list[dict[str, Json]], unexpected: list[dict[str, Json]]
) -> Iterator[str]:
    branches = [str(one["name"]) for one in findings if one["kind"] == "branch"]
    never = found["never_taken"]
    assert isinstance(never, list)
    if not never:
        return
    word = "branches" if any("/" in name for name in branches) else "steps"
    said = (
        f"{len(never)} of {len(branches)} {word} {'was' if len(never) == 1 else 'were'} never taken"
    )
    dead = [str(one["name"]) for one in unexpected if one["kind"] == "branch"]
    if not found["complete"]:
        yield f"{said} so far"
    elif not dead:
        yield f"{said}{AS_SAID}"
    elif len(dead) == len(never):
        yield f"{said}: {', '.join(dead)}"
    else:
        yield f"{said}; the instance does not say so of {', '.join(dead)}"


def _rows(value: Json) -> list[dict[str, Json]]:
    assert isinstance(value, list)
    rows: list[dict[str, Json]] = []
    for item in value:
        assert isinstance(item, dict)
        rows.append(item)
    return rows
