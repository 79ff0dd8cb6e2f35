"""Emits the search for fair strongly connected components in the transition graph.

i64 reach(graph)      breadth first over nodes: states, and whether something is waited for in them;
                      how many were found, which QUEUE lists
i64 parts(graph)      the strongly connected parts of the states in which something is waited for
                      (Tarjan, without recursion); how many, numbered from 1
void judge(graph)     which parts neglect one of at most 64 conditions
i64 first(graph, n)   the place in QUEUE of the first node of a part that neglects none, or n

A node is twice the number of its state, and one more where something is waited for. Edges are those
of `links`. All arrays but FIRSTS, TRUTHS and MASKS are numbers that the functions keep there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from charter.explore.native import functions as fn
from charter.explore.native.code import Code, Ref
from charter.explore.native.transition_graph import ABSENT, TARGET_BITS
from charter.explore.native.unit import PRELUDE

FIRSTS, STATES, WIDE, BEGINS, BEGIN_BIT, ENDS, END_BIT, ONCE = range(8)
"""Where each state's edges begin; how many states there are; words of truths of a state; the word
of the first state in which the trigger's bit stands, which bit it is, and the same of the goal;
whether what begins after the start does not count."""
PARENTS, QUEUE, INDEX, LOW, STACK, WORK, CURSORS, PARTS = range(8, 16)
"""For each node the one that it was found from, plus one; nodes in the order in which they were
found; then for each state what Tarjan's search knows of it. PARTS: the part of each state, or 0."""
MASKS, ALWAYS, DONE, INNER, NEGLECTS, COUNT = range(16, 22)
"""For each label the conditions that it satisfies; for each part the conditions that are enabled in
all of its states, those that its edges satisfy, whether it has edges inside (1) or any (2), and
whether it neglects something; how many parts there are."""
SIZE = 22

SIGNATURES: dict[str, tuple[bool, int]] = {
    "reach": (True, 1),
    "parts": (True, 1),
    "judge": (False, 1),
    "first": (True, 2),
}


def text() -> str:
    """The whole module."""
    return "\n".join([PRELUDE, reach(), parts(), judge(), first()])


@dataclass(slots=True)
class Walk:
    """Prints one function over a graph."""

    code: Code
    known: dict[int, Ref] = field(default_factory=dict)

    def array(self, at: int) -> Ref:
        """An array of the graph. To be asked for before any loop."""
        if at not in self.known:
            self.known[at] = self.code.load("%g", at, "ptr")
        return self.known[at]

    def number(self, at: int) -> Ref:
        """A number of the graph. To be asked for before any loop."""
        if at not in self.known:
            self.known[at] = self.code.load("%g", at)
        return self.known[at]

    def get(self, at: int, index: Ref) -> Ref:
        """An entry of an array."""
        return self.code.load(self.array(at), index)

    def put(self, at: int, index: Ref, value: Ref) -> None:
        """Write an entry of an array."""
        self.code.store(value, self.array(at), index)

    def bit(self, words: int, bit: int, state: Ref) -> Ref:
        """Whether a question is answered with yes in a state, as a number."""
        word = self.get(words, self.code.binary("mul", state, self.number(WIDE)))
        return self.code.binary("and", self.code.binary("lshr", word, self.number(bit)), "1")

    @contextmanager
    def looping(self, more: Callable[[], Ref]) -> Iterator[None]:
        """A loop while something is so."""
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
    def edges(self, state: Ref) -> Iterator[tuple[Ref, Ref]]:
        """A loop over the edges of a state: each word, and the target, which may be ABSENT."""
        code = self.code
        place = code.memory(1)
        code.store(self.code.load(self.array(FIRSTS), state, "ptr"), place, 0, "ptr")

        def more() -> Ref:
            return code.compare("ne", code.load(code.load(place, 0, "ptr")), "-1")

        with self.looping(more):
            here = code.load(place, 0, "ptr")
            word = code.load(here)
            code.store(code.at(here, 1), place, 0, "ptr")
            yield word, target_of(code, word)

    @contextmanager
    def inner_edges(self, state: Ref) -> Iterator[tuple[Ref, Ref]]:
        """The same without edges that leave the instance."""
        compare = self.code.compare
        with self.edges(state) as (w, t), self.code.when(compare("ne", t, str(ABSENT))):
            yield w, t


