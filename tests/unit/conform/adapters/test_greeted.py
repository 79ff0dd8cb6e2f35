"""The adapter that says hello is the one that is asked, and ends once."""

import os

from tests.support.judging import fake_start

from conform.adapters.stdio import StdioConnection
from conform.runs.engines.bucket import Pool
from conform.runs.run_context import RunContext


def context():
    return RunContext("run", "", fake_start("faithful"))


def test_a_pool_takes_over_the_adapter_that_was_greeted():
    greeted = StdioConnection(fake_start("faithful"))
    pool = Pool(greeted=greeted)
    try:
        assert pool.session(context())[0].connection is greeted
    finally:
        pool.close()
    assert not greeted.alive


def test_an_adapter_that_ended_since_its_hello_is_closed_and_another_started():
    greeted = StdioConnection(fake_start("faithful"))
    greeted._child.process.kill()
    greeted._child.process.wait()
    pool = Pool(greeted=greeted)
    try:
        session, _ = pool.session(context())
        assert session.connection is not greeted and session.connection.alive
        assert greeted._child.ended
    finally:
        pool.close()


def test_a_connection_that_is_closed_twice_ends_its_processes_once(monkeypatch):
    connection = StdioConnection(fake_start("faithful"))
    connection.close()
    killed = []
    monkeypatch.setattr(os, "killpg", lambda *_: killed.append(1))
    connection.close()
    assert killed == []
