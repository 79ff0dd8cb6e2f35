"""Selects the vectors of a run: those that take a branch, or that failed before."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import orjson

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.files import regular
from charter.formats.run_description import RunDescription
from charter.formats.target import Target
from charter.formats.verdict import Kind
from conform.console.errors import BadSuite
from conform.judging.verdict import VectorItem
from conform.runs.findings.findings import finding_id
from conform.runs.judged_rows import JudgedRows
from conform.runs.resume import DIGESTS
from conform.suites.cache import Suite, cache_folder

_BRANCH = re.compile(rb'"branch":"([^"]+)"')
_CONTROLS = 8
_MOST_FAILED = 10_000
_TROUBLE = frozenset({Kind.CRASHED, Kind.TIMED_OUT, Kind.ADAPTER_ERROR})
_FINE = frozenset({Kind.CONFORMS, Kind.INCONCLUSIVE})


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


# --- what failed before --------------------------------------------------------------------------


def read_failed(target: Target, release: str) -> Mapping[str, str]:
    """The vectors that failed when they were last asked of a release of a target, each with what it
    was judged with then ("": not known); none if that is not known."""
    try:
        held = orjson.loads(regular(_record(target, release)).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    if not isinstance(held, dict):
        return {}
    return {str(name): str(judged_with) for name, judged_with in held.items()}


@dataclass(frozen=True, slots=True)
class AskedVerdicts:
    """The verdicts on the vectors of a suite that were asked, by id. `deviating` have a deviation
    that neither the overlay nor the baseline lists."""

    kinds: Mapping[str, str]
    deviating: frozenset[str]

    @classmethod
    def of(cls, judged: JudgedRows, known: frozenset[str]) -> AskedVerdicts:
        """Those of a run; the baseline lists the findings `known`."""
        deviations = judged.deviations.select(["id", "entry", "cause"]).to_pylist()
        deviating = frozenset(row["id"] for row in deviations if _is_new(row, known))
        ids, kinds = (judged.verdicts[name].to_pylist() for name in ("id", "kind"))
        return cls(dict(zip(ids, kinds, strict=True)), deviating)

    @property
    def failing(self) -> list[str]:
        """Those that broke the adapter, and those that deviate."""
        broke = {name for name, kind in self.kinds.items() if kind in _TROUBLE}
        return sorted(self.deviating | broke)

    @property
    def fine(self) -> list[str]:
        """Those in which the implementation does nothing that the charter does not allow."""
        return sorted(name for name, kind in self.kinds.items() if kind in _FINE)


def record_failed(target: Target, about: RunDescription, asked: AskedVerdicts) -> tuple[str, ...]:
    """Keep which of the vectors that were asked failed. Others of them do not fail any more;
    returns those that are fine now and failed before with the same files (`about`: run.json, or
    what it says of release, implementation, files and charter)."""
    release, judged_by = about.release, _digest_judging(about)
    before = read_failed(target, release)
    kept = dict.fromkeys(asked.failing, judged_by)
    kept |= {name: before[name] for name in sorted(before.keys() - asked.kinds)}
    path = _record(target, release)
    with contextlib.suppress(OSError):  # it only changes the order of the next run
        path.parent.mkdir(parents=True, exist_ok=True)
        hidden = path.with_name(f"{path.name}.{os.getpid()}")
        hidden.write_bytes(orjson.dumps(dict([*kept.items()][:_MOST_FAILED])))
        hidden.replace(path)
    return tuple(name for name in asked.fine if judged_by and before.get(name) == judged_by)


def _digest_judging(about: RunDescription) -> str:
    """A digest of the files of an implementation and of what it was judged with; "" if nobody knows
    which files it has."""
    if about.sources is None:
        return ""
    held = about.json()
    names = ("spec_digest", "entries", "implementation", *DIGESTS)
    return canonical.digest([*(held[name] for name in names), held.get("parameters", {})])


def _is_new(row: Mapping[str, str], known: frozenset[str]) -> bool:
    return not row["entry"] and finding_id("", row["cause"]) not in known


def _record(target: Target, release: str) -> Path:
    place = canonical.digest([str(target.folder.resolve()), release])[:8]
    return cache_folder() / "failed" / f"{target.id}-{place}.json"
