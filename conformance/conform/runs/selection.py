"""Selects the vectors of a run: those that take a branch, or that failed before."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from charter.formats import canonical
from charter.formats.canonical import Json
from conform.console.errors import BadSuite
from conform.judging.verdict import VectorItem
from conform.suites.cache import Suite

_BRANCH = re.compile(rb'"branch":"([^"]+)"')
_CONTROLS = 8


@dataclass(frozen=True, slots=True)
class SuiteFilter:
    """Which vectors of a suite to send: those that take a branch with `branch` in its name, only
    those that failed in earlier runs, and none after the first new finding."""

    branch: str = ""
    last_failed: bool = False
    first: bool = False

    @property
    def option(self) -> str:
        """The option that leaves vectors out, "" for none."""
        return "-k" if self.branch else "--last-failed" if self.last_failed else ""


ALL = SuiteFilter()


@dataclass(frozen=True, slots=True)
class SuitePart:
    """The vectors to ask: `only` these (None: all), `counts` of them in each bucket. `failed` are
    asked first. `controls` are others, for canaries where no chosen vector conforms."""

    only: frozenset[str] | None
    counts: tuple[int, ...]
    failed: frozenset[str] = frozenset()
    controls: tuple[VectorItem, ...] = ()

    def json(self, wanted: SuiteFilter) -> dict[str, Json]:
        """The selection in run.json; empty if all of the suite is asked."""
        if self.only is None and not wanted.first:
            return {}
        ids = canonical.digest([*sorted(self.only)]) if self.only is not None else ""
        return {"branch": wanted.branch, "last_failed": wanted.last_failed, "first": wanted.first,
                "vectors": ids}  # fmt: skip


def part_of(suite: Suite, wanted: SuiteFilter, failed: frozenset[str]) -> SuitePart:
    """The part of a suite that is wanted. If nothing of the suite failed before, `last_failed`
    leaves nothing out. Raises `BadSuite` if no vector takes such a branch."""
    every = tuple(held.vectors for held in suite.stored)
    few = wanted.last_failed and bool(failed)
    if not (wanted.branch or few or wanted.first):
        return SuitePart(None, every, failed)
    only, counts = set[str](), [0] * suite.buckets
    branches, controls, again = set[str](), list[VectorItem](), False
    for bucket in range(suite.buckets):
        for item in suite.items(bucket):
            taken = branches_of(item)
            branches |= taken
            again |= item.id in failed
            fits = not wanted.branch or any(wanted.branch.lower() in one.lower() for one in taken)
            if fits and (not few or item.id in failed):
                only.add(item.id)
                counts[bucket] += 1
            if item.id not in failed and len(controls) < _CONTROLS:
                controls.append(item)
    if few and not again:  # they are of another suite
        return part_of(suite, replace(wanted, last_failed=False), frozenset())
    if wanted.branch and not only:
        raise BadSuite(_no_vector(wanted, branches))
    chosen = frozenset(only) if wanted.branch or few else None
    return SuitePart(chosen, tuple(counts), failed, tuple(controls))


def branches_of(item: VectorItem) -> set[str]:
    """The branches that the answer of a vector has."""
    return {name.decode() for name in _BRANCH.findall(item.answer)}


def _no_vector(wanted: SuiteFilter, branches: Iterable[str]) -> str:
    there = sorted(branches)
    shown = ", ".join(there[:20]) + (", …" if len(there) > 20 else "")
    which = " that failed before" if wanted.last_failed else ""
    return f"no vector{which} takes a branch with {wanted.branch!r} in its name; there are: {shown}"


def all_asked_told(wanted: SuiteFilter, part: SuitePart) -> str:
    """What is said where nothing failed before, so that `last_failed` leaves nothing out; ""
    elsewhere."""
    if not wanted.last_failed or part.failed:
        return ""
    return (
        "--last-failed leaves nothing out: no vector of this suite had a new finding or adapter"
        " trouble when it was last asked (findings of the overlay and of the baseline do not count)"
    )
