"""Decides whether a model also fails in states that it computed itself: then it has a bug.

After a deviation a state has values that the target showed. Where a suite has no types, they may be
of any type, and no rule needs to have a value for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from charter.formats.canonical import Json
from charter.formats.resolve import History, Unresolved, resolve
from conform.judging.model import JudgeModel, World, can_fail, fails
from conform.judging.never_issued import NeverIssued


class ModelCall(NamedTuple):
    """An operation that a model is asked for; `asked` are the arguments of the question, with
    references, `args` those without."""

    operation: str
    asked: Json
    args: dict[str, Json]


@dataclass(frozen=True, slots=True)
class ComputedStates:
    """The states of the charter's model, and what the target had shown, when it had not deviated
    yet."""

    charter: JudgeModel
    world: World
    states: tuple[object, ...]
    history: History

    def fail(self, model: JudgeModel, call: ModelCall) -> bool:
        """Whether the rule of an operation fails in one of these states. False if its arguments
        refer to what was shown later."""
        try:
            args = resolve(call.asked, self.history, NeverIssued(self.charter, call.operation))
            assert isinstance(args, dict)
            for state in self._of(model):
                for outcome in model.outcomes(state, call.operation, args):
                    model.observe(outcome.state)
                if can_fail(model):
                    fails(model, state, call.operation, args)
        except Unresolved:
            return False
        except Exception:  # a bug of a model can be any exception
            return True
        return False

    def are_encoded(self, model: JudgeModel) -> bool:
        """Whether a model writes these states as JSON."""
        try:
            for state in self._of(model):
                model.encode(state)
        except Exception:  # a bug of a model can be any exception
            return False
        return True

    def _of(self, model: JudgeModel) -> list[object]:
        """The states as those of a model."""
        return [model.decode(self.charter.encode(state), *self.world) for state in self.states]


def explain_failure(what: str, error: Exception) -> str:
    """Why a state after a deviation is not followed."""
    told = f"{type(error).__name__}: {error}"
    return f"the model cannot {what} a state that follows a deviation ({told})"
