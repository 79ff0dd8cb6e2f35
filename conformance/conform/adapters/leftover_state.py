"""Finds state that an adapter keeps from one question to the next: asks the same questions in
several orders, each order in a fresh process, and compares the answers to each question."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import orjson

from charter.formats.adapter import Result
from charter.formats.canonical import Json
from charter.formats.opaque import OpaqueTypes
from conform.adapters.base import BatchAnswered, Connection, SentQuestion
from conform.adapters.operation_trials import Trial
from conform.adapters.session import offers
from conform.console.terminal import shorten
from conform.judging.read_result import BatchTexts, Malformed, ResultReader
from conform.judging.verdict import VectorItem

MOST = 200
"""The most questions that are taken from the suite."""
ALIKE = 8
"""The most of them with the same constants, sorts and last operation."""
SECONDS = 10.0
"""After one other order no further one is begun after this time. The first may take a third of it,
and has at least two answers."""
_STEP = "step "
ROUNDS = 3
"""How often a difference must be seen: an implementation may choose by chance."""


def sample_of(items: Iterable[VectorItem]) -> list[Trial]:
    """Questions of a suite, varied in constants, sorts and operations. Those with the same last
    operation are neighbours. The choice is by the least ids, which are digests."""
    found: dict[tuple[bytes, str], dict[str, VectorItem]] = {}
    for item in items:
        question = orjson.loads(item.question)
        if question["operations"]:
            last = question["operations"][-1]["operation"]
            held = found.setdefault((orjson.dumps(_settings(question)), last), {})
            held[item.id] = item
            if len(held) > ALIKE:
                del held[max(held)]
    ranked = sorted(
        (rank, key, identity)
        for key, held in found.items()
        for rank, identity in enumerate(sorted(held))
    )
    chosen = sorted((key[1], identity, key) for _, key, identity in ranked[:MOST])
    return _with_other_constants([_trial(found[key][identity]) for _, identity, key in chosen])


def _with_other_constants(sample: Sequence[Trial]) -> list[Trial]:
    """The sample, and for each number that is the same constant in all of it, the questions with
    the next number, each beside its own. No answer is compared with the charter, so that it does
    not matter whether the number is of the type of the constant."""
    worlds = [_constants(trial.question) for trial in sample]
    raised = {
        name: value + 1
        for name, value in (worlds[0] if worlds else {}).items()
        if type(value) is int and all(world.get(name) == value for world in worlds)
    }
    varied: list[Trial] = []
    for trial, world in zip(sample, worlds, strict=True):
        varied.append(trial)
        for name, value in raised.items():
            consts: Json = {**world, name: value}
            varied.append(replace(trial, question={**trial.question, "consts": consts}))
    return varied


def _constants(question: Mapping[str, Json]) -> dict[str, Json]:
    consts = question.get("consts")
    return consts if isinstance(consts, dict) else {}


def _trial(item: VectorItem) -> Trial:
    question = orjson.loads(item.question)
    names = tuple(call["operation"] for call in question["operations"])
    return Trial(names, question, frozenset(item.needs.split()))


def _settings(question: Mapping[str, Json]) -> dict[str, Json]:
    """The constants and the elements of the sorts of a question, by name. The ids of elements are
    left out: they are different in each question."""
    sorts = question.get("sorts")
    return {
        **_constants(question),
        **(
            {f"sort {name}": [*ids] for name, ids in sorts.items() if isinstance(ids, dict)}
            if isinstance(sorts, dict)
            else {}
        ),
    }


@dataclass(frozen=True, slots=True)
class Forgetting:
    """How many questions were compared of which an operation was performed, and what differs; "" if
    nothing does."""

    compared: int
    told: str = ""


PlacedTexts = tuple[tuple[str, str], ...]
"""Places in an answer, with the text that stands there; counters are renamed."""


@dataclass(slots=True)
class OrderComparison:
    """Asks questions in several orders. `chances` are the places where answers differ although
    nothing was asked before: the implementation chooses. Labels count by the types in `opaque`."""

    connection: Connection
    deadline: float
    opaque: OpaqueTypes = field(default_factory=OpaqueTypes)
    clock: Callable[[], float] = time.monotonic
    chances: set[str] = field(default_factory=set)

    def compare(self, sample: Sequence[Trial]) -> Forgetting:
        """Compare the answers of all orders. Raises `CannotStart`."""
        began, offered = self.clock(), offers(self.connection.welcome)
        asked = [trial for trial in sample if trial.needs <= offered]
        first = self._answers(asked, range(len(asked)), SECONDS / 3)
        asked = asked[: max(first, default=-1) + 1]
        if len(asked) < 2:
            return Forgetting(0)
        for already, order in enumerate(_orders(asked)):
            if already and self.clock() - began > SECONDS:
                break
            again = self._answers(asked, order)
            for number in sorted(first.keys() & again.keys()):
                if first[number] != again[number]:
                    seen = ((range(len(asked)), first), (order, again))
                    told = self._confirm(asked, number, seen, began + SECONDS)
                    if told:
                        return Forgetting(len(asked), told)
        return Forgetting(sum(map(_was_performed, first.values())))

    def _confirm(
        self,
        asked: Sequence[Trial],
        number: int,
        seen: Sequence[tuple[Sequence[int], Mapping[int, PlacedTexts]]],
        until: float,
    ) -> str:
        """What differs in the answers to a question asked after others and alone; "" if the
        answers vary by chance."""
        alone = self._answers(asked, [number]).get(number)
        order, answers = seen[0] if seen[0][1][number] != alone else seen[1]
        if alone is None:
            return ""
        place, before, without = find_difference(answers[number], alone)
        if place in self.chances:
            return ""
        earlier = order[: order.index(number) + 1]
        for round_ in range(ROUNDS):
            if round_ and self.clock() > until:
                break
            again = self._answers(asked, earlier).get(number)
            if again != answers[number] or self._answers(asked, [number]).get(number) != alone:
                self.chances.add(place)
                return ""
        return f"{place} is {before} after other questions, and {without} if asked alone"

    def _answers(
        self, asked: Sequence[Trial], order: Sequence[int], seconds: float = float("inf")
    ) -> dict[int, PlacedTexts]:
        """The answers of a fresh process to questions in an order, without those that break it: at
        least two of them, and no more than fit into the time, which counts when it has started."""
        self.connection.restart()
        began = self.clock()
        found: dict[int, PlacedTexts] = {}
        for number in order:
            if len(found) > 1 and self.clock() - began > seconds:
                break
            text = orjson.dumps(asked[number].question, option=orjson.OPT_SORT_KEYS)
            sent = SentQuestion(f"{number}", f"order-{number}", text)
            self.connection.send([sent], self.deadline)
            answer = self.connection.receive()
            if not isinstance(answer, BatchAnswered):
                self.connection.restart()
                continue
            batch = BatchTexts.of(answer.results, None)
            try:
                found[number] = read_places(
                    asked[number], answer.results.results[0], batch, self.opaque
                )
            except Malformed:
                continue  # another rule tells it
        return found


def _was_performed(answer: PlacedTexts) -> bool:
    """Whether an answer has an operation that was performed."""
    return any(place.startswith(_STEP) for place, _ in answer)


def _orders(asked: Sequence[Trial]) -> Iterator[Sequence[int]]:
    """The reverse order, and others with another question first, until each constant that varies
    did so at the beginning: an adapter may keep what it got first."""
    reverse = range(len(asked))[::-1]
    yield reverse
    begun = [_settings(asked[0].question), _settings(asked[-1].question)]
    for number, trial in enumerate(asked):
        mine = _settings(trial.question)
        same = {name for name in mine if all(one.get(name) == begun[0].get(name) for one in begun)}
        if any(mine[name] != begun[0].get(name) for name in same):
            begun.append(mine)
            yield [number, *(other for other in reverse if other != number)]


def read_places(
    trial: Trial, result: Result, batch: BatchTexts, opaque: OpaqueTypes
) -> PlacedTexts:
    """What is compared of the answer to a question. Raises `Malformed`."""
    steps = ResultReader(opaque).read(result, batch, trial.operations)
    found: list[tuple[str, str]] = []
    for number, (reply, state) in enumerate(zip(steps.replies, steps.states, strict=True)):
        name = f"{_STEP}{number}, {trial.operations[number - 1]}" if number else "the first state"
        if number:
            found.append((f"{name}: reply", reply.decode()))
        shown = orjson.loads(state)
        parts = shown.items() if isinstance(shown, dict) else [("state", shown)]
        found.extend((f"{name}: {part}", orjson.dumps(value).decode()) for part, value in parts)
    ending = "a fault" if steps.fault else str(result.status)
    return (*found, (f"the ending after step {len(steps.states) - 1}", ending))


def find_difference(one: PlacedTexts, other: PlacedTexts) -> tuple[str, str, str]:
    """The first place where two answers differ, and what stands there in each."""
    nothing = ("", "missing")
    for left, right in zip_longest(one, other, fillvalue=nothing):
        if left[0] != right[0]:
            longer = left if len(one) > len(other) else right
            return (longer[0], *(("there", "missing") if longer is left else ("missing", "there")))
        if left != right:
            return left[0], shorten(left[1]), shorten(right[1])
    return "", "", ""
