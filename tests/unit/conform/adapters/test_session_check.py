"""What `conform doctor` finds of sessions."""

import sys
from dataclasses import replace

import pytest
from tests.support.judging import QUICK, fake_start
from tests.support.toy.vectors import random_vectors

from conform.adapters.doctor import Probes, check_adapter
from conform.adapters.leftover_state import sample_of
from conform.suites.importing import item_of

RULE = "answers in sessions as it answers questions"


def command(mode):
    return (sys.executable, "-m", "tests.support.fakes.in_sessions", mode)


def check(mode):
    """The check of sessions for an adapter that is wrong in them, with questions of a suite."""
    items = [item_of(made) for made in random_vectors(40, seed=7, length=5)]
    start = replace(fake_start(""), command=command(mode), deadlines=QUICK)
    probes = Probes({"sorts": {"Node": {"n1": 0}}}, sample=sample_of(items))
    (found,) = [one for one in check_adapter(start, probes) if one.rule == RULE]
    return found


def test_an_adapter_with_sessions_is_fine():
    found = check("honest")
    assert (found.ok, found.detail) == (True, "4 sessions at once")


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("one_server", "in a session while others are open, and "),
        ("forgets", " in a session, and "),
        ("refuses", "the adapter breaks in a session (crashed): it ended with 1"),
    ],
)
def test_an_adapter_that_is_wrong_in_sessions_is_found(mode, sentence):
    found = check(mode)
    assert not found.ok and sentence in found.detail, found


def test_operations_are_tried_in_sessions_without_a_suite():
    probes = Probes({"sorts": {"Node": {"n1": 0}}}, {"register": {"node": "n1"}})
    found = {one.rule: one for one in check_adapter(fake_start("faithful"), probes)}
    assert (found[RULE].ok, found[RULE].detail) == (True, "4 sessions at once")


def test_an_adapter_that_claims_no_sessions_is_not_tried():
    probes = Probes({"sorts": {"Node": {"n1": 0}}})
    start = replace(fake_start(""), command=command("none"))
    assert RULE not in [one.rule for one in check_adapter(start, probes)]
