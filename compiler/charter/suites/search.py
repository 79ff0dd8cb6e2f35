"""Searches for the questions of the small suite: for obligations in small instances, then with the
solver; proofs for infeasible ones; steps that distinguish mutants. It takes minutes, and its
results are committed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from charter import prove as smt
from charter.core import nodes as n
from charter.core.obligations import Obligation, obligations
from charter.formats.vector import Vector, Why
from charter.project import pipeline
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import Scope
from charter.semantics.machine import Machine
from charter.suites.build import TINY, Progress
from charter.suites.explored import ExploredInstance
from charter.suites.found import Found, FoundQuestion, in_order, rules_digest
from charter.suites.smoke import Desk, mutant_model, mutants_of, tells_title
from charter.suites.subject import Subject
from charter.vectors.answer import NoAnswer
from charter.vectors.plan import OPEN, PlannedStep

LOOKED_AT = 400
"""The most classes of transitions of one instance whose coverage is computed."""

DEPTH = 5
"""The most steps of runs that the solver searches for."""

PROOF_INSTANCE = "standard"
"""The name of the instance in which the solver searches for single steps; if missing, the first
instance."""


@dataclass(slots=True)
class QuestionSearch:
    """The state of a search for questions: obligations that are left, and the questions kept.
    `notes` has, for each obligation that is not met, the results of the parts of the search."""

    about: Subject
    desk: Desk
    left: set[str]
    asked: list[FoundQuestion] = field(default_factory=list)
    notes: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def note(self, obligation: str, outcome: str, instance: n.Instance | None = None) -> None:
        """Record the result of a part of the search for an obligation, and its instance."""
        places = self.notes.setdefault(obligation, {}).setdefault(outcome, [])
        if instance is not None:
            places.append(instance.name)

    def opened(self) -> dict[str, str]:
        """For each obligation that is left, how far the search went and why no further."""
        return {
            row: "; ".join(
                f"{outcome} ({', '.join(places)})" if places else outcome
                for outcome, places in self.notes.get(row, {}).items()
            )
            for row in self.left
        }

    def keep(self, vector: Vector | None, instance: n.Instance, why: Why) -> bool:
        """Keep a vector if it meets an obligation that nothing met so far."""
        if vector is None:
            return False
        try:
            entry = self.desk.entry(vector.question, instance, why)
        except (NoAnswer, EvaluationError, ValueError):
            return False
        new = entry.meets & self.left
        if not new and why.source != "witness" and not why.title.startswith("mutant "):
            return False
        self.left -= new
        first = next((o.name for o in self.desk.wanted if o.name in new), "")
        title = why.title or first
        self.asked.append(
            FoundQuestion(vector.question, instance.name, why.source, title, why.purpose)
        )
        return True


def search(about: Subject, progress: Progress) -> Found:
    """Search for what is missing. Earlier questions are kept if they still have an answer; the
    small instances are searched again only if a branch or a reply is not covered. Proofs are always
    repeated."""
    wanted = obligations(about.model, about.component)
    found = QuestionSearch(about, Desk(about.model, wanted), {o.name for o in wanted})
    name = about.component.name
    tiny = [i for i in about.model.instances if i.machine == name and i.name.startswith(TINY)]
    total = len(tiny) + 3
    for entry in found.desk.scenarios(name):
        found.left -= entry.meets
    _again(found)
    if any(row.startswith(("branch ", "reply ")) for row in found.left):
        for number, instance in enumerate(tiny, 1):
            _explored(found, instance)
            progress(f"{instance.name}, {len(found.left)} left", number, total)
    else:
        for row in found.left:
            found.note(row, "not explored again, as every branch and reply is covered")
    proofs, lemmas = _solved(found, tiny)
    progress(f"solver, {len(found.left)} left", total - 2, total)
    _mutants(found)
    progress("mutants", total, total)
    rules = rules_digest(about.model, lemmas)
    return Found(tuple(in_order(found.asked)), proofs, lemmas, rules, found.opened())


def _again(found: QuestionSearch) -> None:
    """Keep earlier questions that still have an answer and begin in a state where the `always`
    properties hold."""
    about = found.about
    instances = {i.name: i for i in about.model.instances}
    for asked in about.found.asked:
        instance = instances.get(asked.instance)
        if instance is None:
            continue
        why = Why((), asked.source, asked.title, OPEN, asked.purpose)
        try:
            if _begins_well(found, asked, instance):
                found.left -= found.desk.entry(asked.question, instance, why).meets
                found.asked.append(asked)
        except (NoAnswer, EvaluationError, ValueError, KeyError):
            continue


def _begins_well(found: QuestionSearch, asked: FoundQuestion, instance: n.Instance) -> bool:
    machine = found.desk.at(instance)[0].machine
    if asked.source != "solver" or not isinstance(asked.question.given, dict):
        return True
    state = Scope(machine.loaded(machine.from_durable(asked.question.given)))
    model, name = found.about.model, found.about.component.name
    return all(machine.holds(prop, state) for prop in smt.always(model, name))


def _explored(found: QuestionSearch, instance: n.Instance) -> None:
    explored = ExploredInstance.of(found.about.model, instance)
    classes = sum(1 for _ in explored.graph.cases())
    every = max(1, classes // LOOKED_AT)
    for vector in explored.loaded(every):
        found.keep(vector, instance, Why((), "exploration", "", OPEN, ()))
    titles = {asked.title for asked in found.asked if asked.source == "witness"}
    for vector in explored.witnesses():
        why = vector.why
        if why.title not in titles:
            found.keep(vector, instance, replace(why, obligations=()))
    looked = -(-classes // every)
    for row in found.left:
        found.note(
            row,
            f"not met by {looked} of {classes} classes of transitions",
            instance,
        )


# --- the solver ----------------------------------------------------------------------------------


def _solved(
    found: QuestionSearch, tiny: Sequence[n.Instance]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Search with the solver for what is left; returns its proofs, and the lemmas that they use.
    Steps start in states that satisfy all `always` properties; lemmas are those that are proved."""
    about = found.about
    mine = [i for i in about.model.instances if i.machine == about.component.name]
    instance = next((i for i in mine if i.name == PROOF_INSTANCE), mine[0])
    opened = replace(instance, offers=(), only=())
    machine = Machine.of(about.model, opened)
    lemmas = smt.always(about.model, about.component.name)
    kept = smt.invariants(machine, lemmas).proved
    proved = tuple(lemma for lemma in lemmas if lemma.name in kept)
    _single(found, machine, instance, lemmas)
    proofs: dict[str, str] = {}
    question = smt.StepQuestion(_left(found), proved)
    for answer in smt.single_step(machine, question):
        match answer:
            case smt.Infeasible(obligation=row, core=core):
                rests = ", ".join(core) or "the rules alone"
                proofs[row] = f"proved in {instance.name}: {rests}"
                found.left.discard(row)
            case smt.Undecided(obligation=row, reason=reason):
                found.note(row, f"no proof: the solver gave up, {reason}", instance)
            case _:
                found.note(
                    answer.obligation,
                    "no proof: a step from a state that no lemma excludes meets it",
                    instance,
                )
    for small in tiny:
        _runs(found, small)
    return proofs, tuple(kept)


