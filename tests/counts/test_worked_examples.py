"""The scenarios of the system say what is expected: every named step has an expectation, and in the
worked examples of the texts the log of each replica is compared after each step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pytest
from tests.support import spec

from charter import api
from charter.core import nodes as n
from charter.core.types import Sort
from charter.core.walk import nodes

pytestmark = pytest.mark.xdist_group("kafka is checked")

WORKED = re.compile(r"S[0-4]\b|MODEL |The logs of case |R-E")
"""How the titles of worked examples begin."""
LOGS = "replica.log"
Line = n.Do | n.Expect | n.Bind


@dataclass(frozen=True, slots=True)
class Step:
    """A named step of a scenario with its lines; those of the fragments that it includes, too."""

    scenario: n.Scenario
    title: str
    lines: tuple[Line, ...]

    def __str__(self) -> str:
        return f"{self.scenario.title}: {self.title}"


def stories(model: n.Model) -> list[n.Scenario]:
    """The scenarios of the system."""
    return [one for one in model.scenarios if one.instance.machine == "cluster"]


@pytest.fixture(scope="module", params=[False, pytest.param(True, marks=pytest.mark.slow)])
def scenarios(request: pytest.FixtureRequest) -> tuple[n.Scenario, ...]:
    """Those of the charter; in the slow tests also those that its variants add."""
    model = spec.model("kafka")
    known = {one.title: one for one in stories(model)}
    for variant in model.variants if request.param else ():
        edited = api.load(spec.SPEC / "kafka", api.Selection(variant=variant))
        known |= {one.title: one for one in stories(edited) if one.title not in known}
    return (*known.values(),)


def steps(scenario: n.Scenario) -> Iterator[Step]:
    """The named steps of a scenario; what comes before the first is preparation."""
    places = [i for i, line in enumerate(scenario.steps) if isinstance(line, n.Moment)]
    for start, end in pairwise([*places, len(scenario.steps)]):
        title, *lines = scenario.steps[start:end]
        assert isinstance(title, n.Moment)
        yield Step(scenario, title.title, tuple(x for x in lines if not isinstance(x, n.Moment)))


def tells_something(step: Step) -> bool:
    """An expectation, or that something is not possible."""
    return any(isinstance(x, n.Expect) or (isinstance(x, n.Do) and x.never) for x in step.lines)


def afterwards(step: Step) -> list[n.Expr]:
    """What is expected when all of a step is done."""
    done = [i for i, x in enumerate(step.lines) if isinstance(x, n.Do) and not x.never]
    last = step.lines[done[-1] + 1 :] if done else step.lines
    return [x.condition for x in last if isinstance(x, n.Expect) and not x.never]


def reads_logs(expr: n.Expr) -> bool:
    return isinstance(expr, n.StateRef) and expr.name == LOGS


def logs_told(condition: n.Expr, brokers: set[object]) -> set[object]:
    """The brokers of whose logs a condition says something: `replica[r1].log`, or all logs as an
    argument, with a broker or without one (then of all brokers)."""
    told: set[object] = set()
    for part in nodes(condition):
        if isinstance(part, n.MapGet) and reads_logs(part.target):
            told |= {part.key.value} if isinstance(part.key, n.Literal) else brokers
        elif isinstance(part, n.Call) and any(reads_logs(arg) for arg in part.args):
            named = {
                arg.value
                for arg in part.args
                if isinstance(arg, n.Literal) and isinstance(arg.type, Sort)
            }
            told |= named or brokers
    return told


def find_untold(step: Step) -> set[object]:
    """The brokers of whose logs nothing is expected after a step."""
    sorts = dict(step.scenario.instance.sorts)
    brokers: set[object] = {*range(len(sorts["Broker"]))}
    return brokers.difference(*(logs_told(one, brokers) for one in afterwards(step)))


def test_each_step_of_a_scenario_of_the_system_has_an_expectation(
    scenarios: tuple[n.Scenario, ...],
) -> None:
    told_nothing = [
        str(step) for scenario in scenarios for step in steps(scenario) if not tells_something(step)
    ]
    assert not told_nothing


def test_each_step_of_a_worked_example_tells_what_each_replica_holds(
    scenarios: tuple[n.Scenario, ...],
) -> None:
    worked = [one for one in scenarios if WORKED.match(one.title)]
    assert len(worked) > 50
    lacking = {
        str(step): sorted(
            f"r{broker + 1}" for broker in find_untold(step) if isinstance(broker, int)
        )
        for scenario in worked
        for step in steps(scenario)
        if find_untold(step)
    }
    assert not lacking
