"""Draws space-time diagrams of scenarios and of what searches found to fail, states, and modes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache

from charter.analysis.retell import NotARun, retell
from charter.analysis.spelt_trace import acts_of
from charter.core import nodes as n
from charter.formats.charter_files.verdicts import InstanceVerdicts, SearchedPlace
from charter.render.pages.blocks import (
    PICTURE,
    Block,
    Figure,
    Paragraph,
    TextRun,
    names_apart,
    prose,
    slug,
)
from charter.render.story.card import state_in_svg
from charter.render.story.draw import in_svg
from charter.render.story.modes import modes_in_svg, modes_of
from charter.render.story.scene import scene
from charter.render.story.tell import Story, ToldFinding, close_story, sameness, tell
from charter.semantics.machine import Machine
from charter.semantics.scenario import ScenarioFails, ScenarioTrace, follow

LONGEST_NAME = 60
"""Characters of a title in the name of its picture: file systems have a limit."""

Draw = Callable[[str], Iterator[Block]]
"""Draws the scenario with a title, or the state of a component or a system. Names of pictures that
are of no scenario have a dot, which those of scenarios have not."""

DrawFailure = Callable[[InstanceVerdicts, str], Iterator[Block]]
"""Draws how a property fails in an instance: nothing if it does not, or if no run is known."""


def story_of(model: n.Model, scenario: n.Scenario, trace: ScenarioTrace) -> Story:
    """A run of a scenario as a story."""
    machine = Machine.of(model, scenario.instance)
    acts = tuple((step.operation, step.args) for step in trace.steps)
    states = (machine.initial(), *(step.outcome.state for step in trace.steps))
    found = ToldFinding("scenario", scenario.title, acts)
    return Story(found, machine, states[0], retell(machine, acts, states))


@dataclass(frozen=True, slots=True)
class ScenarioRuns:
    """The first run of each scenario of a model as a story, told once."""

    model: n.Model
    told: dict[str, Story | ScenarioFails] = field(default_factory=dict)

    def of(self, scenario: n.Scenario) -> Story | ScenarioFails:
        """The story, or why the scenario is no run of the charter."""
        if scenario.title not in self.told:
            try:
                (first, *_) = follow(self.model, scenario)
                self.told[scenario.title] = story_of(self.model, scenario, first)
            except ScenarioFails as failure:
                self.told[scenario.title] = failure
        return self.told[scenario.title]

    def stories(self) -> Iterator[Story]:
        """Those of all scenarios that are runs."""
        found = map(self.of, self.model.scenarios)
        yield from (story for story in found if isinstance(story, Story) and story.steps)


def pictures(runs: ScenarioRuns, variant: str = "") -> Draw:
    """Draws the first run of each scenario of a model, which is that of a variant ("": of none);
    says so where there is none."""
    prefix = f"variant.{slug(variant)}." if variant else ""
    inside = f", in the variant {variant}" if variant else ""
    titled = {scenario.title: scenario for scenario in runs.model.scenarios}
    files = dict(
        zip(titled, names_apart(slug(title)[:LONGEST_NAME] for title in titled), strict=True)
    )

    def draw(title: str) -> Iterator[Block]:
        scenario = titled.get(title)
        if scenario is None:
            yield Paragraph((TextRun("It belongs to another variant."),), is_aside=True)
            return
        story = runs.of(scenario)
        if isinstance(story, ScenarioFails):
            yield Paragraph((TextRun(f"It is no run of the charter: {story.sentence()}"),))
        elif story.steps:
            path = f"pictures/{prefix}{files[title]}{PICTURE}"
            yield Figure(path, in_svg(scene(story)), f"{title}{inside}")

    return draw


def pictures_of_variants(model_of: Callable[[str], n.Model | None]) -> Callable[[str], Draw]:
    """What draws the scenarios of a variant as they run in it, each model made once; `model_of`
    gives its core (None: it has errors)."""

    @cache
    def draw(variant: str) -> Draw:
        model = model_of(variant)
        return _not_drawn if model is None else pictures(ScenarioRuns(model), variant)

    return draw


def _not_drawn(_: str) -> Iterator[Block]:
    yield Paragraph(prose("The variant has errors, so nothing is drawn: `conform check`."))


def states(runs: ScenarioRuns) -> Draw:
    """Draws of a component or a system the state of a scenario in which most has changed, and of a
    component which modes follow each other in all scenarios."""
    names = {component.name for component in runs.model.components}

    def draw(machine: str) -> Iterator[Block]:
        mine = [s for s in runs.stories() if s.machine.instance.machine == machine]
        if mine:
            fullest = max(mine, key=_count_changed)
            title = f"{machine} at the end of the scenario: {fullest.found.name}"
            svg = state_in_svg(fullest.machine, fullest.states[-1], title)
            yield Paragraph(prose("One of its states, without histories:"))
            yield Figure(f"pictures/state.{slug(machine)}{PICTURE}", svg, title)
        found = modes_of(machine, runs.stories()) if machine in names else {}
        for name, ways in found.items():
            what = f"`{name}`" if name else "its truth values and enums"
            yield Paragraph(prose(f"The modes of {what}, and what leads to them in the scenarios:"))
            title = f"Modes of {machine}{'.' if name else ''}{name}"
            file = slug(f"{machine} {name}".strip())
            yield Figure(f"pictures/modes.{file}{PICTURE}", modes_in_svg(ways, title), title)

    return draw


def _count_changed(story: Story) -> int:
    """How many variables have another value at the end of a run than before it."""
    first, last = story.initial, story.states[-1]
    return sum(v.kind != "ghost" and first[v.name] != last[v.name] for v in story.machine.variables)


def failures(model_of: Callable[[str, str], n.Model]) -> DrawFailure:
    """Draws shortest traces to violations, replayed on the definition; `model_of` gives the core of
    a variant or a mutant ("": of the charter itself). What is out of date is not drawn: its trace
    may not be possible any more."""
    drawn: dict[tuple[SearchedPlace, str], tuple[Block, ...]] = {}

    def draw(row: InstanceVerdicts, name: str) -> Iterator[Block]:
        where = row.place, name
        verdict = row.verdicts.get(name)
        if row.out_of_date or verdict is None or verdict.word != "violated":
            return
        if where not in drawn:
            drawn[where] = tuple(_failure(model_of(row.variant, row.mutant), row, name))
        yield from drawn[where]

    return draw


def _failure(model: n.Model, row: InstanceVerdicts, name: str) -> Iterator[Block]:
    """How a property fails in an instance; what is no run is told."""
    (instance,) = (one for one in model.instances if one.name == row.instance)
    machine = Machine.of(model, instance)
    kind = next((p.kind for p in model.properties if p.name == name), "eventually")
    trace = row.verdicts[name].trace
    if not trace and kind != "always":
        return
    try:
        found = ToldFinding(kind, name, acts_of(machine, trace))
        story = tell(machine, found, lambda one, other: one == other)
    except NotARun as problem:
        yield Paragraph((TextRun(f"It is no run of the charter: {problem}"),))
        return
    if kind == "eventually":
        alone = tuple(live for live in model.liveness if live.name == name)
        bare = replace(model, properties=(), liveness=alone, instances=(instance,), scenarios=())
        story = close_story(story, sameness(bare, instance))
    path = failure_path(row, name)
    title = f"{name} fails in {'' if trace else 'the first state of '}{row.instance}"
    title += f", in the variant {row.variant}" if row.variant else ""
    if row.mutant:
        title = f"{row.mutant}: {title}"
    whole = scene(story)
    if trace:
        svg = in_svg(whole)
    else:
        svg = state_in_svg(machine, story.initial, title, whole.end, whole.why)
    yield Figure(path, svg, title)


def failure_path(row: InstanceVerdicts, name: str) -> str:
    """The file that the picture of a failing property has; of a mutant there is only one."""
    mutant, place = f"mutant.{slug(row.mutant)}", f"fails {row.variant} {row.instance} {name}"
    return f"pictures/{mutant if row.mutant else slug(place)}{PICTURE}"
