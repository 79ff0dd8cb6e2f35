"""Computes the answer to a question: the automaton of everything that the charter allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.formats.canonical import Json, text
from charter.formats.labels import Labels
from charter.formats.resolve import (
    History,
    Path,
    Place,
    Unresolved,
    find_references,
    look_up,
    references,
    resolve,
)
from charter.formats.vector import MAX_NODES, Answer, AnswerNode, OperationCall, Question
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.values import from_json, to_json
from charter.vectors.observations import Observations

NEVER = 10**12
"""Represents a value that was never issued: greater than all values in an instance."""

MOST_REMEMBERED = 20_000

Outcomes = Callable[[State, str, tuple[Value, ...]], tuple[Outcome, ...]]

Watch = Callable[[State, str, tuple[Value, ...], tuple[Outcome, ...]], None]
"""Is told of each operation that some allowed trace performs: the state before it, its name, its
arguments and its outcomes."""


class NoAnswer(Exception):
    """The question has no answer: a step has more nodes than the format allows, or `reference`, in
    an argument, leads nowhere on some allowed trace."""

    def __init__(self, message: str, reference: Json = None) -> None:
        super().__init__(message)
        self.reference = reference


@dataclass(frozen=True, slots=True)
class AllowedTrace:
    """A trace that the charter allows, up to some step: its last state, its labels, and what later
    arguments may refer to."""

    state: State
    labels: Labels
    history: History

    def key(self, machine: Machine, needed: frozenset[Place]) -> tuple[object, ...]:
        """Equal for traces that no later step can distinguish: ghost state does where an assumption
        reads it."""
        kept = tuple(text(self.history.at(place)) for place in sorted(needed))
        labels = self.labels
        state = tuple([self.state[v.name] for v in machine.modelled])
        return (state, labels.orders, labels.texts, kept)


@dataclass(frozen=True, slots=True)
class RelabelledOutcome:
    """The relabelled reply and observation of one outcome with their canonical texts, both raw,
    and the labels after it."""

    reply: Json
    reply_text: str
    shown: Json
    shown_text: str
    raw_reply: Json
    raw: Json
    labels: Labels


@dataclass(slots=True)
class Answers:
    """Answers questions about one machine, with a cache of observations. `outcomes` may be a faster
    implementation of `machine.outcomes`. `crowded`: of each branch with more outcomes than a step
    can have, the most that were seen, and a sentence about them."""

    machine: Machine
    outcomes: Outcomes
    observations: Observations = field(init=False)
    memory: dict[tuple[object, ...], RelabelledOutcome] = field(default_factory=dict)
    crowded: dict[str, tuple[int, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.observations = Observations(self.machine)

    def see(self, run: AllowedTrace, operation: str, outcome: Outcome) -> RelabelledOutcome:
        """The relabelled reply and observation of an outcome after `run`."""
        machine, labels = self.machine, run.labels
        state = tuple([outcome.state[v.name] for v in machine.modelled])
        key = (operation, outcome.reply, state, labels.orders, labels.texts)
        known = self.memory.get(key)
        if known is None:
            raw_reply = to_json(machine.reply_type(operation), outcome.reply, machine.universe)
            raw = self.observations.of(outcome.state)
            reply, shown, after = labels.step(raw_reply, raw, operation)
            known = RelabelledOutcome(reply, text(reply), shown, text(shown), raw_reply, raw, after)
            if len(self.memory) > MOST_REMEMBERED:
                self.memory.clear()
            self.memory[key] = known
        return known

    def answer(
        self, question: Question, first: AllowedTrace | None = None, watch: Watch | None = None
    ) -> Answer:
        """The automaton of `question`; `first` is the result of `begin` for its given state.
        `watch` is called with all that is performed.

        Raises NoAnswer, ValueError (a literal that is not of its type) or EvaluationError.
        """
        observations, replies = _InternedJson(), _InternedJson()
        first = first or begin(self.machine, question.given)
        runs = [first]
        shown = first.labels.step(None, first.history.observations[0])[1]
        steps: list[tuple[AnswerNode, ...]] = [
            (AnswerNode((), "", -1, observations.put(shown, text(shown))),)
        ]
        places = [_find_needed(call) for call in question.operations]
        for number, call in enumerate(question.operations, 1):
            needed: frozenset[Place] | None = None
            reached: dict[tuple[object, ...], tuple[AllowedTrace, AnswerNode]] = {}
            for origin, run in enumerate(runs):
                args = arguments(self.machine, call, run.history)
                outcomes = self.outcomes(run.state, call.operation, args)
                if watch is not None:
                    watch(run.state, call.operation, args, outcomes)
                for outcome in outcomes:
                    seen = self.see(run, call.operation, outcome)
                    after = AllowedTrace(
                        outcome.state, seen.labels, run.history.then(seen.raw_reply, seen.raw)
                    )
                    node = AnswerNode(
                        (origin,),
                        outcome.branch,
                        replies.put(seen.reply, seen.reply_text),
                        observations.put(seen.shown, seen.shown_text),
                    )
                    if len(runs) == len(outcomes) == 1:
                        reached[()] = (after, node)
                        continue
                    if needed is None:
                        needed = frozenset().union(*places[number:])
                    key = (
                        node.branch,
                        node.reply,
                        node.observation,
                        after.key(self.machine, needed),
                    )
                    if key in reached:
                        held = reached[key][1]
                        origins = tuple(sorted({*held.origins, origin}))
                        node = AnswerNode(origins, node.branch, node.reply, node.observation)
                    reached[key] = (after, node)
            if not reached:
                raise NoAnswer(f"{call.operation} has no outcome")
            if len(reached) > MAX_NODES:
                raise NoAnswer(
                    self._too_many(call.operation, [node for _, node in reached.values()])
                )
            runs = [run for run, _ in reached.values()]
            steps.append(tuple(node for _, node in reached.values()))
        return Answer(tuple(observations.items), tuple(replies.items), tuple(steps))

    def _too_many(self, name: str, reached: Sequence[AnswerNode]) -> str:
        """That a step has more outcomes than a vector can hold: of which branch, by which picks."""
        chosen = self.machine.operations[name]
        assert isinstance(chosen, n.Operation)
        taken = Counter(node.branch for node in reached)
        branch, count = max(taken.items(), key=lambda pair: pair[1])
        lines = (line for b in chosen.branches if f"{name}/{b.name}" == branch for line in b.body)
        picks = [f"`pick {line.name}`" for line in lines if isinstance(line, n.Pick)]
        by = f" by {' and '.join(picks)}" if picks else ""
        told = f"{branch} has {count:,} outcomes{by}, a step of a vector has at most {MAX_NODES}"
        if count > self.crowded.get(branch, (0, ""))[0]:
            self.crowded[branch] = count, told
        return told


@dataclass(slots=True)
class _InternedJson:
    """Interned JSON, in order of first use."""

    items: list[Json] = field(default_factory=list)
    positions: dict[str, int] = field(default_factory=dict)

    def put(self, value: Json, key: str) -> int:
        """The position of a value with this canonical text."""
        if key not in self.positions:
            self.positions[key] = len(self.items)
            self.items.append(value)
        return self.positions[key]


def answer(machine: Machine, question: Question, outcomes: Outcomes | None = None) -> Answer:
    """The automaton of one question; `outcomes` defaults to the definition."""
    return Answers(machine, outcomes or machine.outcomes).answer(question)


def begin(machine: Machine, given: Json) -> AllowedTrace:
    """The trace before the first operation."""
    if given is None:
        state = machine.initial_of_component()
    else:
        assert isinstance(given, dict)
        state = machine.load(machine.from_durable(given))
    observed = machine.observe(state)
    labels = Labels(machine.opaque)
    return AllowedTrace(state, labels.step(None, observed)[2], History((observed,)))


def arguments(machine: Machine, call: OperationCall, history: History) -> tuple[Value, ...]:
    """The arguments of `call` as values, references looked up in `history`. Raises NoAnswer."""
    params = machine.operations[call.operation].params
    kinds = {p.name: p.type for p in params}

    def never(path: Path) -> Json:
        kind = _type_at(kinds[str(path[0])], path[1:])
        return to_json(kind, NEVER, machine.universe)

    try:
        resolved = resolve(dict(call.args), history, never)
    except Unresolved as missing:
        wrong = next(r for r in references(dict(call.args)) if not _leads(r, history))
        raise NoAnswer(f"{call.operation}: {missing}", wrong) from None
    assert isinstance(resolved, dict)
    return tuple(from_json(p.type, resolved[p.name], machine.universe) for p in params)


def _leads(reference: Json, history: History) -> bool:
    try:
        look_up(reference, history)
    except Unresolved:
        return False
    return True


def _type_at(kind: t.Type, path: Path) -> t.Type:
    """The type at a path of JSON inside a value of type `kind`."""
    match kind:
        case t.Option(inner=inner):
            return _type_at(inner, path)
        case t.Record() if path:
            return _type_at(kind.field_type(str(path[0])), path[1:])
        case t.Map(value=inner) if path:
            return _type_at(inner, path[1:])
        case t.Set(inner=inner) | t.Seq(inner=inner) | t.Ranking(inner=inner) if path:
            return _type_at(inner, path[1:])
        case _:
            return kind


def _find_needed(call: OperationCall) -> frozenset[Place]:
    """What the arguments of a call refer to."""
    return frozenset(find_references(dict(call.args)))
