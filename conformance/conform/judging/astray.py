"""Finds the operations of a diverging vector that the target performed in another state than the
vector means."""

from __future__ import annotations

from collections.abc import Sequence

from conform.judging.automaton import AnswerJson
from conform.judging.relabel import key


def list_astray(answer: AnswerJson, states: Sequence[bytes], stop: int) -> tuple[int, ...]:
    """The steps behind step `stop`, at which a run left its answer, before which the target did not
    show a state that the answer has there. `states` are the renamed observations."""
    found: list[int] = []
    for step in range(stop + 1, len(answer["steps"])):
        nodes = answer["steps"][step - 1]
        expected = {key(answer["observations"][node["observation"]]) for node in nodes}
        if step > len(states) or states[step - 1] not in expected:
            found.append(step)
    return tuple(found)
