"""Tells a scenario from picture to picture: after each of its headlines what it says, what is so
then, and what happened by which rule."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from charter.analysis.retell import RetoldStep
from charter.core import nodes as n
from charter.handbook.expected_parts import find_expected_parts
from charter.handbook.pictures import Draw, ScenarioRuns
from charter.handbook.texts import LinkedTexts
from charter.render.pages.blocks import (
    PICTURE,
    Block,
    Figure,
    Heading,
    Paragraph,
    Text,
    TextRun,
    slug,
)
from charter.render.story.panel import Panel, PanelRow, panel_in_svg, panel_of, say_panel
from charter.render.story.tell import Story

FIRST_SENTENCE = re.compile(r"^.*?[.:](?=\s|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Chapter:
    """A headline of a scenario with its comment; `steps` are numbers of steps of the story."""

    title: str
    doc: str
    steps: range


def list_picture_books(model: n.Model) -> Iterator[n.Scenario]:
    """The scenarios that the handbook shows from picture to picture."""
    return filter(is_picture_book, model.scenarios)


def picture_books(texts: LinkedTexts, runs: ScenarioRuns) -> Draw:
    """Tells the scenario with a title, if it is one of those and a run of the charter."""
    known = {scenario.title: scenario for scenario in list_picture_books(runs.model)}

    def tell(title: str) -> Iterator[Block]:
        story = runs.of(known[title]) if title in known else None
        if isinstance(story, Story):
            yield from picture_book(texts, runs.model, known[title], story)

    return tell


def is_picture_book(scenario: n.Scenario) -> bool:
    """Whether each headline of a scenario has a comment: it is shown from picture to picture."""
    moments = [line for line in scenario.steps if isinstance(line, n.Moment)]
    return len(moments) > 1 and all(moment.doc for moment in moments)


def picture_book(
    texts: LinkedTexts, model: n.Model, scenario: n.Scenario, story: Story
) -> Iterator[Block]:
    """The pictures of a scenario with what its comments say. A picture has the parts of the state
    that the expectations of the scenario read, if any of them changes in it."""
    chapters = tuple(_chapters(scenario))
    shown = find_expected_parts(model, scenario)
    whole = [panel_of(story.machine, story.states[c.steps.stop], shown) for c in chapters]
    panels = _leave_out_constant(whole)
    before = panels[0]
    for number, (chapter, panel) in enumerate(zip(chapters, panels, strict=True), 1):
        yield Heading(4, chapter.title, anchor=f"{slug(scenario.title)}-{number}")
        yield from texts.paragraphs(chapter.doc)
        title = say_panel(story.machine, panel)
        svg = panel_in_svg(story.machine, before, panel, chapter.title)
        yield Figure(f"pictures/{slug(scenario.title)[:40]}.{number}{PICTURE}", svg, title)
        for step in chapter.steps:
            yield Paragraph(_say_step(texts, story, story.steps[step]), is_aside=True)
        before = panel
    yield Paragraph((TextRun("The whole scenario, with its messages, and as it is written:"),))


def _chapters(scenario: n.Scenario) -> Iterator[_Chapter]:
    """The headlines with the steps below each."""
    title = doc = ""
    first = done = 0
    for line in scenario.steps:
        if isinstance(line, n.Moment):
            if title:
                yield _Chapter(title, doc, range(first, done))
            title, doc, first = line.title, line.doc, done
        elif isinstance(line, n.Do) and not line.never:
            done += 1
    yield _Chapter(title, doc, range(first, done))


def _leave_out_constant(panels: Sequence[Panel]) -> list[Panel]:
    """The panels without what never changes: a line with the same name that says the same on each
    card of all panels. If a name says something else anywhere, all its lines stay."""
    said: dict[str, set[tuple[int, PanelRow]]] = {}
    for panel in panels:
        for lane, rows in enumerate(panel):
            for row in rows:
                said.setdefault(_about(row), set()).add((lane, row))
    lanes = {about: {lane for lane, _ in each} for about, each in said.items()}
    moving = {about for about, each in said.items() if len(each) > len(lanes[about])}
    return [
        tuple(tuple(row for row in rows if _about(row) in moving) for rows in panel)
        for panel in panels
    ]


def _about(row: PanelRow) -> str:
    """What a line is about; of a truth value its name."""
    return row.name or row.text.removeprefix("not ")


def _say_step(texts: LinkedTexts, story: Story, step: RetoldStep) -> Text:
    """A step with the first sentence of its comment, and the rules that it took."""
    machine = story.machine
    match = FIRST_SENTENCE.match(machine.operations[step.operation].doc)
    about = re.sub(":$", ".", " ".join(match[0].split())) if match else ""
    given = ", ".join(value for _, value in step.args)
    target = texts.target(("operation", machine.instance.machine, step.operation))
    rules: list[TextRun] = []
    for rule in dict.fromkeys(rule.rpartition(".")[2] for rule in step.rules):
        rules += [TextRun(", " if rules else " By ")]
        rules += texts.link(f"`{rule}`")
    rules += [TextRun(".")] if rules else []
    call = TextRun(step.operation, "code", target), TextRun(f"({given}): ")
    return *call, *texts.link(about), *rules
