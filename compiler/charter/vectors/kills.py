"""Computes the kill matrix: which vectors distinguish a mutant from the charter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from charter.formats.canonical import text
from charter.formats.vector import Answer, AnswerNode, Question
from charter.semantics.builtins import EvaluationError
from charter.vectors.answer import Answers, NoAnswer

Told = Literal["always", "sometimes", "never"]

Outcome = Literal["killed", "killed_in_some_runs", "survives"]


@dataclass(frozen=True, slots=True)
class Kill:
    """A mutant, and the vectors that distinguish it from the charter: in all of its runs
    (`surely`), or only in some (`maybe`)."""

    mutant: str
    surely: tuple[str, ...]
    maybe: tuple[str, ...]

    @property
    def outcome(self) -> Outcome:
        """Whether the mutant is killed: only by a vector that distinguishes all of its runs."""
        if self.surely:
            return "killed"
        return "killed_in_some_runs" if self.maybe else "survives"

    @property
    def first(self) -> str:
        """The first vector that distinguishes it, or ""."""
        return next(iter((*self.surely, *self.maybe)), "")


def count(kills: Iterable[Kill], outcome: Outcome) -> int:
    """How many mutants have this outcome."""
    return sum(kill.outcome == outcome for kill in kills)


def tells(answers: Answers, question: Question, allowed: Answer) -> Told:
    """Whether the runs of a mutant's model for `question` deviate from the allowed answer: all,
    some, or none. If a rule of the mutant has no value, none: a judge sees a model that breaks, as
    an adapter may, and cannot say that it deviates. The same if it lacks an operation, or has one
    with other parameters."""
    try:
        edited = answers.answer(question)
    except (NoAnswer, EvaluationError, ValueError, KeyError):
        return "never"
    return compare(edited, allowed)


def compare(edited: Answer, allowed: Answer) -> Told:
    """Follow the runs of the answer `edited` on the answer `allowed`: pairs of a node and the
    allowed nodes that it can be. Runs that deviate are dropped."""
    pairs: set[tuple[int, frozenset[int]]] = {(-1, frozenset())}
    shown, expected = _AnswerTexts.of(edited), _AnswerTexts.of(allowed)
    left = False
    for number, (mine, theirs) in enumerate(zip(edited.steps, allowed.steps, strict=True)):
        following: set[tuple[int, frozenset[int]]] = set()
        for at, node in enumerate(mine):
            for before, possible in pairs:
                if number and before not in node.origins:
                    continue
                here = frozenset(
                    i
                    for i, other in enumerate(theirs)
                    if (not number or possible & set(other.origins))
                    and shown.by(node) == expected.by(other)
                )
                if here:
                    following.add((at, here))
                else:
                    left = True
        pairs = following
    if not pairs:
        return "always"
    return "sometimes" if left else "never"


@dataclass(frozen=True, slots=True)
class _AnswerTexts:
    """The replies and observations of an answer as texts, so that 1 and true differ."""

    replies: tuple[str, ...]
    observations: tuple[str, ...]

    @staticmethod
    def of(answer: Answer) -> _AnswerTexts:
        return _AnswerTexts(tuple(map(text, answer.replies)), tuple(map(text, answer.observations)))

    def by(self, node: AnswerNode) -> tuple[str, str]:
        """What a node shows; a step without a reply shows the same as one that replies nothing."""
        reply = "null" if node.reply < 0 else self.replies[node.reply]
        return reply, self.observations[node.observation]