def target_of(code: Code, word: Ref) -> Ref:
    """The number of an edge's target."""
    return code.binary("and", word, str(ABSENT))


def walk(head: str, *arrays: int) -> Walk:
    """A function that uses these arrays and numbers."""
    found = Walk(Code(head, "nounwind"))
    for at in arrays:
        if at in (STATES, WIDE, BEGIN_BIT, END_BIT, ONCE, COUNT):
            found.number(at)
        else:
            found.array(at)
    return found


def reach() -> str:
    """`@reach`."""
    it = walk(
        "i64 @reach(ptr %g)",
        FIRSTS, WIDE, BEGINS, BEGIN_BIT, ENDS, END_BIT, ONCE, PARENTS, QUEUE,
    )  # fmt: skip
    code = it.code
    once = it.number(ONCE)
    later = code.binary("xor", once, "1")
    head, tail = code.memory(1), code.memory(1)
    begun = code.binary("or", it.bit(BEGINS, BEGIN_BIT, "0"), once)
    start = code.binary("and", begun, code.binary("xor", it.bit(ENDS, END_BIT, "0"), "1"))
    it.put(PARENTS, start, code.add(start, "1"))
    it.put(QUEUE, "0", start)
    code.store("0", head)
    code.store("1", tail)
    with it.looping(lambda: code.compare("ult", code.load(head), code.load(tail))):
        node = it.get(QUEUE, code.bump(head))
        waits = code.binary("and", node, "1")
        goes_on = code.compare("ne", code.binary("or", waits, later), "0")
        with code.when(goes_on), it.inner_edges(code.binary("lshr", node, "1")) as (_, target):
            fresh = code.binary("and", it.bit(BEGINS, BEGIN_BIT, target), later)
            ended = it.bit(ENDS, END_BIT, target)
            waiting = code.binary("or", waits, fresh)
            after = code.binary("and", waiting, code.binary("xor", ended, "1"))
            then = code.binary("or", code.binary("shl", target, "1"), after)
            with code.when(code.compare("eq", it.get(PARENTS, then), "0")):
                it.put(PARENTS, then, code.add(node, "1"))
                it.put(QUEUE, code.bump(tail), then)
    code.give(code.load(tail))
    return code.text()


def inside(it: Walk, state: Ref) -> Ref:
    """Whether something is waited for in a state, on some way to it."""
    code = it.code
    node = code.binary("or", code.binary("shl", state, "1"), "1")
    return code.compare("ne", it.get(PARENTS, node), "0")


@dataclass(slots=True)
class Tarjan:
    """Prints `@parts`. `WORK` and `CURSORS` are the states that are looked at, and where in their
    edges the search stands; `STACK` those whose part is not known yet."""

    it: Walk
    depth: Ref
    held: Ref
    visited: Ref
    found: Ref

    @staticmethod
    def of() -> Tarjan:
        """An empty traversal: no state is visited."""
        it = walk(
            "i64 @parts(ptr %g)",
            FIRSTS, STATES, PARENTS, INDEX, LOW, STACK, WORK, CURSORS, PARTS,
        )  # fmt: skip
        cells = [it.code.memory(1) for _ in range(4)]
        for cell in cells:
            it.code.store("0", cell)
        return Tarjan(it, *cells)

    def text(self) -> str:
        """The function."""
        it, code = self.it, self.it.code
        with code.counting(it.number(STATES)) as root:
            new = code.compare("eq", it.get(INDEX, root), "0")
            with code.when(code.both(inside(it, root), new)):
                self.enter(root)
                with it.looping(lambda: code.compare("ne", code.load(self.depth), "0")):
                    self.step()
        code.give(code.load(self.found))
        return code.text()

    def enter(self, state: Ref) -> None:
        """A state that was not visited."""
        it, code = self.it, self.it.code
        code.bump(self.visited)
        index = code.load(self.visited)
        it.put(INDEX, state, index)
        it.put(LOW, state, index)
        it.put(STACK, code.bump(self.held), state)
        depth = code.bump(self.depth)
        it.put(WORK, depth, state)
        it.put(CURSORS, depth, it.get(FIRSTS, state))

    def lower(self, state: Ref, other: Ref) -> None:
        """The state leads back as far as this."""
        it, code = self.it, self.it.code
        low = it.get(LOW, state)
        it.put(LOW, state, code.call(fn.LESSER, low, other))

    def step(self) -> None:
        """The next edge of the state that is looked at, or its end."""
        it, code = self.it, self.it.code
        top = code.binary("sub", code.load(self.depth), "1")
        state = it.get(WORK, top)
        cursor = code.load(it.array(CURSORS), top, "ptr")
        word = code.load(cursor)
        ended = code.compare("eq", word, "-1")
        with code.when(ended):
            self.leave(state, top)
        with code.unless(ended):
            code.store(code.at(cursor, 1), it.array(CURSORS), top, "ptr")
            target = target_of(code, word)
            there = code.compare("ne", target, str(ABSENT))
            with code.when(there), code.when(inside(it, target)):
                index = it.get(INDEX, target)
                new = code.compare("eq", index, "0")
                with code.when(new):
                    self.enter(target)
                with code.unless(new):
                    is_open = code.compare("eq", it.get(PARTS, target), "0")
                    with code.when(is_open):
                        self.lower(state, index)

    def leave(self, state: Ref, top: Ref) -> None:
        """A state all of whose edges were looked at; a whole part, where it is the first of one."""
        it, code = self.it, self.it.code
        code.store(top, self.depth)
        low = it.get(LOW, state)
        with code.when(code.compare("eq", low, it.get(INDEX, state))):
            code.bump(self.found)
            last = code.memory(1)
            code.store("-1", last)
            with it.looping(lambda: code.compare("ne", code.load(last), state)):
                held = code.binary("sub", code.load(self.held), "1")
                code.store(held, self.held)
                member = it.get(STACK, held)
                it.put(PARTS, member, code.load(self.found))
                code.store(member, last)
        with code.unless(code.compare("eq", top, "0")):
            self.lower(it.get(WORK, code.binary("sub", top, "1")), low)


