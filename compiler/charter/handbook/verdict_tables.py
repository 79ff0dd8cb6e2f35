"""Writes the page that says which properties hold in which instances and variants, from
searches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from charter.core import nodes as n
from charter.formats.charter_files.verdicts import InstanceVerdicts, PropertyVerdict
from charter.handbook.outline import VERDICTS
from charter.handbook.pictures import DrawFailure
from charter.render.pages.blocks import (
    Block,
    DocumentPage,
    Heading,
    Paragraph,
    Table,
    Text,
    TextRun,
    prose,
    slug,
)

KINDS = {"always": "every state", "stepwise": "every step", "witness": "must be possible"}
LIVENESS = "in the end"
HOW_TO_READ = (
    "Each row is an instance that was searched, each column a property. `✓`: it holds in all"
    " states. `✗` and a number: it fails, after so many steps; `✗` alone: in the first state, or no"
    " run is shown. `·`: it holds, but the instance never meets its condition, or a witness was not"
    " found. A number alone: a witness was found after so many steps. `?`: not known, since not all"
    " states were searched (`+`). Empty: the variant has no such property. A variant has rows where"
    " it differs from the charter itself. The table is renewed at releases: a row is of the charter"
    " as it was when the row was searched."
)
OUT_OF_DATE = "out of date: rules, properties or bounds have changed since they were searched"


def verdicts_page(
    charter: str,
    model: n.Model,
    rows: Sequence[InstanceVerdicts],
    show: Callable[[str], Text] = prose,
    draw: DrawFailure | None = None,
) -> DocumentPage:
    """The page of a charter, of which `model` is the core without a variant. `charter` is how
    commands name it; `show` makes a text of what has names between backticks; `draw` draws what
    fails (None: there are no pictures)."""
    about = f"Written by `conform verdicts {charter}`. {HOW_TO_READ}"
    blocks: list[Block] = [Paragraph(show(about))]
    if old := sum(row.out_of_date for row in rows):
        blocks.append(Paragraph(show(f"{old} of {len(rows)} rows are {OUT_OF_DATE}.")))
    for machine in dict.fromkeys(row.machine for row in rows):
        mine = [row for row in rows if row.machine == machine]
        names = names_of(mine)
        own = {row.instance: row for row in mine if row.is_of_charter}
        blocks.append(Heading(2, machine, is_code=True, anchor=machine))
        blocks.append(_legend(model, mine, names, show))
        for variant in dict.fromkeys(row.variant for row in mine):
            shown = [row for row in mine if row.variant == variant and not row.mutant]
            title = f"{machine}, variant {variant}" if variant else f"{machine}, the charter itself"
            blocks.append(Heading(3, title, anchor=slug(title)))
            same = [row for row in shown if variant and _is_as(row, own.get(row.instance))]
            shown = [row for row in shown if row not in same]
            if shown:
                blocks.append(_matrix("instance", shown, names, show))
            if same:
                listed = ", ".join(f"`{row.instance}`" for row in same)
                blocks.append(Paragraph(show(f"As in the charter itself: {listed}.")))
            command = f"{charter} --variant {variant}" if variant else charter
            blocks += _violations(command, shown, model)
            if draw is not None:
                for row, name in _shortest(shown, own if variant else {}):
                    drawn = tuple(draw(row, name))
                    told = Paragraph(show(f"How {_failing(row, name)} in `{row.instance}`:"))
                    blocks += (told, *drawn) if drawn else ()
        blocks += _mutants(model, [row for row in mine if row.mutant], names, show)
    return DocumentPage(VERDICTS, "Table of verdicts", tuple(blocks))


def _is_as(row: InstanceVerdicts, own: InstanceVerdicts | None) -> bool:
    """Whether a search of a variant found what that of the charter itself did, in as many states
    and levels; either both are out of date, or none."""
    return own is not None and row.verdicts == own.verdicts and _extent(row) == _extent(own)


def _extent(row: InstanceVerdicts) -> tuple[int, int, bool, bool]:
    return row.states, row.depth, row.complete, row.out_of_date


def cell(verdict: PropertyVerdict | None) -> str:
    """What stands in a cell of the table; "" if the variant has no such property."""
    if verdict is None:
        return ""
    match verdict.word:
        case "holds":
            return "✓"
        case "violated":
            return "✗" if verdict.steps is None else f"✗ {verdict.steps}"
        case "found":
            return "0" if verdict.steps is None else str(verdict.steps)
        case "not exercised" | "not found":
            return "·"
        case "unknown":
            return "?"


def names_of(rows: Sequence[InstanceVerdicts]) -> tuple[str, ...]:
    """The properties of some rows, in the order in which they are met."""
    return tuple(dict.fromkeys(name for row in rows for name in row.verdicts))


def instance_cells(row: InstanceVerdicts, names: Sequence[str]) -> list[str]:
    """The cells of a row: instance, number of states, depth, and a cell for each property."""
    states = f"{row.states:,}{'' if row.complete else '+'}"
    return [row.instance, states, str(row.depth), *(cell(row.verdicts.get(n)) for n in names)]


def _legend(
    model: n.Model,
    rows: Sequence[InstanceVerdicts],
    names: Sequence[str],
    show: Callable[[str], Text],
) -> Table:
    """What the columns are."""
    said = {p.name: (KINDS[p.kind], p.doc) for p in model.properties}
    said |= {live.name: (LIVENESS, live.doc) for live in model.liveness}
    plain = [row for row in rows if row.is_of_charter]
    lines = []
    for place, name in enumerate(names, 1):
        kind, doc = said.get(name, ("only in a variant", ""))
        says = show(" ".join(doc.split()))
        lines.append(
            (_text(str(place)), show(f"`{name}`"), _text(kind), says, _summary(plain, name))
        )
    return Table(("", "property", "kind", "says", "in the charter"), tuple(lines))


def _matrix(
    first: Literal["instance", "mutant"],
    rows: Sequence[InstanceVerdicts],
    names: Sequence[str],
    show: Callable[[str], Text],
) -> Table:
    """A row for each search, which begins with its instance or its mutant."""
    lines = []
    for row in rows:
        instance, *cells = instance_cells(row, names)
        called = f"`{row.mutant if first == 'mutant' else instance}`"
        called += " (out of date)" if row.out_of_date else ""
        lines.append((show(called), *map(_text, cells)))
    numbers = (str(place) for place in range(1, len(names) + 1))
    return Table((first, "states", "depth", *numbers), tuple(lines))


def _mutants(
    model: n.Model,
    rows: Sequence[InstanceVerdicts],
    names: Sequence[str],
    show: Callable[[str], Text],
) -> Iterator[Block]:
    """Which properties see which mistakes, and the shortest trace to what must see it."""
    if not rows:
        return
    title = f"{rows[0].machine}, each mutant in its instance"
    yield Heading(3, title, anchor=slug(title))
    yield _matrix("mutant", rows, names, show)
    lines = []
    for row in rows:
        caught_by = next((m.caught_by for m in model.mutants if m.name == row.mutant), "")
        trace = trace_of(row, caught_by)
        steps: Text = (TextRun(trace, "code"),) if trace else ()
        lines.append((show(f"`{row.mutant}`"), show(f"`{caught_by}`"), steps))
    yield Paragraph(prose("The shortest trace to the property that must see the mistake:"))
    yield Table(("mutant", "caught by", "steps"), tuple(lines))


def trace_of(row: InstanceVerdicts, name: str) -> str:
    """The steps of a shortest trace to a violation; "" for none."""
    verdict = row.verdicts.get(name)
    return "" if verdict is None else " → ".join(verdict.trace)


def _summary(rows: Sequence[InstanceVerdicts], name: str) -> Text:
    """In how many instances of the charter itself a property holds, and where it does not."""
    found = [(row.instance, row.verdicts[name]) for row in rows if name in row.verdicts]
    parts = []
    for word in dict.fromkeys(one.word for _, one in found):
        where = [instance for instance, one in found if one.word == word]
        if word in ("violated", "unknown"):
            named = ", ".join(f"`{instance}`" for instance in where)
            parts.append(f"{'fails' if word == 'violated' else word} in {named}")
        else:
            parts.append(f"{word} in {len(where)}")
    return prose("; ".join(parts))


def _violations(charter: str, rows: Sequence[InstanceVerdicts], model: n.Model) -> Iterator[Block]:
    """What fails, with a shortest trace each; properties that fail by the same trace are one."""
    of_states = {p.name for p in model.properties if p.kind == "always"}
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for row in rows:
        for name, one in row.verdicts.items():
            if one.word == "violated":
                groups.setdefault((row.instance, one.trace), []).append(name)
    if not groups:
        return
    command = f"conform explore {charter} --instance NAME --picture FILE"
    yield Paragraph(prose(f"What fails, by a shortest trace; `{command}` draws one."))
    lines = []
    for (instance, trace), names in groups.items():
        steps: Text = (TextRun(" → ".join(trace), "code"),) if trace else ()
        if not trace and of_states.issuperset(names):
            steps = _text("in the first state")
        broken = prose(", ".join(f"`{name}`" for name in names))
        lines.append(((TextRun(instance, "code"),), broken, steps))
    yield Table(("instance", "fails", "steps"), tuple(lines))


def _shortest(
    rows: Sequence[InstanceVerdicts], own: Mapping[str, InstanceVerdicts]
) -> Iterator[tuple[InstanceVerdicts, str]]:
    """For each property that fails the row with the shortest trace, and the first row without one
    (where it fails in the first state), but where it fails in the charter's `own` row of the
    instance, too. Of properties that fail by the same trace the first one stands for all."""
    told: set[tuple[str, tuple[str, ...]]] = set()
    for name in names_of(rows):
        broken = [
            row for row in rows if _fails(row, name) and not _fails(own.get(row.instance), name)
        ]
        broken.sort(key=lambda row: len(row.verdicts[name].trace))
        for first in (
            *[row for row in broken if not row.verdicts[name].trace][:1],
            *[row for row in broken if row.verdicts[name].trace][:1],
        ):
            if (first.instance, first.verdicts[name].trace) not in told:
                told.add((first.instance, first.verdicts[name].trace))
                yield first, name


def _failing(row: InstanceVerdicts, name: str) -> str:
    """A property that fails in a row, and the others that fail there by the same trace."""
    trace = row.verdicts[name].trace
    others = [
        other for other, verdict in row.verdicts.items()
        if other != name and _fails(row, other) and verdict.trace == trace
    ]  # fmt: skip
    if not others:
        return f"`{name}` fails"
    *first, last = (f"`{one}`" for one in (name, *others))
    return f"{', '.join(first)} and {last} fail"


def _fails(row: InstanceVerdicts | None, name: str) -> bool:
    verdict = None if row is None else row.verdicts.get(name)
    return verdict is not None and verdict.word == "violated"


def _text(text: str) -> Text:
    return (TextRun(text),)
