"""Judges one bucket of vectors; shared by all engines."""

from __future__ import annotations

import functools
import itertools
import time
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import orjson

from charter.formats.canonical import Json
from charter.formats.verdict import JUDGED, Kind
from conform.adapters.base import Connection
from conform.adapters.session import BATCH, HOPELESS, BrokenBatch, Judgement, Session
from conform.adapters.stdio import StdioConnection
from conform.console.errors import BadSuite, Incomplete
from conform.console.memory import find_cycles_rarely
from conform.judging import model
from conform.judging.image_parts import SeenParts
from conform.judging.siblings import Siblings
from conform.judging.verdict import Assessment, VectorItem
from conform.runs.bounds import JudgedBounds
from conform.runs.canaries.canaries import (
    SAMPLE,
    TRIES,
    Canary,
    can_be_canary,
    derive_again,
    draw,
    of_worker,
    on_target,
)
from conform.runs.crosschecks.cross_counts import CrossCounts
from conform.runs.engines.progress_notes import BucketNotes
from conform.runs.entry_widths import EntrySteps
from conform.runs.findings.adapter_failures import FAILED, how_it_failed
from conform.runs.findings.findings import finding_id
from conform.runs.followed.followed_counts import FollowedCounts
from conform.runs.overclaims import Claimed, find_overclaims
from conform.runs.run_context import RunContext
from conform.runs.touring.asked_transitions import AskedTransitions
from conform.runs.walk_counts import OF_CROSSCHECKS, OF_FOLLOWED, WalkCounts
from conform.storage.bucket_store import RunFolder
from conform.storage.tables import (
    DEVIATIONS,
    OBSERVATIONS,
    OF_WALKS,
    VERDICTS,
    DatasetRows,
    Transitions,
    add_deviations,
    add_verdict,
    cause_of,
    element_sorts,
)

TEXTS = 16 << 20
"""Characters of a bucket's rows in memory."""
PAIRS = 20_000
"""Pairs of a state and a branch of a bucket in memory."""


@dataclass(slots=True)
class Pool:
    """The sessions that a worker reuses for its buckets: one adapter for each run. The first one
    takes over the `greeted` adapter, if there is one and it still runs."""

    sessions: dict[str, Session] = field(default_factory=dict)
    greeted: Connection | None = None
    unseen: set[str] = field(default_factory=set)
    """The runs for which the canaries of the worker are still to be made."""

    def session(self, context: RunContext) -> tuple[Session, bool]:
        """The session of a run, and whether the canaries of the worker are to be made with it."""
        session = self.open(context)
        fresh = context.run in self.unseen
        self.unseen.discard(context.run)
        return session, fresh

    def open(self, context: RunContext) -> Session:
        """The session of a run, for a bucket that leaves the canaries of the worker to others."""
        found = self.sessions.get(context.run)
        if found is not None:
            return found
        self.close()
        greeted, self.greeted = self.greeted, None
        session = start_session(context, greeted)
        self.sessions[context.run] = session
        self.unseen.add(context.run)
        return session

    def close(self) -> None:
        """End all adapters of this worker."""
        for session in self.sessions.values():
            session.connection.close()
        self.sessions.clear()
        self.unseen.clear()


def start_session(context: RunContext, greeted: Connection | None = None) -> Session:
    """A new session of a run; its connection is the caller's to close. It takes over the `greeted`
    adapter, if there is one and it still runs. Raises `CannotStart`."""
    model.use_folders(context.folders)
    if greeted is not None and not greeted.alive:
        greeted.close()
        greeted = None
    connection = greeted or StdioConnection(context.start)
    nonce = f"{context.run}-{time.time_ns():x}"
    variables = context.variables or None
    session = Session(connection, siblings(context), context.start.deadlines, nonce, variables)
    session.judge.set_types(context.types)
    return session


@functools.cache
def worker_pool() -> Pool:
    """The pool of this process, its only state."""
    find_cycles_rarely()
    return Pool()


def siblings(context: RunContext) -> Siblings | None:
    """The models of a run, or None if the suite names none."""
    if not context.model:
        return None
    entries = {entry: model.load(module) for entry, module in context.entries.items()}
    same = context.reference
    return Siblings(
        model.load(context.model), entries, same_state=same, same_operations=same,
        opaque=context.opaque,
    )  # fmt: skip


def with_overlay(context: RunContext) -> Siblings | None:
    """The model with all overlay entries instead of the charter's, if it exists and the suite was
    made from the same charter."""
    if not context.reference:
        return None
    module = context.entries.get("", "")
    if not module and len(context.entries) == 1:
        (module,) = context.entries.values()
    if not module or not context.model:
        return None
    return Siblings(model.load(module), same_state=False, opaque=context.opaque)


