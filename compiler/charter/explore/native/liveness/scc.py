"""Emits the search for fair strongly connected components in the transition graph.

i64 reach(graph)        breadth-first search over nodes: lists them in QUEUE, returns their number
i64 components(graph)   the strongly connected components of the states where the goal is awaited
                        (Tarjan, iterative); returns their number, and numbers them from 1
void mark_unfair(graph) marks components that violate one of at most 64 weak fairness conditions
i64 first(graph, n)     the index in QUEUE of the first node in an unmarked component, or n

A node is twice the number of a state, plus one if the goal is awaited there. Edges are those of
`transition_graph`. All arrays but FIRSTS, TRUTHS and MASKS are working memory of these functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from charter.explore.native.emit import functions as fn
from charter.explore.native.emit.code import Code, Number, Pointer, Ref, Truth
from charter.explore.native.emit.unit import PRELUDE
from charter.explore.native.program.transition_graph import ABSENT, TARGET_BITS

FIRSTS, STATES, WIDE, BEGINS, BEGIN_BIT, ENDS, END_BIT, ONCE = range(8)
"""FIRSTS: the address of each state's edges. STATES: the number of states. WIDE: words of predicate
values per state. BEGINS, BEGIN_BIT: word and bit of the trigger in the values of the first state;
ENDS, END_BIT: of the goal. ONCE: whether only the trigger in the initial state counts."""
PARENTS, QUEUE, INDEX, LOW, STACK, WORK, CURSORS, COMPONENTS = range(8, 16)
"""PARENTS: the node from which each node was found, plus one. QUEUE: the nodes in the order of the
search. Then per state the arrays of Tarjan's algorithm. COMPONENTS: the component of each state, or
0."""
MASKS, ALWAYS, DONE, INNER, UNFAIR, COUNT = range(16, 22)
"""MASKS: for each label the conditions that it satisfies. Per component: ALWAYS, the conditions
enabled in all of its states; DONE, those that its edges satisfy; INNER, whether it has edges inside
(1) or any (2); UNFAIR, whether it is marked. COUNT: the number of components."""
SIZE = 22

GRAPH = Pointer("%g")

SIGNATURES: dict[str, tuple[bool, int]] = {
    "reach": (True, 1),
    "components": (True, 1),
    "mark_unfair": (False, 1),
    "first": (True, 2),
}


def text() -> str:
    """The whole module."""
    return "\n".join([PRELUDE, reach(), components(), mark_unfair(), first()])


@dataclass(slots=True)
class Walk:
    """Prints one function over a graph."""

    code: Code
    arrays: dict[int, Pointer] = field(default_factory=dict)
    numbers: dict[int, Ref] = field(default_factory=dict)

    def array(self, at: int) -> Pointer:
        """An array of the graph. Call it before any loop."""
        if at not in self.arrays:
            self.arrays[at] = self.code.load_pointer(GRAPH, at)
        return self.arrays[at]

    def number(self, at: int) -> Ref:
        """A number of the graph. Call it before any loop."""
        if at not in self.numbers:
            self.numbers[at] = self.code.load(GRAPH, at)
        return self.numbers[at]

    def get(self, at: int, index: Number) -> Ref:
        """An entry of an array."""
        return self.code.load(self.array(at), index)

    def put(self, at: int, index: Number, value: Number) -> None:
        """Write an entry of an array."""
        self.code.store(value, self.array(at), index)

    def bit(self, words: int, bit: int, state: Number) -> Number:
        """The value of a predicate in a state, as a number."""
        word = self.get(words, self.code.mul(state, self.number(WIDE)))
        return self.code.bit(word, self.number(bit))

    @contextmanager
    def looping(self, more: Callable[[], Truth]) -> Iterator[None]:
        """A loop while a condition is true."""
        code = self.code
        head, body, after = code.label(), code.label(), code.label()
        code.jump(head)
        code.start(head)
        code.fork(more(), body, after)
        code.start(body)
        yield
        code.jump(head)
        code.start(after)

    @contextmanager
    def edges(self, state: Number) -> Iterator[tuple[Ref, Number]]:
        """A loop over the edges of a state: each word, and the target, which may be ABSENT."""
        code = self.code
        place = code.memory(1)
        code.store(self.code.load_pointer(self.array(FIRSTS), state), place)

        def more() -> Truth:
            return code.compare("ne", code.load(code.load_pointer(place)), -1)

        with self.looping(more):
            here = code.load_pointer(place)
            word = code.load(here)
            code.store(code.at(here, 1), place)
            yield word, target_of(code, word)

    @contextmanager
    def inner_edges(self, state: Number) -> Iterator[tuple[Ref, Number]]:
        """The same without edges that leave the instance."""
        compare = self.code.compare
        with self.edges(state) as (w, t), self.code.when(compare("ne", t, ABSENT)):
            yield w, t


def target_of(code: Code, word: Number) -> Number:
    """The number of an edge's target."""
    return code.binary("and", word, ABSENT)


