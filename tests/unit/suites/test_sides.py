"""Both sides of `min` and `max`, and all three of an order that is no condition of a guard."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from charter import api
from charter.analysis.coverage import Coverage
from charter.core.obligations import obligations
from charter.diagnostics import Source
from charter.prove import SingleStep, StepQuestion, single_step
from charter.semantics.machine import Machine
from charter.suites.search import search
from charter.suites.smoke import Smoke, smoke
from charter.suites.subject import subject
from charter.vectors.answer import Answers
from charter.vectors.kills import tells

LOG = """protocol log
component c {
  state end: int 0..3 = 2
  state committed: int 0..3 = 1
  operation learn(leader: int 0..3) -> bool {
    branch old when is_old: leader < committed  reply false
    branch learned {
      let after = if leader < committed then committed else min(leader, end)
      committed' = max(after, committed)
      reply leader <= end
    }
  }
  operation grow() -> bool {
    branch full when end > 2  reply false
    branch longer { end' = end + 1  reply true }
  }
  observe all { end committed }
}
witness w of c: took learn/learned
instance tiny of c {}
"""
PLAIN = """protocol log
component c {
  state end: int 0..3 = 2
  state committed: int 0..3 = 1
  operation learn(leader: int 0..3) -> bool {
    branch learned { committed' = min(leader, end)  reply end <= leader }
  }
  observe all { end committed }
}
witness w of c: took learn/learned
instance tiny of c {}
"""
MISTAKES = {
    "only the leader counts": ("min(leader, end)", "leader"),
    "a place behind the end is refused": ("end <= leader", "end == leader"),
}


@cache
def small() -> Smoke:
    """The small suite, searched without the solver."""
    about = subject((Source("log.charter", PLAIN),), "")
    return smoke(replace(about, found=search(about, lambda *_: None, False)))


def list_rows(phrase: str) -> list[str]:
    model = api.load_text(LOG)
    names = (o.name for o in obligations(model, model.components[0]) if o.kind == "boundary")
    return [name.rpartition(" ")[2] for name in names if f" {phrase} " in name]


@pytest.mark.parametrize(
    ("phrase", "wanted"),
    [
        ("min(leader, end)", ["less", "greater"]),
        ("max(after, committed)", ["less", "greater"]),
        ("leader <= end", ["less", "equal", "above"]),
        ("learn/learned leader < committed", ["below", "equal", "greater"]),
        ("learn/old leader < committed", ["below", "equal"]),
        ("end > 2", ["equal", "above"]),
    ],
)
def test_each_side_is_asked_for_where_no_guard_asks_for_it(phrase: str, wanted: list[str]) -> None:
    assert list_rows(phrase) == wanted


def test_a_step_meets_the_side_on_which_its_values_are() -> None:
    model = api.load_text(LOG)
    there = Machine.of(model, model.instances[0])
    coverage = Coverage.of(there, obligations(model, model.components[0]))
    state = {"end": 3, "committed": 0}
    (outcome,) = there.outcomes(state, "learn", (1,))
    met = coverage.list_met(state, "learn", (1,), outcome)
    assert {name for name in met if name.endswith((" less", " greater"))} == {
        "boundary learn/learned leader < committed greater",
        "boundary learn/learned min(leader, end) less",
        "boundary learn/learned max(after, committed) greater",
        "boundary learn/learned leader <= end less",
    }


def test_the_solver_finds_the_same_sides() -> None:
    """Every step is replayed on the definition."""
    model = api.load_text(LOG)
    rows = obligations(model, model.components[0])
    wanted = tuple(o for o in rows if o.want in ("less", "greater"))
    found = single_step(Machine.of(model, model.instances[0]), StepQuestion(wanted, ()))
    assert {a.obligation for a in found if not isinstance(a, SingleStep)} == set()
    assert len(wanted) == 6


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_the_small_suite_tells_a_mistake_about_a_side(mistake: tuple[str, str]) -> None:
    assert mistake[0] in PLAIN
    planted = api.load_text(PLAIN.replace(*mistake))
    answers = Answers(machine := Machine.of(planted, planted.instances[0]), machine.outcomes)
    vectors = [entry.vector for entry in small().entries]
    assert any(tells(answers, v.question, v.answer) == "always" for v in vectors)
