"""Decides for many questions in one instance whether they distinguish a mutant from the charter:
most perform nothing that the mutant changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from charter.core.affected import ComponentChange
from charter.core.nodes import Value
from charter.formats.vector import Answer, Question
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.vectors.answer import Answers
from charter.vectors.kills import Told, tells


@dataclass(frozen=True, slots=True, eq=False)
class Performed:
    """An operation that some trace of an answer performs: the state before it, its arguments, and
    the outcomes that the charter allows. Compared by identity."""

    state: State
    operation: str
    args: tuple[Value, ...]
    outcomes: tuple[Outcome, ...]


@dataclass(slots=True)
class MutantInstance:
    """A mutant in one instance. `change` is what it changes of the component; `same` remembers
    whether it allows the outcomes of the charter."""

    answers: Answers
    change: ComponentChange
    same: dict[Performed, bool] = field(default_factory=dict)

    def tells(self, question: Question, allowed: Answer, performed: Iterable[Performed]) -> Told:
        """As the function `tells`. `performed` is all that is performed to find `allowed`: if the
        mutant begins in the same state, and has the same outcomes each time, it has the same
        answer, which need not be found."""
        begins_alike = question.given is None or "failover" not in self.change.operations
        try:
            if not self.change.rest and begins_alike and all(map(self._is_same, performed)):
                return "never"
        except EvaluationError:
            pass  # an earlier step may tell them apart
        return tells(self.answers, question, allowed)

    def _is_same(self, one: Performed) -> bool:
        if one.operation not in self.change.operations:
            return True
        if one not in self.same:
            found = self.answers.outcomes(one.state, one.operation, one.args)
            self.same[one] = found == one.outcomes
        return self.same[one]
