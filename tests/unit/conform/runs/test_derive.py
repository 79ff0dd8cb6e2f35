"""Answers of a suite are derived again from the model: a forged one is noticed."""

import orjson
import pytest
from tests.support.edited_model import EditedModel, raises
from tests.support.toy import charter, has_a_bug, keeps_leader, no_epoch_check
from tests.support.toy.vectors import killers, random_vectors, vector

from charter.formats.opaque import OpaqueTypes
from conform.adapters.base import AdapterStart
from conform.console.errors import ModelBug
from conform.judging.derive import difference
from conform.runs.canaries.canaries import DRAWN, derive_again, draw
from conform.runs.run_context import RunContext
from conform.suites.importing import item_of

CHARTER = "tests.support.toy.charter"


def test_answers_of_the_model_are_its_own():
    items = [item_of(made) for made in random_vectors(60, seed=3)]
    assert [difference(item, charter, OpaqueTypes()) for item in items] == [""] * 60


def test_answers_of_another_model_differ():
    told = [
        difference(item_of(made), keeps_leader, OpaqueTypes())
        for made in random_vectors(60, seed=3)
    ]
    assert any("expire/expired" in sentence for sentence in told)
    (killer,) = killers(no_epoch_check)
    told = "step 4: the suite allows write/committed, and the model allows write/stale_epoch"
    assert difference(item_of(killer), charter, OpaqueTypes()) == told


def change_answer(change):
    """The item of a vector whose answer somebody changed."""
    from dataclasses import replace

    item = item_of(vector(("register", {"node": "n1"}), ("elect", {}), ("failover", {})))
    answer = orjson.loads(item.answer)
    change(answer)
    return replace(item, answer=orjson.dumps(answer))


def allow_all(answer):
    """Another allowed outcome in the last step."""
    node = dict(answer["steps"][-1][0], observation=0)
    answer["steps"][-1].append(node)


def allow_less(answer):
    answer["steps"][-1].clear()


def begin_otherwise(answer):
    answer["steps"][0][0]["observation"] = 1


def rename(answer):
    answer["steps"][-1][0]["branch"] = "failover/other"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (allow_all, "step 3: the suite allows failover/done"),
        (allow_less, "step 3: the model allows failover/done"),
        (begin_otherwise, "step 0: the model begins otherwise"),
        (rename, "step 3: the suite allows failover/other, and the model allows failover/done"),
    ],
)
def test_answer_that_was_changed_differs(change, sentence):
    assert difference(change_answer(change), charter, OpaqueTypes()) == sentence


EXPIRES = vector(("register", {"node": "n1"}), ("expire", {"node": "n1"}))


def test_model_that_fails_has_a_bug():
    """The digests of the suite cover question and answer, and the question alone decides."""
    with pytest.raises(ModelBug, match=f"at expire, in vector {EXPIRES.id} .KeyError") as raised:
        difference(item_of(EXPIRES), has_a_bug, OpaqueTypes())
    assert raised.value.exit_code == 5


@pytest.mark.parametrize(
    "error", [KeyError("x"), TypeError("no"), AssertionError(), RuntimeError()]
)
@pytest.mark.parametrize("name", ["initial", "observe", "outcomes"])
def test_each_function_of_the_model_can_have_the_bug(name, error):
    model = EditedModel(__name__="models.lease", **{name: raises(error)})
    with pytest.raises(ModelBug, match=r"the generated model models\.lease fails"):
        difference(item_of(EXPIRES), model, OpaqueTypes())


def test_answer_that_cannot_be_read_is_no_bug_of_the_model():
    def lose(answer):
        del answer["steps"][-1][0]["from"]

    told = "the answer cannot be read (KeyError: 'from'): the suite was changed"
    assert difference(change_answer(lose), charter, OpaqueTypes()) == told


def context(reference=True):
    return RunContext("run", "", AdapterStart(()), model=CHARTER, reference=reference)


def test_forged_answer_makes_the_canary_misbehave():
    items = [item_of(made) for made in random_vectors(5)]
    (fine,) = derive_again(context(), items, "bucket 0")
    assert (fine.kind, fine.ok) == ("derived", True)
    (forged,) = derive_again(context(), [*items, change_answer(allow_all)], "bucket 0")
    assert (forged.ok, forged.got) == (False, "1 of 6 other answers")
    assert forged.detail == "step 3: the suite allows failover/done"
    assert derive_again(context(reference=False), [change_answer(allow_all)], "bucket 0") == []


def test_sample_is_drawn_from_all_vectors():
    drawn = []
    for number in range(1, 10 * DRAWN + 1):
        draw(drawn, number, number)
    assert len(set(drawn)) == DRAWN
    assert max(drawn) > DRAWN
