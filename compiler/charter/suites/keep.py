"""Keeps a question that failed on an implementation next to its charter, in `findings.jsonl`, so
that the small suite has it from then on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from charter.core import nodes as n
from charter.core.obligations import obligations
from charter.formats.canonical import text
from charter.formats.files import regular, write_whole
from charter.formats.project import BadProject
from charter.formats.vector import ELEMENT_IDS, Question, Why
from charter.project.sources import Missing
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import NotAssumed
from charter.suites.search_results import FILE_OF_FINDINGS, FoundQuestion
from charter.suites.smoke import Desk
from charter.suites.subject import Subject
from charter.vectors.answer import NoAnswer


@dataclass(frozen=True, slots=True)
class KeptQuestion:
    """A question with the bounds of an instance, and the file that has it; `before`: it had it
    before."""

    question: Question
    instance: str
    place: Path
    before: bool


def keep_question(about: Subject, folder: Path, question: Question, title: str) -> KeptQuestion:
    """Write a question into the file of findings in the folder with the search results. Raises
    `Missing` if no instance has its bounds or if it breaks an assumption, and `BadProject` if the
    file cannot be written."""
    fitting = _fit(about, question)
    place = folder / FILE_OF_FINDINGS
    for kept in about.found.asked:
        for instance, widened in fitting.items():
            if kept.question.id in (widened.id, question.id):
                return KeptQuestion(kept.question, instance, place, True)
    instance, widened = next(iter(fitting.items()))
    line = text(FoundQuestion(widened, instance, "finding", title, ()).json())
    before = regular(place).read_text(encoding="utf-8") if place.exists() else ""
    if before and not before.endswith("\n"):
        before += "\n"
    write_whole(place, f"{before}{line}\n", BadProject)
    return KeptQuestion(widened, instance, place, False)


def _fit(about: Subject, question: Question) -> dict[str, Question]:
    """The question with the bounds of each instance in which it has an answer, the smallest one
    first. Raises `Missing` if there is none."""
    component = about.component.name
    desk = Desk(about.model, obligations(about.model, about.component))
    found: dict[str, Question] = {}
    why = ""
    for instance in sorted((i for i in about.model.instances if i.machine == component), key=_size):
        widened = _widen(desk, instance, question)
        if widened is None:
            continue
        try:
            desk.entry(widened, instance, Why((), "finding"))
        except NotAssumed as problem:
            raise Missing(f"the question cannot happen: {problem.message}") from None
        except (NoAnswer, EvaluationError, ValueError, KeyError) as problem:
            why = f"; in {instance.name} it has no answer: {problem}"
            continue
        found[instance.name] = widened
    if not found:
        elements = " ".join(
            f"{sort} = {{{', '.join(ids)}}}" for sort, ids in question.sorts.items()
        )
        consts = " ".join(f"{name} = {value}" for name, value in question.consts.items())
        raise Missing(
            f"no instance of {component} has the bounds of the question{why}; write one that has"
            f" {f'{elements} {consts}'.strip()}"
        )
    return found


def _size(instance: n.Instance) -> tuple[int, int, int]:
    """Instances that begin in the first state come first, small ones before others."""
    elements = sum(len(names) for _, names in instance.sorts)
    return len(instance.starts), elements, sum(value for _, value in instance.consts)


def _widen(desk: Desk, instance: n.Instance, question: Question) -> Question | None:
    """The question with all elements and the constants of an instance; None if that lacks elements,
    or has smaller constants."""
    planner = desk.at(instance)[0].planner
    names = planner.machine.universe.sorts
    consts = dict(planner.consts)
    if question.sorts.keys() != names.keys() or question.consts.keys() != consts.keys():
        return None
    if any(not set(ids) <= set(names[sort]) for sort, ids in question.sorts.items()):
        return None
    if any(consts[name] < value for name, value in question.consts.items()):
        return None
    sorts = {sort: _number(names[sort], ids) for sort, ids in question.sorts.items()}
    return replace(question, sorts=sorts, consts=consts)


def _number(names: tuple[str, ...], known: Mapping[str, int]) -> dict[str, int]:
    """Concrete ids of the elements of a sort, some of which have theirs."""
    free = iter(one for one in ELEMENT_IDS if one not in known.values())
    return {name: known[name] if name in known else next(free) for name in names}
