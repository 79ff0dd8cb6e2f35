"""The states of the native engine, read one by one, against the reference engine's and the
definition: what `--keep` writes and what `--where` finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate
from pathlib import Path

import orjson
import pytest

from charter import api
from charter.check.state_condition import ASKED
from charter.core import nodes as n
from charter.explore.native.search.explore import Choices, NativeOptions, explore
from charter.explore.native.search.traces import Teller
from charter.explore.native.states.graph import CompiledGraph
from charter.explore.native.states.reached import Reached, cell_of, form_of
from charter.explore.reference.search import ReferenceOptions
from charter.explore.reference.search import explore as explore_by_definition
from charter.formats.states import Cell
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.values import from_json

SPEC = Path(__file__).resolve().parents[3] / "spec"
ASKED_OF = [
    ("primary_backup", "tiny", "size(isr) == 1"),
    pytest.param(
        "primary_backup", "tiny", "leader == present(n2) and n1 not in isr", marks=pytest.mark.slow
    ),
    pytest.param(
        "primary_backup",
        "tiny",
        "some n in Node: high_watermark[n] > 0",
        marks=pytest.mark.slow,
    ),
    pytest.param("two_phase_commit", "tiny", "true", marks=pytest.mark.slow),
    ("two_phase_commit", "tiny", "false"),
    ("dining_philosophers", "small", "forall p in Seat: doing[p] != THINKING"),
    ("kafka", "tiny_shutdown", "last_broker_epoch > 3"),
    (
        "kafka",
        "tiny_shutdown",
        "some t in Topic: partition[t] != none and value(partition[t]).isr == {b1}",
    ),
    pytest.param("kafka", "tiny_elr", "last_broker_epoch > 3", marks=pytest.mark.slow),
    pytest.param(
        "kafka",
        "tiny_elr",
        "some t in Topic: partition[t] != none and value(partition[t]).isr == {b1}",
        marks=pytest.mark.slow,
    ),
]


def ask(charter: str, name: str, expression: str) -> tuple[n.Model, n.Instance, n.Property]:
    path = SPEC / "kafka" if charter == "kafka" else SPEC / "examples" / f"{charter}.charter"
    opened, model = api.load_charter(path)
    model = opened.with_state_condition(model, api.PLAIN, name, expression)
    instance = next(i for i in model.instances if i.name == name)
    return model, instance, next(p for p in model.properties if p.name == ASKED)


def list_reached(
    model: n.Model, instance: n.Instance, predicate: n.Property | None, options: NativeOptions
) -> Reached:
    return Reached.of(explore(model, instance, options), predicate)


def rows_of(found: Reached, size: int = 1000) -> list[Mapping[str, Cell]]:
    names = [column.name for column in found.head.columns]
    return [
        dict(zip(names, row, strict=True))
        for chunk in found.chunks(size)
        for row in zip(*chunk, strict=True)
    ]


@pytest.mark.parametrize(("charter", "name", "expression"), ASKED_OF)
def test_the_question_is_answered_as_the_definition_does_it(
    charter: str, name: str, expression: str
) -> None:
    model, instance, predicate = ask(charter, name, expression)
    found = list_reached(model, instance, predicate, NativeOptions(workers=2))
    machine = Machine.of(model, instance)
    detailed = NativeOptions(Choices(detailed=True))
    states = CompiledGraph.around(explore(model, instance, detailed)).states
    hits = [machine.holds(predicate, machine.scope(state, state)) for state in states]
    assert found.head.distinct == len(states)
    assert (found.found, found.undefined) == (sum(hits), 0)
    numbers = list(found.hits())
    assert len(numbers) == found.found
    assert numbers == [row["_number"] for row in rows_of(found) if row["_matches"]]
    levels = list(accumulate(found.head.levels))
    for number in numbers[:5]:
        trace, state = found.reason(number, predicate)
        assert sum(number >= end for end in levels) == len(trace)
        assert machine.holds(predicate, machine.scope(state, state))


def state_of(machine: Machine, row: Mapping[str, Cell]) -> State:
    """A row read back."""
    state: dict[str, n.Value] = {}
    for variable in machine.variables:
        cell = row[variable.name]
        is_json = form_of(variable.type) == "json" or (
            isinstance(cell, str) and cell[:1] in '["{0123456789'
        )
        value = orjson.loads(cell) if is_json and isinstance(cell, str) else cell
        state[variable.name] = from_json(variable.type, value, machine.universe)
        assert cell_of(variable.type, state[variable.name], machine.universe) == cell
    return state


@pytest.mark.parametrize(
    "charter", ["ring_election", pytest.param("two_phase_commit", marks=pytest.mark.slow)]
)
def test_rows_are_the_reachable_states_and_their_steps_lead_there(charter: str) -> None:
    """Without symmetry, in charters without counters: a row is the state itself."""
    model = api.load(SPEC / "examples" / f"{charter}.charter")
    instance = next(i for i in model.instances if i.name == "tiny")
    options = NativeOptions(replace(Choices(), symmetry=False))
    rows = rows_of(list_reached(model, instance, None, options), 777)
    machine = Machine.of(model, instance)
    graph = explore_by_definition(model, instance, ReferenceOptions(symmetry=False)).graph
    states = [state_of(machine, row) for row in rows]
    assert {graph.canonical.form(state) for state in states} == set(graph.numbers)
    assert len(states) == len(graph.states)
    assert [row["_number"] for row in rows] == list(range(len(rows)))
    assert states[0] == machine.initial() and rows[0]["_source"] is rows[0]["_step"] is None
    for row, state in zip(rows[1::7], states[1::7], strict=True):
        source, step, args = row["_source"], row["_step"], row["_args"]
        level, before = row["_level"], rows[source if isinstance(source, int) else -1]["_level"]
        assert isinstance(source, int) and isinstance(step, str) and isinstance(args, str)
        assert isinstance(level, int) and level - 1 == before
        operation = step.partition("/")[0]
        given = orjson.loads(args)
        params = machine.operations[operation].params
        values = tuple(from_json(p.type, given[p.name], machine.universe) for p in params)
        outcomes = machine.outcomes(states[source], operation, values)
        assert any(dict(o.state) == dict(state) for o in outcomes)


@pytest.mark.parametrize(
    ("charter", "name"),
    [
        ("kafka", "tiny_shutdown"),
        pytest.param("paxos", "tiny", marks=pytest.mark.slow),
        pytest.param("kafka", "tiny_elr", marks=pytest.mark.slow),
    ],
)
def test_steps_lead_there_up_to_renaming_when_states_are_taken_together(
    charter: str, name: str
) -> None:
    path = SPEC / "kafka" if charter == "kafka" else SPEC / "examples" / f"{charter}.charter"
    model = api.load(path)
    instance = next(i for i in model.instances if i.name == name)
    found = list_reached(model, instance, None, NativeOptions())
    rows, machine, teller = (
        rows_of(found),
        Machine.of(model, instance),
        Teller(found.search.program),
    )
    assert found.head.permuted
    keys = {teller.key(state_of(machine, row)) for row in rows}
    assert len(keys) == len(rows)
    for row in rows[1::5]:
        source, step, args = row["_source"], row["_step"], row["_args"]
        assert isinstance(source, int) and isinstance(step, str) and isinstance(args, str)
        operation, _, branch = step.partition("/")
        given = orjson.loads(args)
        params = machine.operations[operation].params
        values = tuple(from_json(p.type, given[p.name], machine.universe) for p in params)
        outcomes = machine.outcomes(state_of(machine, rows[source]), operation, values)
        wanted = teller.key(state_of(machine, row))
        assert wanted in [
            teller.key(o.state) for o in outcomes if o.branch in (step, branch, "", operation)
        ]


def test_states_that_were_not_expanded_are_read_too_when_a_search_gives_up() -> None:
    model, instance, predicate = ask("primary_backup", "standard", "size(isr) == 3")
    found = list_reached(model, instance, predicate, NativeOptions(most_states=9_000, workers=2))
    head, rows = found.head, rows_of(found, 4_000)
    assert not head.complete and len(rows) == head.distinct == sum(head.levels) >= 9_000
    assert list(found.hits()) == [row["_number"] for row in rows if row["_matches"]]
    assert [row["_matches"] for row in rows] == [row["isr"] == '["n1","n2","n3"]' for row in rows]
    assert found.found == sum(bool(row["_matches"]) for row in rows)
    assert rows[-1]["_level"] == len(head.levels) - 1
