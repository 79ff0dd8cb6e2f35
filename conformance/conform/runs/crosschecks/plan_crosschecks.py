"""Selects what a run tries of the cross-checks of its target: places of many kinds first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest

import orjson

from charter.formats.adapter import Welcome
from charter.formats.findings.crosschecks import CrossCheck
from charter.formats.reading import own_calls
from charter.formats.target import IMAGE
from conform.adapters.session import offers
from conform.judging.model import is_of
from conform.judging.verdict import VectorItem
from conform.runs.crosschecks.cross_plan import NO_CROSSCHECKS, CrossPlan, CrossTry
from conform.runs.options import RunOptions
from conform.runs.select import ResolvedRun
from conform.runs.selection import ALL

SOURCES_MAX = 4_096
"""The most vectors of a suite from which questions are made: those with the least ids."""
Kind = tuple[str, str]
"""The operations before and after a place."""


def plan_crosschecks(run: ResolvedRun, welcome: Welcome, options: RunOptions) -> CrossPlan:
    """What a run tries, at most `options.crosschecks` places of each check; nothing if the model
    is of other rules, or if the caller leaves vectors out."""
    manifest, declared = run.suite.manifest, run.prepared.target.crosschecks
    known = is_of(manifest.models.charter, manifest.spec_digest)
    if not (declared and options.crosschecks and known) or options.limit or options.wanted != ALL:
        return NO_CROSSCHECKS
    offered = offers(welcome)
    checks = [check for check in declared if _can_try(check, welcome)]
    found = list[VectorItem]()
    for bucket in range(run.suite.buckets):
        fit = (one for one in run.suite.items(bucket) if offered.issuperset(one.needs.split()))
        found = sorted((*found, *fit), key=lambda one: one.id)[:SOURCES_MAX]
    sources = tuple(replace(one, answer=b"", ways=b"{}") for one in found)
    operations = [
        [str(call["operation"]) for call in own_calls(orjson.loads(one.question))]
        for one in sources
    ]
    tries, possible = list[CrossTry](), dict[str, int]()
    for check in checks:
        every = _spread(check, operations)
        possible[check.name] = len(every)
        tries += islice(every, options.crosschecks)
    return CrossPlan({one.name: one for one in checks}, sources, tuple(tries), possible)


def _can_try(check: CrossCheck, welcome: Welcome) -> bool:
    """Whether a target has what a check needs. A release may lack an operation."""
    return check.operations <= welcome.operations and (
        IMAGE in welcome.capabilities or not check.deltas
    )


def explain_untried(run: ResolvedRun, welcome: Welcome, options: RunOptions) -> Iterator[str]:
    """A sentence for each check of a target that a run wants, and that the target lacks something
    for."""
    for check in run.prepared.target.crosschecks if options.crosschecks else ():
        lacks = sorted(check.operations - welcome.operations)
        why = f"does not perform {', '.join(lacks)}" if lacks else "shows no image"
        if not _can_try(check, welcome):
            yield f"the cross-check {check.name} is not tried: the target {why}"


def _spread(check: CrossCheck, operations: Sequence[Sequence[str]]) -> list[CrossTry]:
    """All places of a check, one of each kind before the second of any."""
    kinds: dict[Kind, list[CrossTry]] = {}
    for source, names in enumerate(operations):
        for start, end in _list_places(check, len(names)):
            kind = (names[start - 1] if start else "", names[start] if start < len(names) else "")
            kinds.setdefault(kind, []).append(CrossTry(check.name, source, start, end))
    rounds = zip_longest(*(kinds[kind] for kind in sorted(kinds)))
    return [one for one in chain.from_iterable(rounds) if one is not None]


def _list_places(check: CrossCheck, count: int) -> Iterator[tuple[int, int]]:
    """The places of a check in a question with `count` operations. Deltas of one operation are
    those of the suite."""
    for start in range(count + 1):
        if check.deltas:
            yield from ((start, end) for end in range(start + 2, count + 1))
        else:
            yield start, 0
