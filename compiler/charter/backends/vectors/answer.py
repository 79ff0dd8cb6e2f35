"""The answer to a question: the automaton of everything that the charter allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from charter.formats.canonical import Json, text
from charter.formats.labels import Labels
from charter.formats.resolve import Path, Unresolved, is_reference, resolve
from charter.formats.vector import MAX_NODES, Answer, Call, Node, Question
from charter.ir import types as t
from charter.ir.nodes import Value
from charter.semantics.evaluate import Outcome, State
from charter.semantics.machine import Machine
from charter.semantics.values import from_json, to_json

NEVER = 10**12
"""What stands for a value that was never issued: far above all that an instance allots."""

Outcomes = Callable[[State, str, tuple[Value, ...]], tuple[Outcome, ...]]


class NoAnswer(Exception):
    """The question cannot have an answer: a reference that some allowed path does not define, or
    more nodes in one step than the format has room for."""


@dataclass(frozen=True, slots=True)
class Run:
    """One way that the charter allows so far: the state, the labels given, and what was observed
    (of the steps that later arguments refer to)."""

    state: State
    labels: Labels
    observed: tuple[Json, ...]

    def key(self, machine: Machine, needed: frozenset[int]) -> tuple[object, ...]:
        """Equal for runs that nothing later can tell apart (ghosts never can)."""
        kept = tuple(text(self.observed[i]) for i in sorted(needed) if i < len(self.observed))
        labels = self.labels
        state = tuple(self.state[v.name] for v in machine.variables if v.kind != "ghost")
        return (state, labels.numbers, labels.labels, labels.texts, kept)


@dataclass(slots=True)
class _Table:
    """Interned JSON, in order of first use."""

    items: list[Json] = field(default_factory=list)
    positions: dict[str, int] = field(default_factory=dict)

    def put(self, value: Json) -> int:
        key = text(value)
        if key not in self.positions:
            self.positions[key] = len(self.items)
            self.items.append(value)
        return self.positions[key]


def answer(machine: Machine, question: Question, outcomes: Outcomes | None = None) -> Answer:
    """The automaton of `question`. `outcomes` may be a faster equal of `machine.outcomes`.

    Raises NoAnswer, ValueError (a literal that is not of its type) or EvaluationError.
    """
    outcomes = outcomes or machine.outcomes
    observations, replies = _Table(), _Table()
    first = begin(machine, question.given)
    runs = [first]
    shown = first.labels.step(None, first.observed[0])[1]
    steps: list[tuple[Node, ...]] = [(Node((), "", -1, observations.put(shown)),)]
    for number, call in enumerate(question.operations, 1):
        needed = _needed(question.operations[number:])
        reached: dict[tuple[object, ...], tuple[Run, Node]] = {}
        for origin, run in enumerate(runs):
            args = arguments(machine, call, run.observed)
            for outcome in outcomes(run.state, call.operation, args):
                after, reply, shown = _advance(machine, run, call.operation, outcome)
                node = Node((origin,), outcome.branch, replies.put(reply), observations.put(shown))
                key = (node.branch, node.reply, node.observation, after.key(machine, needed))
                if key in reached:
                    held = reached[key][1]
                    origins = tuple(sorted({*held.origins, origin}))
                    node = Node(origins, node.branch, node.reply, node.observation)
                reached[key] = (after, node)
        if not 0 < len(reached) <= MAX_NODES:
            raise NoAnswer(f"step {number} has {len(reached)} nodes; at most {MAX_NODES} fit")
        runs = [run for run, _ in reached.values()]
        steps.append(tuple(node for _, node in reached.values()))
    return Answer(tuple(observations.items), tuple(replies.items), tuple(steps))


def begin(machine: Machine, given: Json) -> Run:
    """The run before the first operation."""
    if given is None:
        state = machine.initial_of_component()
    else:
        assert isinstance(given, dict)
        state = machine.loaded(machine.from_durable(given))
    observed = machine.observe(state)
    return Run(state, Labels().step(None, observed)[2], (observed,))


def _advance(
    machine: Machine, run: Run, operation: str, outcome: Outcome
) -> tuple[Run, Json, Json]:
    reply_type = machine.reply_type(operation)
    raw_reply = to_json(reply_type, outcome.reply, machine.universe)
    raw_shown = machine.observe(outcome.state)
    reply, shown, labels = run.labels.step(raw_reply, raw_shown)
    return Run(outcome.state, labels, (*run.observed, raw_shown)), reply, shown


def arguments(machine: Machine, call: Call, observed: tuple[Json, ...]) -> tuple[Value, ...]:
    """The arguments of `call` as values, references looked up in `observed`. Raises NoAnswer."""
    params = machine.operations[call.operation].params
    kinds = {p.name: p.type for p in params}

    def never(path: Path) -> Json:
        kind = _type_at(kinds[str(path[0])], path[1:])
        return to_json(kind, NEVER, machine.universe)

    try:
        resolved = resolve(dict(call.args), observed, never)
    except Unresolved as missing:
        raise NoAnswer(f"{call.operation}: {missing}") from None
    assert isinstance(resolved, dict)
    return tuple(from_json(p.type, resolved[p.name], machine.universe) for p in params)


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


def _needed(calls: tuple[Call, ...]) -> frozenset[int]:
    """The steps that the arguments of `calls` refer to."""
    found: set[int] = set()

    def visit(value: Json) -> None:
        if isinstance(value, dict):
            if is_reference(value):
                path = value["ref"]
                assert isinstance(path, list) and isinstance(path[0], int)
                found.add(path[0])
            else:
                for item in value.values():
                    visit(item)
        elif isinstance(value, list):
            for item in value:
                visit(item)

    for call in calls:
        visit(dict(call.args))
    return frozenset(found)


def purpose_reached(answer: Answer, branches: Mapping[str, None]) -> bool:
    """Whether some allowed run takes all of `branches`."""
    taken = {node.branch for step in answer.steps for node in step}
    return set(branches) <= taken
