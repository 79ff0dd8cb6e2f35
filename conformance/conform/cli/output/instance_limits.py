"""Explains what each of several instances can show: lines of the table that ends `conform
explore`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from charter.analysis.instance_table import apart
from charter.analysis.instance_table import usual as usual_limits
from conform.console.terminal import columns, one_line, out

if TYPE_CHECKING:
    from charter.analysis.instance_table import InstanceLimits

_FIXED = "\N{NO-BREAK SPACE}"

WIDTH = 100
"""Columns of the table."""
_INDENT = " " * 4
_MOST_LINES = 4
"""A list of names or values has at most so many lines; `--json` has all of it."""
_MOST_MISSED = 5
"""So many names under `misses` are listed; of more the table has the number."""


def show_limits(rows: Sequence[Sequence[str]], limits: Sequence[InstanceLimits]) -> None:
    """Prints a table (first its header, then a row for each instance), below each row what limits
    the instance, and below all what they have in common."""
    head, *lines = columns(rows).splitlines()
    out(head)
    for line, about in zip(lines, limit_lines(limits), strict=True):
        out(_wrap(line, "", _INDENT + "  "))
        if about:
            out(about)
    common = common_lines(limits)
    if common:
        out("")
        out(common)


def limit_lines(limits: Sequence[InstanceLimits]) -> list[str]:
    """For each instance the lines below its row: sizes of sorts, budgets, and what is not as in
    most of the instances of the same machine."""
    usual = {machine: usual_limits(_of(limits, machine)) for machine in _machines(limits)}
    return ["\n".join(_about(one, usual[one.machine])) for one in limits]


def common_lines(limits: Sequence[InstanceLimits]) -> str:
    """What the instances of each machine have in common, and what most of them have; of the only
    instance of a machine its constants, the budgets that are 0, and all start values."""
    found: list[str] = []
    for machine in _machines(limits):
        mine = _of(limits, machine)
        found += _common(mine) if len(mine) > 1 else _alone(mine[0])
    return "\n".join(found)


def _machines(limits: Sequence[InstanceLimits]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.machine for one in limits))


def _of(limits: Sequence[InstanceLimits], machine: str) -> list[InstanceLimits]:
    return [one for one in limits if one.machine == machine]


def _about(one: InstanceLimits, usual: Mapping[str, str]) -> Iterator[str]:
    own = apart(one, usual)
    sizes = [f"{name} {size}" for name, size in one.sorts.items()]
    sizes += [f"{name} {left}" for name, left in one.budgets.items() if left]
    sizes += [f"{name} {text}" for name, text in own.items() if name in one.constants]
    yield from _list_lines("", sizes)
    yield from _list_lines("offers ", one.offers)
    yield from _list_lines("only some arguments of ", one.only)
    starts = [f"{place} {text}" for place, text in own.items() if place in one.first]
    yield from _list_lines("starts with ", starts)
    if len(one.misses) <= _MOST_MISSED:
        yield from _list_lines("misses ", one.misses)


def _common(mine: Sequence[InstanceLimits]) -> Iterator[str]:
    usual, first = usual_limits(mine), mine[0]
    same = [f"{name} {first.settings[name]}" for name in first.constants if name not in usual]
    yield from _list_lines(f"every instance of {first.machine}: ", same, "")
    empty = [name for name in first.budgets if not any(one.budgets[name] for one in mine)]
    yield from _list_lines(f"budgets that are 0 in every instance of {first.machine}: ", empty, "")
    constants = {name for one in mine for name in one.constants}
    others = Counter(name for one in mine for name in apart(one, usual))
    told = sorted((name for name in others if usual[name]), key=lambda name: -others[name])
    most = [f"{name} {usual[name]}" for name in told if name in constants]
    yield from _list_lines(f"instances of {first.machine}, where nothing else is said: ", most, "")
    starts = [f"{name} {usual[name]}" for name in told if name not in constants]
    yield from _list_lines("they start, where nothing else is said, with ", starts, "")


def _alone(one: InstanceLimits) -> Iterator[str]:
    """What the row of an instance leaves out if there is no other one to compare it with."""
    constants = [f"{name} {one.settings[name]}" for name in one.constants]
    yield from _list_lines(f"constants of {one.instance}: ", constants, "")
    empty = [name for name, left in one.budgets.items() if not left]
    yield from _list_lines(f"budgets that are 0 in {one.instance}: ", empty, "")
    starts = [f"{place} {text}" for place, text in one.starts.items()]
    if starts:
        yield _show(f"{one.instance} starts with ", starts, len(starts), "")


def _list_lines(what: str, items: Sequence[str], indent: str = _INDENT) -> Iterator[str]:
    """A list in one or more lines, cut to `_MOST_LINES`; nothing for an empty list."""
    kept = len(items)
    while kept > 1 and len(_show(what, items, kept, indent).splitlines()) > _MOST_LINES:
        kept -= 1
    if items:
        yield _show(what, items, kept, indent)


def _show(what: str, items: Sequence[str], kept: int, indent: str) -> str:
    more = f" and {len(items) - kept} more (--json)" if kept < len(items) else ""
    whole = ", ".join(item.replace(" ", _FIXED) for item in items[:kept])
    further = indent + "  " if indent else _INDENT
    return _wrap(f"{what}{whole}{more}", indent, further).replace(_FIXED, " ")


def _wrap(line: str, indent: str, further: str) -> str:
    """A text in lines of at most `WIDTH` columns: the indent of the first, and of further ones."""
    return "\n".join(
        wrap(
            one_line(line), WIDTH, initial_indent=indent, subsequent_indent=further,
            break_long_words=False, break_on_hyphens=False,
        )
    )  # fmt: skip