@dataclass(slots=True)
class Tally:
    """The rows and counts of one bucket."""

    verdicts: DatasetRows = field(default_factory=lambda: DatasetRows(VERDICTS))
    deviations: DatasetRows = field(default_factory=lambda: DatasetRows(DEVIATIONS))
    observations: DatasetRows = field(default_factory=lambda: DatasetRows(OBSERVATIONS))
    transitions: Transitions = field(default_factory=Transitions)
    kinds: Counter[str] = field(default_factory=Counter)
    taken: Counter[str] = field(default_factory=Counter)
    deviating: Counter[str] = field(default_factory=Counter)
    entries: Counter[str] = field(default_factory=Counter)
    judged: int = 0
    not_judged: int = 0
    new: int = 0
    usable: list[VectorItem] = field(default_factory=list)
    sample: list[VectorItem] = field(default_factory=list)
    drawn: list[VectorItem] = field(default_factory=list)
    bounds: JudgedBounds = field(default_factory=JudgedBounds)
    elements: dict[str, str] = field(default_factory=dict)
    first: float = 0.0
    claimed: list[Claimed] = field(default_factory=list)
    imageless: int = 0
    images: SeenParts = field(default_factory=SeenParts)
    entry_steps: EntrySteps = field(default_factory=EntrySteps)
    broken: list[BrokenBatch] = field(default_factory=list)
    stop: bool = False
    same: str = ""
    in_a_row: int = 0
    walks: WalkCounts | None = None
    followed: FollowedCounts | None = None
    crosschecks: CrossCounts | None = None
    transitions_asked: AskedTransitions = field(default_factory=AskedTransitions)

    def add(self, judgement: Judgement) -> None:
        if not self.first:
            self.first = time.time()
        for item, assessment in zip(judgement.items, judgement.assessments, strict=True):
            self._add_one(item, assessment)
        if judgement.line:
            ids: list[str] = [item.id for item in judgement.items]
            self.observations.add(ids, judgement.line.decode("utf-8", "replace"))

    def watch(self, judgement: Judgement) -> None:
        """Raises `Incomplete` if the adapter fails in the same way on question after question: what
        it drives is not there any more, or never was."""
        for assessment in judgement.assessments:
            verdict = assessment.verdict
            if verdict.kind is Kind.UNSUPPORTED:
                continue  # it was not asked
            how = how_it_failed(verdict.detail) if verdict.kind is Kind.ADAPTER_ERROR else ""
            self.in_a_row = self.in_a_row + 1 if how and how == self.same else 1
            self.same = how
            if how and self.in_a_row >= HOPELESS:
                raise Incomplete(
                    f"the adapter fails in the same way on {HOPELESS} questions in a row, so the"
                    f" run stops: {verdict.detail}; look whether what it drives has ended, mend it,"
                    " and repeat the command to go on"
                )

    def is_full(self) -> bool:
        """Whether the rows take so much memory that they must be written."""
        kept = (self.verdicts, self.deviations, self.observations)
        return sum(rows.size for rows in kept) > TEXTS or len(self.transitions.counts) > PAIRS

    def _add_one(self, item: VectorItem, assessment: Assessment) -> None:
        verdict = assessment.verdict
        add_verdict(self.verdicts, verdict, assessment.behaviour, item.question)
        draw(self.drawn, item, len(self.verdicts))
        self.kinds[verdict.kind] += 1
        if verdict.kind in JUDGED:
            is_example = orjson.loads(item.why)["source"] in ("scenario", "finding")
            self.bounds.add(item.question, scenario=is_example)
        self.judged += verdict.judged
        self.not_judged += verdict.not_judged
        self.imageless += assessment.imageless
        for parts in assessment.images:
            self.images.add(parts)
        self.entry_steps.add(verdict.id, assessment.widths)
        self.transitions_asked.add(item, assessment)
        self.taken.update(verdict.branches)
        if assessment.transitions:
            self.transitions.add(assessment.transitions, verdict.id)
            self.elements.update(element_sorts(orjson.loads(item.question)["sorts"]))
        if len(self.usable) < TRIES and can_be_canary(verdict.kind):
            self.usable.append(item)
        if verdict.deviations:
            add_deviations(self.deviations, verdict, item.question)
            for deviation in verdict.deviations:
                self.deviating[deviation.branch] += 1
                self.entries[" ".join(deviation.entries)] += 1
                self.new += not deviation.entries
        if len(self.sample) < SAMPLE and verdict.kind is not Kind.UNSUPPORTED:
            self.sample.append(item)


