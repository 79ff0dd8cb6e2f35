"""Questions that tell a mutant from the charter, found by exploration."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from charter.core import nodes as n
from charter.formats.vector import Vector, Why
from charter.project import pipeline
from charter.semantics.machine import Machine
from charter.suites.explored import ExploredInstance, HowFar
from charter.suites.question_search import QuestionSearch
from charter.suites.search_results import mutants_of
from charter.suites.smoke import SmokeVector, mutant_model, tells_title
from charter.vectors.answer import Answers
from charter.vectors.kills import tells
from charter.vectors.plan import OPEN


def find_by_exploration(
    found: QuestionSearch,
    tiny: Sequence[n.Instance],
    tell: Callable[[str], None],
    names: Collection[str] | None = None,
) -> None:
    """For each mutant, or each of `names`, that no question was made for, a transition of a small
    instance after which all of its runs differ."""
    told = {one.title for one in found.asked}
    asked = _mutants(found) if names is None else sorted(names)
    left = _models(found, (name for name in asked if tells_title(name) not in told))
    for instance in tiny if left else ():
        explored = _explore(found, instance, tell)
        vectors = tuple(explored.list_loaded(explored.every()))
        for name in tuple(left):
            mutant = _answers(left[name], instance)
            vector = next((vector for vector in vectors if _differs(mutant, vector)), None)
            if vector is not None:
                found.keep(vector, instance, _why(name))
                del left[name]


def keep_told_from_start(
    found: QuestionSearch, tiny: Sequence[n.Instance], tell: Callable[[str], None]
) -> frozenset[str]:
    """For each mutant that only questions from given states tell, keep one from the first state,
    where there is one: many adapters cannot load a state. Returns the titles of the questions for
    the mutants that some question from the first state tells."""
    left = _models(found, _mutants(found))
    for name in tuple(left):
        if _is_told(left[name], found.begun):
            del left[name]
    starting = (i for i in tiny if found.desk.at(i)[0].planner.start()[1] is None)
    for instance in starting if left else ():
        explored = _explore(found, instance, tell)
        steps = tuple(explored.list_loaded_steps(explored.every()))
        for name in tuple(left):
            mutant = _answers(left[name], instance)
            ways = (transition for transition, vector in steps if _differs(mutant, vector))
            walks = (explored.from_start(transition, _why(name)) for transition in ways)
            walk = next((w for w in walks if w is not None and _differs(mutant, w)), None)
            if walk is not None:
                found.keep(walk, instance, _why(name))
                del left[name]
    return frozenset(tells_title(name) for name in _mutants(found) if name not in left)


def _explore(
    found: QuestionSearch, instance: n.Instance, tell: Callable[[str], None]
) -> ExploredInstance:
    """An instance that was searched to its end before, so it needs no bound."""
    pace = HowFar(tell=lambda how_far: tell(f"{instance.name}, {how_far}"))
    return ExploredInstance.of(found.about.model, instance, pace=pace)


def _mutants(found: QuestionSearch) -> list[str]:
    about = found.about
    return [mutant.name for mutant in mutants_of(about.model, about.component.name)]


def _models(found: QuestionSearch, names: Iterable[str]) -> dict[str, n.Model]:
    files = pipeline.parse_or_refuse(found.about.sources)
    return {name: mutant_model(found.about, files, name) for name in names}


def _is_told(mutant: n.Model, entries: Iterable[SmokeVector]) -> bool:
    instances: dict[str, Answers] = {}
    for entry in entries:
        name = entry.instance.name
        answers = instances.get(name) or _answers(mutant, entry.instance)
        instances[name] = answers
        if _differs(answers, entry.vector):
            return True
    return False


def _answers(mutant: n.Model, instance: n.Instance) -> Answers:
    machine = Machine.of(mutant, replace(instance, offers=(), only=()))
    return Answers(machine, machine.outcomes)


def _differs(mutant: Answers, vector: Vector) -> bool:
    return tells(mutant, vector.question, vector.answer) == "always"


def _why(mutant: str) -> Why:
    return Why((), "exploration", tells_title(mutant), OPEN, ())
