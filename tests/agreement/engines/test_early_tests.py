"""Conditions that are tested before all arguments are chosen leave out only what does nothing."""

from __future__ import annotations

import pytest
from tests.support.engines import both, counts, verdicts

from charter import api
from charter.analysis.narrowed_machine import open_machine
from charter.core import nodes as n
from charter.explore.native.program.early_tests import EarlyTest, early_tests_of, levels
from charter.passes import lower_instance

CHARTER = """protocol early.tests

sort Node
type N = int 0..19

system counting {
  state begun: bool = false
  state n: N = 0
  state m: N = 0
  state seen: set Node = {}
  step begin(a: N, b: N) {
    require not begun
    require a > 17
    require b < 2
    begun' = true
    n' = a
    m' = b
  }
  step twist(a: N, b: N, by: Node) {
    require b == m and a == n
    let fresh = not by in seen
    require fresh and begun
    seen' = seen | {by}
  }
  step odd(a: N, b: N) {
    require b > 17 and (the x in N: x == a and x > 3) > 17
    require begun and m == 1
    n' = b
  }
  step even(a: N, b: N) {
    require begun
    require a != 7
    require (the x in seen: true) in seen
    require b == 0
    require n == 19 and a == 0
    n' = 18
  }
  step rest() { require begun }
}

witness all_seen of counting: forall k in Node: k in seen
always small of counting: m < 2
instance tiny of counting { Node = 2 LINE }
"""


def of(line: str) -> n.Model:
    return api.load_text(CHARTER.replace("LINE", line))


@pytest.mark.parametrize(
    "line",
    ["", "only begin if a == 19 and b == 1", "offers begin, odd, rest", "only even if b < 9"],
)
def test_nothing_changes_by_early_tests(line: str) -> None:
    model = of(line)
    native, reference = both(model, model.instances[0])
    assert counts(native) == counts(reference)
    assert verdicts(native) == verdicts(reference)
    assert native.counts.distinct > 4


def early(step: str, line: str = "") -> dict[int, int]:
    """By the number of arguments that are chosen, how many conditions of a step are tested."""
    machine = open_machine(of(line), of(line).instances[0])
    small, own = lower_instance(machine.model, machine.instance)
    operation = next(s for system in small.systems for s in system.steps if s.name == step)
    only = [condition for name, condition in own.only if name == step]
    tests = early_tests_of(operation, only, {f.name: f for f in small.functions})
    sizes = {"a": 20, "b": 20, "by": 2}
    loops = [(param.name, sizes[param.name]) for param in operation.params]
    return {level: len(some) for level, some in levels(tests, loops).items()}


@pytest.mark.parametrize(
    ("step", "line", "expected"),
    [
        ("begin", "", {0: 1, 1: 1}),  # `not begun`; `a > 17`; what reads the last is not early
        ("begin", "only begin if a == 19", {0: 1, 1: 2}),
        ("twist", "", {0: 1, 1: 1}),  # `begun`, though it stands last; `a == n`
        ("odd", "", {1: 3}),  # behind what may have no value, which reads `a`
        ("even", "", {0: 3, 1: 2}),
    ],
)
def test_conditions_are_tested_once_their_arguments_are_known(
    step: str, line: str, expected: dict[int, int]
) -> None:
    assert early(step, line) == expected


def test_a_test_that_leaves_out_few_lists_is_not_made() -> None:
    sure = EarlyTest(n.Literal(True, type=None), (), frozenset(), sure=True)  # type: ignore[arg-type]
    assert levels([sure], [("a", 15)]) == {}
    assert levels([sure], [("a", 4), ("b", 4)]) == {0: [sure]}
