"""Makes the small suite from scenarios and committed search results, with its ledger and kill
matrix. Nothing is searched here."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from charter.analysis.coverage import Coverage
from charter.cache.files import cache_folder, from_cache, to_cache
from charter.core import nodes as n
from charter.core.affected import ComponentChange
from charter.core.nodes import Value
from charter.core.obligations import Obligation, obligations
from charter.formats.project import BadProject
from charter.formats.vector import Question, Vector, Why
from charter.project import pipeline
from charter.project.compiler_digest import compiler
from charter.project.core_cache import core_of
from charter.project.sources import Selection
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import NotAssumed, Outcome
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.scenario import ScenarioFails
from charter.suites.planning.instance_planner import InstancePlanner
from charter.suites.search_results import NO_PATH_SOUGHT, mutants_of, name_broken
from charter.suites.subject import Subject, digest
from charter.syntax import nodes as sx
from charter.vectors.answer import Answers, NoAnswer
from charter.vectors.kills import Kill, count
from charter.vectors.ledger import Ledger, Unreached, ledger
from charter.vectors.mutant_instance import MutantInstance, Performed
from charter.vectors.plan import OPEN, POSSIBLE, Planner, branches_of

ENOUGH = 3
"""The number of vectors to find that distinguish all runs of a mutant; one more if none of them
begins in the first state and another does: many adapters cannot load a state."""

NAMED = 2
"""The most vectors that name an obligation as a reason; the ledger counts all that meet it."""

CANARIES = 4
"""The most mutants that a suite uses as canaries."""


@dataclass(slots=True)
class Covering:
    """Collects what one question performs, each with the obligations that it meets; remembers what
    earlier questions performed."""

    coverage: Coverage
    found: dict[Performed, frozenset[str]] = field(default_factory=dict)
    memory: dict[tuple[object, ...], tuple[Performed, frozenset[str]]] = field(default_factory=dict)

    def watch(
        self, state: State, operation: str, args: tuple[Value, ...], outcomes: tuple[Outcome, ...]
    ) -> None:
        """Add one operation that was performed, with its outcomes."""
        key = (tuple(state.values()), operation, args)
        known = self.memory.get(key)
        if known is None:
            each = (self.coverage.list_met(state, operation, args, outcome) for outcome in outcomes)
            performed = Performed(state, operation, args, outcomes)
            known = self.memory[key] = (performed, frozenset().union(*each))
        self.found[known[0]] = known[1]

    def take(self) -> dict[Performed, frozenset[str]]:
        """What was performed since the last call, and what it met."""
        found, self.found = self.found, {}
        return found


@dataclass(frozen=True, slots=True)
class SmokeVector:
    """A vector of the small suite, its id, and the instance that its question is answered in, with
    all that its traces perform there."""

    id: str
    vector: Vector
    instance: n.Instance
    meets: frozenset[str]
    performed: tuple[Performed, ...] = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Smoke:
    """The small suite. `stale` are titles of questions that no longer have an answer, `failed` the
    failing scenarios, `unasked` those that cannot be asked, by title, with the reason."""

    entries: tuple[SmokeVector, ...]
    ledger: Ledger
    kills: tuple[Kill, ...]
    stale: tuple[str, ...]
    failed: tuple[str, ...] = ()
    unasked: Mapping[str, str] = field(default_factory=dict)

    def canaries(self) -> Mapping[str, tuple[str, ...]]:
        """A few mutants with vectors that distinguish all of their runs."""
        sure = [kill for kill in self.kills if kill.surely][:CANARIES]
        return {kill.mutant: kill.surely for kill in sure}

    def counts(self) -> dict[str, int]:
        """Numbers for the manifest."""
        unreached = sum(bool(e.vector.why.unreached) for e in self.entries)
        return {
            **({"unreached": unreached} if unreached else {}),
            "obligations": len(self.ledger.rows),
            "obligations_covered": self.ledger.count_rows("covered"),
            "obligations_infeasible": self.ledger.count_rows("infeasible"),
            "obligations_open": self.ledger.count_rows("open"),
            "mutants": len(self.kills),
            "mutants_killed": count(self.kills, "killed"),
            "mutants_killed_in_some_runs": count(self.kills, "killed_in_some_runs"),
            "scenarios": sum(e.vector.why.source == "scenario" for e in self.entries),
            "scenarios_failed": len(self.failed),
            "stale_questions": len(self.stale),
        }


@dataclass(slots=True)
class Desk:
    """Answers questions about one component in any instance. `model` has been narrowed to it, and
    has the obligations `wanted`."""

    model: n.Model
    wanted: tuple[Obligation, ...]
    engines: dict[str, tuple[InstancePlanner, Covering]] = field(default_factory=dict)
    coverage: Coverage | None = None
    failed: list[str] = field(default_factory=list)
    unasked: dict[str, str] = field(default_factory=dict)

    def at(self, instance: n.Instance) -> tuple[InstancePlanner, Covering]:
        """The planner of an instance with everything offered."""
        if instance.name not in self.engines:
            engine = InstancePlanner.define_planner(self.model, instance)
            if self.coverage is None:
                self.coverage = Coverage.own(engine.machine, self.wanted)
            covering = Covering(self.coverage.within(engine.machine))
            self.engines[instance.name] = (engine, covering)
        return self.engines[instance.name]

    def entry(self, question: Question, instance: n.Instance, why: Why) -> SmokeVector:
        """A question with its answer and all obligations that some allowed run meets. One that
        does not take the branches of its purpose, since it is of earlier rules, has no purpose, and
        the branches that it takes as its title. Raises NoAnswer, ValueError or EvaluationError."""
        engine, covering = self.at(instance)
        if not has_bounds_of(question, engine.planner):
            raise NoAnswer(f"the constants or elements of {instance.name} are others now")
        covering.take()
        found = engine.planner.answers.answer(question, watch=covering.watch)
        performed = covering.take()
        met = frozenset().union(*performed.values())
        names = tuple(o.name for o in self.wanted if o.name in met)
        whole = replace(why, obligations=(*why.obligations, *names))
        if not branches_of(found).issuperset(why.purpose):
            first = ", then ".join(step[0].branch for step in found.steps[1:])
            whole = replace(whole, purpose=(), title=first)
        vector = Vector(question, found, whole)
        return SmokeVector(question.id, vector, instance, met, tuple(performed))

    def scenarios(self, component: str) -> list[SmokeVector]:
        """The vectors of the scenarios of a component; failing scenarios are added to `failed`, and
        those of which no question can be made to `unasked`."""
        found: list[SmokeVector] = []
        for scenario in self.model.scenarios:
            if scenario.instance.machine != component:
                continue
            engine, _ = self.at(scenario.instance)
            refused = dict(engine.planner.refused)
            try:
                vector = engine.plan_scenario(scenario)
            except ScenarioFails as problem:
                self.failed.append(str(problem))
                continue
            if vector is None and engine.led.prelude:  # too much may happen on the way
                bare = replace(scenario.instance, prelude=None)
                vector = InstancePlanner.define_planner(self.model, bare).plan_scenario(scenario)
            if vector is None:
                counts = engine.planner.refused.items()
                reason = next(why for why, count in counts if count > refused.get(why, 0))
                self.unasked[scenario.title] = reason.partition(": ")[2]
            else:
                why = replace(vector.why, obligations=(f"scenario {scenario.title}",))
                found.append(self.entry(vector.question, scenario.instance, why))
        return found


def has_bounds_of(question: Question, planner: Planner) -> bool:
    """Whether a question has the constants and elements of the planner's instance: the instance may
    have been edited since the question was found, and would answer another question."""
    elements = {sort: set(ids) for sort, ids in question.sorts.items()}
    now = {sort: set(names) for sort, names in planner.machine.universe.sorts.items()}
    return dict(question.consts) == dict(planner.consts) and elements == now


def smoke(about: Subject) -> Smoke:
    """The small suite of a component. Raises BadProject if a question that is kept breaks an
    assumption."""
    wanted = obligations(about.model, about.component)
    desk = Desk(about.model, wanted)
    entries = desk.scenarios(about.component.name)
    stale: list[str] = []
    possible = list_possible(about)
    instances = {i.name: i for i in about.model.instances}
    for asked in about.found.asked:
        label = asked.label if asked.label in possible else OPEN
        why = Why((), asked.source, asked.title, label, asked.purpose)
        try:
            instance = instances[asked.instance]
            entries.append(desk.entry(asked.question, instance, why))
        except NotAssumed as problem:
            raise BadProject(name_broken(asked, problem.message)) from None
        except (NoAnswer, EvaluationError, ValueError, KeyError):
            stale.append(asked.title)
    unique = {entry.id: _mark(entry, about) for entry in reversed(entries)}
    ordered = tuple(unique[key] for key in sorted(unique))
    killed, covered = kills(about, ordered), list_covering(ordered)
    searched = about.found.select_current(about.model, about.component.name)
    unreached = {e.id for e in ordered if e.vector.why.unreached}
    book = ledger(wanted, covered, searched, killed, Unreached(unreached, about.found.unreached))
    started = {e.id for e in ordered if e.vector.question.given is None}
    naming = {name: _naming(ids, started) for name, ids in covered.items()}
    named = tuple(_thin_out(entry, naming) for entry in ordered)
    return Smoke(named, book, killed, tuple(stale), tuple(desk.failed), desk.unasked)


def list_possible(about: Subject) -> frozenset[str]:
    """The labels of questions from traces of systems whose rules are those of the search."""
    if not about.found.systems:
        return frozenset()
    whole = core_of(about.sources, Selection(about.model.variant))
    now = {s.name: digest(whole, s.name) for s in whole.systems if s.name in about.found.systems}
    return frozenset(f"{POSSIBLE}{s}" for s in now if now[s] == about.found.systems[s])


def _mark(entry: SmokeVector, about: Subject) -> SmokeVector:
    """An entry that says of a given state where a search looked for a path to it, if one did."""
    vector, note = entry.vector, about.found.unreached
    if vector.question.given is None:
        return entry
    if note and vector.why.source == "finding":
        note = NO_PATH_SOUGHT
    why = replace(vector.why, unreached=note)
    return replace(entry, vector=replace(vector, why=why))


def list_unasked(about: Subject) -> Mapping[str, str]:
    """The scenarios of a component of which no question can be made, by title, with the reason."""
    desk = Desk(about.model, ())
    desk.scenarios(about.component.name)
    return desk.unasked


def _naming(ids: Sequence[str], started: Container[str]) -> tuple[str, ...]:
    """Of the vectors that meet an obligation those that name it: the shortest, and the shortest
    from the first state."""
    return (*ids[:NAMED], *[name for name in ids if name in started][:1])


def _thin_out(entry: SmokeVector, naming: Mapping[str, Sequence[str]]) -> SmokeVector:
    """An entry without the obligations that enough shorter vectors name."""
    vector = entry.vector
    named = (o for o in vector.why.obligations if entry.id in naming.get(o, [entry.id]))
    why = replace(vector.why, obligations=tuple(named))
    return replace(entry, vector=replace(vector, why=why))


def list_covering(entries: Iterable[SmokeVector]) -> dict[str, list[str]]:
    """For each obligation the ids of the vectors that meet it, fewest operations first."""
    found: dict[str, list[str]] = {}
    for entry in shortest_first(entries):
        for name in entry.meets:
            found.setdefault(name, []).append(entry.id)
    return found


def shortest_first(entries: Iterable[SmokeVector]) -> list[SmokeVector]:
    """By the number of operations, then by id."""
    return sorted(entries, key=lambda e: (len(e.vector.question.operations), e.id))


# --- mutants -------------------------------------------------------------------------------------


def kills(about: Subject, entries: Iterable[SmokeVector]) -> tuple[Kill, ...]:
    """For each mutant the first vectors that distinguish it; those made for it are tried first.
    Kept in the cache by all that they depend on."""
    ordered = shortest_first(entries)
    path = cache_folder("kills") / f"{_kills_digest(about, ordered)}.json"
    known = from_cache(path)
    if known is not None:
        return tuple(
            Kill(mutant, tuple(surely), tuple(maybe)) for mutant, surely, maybe in json.loads(known)
        )
    files = pipeline.parse_or_refuse(about.sources)
    found = tuple(
        _kill(about, files, mutant, ordered)
        for mutant in mutants_of(about.model, about.component.name)
    )
    to_cache(path, json.dumps([(one.mutant, one.surely, one.maybe) for one in found]).encode())
    return found


def _kills_digest(about: Subject, entries: Iterable[SmokeVector]) -> str:
    whole = sha256(repr((compiler(), about.model.variant, about.component.name)).encode())
    for source in about.sources:
        whole.update(repr((source.name, source.text)).encode())
    for entry in entries:
        whole.update(f"{entry.instance.name} {entry.vector.line()}\n".encode())
    return whole.hexdigest()


def mutant_model(about: Subject, files: sx.Protocol, mutant: str) -> n.Model:
    """The model of a mutant. Raises `Refused` if it does not fit the variant."""
    selection = Selection(about.model.variant, mutant, component=about.component.name)
    return pipeline.compile_files(files, selection)


def _kill(about: Subject, files: sx.Protocol, mutant: n.Mutant, entries: list[SmokeVector]) -> Kill:
    mutated = mutant_model(about, files, mutant.name)
    change = ComponentChange.of(about.model, mutated, about.component.name)
    title = tells_title(mutant.name)
    able = (entry for entry in entries if runs(entry.vector.question) & change.operations)
    mine = sorted(able, key=lambda entry: entry.vector.why.title != title)
    surely: list[str] = []
    maybe: list[str] = []
    known: dict[str, MutantInstance] = {}
    started = False
    for entry in mine:
        vector = entry.vector
        first = vector.question.given is None and not started
        if len(surely) >= ENOUGH and not first:
            continue
        inside = known.get(entry.instance.name)
        if inside is None:
            machine = Machine.of(mutated, replace(entry.instance, offers=(), only=()))
            inside = MutantInstance(Answers(machine, machine.outcomes), change)
            known[entry.instance.name] = inside
        told = inside.tells(vector.question, vector.answer, entry.performed)
        if told != "never":
            (surely if told == "always" else maybe).append(entry.id)
        started |= first and told == "always"
    return Kill(mutant.name, tuple(surely), tuple(maybe[:ENOUGH]))


def runs(question: Question) -> frozenset[str]:
    """The operations that answering a question runs."""
    called = {call.operation for call in question.operations}
    return frozenset(called | ({"failover"} if question.given is not None else set()))


def tells_title(mutant: str) -> str:
    """The title of a question that was searched to distinguish a mutant."""
    return f"mutant {mutant}"


def without(entries: Iterable[SmokeVector], source: str) -> tuple[SmokeVector, ...]:
    """The entries of all other sources."""
    return tuple(e for e in entries if e.vector.why.source != source)
