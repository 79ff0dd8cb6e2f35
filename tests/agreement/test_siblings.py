"""Sibling models of Kafka's charter, of which only the difference is written down, against the
whole page that it stands for and against the definition."""

from __future__ import annotations

import dis
import importlib
import random
import sys
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

import pytest
from tests.support.comparing.agreement import by_evaluator, by_model, import_model
from tests.support.comparing.sampled import sample

from charter.analysis.environment import Arguments
from charter.api import generated as generate
from charter.core import nodes as n
from charter.core.nodes import Value
from charter.formats.project import project_at
from charter.formats.suite import read_manifest
from charter.passes.narrow import narrow
from charter.project import pipeline
from charter.project.sources import Selection
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.suites.subject import overlays_in
from charter_models.kafka_replication import controller_wire as controller
from conform.judging.model import may_differ

ROOT = Path(__file__).resolve().parents[2]
SUITES = ROOT / "generated" / "suites" / "kafka_replication"
WALKED = ("tiny_reassignment", "tiny_configuration")
SOME = 1
"""So many siblings are compared in each run, all in `make slow`."""
STEPS = 120
MOST_ARGUMENTS = 400


@cache
def kafka() -> generate.OpenedProtocol:
    (found,) = (p for p in generate.protocols(project_at(ROOT)) if p.name == "kafka.replication")
    return generate.open_protocol(found)


def siblings() -> dict[str, Selection]:
    """The modules of all siblings that manifests name, with the edits that they stand for."""
    found: dict[str, Selection] = {}
    known = overlays_in(project_at(ROOT), "kafka.replication")
    for folder in sorted(SUITES.iterdir()):
        manifest = read_manifest(folder)
        if manifest.variant:
            found[manifest.models.charter] = Selection(variant=manifest.variant)
        for mutant, module in manifest.models.mutants.items():
            found[module] = Selection(variant=manifest.variant, mutant=mutant)
        for name, modules in manifest.models.overlays.items():
            (overlay,) = (o for o in known if (o.name, o.variant) == (name, manifest.variant))
            groups = {f"@{key}": value for key, value in overlay.groups().items()}
            for entry, module in modules.items():
                entries = groups.get(entry, (entry,))
                found[module] = Selection(
                    manifest.variant, overlay=overlay.sources, entries=entries
                )
    return found


SIBLINGS = siblings()


def short(module: object) -> str:
    return str(module).removeprefix("charter_models.kafka_replication_")


pytestmark = pytest.mark.xdist_group("siblings")


@cache
def edit(module: str) -> n.Model:
    return narrow(pipeline.compile_files(kafka().files, SIBLINGS[module]), "controller")


def same_code(one: CodeType, other: CodeType) -> bool:
    """Whether two functions do the same, wherever they stand and whatever their docstrings say."""
    if (one.co_names, one.co_varnames) != (other.co_names, other.co_varnames):
        return False
    return one == other or instructions(one) == instructions(other)


def instructions(code: CodeType) -> list[tuple[str, object]]:
    """The instructions of a function with their operands: a docstring is no operand of any."""
    return [
        (i.opname, instructions(i.argval) if isinstance(i.argval, CodeType) else i.argval)
        for i in dis.get_instructions(code)
    ]


