"""A lasso is found exactly where one exists: against every set of states of small random graphs."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from charter.analysis.lasso import OUTSIDE, FairEdge, LeadsToValues, lasso
from charter.explore.native.liveness.runs import Graph as Native
from charter.explore.native.liveness.runs import LeadsTo, functions
from charter.explore.native.memory.arrays import Room
from charter.explore.native.program.llvm import Library
from charter.explore.native.program.transition_graph import ABSENT, END, TARGET_BITS

SIZE = 4
Graph = list[list[FairEdge]]

edge_lists = st.lists(
    st.tuples(
        st.integers(0, SIZE - 1), st.integers(OUTSIDE, SIZE - 1), st.frozensets(st.integers(0, 2))
    ),
    max_size=8,
)
truths = st.lists(st.booleans(), min_size=SIZE, max_size=SIZE)


def graph_of(edges: list[tuple[int, int, frozenset[int]]]) -> Graph:
    return [
        [
            FairEdge(target, fair, i)
            for i, (source, target, fair) in enumerate(edges)
            if source == at
        ]
        for at in range(SIZE)
    ]


def find_waiting(graph: Graph, leads_to: LeadsToValues) -> set[int]:
    """States in which something is waited for on some run."""
    about = {(0, (leads_to.once or leads_to.begins[0]) and not leads_to.ends[0])}
    while True:
        more = {
            (e.target, (waits or (leads_to.begins[e.target] and not leads_to.once))
             and not leads_to.ends[e.target])
            for at, waits in about
            for e in graph[at]
            if e.target != OUTSIDE
        }  # fmt: skip
        if more <= about:
            return {at for at, waits in about if waits}
        about |= more


def possible(graph: Graph, at: int) -> frozenset[int]:
    return frozenset[int]().union(*(edge.fair for edge in graph[at]))


def can_stay(graph: Graph, part: frozenset[int]) -> bool:
    """Whether a run can visit exactly the states of `part` for ever, and be fair."""
    inner = [edge for at in part for edge in graph[at] if edge.target in part]
    if not inner:
        return len(part) == 1 and not graph[min(part)]
    for start in part:
        seen = {start}
        for _ in part:
            seen |= {e.target for at in seen for e in graph[at] if e.target in part}
        if seen != part:
            return False
    neglected = frozenset.intersection(*(possible(graph, at) for at in part))
    return not neglected - frozenset[int]().union(*(edge.fair for edge in inner))


@given(edge_lists, truths, truths, st.booleans())
def test_a_lasso_is_found_exactly_where_there_is_one(
    edges: list[tuple[int, int, frozenset[int]]], begins: list[bool], ends: list[bool], once: bool
) -> None:
    graph, leads_to = graph_of(edges), LeadsToValues(begins, ends, once)
    natively(edges, graph, leads_to)
    inside = sorted(find_waiting(graph, leads_to))
    parts = [frozenset(c) for n in range(1, SIZE + 1) for c in combinations(inside, n)]
    found = lasso(graph, leads_to)
    assert (found is not None) == any(can_stay(graph, part) for part in parts)
    if found is not None:
        check(graph, leads_to, found.stem, found.cycle)


@cache
def library() -> Library:
    return functions(None)


def natively(
    edges: list[tuple[int, int, frozenset[int]]], graph: Graph, leads_to: LeadsToValues
) -> None:
    """The native search takes the very same way; conditions 64 apart are looked at in two passes,
    and truths stand in two words. A label of an edge is its number."""
    native = Native(Room(1 << 30, Path()), library(), SIZE, 65)
    chunk = native.chunk()
    place = 0
    for at, here in enumerate(graph):
        native.firsts.view[at] = chunk.at(place)
        for edge in here:
            target = ABSENT if edge.target == OUTSIDE else edge.target
            chunk.view[place] = edge.action << TARGET_BITS | target
            place += 1
        chunk.view[place] = END
        place += 1
        native.truths.view[2 * at] = int(leads_to.begins[at]) << 63
        native.truths.view[2 * at + 1] = int(leads_to.ends[at])
    numbered = LeadsTo(-1 if leads_to.once else 63, 64)
    conditions = [frozenset(64 * number for number in fair) for _, _, fair in edges]
    expected = lasso(graph, leads_to)
    for _ in range(2):  # the second time in memory that is used
        found = native.lasso(numbered, conditions or [frozenset()])
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            ways = [[word >> TARGET_BITS for word in way] for way in (found.stem, found.cycle)]
            assert ways == [list(expected.stem), list(expected.cycle)]


def check(
    graph: Graph, leads_to: LeadsToValues, stem: tuple[int, ...], cycle: tuple[int, ...]
) -> None:
    """The lasso is a run of the graph; on its cycle nothing arrives, and nothing is neglected."""
    by_action = {edge.action: (at, edge) for at, edges in enumerate(graph) for edge in edges}
    here = 0
    for action in stem:
        source, edge = by_action[action]
        assert source == here
        here = edge.target
    entry, visited, done = here, {here}, frozenset[int]()
    for action in cycle:
        source, edge = by_action[action]
        assert source == here
        here, done = edge.target, done | edge.fair
        visited.add(here)
    assert here == entry
    assert cycle or not graph[entry]
    assert not any(leads_to.ends[at] for at in visited)
    assert not frozenset.intersection(*(possible(graph, at) for at in visited)) - done
