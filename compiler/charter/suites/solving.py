"""Searches with the solver for what exploration left: runs and steps that meet obligations, proofs
for those that nothing meets, and steps that distinguish mutants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from charter import prove as smt
from charter.core import nodes as n
from charter.core.obligations import Obligation
from charter.core.reach import always
from charter.formats.vector import Why
from charter.project import pipeline
from charter.semantics.machine import Machine
from charter.suites.proofs import proof_instances, reason
from charter.suites.question_search import NO_PROOF, NO_VECTOR, QuestionSearch
from charter.suites.search_results import mutants_of
from charter.suites.smoke import mutant_model, tells_title
from charter.vectors.plan import OPEN, PlannedStep

UNREACHED = "a step from a state that no run reaches meets it, and none from the others"
DEPTH = 5
"""The most steps of runs that the solver searches for."""


def solve(
    found: QuestionSearch, tiny: Sequence[n.Instance], tell: Callable[[str], None]
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Search with the solver for what is left; returns its proofs, and the lemmas that they use.
    Steps start in states that satisfy all `always` properties; lemmas are those that are proved."""
    model, name = found.about.model, found.about.component.name
    places = proof_instances(model, name)
    opened = [Machine.of(model, replace(place, offers=(), only=())) for place in places]
    lemmas = always(model, name)
    for instance, machine in zip(places, opened, strict=True):
        tell(f"single steps of {instance.name}, {len(found.left)} left")
        _single(found, machine, instance, lemmas)
    rests: dict[str, set[str]] = {o.name: set() for o in _left(found)}
    shown: dict[str, list[n.Instance]] = {row: [] for row in rests}
    used: set[str] = set()
    for instance, machine in zip(places, opened, strict=True):
        tell(f"proofs in {instance.name}, {len(found.left)} left")
        kept = smt.invariants(machine, lemmas).proved
        used |= {*kept}
        proved = tuple(lemma for lemma in lemmas if lemma.name in kept)
        left = tuple(o for o in _left(found) if o.name in rests)
        for row, core in _infeasible(found, machine, instance, smt.StepQuestion(left, proved)):
            rests[row] |= {*core}
            shown[row].append(instance)
        rests = {row: core for row, core in rests.items() if instance in shown[row]}
    for row in (row for row in shown if row not in rests):
        for instance in shown[row]:
            found.note(row, "no step meets it", instance)
    found.left -= {*rests}
    order = [lemma.name for lemma in lemmas]
    proofs = {
        row: reason(places, [name for name in order if name in core]) for row, core in rests.items()
    }
    for small in tiny:
        tell(f"runs of {small.name}, {len(found.left)} left")
        _runs(found, small)
    return proofs, tuple(name for name in order if name in used)


def _infeasible(
    found: QuestionSearch, machine: Machine, instance: n.Instance, question: smt.StepQuestion
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The obligations that no step of an instance meets, with the lemmas that say so; what became
    of the others is noted."""
    for answer in smt.single_step(machine, question):
        match answer:
            case smt.Infeasible(obligation=row, core=core):
                yield row, core
            case smt.Undecided(obligation=row, reason=why):
                found.note(row, f"{NO_PROOF}the solver gave up, {why}", instance)
            case smt.SingleStep(obligation=row):
                told = f"{NO_PROOF}a step from a state that no lemma excludes meets it"
                found.note(row, told, instance)


def _left(found: QuestionSearch) -> tuple[Obligation, ...]:
    return tuple(o for o in found.desk.wanted if o.name in found.left)


def _single(
    found: QuestionSearch, machine: Machine, instance: n.Instance, lemmas: tuple[n.Property, ...]
) -> None:
    """Single steps from states that can be loaded; where all states of the instance are known, from
    one of these."""
    engine, covering = found.desk.at(instance)
    reached = found.reachable.get(instance.name)
    wanted = {one.name: one for one in found.desk.wanted}
    question = smt.StepQuestion(_left(found), lemmas, loadable=True)
    where = "a step from a loaded state"
    for answer in smt.single_step(machine, question):
        match answer:
            case smt.SingleStep(obligation=row) if row in found.left:
                step: PlannedStep | None = step_of(answer.transition)
                source = "solver"
                if reached is not None and not reached.has(answer.transition.before):
                    step = reached.step(wanted[row], covering.coverage)
                    source = "exploration"
                if step is None:
                    found.note(row, UNREACHED, instance)
                    continue
                why = Why((), source, row, OPEN, ())
                vector = engine.planner.plan_loaded(step, why)
                if not found.keep(vector, instance, why):
                    found.note(row, f"{where} {NO_VECTOR}", instance)
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
                kept = found.keep(engine.planner.of_acts(acts, why, branches), instance, why)
                if not kept and row in found.left:
                    found.note(row, f"a run {NO_VECTOR}", instance)
            case smt.Open(goal=row, depth=depth, reason=reason):
                found.note(row, f"runs of {depth} steps: the solver gave up, {reason}", instance)
            case smt.NotWithinDepth(goal=row, depth=depth):
                found.note(row, f"no run of at most {depth} steps", instance)


def step_of(found: smt.SolverTransition) -> PlannedStep:
    """A transition of the solver for the planner; its state can be loaded."""
    return PlannedStep(
        found.before, lambda: (), found.operation, found.args, found.branch, found.reply
    )


def mutants(found: QuestionSearch, tell: Callable[[str], None]) -> set[str]:
    """For each mutant a step that it allows and the charter does not, or vice versa. Returns the
    mutants for which the solver found one only in a state that no run reaches."""
    about = found.about
    files = pipeline.parse_or_refuse(about.sources)
    lemmas = always(about.model, about.component.name)
    told = {asked.title for asked in found.asked}
    unreached: set[str] = set()
    for mutant in mutants_of(about.model, about.component.name):
        if tells_title(mutant.name) in told:
            continue
        tell(mutant.name)
        edited = mutant_model(about, files, mutant.name)
        instance = next(i for i in about.model.instances if i.name == mutant.instance)
        opened = replace(instance, offers=(), only=())
        pair = (Machine.of(about.model, opened), Machine.of(edited, opened))
        answer = smt.distinguish(pair, smt.PairQuestion(lemmas=lemmas, loadable=True))
        if isinstance(answer, smt.Difference):
            engine, _ = found.desk.at(instance)
            reached = found.reachable.get(instance.name)
            if reached is not None and not reached.has(answer.transition.before):
                unreached.add(mutant.name)
                continue
            why = Why((), "solver", tells_title(mutant.name), OPEN, ())
            found.keep(engine.planner.plan_loaded(step_of(answer.transition), why), instance, why)
    return unreached
