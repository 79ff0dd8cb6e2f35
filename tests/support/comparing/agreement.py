"""Runs operations on the evaluator, compiled code and the generated model, for comparison."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.explore.native.program.compiled import CompiledMachine
from charter.render.python_model.emit import Page, prelude_text, texts, wire_module
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.values import Json, text, to_json

Outcomes = Callable[[State, str, tuple[Value, ...]], Sequence[Outcome]]
Answers = list[tuple[str, str, str]]
"""Branch, reply and state after, the last two as canonical text; sorted."""


def import_model(model: n.Model, component: n.Component, folder: Path, name: str) -> ModuleType:
    """Writes the generated model of a component to `folder` and imports it; returns the module for
    the judge."""
    prelude, wire = f"{name}_prelude", wire_module(name)
    made = texts(model, component, Page("a test", "0" * 20, name, prelude))
    for module, page in {prelude: prelude_text(), name: made.model, wire: made.wire}.items():
        (folder / f"{module}.py").write_text(page, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(module, folder / f"{module}.py")
        assert spec is not None and spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[module] = loaded
        spec.loader.exec_module(loaded)
    return sys.modules[wire]


def show(machine: Machine, state: State) -> dict[str, Json]:
    """The state without ghosts, as JSON."""
    kept = machine.modelled
    return {v.name: to_json(v.type, state[v.name], machine.universe) for v in kept}


def by_evaluator(
    machine: Machine, state: State, operation: str, args: tuple[Value, ...]
) -> Answers | str:
    """The outcomes by the definition, or "undefined"."""
    return _answers(machine, machine.outcomes, (state, operation, args))


def by_compiled_code(
    compiled: CompiledMachine, state: State, operation: str, args: tuple[Value, ...]
) -> Answers | str:
    """The outcomes by compiled code, or "undefined"."""
    return _answers(compiled.machine, compiled.outcomes, (state, operation, args))


def _answers(
    machine: Machine, outcomes: Outcomes, question: tuple[State, str, tuple[Value, ...]]
) -> Answers | str:
    chosen = machine.operations[question[1]]
    assert isinstance(chosen, n.Operation)
    try:
        found = outcomes(*question)
    except EvaluationError:
        return "undefined"
    return _sort(
        (
            o.branch,
            text(to_json(chosen.result, o.reply, machine.universe)),
            text(show(machine, o.state)),
        )
        for o in found
    )


def _sort(answers: Iterable[tuple[str, str, str]]) -> Answers:
    return sorted(set(answers))


def by_model(
    machine: Machine, model: ModuleType, state: State, operation: str, args: tuple[Value, ...]
) -> Answers | str:
    """The outcomes by the generated model, or "undefined"."""
    sorts, consts = machine.universe.sorts, machine.universe.consts
    before = model.decode(show(machine, state), sorts, consts)
    try:
        outcomes = model.outcomes(before, operation, machine.args_json(operation, args))
    except Exception as problem:
        if type(problem).__name__ in ("Undefined", "ValueError"):
            return "undefined"
        raise
    return _sort((o.branch, text(o.reply), text(model.encode(o.state))) for o in outcomes)
