"""What must happen, on the native graph and on the plain one: the same verdicts, the same runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from charter import api
from charter.backends.engine.explore import Choices, Options
from charter.backends.engine.liveness import check_liveness as natively
from charter.backends.explorer.explore import Options as PlainOptions
from charter.backends.explorer.explore import explore
from charter.backends.explorer.liveness import check_liveness as plainly
from charter.ir import nodes as n
from charter.semantics.fairness import Verdict

SPEC = Path(__file__).resolve().parents[2] / "spec" / "examples"
NAMES = ("dining_philosophers", "ring_election", "two_phase_commit")
MODELS = {name: api.load(SPEC / f"{name}.charter") for name in NAMES}
MUTANTS = [(name, mutant.name) for name in NAMES for mutant in MODELS[name].mutants]


def as_told(verdicts: tuple[Verdict, ...]) -> list[tuple[object, ...]]:
    """Verdicts with their steps as they are told."""
    return [
        (one.name, one.answer, one.binding, one.detail,
         *([(s.operation, s.args, s.branch) for s in steps] for steps in (one.stem, one.cycle)))
        for one in verdicts
    ]  # fmt: skip


def assert_agree(model: n.Model, instance: n.Instance, *, symmetry: bool = True) -> None:
    options = PlainOptions(symmetry=symmetry)
    searched = explore(replace(model, properties=()), instance, options)
    plain = plainly(model, instance, searched, options)
    native = natively(model, instance, Options(Choices(symmetry=symmetry), workers=2))
    assert plain and as_told(native) == as_told(plain)


def tiny(model: n.Model) -> n.Instance:
    return next(i for i in model.instances if i.name.startswith("tiny"))


@pytest.mark.parametrize("symmetry", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_verdicts_agree_on_examples(name: str, symmetry: bool) -> None:
    assert_agree(MODELS[name], tiny(MODELS[name]), symmetry=symmetry)


@pytest.mark.parametrize(("name", "mutant"), MUTANTS)
def test_verdicts_and_runs_agree_on_mutants(name: str, mutant: str) -> None:
    bent = api.load(SPEC / f"{name}.charter", api.Selection(mutant=mutant))
    assert_agree(bent, tiny(bent))
