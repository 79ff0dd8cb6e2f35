"""Changed expectations: a target that follows the charter diverges from them, at the last step."""

import pytest
from tests.support.toy.vectors import question

from charter.formats.adapter import Result, Results
from charter.formats.status import Status
from charter.formats.vector import Answer, AnswerNode, Vector, Why
from charter.formats.verdict import Kind
from conform.judging.automaton import Judge
from conform.judging.read_result import BatchTexts
from conform.judging.verdict import assess
from conform.runs.canaries.canaries import flip
from conform.suites.importing import item_of

PAIRS = [(False, True), (0, 1), ([], [0]), ({"of": 0}, {"of": 1}), ("a", "changed by the canary")]


@pytest.mark.parametrize("values", PAIRS)
@pytest.mark.parametrize("shown", [0, 1])
@pytest.mark.parametrize("observes", [None, ("x",), ()])
def test_a_changed_expectation_is_none_of_the_allowed_outcomes(values, shown, observes):
    """The last step allows two values of `x`, and a correct target shows either."""
    observations = tuple({"x": value} for value in values)
    first = AnswerNode((), "", -1, 0)
    last = tuple(AnswerNode((0,), f"elect/{number}", 0, number) for number in (0, 1))
    answer = Answer(observations, (None,), ((first,), last))
    item = item_of(Vector(question(("elect", {})), answer, Why()))
    result = Result(item.id, "n", Status.OK, "", [[-1, 0, -1], [2, shown, -1]])
    batch = BatchTexts.of(Results([*observations, None], [result]), observes)
    judge = Judge(observes)
    assert assess(item, result, batch, judge, None).verdict.kind is Kind.CONFORMS
    verdict = assess(flip(item, observes), result, batch, judge, None).verdict
    assert verdict.kind is Kind.DIVERGES
    assert verdict.first is not None and verdict.first.step == 1
