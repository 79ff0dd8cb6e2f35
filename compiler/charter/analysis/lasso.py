"""Searches a transition graph for a fair lasso that never reaches the goal.

Weak fairness does not depend on the order in which a cycle visits its states, so a strongly
connected component contains a fair cycle exactly if the cycle through all of its states is fair.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

OUTSIDE = -1


@dataclass(frozen=True, slots=True)
class FairEdge:
    """A transition that changes the state. `target` is OUTSIDE if it leaves the instance, `fair`
    are the numbers of the fairness conditions that it satisfies, and `action` is a number that the
    caller chose."""

    target: int
    fair: frozenset[int]
    action: int


class Edges(Protocol):
    """The edges out of each state, by its number."""

    def __getitem__(self, number: int, /) -> Sequence[FairEdge]: ...


@dataclass(frozen=True, slots=True)
class LeadsToValues:
    """A property as the search reads it: `begins` holds in states where the trigger is true, `ends`
    in states where the goal is. `once`: only the trigger in the initial state counts."""

    begins: list[bool]
    ends: list[bool]
    once: bool


@dataclass(frozen=True, slots=True)
class Lasso:
    """The actions from the initial state to a state (`stem`), and from it back to it (`cycle`); if
    `cycle` is empty, the run stays there."""

    stem: tuple[int, ...]
    cycle: tuple[int, ...]


Node = tuple[int, bool]


@dataclass(slots=True)
class _LassoSearch:
    """Breadth-first search over nodes: a state, and whether the goal is still awaited there."""

    edges: list[list[FairEdge]]
    leads_to: LeadsToValues
    parents: dict[Node, tuple[Node, FairEdge] | None] = field(default_factory=dict)

    def nodes(self) -> Iterator[Node]:
        """Every reached node in breadth-first order."""
        about = self.leads_to
        start = (0, (about.once or about.begins[0]) and not about.ends[0])
        self.parents[start] = None
        queue = deque([start])
        while queue:
            node = queue.popleft()
            yield node
            number, waits = node
            if about.once and not waits:
                continue
            for edge in self.edges[number]:
                if edge.target == OUTSIDE:
                    continue
                begun = waits or (about.begins[edge.target] and not about.once)
                after = (edge.target, begun and not about.ends[edge.target])
                if after not in self.parents:
                    self.parents[after] = (node, edge)
                    queue.append(after)

    def stem(self, node: Node) -> tuple[int, ...]:
        """The actions of a shortest path to a node."""
        found: list[int] = []
        while (parent := self.parents[node]) is not None:
            node, edge = parent
            found.append(edge.action)
        return tuple(reversed(found))


def lasso(edges: list[list[FairEdge]], leads_to: LeadsToValues) -> Lasso | None:
    """A fair lasso with a shortest stem that never reaches the goal, or None. Runs that leave the
    instance are ignored."""
    search = _LassoSearch(edges, leads_to)
    order = [number for number, waits in search.nodes() if waits]
    inside = set(order)
    found = components(edges, inside)
    fair: dict[int, bool] = {}
    for number in order:
        component = found[number]
        known = fair.get(id(component))
        if known is None:
            known = fair[id(component)] = _is_fair(edges, component)
        if known:
            return Lasso(search.stem((number, True)), cycle(edges, component, number))
    return None


def _inner_edges(edges: list[list[FairEdge]], component: frozenset[int]) -> Iterable[FairEdge]:
    return (edge for number in component for edge in edges[number] if edge.target in component)


def _is_fair(edges: list[list[FairEdge]], component: frozenset[int]) -> bool:
    """Whether a run that stays in a strongly connected component for ever can satisfy every
    fairness condition."""
    if len(component) == 1 and not any(_inner_edges(edges, component)):
        (only,) = component
        return not edges[only]
    always = frozenset.intersection(*(list_enabled(edges[number]) for number in component))
    for edge in _inner_edges(edges, component):
        always -= edge.fair
    return not always


def list_enabled(edges: Sequence[FairEdge]) -> frozenset[int]:
    """The fairness conditions that are enabled in a state with these edges."""
    return frozenset[int]().union(*(edge.fair for edge in edges))


def cycle(edges: Edges, component: Container[int], entry: int) -> tuple[int, ...]:
    """The actions of a fair cycle from `entry` inside a component. It is short, but not always the
    shortest."""
    left = list_enabled(edges[entry])
    here, found = entry, list[int]()
    while left:
        way = _nearest_progress(edges, component, here, left)
        for edge in way:
            left = (left - edge.fair) & list_enabled(edges[edge.target])
        found += [edge.action for edge in way]
        here = way[-1].target
    if edges[entry] and (here != entry or not found):
        found += [
            edge.action for edge in _path(edges, component, here, lambda e: e.target == entry)
        ]
    return tuple(found)


def _nearest_progress(
    edges: Edges, component: Container[int], start: int, left: frozenset[int]
) -> list[FairEdge]:
    """A shortest path that satisfies a condition in `left`, or reaches a state where one is
    disabled."""
    return _path(
        edges,
        component,
        start,
        lambda e: bool(left & e.fair) or not left <= list_enabled(edges[e.target]),
    )


def _path(
    edges: Edges, component: Container[int], start: int, wanted: Callable[[FairEdge], bool]
) -> list[FairEdge]:
    """A shortest path inside a component whose last edge is wanted. One must exist."""
    before: dict[int, tuple[int, FairEdge] | None] = {start: None}
    queue = deque([start])
    while queue:
        number = queue.popleft()
        for edge in edges[number]:
            if edge.target not in component:
                continue
            if wanted(edge):
                way, step = [edge], before[number]
                while step is not None:
                    way.append(step[1])
                    step = before[step[0]]
                return way[::-1]
            if edge.target not in before:
                before[edge.target] = (number, edge)
                queue.append(edge.target)
    raise AssertionError("the component is not strongly connected")


def components(edges: list[list[FairEdge]], inside: set[int]) -> dict[int, frozenset[int]]:
    """Maps each state of `inside` to its strongly connected component (Tarjan's algorithm,
    iterative)."""
    found: dict[int, frozenset[int]] = {}
    low: dict[int, int] = {}
    index: dict[int, int] = {}
    stack: list[int] = []
    on_stack: set[int] = set()
    for root in sorted(inside):
        if root in index:
            continue
        work: list[tuple[int, Iterator[FairEdge]]] = []
        _enter(root, edges, (work, stack, on_stack, index, low))
        while work:
            number, rest = work[-1]
            edge = next((e for e in rest if e.target in inside), None)
            if edge is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[number])
                if low[number] == index[number]:
                    _leave(number, stack, on_stack, found)
            elif edge.target not in index:
                _enter(edge.target, edges, (work, stack, on_stack, index, low))
            elif edge.target in on_stack:
                low[number] = min(low[number], index[edge.target])
    return found


_Tarjan = tuple[
    list[tuple[int, Iterator[FairEdge]]], list[int], set[int], dict[int, int], dict[int, int]
]


def _enter(number: int, edges: list[list[FairEdge]], about: _Tarjan) -> None:
    work, stack, on_stack, index, low = about
    index[number] = low[number] = len(index)
    stack.append(number)
    on_stack.add(number)
    work.append((number, iter(edges[number])))


def _leave(
    number: int, stack: list[int], on_stack: set[int], found: dict[int, frozenset[int]]
) -> None:
    members = [stack.pop()]
    while members[-1] != number:
        members.append(stack.pop())
    component = frozenset(members)
    on_stack -= component
    for member in component:
        found[member] = component
