"""Asks the evaluator, the flat explorer and the generated model the same question."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.explore.reference.load import FlatMachine, FlatState
from charter.explore.reference.support import Undefined
from charter.render.python_model.emit import Page, module_text, prelude_text
from charter.semantics.builtins import EvaluationError
from charter.semantics.values import Json, text, to_json

Answers = list[tuple[str, str, str]]
"""Branch, reply and state after, the last two as canonical text; sorted."""


def import_model(model: n.Model, component: n.Component, folder: Path, name: str) -> ModuleType:
    """The generated module of a component, written to `folder` and imported from there."""
    prelude = f"{name}_prelude"
    (folder / f"{prelude}.py").write_text(prelude_text(), encoding="utf-8")
    page = Page("a test", "0" * 20, prelude)
    (folder / f"{name}.py").write_text(module_text(model, component, page), encoding="utf-8")
    for module in (prelude, name):
        spec = importlib.util.spec_from_file_location(module, folder / f"{module}.py")
        assert spec is not None and spec.loader is not None
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[module] = loaded
        spec.loader.exec_module(loaded)
    return sys.modules[name]


def shown(flat: FlatMachine, state: FlatState) -> dict[str, Json]:
    """All state but ghosts, as JSON."""
    machine = flat.machine
    pairs = zip(machine.variables, state, strict=True)
    return {
        v.name: to_json(v.type, value, machine.universe) for v, value in pairs if v.kind != "ghost"
    }


def _sorted(answers: Iterable[tuple[str, str, str]]) -> Answers:
    return sorted(set(answers))


def by_evaluator(
    flat: FlatMachine, state: FlatState, operation: str, args: tuple[Value, ...]
) -> Answers | str:
    """What the definition allows, or "undefined"."""
    machine = flat.machine
    chosen = machine.operations[operation]
    assert isinstance(chosen, n.Operation)
    try:
        outcomes = machine.outcomes(flat.unflatten(state), operation, args)
    except EvaluationError:
        return "undefined"
    return _sorted(
        (
            o.branch,
            text(to_json(chosen.result, o.reply, machine.universe)),
            text(shown(flat, flat.flatten(o.state))),
        )
        for o in outcomes
    )


def by_flat(
    flat: FlatMachine, state: FlatState, operation: str, args: tuple[Value, ...]
) -> Answers | str:
    """What the flat functions allow, or "undefined"."""
    machine = flat.machine
    chosen = machine.operations[operation]
    assert isinstance(chosen, n.Operation)
    try:
        outcomes = flat.operations[operation](state, args, [])
    except Undefined:
        return "undefined"
    return _sorted(
        (branch, text(to_json(chosen.result, reply, machine.universe)), text(shown(flat, after)))
        for branch, reply, after in outcomes
    )


def by_model(
    flat: FlatMachine, model: ModuleType, state: FlatState, operation: str, args: tuple[Value, ...]
) -> Answers | str:
    """What the generated model allows, or "undefined"."""
    machine = flat.machine
    sorts = machine.universe.sorts
    consts = machine.universe.consts
    before = model.decode(shown(flat, state), sorts, consts)
    try:
        outcomes = model.outcomes(before, operation, machine.args_json(operation, args))
    except Exception as problem:
        if type(problem).__name__ in ("Undefined", "ValueError"):
            return "undefined"
        raise
    return _sorted((o.branch, text(o.reply), text(model.encode(o.state))) for o in outcomes)
