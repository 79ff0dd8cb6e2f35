"""Exact counts of the examples' instances, pinned in examples/*.txt (`pytest --accept` rewrites
them), and every mutant of an example caught by the property that it names."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support import plain
from tests.support.counted import findings
from tests.support.golden import Golden

from charter import api
from charter.core import nodes as n
from charter.diagnostics import Source
from charter.explore.reference.explore import Exploration, Options, explore
from charter.explore.reference.liveness import check_liveness

SPEC = Path(__file__).resolve().parents[2] / "spec" / "examples"
PINS = Path(__file__).parent / "examples"
MODELS = {name: plain.model(name) for name in plain.EXAMPLES}
TINY = [
    pytest.param(name, instance.name, marks=plain.together(name, instance.name))
    for name, model in MODELS.items()
    for instance in model.instances
    if instance.name.startswith("tiny") and name != "primary_backup"  # it has tests of its own
]
MOST = 2_000
"""How many states of a bent example are searched: bent, some have a hundred thousand."""
MUTANTS = [
    (name, mutant.name)
    for name, model in MODELS.items()
    for mutant in model.mutants
    if name != "primary_backup"
]


def instance_of(model: n.Model, name: str) -> n.Instance:
    return next(i for i in model.instances if i.name == name)


def summary(found: Exploration) -> str:
    """The counts of an exploration as lines."""
    about = (found.graph.flat.machine.instance, found)
    lines = [
        f"distinct   {found.distinct}",
        f"generated  {found.generated}",
        f"levels     {' '.join(map(str, found.levels))}",
        *findings(found, 30),
    ]
    for verdict in check_liveness(found.graph.flat.machine.model, *about, Options()):
        lines.append(f"eventually {verdict.name:30} {verdict.answer}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("name", "instance"), TINY)
def test_counts_are_the_pinned_ones_when_an_example_is_explored(
    name: str, instance: str, golden: Golden
) -> None:
    found = plain.explored(name, instance)
    assert found.complete and not found.vacuous
    golden.matches(PINS / f"{name}-{instance}.txt", summary(found))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_phase_commit", "ring_election", "dining_philosophers"])
def test_counts_are_the_pinned_ones_when_a_small_instance_is_explored(
    name: str, golden: Golden
) -> None:
    found = explore(MODELS[name], instance_of(MODELS[name], "small"))
    assert found.complete and found.fine and not found.vacuous
    golden.matches(PINS / f"{name}-small.txt", summary(found))


@pytest.mark.parametrize(("name", "instance"), TINY)
def test_verdicts_agree_when_symmetry_is_switched_off(name: str, instance: str) -> None:
    reduced = plain.explored(name, instance)
    whole = plain.explored(name, instance, symmetry=False)
    assert whole.distinct >= reduced.distinct
    for one, other in zip(reduced.properties, whole.properties, strict=True):
        assert (one.name, bool(one.seen)) == (other.name, bool(other.seen))
        assert (one.trace and len(one.trace)) == (other.trace and len(other.trace))


@pytest.mark.parametrize(("name", "mutant"), MUTANTS)
def test_the_property_catches_the_mutant_when_its_instance_is_explored(
    name: str, mutant: str
) -> None:
    bent = api.load(SPEC / f"{name}.charter", api.Selection(mutant=mutant))
    about = next(m for m in MODELS[name].mutants if m.name == mutant)
    found = explore(bent, instance_of(bent, about.instance), Options(most_states=MOST))
    caught = {f.name for f in found.properties if f.seen and f.kind != "witness"}
    if any(live.name == about.caught_by for live in bent.liveness):
        verdicts = check_liveness(bent, instance_of(bent, about.instance), found, Options())
        caught = {v.name for v in verdicts if v.answer == "fails"}
    assert about.caught_by in caught


@pytest.mark.parametrize("name", MODELS)
def test_an_example_is_as_the_formatter_writes_it(name: str) -> None:
    path = SPEC / f"{name}.charter"
    text = path.read_text(encoding="utf-8")
    assert api.formatted(Source(path.name, text)) == text


@pytest.mark.parametrize("name", MODELS)
def test_an_example_has_mutants_and_each_names_a_property(name: str) -> None:
    model = MODELS[name]
    named = {p.name for p in model.properties} | {live.name for live in model.liveness}
    assert len(model.mutants) >= 2
    assert {mutant.caught_by for mutant in model.mutants} <= named


def test_every_example_is_in_the_table_of_the_readme() -> None:
    page = (SPEC / "README.md").read_text(encoding="utf-8")
    assert not [name for name in MODELS if f"({name}.charter)" not in page]
