"""Finds the operations that lead to a finding: what a person has named, or what a run saw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import orjson

from charter.formats.canonical import Json
from charter.formats.findings.reviewed import ReviewedFinding
from charter.formats.reading import own_calls
from charter.formats.run import RunFinding
from charter.formats.target import Target
from conform.console.errors import BadSuite
from conform.judging.verdict import VectorItem
from conform.runs.asked_vectors import AskedVectors
from conform.runs.reproduce.case import CannotReproduce, Question
from conform.runs.select import suite_for
from conform.suites.cache import Suite, open_suite


@dataclass(frozen=True, slots=True)
class FindingPath:
    """The operations that lead to a finding, the last of which shows it; `causes` are the numbers
    of those without which it does not happen, none if nobody has named them. `says` is one sentence
    about it. Only the places of `differs` count, if any is named."""

    question: Question
    says: str
    causes: tuple[int, ...] = ()
    differs: tuple[str, ...] = ()


def open_suites(chosen: Target) -> tuple[Suite, ...]:
    """The generated suites of a target, one for each variant that its releases are judged against.
    Raises `ConformError`."""
    of_variants = {chosen.variant(release): release for release in chosen.releases}
    return tuple(open_suite(suite_for(chosen, one), 1) for one in [*of_variants.values()] or [""])


def path_of(suites: Iterable[Suite], finding: ReviewedFinding) -> FindingPath:
    """The path that a person has named, from the first suite that has it: the operations are the
    same for each variant. Raises `CannotReproduce`."""
    for suite in suites:
        found = [item for item in _items(suite) if _title(item) == finding.path]
        if found:
            break
    if len(found) != 1:
        count = "no vector" if not found else f"{len(found)} vectors"
        raise CannotReproduce(
            f"{count} of the suite of {finding.target} has the title {finding.path!r}, which the"
            f" file of {finding.name} names as its path; `conform keep` writes a question that"
            " failed next to the charter, and `conform generate` brings it into the suite"
        )
    question: Question = orjson.loads(found[0].question)
    return FindingPath(question, finding.says, finding.causes, finding.differs)


def path_in_run(vectors: AskedVectors, finding: RunFinding) -> FindingPath:
    """The smallest path that a run has seen. Raises `BadSuite`."""
    if finding.shrunk is not None:
        return FindingPath(dict(finding.shrunk.question), finding.sentence)
    question: Question = orjson.loads(vectors.find(finding.vector).question)
    calls: list[Json] = [*own_calls(question)[: finding.step]]
    return FindingPath({**question, "operations": calls}, finding.sentence)


def has_path(suite: Suite, title: str) -> bool:
    """Whether a suite has the path that a person has named."""
    return any(_title(item) == title for item in _items(suite))


def _items(suite: Suite) -> Iterator[VectorItem]:
    for bucket in range(suite.buckets):
        yield from suite.items(bucket)


def _title(item: VectorItem) -> str:
    why = orjson.loads(item.why)
    if not isinstance(why, dict):
        raise BadSuite("the reason of a vector is no object")
    return str(why.get("title", ""))
