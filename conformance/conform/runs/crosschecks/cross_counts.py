"""Counts what a run tried of the cross-checks of its target, and what that showed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from charter.formats.canonical import Json
from charter.formats.reading import mapping, own_number
from charter.formats.verdict import JUDGED, Kind
from conform.storage.tables import WALKS, DatasetRows


class CrossNumber(StrEnum):
    """What is counted of each check: places that were tried; questions for which it holds, for
    which it fails, and how many of these overlay entries explain; those with a difference that is
    left open, which hold; those that were not judged; places for which the charter expects
    something else, for which it has no answer, and whose question another place has, too."""

    TRIED = "tried"
    HOLDS = "holds"
    FAILS = "fails"
    EXPLAINED = "explained"
    OPEN = "open"
    OTHERWISE = "expected_otherwise"
    WITHOUT_ANSWER = "without_answer"
    SAME_QUESTION = "same_question"
    NOT_JUDGED = "not_judged"


@dataclass(slots=True)
class CrossCounts:
    """The numbers of each check, the verdicts of the questions by the charter, and their rows."""

    checks: dict[str, Counter[str]] = field(default_factory=dict)
    verdicts: Counter[str] = field(default_factory=Counter)
    rows: DatasetRows = field(default_factory=lambda: DatasetRows(WALKS))

    def count(self, check: str, name: CrossNumber, more: int = 1) -> None:
        """Count more of something."""
        self.checks.setdefault(check, Counter())[name] += more

    def join(self, value: Json) -> None:
        """Add what the commit file of a bucket says."""
        held = mapping(value)
        counted = mapping(held.get("verdicts"))
        self.verdicts.update({kind: own_number(count) for kind, count in counted.items()})
        for check, numbers in mapping(held.get("checks")).items():
            found = {name: own_number(count) for name, count in mapping(numbers).items()}
            self.checks.setdefault(check, Counter()).update(found)

    def tell_unjudged(self) -> str:
        """That questions were not judged, by kind; "" if all were. What a target does not support
        is named by the vectors of the suite, which the questions are made from."""
        lost = {
            kind: n for kind, n in sorted(self.verdicts.items()) if n and kind not in _NO_TROUBLE
        }
        listed = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in lost.items())
        return f"of the cross-checks some were not judged: {listed}" if lost else ""

    def json(self, possible: Mapping[str, int] | None = None) -> dict[str, Json]:
        """As a commit file has it; with the places that are `possible` as summary.json does."""
        checks: dict[str, Json] = {}
        for check in sorted({*self.checks, *(possible or {})}):
            numbers = self.checks.get(check, Counter())
            every: dict[str, Json] = {str(name): numbers[name] for name in CrossNumber}
            more: dict[str, Json] = {"possible": possible.get(check, 0)} if possible else {}
            checks[check] = {**more, **every}
        return {"checks": checks, "verdicts": dict(sorted(self.verdicts.items()))}


def read_possible(summary: Mapping[str, Json]) -> dict[str, int]:
    """How many places each check could try, from summary.json; nothing of a run without checks."""
    checks = mapping(mapping(summary.get("crosschecks")).get("checks"))
    return {check: own_number(mapping(one).get("possible", 0)) for check, one in checks.items()}


_NO_TROUBLE = frozenset({*map(str, JUDGED), str(Kind.UNRESOLVED), str(Kind.UNSUPPORTED)})
"""Verdicts of which nothing is said: a target that deviates may lack what a reference needs."""
