"""Finds the operations of a vector that the target performed in another state than the vector
means."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from conform.judging.automaton import AnswerJson
from conform.judging.relabel import key

OF_BEHIND = b'"asks_behind"'
"""What the reasons of a vector have if it asks something behind a choice of the target. A scenario
of this name has it, too."""


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


def list_otherwise(
    why: bytes,
    answer: AnswerJson,
    states: Sequence[bytes],
    fronts: Sequence[tuple[int, ...]] | None,
) -> tuple[tuple[int, int], ...]:
    """What a vector asks behind a choice, as steps and nodes, where the target did not show the
    state of the node. `states` are the renamed observations; of a target that hides variables the
    nodes count in which the run may have been (`fronts`)."""
    found: list[tuple[int, int]] = []
    for step, node in orjson.loads(why).get("asks_behind", ()) if OF_BEHIND in why else ():
        if fronts is not None:
            there = step <= len(fronts) and fronts[step - 1] == (node,)
        else:
            meant = answer["observations"][answer["steps"][step - 1][node]["observation"]]
            there = step <= len(states) and states[step - 1] == key(meant)
        if not there:
            found.append((step, node))
    return tuple(found)
