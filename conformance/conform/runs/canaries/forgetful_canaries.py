"""Makes canaries for a charter without mutants: its model, in which one operation leaves the state
as it was. They take the place of mutants (docs/design/trust.md#canaries)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import orjson

from charter.formats.suite import Manifest
from conform.judging.automaton import AnswerJson
from conform.judging.verdict import VectorItem
from conform.runs.canaries.canaries import SAMPLE
from conform.suites.cache import Suite

MOST = 4
"""The most operations that are forgotten, each in a canary of its own."""
_LOOKED_AT = 2_000
"""The most vectors of a suite that are looked at."""
LOOKS_FOR_QUESTIONS = "`conform test`, or `conform vectors CHARTER --search`, looks for questions"
_HELP = "`conform help variants-mutants-overlays`"


def forgetful(suite: Suite) -> dict[str, tuple[VectorItem, ...]]:
    """The operations to forget, each with vectors that show it; none for a charter that has
    mutants."""
    if has_mutants(suite.manifest):
        return {}
    every = (item for bucket in range(suite.buckets) for item in suite.items(bucket))
    return telling(islice(every, _LOOKED_AT))


def has_mutants(manifest: Manifest) -> bool:
    """Whether the charter has mutants of the component of a suite, told apart by its vectors or
    not."""
    return bool(manifest.models.mutants or manifest.counts.get("mutants"))


def telling(items: Iterable[VectorItem]) -> dict[str, tuple[VectorItem, ...]]:
    """Operations and vectors in which forgetting the first call of the operation surely shows: each
    allowed observation after it differs from each before it."""
    found: dict[str, list[VectorItem]] = {}
    for item in items:
        answer: AnswerJson = orjson.loads(item.answer)
        calls = orjson.loads(item.question)["operations"]
        seen: set[str] = set()
        for number, call in enumerate(calls, 1):
            name = call["operation"]
            room = len(found.get(name, ())) < SAMPLE and (name in found or len(found) < MOST)
            if name not in seen and room and _changes(answer, number):
                found.setdefault(name, []).append(item)
            seen.add(name)
    return {name: tuple(some) for name, some in found.items()}


def _changes(answer: AnswerJson, number: int) -> bool:
    before, after = (
        {node["observation"] for node in answer["steps"][step]} for step in (number - 1, number)
    )
    return not before & after


def left_open(manifest: Manifest) -> str:
    """That a suite asks for less than half of what the rules ask for, and what to do; "" if it asks
    for more."""
    every = manifest.counts.get("obligations", 0)
    without = manifest.counts.get("obligations_open", 0)
    if 2 * without <= every:
        return ""
    return (
        f"the suite leaves {without} of {every} obligations of the rules open:"
        f" {LOOKS_FOR_QUESTIONS} that meet them"
    )


def explain_unobserved(variables: Sequence[str], component: str) -> str:
    """That a suite compares replies alone, and what to do; "" if answers show a state variable."""
    if variables:
        return ""
    return (
        f"the component {component} has no `observe` in the charter, so only replies are compared:"
        " name what an implementation can show, as in `observe all { free, held }`"
    )


def outlook(manifest: Manifest, forgotten: Mapping[str, object]) -> str:
    """Why a run of this suite cannot be trusted, whatever the target does, and what to do; "" if it
    can be."""
    if manifest.models.mutants or forgotten:
        return ""
    count = manifest.counts.get("mutants", 0)
    if count:
        return (
            f"no vector of the suite surely tells one of the {count} mutants from the charter, so"
            " the run cannot be trusted: look for vectors with `conform vectors CHARTER --search`,"
            f" or write a scenario or another mutant ({_HELP}); one that has no value where it"
            " differs, as in `the n in int 0..3: n == m - 1` for m = 0, is told by no vector"
        )
    return (
        f"the charter has no mutant of a rule of the component {manifest.component}, and no"
        " operation in the suite surely changes what is observed, so the run cannot be trusted:"
        f" write a mutant of such a rule ({_HELP})"
    )
