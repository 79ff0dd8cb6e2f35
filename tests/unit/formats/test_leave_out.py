"""Operations that are left out of a question."""

import pytest

from charter.formats.resolve import leave_out


def refer(step, **more):
    return {"n": [{"ref": [step, "last"], **more}]}


@pytest.mark.parametrize(
    ("step", "start", "size", "moved"),
    [(0, 0, 1, 0), (1, 1, 1, 1), (2, 1, 1, 1), (3, 1, 1, 2), (3, 0, 2, 1), (2, 0, 2, 0)],
)
def test_reference_to_an_observation_keeps_its_meaning_or_takes_the_one_before(
    step, start, size, moved
):
    arguments = [{}, {}, {}, refer(step)]
    left = leave_out(arguments, start, size)
    assert left[-1] == refer(moved)
    assert len(left) == len(arguments) - size


def test_what_refers_to_a_reply_that_is_left_out_is_refused():
    arguments = [{}, {}, refer(2, **{"in": "reply"})]
    assert leave_out(arguments, 1, 1) is None
    assert leave_out(arguments, 0, 2) is None
    assert leave_out(arguments, 0, 1)[-1] == refer(1, **{"in": "reply"})
    assert leave_out(arguments, 2, 1) == [{}, {}]
