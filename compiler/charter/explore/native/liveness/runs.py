"""Searches the transition graph for a fair run that violates `eventually`."""

from __future__ import annotations

import ctypes
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock

from charter.analysis.lasso import OUTSIDE, FairEdge, Lasso, cycle
from charter.explore.native.emit.unit import WHY
from charter.explore.native.liveness import scc
from charter.explore.native.memory.arrays import Array, Room
from charter.explore.native.memory.blocks import Blocks
from charter.explore.native.memory.machine_context import CAPACITY, FATAL, MARGIN, NOTE, SOURCE
from charter.explore.native.memory.machine_context import LINKS as LINKED
from charter.explore.native.program import transition_graph
from charter.explore.native.program.compile_instance import object_code
from charter.explore.native.program.llvm import Library, link
from charter.explore.native.search.levels import (
    CHUNK_SECONDS_MIN,
    GaveUp,
    Note,
    Search,
    SearchCounts,
)

CHUNK = 1 << 20
"""Words of an array of edges. The edges of one state are in one array."""
BLOCK = 1024
"""States of one block for a worker."""
AT_ONCE = 64
"""Fairness conditions that are checked in one pass over the graph."""


@lru_cache(maxsize=2)
def functions(cache: Path | None) -> Library:
    """The compiled functions that follow edges of a graph: the same for every charter, and linked
    once in a process."""
    return link(object_code(scc.text(), cache), scc.SIGNATURES)


@dataclass(frozen=True, slots=True)
class LeadsTo:
    """`trigger leads to goal`, for values of the property's variables, as numbers of predicates:
    `begins` is the trigger (-1: only the initial state), `ends` the goal."""

    begins: int
    ends: int


