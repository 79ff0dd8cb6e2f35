"""Checks of an adapter's end: by itself, after `bye` and when stdin ends."""

import sys

import pytest
from tests.support.judging import fake_start

from conform.adapters.base import AdapterStart, Deadlines
from conform.adapters.doctor import ends

BYE = b'{"bye":true}\n'


@pytest.mark.parametrize("last", [BYE, b""])
def test_an_adapter_that_ends_is_fine(last):
    assert ends(fake_start("faithful"), "ends", last).ok


@pytest.mark.parametrize("said", ["", "{"])
@pytest.mark.parametrize("last", [BYE, b""])
def test_an_adapter_that_does_not_greet_is_not_waited_for(said, last):
    script = f"import time; print({said!r}, end='', flush=True); time.sleep(60)"
    start = AdapterStart((sys.executable, "-c", script), deadlines=Deadlines(hello=0.5))
    check = ends(start, "ends", last)
    assert not check.ok
    assert check.detail == "it does not answer hello within 0.5 s"


def test_an_adapter_that_ends_without_a_greeting_is_at_fault():
    start = AdapterStart((sys.executable, "-c", "input()"), deadlines=Deadlines(hello=20.0))
    check = ends(start, "ends", BYE)
    assert (check.ok, check.detail) == (False, "it ends before it answers hello")
