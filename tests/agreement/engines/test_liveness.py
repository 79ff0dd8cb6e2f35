"""Liveness by the native engine and by the reference engine: the same verdicts and runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.comparing.sampled import DRAWN, few_or_all, sample
from tests.support.drawn.drawn_models import WHOLE, systems

from charter import api
from charter.core import nodes as n
from charter.core import types as t
from charter.explore.model_checker import EngineUnsupported
from charter.explore.native.liveness.check_liveness import check_liveness as natively
from charter.explore.native.liveness.check_liveness import explore_live
from charter.explore.native.search.explore import Choices, NativeOptions
from charter.explore.native.search.explore import explore as explore_natively
from charter.explore.reference.liveness import check_liveness as by_reference
from charter.explore.reference.search import ReferenceOptions, explore
from charter.semantics.fairness import LivenessResult
from charter.semantics.machine import Taken

SPEC = Path(__file__).resolve().parents[3] / "spec" / "examples"
NAMES = ("dining_philosophers", "ring_election", "two_phase_commit")
MODELS = {name: api.load(SPEC / f"{name}.charter") for name in NAMES}
MOST = 1_000
MUTANTS = [(name, mutant.name) for name in NAMES for mutant in MODELS[name].mutants]


def as_told(
    verdicts: tuple[LivenessResult, ...], among: n.Model | None = None
) -> list[tuple[object, ...]]:
    """Verdicts with their steps as they are told. In the systems of a drawn model arguments with a
    counter inside may differ: of two values that no rule tells apart either leads to states that
    are the same up to renaming."""
    steps = {step.name: step for system in among.systems for step in system.steps} if among else {}

    def tell(trace: tuple[Taken, ...]) -> list[tuple[object, ...]]:
        return [(s.operation, tuple(show(s)), s.branch) for s in trace]

    def show(action: Taken) -> Iterator[object]:
        params = steps[action.operation].params if steps else ()
        for place, value in enumerate(action.args):
            is_renamed = bool(params) and t.holds(params[place].type, t.Counter)
            yield "a counter" if is_renamed else value

    return [
        (one.name, one.answer, one.binding, one.detail, tell(one.stem), tell(one.cycle))
        for one in verdicts
    ]


def assert_agree(model: n.Model, instance: n.Instance, *, symmetry: bool = True) -> None:
    options = ReferenceOptions(symmetry=symmetry)
    searched = explore(replace(model, properties=()), instance, options)
    plain = by_reference(model, instance, searched, options)
    chosen = NativeOptions(Choices(symmetry=symmetry), workers=2)
    native = natively(model, instance, chosen)
    assert plain and as_told(native) == as_told(plain)
    together = explore_live(model, instance, chosen)
    settled = natively(model, instance, chosen, None, together.seen)
    assert as_told(settled) == as_told(plain)
    found = explore_natively(model, instance, chosen)
    assert (together.found.counts, together.found.properties, together.found.failures) == (
        found.counts, found.properties, found.failures,
    )  # fmt: skip


def tiny(model: n.Model) -> n.Instance:
    return next(i for i in model.instances if i.name.startswith("tiny"))


@pytest.mark.parametrize(
    ("name", "symmetry"),
    [
        *((name, True) for name in NAMES),
        *((name, False) for name in NAMES[:2]),
        pytest.param(NAMES[2], False, marks=pytest.mark.slow),
    ],
)
def test_verdicts_agree_on_examples(name: str, symmetry: bool) -> None:
    assert_agree(MODELS[name], tiny(MODELS[name]), symmetry=symmetry)


@pytest.mark.parametrize("place", sample(MUTANTS, 2, "-".join))
def test_verdicts_and_runs_agree_on_mutants(place: tuple[str, str]) -> None:
    name, mutant = place
    edited = api.load(SPEC / f"{name}.charter", api.Selection(mutant=mutant))
    assert_agree(edited, tiny(edited))


def agree(tally: Counter[str], model: n.Model, symmetry: bool) -> None:
    options = NativeOptions(Choices(symmetry=symmetry), most_states=MOST)
    try:
        native = natively(model, WHOLE, options)
    except EngineUnsupported:
        tally["beyond"] += 1
        return
    if any("gave up" in one.detail or "exceed 63" in one.detail for one in native):
        return
    plain_options = ReferenceOptions(symmetry=symmetry)
    searched = explore(model, WHOLE, plain_options)
    plain = by_reference(model, WHOLE, searched, plain_options)
    assert as_told(native, among=model) == as_told(plain, among=model)
    tally.update(one.answer for one in native)


@few_or_all(6, 25)
def test_verdicts_and_runs_agree_when_systems_are_generated(examples: int) -> None:
    tally: Counter[str] = Counter()

    @settings(DRAWN, max_examples=examples)
    @given(systems(), st.booleans())
    def agrees(model: n.Model, symmetry: bool) -> None:
        agree(tally, model, symmetry)

    agrees()
    least = 4 if examples == 25 else 0
    assert tally["holds"] > least and tally["fails"] > least, dict(tally)
