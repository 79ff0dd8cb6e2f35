"""A transition graph, and the search in it for a fair lasso that never reaches the goal.

Weak fairness asks nothing of the order in which a cycle visits its states, so one fair cycle
through a strongly connected part exists exactly where the whole part is fair.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

OUTSIDE = -1


@dataclass(frozen=True, slots=True)
class FairEdge:
    """A transition that changes the state; `target` is OUTSIDE where it leaves the instance,
    `fair` numbers the fairness conditions that it satisfies, `action` is the caller's."""

    target: int
    fair: frozenset[int]
    action: int


class Edges(Protocol):
    """The edges out of each state, by its number."""

    def __getitem__(self, number: int, /) -> Sequence[FairEdge]: ...


@dataclass(frozen=True, slots=True)
class Waiting:
    """What the search needs of a property: in which states something begins to be waited for, and
    in which it is there. `once`: what begins after the start does not count."""

    begins: list[bool]
    ends: list[bool]
    once: bool


@dataclass(frozen=True, slots=True)
class Lasso:
    """Actions to a state, and actions from it back to it; without those the run stays there."""

    stem: tuple[int, ...]
    cycle: tuple[int, ...]


Node = tuple[int, bool]


@dataclass(slots=True)
class _Search:
    """Breadth-first over states, and whether something is waited for in them."""

    edges: list[list[FairEdge]]
    waiting: Waiting
    parents: dict[Node, tuple[Node, FairEdge] | None] = field(default_factory=dict)

    def nodes(self) -> Iterator[Node]:
        """Every node, the nearest first."""
        about = self.waiting
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
        """The actions of a shortest way to a node."""
        found: list[int] = []
        while (parent := self.parents[node]) is not None:
            node, edge = parent
            found.append(edge.action)
        return tuple(reversed(found))


def lasso(edges: list[list[FairEdge]], waiting: Waiting) -> Lasso | None:
    """A fair run in which what is waited for never comes, with a shortest stem; None if there is
    none. Runs that leave the instance are not looked at."""
    search = _Search(edges, waiting)
    order = [number for number, waits in search.nodes() if waits]
    inside = set(order)
    parts = components(edges, inside)
    fair: dict[int, bool] = {}
    for number in order:
        part = parts[number]
        known = fair.get(id(part))
        if known is None:
            known = fair[id(part)] = _is_fair(edges, part)
        if known:
            return Lasso(search.stem((number, True)), cycle(edges, part, number))
    return None


def _inner(edges: list[list[FairEdge]], part: frozenset[int]) -> Iterable[FairEdge]:
    return (edge for number in part for edge in edges[number] if edge.target in part)


def _is_fair(edges: list[list[FairEdge]], part: frozenset[int]) -> bool:
    """Whether a run can stay in `part` for ever without neglecting what it must not neglect."""
    if len(part) == 1 and not any(_inner(edges, part)):
        (only,) = part
        return not edges[only]
    always = frozenset.intersection(*(enabled(edges[number]) for number in part))
    for edge in _inner(edges, part):
        always -= edge.fair
    return not always


def enabled(edges: Sequence[FairEdge]) -> frozenset[int]:
    """The fairness conditions that something could satisfy in a state."""
    return frozenset[int]().union(*(edge.fair for edge in edges))


def cycle(edges: Edges, part: Container[int], entry: int) -> tuple[int, ...]:
    """A fair way from `entry` back to it, inside of `part`; short, and not always the shortest."""
    left = enabled(edges[entry])
    here, found = entry, list[int]()
    while left:
        way = _nearest(edges, part, here, left)
        for edge in way:
            left = (left - edge.fair) & enabled(edges[edge.target])
        found += [edge.action for edge in way]
        here = way[-1].target
    if edges[entry] and (here != entry or not found):
        found += [edge.action for edge in _way(edges, part, here, lambda e: e.target == entry)]
    return tuple(found)


def _nearest(
    edges: Edges, part: Container[int], start: int, left: frozenset[int]
) -> list[FairEdge]:
    """The shortest way that does something of `left`, or makes it impossible."""
    return _way(
        edges, part, start, lambda e: bool(left & e.fair) or not left <= enabled(edges[e.target])
    )


def _way(
    edges: Edges, part: Container[int], start: int, wanted: Callable[[FairEdge], bool]
) -> list[FairEdge]:
    """A shortest way inside of `part` whose last edge is wanted; there is one."""
    before: dict[int, tuple[int, FairEdge] | None] = {start: None}
    queue = deque([start])
    while queue:
        number = queue.popleft()
        for edge in edges[number]:
            if edge.target not in part:
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
    raise AssertionError("the part is not strongly connected")


def components(edges: list[list[FairEdge]], inside: set[int]) -> dict[int, frozenset[int]]:
    """For each state of `inside` its strongly connected part (Tarjan, without recursion)."""
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
    part = frozenset(members)
    on_stack -= part
    for member in part:
        found[member] = part
