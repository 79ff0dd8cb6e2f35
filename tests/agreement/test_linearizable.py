"""What clients of Kafka's system did and saw in random walks, judged without its properties:
whether some order of the writes and reads explains all answers (linearizability). That is so if,
and only if, no property that the charter names for it is violated (36-client-properties.charter).
Of these the instance violates one alone: that reads are recent.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.support import spec

from charter.analysis.environment import list_offered
from charter.core import nodes as n
from charter.core.nodes import Value
from charter.explore.result import TraceStep
from charter.explore.select import successors
from charter.explore.successors import Successors
from charter.semantics.expressions import State

NAMED = (
    "writes_are_ordered", "acknowledged_is_kept", "reads_are_committed", "consistent_read",
    "reads_are_recent",
)  # fmt: skip
"""Together they say that a partition is linearizable."""

STALE = "reads_are_recent"
WALKS, STEPS = 24, 8


@dataclass(frozen=True, slots=True)
class Write:
    """A record that a producer wrote for all in-sync replicas. Times are numbers of steps. It is
    in the log at some time after `asked`, before `told`; never told: at any time, or never."""

    name: int
    asked: int
    told: int | None


@dataclass(frozen=True, slots=True)
class Read:
    """What a consumer got at a time: from `position` on these records, or nothing."""

    time: int
    position: int
    got: tuple[int, ...]


@dataclass(slots=True)
class History:
    """What clients did and saw."""

    writes: dict[int, Write] = field(default_factory=dict)
    reads: list[Read] = field(default_factory=list)

    def can_explain(self, log: tuple[int, ...] = (), done: int = 0) -> bool:
        """Whether some order explains all answers: each operation happens at one moment between its
        question and its answer. Left are reads from number `done` on, and writes that are not in
        the log."""
        open_ = [w for w in self.writes.values() if w.name not in log]
        now = self.reads[done].time if done < len(self.reads) else None
        if now is None:
            return all(w.told is None for w in open_) or any(
                self.can_explain((*log, w.name), done) for w in open_ if self._may_follow(w, open_)
            )
        late = [w for w in open_ if w.told is not None and w.told < now]
        if not late and self._shows(log, self.reads[done]) and self.can_explain(log, done + 1):
            return True
        return any(
            self.can_explain((*log, w.name), done)
            for w in open_
            if w.asked < now and self._may_follow(w, open_)
        )

    @staticmethod
    def _may_follow(write: Write, open_: Sequence[Write]) -> bool:
        """Whether none that is still to happen was answered before this one was asked for."""
        return all(w.told is None or w.told >= write.asked for w in open_)

    @staticmethod
    def _shows(log: tuple[int, ...], read: Read) -> bool:
        """Whether a read of such a log gives these records: some, unless there are none."""
        rest = log[read.position :]
        return read.got == rest[: len(read.got)] and bool(read.got) == bool(rest)


class Sent(NamedTuple):
    """The record of that name, as 27-clients.charter declares it."""

    acks: str
    topic_id: int
    leader: int
    leader_epoch: int
    offset: int
    first: int


def list_sent(state: State) -> Sequence[Sent]:
    """The writes that a producer follows."""
    sent = state["sent"]
    assert isinstance(sent, tuple)
    return [Sent(*one) for one in sent]


def names(state: State) -> Mapping[tuple[int, int], int]:
    """The writes by offset and leader epoch, which tell records apart."""
    return {(s.offset, s.leader_epoch): turn for turn, s in enumerate(list_sent(state))}


def see(history: History, time: int, step: str, before: State, after: State) -> None:
    """Add what clients did and saw in a step."""
    known, outcome = names(after), after["outcome"]
    for turn, sent in enumerate(list_sent(after)):
        told = sent.acks == "ACKS_ALL" and outcome[turn] == "ACKNOWLEDGED"
        write = history.writes.get(turn) or Write(turn, time, None)
        if told and write.told is None:
            write = Write(turn, write.asked, time)
        history.writes[turn] = write
    if step == "consume":
        had, has = before["consumer.consumed"], after["consumer.consumed"]
        got = tuple(known[at, has[at]] for at in range(len(had), len(has)))
        history.reads.append(Read(time, len(had), got))


@dataclass(slots=True)
class Walk:
    """A walk, what clients saw in it, and which of the named properties it violates."""

    asked: Successors
    named: Sequence[n.Property]
    state: State
    history: History = field(default_factory=History)
    violated: set[str] = field(default_factory=set)
    time: int = 0

    def go(self, step: str, args: tuple[Value, ...], after: State) -> None:
        """Take a step."""
        before, self.state = self.state, after
        see(self.history, self.time, step, before, after)
        scope = self.asked.machine.scope(before, after, step, args)
        self.violated |= {p.name for p in self.named if not self.asked.holds(p, scope)}
        self.time += 1

    def follow(self, trace: Iterable[TraceStep]) -> None:
        """Take the steps of a trace."""
        for step in trace:
            (outcome,) = self.asked.outcomes(self.state, step.operation, step.args)
            self.go(step.operation, step.args, outcome.state)

    def wander(self, chance: random.Random, steps: int) -> None:
        """Take steps at random."""
        for _ in range(steps):
            lists = defaultdict[str, list[tuple[Value, ...]]](list)
            for name, args in list_offered(self.asked.machine, self.state):
                lists[name].append(args)
            names = chance.sample([*lists], len(lists))
            ways = ([*possible(self.asked, self.state, name, lists[name])] for name in names)
            self.go(*chance.choice(next(some for some in ways if some)))


Way = tuple[str, tuple[Value, ...], State]


def possible(
    asked: Successors, state: State, name: str, lists: Iterable[tuple[Value, ...]]
) -> Iterator[Way]:
    """What can happen in a step of that name, and changes something or is a read."""
    for args in lists:
        for outcome in asked.outcomes(state, name, args):
            changes = outcome.state != state or name == "consume"
            if changes and not asked.machine.outside(outcome.state):
                yield name, args, outcome.state


@spec.together("kafka", "pair_produced")
def test_what_clients_see_is_linearizable_if_and_only_if_the_properties_hold() -> None:
    machine = spec.instance("kafka", "pair_produced")
    asked, chance = successors(spec.model("kafka"), machine), random.Random(1)
    named = [p for p in asked.machine.model.properties if p.name in NAMED]
    assert len(named) == len(NAMED)
    (stale,) = [
        p for p in spec.explore_instance("kafka", "pair_produced").properties if p.name == STALE
    ]
    assert stale.trace
    tally: Counter[bool] = Counter()
    for number in range(WALKS):
        walk = Walk(asked, named, asked.machine.initial())
        # Walks that begin on the way to a stale read see one more often.
        walk.follow(stale.trace[: number % (len(stale.trace) + 1)])
        walk.wander(chance, STEPS)
        assert walk.history.can_explain() == (not walk.violated), walk
        tally[not walk.violated] += 1
    assert tally[True] > WALKS // 4 and tally[False] > WALKS // 8, tally


def test_histories_that_no_order_explains() -> None:
    """The judge of histories itself."""
    first, second = Write(0, 0, 2), Write(1, 3, 5)
    for reads, explained in (
        ([Read(4, 0, (0,)), Read(6, 1, (1,))], True),
        ([Read(1, 0, ()), Read(1, 0, (0,))], True),
        ([Read(6, 0, (1,))], False),
        ([Read(4, 0, ())], False),
        ([Read(1, 0, (0,)), Read(1, 0, ())], False),
        ([Read(4, 0, (0, 1))], True),
        ([Read(6, 1, ())], False),
    ):
        assert History({0: first, 1: second}, reads).can_explain() == explained, reads
    lost = Write(0, 0, None)
    assert History({0: lost}, [Read(9, 0, ()), Read(12, 0, (0,))]).can_explain()
    assert History({0: lost}, [Read(9, 0, ())]).can_explain()
