"""The state of a search for questions: what is left, and what was kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.formats.vector import Vector, Why
from charter.semantics.builtins import EvaluationError
from charter.suites.found import FoundQuestion
from charter.suites.smoke import Desk
from charter.suites.subject import Subject
from charter.vectors.answer import NoAnswer


@dataclass(slots=True)
class QuestionSearch:
    """The state of a search for questions: obligations that are left, and the questions kept.
    `notes` has, for each obligation that is not met, the results of the parts of the search."""

    about: Subject
    desk: Desk
    left: set[str]
    asked: list[FoundQuestion] = field(default_factory=list)
    notes: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def note(self, obligation: str, outcome: str, instance: n.Instance | None = None) -> None:
        """Record the result of a part of the search for an obligation, and its instance."""
        places = self.notes.setdefault(obligation, {}).setdefault(outcome, [])
        if instance is not None:
            places.append(instance.name)

    def opened(self) -> dict[str, str]:
        """For each obligation that is left, how far the search went and why no further."""
        return {
            row: "; ".join(
                f"{outcome} ({', '.join(places)})" if places else outcome
                for outcome, places in self.notes.get(row, {}).items()
            )
            for row in self.left
        }

    def keep(self, vector: Vector | None, instance: n.Instance, why: Why) -> bool:
        """Keep a vector if it meets an obligation that nothing met so far."""
        if vector is None:
            return False
        try:
            entry = self.desk.entry(vector.question, instance, why)
        except (NoAnswer, EvaluationError, ValueError):
            return False
        new = entry.meets & self.left
        if not new and why.source != "witness" and not why.title.startswith("mutant "):
            return False
        self.left -= new
        first = next((o.name for o in self.desk.wanted if o.name in new), "")
        title = why.title or first
        self.asked.append(
            FoundQuestion(vector.question, instance.name, why.source, title, why.purpose)
        )
        return True
