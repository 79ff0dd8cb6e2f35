"""What a vector asks behind a choice of the target, in another state than it means."""

from __future__ import annotations

import orjson
import pytest

from charter.formats.vector import Why
from conform.judging.astray import list_otherwise
from conform.judging.automaton import AnswerJson

ANSWER: AnswerJson = orjson.loads(
    b'{"observations":[{"on":false},{"on":true}],"steps":[[{"observation":0},{"observation":1}]]}'
)


@pytest.mark.parametrize(("shown", "found"), [(b'{"on":true}', ()), (b'{"on":false}', ((1, 1),))])
def test_a_step_counts_only_in_the_state_of_its_node(shown: bytes, found: object) -> None:
    why = orjson.dumps(Why(asks_behind=((1, 1),)).json())
    assert list_otherwise(why, ANSWER, [shown, shown], None) == found


def test_a_target_that_hides_state_is_in_the_node_only_if_it_can_be_in_no_other() -> None:
    why = orjson.dumps(Why(asks_behind=((1, 1),)).json())
    assert list_otherwise(why, ANSWER, [], [(1,)]) == ()
    assert list_otherwise(why, ANSWER, [], [(0, 1)]) == ((1, 1),)


def test_a_title_is_no_step() -> None:
    why = orjson.dumps(Why(title="asks_behind").json())
    assert list_otherwise(why, ANSWER, [], None) == ()
