"""Charters that nobody wrote, with nested types, several parts and every kind of channel: the
engines, the generated models, the solver and TLC are held against the definition."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from tests.support.comparing.agreement import import_model
from tests.support.comparing.exhaustive import Tally, compare
from tests.support.comparing.modelled import Compared
from tests.support.comparing.sampled import sample
from tests.support.comparing.solved import Agreement, random_args
from tests.support.drawn.drawn_charters import (
    assuming_text,
    component_text,
    draw,
    mailing_text,
    pick_text,
    picking_text,
    summing_text,
    system_text,
)
from tests.support.engines import both, counts, natively, verdicts
from tests.support.tla import tlc

from charter import api
from charter.analysis.environment import list_offered, offers
from charter.core import expressions
from charter.core import nodes as n
from charter.core.operators import OPERATORS
from charter.diagnostics.collected import Refused
from charter.semantics.builtins import EvaluationError
from charter.semantics.machine import Machine

MOST = 1_500
"""A larger one is left there, and of its states a sample is asked."""
SAMPLED = 300
"""States that are asked of one that was left."""
COMPONENTS = [0, 1, 4, 6, 9]
SUMMING = [1, 4]
PICKING = [1, 4]
PICKED_FROM = range(40)
ASSUMING = [0, 1, 4, 8]
SYSTEMS = [1, 3, 4, 7, 8, 9]
"""Seeds of charters that have many states."""
MAILING = [1, 3, 6, 7]
"""Seeds in which several messages are sent, received or cleared at once."""
SMALL = [
    (component_text, 1), (system_text, 4),
    *(pytest.param(system_text, seed, marks=pytest.mark.slow) for seed in (1, 9)),
]  # fmt: skip
SOLVED = [0, 1]
CHECKED = [
    (component_text, 1),
    pytest.param(mailing_text, 6, marks=pytest.mark.slow),
    pytest.param(system_text, 1, marks=pytest.mark.slow),
]  # fmt: skip
MORE = range(10, 60)


def compare_engines(
    model: n.Model, beside: bool, folder: Path, *, optimized: bool = False
) -> Tally:
    """The native engine against the definition, and this against generated models. The code of
    components is `optimized` in any case."""
    (instance,) = model.instances
    found = natively(model, instance, most_states=MOST, optimized=optimized or not model.systems)
    machine = found.search.program.plan.machine
    if beside:
        name = f"drawn_{folder.name}"
        modules = {
            c.name: import_model(machine.model, c, folder, f"{name}_{c.name}")
            for c in machine.model.components
        }
        machine = Compared.beside(machine, modules)
    every = 1 if found.counts.complete else max(2, found.counts.distinct // SAMPLED)
    tally = compare(found, machine, every)
    assert not beside or (isinstance(machine.evaluator, Compared) and machine.evaluator.compared)
    return tally


def test_every_kind_of_channel_is_drawn() -> None:
    texts = [draw(system_text, seed).systems[0].span.source.text for seed in SYSTEMS]
    lines = [line.split() for text in texts for line in text.splitlines() if "  channel" in line]
    assert {word for line in lines for word in line} >= {
        "slot", "set", "fifo", "lossy", "duplicating",
    }  # fmt: skip


@pytest.mark.parametrize("seed", sample(COMPONENTS, 1))
def test_every_transition_is_as_defined_when_a_component_is_drawn(
    seed: int, tmp_path: Path
) -> None:
    tally = compare_engines(draw(component_text, seed), True, tmp_path)
    assert tally.states >= 20 and tally.moves > 20 * tally.states


@pytest.mark.parametrize("seed", sample(SUMMING, 1))
def test_every_transition_is_as_defined_when_a_component_with_sums_is_drawn(
    seed: int, tmp_path: Path
) -> None:
    model = draw(summing_text, seed)
    assert "(sum " in model.components[0].span.source.text
    tally = compare_engines(model, True, tmp_path)
    assert tally.states >= 20 and tally.moves > 20 * tally.states


@pytest.mark.parametrize("seed", sample(PICKING, 1))
def test_every_transition_is_as_defined_when_a_component_picks_from_sets(
    seed: int, tmp_path: Path
) -> None:
    tally = compare_engines(draw(picking_text, seed), True, tmp_path)
    assert tally.states >= 20 and tally.moves > 20 * tally.states


@pytest.mark.parametrize("seed", sample(ASSUMING, 1))
def test_every_transition_is_as_defined_when_operations_assume_something(
    seed: int, tmp_path: Path
) -> None:
    model = draw(assuming_text, seed)
    tally = compare_engines(model, True, tmp_path)
    assert tally.states >= 20 and tally.moves > 10 * tally.states
    free = natively(api.load_text(drop_assumptions(model)), model.instances[0], most_states=MOST)
    assert free.counts.generated > tally.moves


def drop_assumptions(model: n.Model) -> str:
    text = model.components[0].span.source.text
    return "\n".join(x for x in text.split("\n") if not x.startswith("    assume "))


def empty_picks(seeds: Iterable[int]) -> list[str]:
    """What the definition says of picks that the check let pass, and that have no member. Each seed
    draws one pick from a set that an operator makes."""
    found, passed = list[str](), 0
    for seed in seeds:
        text = pick_text(Random(seed))
        try:
            model = api.load_text(text)
        except Refused:
            continue
        passed += 1
        machine, rng = Machine.of(model, model.instances[0]), Random(seed)
        state = machine.initial()
        try:
            for _ in range(3):
                asked = [
                    machine.outcomes(state, o, args) for o, args in list_offered(machine, state)
                ]
                state = rng.choice([outcome.state for outcomes in asked for outcome in outcomes])
        except EvaluationError as error:
            found.append(f"{error}: {text}")
    assert passed >= 5
    return found


def test_each_pick_has_a_member_where_the_check_says_so() -> None:
    assert empty_picks(PICKED_FROM) == []


@pytest.mark.parametrize("op", ["difference", "intersection"])
def test_a_wrong_trait_of_an_operator_is_found(
    op: n.RichOp, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = replace(OPERATORS[op], keeps=("left",))
    monkeypatch.setattr(expressions, "OPERATORS", {**OPERATORS, op: wrong})
    assert any("nothing to pick" in said for said in empty_picks(PICKED_FROM))


@pytest.mark.parametrize("seed", sample(SYSTEMS, 1))
def test_every_transition_is_as_defined_when_a_system_is_drawn(seed: int, tmp_path: Path) -> None:
    tally = compare_engines(draw(system_text, seed), True, tmp_path)
    assert tally.states >= 50 and tally.moves > 2 * tally.states


@pytest.mark.parametrize("seed", sample(MAILING, 1))
def test_every_transition_is_as_defined_when_a_system_sends_to_many(
    seed: int, tmp_path: Path
) -> None:
    tally = compare_engines(draw(mailing_text, seed), True, tmp_path)
    assert tally.states >= 50 and tally.moves > 2 * tally.states


@pytest.mark.parametrize(("write", "seed"), SMALL)
def test_engines_agree_when_charters_with_hundreds_of_states_are_drawn(
    write: Callable[[Random], str], seed: int
) -> None:
    model = draw(write, seed)
    fast, plain = both(model, model.instances[0])
    assert fast.counts.complete and fast.counts.distinct > 100
    assert (counts(fast), verdicts(fast)) == (counts(plain), verdicts(plain))


@pytest.mark.parametrize("seed", SOLVED)
def test_z3_allows_the_same_outcomes_when_nested_types_are_drawn(seed: int) -> None:
    model = draw(component_text, seed)
    machine, rng = Machine.of(model, model.instances[0]), Random(seed)
    agreement = Agreement.of(machine)
    state = machine.initial()
    for operation in sorted(machine.operations):
        args = random_args(machine, operation, rng, state)
        agreement.compare(state, operation, args)
        state = rng.choice(machine.outcomes(state, operation, args)).state


@pytest.mark.parametrize("seed", ASSUMING[:2])
def test_z3_allows_nothing_where_an_assumption_is_false(seed: int) -> None:
    model = draw(assuming_text, seed)
    machine, rng = Machine.of(model, model.instances[0]), Random(seed)
    agreement = Agreement.of(machine)
    state, refused = machine.initial(), 0
    for _ in range(3):
        for operation in sorted(machine.operations):
            args = random_args(machine, operation, rng, state)
            if offers(machine, state, operation, args):
                assert agreement.compare(state, operation, args) > 0
            else:
                called = agreement.call(state, operation, args)
                assert agreement.solver.possible(called) is False
                refused += 1
        offered = [*list_offered(machine, state)]
        state = rng.choice(machine.outcomes(state, *rng.choice(offered))).state
    assert refused > 0


@pytest.mark.parametrize(("write", "seed"), CHECKED)
def test_tlc_agrees_when_nested_types_and_channels_are_drawn(
    write: Callable[[Random], str], seed: int, jar: Path, tmp_path: Path
) -> None:
    model = draw(write, seed)
    found = natively(model, model.instances[0], symmetry=False)
    said = tlc.check(jar, model, model.instances[0], tmp_path, ["stays"])
    failed = [f.seen for f in found.properties if f.name == "stays"]
    assert bool(said.error) == bool(failed[0])
    if not said.error:
        assert (said.distinct, said.depth) == (found.counts.distinct, len(found.counts.levels))


@pytest.mark.slow
@pytest.mark.parametrize("seed", MORE)
def test_every_transition_is_as_defined_when_more_are_drawn(seed: int, tmp_path: Path) -> None:
    for write in (component_text, system_text):
        (folder := tmp_path / write.__name__).mkdir()
        compare_engines(draw(write, seed), True, folder, optimized=True)
