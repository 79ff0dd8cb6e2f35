"""Suppresses errors that follow from an earlier syntax error."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from charter.check.names.declared import declarations
from charter.diagnostics import Diagnostic, Diagnostics
from charter.syntax import nodes as sx
from charter.syntax.mistakes.recovery import WORD, find_lost_names, head_of

NAMING: Final = frozenset(
    {"name/unknown", "property/unknown", "variant/unknown", "cite/unknown-source"}
    | {"edit/unknown-target", "instance/like"}
)
"""Codes of errors about a name that nothing declares."""
PROVED: Final = frozenset(
    {"int/out-of-range", "pick/empty", "operation/not-total", "branch/shadowed"}
)
"""Codes of errors that need all types and functions to be known."""
QUOTED: Final = re.compile(r"`([^`]*)`")
NO_PARAMETER: Final = re.compile(r"`(\w+)` has no parameter `")
_Bounded = sx.SetupDecl | sx.InstanceDecl | sx.FragmentDecl | sx.ScenarioDecl


def without_follow_ups(files: sx.Protocol, found: Diagnostics) -> Diagnostics:
    """What the checks `found` in the trees of `files`, but for what may be wrong only because the
    trees lack the declarations that have syntax errors."""
    broken = [span for file in files for span in file.broken]
    if not broken:
        return found
    lost = find_lost_names(broken)
    dropped = set[str]()
    if any(head_of(span)[0] in ("", "witness") for span in broken):
        dropped.add("witness/none")
    kept, gone = list[Diagnostic](), list[Diagnostic]()
    reading = _reading(files, lost)
    for item in found.items:
        follows = is_follow_up(item, lost) or _lacks_a_read(item, reading)
        (gone if follows else kept).append(item)
    unsure = [*_unsure(files, gone, lost)]
    if not all(any(node.span.holds(item.span) for node in unsure) for item in gone):
        dropped |= PROVED
    return Diagnostics(
        [
            item
            for item in kept
            if item.code not in dropped and not any(node.span.holds(item.span) for node in unsure)
        ]
    )


def is_follow_up(item: Diagnostic, lost: Collection[str]) -> bool:
    """Whether an error is about one of the names that are `lost`."""
    if item.code not in NAMING:
        return False
    quoted = QUOTED.findall(item.message)
    text = item.span.source.text[item.span.start : item.span.end]
    return any(name in lost for name in (*quoted, *WORD.findall(" ".join([text, *quoted]))))


def _lacks_a_read(item: Diagnostic, reading: Collection[str]) -> bool:
    """Whether an error is about an argument that a function may take."""
    found = NO_PARAMETER.match(item.message)
    return item.code == "name/unknown" and found is not None and found[1] in reading


def _reading(files: sx.Protocol, lost: Collection[str]) -> frozenset[str]:
    """The functions that may read more state than is known, which are arguments of calls from
    elsewhere: those of a machine that is lost, and those that use what is, or each other."""
    uses = {
        node.name.text: {
            node.machine.text,
            *WORD.findall(node.span.source.text[node.span.start : node.span.end]),
        }
        for node in declarations(files)
        if isinstance(node, sx.FunDecl) and node.machine
    }
    found = {*lost}
    while more := {name for name, used in uses.items() if used & found} - found:
        found |= more
    return frozenset(found & {*uses})


def _unsure(
    files: sx.Protocol, gone: Collection[Diagnostic], lost: Collection[str]
) -> Iterator[_Bounded]:
    """The instances, scenarios and their shared lines that lack a bound, or lines, since these are
    lost, or since others that they share lines with lack them."""
    waiting = [node for node in declarations(files) if isinstance(node, _Bounded)]
    known = {*lost}
    while found := [
        node
        for node in waiting
        if not known.isdisjoint(_sharing(node)) or any(node.span.holds(item.span) for item in gone)
    ]:
        waiting = [node for node in waiting if node not in found]
        known |= {name for node in found for name in _sharing(node)}
        yield from found


def _sharing(node: _Bounded) -> Iterator[str]:
    """The names of what a declaration takes lines from, and its own if others can."""
    if not isinstance(node, sx.FragmentDecl):
        yield from (like.name.text for like in node.likes)
    if not isinstance(node, sx.ScenarioDecl):
        yield node.name.text
    for line in node.body:
        within = line.body if isinstance(line, sx.Prelude) else (line,)
        yield from (each.name.text for each in within if isinstance(each, sx.Include))
