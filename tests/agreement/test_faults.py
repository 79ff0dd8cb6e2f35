"""The faults of an overlay's entry: what the definition says and what the generated model says."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from tests.support.comparing.agreement import import_model, show

from charter import api
from charter.analysis.environment import Arguments
from charter.analysis.known_faults import Failure, fails
from charter.core import nodes as n
from charter.core.valid import InvalidCore, validate
from charter.explore.native.search.explore import explore as explore_natively
from charter.explore.reference.search import explore
from charter.project.compile import check_overlay_files
from charter.prove.program import EncodingOptions, encode_component
from charter.render.python_model.emit import Page, Texts, texts
from charter.semantics.machine import Machine
from charter.vectors.plan import Planner

ROOT = Path(__file__).resolve().parents[2]
LOCK = """protocol test.lock
sort Broker
record Door { holder: option Broker, known: set Broker }
fun friends(d: Door, b: Broker) -> bool = b in d.known and size(d.known) > 1
component lock {
  state door: Door = Door { holder: none, known: {} }
  ghost state ever: bool = false
  operation learn(b: Broker) -> bool {
    branch learnt { door.known' = door.known | {b}  ever' = true  reply true }
  }
  operation take(b: Broker, hard: bool) -> bool {
    let was = door.holder
    in any order {
      branch stranger when b not in door.known  reply false
      branch busy when was != none  reply false
    }
    let free = if was == none then none else present(b)
    branch taken { door.holder' = present(b)  ever' = true  reply true }
  }
}
witness w of lock: took take/taken
instance tiny of lock { Broker = 2 }
"""
OVERLAY = """protocol test.lock
overlay target of lock {
  entry throws known_defect {
    add fault "a.Bad" saying "a \\"quoted\\" word" to lock.take/taken when friends(door, b) and hard
    add fault "a.Worse" to lock.take/taken when free == none and was == none
    add fault "a.Worst" saying "§" to lock.take/busy
    add fault "a.Strange" to lock.take/stranger when door.holder != none
  }
}
"""


def write(folder: Path) -> tuple[Path, Path]:
    """The charter and its overlay, as files."""
    charter, overlay = folder / "lock.charter", folder / "overlay.charter"
    charter.write_text(LOCK, encoding="utf-8")
    overlay.write_text(OVERLAY, encoding="utf-8")
    return charter, overlay


def page_with_faults(folder: Path) -> Texts:
    """The charter's model, with its faults."""
    charter, overlay = write(folder)
    model = api.load(charter, api.Selection(overlay=api.read_sources(overlay), entries=("throws",)))
    return texts(model, model.components[0], Page("a test", "0" * 20, "lock", "prelude"))


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path)


@pytest.fixture
def edited(places: tuple[Path, Path]) -> n.Model:
    charter, overlay = places
    assert not check_overlay_files(charter, overlay).errors
    return api.load(charter, api.Selection(overlay=api.read_sources(overlay), entries=("throws",)))


def test_faults_of_the_definition_are_those_of_the_branches_that_may_be_taken(
    edited: n.Model,
) -> None:
    machine = Machine.of(edited, edited.instances[0])
    take = machine.operations["take"]
    assert isinstance(take, n.Operation)

    def at(holder: int | None, known: set[int], b: int, *, hard: bool) -> list[tuple[str, str]]:
        state = {"door": (holder, frozenset(known)), "ever": False}
        found = fails(machine.evaluator, take, state, (b, hard))
        return [(failure.branch, failure.exception) for failure in found]

    assert at(None, {0}, 0, hard=True) == [("take/taken", "a.Worse")]
    assert at(None, {0, 1}, 0, hard=True) == [("take/taken", "a.Bad"), ("take/taken", "a.Worse")]
    assert at(None, {0, 1}, 0, hard=False) == [("take/taken", "a.Worse")]
    assert at(None, {0}, 1, hard=True) == []
    assert at(1, {0}, 0, hard=True) == [("take/busy", "a.Worst")]
    assert at(1, {0}, 1, hard=True) == [("take/stranger", "a.Strange"), ("take/busy", "a.Worst")]
    learn = machine.operations["learn"]
    assert isinstance(learn, n.Operation)
    assert fails(machine.evaluator, learn, machine.initial(), (0,)) == ()


def test_model_has_the_faults_of_the_definition_in_every_state(
    edited: n.Model, places: tuple[Path, Path], tmp_path: Path
) -> None:
    plain = api.load(places[0])
    module = import_model(edited, edited.components[0], tmp_path, "lock_that_throws")
    instance = plain.instances[0]
    graph, machine = explore(plain, instance).graph, Machine.of(edited, instance)
    sorts, consts = machine.universe.sorts, machine.universe.consts
    found: set[Failure] = set()
    for state in graph.states:
        decoded = module.decode(show(machine, state), sorts, consts)
        for name, operation in machine.operations.items():
            assert isinstance(operation, n.Operation)
            for args in islice(Arguments.at(machine, state).of(operation.params), 20):
                wanted = fails(machine.evaluator, operation, state, args)
                told = module.fails(decoded, name, machine.args_json(name, args))
                assert [Failure(f.branch, f.exception, f.saying) for f in told] == [*wanted]
                found |= set(wanted)
    assert found == {
        Failure("take/taken", "a.Bad", 'a "quoted" word'),
        Failure("take/taken", "a.Worse", ""),
        Failure("take/busy", "a.Worst", "§"),
        Failure("take/stranger", "a.Strange", ""),
    }


def test_model_without_faults_exports_none(places: tuple[Path, Path], tmp_path: Path) -> None:
    plain = api.load(places[0])
    module = import_model(plain, plain.components[0], tmp_path, "lock_that_does_not")
    assert not hasattr(module, "fails")


def test_what_searches_a_protocol_refuses_a_model_with_faults(edited: n.Model) -> None:
    instance = edited.instances[0]
    machine = Machine.of(edited, instance)
    for search in (
        lambda: explore(edited, instance),
        lambda: explore_natively(edited, instance),
        lambda: encode_component(machine, EncodingOptions()),
        lambda: Planner.of(edited, machine),
    ):
        with pytest.raises(ValueError, match=r"lock\.take/stranger has a fault"):
            search()


def test_validator_reads_the_conditions_of_faults(edited: n.Model) -> None:
    component = edited.components[0]
    learn, take = component.operations
    (fault,) = take.branches[0].faults
    for condition in (n.Local("nobody", type=fault.condition.type), take.branches[2].lets[0].value):
        first = replace(take.branches[0], faults=(replace(fault, condition=condition),))
        broken = replace(take, branches=(first, *take.branches[1:]))
        changed = replace(component, operations=(learn, broken))
        with pytest.raises(InvalidCore):
            validate(replace(edited, components=(changed,)), "a test")
