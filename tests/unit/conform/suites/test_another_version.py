"""A suite of another version of the charter than the generated models: its own answers are judged,
and nothing is said behind a deviation, where only the model could tell what is allowed."""

from functools import cache

import pytest
from tests.support.fakes.planted import KeepsSessions, implementation
from tests.support.judging import QUICK
from tests.support.toy import charter
from tests.support.toy.vectors import random_vectors

from conform.adapters.direct import DirectConnection
from conform.adapters.session import Session
from conform.judging.siblings import Siblings
from conform.suites.importing import item_of


@cache
def long_ones():
    return [item_of(made) for made in random_vectors(100, seed=5, length=9)]


def verdicts(same):
    siblings = Siblings(charter, same_state=same, same_operations=same)
    connection = DirectConnection(lambda: implementation(KeepsSessions))
    asked = Session(connection, siblings, QUICK, "test", charter.OBSERVES)
    return [one.verdict for judged in asked.run(long_ones()) for one in judged.assessments]


def test_nothing_is_said_behind_a_deviation_when_the_models_are_of_another_version():
    known, other = verdicts(True), verdicts(False)
    assert [one.kind for one in known] == [one.kind for one in other]
    assert [one.deviations[:1] for one in known] == [one.deviations[:1] for one in other]
    assert max(len(one.deviations) for one in known) > 1
    assert max(len(one.deviations) for one in other) == 1
    behind = [one for one in other if one.not_judged]
    assert behind and all("conform generate" in one.detail for one in behind)


@pytest.mark.parametrize("same", [True, False])
def test_vectors_that_conform_are_judged_to_their_end(same):
    assert all(not one.not_judged for one in verdicts(same) if not one.deviations)
