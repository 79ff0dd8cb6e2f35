"""Counts the transitions of tours by what became of them, and writes the certificate of a run that
asks all transitions of an instance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import orjson

from charter.formats.canonical import Json
from charter.formats.reading import own_number, own_object
from charter.formats.suite import Manifest
from charter.formats.verdict import JUDGED, Kind, Severity
from conform.judging.verdict import Assessment, VectorItem

OF_TRANSITIONS = "asked_transitions"
"""What the summary of a bucket has of them."""
_ASKS = b'"asks'
"""What the reasons of a vector have if it asks transitions, perhaps behind a choice."""

OF_EXECUTED, OF_DEVIATING, OF_NEW = "executed", "deviating", "unexplained"
OF_ELSEWHERE, OF_NOT_JUDGED, OF_BEHIND = "elsewhere", "not_judged", "behind_choice"


@dataclass(slots=True)
class AskedTransitions:
    """How many transitions were `executed` in the state that their vector means and judged; how
    many of these were `deviating`, and how many deviations nothing explains. `elsewhere` were
    performed in another state, after a deviation; `behind_choice`, after the target had chosen
    another way. `not_judged` came after a fault, or where the state was not known. Of vectors that
    were not judged the kind of the verdict."""

    counts: Counter[str] = field(default_factory=Counter)

    def add(self, item: VectorItem, assessment: Assessment) -> None:
        """Count the transitions that a vector asks."""
        if _ASKS not in item.why:
            return
        why, verdict = orjson.loads(item.why), assessment.verdict
        asks = [
            *((step, False) for step in why.get("asks", ())),
            *((pair[0], (*pair,) in assessment.otherwise) for pair in why.get("asks_behind", ())),
        ]
        if verdict.kind not in JUDGED:
            self.counts[str(verdict.kind)] += len(asks)
            return
        found = [one for one in verdict.deviations if one.severity is not Severity.IMAGE]
        faults = {one.step for one in found if one.severity is Severity.FAULT}
        deviating, new = {one.step for one in found}, {one.step for one in found if not one.entries}
        for step, otherwise in asks:
            if step > verdict.judged and step not in faults:
                self.counts[OF_NOT_JUDGED] += 1
            elif step in assessment.astray:
                self.counts[OF_ELSEWHERE] += 1
            elif otherwise:
                self.counts[OF_BEHIND] += 1
            else:
                self.counts[OF_EXECUTED] += 1
                self.counts[OF_DEVIATING] += step in deviating
                self.counts[OF_NEW] += step in new

    def join(self, value: Json) -> None:
        """Add what the commit file of a bucket says."""
        held = value if isinstance(value, Mapping) else {}
        self.counts.update({name: own_number(count) for name, count in held.items()})

    def json(self) -> dict[str, Json]:
        """As a commit file and summary.json have them; nothing if no transitions are asked."""
        counted: dict[str, Json] = {name: n for name, n in sorted(self.counts.items()) if n}
        return {OF_TRANSITIONS: counted} if counted else {}


def certify(about: Manifest, summary: Mapping[str, Json]) -> dict[str, Json]:
    """The certificate of a run whose suite asks all transitions of an instance; nothing for
    another suite. What is left of the transitions was left out by an option."""
    exhausted = about.exhausts
    if exhausted is None:
        return {}
    counts = own_object(summary.get(OF_TRANSITIONS, {}))
    executed = own_number(counts.get(OF_EXECUTED, 0))
    apart = Counter(
        {
            name: own_number(n)
            for name, n in counts.items()
            if name not in (OF_EXECUTED, OF_DEVIATING, OF_NEW)
        }
    )
    apart[OF_BEHIND] += exhausted.behind_choice
    apart[str(Kind.UNSUPPORTED)] += exhausted.unsupported
    left = exhausted.transitions - exhausted.refused - executed - apart.total()
    lost: dict[str, Json] = {
        **({"no_question": exhausted.refused} if exhausted.refused else {}),
        **{name: n for name, n in apart.items() if n},
        **({"left_out": left} if left else {}),
    }
    return {
        "certificate": {
            "suite": about.digest,
            "instance": exhausted.json(),
            "transitions": exhausted.transitions,
            "executed": executed,
            "deviating": counts.get(OF_DEVIATING, 0),
            "unexplained": counts.get(OF_NEW, 0),
            "not_executed": lost,
            "complete": executed == exhausted.transitions and bool(summary.get("trusted")),
        }
    }
