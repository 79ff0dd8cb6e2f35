"""Lists the searches that can show whether the operations of a question happen in a system: in
each instance, from the state that its prelude leads to and from the system's own first state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations, product
from math import factorial, prod

from charter.analysis.followed_calls import (
    POSITION,
    CallEdge,
    FollowedCalls,
    FollowedPart,
    find_impossible,
    follow_calls,
)
from charter.analysis.symmetry import MOST_RENAMINGS, Renaming, permute
from charter.analysis.without_ghosts import drop_ghosts
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.formats.vector import Question
from charter.passes.narrow import narrow
from charter.semantics.builtins import EvaluationError, items
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.shown_values import show_value
from charter.semantics.values import Universe
from charter.vectors.answer import NoAnswer
from charter.vectors.asked_calls import (
    AskedCalls,
    asks_for_unissued,
    list_asked_calls,
    machine_of_question,
)

NO_STATE = "no instance begins in a state that the component has in the question"
"""Why there is no search where nothing else is missing."""
RENAMINGS_MAX = 6
"""The most renamings of sort elements that are tried in an instance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemLimits:
    """Where a search of systems ends. `states`: of all instances together; `each`: of one search
    for one more call. `budget`: how often each step may be taken that has a budget and does not
    call the component; how often others are taken is limited by the question. `instance`: the only
    one to search ("": all)."""

    states: int = 1_000_000
    each: int = 100_000
    budget: int = 4
    instance: str = ""


@dataclass(frozen=True, slots=True)
class SystemSearch:
    """A search of a system, in an instance, for the calls of a tree: `begins` is the depth of the
    node at which it begins, `depth` that of the leaves. `cut`: there are more renamings of sort
    elements than those that have a search. `spared` are the variables with the budgets of steps
    that do not call the component."""

    model: n.Model
    system: str
    instance: n.Instance
    begins: int
    depth: int
    cut: bool
    spared: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ImpossibleCall:
    """That no step of a system makes one of the calls of a part, with the sentence `why`."""

    part: tuple[str, str]
    why: str


Searched = SystemSearch | ImpossibleCall | str
"""A search that may find the calls, or why there is none."""


def list_parts(model: n.Model, component: str) -> tuple[tuple[n.System, n.Part], ...]:
    """The parts of systems that are a component."""
    return tuple((s, p) for s in model.systems for p in s.parts if p.component == component)


def list_searches(model: n.Model, question: Question, limits: SystemLimits) -> Iterator[Searched]:
    """The searches that may find the calls, and why others cannot."""
    for system, part in list_parts(model, question.component):
        alone = drop_ghosts(narrow(model, system.name))
        yield from _PartOfSystem(alone, system, part, question, limits).list_searches()


@dataclass(frozen=True, slots=True)
class _RenamedNode:
    """A node at which the component has a state, with a renaming; `cut`: there may be others."""

    node: int
    renaming: Renaming
    cut: bool