def functions(module: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    """The functions of a model and of its JSON form, and the methods of its component, by name."""
    kind = module.Controller
    for part in (sys.modules[kind.__module__], module):
        for name, found in vars(part).items():
            if isinstance(found, FunctionType) and found.__module__ == part.__name__:
                yield name, found
    for name in sorted({name for parent in kind.__mro__ for name in vars(parent)}):
        found = getattr(kind, name)
        found = getattr(found, "__func__", found)
        if isinstance(found, FunctionType) and not name.startswith("__"):
            yield f"Controller.{name}", found


@pytest.mark.parametrize("module", sample(SIBLINGS, SOME, short))
def test_a_sibling_is_its_whole_page_when_it_is_imported(module: str, tmp_path: Path) -> None:
    sibling = importlib.import_module(module)
    model = edit(module)
    (component,) = (c for c in model.components if c.name == "controller")
    whole = import_model(model, component, tmp_path, f"whole_{short(module).replace('.', '_')}")
    wanted, found = dict(functions(whole)), dict(functions(sibling))
    assert wanted and wanted.keys() <= found.keys()
    others = [name for name, f in wanted.items() if not same_code(f.__code__, found[name].__code__)]
    assert others == []
    plain = dict(functions(controller))
    differing = [
        name for name, f in plain.items() if not same_code(f.__code__, found[name].__code__)
    ]
    assert differing or found.keys() - plain.keys()
    assert all(f.__globals__ is vars(sibling) for f in found.values())
    for name in ("PROTOCOL", "VARIANT", "COMPONENT", "OPERATIONS", "OBSERVES", "NEVER_ISSUED"):
        assert getattr(sibling, name) == getattr(whole, name)


OFFERED: dict[tuple[object, ...], list[tuple[Value, ...]]] = {}
"""Lists of arguments: siblings have the same instances, and mostly come to the same counters."""


def offer(machine: Machine, state: State, name: str) -> list[tuple[Value, ...]]:
    """The first lists of arguments of an operation in a state."""
    arguments, params = Arguments.at(machine, state), machine.operations[name].params
    key = (
        *(machine.instance.name, name, params),
        frozenset((counter, frozenset(v)) for counter, v in arguments.issued.all.items()),
        frozenset((place, frozenset(v)) for place, v in arguments.issued.under.items()),
    )
    if key not in OFFERED:
        OFFERED[key] = list(islice(arguments.of(params), MOST_ARGUMENTS))
    return OFFERED[key]


def test_model_of_a_release_may_differ_in_each_operation_when_it_begins_with_an_entry() -> None:
    named = [module for module in SIBLINGS if "overlays" in module and ".from_" in module]
    assert named
    for module in named:
        model = importlib.import_module(module)
        assert all(may_differ(model, operation) for operation in model.OPERATIONS)


def walk(machine: Machine, steps: int) -> Iterator[tuple[State, str, tuple[Value, ...]]]:
    """Questions along a random run."""
    picked = random.Random(20)
    state = machine.initial()
    for _ in range(steps):
        name = picked.choice(sorted(machine.operations))
        lists = offer(machine, state, name)
        if not lists:
            continue
        args = picked.choice(lists)
        yield state, name, args
        try:
            outcomes = list(machine.outcomes(state, name, args))
        except EvaluationError:
            continue
        chosen = picked.choice(outcomes).state
        if not machine.outside(chosen):
            state = chosen


def plain_of(module: str) -> ModuleType:
    """The charter's own model for the judge, in the variant of a sibling."""
    variant = SIBLINGS[module].variant
    if not variant:
        return controller
    package = f"charter_models.kafka_replication_variants.{variant}"
    return importlib.import_module(f"{package}.controller")


@pytest.mark.parametrize("module", sample(SIBLINGS, SOME, short))
def test_a_sibling_agrees_with_the_definition_when_it_moves(module: str) -> None:
    sibling, model = importlib.import_module(module), edit(module)
    alone = len(SIBLINGS[module].entries) == 1 and "from_" not in module
    changes = str(sibling.CHANGES).split() if alone else [*sibling.OPERATIONS]
    plain = plain_of(module)
    assert changes
    asked = 0
    for instance in (i for i in model.instances if i.name in WALKED):
        machine = Machine.of(model, instance)
        for question in walk(machine, STEPS):
            answers = by_evaluator(machine, *question)
            assert by_model(machine, sibling, *question) == answers
            assert question[1] in changes or by_model(machine, plain, *question) == answers
            asked += 1
    assert asked > STEPS
