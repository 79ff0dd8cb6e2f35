"""Searches the transition graph for a fair run that violates `eventually`."""

from __future__ import annotations

import ctypes
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from charter.explore.native import scc as fair
from charter.explore.native import transition_graph as links
from charter.explore.native.context import CAPACITY, FATAL, MARGIN, NOTE, SOURCE
from charter.explore.native.context import LINKS as LINKED
from charter.explore.native.llvm import Library, linked
from charter.explore.native.memory import Array, Room
from charter.explore.native.program import object_code
from charter.explore.native.search import BRIEF, Blocks, GaveUp, Note, Search, SearchCounts
from charter.explore.native.unit import WHY
from charter.semantics.lasso import OUTSIDE, FairEdge, Lasso, cycle

CHUNK = 1 << 20
"""Words in an array of edges: no state's edges are in two."""
BLOCK = 1024
"""States that a worker takes at once."""
AT_ONCE = 64
"""Conditions that are looked at in one pass over a graph."""


def functions(cache: Path | None) -> Library:
    """The compiled functions that follow edges of a graph."""
    return linked(object_code(fair.text(), cache), fair.SIGNATURES)


@dataclass(frozen=True, slots=True)
class LeadsTo:
    """What a property waits for, with values for its variables: the numbers of the questions
    whether it begins to be waited for (-1: from the start on, and then only), and whether it is
    there."""

    begins: int
    ends: int


@dataclass(slots=True)
class Graph:
    """Edges and truths of `states` states, as `links` has them. `notes` says of a question where it
    has no value."""

    room: Room
    library: Library
    states: int
    questions: int
    firsts: Array = field(init=False)
    truths: Array = field(init=False)
    notes: dict[int, Note] = field(default_factory=dict)
    _chunks: list[Array] = field(default_factory=list)
    _arrays: dict[int, Array] = field(default_factory=dict)
    _block: Array = field(default_factory=lambda: Array.of(fair.SIZE))

    def __post_init__(self) -> None:
        """Room for what every state has. Raises NoRoom."""
        self.firsts = self.room.array(self.states)
        wide, view = (self.questions + 63) // 64, self._block.view
        self.truths = self.room.array(self.states * wide)
        view[fair.FIRSTS], view[fair.STATES] = self.firsts.address, self.states
        view[fair.WIDE] = wide
        for at in range(fair.PARENTS, fair.MASKS):
            each = 2 if at in (fair.PARENTS, fair.QUEUE) else 1
            self._kept(at, self.room.array(each * self.states + 1))
        for at, free in zip(
            (fair.ALWAYS, fair.DONE, fair.INNER, fair.NEGLECTS),
            (fair.LOW, fair.STACK, fair.WORK, fair.CURSORS),
            strict=True,
        ):
            view[at] = view[free]

    def _kept(self, at: int, array: Array) -> None:
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
        while view[place] != links.END:
            found.append(view[place])
            place += 1
        return found

    # --- runs ------------------------------------------------------------------------------------

    def lasso(self, question: LeadsTo, conditions: Sequence[frozenset[int]]) -> Lasso | None:
        """A fair run in which what is waited for never comes, with a shortest stem; its actions are
        words of edges. `conditions`: those that each label satisfies. Raises NoRoom."""
        found = self._reached(question)
        library, address = self.library, self._block.address
        self._block.view[fair.COUNT] = library["parts"](address)
        self._cleared(fair.CURSORS)
        several = max((number for each in conditions for number in each), default=0)
        masks = Array.of(len(conditions))
        self._block.view[fair.MASKS] = masks.address
        for low in range(0, several + 1, AT_ONCE):
            here = range(low, low + AT_ONCE)
            masks.write(0, [sum(1 << n - low for n in each if n in here) for each in conditions])
            library["judge"](address)
        place = library["first"](address, found)
        if place == found:
            return None
        node = self._arrays[fair.QUEUE].view[place]
        state, parts = node >> 1, self._arrays[fair.PARTS].view
        stem = self._stem(node)
        return Lasso(stem, cycle(_Edges(self, conditions), _Part(parts, parts[state]), state))

    def _reached(self, question: LeadsTo) -> int:
        view = self._block.view
        for number, word, bit in (
            (max(question.begins, 0), fair.BEGINS, fair.BEGIN_BIT),
            (question.ends, fair.ENDS, fair.END_BIT),
        ):
            view[word], view[bit] = self.truths.at(number // 64), number % 64
        view[fair.ONCE] = int(question.begins < 0)
        for at in (fair.PARENTS, fair.INDEX, fair.PARTS):
            self._cleared(at)
        return self.library["reach"](self._block.address)

    def _cleared(self, at: int) -> None:
        array = self._arrays[at]
        ctypes.memset(array.address, 0, 8 * array.length)

    def _stem(self, node: int) -> tuple[int, ...]:
        parents, found = self._arrays[fair.PARENTS].view, list[int]()
        while (before := parents[node] - 1) != node:
            target = node >> 1
            edges = self.words(before >> 1)
            found.append(next(word for word in edges if word & links.ABSENT == target))
            node = before
        return tuple(reversed(found))


@dataclass(frozen=True, slots=True)
class _Edges:
    """The edges of a graph, read when they are asked for."""

    graph: Graph
    conditions: Sequence[frozenset[int]]

    def __getitem__(self, number: int) -> list[FairEdge]:
        found: list[FairEdge] = []
        for word in self.graph.words(number):
            target = word & links.ABSENT
            fairness = self.conditions[word >> links.TARGET_BITS]
            found.append(FairEdge(OUTSIDE if target == links.ABSENT else target, fairness, word))
        return found


@dataclass(frozen=True, slots=True)
class _Part:
    """The states of one part."""

    parts: memoryview
    number: int

    def __contains__(self, state: object) -> bool:
        return isinstance(state, int) and self.parts[state] == self.number


# --- once more over all states -------------------------------------------------------------------


def follow(search: Search, graph: Graph, tell: Callable[[SearchCounts], None]) -> None:
    """Fill the graph of a search that came to its end, whose program follows edges. Raises GaveUp
    or NoRoom."""
    block = Array.of(links.TABLES + len(search.tables()))
    block.view[links.DIRECTORY] = search.states.directory.address
    block.view[links.FIRSTS], block.view[links.TRUTHS] = graph.firsts.address, graph.truths.address
    block.write(links.TABLES, search.tables())
    followers = _Followers(search, graph, Blocks(search, 0, search.distinct, BLOCK), tell)
    contexts = [Array.of(search.plan.size) for _ in range(search.workers)]
    for context in contexts:
        context.view[LINKED] = block.address
    with ThreadPoolExecutor(search.workers) as pool:
        try:
            list(pool.map(followers.work, contexts))
        finally:
            followers.stopped = True  # an interrupt does not wait for what is left
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
        """What one worker does; if it fails, the others stop."""
        try:
            self._work(context)
        except BaseException:
            self.stopped = True
            raise

    def _work(self, context: Array) -> None:
        search, view, outs = self.search, context.view, self.search.plan.outs
        pending = Array.of(links.PENDING * links.pending_size(search.plan))
        view[outs + 2] = pending.address
        view[CAPACITY] = CHUNK - 1
        view[outs + 1] = CHUNK
        for number, count in self.blocks.taken(lambda: not self.stopped):
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
        """Reports the number of states that are left."""
        with self.lock:
            now = time.monotonic()
            if now - self.said < BRIEF:
                return
            self.said = now
            search, depth = self.search, len(self.search.levels)
            left = search.distinct - self.blocks.next
            self.tell(SearchCounts(search.distinct, search.generated, depth, left))