def walk(code: Code, *arrays: int) -> Walk:
    """A printer for a function that uses these arrays and numbers."""
    found = Walk(code)
    for at in arrays:
        if at in (STATES, WIDE, BEGIN_BIT, END_BIT, ONCE, COUNT):
            found.number(at)
        else:
            found.array(at)
    return found


def reach() -> str:
    """`@reach`."""
    it = walk(
        Code.of(fn.REACH, GRAPH),
        FIRSTS, WIDE, BEGINS, BEGIN_BIT, ENDS, END_BIT, ONCE, PARENTS, QUEUE,
    )  # fmt: skip
    code = it.code
    once = it.number(ONCE)
    later = code.binary("xor", once, 1)
    head, tail = code.memory(1), code.memory(1)
    begun = code.binary("or", it.bit(BEGINS, BEGIN_BIT, 0), once)
    start = code.binary("and", begun, code.binary("xor", it.bit(ENDS, END_BIT, 0), 1))
    it.put(PARENTS, start, code.add(start, 1))
    it.put(QUEUE, 0, start)
    code.store(0, head)
    code.store(1, tail)
    with it.looping(lambda: code.compare("ult", code.load(head), code.load(tail))):
        node = it.get(QUEUE, code.bump(head))
        waits = code.binary("and", node, 1)
        goes_on = code.nonzero(code.binary("or", waits, later))
        with code.when(goes_on), it.inner_edges(code.binary("lshr", node, 1)) as (_, target):
            fresh = code.binary("and", it.bit(BEGINS, BEGIN_BIT, target), later)
            ended = it.bit(ENDS, END_BIT, target)
            waiting = code.binary("or", waits, fresh)
            after = code.binary("and", waiting, code.binary("xor", ended, 1))
            then = code.binary("or", code.binary("shl", target, 1), after)
            with code.when(code.compare("eq", it.get(PARENTS, then), 0)):
                it.put(PARENTS, then, code.add(node, 1))
                it.put(QUEUE, code.bump(tail), then)
    code.give(code.load(tail))
    return code.text()


def inside(it: Walk, state: Number) -> Truth:
    """Whether the goal is awaited in a state, on some path to it."""
    code = it.code
    node = code.binary("or", code.binary("shl", state, 1), 1)
    return code.nonzero(it.get(PARENTS, node))


