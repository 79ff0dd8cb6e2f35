"""Whether an edited model is told from the charter, on automata written by hand."""

from __future__ import annotations

from charter.formats.vector import Answer, AnswerNode
from charter.vectors.kills import compare

FIRST = (AnswerNode((), "", -1, 0),)


def automaton(*observations: int) -> Answer:
    """One step with these outcomes; observation 0 comes before it."""
    step = tuple(AnswerNode((0,), "press/on", 0, seen) for seen in observations)
    return Answer((0, 1, 2, 3), ("done",), (FIRST, step))


def test_nothing_is_told_when_the_mutant_does_what_is_allowed() -> None:
    assert compare(automaton(1), automaton(1, 2)) == "never"


def test_a_mutant_is_told_in_some_runs_when_only_some_leave_the_charter() -> None:
    assert compare(automaton(1, 3), automaton(1, 2)) == "sometimes"


def test_a_mutant_is_always_told_when_no_run_is_allowed() -> None:
    assert compare(automaton(3), automaton(1, 2)) == "always"


def test_runs_are_followed_when_equal_looks_part_later() -> None:
    def two_steps(last: tuple[tuple[int, int], ...]) -> Answer:
        step = (AnswerNode((0,), "a/left", 0, 1), AnswerNode((0,), "a/right", 0, 2))
        end = tuple(AnswerNode((origin,), "b/end", 0, seen) for origin, seen in last)
        return Answer((0, 1, 2, 3), ("done",), (FIRST, step, end))

    allowed = two_steps(((0, 1), (1, 2)))
    assert compare(two_steps(((0, 1), (1, 2))), allowed) == "never"
    assert compare(two_steps(((0, 2), (1, 1))), allowed) == "always"
