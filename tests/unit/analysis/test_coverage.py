"""The obligations that a transition meets, in several instances of one model."""

from __future__ import annotations

from charter import api
from charter.analysis.coverage import Coverage
from charter.core.obligations import obligations
from charter.semantics.machine import Machine

STEPS = """protocol test.steps
const most: int 0..3
component stairs {
  state at: int 0..3 = 0
  operation climb(by: int 0..3) -> bool {
    branch stays when high: at + by > most { reply false }
    branch climbs { at' = at + by  reply true }
  }
  observe all { at }
}
witness top of stairs: at == most
instance low of stairs { most = 1 }
instance high of stairs { most = 3 }
"""


def test_coverage_is_the_same_in_an_instance_that_shares_expressions_with_another() -> None:
    model = api.load_text(STEPS)
    (component,) = model.components
    wanted = obligations(model, component)
    machines = [Machine.of(model, instance) for instance in model.instances]
    alone = [Coverage.own(machine, wanted) for machine in machines]
    first = Coverage.own(machines[0], wanted)
    shared = [first.within(machine) for machine in machines]
    met: list[list[frozenset[str]]] = [[], []]
    for at, by in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 3), (2, 1), (2, 2)):
        for found, coverages in zip(met, (alone, shared), strict=True):
            for machine, coverage in zip(machines, coverages, strict=True):
                for outcome in machine.outcomes({"at": at}, "climb", (by,)):
                    found.append(coverage.list_met({"at": at}, "climb", (by,), outcome))
    assert met[0] == met[1]
    assert frozenset[str]().union(*met[0]) == {o.name for o in wanted}
