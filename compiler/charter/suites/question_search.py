"""Keeps the state of a search for questions: what is left, and what was kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from charter.core import nodes as n
from charter.core.obligations import Obligation, obligations
from charter.core.walk import nodes
from charter.explore.successors import Transition
from charter.formats.vector import Vector, Why
from charter.semantics.builtins import EvaluationError
from charter.suites import pairs
from charter.suites.explored import ExploredInstance
from charter.suites.pairs import (
    Arrival,
    Pair,
    PlannedPair,
    arrivals,
    is_small,
    pairs_in,
    plan_pairs,
)
from charter.suites.proofs import list_searched
from charter.suites.reachable_states import ReachableStates
from charter.suites.search_results import FoundQuestion
from charter.suites.smoke import Desk, SmokeVector
from charter.suites.subject import Subject
from charter.suites.withdrawn import Use, WithdrawnUses
from charter.vectors.answer import NoAnswer
from charter.vectors.plan import OPEN

Constants = tuple[tuple[str, int], ...]
"""The values of the constants, in the order of their names."""


def _constants(values: Mapping[str, int]) -> Constants:
    return tuple(sorted(values.items()))


def _reads_constant(obligation: Obligation) -> bool:
    """Whether an obligation is a side of a comparison that reads a constant."""
    compared = obligation.expr if obligation.kind == "boundary" else None
    return compared is not None and any(isinstance(e, n.ConstRef) for e in nodes(compared))


EXPLORED = "not met by classes of transitions"
NO_VECTOR = "meets it, but makes no vector"
NO_PROOF = "no proof: "
"""What is noted of an obligation. There is no need to say that there is no proof of one that
something meets."""
_MOST_NAMED = 2


def _name_places(places: Sequence[str]) -> str:
    """Instances in brackets, or how many they are."""
    if not places:
        return ""
    few = len(places) <= _MOST_NAMED
    return f" ({', '.join(places) if few else f'{len(places)} instances'})"


@dataclass(frozen=True, slots=True)
class MeetingTransition:
    """A transition of an explored instance, and the obligations that it meets."""

    meets: frozenset[str]
    explored: ExploredInstance
    transition: Transition
    instance: n.Instance


@dataclass(slots=True)
class QuestionSearch:
    """The state of a search for questions: obligations that are left, and the questions kept.
    `apart` are obligations that are left with these values of the constants, `split` all of
    these. `notes` has, for each
    obligation that is not met, the results of the parts of the search. `taken` are the pairs of
    branches that scenarios and kept questions take, `pairs` questions for further ones, `large`
    instances that are too large to plan them, with how many operations there are in all of their
    states, `told` what became of all of them. `most` has,
    for amounts, how many members change in the question that was kept, `withdrawn` the uses of
    withdrawn counter values that questions show. `begun` are the scenarios and kept questions that
    begin in the first state of the component, `reached` the obligations that they meet, `ways`
    transitions that met others, `looked` how many of all classes of transitions of an instance were
    looked at. `left_out` are instances with more states than were to be searched, with that
    number. `reachable` has the states of others, where they say what the solver may begin in.
    `entries` are the vectors of the questions that are kept, by their ids, `for_rows` those that
    are kept for obligations alone. `paths` says where paths
    from the first state were looked for, `systems` has digests of the systems whose traces were
    looked at."""

    about: Subject
    desk: Desk
    left: set[str]
    apart: set[tuple[str, Constants]] = field(default_factory=set)
    split: frozenset[tuple[str, Constants]] = frozenset()
    asked: list[FoundQuestion] = field(default_factory=list)
    notes: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    taken: set[Pair] = field(default_factory=set)
    pairs: dict[Pair, PlannedPair] = field(default_factory=dict)
    large: dict[str, int] = field(default_factory=dict)
    told: str = ""
    most: dict[str, int] = field(default_factory=dict)
    withdrawn: set[Use] = field(default_factory=set)
    begun: list[SmokeVector] = field(default_factory=list)
    reached: set[str] = field(default_factory=set)
    ways: list[MeetingTransition] = field(default_factory=list)
    looked: dict[str, tuple[int, int]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)
    reachable: dict[str, ReachableStates | None] = field(default_factory=dict)
    entries: dict[str, SmokeVector] = field(default_factory=dict)
    for_rows: set[str] = field(default_factory=set)
    paths: str = ""
    systems: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def of(about: Subject) -> QuestionSearch:
        """The beginning of a search. An implementation gets the constants, and may forget or keep
        them: where the instances have several combinations, each branch is asked for with each, and
        so is each side of a comparison that reads a constant."""
        wanted = obligations(about.model, about.component)
        desk = Desk(about.model, wanted)
        tiny = list_searched(about.model, about.component.name)
        given = {_constants(desk.at(instance)[0].planner.consts) for instance in tiny}
        rows = [o.name for o in wanted if o.kind == "branch" or _reads_constant(o)]
        apart = {(name, consts) for name in rows for consts in given if len(given) > 1}
        left = {o.name for o in wanted}
        return QuestionSearch(about, desk, left, apart, frozenset(apart))

    def meet(self, entry: SmokeVector) -> list[str]:
        """Take what a vector meets off what is left; returns it, in the order of the text."""
        self.taken |= pairs_in(entry.vector.answer)
        consts = _constants(entry.vector.question.consts)
        apart = {(name, consts) for name in entry.meets} & self.apart
        new = entry.meets & self.left
        self.left -= new
        self.apart -= apart
        beside = {name for name, _ in apart}
        values = ", ".join(f"{name} = {value}" for name, value in consts)
        names = [o.name for o in self.desk.wanted]
        told = [name for name in names if name in new]
        return told + [f"{name} with {values}" for name in names if name in beside - new]

    def include(self, entry: SmokeVector) -> list[str]:
        """The same for a vector that becomes part of the suite."""
        if entry.vector.question.given is None:
            self.begun.append(entry)
            self.reached |= entry.meets
        self.entries[entry.id] = entry
        return self.meet(entry)

    def list_unreached(self) -> frozenset[str]:
        """The obligations that only questions from given states meet."""
        met = frozenset[str]().union(*(entry.meets for entry in self.entries.values()))
        return met - self.reached

    def drop_twins(self, seen: Collection[str]) -> None:
        """Drop the questions from given states that show nothing which no question from the first
        state shows. `seen` are the titles of those for mutants that others show. Only what is
        there for obligations or a mutant is dropped."""
        shown = {
            (name, _constants(entry.vector.question.consts))
            for entry in self.begun
            for name in entry.meets
        }
        split = {name for name, _ in self.split}

        def shows_more(one: FoundQuestion) -> bool:
            entry, given = self.entries.get(one.question.id), one.question.given is not None
            for_mutant = one.title.startswith("mutant ")
            if entry is None or not (given and (for_mutant or entry.id in self.for_rows)):
                return True
            consts = _constants(one.question.consts)
            more = any((row, consts) not in shown for row in entry.meets & split)
            unseen = for_mutant and one.title not in seen
            return more or unseen or not entry.meets <= self.reached

        self.asked = [one for one in self.asked if shows_more(one)]

    def note(self, obligation: str, outcome: str, instance: n.Instance | None = None) -> None:
        """Record the result of a part of the search for an obligation, and its instance."""
        places = self.notes.setdefault(obligation, {}).setdefault(outcome, [])
        if instance is not None:
            places.append(instance.name)

    def note_crowded(self) -> None:
        """Note of each obligation that is left, and is about a branch with more outcomes than a
        step of a vector can have, how many these are."""
        for instance in list_searched(self.about.model, self.about.component.name):
            crowded = self.desk.at(instance)[0].planner.answers.crowded
            for branch, (_, told) in crowded.items():
                for row in self.left:
                    if branch in row.split():
                        self.note(row, told, instance)

    def explain_open(self) -> dict[str, str]:
        """For each obligation that is left, how far the search went and why no further."""
        self.note_crowded()
        return {row: self._explain_open(self.notes.get(row, {})) for row in self.left}

    def _explain_open(self, notes: Mapping[str, Sequence[str]]) -> str:
        told: dict[str, Sequence[str]] = {}
        explored = [name for name in self.looked if name in notes.get(EXPLORED, ())]
        if explored:
            met, every = (sum(self.looked[name][part] for name in explored) for part in (0, 1))
            told[f"not met by {met:,} of {every:,} classes of transitions"] = explored
        some = any(note.endswith(NO_VECTOR) for note in notes)
        told |= {
            note: places
            for note, places in notes.items()
            if note != EXPLORED and not (some and note.startswith(NO_PROOF))
        }
        return "; ".join(f"{note}{_name_places(places)}" for note, places in told.items())

    def keep(
        self, vector: Vector | None, instance: n.Instance, why: Why, *, always: bool = False
    ) -> bool:
        """Keep a vector if it meets an obligation that nothing met so far."""
        entry = self.answer(vector, instance, why)
        return entry is not None and self._keep(entry, why, always=always)

    def keep_transition(self, way: MeetingTransition, vector: Vector, *, always: bool) -> bool:
        """Keep a vector of a transition if it meets an obligation that nothing met so far; for
        obligations that no question from the first state meets, the transition is noted."""
        entry = self.answer(vector, way.instance, vector.why)
        if entry is None:
            return False
        if not entry.meets <= self.reached:
            self.ways.append(replace(way, meets=frozenset(entry.meets)))
        return self._keep(entry, vector.why, always=always)

    def keep_reached(self) -> None:
        """Of the obligations that only questions from given states meet, keep a question from the
        first state where there is one: many adapters cannot load a state."""
        for way in self.ways:
            new = sorted(way.meets - self.reached)
            why = Why((), "exploration", f"{new[0]}, from the first state" if new else "", OPEN, ())
            vector = way.explored.from_start(way.transition, why) if new else None
            if vector is not None:
                self.keep(vector, way.instance, why, always=True)

    def answer(self, vector: Vector | None, instance: n.Instance, why: Why) -> SmokeVector | None:
        """A vector with what it meets; None if it has no answer."""
        if vector is None:
            return None
        try:
            return self.desk.entry(vector.question, instance, why)
        except (NoAnswer, EvaluationError, ValueError):
            return None

    def _keep(self, entry: SmokeVector, why: Why, *, always: bool) -> bool:
        vector, instance = entry.vector, entry.instance
        new = self.meet(entry)
        always = always or why.source == "witness" or why.title.startswith("mutant ")
        if not (new or always):
            return False
        self.include(entry)
        if not always:
            self.for_rows.add(entry.id)
        title = why.title or next(iter(new), "")
        self.asked.append(
            FoundQuestion(vector.question, instance.name, why.source, title, why.purpose, why.label)
        )
        return True

    def keep_amounts(self, explored: ExploredInstance, instance: n.Instance) -> None:
        """Keep a question for each amount that nothing met so far, and for each where more than two
        members change, and more than in an instance before: an implementation may be right for
        two."""
        known = [asked.question for asked in self.asked]
        for name, count, transition, loaded in explored.list_counted():
            vector = loaded
            more = count > max(2, self.most.get(name, 0)) and loaded.question not in known
            way = MeetingTransition(frozenset(), explored, transition, instance)
            path = explored.from_start(transition, loaded.why) if more else None
            entry = self.answer(path, instance, loaded.why)
            if path is not None and entry is not None and name in entry.meets:
                vector = path
            if self.keep_transition(way, vector, always=more):
                self.most[name] = count

    def plan_walks(self, explored: ExploredInstance, instance: n.Instance) -> None:
        """Keep questions that use a withdrawn counter value, and plan questions for pairs of
        branches that nothing takes so far."""
        if not is_small(explored):
            self.large[instance.name] = explored.acts_in_all()
            return
        arrived = [*arrivals(explored)]
        self._keep_withdrawn(explored, instance, arrived)
        for one in plan_pairs(explored, instance, arrived, self.taken | {*self.pairs}):
            self.pairs[one.pair] = one

    def _keep_withdrawn(
        self, explored: ExploredInstance, instance: n.Instance, arrived: Sequence[Arrival]
    ) -> None:
        plan = WithdrawnUses(explored)
        plan.add(arrived)
        known = [asked.question for asked in self.asked]
        for use, vector in plan.vectors():
            if use not in self.withdrawn and vector.question not in known:
                self.withdrawn.add(use)
                self.keep(vector, instance, vector.why, always=True)

    def keep_pairs(self) -> None:
        """Keep these questions, as many as a small suite takes."""
        names = ", ".join(f"`{name}` ({acts:,})" for name, acts in self.large.items())
        many = f"more than {pairs.MOST_TRIED:,} operations in all states"
        left = f"; not asked for where there are {many}: {names}" if names else ""
        several = len(self.taken | {*self.pairs})
        waiting = [one for pair, one in self.pairs.items() if pair not in self.taken]
        waiting.sort(key=lambda one: -one.changes)  # keeps the order of those that are alike
        chosen = waiting[: max(pairs.MOST_PAIRS - len(self.taken), 0)]
        for one in chosen:
            if one.pair not in self.taken:
                self.keep(one.vector, one.instance, one.vector.why, always=True)
        self.told = f"{len(self.taken)} pairs are taken{left}"
        if several > len(self.taken):
            first = "those in which both branches change the state first"
            self.told = f"{len(self.taken)} of {several} pairs are taken, {first}{left}"
