"""The automaton, both ways of following it, and what is not in the protocol."""

import random

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fakes.fake import Fake, KeepsLeader
from tests.support.judging import toy_siblings
from tests.support.toy.vectors import answer, question, random_vectors, vector

from charter.formats.adapter import Result, Results, is_fault
from charter.formats.status import Status
from charter.formats.vector import Why
from charter.formats.verdict import Kind, Severity
from conform.adapters.base import SentQuestion
from conform.adapters.direct import DirectConnection
from conform.judging.automaton import Judge, ways
from conform.judging.read_result import BatchTexts, shows_part
from conform.judging.verdict import assess
from conform.suites.importing import item_of

REGISTER = ("register", {"node": "n1"})


def judge_answer(one, adapter=Fake):
    connection = DirectConnection(adapter)
    item = item_of(one)
    connection.send([SentQuestion(item.id, "n", item.question)], 1)
    return item, connection.receive().results


def verdict(item, results, observes=None):
    batch = BatchTexts.of(results, observes)
    return assess(item, results.results[0], batch, Judge(observes), toy_siblings()).verdict


def without_ways(item):
    return item.__class__(*item_fields(item)[:-1], b"{}")


def item_fields(item):
    return [getattr(item, name) for name in item.__slots__]


@pytest.mark.parametrize("adapter", [Fake, KeepsLeader])
def test_short_way_and_long_way_agree(adapter):
    short = 0
    for one in random_vectors(60, seed=9):
        item, results = judge_answer(one, adapter)
        short += item.ways != b"{}"
        assert verdict(item, results) == verdict(without_ways(item), results)
    assert short > 40


def test_ways_are_all_behaviours_of_an_answer():
    asked = question(REGISTER, ("register", {"node": "n2"}), ("elect", {}))
    found = ways(orjson.loads(item_of(vector(*calls(asked))).answer))
    assert (
        sorted(map(tuple, found.values()))
        == [("", "register/accepted", "register/accepted", "elect/chosen")] * 2
    )


def calls(asked):
    return [(call.operation, dict(call.args)) for call in asked.operations]


def test_ways_when_there_are_many():
    many = [("register", {"node": n}) for n in ("n1", "n2")] + [("elect", {})] * 4
    assert ways(orjson.loads(item_of(vector(*many)).answer)) == {}


def test_branches_that_cannot_be_told_apart_are_not_claimed():
    """Two rejections with the same word and no effect: which branch it was stays open."""
    one = vector(REGISTER)
    made = one.answer.json(one.id)
    twin = {**made["steps"][1][0], "branch": "register/other"}
    made["steps"][1].append(twin)
    item, results = judge_answer(one)
    item = item.__class__(item.id, item.question, orjson.dumps(made), item.why, item.needs, b"{}")
    assert ways(made) == {}
    assert verdict(item, results).branches == ("", "")


@given(st.integers(0, 2**32), st.sampled_from(["reply", "observation", "drop", "swap"]))
def test_any_change_of_what_was_seen_is_noticed(seed, how):
    """What no node allows diverges; nothing raises."""
    rng = random.Random(seed)
    one = rng.choice(VECTORS)
    item, results = judge_answer(one)
    result = results.results[0]
    whole = results.values[result.steps[0][1]]
    values = [*results.values, {**whole, "version": 10_000}]
    steps = [list(step) for step in result.steps]
    at = rng.randrange(1, len(steps))
    if how == "drop":
        steps = steps[:at]
    elif how == "swap":
        steps[at] = [0, 0, 0] if steps[at] != [0, 0, 0] else [len(values) - 1] * 3
    else:
        steps[at][("reply", "observation").index(how)] = len(values) - 1
    edited = Result(result.id, result.nonce, Status.OK, "", steps)
    found = verdict(item, Results(values, [edited]))
    expected = {"drop": {Kind.ADAPTER_ERROR}}.get(how, {Kind.DIVERGES})
    assert found.kind in expected
    if found.kind is Kind.DIVERGES and how != "swap":
        assert found.first.step == at


VECTORS = random_vectors(8, seed=13)


def test_purpose_is_looked_at_on_both_ways():
    one = vector(REGISTER, why=Why(purpose=("elect/chosen",)))
    item, results = judge_answer(one)
    assert verdict(item, results).kind is Kind.INCONCLUSIVE
    assert verdict(without_ways(item), results).kind is Kind.INCONCLUSIVE


