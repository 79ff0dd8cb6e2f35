"""Finds the smallest set of overlay entries that explains a step which all entries together explain
and none alone, and writes its name into the run.

Judges and workers have the models of single entries and of all entries. The models of sets are made
when they are needed, by the caller, after the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Protocol

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from charter.formats.adapter import Result
from charter.formats.canonical import Json
from charter.formats.reading import own_calls
from charter.formats.run_description import RunDescription
from charter.formats.verdict import Severity
from conform.judging.automaton import Judge
from conform.judging.model import JudgeModel, may_differ
from conform.judging.read_result import BatchTexts
from conform.judging.siblings import (
    SET_ENTRIES_MAX,
    SEVERAL_ENTRIES,
    FollowedSteps,
    ObservedStep,
    Siblings,
    join_entries,
)
from conform.judging.verdict import VectorItem, assess
from conform.judging.visible_references import visible
from conform.runs.asked_vectors import AskedVectors, read_item
from conform.runs.findings.active_entries import find_first_active, list_active
from conform.storage.bucket_store import RunFolder
from conform.storage.observations import observations, types_of

TRIED_ENTRIES_MAX = 3
"""The most entries of sets that are tried one after another. There are too many of four."""


class SetModels(Protocol):
    """Makes models of sets of entries."""

    def load(self, variant: str, entries: Sequence[str], /) -> JudgeModel | None:
        """The model with these entries in a variant; None if their edits do not fit each
        other."""
        ...


@dataclass(frozen=True, slots=True)
class SeveralStep:
    """A step that several entries explain, as the dataset `deviations` has it."""

    id: str
    step: int
    severity: str
    operation: str
    cause: str


@dataclass(slots=True)
class SetNamer:
    """Names sets of entries for steps of one run. `order` has the entries, `alone` is the charter
    without them, `before` has the sets that explained steps of the same cause."""

    siblings: Siblings
    judge: Judge
    models: SetModels
    variant: str
    order: Sequence[str]
    alone: Siblings
    before: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls, about: RunDescription, siblings: Siblings, models: SetModels,
        observes: tuple[str, ...] | None,
    ) -> SetNamer:  # fmt: skip
        """The namer of a run with these models, which shows the variables `observes`."""
        judge = Judge(observes, [*about.operations, *about.capabilities], types_of(about))
        alone = replace(siblings, entries={}, memory=FollowedSteps())
        order = sorted(filter(None, siblings.entries))
        return cls(siblings, judge, models, about.variant, order, alone)

    def name(
        self, steps: Sequence[SeveralStep], item: VectorItem, result: Result, batch: BatchTexts
    ) -> Mapping[tuple[int, str], str]:
        """The names for steps of one vector, by step and severity. Those that no set within the
        bound explains are left out."""
        seen = visible(item, self.judge, self.siblings)
        begins = self._find_first_active(seen, result, batch)
        found: dict[tuple[int, str], str] = {}
        known: dict[tuple[str, ...], frozenset[tuple[int, str]]] = {}
        for step in steps:
            at = (step.step, step.severity)
            for entries in self._list_sets(step, seen, result, batch):
                late = len(entries) == 1 and begins.get(entries[0], step.step + 1) > step.step
                if late and step.severity != Severity.IMAGE:
                    continue  # alone it does as the charter, up to here
                if entries not in known:
                    known[entries] = self._explains(entries, seen, result, batch)
                if at in known[entries]:
                    found[at] = join_entries(entries)
                    self.before[step.cause, step.operation] = entries
                    break
        for at in {(step.step, step.severity) for step in steps} - found.keys():
            entries = self._leave_out(at, seen, result, batch)
            if len(entries) <= SET_ENTRIES_MAX:
                found[at] = join_entries(entries)
        return found

    def _leave_out(
        self, at: tuple[int, str], item: VectorItem, result: Result, batch: BatchTexts
    ) -> tuple[str, ...]:
        """The entries that are left of all when each is left out without which a step is still
        explained."""
        kept = tuple(self.order)
        for name in self.order:
            fewer = tuple(one for one in kept if one != name)
            if len(fewer) > 1 and at in self._explains(fewer, item, result, batch):
                kept = fewer
        return kept

    def _find_first_active(
        self, item: VectorItem, result: Result, batch: BatchTexts
    ) -> Mapping[str, int]:
        """The first step in which each entry may do otherwise than the charter."""
        question = orjson.loads(item.question)
        models = {name: self.siblings.entries[name] for name in self.order}
        raw = _list_raw(item, result, batch, len(result.steps))
        return find_first_active(self.alone, models, question, self.judge.observes, raw)

    def _list_sets(
        self, step: SeveralStep, item: VectorItem, result: Result, batch: BatchTexts
    ) -> Iterator[tuple[str, ...]]:
        """The sets that may explain a step, small ones first; of those of one size first the one
        that explained the same before, then those whose entries all differ from the charter there,
        then those of which one entry, or two of three, do. Of these the last have an entry that
        changes the operation only with another one, which calls what it changes. Single entries
        are first: one that has changed hidden state in an earlier step differs in none of its
        outcomes here."""
        yield from ((name,) for name in self.order)
        able = [name for name in self.order if self._can_change(name, step)]
        active = able
        if step.severity != Severity.IMAGE:
            raw = _list_raw(item, result, batch, step.step)
            question = orjson.loads(item.question)
            active = [*list_active(self.siblings, question, self.judge.observes, raw)]
        known = self.before.get((step.cause, step.operation), ())
        for size in range(2, TRIED_ENTRIES_MAX + 1):
            first = [known] if len(known) == size else []
            least = min(size - 1, len(active))
            far = [
                one
                for names in (able, self.order)
                for one in combinations(names, size)
                if len({*one} & {*active}) >= least and not {*one}.isdisjoint(able)
            ]
            yield from dict.fromkeys((*first, *combinations(active, size), *far))

    def _can_change(self, name: str, step: SeveralStep) -> bool:
        """Whether an entry may change a step: an image also shows operations before it."""
        if step.severity == Severity.IMAGE:
            return True
        return may_differ(self.siblings.entries[name], step.operation)

    def _explains(
        self, entries: tuple[str, ...], item: VectorItem, result: Result, batch: BatchTexts
    ) -> frozenset[tuple[int, str]]:
        """The steps that a set explains, by step and severity: from the state that the whole
        overlay says, or, of a single entry, from the state that it says itself."""
        name = join_entries(entries)
        if len(entries) == 1:
            known, name = {"": self.siblings.entries[name]}, SEVERAL_ENTRIES
        else:
            model = self.models.load(self.variant, entries)
            if model is None:
                return frozenset()
            known = {**self.siblings.entries, name: model}
        siblings = replace(self.siblings, entries=known, memory=FollowedSteps())
        verdict = assess(item, result, batch, self.judge, siblings).verdict
        return frozenset(
            (one.step, str(one.severity)) for one in verdict.deviations if name in one.entries
        )


def _list_raw(item: VectorItem, result: Result, batch: BatchTexts, last: int) -> list[ObservedStep]:
    """The steps of a result as they were observed, from the state before the first operation."""
    calls: list[tuple[str, Json]] = [("", {})]
    calls += [(str(c["operation"]), c["args"]) for c in own_calls(orjson.loads(item.question))]
    pairs = zip(calls, result.steps[: last + 1], strict=False)
    return [
        ObservedStep(*call, batch.at(reply), batch.at(observation))
        for call, (reply, observation, _) in pairs
    ]


def name_sets(vectors: AskedVectors, namer: SetNamer) -> int:
    """Name the set of each step of a run that several entries explain; returns how many steps no
    set within the bound explains."""
    folder, left = vectors.folder, 0
    for bucket in folder.buckets_done():
        rows = folder.bucket("deviations", bucket)
        several = rows.filter(pc.equal(rows["entry"], SEVERAL_ENTRIES))
        if several.num_rows:
            names = _name_in_bucket(vectors, bucket, several, namer)
            left += several.num_rows - len(names)
            _rename(folder, bucket, rows, names)
    return left


def _name_in_bucket(
    vectors: AskedVectors, bucket: int, several: pa.Table, namer: SetNamer
) -> Mapping[tuple[str, int, str], str]:
    """The names for the steps of one bucket, by vector, step and severity."""
    wanted: dict[str, list[SeveralStep]] = {}
    columns = several.select(["id", "step", "severity", "operation", "cause"])
    for row in columns.to_pylist():
        wanted.setdefault(row["id"], []).append(SeveralStep(**row))
    items = {row["id"]: read_item(row) for row in vectors.rows(set(wanted)).to_pylist()}
    found: dict[tuple[str, int, str], str] = {}
    for observed in observations(vectors.folder, bucket):
        batch = BatchTexts.of(observed.results, namer.judge.observes)
        for result in observed.results.results:
            item, steps = items.get(result.id), wanted.get(result.id, [])
            if item is not None:
                named = namer.name(steps, item, result, batch)
                places = {(one.step, one.severity) for one in steps}
                found |= {(item.id, *at): name for at, name in named.items() if at in places}
    return found


def _rename(
    folder: RunFolder, bucket: int, rows: pa.Table, names: Mapping[tuple[str, int, str], str]
) -> None:
    """Write the names into the rows of a bucket, and into its counts."""
    keys = zip(*(rows[name].to_pylist() for name in ("id", "step", "severity")), strict=True)
    entries = [
        names.get(at, entry) if entry == SEVERAL_ENTRIES else entry
        for at, entry in zip(keys, rows["entry"].to_pylist(), strict=True)
    ]
    place = rows.schema.get_field_index("entry")
    renamed = rows.set_column(place, rows.schema.field(place), pa.array(entries, pa.string()))
    counted = dict(sorted(Counter(entries).items()))
    folder.rewrite(bucket, "deviations", renamed, {"by_entry": {**counted}})
