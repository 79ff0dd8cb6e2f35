"""Writes a vector as canonical texts, which are cheap to sort, send and merge."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from charter.formats import canonical
from charter.formats.vector import SOURCES, Vector, Why, read_why

FIRST = ("scenario", "finding", "witness", "solver", "mutant", "exploration", "random", "walk")
"""The priority of sources for a question from several sources."""
assert sorted(FIRST) == sorted(SOURCES)


@dataclass(frozen=True, slots=True)
class VectorRecord:
    """The id, the digest of the answer, and question, answer and why as canonical text."""

    id: str
    digest: str
    question: str
    answer: str
    why: str

    @staticmethod
    def of(vector: Vector) -> VectorRecord:
        """The record of a vector."""
        question = canonical.text(vector.question.json())
        identity = canonical.text_digest(question)
        answer = vector.answer.store(identity, vector.question.given)
        why = canonical.text(vector.why.json())
        return VectorRecord(identity, str(answer["digest"]), question, canonical.text(answer), why)

    def reasons(self) -> Why:
        """Why it is asked."""
        return read_why(json.loads(self.why))

    def line(self) -> str:
        """The line of the suite, without its newline."""
        return f'{{"answer":{self.answer},"question":{self.question},"why":{self.why}}}'

    def digest_line(self) -> str:
        """Its line for the digest of the suite (charter.formats.suite.digest_line)."""
        return f"{self.id} {self.digest} {canonical.text_digest(self.why)}"


def pack(record: VectorRecord) -> str:
    """A record on one line; JSON has no raw tabs."""
    parts = (record.id, record.digest, record.question, record.answer, record.why)
    return "\t".join(parts) + "\n"


def unpack(line: str) -> VectorRecord:
    """The inverse of `pack`."""
    identity, digest, question, answer, why = line.rstrip("\n").split("\t")
    return VectorRecord(identity, digest, question, answer, why)


def merge(records: Iterable[VectorRecord]) -> Iterator[VectorRecord]:
    """Records in the order of their ids; those of one question are joined."""
    held: VectorRecord | None = None
    for record in records:
        if held is not None and held.id == record.id:
            held = _join(held, record)
            continue
        if held is not None:
            yield held
        held = record
    if held is not None:
        yield held


def _join(one: VectorRecord, other: VectorRecord) -> VectorRecord:
    """One record with the obligations of both and what both ask, and source and purpose of the one
    with higher priority."""
    first, second = sorted(
        (one.reasons(), other.reasons()), key=lambda why: (FIRST.index(why.source), why.title)
    )
    both = tuple(dict.fromkeys((*first.obligations, *second.obligations)))
    asks = tuple(sorted({*first.asks, *second.asks}))
    behind = tuple(sorted({*first.asks_behind, *second.asks_behind}))
    why = replace(first, obligations=both, asks=asks, asks_behind=behind)
    return replace(one, why=canonical.text(why.json()))