@dataclass(slots=True)
class Tarjan:
    """Prints `@components`. `WORK` and `CURSORS` are the states on the search path and the next
    edge of each; `STACK` has the states whose component is not known yet."""

    it: Walk
    depth: Pointer
    held: Pointer
    visited: Pointer
    found: Pointer

    @staticmethod
    def of() -> Tarjan:
        """An empty traversal: no state is visited."""
        it = walk(
            Code.of(fn.COMPONENTS, GRAPH),
            FIRSTS, STATES, PARENTS, INDEX, LOW, STACK, WORK, CURSORS, COMPONENTS,
        )  # fmt: skip
        cells = [it.code.memory(1) for _ in range(4)]
        for cell in cells:
            it.code.store(0, cell)
        return Tarjan(it, *cells)

    def text(self) -> str:
        """The function."""
        it, code = self.it, self.it.code
        with code.counting(it.number(STATES)) as root:
            new = code.compare("eq", it.get(INDEX, root), 0)
            with code.when(code.both(inside(it, root), new)):
                self.enter(root)
                with it.looping(lambda: code.nonzero(code.load(self.depth))):
                    self.step()
        code.give(code.load(self.found))
        return code.text()

    def enter(self, state: Number) -> None:
        """Enter a state that was not visited."""
        it, code = self.it, self.it.code
        code.bump(self.visited)
        index = code.load(self.visited)
        it.put(INDEX, state, index)
        it.put(LOW, state, index)
        it.put(STACK, code.bump(self.held), state)
        depth = code.bump(self.depth)
        it.put(WORK, depth, state)
        it.put(CURSORS, depth, it.get(FIRSTS, state))

    def lower(self, state: Number, other: Number) -> None:
        """Lower the low link of a state to this."""
        it, code = self.it, self.it.code
        low = it.get(LOW, state)
        it.put(LOW, state, code.call(fn.LESSER, low, other))

    def step(self) -> None:
        """Follow the next edge of the current state, or leave it."""
        it, code = self.it, self.it.code
        top = code.sub(code.load(self.depth), 1)
        state = it.get(WORK, top)
        cursor = code.load_pointer(it.array(CURSORS), top)
        word = code.load(cursor)
        ended = code.compare("eq", word, -1)
        with code.when(ended):
            self.leave(state, top)
        with code.unless(ended):
            code.store(code.at(cursor, 1), it.array(CURSORS), top)
            target = target_of(code, word)
            there = code.compare("ne", target, ABSENT)
            with code.when(there), code.when(inside(it, target)):
                index = it.get(INDEX, target)
                new = code.compare("eq", index, 0)
                with code.when(new):
                    self.enter(target)
                with code.unless(new):
                    is_open = code.compare("eq", it.get(COMPONENTS, target), 0)
                    with code.when(is_open):
                        self.lower(state, index)

    def leave(self, state: Number, top: Number) -> None:
        """Leave a state after its last edge; if it is the root of a component, number the
        component."""
        it, code = self.it, self.it.code
        code.store(top, self.depth)
        low = it.get(LOW, state)
        with code.when(code.compare("eq", low, it.get(INDEX, state))):
            code.bump(self.found)
            last = code.memory(1)
            code.store(-1, last)
            with it.looping(lambda: code.compare("ne", code.load(last), state)):
                held = code.sub(code.load(self.held), 1)
                code.store(held, self.held)
                member = it.get(STACK, held)
                it.put(COMPONENTS, member, code.load(self.found))
                code.store(member, last)
        with code.unless(code.compare("eq", top, 0)):
            self.lower(it.get(WORK, code.sub(top, 1)), low)


def components() -> str:
    """`@components`."""
    return Tarjan.of().text()


def mark_unfair() -> str:
    """`@mark_unfair`."""
    it = walk(
        Code.of(fn.MARK_UNFAIR, GRAPH),
        FIRSTS, STATES, COUNT, COMPONENTS, MASKS, ALWAYS, DONE, INNER, UNFAIR,
    )  # fmt: skip
    code, enabled = it.code, it.code.memory(1)
    after_last = code.add(it.number(COUNT), 1)
    with code.counting(after_last, 1) as component:
        it.put(ALWAYS, component, -1)
        it.put(DONE, component, 0)
        it.put(INNER, component, 0)
    with code.counting(it.number(STATES)) as state:
        component = it.get(COMPONENTS, state)
        with code.unless(code.compare("eq", component, 0)):
            code.store(0, enabled)
            with it.edges(state) as (word, target):
                mask = it.get(MASKS, code.binary("lshr", word, TARGET_BITS))
                code.store(code.binary("or", code.load(enabled), mask), enabled)
                it.put(INNER, component, code.binary("or", it.get(INNER, component), 2))
                there = code.compare("ne", target, ABSENT)
                with (
                    code.when(there),
                    code.when(code.compare("eq", it.get(COMPONENTS, target), component)),
                ):
                    it.put(DONE, component, code.binary("or", it.get(DONE, component), mask))
                    it.put(INNER, component, code.binary("or", it.get(INNER, component), 1))
            always = code.binary("and", it.get(ALWAYS, component), code.load(enabled))
            it.put(ALWAYS, component, always)
    with code.counting(after_last, 1) as component:
        others = code.binary("xor", it.get(DONE, component), -1)
        neglected = code.binary("and", it.get(ALWAYS, component), others)
        leaves = code.compare("eq", it.get(INNER, component), 2)
        bad = code.either(code.nonzero(neglected), leaves)
        it.put(UNFAIR, component, code.binary("or", it.get(UNFAIR, component), code.widen(bad)))
    code.give()
    return code.text()


def first() -> str:
    """`@first`."""
    end = Ref("%n")
    it = walk(Code.of(fn.FIRST, GRAPH, end), QUEUE, COMPONENTS, UNFAIR)
    code = it.code
    with code.counting(end) as i:
        node = it.get(QUEUE, i)
        with code.unless(code.compare("eq", code.binary("and", node, 1), 0)):
            component = it.get(COMPONENTS, code.binary("lshr", node, 1))
            with code.when(code.compare("eq", it.get(UNFAIR, component), 0)):
                code.give(i)
                code.start(code.label())
    code.give(end)
    return code.text()
