"""Runs of TLC in one process give the results of runs alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.agreement.test_systems import CHARTER as OFFICE
from tests.agreement.test_systems import without
from tests.support.tla import tlc
from tests.support.tla.tlc_server import TlcServer

from charter import api
from charter.core import nodes as n

WHOLE = api.load_text(OFFICE)
PART = without(WHOLE, "tired")
STUCK = tlc.Said(59, 45, 5, "Deadlock reached.", 3)
FINE = tlc.Said(18, 11, 5, "", 0)
"""What a process of its own gives."""


def run_tlc(model: n.Model, name: str, jar: Path, folder: Path, *asked_for: str) -> tlc.Said:
    folder.mkdir()
    instance = next(i for i in model.instances if i.name == name)
    return tlc.check(jar, model, instance, folder, asked_for)


def test_a_run_gives_the_same_after_others(jar: Path, tmp_path: Path) -> None:
    found = [
        run_tlc(WHOLE, "tiny", jar, tmp_path / "first", "deadlock"),
        run_tlc(PART, "narrow", jar, tmp_path / "second"),
        run_tlc(WHOLE, "tiny", jar, tmp_path / "third", "deadlock"),
    ]
    assert found == [STUCK, FINE, STUCK]


def test_the_next_run_works_when_a_run_ends_the_process(jar: Path, tmp_path: Path) -> None:
    missing = "when trying to read the configuration file none.cfg"
    server = TlcServer(jar)
    server.process().kill()
    with pytest.raises(AssertionError, match="TLC ended with -9"):
        server.run(tmp_path, ["none.tla"])
    text = server.run(tmp_path, ["-metadir", str(tmp_path / "states"), "none.tla"])
    assert missing in text
    with pytest.raises(AssertionError, match=missing):
        tlc.read(text)
    assert server.end() == 0
