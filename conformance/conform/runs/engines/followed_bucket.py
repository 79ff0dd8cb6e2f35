"""Asks the questions of a suite that go on, for a target that hides state, and commits them as a
bucket of the run; shared by all engines."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import orjson

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.reading import own_calls, own_list
from charter.formats.run_description import FOLLOWED_OF_BLOCK
from conform.adapters.session import BATCH
from conform.judging.model import load
from conform.judging.verdict import VectorItem
from conform.runs.asked_vectors import answer_item
from conform.runs.canaries.canaries import on_target
from conform.runs.engines.bucket import Pool, Tally, breaks, datasets, shows_new, summarise
from conform.runs.engines.remembered_bucket import NO_WALK
from conform.runs.followed.followed_counts import FollowedCounts
from conform.runs.followed.followed_questions import FollowedSource
from conform.runs.run_context import RunContext
from conform.storage.bucket_store import RunFolder
from conform.walks.hidden_state import HiddenEffect

_ALIKE_MAX = 4
"""The most questions of a bucket in which the same operations follow the same branch."""


def judge_followed(bucket: int, context: RunContext, pool: Pool) -> dict[str, Json]:
    """Ask what follows the questions of a bucket, write and commit its datasets, and return its
    summary. Raises `CannotStart`, `CannotWrite`, `BadSuite`, `Incomplete` and `ModelBug`."""
    began = time.time()
    session = pool.open(context)
    first = (bucket - context.suite_buckets - context.walks.blocks) * FOLLOWED_OF_BLOCK
    tally, counts = Tally(), FollowedCounts(bounds=context.followed.bounds)
    tally.followed = counts
    items = _Following(context, counts)
    sources = context.followed.sources[first : first + FOLLOWED_OF_BLOCK]
    made = [item for source in sources for item in items.follow(source)]
    for judgement in session.run(made, 1 if context.first else BATCH):
        tally.add(judgement)
        tally.watch(judgement)
        for item in judgement.items:
            texts = (text.decode() for text in (item.question, item.answer, item.why))
            counts.rows.add(item.id, NO_WALK, _count_calls(item), False, item.needs, *texts)
        tally.stop |= context.first and (breaks(judgement) or shows_new(judgement, context.known))
    counts.verdicts.update({str(kind): count for kind, count in tally.kinds.items()})
    where = f"what follows the questions {first} to {first + len(sources) - 1}"
    canaries = on_target(session, tally.usable, where) if made else []
    tally.broken = session.take_broken()
    summary = summarise(tally, bucket, began, canaries)
    RunFolder(context.place).commit(bucket, datasets(tally, context), summary)
    return summary


class _Following:
    """Makes the questions of one bucket."""

    def __init__(self, context: RunContext, counts: FollowedCounts) -> None:
        self.context, self.counts = context, counts
        self.model = load(context.model)
        self.made: set[str] = set()
        self.alike: Counter[str] = Counter()

    def follow(self, source: FollowedSource) -> Iterator[VectorItem]:
        """The vectors with which one of the suite goes on; those that the suite has are not made
        again."""
        self.counts.note(source.effect)
        for item in self._list_items(source.item, source.effect):
            if item.id not in self.made and item.id not in self.context.followed.asked:
                self.made.add(item.id)
                yield item

    def _list_items(self, source: VectorItem, effect: HiddenEffect) -> Iterator[VectorItem]:
        question = orjson.loads(source.question)
        for suffix in effect.suffixes:
            names = [str(call["operation"]) for call in suffix]
            kind = " ".join([effect.branch, *names])
            if self.alike[kind] == _ALIKE_MAX:
                continue
            calls: list[Json] = [*own_list(question["operations"]), *suffix]
            whole = {**question, "operations": calls, "delta": "each"}
            item = answer_item(self.model, whole, self.context.opaque)
            if item is None:
                continue
            self.alike[kind] += 1
            why = orjson.loads(source.why)
            title = f"{why['title']}, and what shows hidden state".removeprefix(", and ")
            needs = " ".join(sorted({*source.needs.split(), *names}))
            told = canonical.text({**why, "obligations": [], "title": title}).encode()
            yield replace(item, why=told, needs=needs)


def _count_calls(item: VectorItem) -> int:
    return len(own_calls(orjson.loads(item.question)))