@dataclass(frozen=True, slots=True)
class _PartOfSystem:
    """A part of a system in which a question may happen; `model` has nothing but the system."""

    model: n.Model
    system: n.System
    part: n.Part
    question: Question
    limits: SystemLimits

    def list_searches(self) -> Iterator[Searched]:
        """The searches in each instance: from where its prelude leads, then from the system's own
        first state. A start without a prelude may be one that the system never reaches."""
        seen: set[tuple[object, ...]] = set()
        for instance in sorted(self.model.instances, key=_size):
            if self.limits.instance in ("", instance.name):
                for starts in (instance.starts, ()) if instance.prelude else ((),):
                    begun = replace(instance, starts=starts, prelude=None)
                    yield from self._in_instance(begun, seen)

    def _in_instance(
        self, instance: n.Instance, seen: set[tuple[object, ...]]
    ) -> Iterator[Searched]:
        wanted = {name: tuple(ids) for name, ids in self.question.sorts.items()}
        sizes = dict(instance.sorts)
        if instance.starts and any(len(sizes[s]) != len(ids) for s, ids in wanted.items()):
            return
        sorts = tuple((s, m if s not in wanted or instance.starts else wanted[s])
                      for s, m in instance.sorts)  # fmt: skip
        try:
            tree = self._list_asked(instance)
        except NoAnswer as reason:
            yield f"{reason}"
            return
        consts = self._bound(instance, max(tree.depths))
        bare = replace(
            instance, sorts=sorts, consts=consts, offers=(), only=(), misses=(), fails=()
        )
        key = (bare.sorts, bare.consts, bare.starts)
        if key in seen or dict(consts) != {**dict(consts), **self.question.consts}:
            return
        seen.add(key)
        if asks_for_unissued(tree):
            yield "it asks for a value that was never issued, which no part of a system knows"
            return
        yield from self._from_first_state(bare, tree)

    def _list_asked(self, instance: n.Instance) -> AskedCalls:
        machine = machine_of_question(self.model, self.question, dict(instance.consts))
        return list_asked_calls(machine, self.question)

    def _from_first_state(self, bare: n.Instance, tree: AskedCalls) -> Iterator[Searched]:
        """The searches from the first state of an instance, where it is one of the states of the
        component in the question."""
        try:
            first = Machine.of(self.model, bare).initial()
        except EvaluationError:
            return
        universe = Universe.of(bare)
        keys = (None,) if self.part.index is None else universe.domain(self.part.index)
        matches = [
            (key, match)
            for key in keys
            for match in self._list_matches(self._part_state(first, key, universe), tree, universe)
        ]
        if not matches:
            yield NO_STATE
        for key, match in matches:
            yield self._search(bare, tree, FollowedPart(self.part.name, key), match)

    def _part_state(self, state: State, key: Value, universe: Universe) -> dict[str, Value]:
        found: dict[str, Value] = {}
        for variable in self._variables:
            value = state[f"{self.part.name}.{variable.name}"]
            if self.part.index is not None:
                value = items(value)[universe.position(self.part.index, key)]
            found[variable.name] = value
        return found

    @property
    def _variables(self) -> tuple[n.StateVar, ...]:
        """The state of the component that is not ghost state."""
        component = next(c for c in self.model.components if c.name == self.part.component)
        return tuple(v for v in component.state if v.kind != "ghost")

    def _list_matches(
        self, held: dict[str, Value], tree: AskedCalls, universe: Universe
    ) -> list[_RenamedNode]:
        """The first node of the question at which the component has a state, with each renaming."""
        renamings = _list_renamings(universe, tuple(self.question.sorts))
        few = len(renamings) < prod(
            factorial(len(universe.sorts[name])) for name in self.question.sorts
        )
        for node, states in enumerate(tree.states):
            found: list[Renaming] = []
            if tree.depths[node] == max(tree.depths):
                continue
            for renaming in renamings:
                renamed = (
                    {
                        v.name: permute(v.type, state[v.name], renaming, universe)
                        for v in self._variables
                    }
                    for state in states
                )
                if any(one == held for one in renamed):
                    found.append(renaming)
            if found:
                # Where all elements are alike, one renaming is as good as another.
                if node == 0 and len(found) == len(renamings):
                    return [_RenamedNode(node, found[0], few)]
                cut = few or len(found) > RENAMINGS_MAX
                return [_RenamedNode(node, renaming, cut) for renaming in found[:RENAMINGS_MAX]]
        return []

    def _search(
        self, bare: n.Instance, tree: AskedCalls, part: FollowedPart, at: _RenamedNode
    ) -> SystemSearch | ImpossibleCall:
        node, renaming = at.node, at.renaming
        universe = Universe.of(bare)
        component = next(c for c in self.model.components if c.name == self.part.component)
        params = {o.name: o.params for o in component.operations}
        edges = tuple(
            CallEdge(
                call.source,
                call.target,
                call.operation,
                tuple(
                    (i, permute(params[call.operation][i].type, value, renaming, universe))
                    for i, value in call.args
                ),
            )
            for call in tree.calls
        )
        calls = FollowedCalls(edges, tree.depths)
        missing = find_impossible(self.model, self.system.name, self.part.name, calls)
        if missing is not None:
            at_part = self.system.name, self.part.name
            return ImpossibleCall(at_part, self._explain_impossible(*missing))
        named = _rename(bare, self.question, renaming)
        model = follow_calls(self.model, self.system.name, part, calls, Universe.of(named))
        whole = next(s for s in model.systems if s.name == self.system.name)
        kind = next(v.type for v in whole.state if v.name == POSITION)
        starts = (*named.starts, (POSITION, n.Literal(node, type=kind)))
        begins, depth = tree.depths[node], max(tree.depths)
        begun = replace(named, starts=starts)
        free, _ = self._list_budgets()
        spared = frozenset(
            v.name for v in self.system.state
            if v.is_budget and isinstance(v.initial, n.ConstRef) and v.initial.name in free
        )  # fmt: skip
        return SystemSearch(model, self.system.name, begun, begins, depth, at.cut, spared)

    def _explain_impossible(self, call: CallEdge, at: tuple[int, ...]) -> str:
        component = next(c for c in self.model.components if c.name == self.part.component)
        params = next(o.params for o in component.operations if o.name == call.operation)
        universe, args = Universe.of(self.model.instances[0]), dict(call.args)
        shown = (f"{params[i].name}: {show_value(params[i].type, args[i], universe)}" for i in at)
        others = f" with {', '.join(shown)}" if at else ""
        return f"no step of {self.system.name} calls {call.operation}{others}"

    def _bound(self, instance: n.Instance, calls: int) -> tuple[tuple[str, int], ...]:
        """The constants of an instance: those of the question, and budgets as `SystemLimits`
        says."""
        kinds = dict(self.model.consts)
        free, limited = self._list_budgets()
        found: dict[str, int] = {}
        for name, value in instance.consts:
            most = self.limits.budget if name in free else calls if name in limited else value
            kind = kinds[name]
            if most != value and isinstance(kind, t.Int) and kind.high is not None:
                most = min(most, Universe.of(instance).limit(kind.high))
            found[name] = most
        return tuple({**found, **{k: v for k, v in self.question.consts.items() if k in found}}
                     .items())  # fmt: skip

    def _list_budgets(self) -> tuple[frozenset[str], frozenset[str]]:
        """The budgets of steps that do not call the component, and those of the others."""
        names = {
            v.name: v.initial.name
            for v in self.system.state
            if v.is_budget and isinstance(v.initial, n.ConstRef)
        }
        free: set[str] = set()
        for step in self.system.steps:
            calls = any(
                isinstance(line, n.CallOperation) and line.part == self.part.name
                for line in step.body
            )
            if not calls or self.part.index is not None:
                free |= {names[line.variable] for line in step.body
                         if isinstance(line, n.Assign) and line.variable in names}  # fmt: skip
        return frozenset(free), frozenset(names.values()) - free


def _size(instance: n.Instance) -> tuple[int, int]:
    """By what instances are ordered: elements of sorts, then constants."""
    elements = sum(len(members) for _, members in instance.sorts)
    return elements, sum(value for _, value in instance.consts)


def _list_renamings(universe: Universe, sorts: tuple[str, ...]) -> list[Renaming]:
    """The renamings of the elements of some sorts; the identity comes first."""
    each = [list(permutations(range(len(universe.sorts[name])))) for name in sorts]
    total = 1
    for choices in each:
        total *= len(choices)
    if total > MOST_RENAMINGS:
        each = [choices[:1] for choices in each]
    return [dict(zip(sorts, choice, strict=True)) for choice in product(*each)]


def _rename(instance: n.Instance, question: Question, renaming: Renaming) -> n.Instance:
    """The instance with the names that the question has for the elements of its sorts."""
    sorts: list[tuple[str, tuple[str, ...]]] = []
    for name, members in instance.sorts:
        if name in renaming:
            there = dict(zip(renaming[name], question.sorts[name], strict=True))
            sorts.append((name, tuple(there[i] for i in range(len(members)))))
        else:
            sorts.append((name, members))
    return replace(instance, sorts=tuple(sorts))