def _left(found: QuestionSearch) -> tuple[Obligation, ...]:
    return tuple(o for o in found.desk.wanted if o.name in found.left)


def _single(
    found: QuestionSearch, machine: Machine, instance: n.Instance, lemmas: tuple[n.Property, ...]
) -> None:
    """Single steps from states that can be loaded."""
    engine, _ = found.desk.at(instance)
    question = smt.StepQuestion(_left(found), lemmas, loadable=True)
    where = "a step from a loaded state"
    for answer in smt.single_step(machine, question):
        match answer:
            case smt.SingleStep(obligation=row) if row in found.left:
                why = Why((), "solver", row, OPEN, ())
                vector = engine.planner.loaded(step_of(answer.transition), why)
                if not found.keep(vector, instance, why):
                    found.note(row, f"{where}: there is one, which makes no vector", instance)
            case smt.SingleStep():
                pass  # met by an earlier vector
            case smt.Infeasible(obligation=row):
                found.note(row, f"{where}: there is none", instance)
            case smt.Undecided(obligation=row, reason=reason):
                found.note(row, f"{where}: the solver gave up, {reason}", instance)


def _runs(found: QuestionSearch, instance: n.Instance) -> None:
    """Runs from the initial state, for obligations that no loadable state meets."""
    machine = Machine.of(found.about.model, instance)
    engine, _ = found.desk.at(instance)
    goals = [smt.Meets(o) for o in _left(found)]
    if not goals:
        return
    for run in smt.reach(machine, goals, DEPTH):
        match run:
            case smt.Trace(goal=row):
                acts = [(step.operation, step.args) for step in run.steps]
                branches = [step.branch for step in run.steps]
                why = Why((), "solver", row, OPEN, ())
                kept = found.keep(engine.planner.walk(acts, why, branches), instance, why)
                if not kept and row in found.left:
                    found.note(row, "a run meets it, which makes no vector", instance)
            case smt.Open(goal=row, depth=depth, reason=reason):
                found.note(row, f"runs of {depth} steps: the solver gave up, {reason}", instance)
            case smt.Beyond(goal=row, depth=depth):
                found.note(row, f"no run of at most {depth} steps", instance)


def step_of(found: smt.SolverTransition) -> PlannedStep:
    """A transition of the solver for the planner; its state can be loaded."""
    return PlannedStep(
        found.before, lambda: (), found.operation, found.args, found.branch, found.reply
    )


def _mutants(found: QuestionSearch) -> None:
    """For each mutant a step that it allows and the charter does not, or vice versa."""
    about = found.about
    files = pipeline.parse_or_refuse(about.sources)
    lemmas = smt.always(about.model, about.component.name)
    told = {asked.title for asked in found.asked}
    for mutant in mutants_of(about):
        if tells_title(mutant.name) in told:
            continue
        edited = mutant_model(about, files, mutant.name)
        instance = next(i for i in about.model.instances if i.name == mutant.instance)
        opened = replace(instance, offers=(), only=())
        pair = (Machine.of(about.model, opened), Machine.of(edited, opened))
        answer = smt.distinguish(pair, smt.PairQuestion(lemmas=lemmas, loadable=True))
        if isinstance(answer, smt.Difference):
            engine, _ = found.desk.at(instance)
            why = Why((), "solver", tells_title(mutant.name), OPEN, ())
            found.keep(engine.planner.loaded(step_of(answer.transition), why), instance, why)
