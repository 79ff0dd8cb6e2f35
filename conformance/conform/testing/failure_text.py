"""Explains in a test why a vector does not conform, and what is known of its findings."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from charter.formats.target import other_than_default
from charter.formats.verdict import Deviation, Verdict
from conform.console.terminal import one_line
from conform.judging.places import NOT_KNOWN, ValuePlaces
from conform.judging.relabel import key
from conform.judging.verdict import VectorItem
from conform.judging.written_values import call_text
from conform.runs.findings.findings import beginning, finding_id, is_chosen, sentence, side_by_side
from conform.runs.findings.observed_digest import ObservedDigest
from conform.storage.tables import cause_of, deviation_row
from conform.testing.implementation import JudgedAdapter


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """A finding that a vector shows, at its first deviation of it; `observed` digests them all."""

    id: str
    deviation: Deviation
    observed: int

    def explain_known(self, reasons: Mapping[str, str]) -> str:
        """Why the finding may be there: the entry of the overlay, or the reason of the baseline."""
        if self.deviation.entries:
            return f"explained by {self.id}"
        reason = reasons.get(self.id, "")
        return f"{self.id}: {reason}" if reason else ""


def findings_of(item: VectorItem, verdict: Verdict) -> tuple[ShownFinding, ...]:
    """The findings that a vector shows, in the order of its steps."""
    sorts = orjson.loads(item.question)["sorts"]
    found: dict[str, Deviation] = {}
    digests: dict[str, ObservedDigest] = {}
    for deviation in verdict.deviations:
        name = finding_id(" ".join(deviation.entries), cause_of(deviation, sorts))
        found.setdefault(name, deviation)
        digest = digests.setdefault(name, ObservedDigest())
        digest.add(item.id, deviation.step, key(deviation.observed))
    return tuple(
        ShownFinding(name, deviation, digests[name].total) for name, deviation in found.items()
    )


def diverges(
    item: VectorItem, finding: ShownFinding, again: str, places: ValuePlaces = NOT_KNOWN
) -> str:
    """The steps of a vector up to a finding with what they begin with, what was expected and
    observed there, and the command that runs it again."""
    deviation = finding.deviation
    row = deviation_row(deviation)
    question = orjson.loads(item.question)
    calls = question["operations"]
    steps = [
        f"  {number} {call_text(call['operation'], call['args'], places)}"
        for number, call in enumerate(calls[: deviation.step], 1)
    ]
    lines = [
        sentence(row, places),
        "",
        f"vector {item.id}, step {deviation.step} of {len(calls)}:",
        *(f"  {line}" for line in beginning(question, is_chosen(question, orjson.loads(item.why)))),
        *steps,
        *side_by_side(row, places)[1:],
        "",
        f"finding {finding.id} ({deviation.severity})",
        f"again: {again}",
    ]
    return "\n".join(map(one_line, lines))


def broke(item: VectorItem, verdict: Verdict, again: str) -> str:
    """How the adapter failed."""
    kind = str(verdict.kind).replace("_", " ")
    lines = [f"{kind}: {verdict.detail}", "", f"vector {item.id}", f"again: {again}"]
    return "\n".join(map(one_line, lines))


def command(suite: str, judged: JudgedAdapter, vector: str) -> str:
    """The command that runs one vector again."""
    prepared = judged.resolved.prepared
    given = other_than_default(prepared.target.parameters, prepared.parameters)
    values = [f"--charter-set={name}={value}" for name, value in given.items()]
    return shlex.join(
        ["pytest", f"--charter={suite}", f"--charter-adapter={judged.name}", *values, "-k", vector]
    )
