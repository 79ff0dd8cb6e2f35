"""The native engine against the reference engine and the definition: counts,
verdicts, traces, and every outcome of the states of charters that nobody wrote."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.agreement.test_systems import CHARTER, without
from tests.support import spec
from tests.support.comparing.sampled import few_or_all
from tests.support.drawn.drawn_models import INSTANCE, draw_model
from tests.support.engines import both, both_of, counts, verdicts

from charter import api
from charter.analysis.environment import Arguments
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.explore.native.memory.layout import CannotCompile
from charter.explore.native.program.compile_instance import Choices, Program, program
from charter.explore.native.search import levels
from charter.explore.native.search.explore import NativeOptions, explore
from charter.explore.native.search.traces import Teller
from charter.explore.reference.search import ReferenceOptions
from charter.explore.reference.search import explore as by_reference
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import State
from charter.semantics.machine import Machine

SPEC = Path(__file__).resolve().parents[3] / "spec"
TINY = ["tiny_configuration"]
"""The others have more transitions than the definition does in seconds; tests/counts pins them, and
test_definition holds the transitions of all of them against the definition."""

MANY = ["primary_backup", "paxos"]
"""Examples with many transitions; test_definition holds each of them against the definition."""
FEW = [name for name in spec.EXAMPLES if name not in MANY]
"""Those that have few also where elements are told apart."""

Values = tuple[Value, ...]
Asked = tuple[str, tuple[Value, ...]]
Outcomes = Mapping[Asked, frozenset[tuple[str, Values]]]


@pytest.fixture(scope="module")
def kafka() -> n.Model:
    return spec.model("kafka")


@pytest.mark.slow
@pytest.mark.parametrize("name", spec.of_kafka(TINY))
def test_engines_agree_when_a_tiny_instance_of_kafka_is_explored(name: str) -> None:
    fast, slow = both_of("kafka", name)
    assert counts(fast) == counts(slow)
    assert verdicts(fast) == verdicts(slow)


@pytest.mark.parametrize("name", spec.examples(FEW))
def test_engines_agree_when_an_example_is_explored(name: str) -> None:
    fast, slow = both_of(name, "tiny")
    assert counts(fast) == counts(slow)
    assert verdicts(fast) == verdicts(slow)


@pytest.mark.slow
@pytest.mark.parametrize("name", spec.examples(MANY))
def test_engines_agree_when_a_large_example_is_explored(name: str) -> None:
    test_engines_agree_when_an_example_is_explored(name)


@pytest.mark.parametrize(
    "name",
    [
        *spec.examples(name for name in FEW if name != "two_phase_commit"),
        pytest.param("two_phase_commit", marks=pytest.mark.slow),
    ],
)
def test_engines_agree_when_elements_are_told_apart(name: str) -> None:
    fast, slow = both_of(name, "tiny", symmetry=False)
    assert counts(fast) == counts(slow)
    assert verdicts(fast) == verdicts(slow)


@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("broken", [True, False])
def test_engines_agree_when_a_system_calls_operations_of_its_parts(
    symmetry: bool, broken: bool
) -> None:
    model = api.load_text(CHARTER)
    if broken:
        model = without(model, "tired")
    for instance in model.instances:
        fast, slow = both(model, instance, symmetry=symmetry)
        assert counts(fast) == counts(slow)
        assert verdicts(fast) == verdicts(slow)


NAMED = """
protocol test.named
sort Node
component lamps {
  state on: map Node -> bool = [n in Node: false]
  state bell: bool = false
  operation light(n: Node) -> bool cites silent {
    branch done { on' = on with [n: true] reply true }
  }
  operation ring(n: Node) -> bool cites silent {
    branch rings when lit: on[n] { bell' = true reply true }
    branch silent { reply false }
  }
}
always never_rings of lamps cites silent: not bell
witness lit of lamps: some n in Node: on[n]
instance tiny of lamps {
  Node = {a, b, c}
  only ring if n == c and (forall m in Node: m == c or not on[m])
}
"""


def test_a_sort_is_not_permuted_when_the_instance_names_an_element() -> None:
    model = api.load_text(NAMED)
    fast, slow = both(model, model.instances[0])
    assert counts(fast) == counts(slow) and verdicts(fast) == verdicts(slow)
    assert (
        fast.properties[0].seen and "names one" in fast.search.program.plan.quotient.apart["Node"]
    )


def describe_search(model: n.Model, instance: str, workers: int) -> tuple[object, ...]:
    """All that a search says, its traces among it."""
    chosen = next(i for i in model.instances if i.name == instance)
    got = explore(model, chosen, NativeOptions(workers=workers))
    return counts(got), got.properties, got.branches, got.failures


@pytest.mark.parametrize(
    ("workers", "name", "mutant"),
    [
        (2, "tiny_topics", ""),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                (2, "tiny_elr", "elr_trusts_unclean"),
                (2, "tiny_reassignment", ""),
                (3, "tiny_topics", ""),
                (3, "tiny_elr", "elr_trusts_unclean"),
                (3, "tiny_reassignment", ""),
            )
        ),
    ],
)
def test_nothing_depends_on_the_number_of_workers(
    kafka: n.Model, workers: int, name: str, mutant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "MIN_BLOCK_STATES", 1)  # blocks so small that every worker has some
    model = api.load(SPEC / "kafka", api.Selection(mutant=mutant)) if mutant else kafka
    assert describe_search(model, name, workers) == describe_search(model, name, 1)


def test_a_failing_expression_is_told_with_its_place_and_the_way_there() -> None:
    model = api.load_text(CHARTER)
    clerk = model.components[0]
    ask = clerk.operations[0]
    undefined = n.Builtin(
        "value", (n.StateRef("holder", type=clerk.state[1].type),), type=t.Sort("Node")
    )
    bind = n.Bind("who", undefined)
    last = replace(ask.branches[-1], body=(bind, *ask.branches[-1].body))
    operation = replace(ask, branches=(*ask.branches[:-1], last))
    broken = replace(clerk, operations=(operation, *clerk.operations[1:]))
    model = replace(model, components=(broken, *model.components[1:]))
    fast, slow = both(model, model.instances[0])
    assert verdicts(fast) == verdicts(slow)
    (failure,) = (f for f in fast.failures if f.kind == "undefined")
    assert failure.name == "ask" and "value(none)" in failure.detail


# --- charters that nobody wrote ------------------------------------------------------------------


def list_outcomes(compiled: Program, state: State) -> Outcomes:
    """What the engine says can happen."""
    found: dict[Asked, set[tuple[str, Values]]] = defaultdict(set)
    for one in Teller(compiled).tell(state):
        after = tuple(one.after.values()) if one.branch else ()
        found[one.operation, one.args].add((one.branch, after))
    return {asked: frozenset(outcomes) for asked, outcomes in found.items()}


def define_outcomes(machine: Machine, state: State) -> Outcomes:
    """What the definition says can happen."""
    arguments = Arguments.at(machine, state)
    found: dict[Asked, set[tuple[str, Values]]] = defaultdict(set)
    for name, operation in machine.operations.items():
        for args in arguments.of(operation.params):
            try:
                outcomes = machine.outcomes(state, name, args)
            except EvaluationError:
                found[name, args].add(("", ()))
                continue
            for outcome in outcomes:
                if not machine.outside(outcome.state):
                    found[name, args].add((outcome.branch, tuple(outcome.state.values())))
    return {asked: frozenset(outcomes) for asked, outcomes in found.items() if outcomes}


@few_or_all(2, 14)
@pytest.mark.parametrize("partial", [False, True])
def test_engine_says_what_the_definition_says_when_charters_are_drawn(
    partial: bool, examples: int
) -> None:
    seen: Counter[str] = Counter()
    for seed in range(examples):
        model = draw_model(Random(seed), partial=partial)
        try:
            compiled = program(model, INSTANCE, Choices(), None, optimized=partial)
        except CannotCompile:
            seen["unsupported"] += 1
            continue
        graph = by_reference(model, INSTANCE, ReferenceOptions(most_states=8)).graph
        teller, form = Teller(compiled), graph.canonical.form
        keys: dict[tuple[int, ...], object] = {}
        for state in graph.states[:8]:
            assert list_outcomes(compiled, state) == define_outcomes(graph.machine, state)
            assert keys.setdefault(teller.key(state), form(state)) == form(state)
            seen["states"] += 1
        assert len(keys) == len(graph.states[:8])
    assert 14 * seen["states"] >= 25 * examples and 14 * seen["unsupported"] <= 4 * examples
