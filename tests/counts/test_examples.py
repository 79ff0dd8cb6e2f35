"""Exact counts of the examples' instances, pinned in examples/*.txt (`pytest --accept` rewrites
them), and every mutant of an example caught by the property that it names."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support import spec
from tests.support.comparing.sampled import sample
from tests.support.counted import branches_of, findings, never_met
from tests.support.golden import Golden

from charter import api
from charter.cache.files import cache_folder
from charter.core import nodes as n
from charter.diagnostics import Source
from charter.explore.native.liveness.check_liveness import check_liveness
from charter.explore.native.search.explore import NativeOptions
from charter.explore.native.states.graph import CompiledGraph
from charter.project.compile import format_text

SPEC = Path(__file__).resolve().parents[2] / "spec" / "examples"
PINS = Path(__file__).parent / "examples"
MODELS = {name: spec.model(name) for name in spec.EXAMPLES}
TINY = [
    pytest.param(name, instance.name, marks=spec.together(name, instance.name))
    for name, model in MODELS.items()
    for instance in model.instances
    if instance.name.startswith("tiny") and name != "primary_backup"  # it has tests of its own
]
MOST = 2_000
"""How many states of an edited example are searched: edited, some have a hundred thousand."""
MUTANTS = [
    (name, mutant.name)
    for name, model in MODELS.items()
    for mutant in model.mutants
    if name != "primary_backup"
]


def instance_of(model: n.Model, name: str) -> n.Instance:
    return next(i for i in model.instances if i.name == name)


def summary(graph: CompiledGraph) -> str:
    """The counts of a graph as lines."""
    machine, counts = graph.successors.machine, graph.found.counts
    lines = [
        f"distinct   {counts.distinct}",
        f"generated  {counts.generated}",
        f"levels     {' '.join(map(str, counts.levels))}",
        *findings(graph, 30, branches_of(graph)),
    ]
    options = NativeOptions(cache=cache_folder("engine"))
    for verdict in check_liveness(machine.model, machine.instance, options):
        lines.append(f"eventually {verdict.name:30} {verdict.answer}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("name", "instance"), TINY)
def test_counts_are_the_pinned_ones_when_an_example_is_explored(
    name: str, instance: str, golden: Golden
) -> None:
    graph = spec.graph(name, instance)
    assert graph.found.counts.complete and not never_met(graph.found)
    golden.matches(PINS / f"{name}-{instance}.txt", summary(graph))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_phase_commit", "ring_election", "dining_philosophers"])
def test_counts_are_the_pinned_ones_when_a_small_instance_is_explored(
    name: str, golden: Golden
) -> None:
    graph = spec.graph(name, "small")
    assert graph.found.fine and not never_met(graph.found)
    golden.matches(PINS / f"{name}-small.txt", summary(graph))


@pytest.mark.parametrize(("name", "instance"), TINY)
def test_verdicts_agree_when_symmetry_is_switched_off(name: str, instance: str) -> None:
    reduced = spec.explore_instance(name, instance)
    whole = spec.explore_instance(name, instance, symmetry=False)
    assert whole.counts.distinct >= reduced.counts.distinct
    for one, other in zip(reduced.properties, whole.properties, strict=True):
        assert (one.name, bool(one.seen)) == (other.name, bool(other.seen))
        assert (one.trace and len(one.trace)) == (other.trace and len(other.trace))


@pytest.mark.parametrize("place", sample(MUTANTS, 8, "-".join))
def test_the_property_catches_the_mutant_when_its_instance_is_explored(
    place: tuple[str, str],
) -> None:
    name, mutant = place
    edited = api.load(SPEC / f"{name}.charter", api.Selection(mutant=mutant))
    about = next(m for m in MODELS[name].mutants if m.name == mutant)
    options = api.ExploreOptions(engine="native", most_states=MOST)
    found = api.explore(edited, about.instance, options, lambda *_: None)
    assert found.verdicts[about.caught_by] == "violated"


@pytest.mark.parametrize("name", MODELS)
def test_an_example_is_as_the_formatter_writes_it(name: str) -> None:
    path = SPEC / f"{name}.charter"
    text = path.read_text(encoding="utf-8")
    assert format_text(Source(path.name, text)) == text


@pytest.mark.parametrize("name", MODELS)
def test_an_example_has_mutants_and_each_names_a_property(name: str) -> None:
    model = MODELS[name]
    named = {p.name for p in model.properties} | {live.name for live in model.liveness}
    assert len(model.mutants) >= 2
    assert {mutant.caught_by for mutant in model.mutants} <= named


def test_every_example_is_in_the_table_of_the_readme() -> None:
    page = (SPEC / "README.md").read_text(encoding="utf-8")
    assert not [name for name in MODELS if f"({name}.charter)" not in page]