@dataclass(slots=True)
class Graph:
    """The edges and the values of predicates of all states, in the format of `transition_graph`.
    `notes`: per predicate, the states in which it has no value."""

    room: Room
    library: Library
    states: int
    predicates: int
    firsts: Array = field(init=False)
    truths: Array = field(init=False)
    notes: dict[int, Note] = field(default_factory=dict)
    _chunks: list[Array] = field(default_factory=list)
    _arrays: dict[int, Array] = field(default_factory=dict)
    _block: Array = field(default_factory=lambda: Array.of(scc.SIZE))

    def __post_init__(self) -> None:
        """Allocate the arrays with an entry per state. Raises NoRoom."""
        self.firsts = self.room.array(self.states)
        wide, view = (self.predicates + 63) // 64, self._block.view
        self.truths = self.room.array(self.states * wide)
        view[scc.FIRSTS], view[scc.STATES] = self.firsts.address, self.states
        view[scc.WIDE] = wide
        for at in range(scc.PARENTS, scc.MASKS):
            each = 2 if at in (scc.PARENTS, scc.QUEUE) else 1
            self._keep(at, self.room.array(each * self.states + 1))
        for at, free in zip(
            (scc.ALWAYS, scc.DONE, scc.INNER, scc.UNFAIR),
            (scc.LOW, scc.STACK, scc.WORK, scc.CURSORS),
            strict=True,
        ):
            view[at] = view[free]

    def _keep(self, at: int, array: Array) -> None:
        self._arrays[at] = array
        self._block.view[at] = array.address

    # --- edges -----------------------------------------------------------------------------------

    def chunk(self) -> Array:
        """Room for more edges. Raises NoRoom."""
        found = self.room.array(CHUNK)
        self._chunks = sorted([*self._chunks, found], key=lambda chunk: chunk.address)
        return found

    def words(self, number: int) -> list[int]:
        """The edges of a state: target and label of each."""
        first = self.firsts.view[number]
        at = bisect_right(self._chunks, first, key=lambda chunk: chunk.address)
        view, place = self._chunks[at - 1].view, (first - self._chunks[at - 1].address) // 8
        found: list[int] = []
        while view[place] != transition_graph.END:
            found.append(view[place])
            place += 1
        return found

    # --- runs ------------------------------------------------------------------------------------

    def lasso(self, leads_to: LeadsTo, conditions: Sequence[frozenset[int]]) -> Lasso | None:
        """A fair lasso with a shortest stem that never reaches the goal, or None; its actions are
        words of edges. `conditions`: the fairness conditions that each label satisfies. Raises
        NoRoom."""
        found = self._count_reached(leads_to)
        library, address = self.library, self._block.address
        self._block.view[scc.COUNT] = library["components"](address)
        self._clear(scc.CURSORS)
        several = max((number for each in conditions for number in each), default=0)
        masks = Array.of(len(conditions))
        self._block.view[scc.MASKS] = masks.address
        for low in range(0, several + 1, AT_ONCE):
            here = range(low, low + AT_ONCE)
            masks.write(0, [sum(1 << n - low for n in each if n in here) for each in conditions])
            library["mark_unfair"](address)
        place = library["first"](address, found)
        if place == found:
            return None
        node = self._arrays[scc.QUEUE].view[place]
        state, components = node >> 1, self._arrays[scc.COMPONENTS].view
        stem = self._stem(node)
        return Lasso(
            stem, cycle(_Edges(self, conditions), _Component(components, components[state]), state)
        )

    def _count_reached(self, leads_to: LeadsTo) -> int:
        view = self._block.view
        for number, word, bit in (
            (max(leads_to.begins, 0), scc.BEGINS, scc.BEGIN_BIT),
            (leads_to.ends, scc.ENDS, scc.END_BIT),
        ):
            view[word], view[bit] = self.truths.at(number // 64), number % 64
        view[scc.ONCE] = int(leads_to.begins < 0)
        for at in (scc.PARENTS, scc.INDEX, scc.COMPONENTS):
            self._clear(at)
        return self.library["reach"](self._block.address)

    def _clear(self, at: int) -> None:
        array = self._arrays[at]
        ctypes.memset(array.address, 0, 8 * array.length)

    def _stem(self, node: int) -> tuple[int, ...]:
        parents, found = self._arrays[scc.PARENTS].view, list[int]()
        while (before := parents[node] - 1) != node:
            target = node >> 1
            edges = self.words(before >> 1)
            found.append(next(word for word in edges if word & transition_graph.ABSENT == target))
            node = before
        return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class _Edges:
    """The edges of a graph, read on demand."""

    graph: Graph
    conditions: Sequence[frozenset[int]]

    def __getitem__(self, number: int) -> list[FairEdge]:
        found: list[FairEdge] = []
        for word in self.graph.words(number):
            target = word & transition_graph.ABSENT
            fairness = self.conditions[word >> transition_graph.TARGET_BITS]
            found.append(
                FairEdge(OUTSIDE if target == transition_graph.ABSENT else target, fairness, word)
            )
        return found


@dataclass(frozen=True, slots=True)
class _Component:
    """The states of one strongly connected component."""

    components: memoryview
    number: int

    def __contains__(self, state: object) -> bool:
        return isinstance(state, int) and self.components[state] == self.number


# --- once more over all states -------------------------------------------------------------------


def follow(search: Search, graph: Graph, tell: Callable[[SearchCounts], None]) -> None:
    """Compute the edges of a complete search whose program follows edges. Raises GaveUp or
    NoRoom."""
    block = Array.of(transition_graph.TABLES + len(search.tables()))
    block.view[transition_graph.DIRECTORY] = search.states.directory.address
    block.view[transition_graph.FIRSTS], block.view[transition_graph.TRUTHS] = (
        graph.firsts.address,
        graph.truths.address,
    )
    block.write(transition_graph.TABLES, search.tables())
    followers = _Followers(search, graph, Blocks(0, search.distinct, BLOCK), tell)
    contexts = [Array.of(search.plan.size) for _ in range(search.workers)]
    for context in contexts:
        context.view[LINKED] = block.address
    if search.workers == 1:
        followers.work(contexts[0])
    else:
        with ThreadPoolExecutor(search.workers) as pool:
            try:
                list(pool.map(followers.work, contexts))
            finally:
                followers.stopped = True  # an interrupt does not wait for the remaining blocks
    for number in range(search.plan.notes):
        at = search.plan.noted + NOTE * number
        notes = [Note(*context.numbers(at, NOTE)) for context in contexts]
        if hits := [note for note in notes if note.count]:
            graph.notes[number] = min(hits, key=lambda note: note.source)


@dataclass(slots=True)
class _Followers:
    """Workers that share the blocks of states."""

    search: Search
    graph: Graph
    blocks: Blocks
    tell: Callable[[SearchCounts], None]
    lock: Lock = field(default_factory=Lock)
    said: float = field(default_factory=time.monotonic)
    stopped: bool = False

    def work(self, context: Array) -> None:
        """The work of one thread; if it fails, the others stop."""
        try:
            self._work(context)
        except BaseException:
            self.stopped = True
            raise

    def _work(self, context: Array) -> None:
        search, view, outs = self.search, context.view, self.search.plan.outs
        pending = Array.of(transition_graph.PENDING * transition_graph.pending_size(search.plan))
        view[outs + 2] = pending.address
        view[CAPACITY] = CHUNK - 1
        view[outs + 1] = CHUNK
        for number, count in self.blocks.take(lambda: not self.stopped):
            done = 0
            while done < count:
                if view[outs + 1] + MARGIN > CHUNK - 1:
                    with self.lock:
                        view[outs], view[outs + 1] = self.graph.chunk().address, 0
                view[SOURCE] = number + done
                at = search.states.address(number + done)
                done += search.program.library["follow"](context.address, at, count - done)
                if view[FATAL]:
                    raise GaveUp(WHY[view[FATAL]])
            self.say()

    def say(self) -> None:
        """Report the number of remaining states."""
        with self.lock:
            now = time.monotonic()
            if now - self.said < CHUNK_SECONDS_MIN:
                return
            self.said = now
            search, depth = self.search, len(self.search.levels)
            left = search.distinct - self.blocks.next
            self.tell(SearchCounts(search.distinct, search.generated, depth, left))