def judge_bucket(
    items: Iterable[VectorItem], bucket: int, context: RunContext, pool: Pool
) -> dict[str, Json]:
    """Judge the vectors of one bucket, write and commit its datasets, and return its summary.

    Raises `CannotStart`, `CannotWrite`, `BadSuite` and `Incomplete`.
    """
    began = time.time()
    session, fresh = pool.session(context)
    tally = Tally()
    chosen = (item for item in items if context.only is None or item.id in context.only)
    limited = itertools.islice(chosen, context.limit or None)
    overlay, examined = with_overlay(context), 0
    until = itertools.takewhile(lambda _: not tally.stop, limited)
    folder = RunFolder(context.place)
    note = BucketNotes(folder, bucket)
    with folder.writer(bucket) as writer:
        for judgement in session.run(until, 1 if context.first else BATCH):
            if tally.stop:
                continue  # it was on its way when the first finding was shown
            tally.add(judgement)
            tally.watch(judgement)
            if tally.is_full():
                folder.spill(writer, datasets(tally, context))
                tally.transitions.clear()
            note(len(tally.verdicts))
            tally.stop |= context.first and (
                breaks(judgement) or shows_new(judgement, context.known)
            )
            if overlay and judgement.line and examined < BATCH:
                tally.claimed += find_overclaims(judgement, overlay, session.judge.observes)
                examined += len(judgement.items)
        where = f"bucket {bucket}"
        usable = tally.usable or _conforming(session, context.controls)
        canaries = [*on_target(session, usable, where), *derive_again(context, tally.drawn, where)]
        if fresh:
            canaries += of_worker(context, tally.sample, f"worker of {where}")
        tally.broken = session.take_broken()
        summary = summarise(tally, bucket, began, canaries)
        folder.commit(bucket, datasets(tally, context), summary, writer)
    return summary


def breaks(judgement: Judgement) -> bool:
    """Whether the adapter failed on one of the vectors."""
    return any(one.verdict.kind in FAILED for one in judgement.assessments)


def shows_new(judgement: Judgement, known: Collection[str]) -> bool:
    """Whether one of the vectors shows a finding that no overlay entry explains and that is not
    known."""
    for item, assessment in zip(judgement.items, judgement.assessments, strict=True):
        for deviation in assessment.verdict.deviations:
            sorts = orjson.loads(item.question)["sorts"]
            if not deviation.entries and finding_id("", cause_of(deviation, sorts)) not in known:
                return True
    return False


def _conforming(session: Session, controls: Sequence[VectorItem]) -> list[VectorItem]:
    """The first of some vectors that conform now; their verdicts do not count."""
    found = []
    for judgement in session.run(controls):
        for item, assessment in zip(judgement.items, judgement.assessments, strict=True):
            if can_be_canary(assessment.verdict.kind):
                found.append(item)
    return found[:TRIES]


def datasets(tally: Tally, context: RunContext) -> dict[str, DatasetRows]:
    made = tally.walks or tally.followed or tally.crosschecks
    return {
        **({OF_WALKS: made.rows} if made else {}),
        "verdicts": tally.verdicts,
        "deviations": tally.deviations,
        "observations": tally.observations,
        "transitions": tally.transitions.rows(tally.elements, counters(context)),
    }


def counters(context: RunContext) -> tuple[str, ...]:
    """The names of the fields whose type is a counter, if the model says."""
    if not context.model:
        return ()
    try:
        names: tuple[str, ...] = getattr(model.load(context.model), "COUNTERS", ())
    except BadSuite:
        return ()
    return tuple(names)


def summarise(tally: Tally, bucket: int, began: float, canaries: list[Canary]) -> dict[str, Json]:
    tally.taken.pop("", None)
    return {
        "bucket": bucket,
        "vectors": len(tally.verdicts),
        "verdicts": _counts(tally.kinds),
        "judged_steps": tally.judged,
        "not_judged_steps": tally.not_judged,
        "deviations": len(tally.deviations),
        "new_deviations": tally.new,
        "by_entry": _counts(tally.entries),
        "entry_steps": tally.entry_steps.json(),
        "taken": _counts(tally.taken),
        "deviating": _counts(tally.deviating),
        "bounds": tally.bounds.json(),
        "imageless": tally.imageless,
        "image_parts": tally.images.json(tally.elements),
        "stopped": tally.stop,
        "broken_batches": len(tally.broken),
        "unexplained_breaks": [batch.detail for batch in tally.broken if not batch.culprits],
        "claimed": [claimed.json() for claimed in tally.claimed],
        "first_verdict": tally.first,
        "seconds": time.time() - began,
        "canaries": [canary.json() for canary in canaries],
        **tally.transitions_asked.json(),
        **({tally.walks.of: tally.walks.json()} if tally.walks else {}),
        **({OF_FOLLOWED: tally.followed.json()} if tally.followed else {}),
        **({OF_CROSSCHECKS: tally.crosschecks.json()} if tally.crosschecks else {}),
    }


def _counts(counted: Counter[str]) -> dict[str, Json]:
    return {str(name): count for name, count in sorted(counted.items())}


def empty_bucket(bucket: int, context: RunContext) -> None:
    """Commit a bucket that has no vectors."""
    tally = Tally()
    summary = summarise(tally, bucket, time.time(), [])
    RunFolder(context.place).commit(bucket, datasets(tally, context), summary)