def parts() -> str:
    """`@parts`."""
    return Tarjan.of().text()


def judge() -> str:
    """`@judge`."""
    it = walk(
        "void @judge(ptr %g)",
        FIRSTS, STATES, COUNT, PARTS, MASKS, ALWAYS, DONE, INNER, NEGLECTS,
    )  # fmt: skip
    code, enabled = it.code, it.code.memory(1)
    parts_ = code.add(it.number(COUNT), "1")
    with code.counting(parts_, "1") as part:
        it.put(ALWAYS, part, "-1")
        it.put(DONE, part, "0")
        it.put(INNER, part, "0")
    with code.counting(it.number(STATES)) as state:
        part = it.get(PARTS, state)
        with code.unless(code.compare("eq", part, "0")):
            code.store("0", enabled)
            with it.edges(state) as (word, target):
                mask = it.get(MASKS, code.binary("lshr", word, str(TARGET_BITS)))
                code.store(code.binary("or", code.load(enabled), mask), enabled)
                it.put(INNER, part, code.binary("or", it.get(INNER, part), "2"))
                there = code.compare("ne", target, str(ABSENT))
                with code.when(there), code.when(code.compare("eq", it.get(PARTS, target), part)):
                    it.put(DONE, part, code.binary("or", it.get(DONE, part), mask))
                    it.put(INNER, part, code.binary("or", it.get(INNER, part), "1"))
            always = code.binary("and", it.get(ALWAYS, part), code.load(enabled))
            it.put(ALWAYS, part, always)
    with code.counting(parts_, "1") as part:
        others = code.binary("xor", it.get(DONE, part), "-1")
        neglected = code.binary("and", it.get(ALWAYS, part), others)
        leaves = code.compare("eq", it.get(INNER, part), "2")
        bad = code.either(code.compare("ne", neglected, "0"), leaves)
        it.put(NEGLECTS, part, code.binary("or", it.get(NEGLECTS, part), code.widened(bad)))
    code.give()
    return code.text()


def first() -> str:
    """`@first`."""
    it = walk("i64 @first(ptr %g, i64 %n)", QUEUE, PARTS, NEGLECTS)
    code = it.code
    with code.counting("%n") as i:
        node = it.get(QUEUE, i)
        with code.unless(code.compare("eq", code.binary("and", node, "1"), "0")):
            part = it.get(PARTS, code.binary("lshr", node, "1"))
            with code.when(code.compare("eq", it.get(NEGLECTS, part), "0")):
                code.give(i)
                code.start(code.label())
    code.give("%n")
    return code.text()
