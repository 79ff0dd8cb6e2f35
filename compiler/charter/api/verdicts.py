"""Finds which properties hold in which instances of a charter and of its variants."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from charter.api.charters import Charter, explore, tell
from charter.core import nodes as n
from charter.core.encoding import digest
from charter.explore.model_checker import ExploreOptions, Progress
from charter.explore.result import CheckResult, SearchResult, is_wrong
from charter.formats.canonical import text_digest
from charter.formats.charter_files.verdicts import (
    FILE,
    FOLDER,
    PAGE,
    BadVerdicts,
    InstanceVerdicts,
    PropertyVerdict,
    SearchedPlace,
    read_verdicts,
    verdicts_file,
    verdicts_text,
)
from charter.handbook.verdict_tables import instance_cells, names_of, verdicts_page
from charter.passes.narrow import narrow
from charter.project.core_cache import derive
from charter.project.sources import Selection
from charter.render.pages.as_markdown import in_markdown
from charter.semantics.fairness import LivenessResult
from charter.semantics.shown_values import show_call

__all__ = [
    "FILE",
    "FOLDER",
    "PAGE",
    "BadVerdicts",
    "InstanceVerdicts",
    "PropertyVerdict",
    "SearchedInstance",
    "SearchedPlace",
    "current",
    "digests",
    "instance_cells",
    "mark_out_of_date",
    "mark_rows",
    "names_of",
    "read_verdicts",
    "search_instance",
    "verdicts_file",
    "verdicts_markdown",
    "verdicts_text",
]

SEARCHES = 2
"""Raised by hand whenever a row of the same rules, properties and bounds says something else, as
after a bug of an engine, a pass or the definition is mended: earlier rows are stale. 2: rows say
what an instance lists wrongly."""

_UNREAD_IN_MUTANTS = ("citations", "loses")
"""Fields of rules that no search reads, of a mutant neither: it addresses conjuncts by labels."""
_UNREAD = (*_UNREAD_IN_MUTANTS, "label")
"""Fields of rules that no search of a charter, or of a variant, reads."""


@dataclass(frozen=True, slots=True)
class SearchedInstance:
    """The verdicts of an instance. `why_slow`: why it was searched by the definition, "" if it was
    not."""

    row: InstanceVerdicts
    why_slow: str


def digests(charter: Charter, variants: Iterable[str], mutants: bool) -> dict[SearchedPlace, str]:
    """For each instance with each of these variants ("": none) a digest of what a search of it
    depends on: rules, properties, bounds and `SEARCHES`. Comments, citations, labels, layout,
    scenarios, other instances and what can be observed do not change it. With `mutants` for each
    mutant in its own instance, too: its text as it stands, and labels, which it names, change
    it."""
    found: dict[SearchedPlace, str] = {}
    for variant in variants:
        for instance, text in _by_instance(charter, variant, _UNREAD, SEARCHES):
            found[SearchedPlace(variant, "", instance)] = text
    if mutants:
        plain = dict(_by_instance(charter, "", _UNREAD_IN_MUTANTS, SEARCHES))
        for item in charter.model().mutants:
            text = item.span.source.text[item.span.start : item.span.end]
            told = f"{plain[item.instance]} {' '.join(text.split())}"
            found[SearchedPlace("", item.name, item.instance)] = text_digest(told)
    return found


@lru_cache(maxsize=64)
def _by_instance(
    charter: Charter, variant: str, omitted: tuple[str, ...], searches: int
) -> tuple[tuple[str, str], ...]:
    """The instances of a variant with digests of all but the `omitted` fields. Cached, also on
    disk: pages of one charter ask for the same ones, and to compile a variant takes a second."""
    selection = Selection(variant)

    def make() -> bytes:
        return json.dumps(_digests_of(charter.model(selection), omitted, searches)).encode()

    what = f"rows {omitted} {searches}"
    found = json.loads(derive(charter.sources, selection, what, make))
    return tuple((instance, text) for instance, text in found)


def _digests_of(
    model: n.Model, omitted: tuple[str, ...], searches: int
) -> tuple[tuple[str, str], ...]:
    hidden = tuple(replace(component, observables=()) for component in model.components)
    bare = replace(
        model,
        components=hidden,
        scenarios=(),
        mutants=(),
        variants=(),
        sources=(),
        docs=(),
        links=(),
    )
    version = f" {searches}" if searches > 1 else ""
    found: dict[str, str] = {}
    for machine in dict.fromkeys(i.machine for i in model.instances):
        whole = replace(narrow(bare, machine), instances=())
        rules = digest(whole, omitted)
        none = replace(whole, components=(), systems=(), functions=(), properties=(), liveness=())
        for instance in (i for i in model.instances if i.machine == machine):
            bounds = digest(replace(none, instances=(instance,)), omitted)
            found[instance.name] = text_digest(f"{rules} {bounds}{version}")
    return tuple(found.items())


def mark_out_of_date(
    charter: Charter, rows: Sequence[InstanceVerdicts]
) -> tuple[InstanceVerdicts, ...]:
    """Mark the rows of which rules, properties, bounds or `SEARCHES` are others now; rows of what
    the charter has no more are left out."""
    variants = {row.variant for row in rows} & {"", *charter.model().variants}
    return mark_rows(digests(charter, variants, any(row.mutant for row in rows)), rows)


def mark_rows(
    now: Mapping[SearchedPlace, str], rows: Iterable[InstanceVerdicts]
) -> tuple[InstanceVerdicts, ...]:
    """Mark the rows of which the place has another digest `now`; leaves out rows of places without
    one."""
    return tuple(
        replace(row, out_of_date=now[row.place] != row.digest) for row in rows if row.place in now
    )


def current(charter: Charter, rows: Sequence[InstanceVerdicts]) -> tuple[InstanceVerdicts, ...]:
    """The rows of searches of the charter as it is now."""
    return tuple(row for row in mark_out_of_date(charter, rows) if not row.out_of_date)


def search_instance(
    model: n.Model, place: SearchedPlace, rules: str, most: int, progress: Progress
) -> SearchedInstance:
    """Search the instance of a model, which is that of the variant or the mutant of `place`, up to
    `most` states (0: all); `rules` is its digest. Raises `Missing` or `CannotExplore`."""
    found = explore(model, place.instance, ExploreOptions(most_states=most), progress)
    row = InstanceVerdicts(
        place.variant,
        place.mutant,
        found.instance.machine,
        found.instance.name,
        rules,
        found.counts.distinct,
        len(found.counts.levels),
        found.counts.complete,
        {name: _verdict(model, found, name) for name in found.verdicts},
        () if place.variant or place.mutant else tuple(_list_misstated(found)),
    )
    return SearchedInstance(row, found.why_reference)


def _list_misstated(found: SearchResult) -> Iterator[str]:
    """What `misses` and `fails` of an instance lack, or list wrongly."""
    for one in dict.fromkeys((one.kind, one.name) for one in found.vacuous):
        yield f"{' '.join(one)} was never met, and is not under `misses`"
    for name in found.not_missed:
        yield f"{name} is under `misses`, but was met"
    for name in found.not_failed:
        yield f"{name} is under `fails`, but holds"


def verdicts_markdown(charter: str, model: n.Model, rows: Sequence[InstanceVerdicts]) -> str:
    """The verdicts as a Markdown page."""
    return in_markdown(verdicts_page(charter, model, rows))


def _verdict(model: n.Model, found: SearchResult, name: str) -> PropertyVerdict:
    answer = found.verdicts[name]
    asked: tuple[CheckResult | LivenessResult, ...] = (*found.properties, *found.liveness)
    one = next(one for one in asked if one.name == name)
    if answer == "found":
        return PropertyVerdict("found", _length(one))
    if answer == "holds":
        is_met = all(condition.met for condition in found.conditions if condition.of == name)
        return PropertyVerdict("holds" if is_met else "not exercised")
    if answer != "violated":
        return PropertyVerdict(answer)
    trace = _trace(model, found, one)
    return PropertyVerdict("violated", len(trace) or None, trace, name in found.instance.fails)


def _length(one: CheckResult | LivenessResult) -> int | None:
    trace = one.trace if isinstance(one, CheckResult) else None
    return None if trace is None else len(trace)


def _trace(
    model: n.Model, found: SearchResult, one: CheckResult | LivenessResult
) -> tuple[str, ...]:
    """The steps of a shortest trace to a violation, replayed on the definition."""
    if not is_wrong(one) or (isinstance(one, CheckResult) and one.trace is None):
        return ()
    story = tell(model, found.instance.name, one)
    return tuple(show_call(step.operation, step.args) for step in story.steps)