def test_partial_observer_diverges_on_what_it_shows():
    one = vector(REGISTER, ("elect", {}), ("expire", {"node": "n1"}))
    item, results = judge_answer(one, KeepsLeader)
    assert verdict(item, results, ("registration", "version")).kind is Kind.CONFORMS
    found = verdict(item, results, ("leader",))
    assert (found.kind, found.first.step) == (Kind.DIVERGES, 3)


def test_image_may_show_less_but_nothing_else():
    assert shows_part({"a": {"x": 1}}, {"a": {"x": 1, "y": 2}, "b": 3})
    assert not shows_part({"a": {"x": 2}}, {"a": {"x": 1, "y": 2}})
    assert not shows_part({"c": 1}, {"a": 1})
    assert not shows_part({"a": [1]}, {"a": [1, 2]})
    assert not shows_part({"a": True}, {"a": 1})


def test_answers_of_the_toy_are_not_trivial():
    made = answer(question(REGISTER, ("register", {"node": "n2"}), ("elect", {})))
    assert len(made.steps[-1]) == 2


@pytest.mark.parametrize("message", ["", "@broker is unknown", "#3 is taken", "~"])
def test_fault_that_comes_with_an_observation_is_a_fault(message):
    item, results = judge_answer(vector(REGISTER))
    result = results.results[0]
    values = [*results.values, {"fault": "Oops", "message": message}]
    steps = [result.steps[0], [len(values) - 1, *result.steps[1][1:]]]
    broken = Result(result.id, result.nonce, Status.OK, "", steps)
    found = verdict(item, Results(values, [broken]))
    assert found.kind is Kind.DIVERGES
    assert [deviation.severity for deviation in found.deviations] == [Severity.FAULT]
    assert found.first.observed["reply"] == values[-1]


def with_image(results, image):
    """Results of one operation with an image after it."""
    result = results.results[0]
    values = [*results.values, image]
    steps = [result.steps[0], [*result.steps[1][:2], len(values) - 1]]
    return Results(values, [Result(result.id, result.nonce, Status.OK, "", steps)])


def test_image_that_failed_diverges_whatever_its_message_begins_with():
    item, results = judge_answer(vector(REGISTER))
    image = {"fault": "Oops", "message": "@broker is unknown"}
    (deviation,) = verdict(item, with_image(results, image)).deviations
    assert (deviation.severity, deviation.observed["image"]) == (Severity.IMAGE, image)


def test_image_with_an_opaque_value_that_is_no_number_is_an_error_of_the_adapter():
    item, results = judge_answer(vector(REGISTER))
    found = verdict(item, with_image(results, {"leader": "@n1"}))
    assert found.kind is Kind.ADAPTER_ERROR
    assert found.detail == "the image of step 1: the opaque value '@n1' is not '@' and a number"


def test_reply_of_the_protocol_with_a_field_named_fault_is_none():
    assert is_fault({"fault": "Oops", "message": "at 0x1"})
    assert is_fault({"fault": "Oops"})
    assert not is_fault({"fault": False})
    assert not is_fault({"fault": "disk", "epoch": "@1"})


@pytest.mark.parametrize("step", [2, None, [], "abc", [0, [], -1], [0, 1]])
def test_step_of_another_shape_is_an_error_of_the_adapter_if_it_hides_variables(step):
    item, results = judge_answer(vector(REGISTER))
    result = results.results[0]
    broken = Result(result.id, result.nonce, Status.OK, "", [result.steps[0], step])
    found = verdict(item, Results(results.values, [broken]), ("leader",))
    assert found.kind is Kind.ADAPTER_ERROR


def test_index_without_a_value_is_told_in_words():
    item, results = judge_answer(vector(REGISTER))
    result = results.results[0]
    steps = [result.steps[0], [99, *result.steps[1][1:]]]
    found = verdict(
        item, Results(results.values, [Result(result.id, result.nonce, Status.OK, "", steps)])
    )
    assert found.kind is Kind.ADAPTER_ERROR
    assert "a step has an index that `values` does not have" in found.detail


@pytest.mark.parametrize(("message", "entries"), [("at 0x1", ("throws",)), ("", ())])
def test_fault_that_comes_with_an_observation_is_looked_up_in_the_overlay(message, entries):
    item, results = judge_answer(vector(REGISTER, ("elect", {}), ("failover", {})))
    result = results.results[0]
    reply = {"fault": "java.lang.IllegalStateException", "message": message}
    values = [*results.values, reply]
    before = result.steps[-2]
    steps = [*result.steps[:-1], [len(values) - 1, *before[1:]]]
    broken = Result(result.id, result.nonce, Status.OK, "", steps)
    (deviation,) = verdict(item, Results(values, [broken])).deviations
    assert (deviation.severity, deviation.entries) == (Severity.FAULT, entries)
