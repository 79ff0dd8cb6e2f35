"""Each operation must show the conditions of a function that several operations call."""

from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path

import pytest

from charter import api
from charter.project.sources import read_sources
from charter.semantics.machine import Machine
from charter.suites import make
from charter.suites.search import search
from charter.suites.search_results import Found
from charter.suites.smoke import Smoke, smoke
from charter.vectors.answer import Answers
from charter.vectors.kills import tells

LEASE = Path(str(resources.files("conform"))) / "templates" / "charters" / "lease.charter"
CHECK = "l.holder == client and l.token == token"
FORGETS = {
    "the token": "l.holder == client",
    "the holder": "l.token == token",
}


@cache
def small() -> Smoke:
    """The small suite of the template, searched without the solver."""
    subject = make.open_subject(LEASE, read_sources(LEASE), "", "")
    found = search(replace(subject, found=Found()), lambda *_: None, False)
    return smoke(replace(subject, found=found))


@cache
def can_tell(text: str) -> bool:
    """Whether a vector tells an implementation with this text in each of its runs."""
    answers: dict[str, Answers] = {}
    planted = api.load_text(text)
    for entry in small().entries:
        machine = Machine.of(planted, replace(entry.instance, offers=(), only=()))
        known = answers.setdefault(entry.instance.name, Answers(machine, machine.outcomes))
        if tells(known, entry.vector.question, entry.vector.answer) == "always":
            return True
    return False


@pytest.mark.parametrize("check", FORGETS.values(), ids=FORGETS)
@pytest.mark.parametrize("operation", ["renew", "release"])
def test_an_implementation_that_forgets_a_condition_in_one_operation_does_not_conform(
    operation: str, check: str
) -> None:
    text = LEASE.read_text(encoding="utf-8")
    begin = text.index(f"operation {operation}")
    planted = text[:begin] + text[begin:].replace("holds(", "planted(", 1)
    function = text[text.index("fun holds") : text.index("-- A lease after")]
    assert CHECK in function
    planted += function.replace("fun holds", "fun planted").replace(CHECK, check)
    assert can_tell(planted)
    assert not can_tell(text)
