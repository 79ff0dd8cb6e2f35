"""Lists the calls that a question asks for, with all arguments as values, as a tree: on each trace
that the charter allows, references lead to the values that this trace has shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.formats.resolve import History
from charter.formats.vector import OperationCall, Question
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.values import NotFinite, to_json
from charter.vectors.answer import NEVER, NoAnswer, arguments, begin

VALUES_MAX = 16
"""The most values of a parameter that are tried to see whether it makes a difference."""

NODES_MAX = 64
"""The most nodes of a tree; a question with more has no tree."""

Args = tuple[tuple[int, Value], ...]
"""Arguments by the position of their parameter, without those of earlier calls that make no
difference."""


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A call of the tree of a question: it leads from one node to another. Nodes are numbers, the
    root is 0, and every other node has a greater number than the one before it."""

    source: int
    target: int
    operation: str
    args: Args


@dataclass(frozen=True, slots=True)
class AskedCalls:
    """The tree of a question. `states` are the states that the component can have at each node, and
    `depths` says after how many operations."""

    calls: tuple[AskedCall, ...]
    states: tuple[tuple[State, ...], ...]
    depths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Run:
    state: State
    history: History


@dataclass(slots=True)
class _Tree:
    machine: Machine
    depth: int
    calls: list[AskedCall] = field(default_factory=list)
    states: list[tuple[State, ...]] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)


def machine_of_question(model: n.Model, question: Question, consts: Mapping[str, int]) -> Machine:
    """The component of a question with its sorts and constants; what the question does not say has
    the values `consts`. Raises KeyError."""
    sorts = tuple((name, tuple(ids)) for name, ids in question.sorts.items())
    chosen = {**consts, **question.consts}
    instance = n.Instance("question", question.component, sorts, tuple(chosen.items()), (), ())
    return Machine.of(model, instance)


def list_asked_calls(machine: Machine, question: Question) -> AskedCalls:
    """The tree of calls. Raises NoAnswer if there are too many, or if no trace that the charter
    allows performs the whole question; ValueError for an argument that is not of its type."""
    first = begin(machine, question.given)
    tree = _Tree(machine, len(question.operations), states=[(first.state,)], depths=[0])
    ends: dict[int, list[_Run]] = {0: [_Run(first.state, first.history)]}
    for call in question.operations:
        ends = {node: runs for one in ends.items() for node, runs in _go_on(tree, call, *one)}
        if len(tree.states) > NODES_MAX:
            raise NoAnswer(f"the question can be performed in more than {NODES_MAX} ways")
    if not ends:
        raise NoAnswer("no trace that the charter allows performs the whole question")
    return AskedCalls(tuple(tree.calls), tuple(tree.states), tuple(tree.depths))


def _go_on(
    tree: _Tree, call: OperationCall, node: int, runs: Sequence[_Run]
) -> Iterator[tuple[int, list[_Run]]]:
    """The nodes behind a node: one for each list of arguments, with the runs that end there."""
    found: dict[tuple[Value, ...], list[_Run]] = {}
    for run in runs:
        try:
            found.setdefault(arguments(tree.machine, call, run.history), []).append(run)
        except NoAnswer:
            continue
    for args, mine in found.items():
        target = len(tree.states)
        ends = [after for run in mine for after in _outcomes(tree.machine, call, args, run)]
        unique = {(tuple(one.state.values()), _show(one)): one for one in ends}
        depth = tree.depths[node] + 1
        # The last call is the one that deviates: the rules do not say what matters to the target.
        needed = (
            _select_needed(tree.machine, call.operation, args, [run.state for run in mine])
            if depth < tree.depth
            else tuple(enumerate(args))
        )
        tree.calls.append(AskedCall(node, target, call.operation, needed))
        tree.states.append(tuple(one.state for one in unique.values()))
        tree.depths.append(depth)
        yield target, list(unique.values())


def _show(run: _Run) -> str:
    return repr(run.history.json())


def _outcomes(
    machine: Machine, call: OperationCall, args: tuple[Value, ...], run: _Run
) -> Iterator[_Run]:
    for outcome in machine.outcomes(run.state, call.operation, args):
        reply = to_json(machine.reply_type(call.operation), outcome.reply, machine.universe)
        yield _Run(outcome.state, run.history.then(reply, machine.observe(outcome.state)))


def _select_needed(
    machine: Machine, operation: str, args: tuple[Value, ...], states: Sequence[State]
) -> Args:
    """The arguments without those of which any value has the same outcomes in all these states."""
    params = machine.operations[operation].params
    free = [i for i, p in enumerate(params) if _is_free(machine, (operation, args), {i: p}, states)]
    chosen = {i: params[i] for i in free}
    if len(free) > 1 and not _is_free(machine, (operation, args), chosen, states):
        free = free[:1]
    return tuple((i, value) for i, value in enumerate(args) if i not in free)


def _is_free(
    machine: Machine,
    act: tuple[str, tuple[Value, ...]],
    params: Mapping[int, n.Param],
    states: Sequence[State],
) -> bool:
    """Whether these parameters of an act can have any values."""
    operation, args = act
    domains = [_domain(machine, param.type) for param in params.values()]
    choices = list(product(*domains))
    if not all(domains) or len(choices) > VALUES_MAX:
        return False
    for state in states:
        wanted = _effects(machine, state, operation, args)
        for choice in choices:
            other = dict(zip(params, choice, strict=True))
            made = tuple(other.get(i, value) for i, value in enumerate(args))
            if _effects(machine, state, operation, made) != wanted:
                return False
    return True


def _domain(machine: Machine, kind: t.Type) -> tuple[Value, ...]:
    """The values of a type of truths, numbers or names; empty for any other."""
    if not isinstance(kind, t.Bool | t.Enum | t.Int):
        return ()
    try:
        few = machine.universe.cardinality(kind) <= VALUES_MAX
        return machine.universe.domain(kind) if few else ()
    except NotFinite:
        return ()


def _effects(
    machine: Machine, state: State, operation: str, args: tuple[Value, ...]
) -> frozenset[tuple[object, ...]] | None:
    """What an act can do, as far as any later step can tell; None if it has no value."""
    kept = [v.name for v in machine.variables if v.kind != "ghost"]
    try:
        found = machine.outcomes(state, operation, args)
    except EvaluationError:
        return None
    return frozenset((o.branch, o.reply, *(o.state[name] for name in kept)) for o in found)


def asks_for_unissued(calls: AskedCalls) -> bool:
    """Whether a call has a value that was never issued: no part of a system can know one."""
    return any(_has_unissued(value) for call in calls.calls for _, value in call.args)


def _has_unissued(value: Value) -> bool:
    if isinstance(value, tuple | frozenset):
        return any(_has_unissued(one) for one in value)
    return value == NEVER


__all__ = [
    "AskedCall",
    "AskedCalls",
    "asks_for_unissued",
    "list_asked_calls",
    "machine_of_question",
]
