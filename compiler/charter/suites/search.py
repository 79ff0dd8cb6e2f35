"""Searches for the questions of the small suite: for obligations in small instances, then with the
solver if it is installed; steps that distinguish mutants. It takes up to minutes, and its results
are committed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

from charter.core import nodes as n
from charter.core.reach import always
from charter.explore.select import TooManyStates
from charter.formats.vector import Why
from charter.semantics.builtins import EvaluationError
from charter.suites.build import Progress
from charter.suites.explored import ExploredInstance, HowFar
from charter.suites.mutant_questions import find_by_exploration, keep_told_from_start
from charter.suites.proofs import list_searched, partial
from charter.suites.question_search import EXPLORED, MeetingTransition, QuestionSearch
from charter.suites.reachable_states import ReachableStates
from charter.suites.search_results import (
    LEFT_OUT,
    NO_INSTANCE,
    NO_NOTE,
    NO_SOLVER,
    NOT_AS_WRITTEN,
    Found,
    FoundQuestion,
    bounds_digests,
    in_order,
    list_renewed,
    list_unasked_mutants,
    mutants_digests,
    rules_digest,
)
from charter.suites.smoke import (
    Desk,
    has_bounds_of,
    smoke,
)
from charter.suites.subject import Subject
from charter.suites.systems.traces import keep_from_systems
from charter.suites.walked import STEPS, WALKS, keep_walked
from charter.vectors.answer import NoAnswer
from charter.vectors.plan import OPEN


@dataclass(slots=True)
class PartsTold:
    """The progress of a search: how many of `total` parts are done, and how far the next one is."""

    progress: Progress
    total: int
    done: int = 0

    def within(self, part: str) -> Callable[[str], None]:
        """A function that tells how far a part is."""
        return lambda how_far: self.progress(f"{part}: {how_far}", self.done, self.total)

    def next(self, part: str) -> None:
        """A part is done."""
        self.done += 1
        self.progress(part, self.done, self.total)

    def end(self, part: str) -> None:
        """All is done."""
        self.done = self.total
        self.progress(part, self.done, self.total)


def search(about: Subject, progress: Progress, solver: bool, most_states: int = 0) -> Found:
    """Search for questions in all small instances, with the solver or without; an instance with
    more than `most_states` is left out (0: none). Of earlier searches only the questions for
    findings are kept, which are written by hand, and what the solver found for the same rules, if
    it is not asked now: so the result does not depend on the order of edits."""
    found = QuestionSearch.of(about)
    name = about.component.name
    chosen = list_searched(about.model, name)
    told = PartsTold(progress, len(chosen) + 3)
    for entry in found.desk.scenarios(name):
        found.include(entry)
    _keep_earlier(found, "finding")
    for instance in chosen:
        _explore(found, instance, HowFar(most_states, told.within(instance.name)))
        told.next(f"{instance.name}, {len(found.left)} left")
    tiny = tuple(instance for instance in chosen if instance.name not in found.left_out)
    found.keep_pairs()
    found.keep_reached()
    if not any(i.machine == name for i in about.model.instances):
        for row in found.left:
            found.note(row, f"{name}{NO_INSTANCE}")
        return _note(found, {}, (), found.explain_open())
    if not solver:
        if about.found.is_of(about.model):
            _keep_earlier(found, "solver")
        find_by_exploration(found, tiny, told.within("mutants"))
        _begin_at_first(found, tiny, told)
        return _with_earlier_proofs(found)
    return _with_solver(found, tiny, told)


def _with_solver(found: QuestionSearch, tiny: Sequence[n.Instance], told: PartsTold) -> Found:
    """The results of a search with the solver, or without it for rules that it cannot encode."""
    from charter import prove  # needs z3
    from charter.suites import solving

    try:
        proofs, lemmas = solving.solve(found, tiny, told.within("solver"))
        told.next(f"solver, {len(found.left)} left")
        unreached = solving.mutants(found, told.within("mutants"))
        find_by_exploration(found, tiny, told.within("mutants"), unreached)
    except prove.CannotEncode as problem:
        for row in found.left:
            found.note(row, f"the solver was not asked, as it has no encoding of {problem}")
        find_by_exploration(found, tiny, told.within("mutants"))
        proofs, lemmas = {}, ()
    _begin_at_first(found, tiny, told)
    return _note(found, proofs, lemmas, found.explain_open())


def _begin_at_first(found: QuestionSearch, tiny: Sequence[n.Instance], parts: PartsTold) -> None:
    """Look for questions from the first state that show what only those from given states show, and
    drop the others."""
    name = found.about.component.name
    mine = (i for i in found.about.model.instances if i.machine == name)
    others = [i for i in mine if i not in tiny and i.name not in found.left_out]
    walked = (*tiny, *others)
    keep_walked(found, walked, parts.within("paths"))
    found.paths = (
        f"no path from the first state in {', '.join(i.name for i in tiny) or 'any instance'}, nor"
        f" in {WALKS} walks of {STEPS} operations in each of {len(walked)} instances"
    )
    keep_from_systems(found, parts.within("systems"))
    titles = keep_told_from_start(found, tiny, parts.within("mutants"))
    found.drop_twins(titles)
    parts.end("mutants")


def _note(
    found: QuestionSearch,
    proofs: Mapping[str, str],
    lemmas: tuple[str, ...],
    notes: Mapping[str, str],
) -> Found:
    """The results of a search."""
    about = found.about
    rules = rules_digest(about.model, lemmas)
    bounds = bounds_digests(about.model, about.component.name)
    asked = tuple(in_order(found.asked))
    mutants = mutants_digests(about.model, about.component.name)
    left_out, paths = found.left_out, found.paths
    return Found(
        asked, proofs, lemmas, rules, notes, bounds, mutants, found.told, left_out, paths,
        found.systems,
    )  # fmt: skip


def _with_earlier_proofs(found: QuestionSearch) -> Found:
    """The results of a search without the solver: its earlier proofs stay if they are about the
    same rules."""
    about, earlier = found.about, found.about.found
    proofs = earlier.select_current(about.model, about.component.name).proofs
    lemmas = earlier.lemmas if proofs else ()
    for row in found.left - set(proofs):
        found.note(row, NO_SOLVER)
    notes = {row: note for row, note in found.explain_open().items() if row not in proofs}
    return _note(found, proofs, lemmas, notes)


def is_stale(about: Subject, most_states: int = 0) -> bool:
    """Whether the earlier search was of other rules, instances or mutants, or without the solver,
    which is installed now, or has proofs that are not about all instances, or left out an instance
    at a smaller number of states."""
    unasked = any(NO_SOLVER in note for note in about.found.notes.values())
    missed = unasked and find_spec("z3") is not None
    name = about.component.name
    new = list_renewed(about.model, name, about.found)
    new += list_unasked_mutants(about.model, name, about.found)
    partly = partial(about.found.proofs or {}, about.model, name)
    other = not about.found.is_of(about.model)
    bounds = about.found.still_left_out(about.model, name).values()
    further = any(not most_states or most_states > bound for bound in bounds)
    return missed or other or bool(new) or bool(partly) or further or is_outdated(about)


def leaves_open(about: Subject) -> bool:
    """Whether the small suite leaves an obligation open of which the earlier search says nothing: a
    scenario covered it then, an earlier version of conform did not ask for it, or its proof is not
    as a search wrote it."""
    return any(
        row.status == "open" and row.note in (NO_NOTE, NOT_AS_WRITTEN)
        for row in smoke(about).ledger.rows
    )


def is_outdated(about: Subject) -> bool:
    """Whether an earlier question must go, although the rules are the same: its instance has other
    bounds now, or it begins in a state that an `always` property excludes."""
    return len([*_standing(about, Desk(about.model, ()))]) < len(about.found.asked)


def _standing(about: Subject, desk: Desk) -> Iterator[FoundQuestion]:
    """The earlier questions whose instances have the bounds that they were found with, and that
    begin in a state where the `always` properties hold."""
    instances = {i.name: i for i in about.model.instances}
    for asked in about.found.asked:
        instance = instances.get(asked.instance)
        if instance is None or not has_bounds_of(asked.question, desk.at(instance)[0].planner):
            continue
        try:
            if _begins_well(about, desk, asked):
                yield asked
        except (EvaluationError, ValueError, KeyError):  # its variables are others now
            continue


def _keep_earlier(found: QuestionSearch, source: str) -> None:
    """Keep the earlier questions of a source that stand and still have an answer."""
    about = found.about
    instances = {i.name: i for i in about.model.instances}
    for asked in _standing(about, found.desk):
        if asked.source != source:
            continue
        why = Why((), asked.source, asked.title, OPEN, asked.purpose)
        try:
            entry = found.desk.entry(asked.question, instances[asked.instance], why)
        except (NoAnswer, EvaluationError, ValueError, KeyError):
            continue
        if entry.vector.why.purpose != asked.purpose:  # it takes other branches now
            continue
        found.include(entry)
        found.asked.append(asked)


def _begins_well(about: Subject, desk: Desk, asked: FoundQuestion) -> bool:
    """Whether the state that a question of the solver begins in has all `always` properties."""
    if asked.source != "solver" or not isinstance(asked.question.given, dict):
        return True
    instance = next(i for i in about.model.instances if i.name == asked.instance)
    machine = desk.at(instance)[0].machine
    state = machine.scope(machine.load(machine.from_durable(asked.question.given)))
    return all(machine.holds(prop, state) for prop in always(about.model, about.component.name))


def _explore(found: QuestionSearch, instance: n.Instance, pace: HowFar) -> None:
    try:
        explored = ExploredInstance.of(found.about.model, instance, found.desk.wanted, pace)
    except TooManyStates as problem:
        found.left_out[instance.name] = problem.searched
        for row in found.left:
            found.note(row, f"{LEFT_OUT}{problem}", instance)
        return
    planner = found.desk.at(instance)[0]
    found.reachable[instance.name] = ReachableStates.of(explored, planner, instance)
    classes, every = explored.classes(), explored.every()
    why = Why((), "exploration", "", OPEN, ())
    for transition, vector in explored.list_loaded_steps(every):
        way = MeetingTransition(frozenset(), explored, transition, instance)
        found.keep_transition(way, replace(vector, why=why), always=False)
    found.keep_amounts(explored, instance)
    titles = {asked.title for asked in found.asked if asked.source == "witness"}
    for vector in explored.witnesses():
        why = vector.why
        if why.title not in titles:
            found.keep(vector, instance, replace(why, obligations=()))
        elif found.apart:
            found.keep(vector, instance, Why((), "exploration", "", OPEN, ()))
    found.plan_walks(explored, instance)
    for other in (explored.engine, explored.opened):
        planner.planner.answers.crowded |= other.planner.answers.crowded
    found.looked[instance.name] = -(-classes // every), classes
    for row in found.left:
        found.note(row, EXPLORED, instance)
