"""Evaluator, compiled code and generated model on charters that nobody wrote."""

from __future__ import annotations

import hashlib
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from tests.support.comparing.agreement import (
    by_compiled_code,
    by_evaluator,
    by_model,
    import_model,
    show,
)
from tests.support.comparing.sampled import DRAWN, few_or_all
from tests.support.drawn.core_models import INSTANCE, models

from charter.analysis.environment import Arguments
from charter.core import nodes as n
from charter.core.valid import validate
from charter.explore.native.memory.layout import CannotCompile
from charter.explore.native.program.compiled import CompiledMachine
from charter.explore.reference.search import ReferenceOptions, explore
from charter.semantics.values import text

STATES = 12
ARGUMENTS = 15


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@few_or_all(5, 40)
def test_three_models_agree_when_charters_are_generated(folder: Path, examples: int) -> None:
    @settings(DRAWN, max_examples=examples)
    @given(models())
    def agrees(model: n.Model) -> None:
        agree(folder, model)

    agrees()


def agree(folder: Path, model: n.Model) -> None:
    validate(model, "the test's own making")
    name = "small_" + hashlib.sha256(repr(model).encode()).hexdigest()[:12]
    module = import_model(model, model.components[0], folder, name)
    graph = explore(model, INSTANCE, ReferenceOptions(most_states=STATES)).graph
    machine, compiled = graph.machine, compile_machine(model)
    expected = text(show(machine, machine.initial()))
    sorts, consts = machine.universe.sorts, machine.universe.consts
    assert text(module.encode(module.initial(sorts, consts))) == expected
    for state in graph.states[:STATES]:
        arguments = Arguments.at(machine, state)
        for operation in model.components[0].operations:
            for args in islice(arguments.of(operation.params), ARGUMENTS):
                question = (state, operation.name, args)
                answers = by_evaluator(machine, *question)
                assert by_model(machine, module, *question) == answers
                if compiled is not None:
                    assert by_compiled_code(compiled, *question) == answers


def compile_machine(model: n.Model) -> CompiledMachine | None:
    """The machine in compiled code; None where there is none."""
    try:
        return CompiledMachine.of(model, INSTANCE, None)
    except CannotCompile:
        return None
