"""Selects the questions of a suite that go on for a target that hides state."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import orjson

from charter.formats.adapter import Welcome
from charter.formats.reading import own_object
from conform.adapters.session import offers
from conform.judging.model import is_of, load, world_of
from conform.judging.verdict import VectorItem
from conform.runs.followed.find_effects import EffectsWanted, find_effects
from conform.runs.followed.followed_questions import (
    NOTHING_FOLLOWED,
    FollowedQuestions,
    FollowedSource,
)
from conform.runs.options import RunOptions
from conform.runs.select import ResolvedRun
from conform.runs.selection import ALL
from conform.suites.cache import Suite

CANDIDATES_MAX = 4_096
"""The most questions of a suite of which some go on: those about obligations first, then the
shortest, then those with the least ids."""
ASKED_MAX = 20_000
"""The most vectors of a suite that a run remembers, so that what goes on is not one of them."""


def list_followed(run: ResolvedRun, welcome: Welcome, options: RunOptions) -> FollowedQuestions:
    """What goes on in a run; nothing if the target shows all, if the model is of other rules, or if
    the caller leaves vectors out. A question of another variant goes on in the runs of that."""
    manifest = run.suite.manifest
    if options.limit or options.wanted != ALL:
        return NOTHING_FOLLOWED
    hidden = list_hidden(run.suite, welcome.observes)
    if not hidden:
        return NOTHING_FOLLOWED
    offered, found, asked = offers(welcome), dict[str, VectorItem](), set[str]()
    possible = 0
    for bucket in range(run.suite.buckets):
        for item in run.suite.items(bucket):
            if manifest.vectors <= ASKED_MAX:
                asked.add(item.id)
            of_variant = orjson.loads(item.question)["variant"] == manifest.variant
            if of_variant and offered.issuperset(item.needs.split()):
                possible += 1
                found[item.id] = replace(item, answer=b"", ways=b"{}")
        found = dict(sorted(found.items(), key=_order)[:CANDIDATES_MAX])
    wanted = EffectsWanted(manifest, hidden, welcome.observes, tuple(sorted(welcome.operations)))
    effects = find_effects(wanted, found)
    sources = tuple(
        FollowedSource(found[name], effect) for name, effect in effects.items() if effect
    )
    return FollowedQuestions(hidden, sources, frozenset(asked), len(effects), possible)


def list_hidden(suite: Suite, observes: Collection[str]) -> tuple[str, ...]:
    """The state variables of the charter that a target does not show; none if the model is of other
    rules than the suite."""
    manifest = suite.manifest
    module = manifest.models.charter
    if not manifest.types or not is_of(module, manifest.spec_digest):
        return ()
    model = load(module)
    if not hasattr(model, "INSTANCES"):
        return ()
    for bucket in range(suite.buckets):
        for item in suite.items(bucket):
            state = own_object(model.encode(model.initial(*world_of(orjson.loads(item.question)))))
            ghosts = getattr(model, "GHOSTS", ())
            return tuple(n for n in state if n not in observes and n not in ghosts)
    return ()


def _order(item: tuple[str, VectorItem]) -> tuple[bool, int, str]:
    """First what names an obligation, then by length, then by the ids."""
    name, vector = item
    return not orjson.loads(vector.why)["obligations"], len(vector.question), name
