"""Evaluator, flat explorer and generated model on charters that nobody wrote."""

from __future__ import annotations

import hashlib
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from tests.support.agreement import by_evaluator, by_flat, by_model, import_model, shown
from tests.support.core_models import INSTANCE, models

from charter.core import nodes as n
from charter.core.valid import validate
from charter.explore.reference.explore import Options, explore
from charter.semantics.values import text

STATES = 12
ARGUMENTS = 15


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    phases=(Phase.generate,),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(models())
def test_three_models_agree_when_charters_are_generated(folder: Path, model: n.Model) -> None:
    validate(model, "the test's own making")
    name = "small_" + hashlib.sha256(repr(model).encode()).hexdigest()[:12]
    module = import_model(model, model.components[0], folder, name)
    found = explore(model, INSTANCE, Options(most_states=STATES))
    flat = found.graph.flat
    expected = text(shown(flat, flat.initial()))
    sorts, consts = flat.machine.universe.sorts, flat.machine.universe.consts
    assert text(module.encode(module.initial(sorts, consts))) == expected
    for state in found.graph.states[:STATES]:
        arguments = flat.arguments(state)
        for operation in model.components[0].operations:
            for args in islice(arguments.of(operation.params), ARGUMENTS):
                question = (state, operation.name, args)
                answers = by_evaluator(flat, *question)
                assert by_flat(flat, *question) == answers
                assert by_model(flat, module, *question) == answers
