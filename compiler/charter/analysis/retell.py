"""Replays a trace on the definition: the state after each step, what changed, which rules applied,
what was sent and received."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.semantics.evaluate import Mail
from charter.semantics.expressions import Locals, State
from charter.semantics.machine import Machine
from charter.semantics.shown_values import show_value
from charter.semantics.values import Universe

Act = tuple[str, tuple[Value, ...]]
"""An operation (a step, for a system) and its arguments."""

Wanted = Callable[[Sequence[State]], bool]
"""Whether a run is the one that is told; it is asked about whole runs."""


Run = tuple[tuple[str, ...], tuple[Mail, ...], Locals, State]
"""A way through some statements of a step: the rules of the calls, the mail, the locals, the
state."""


class NotARun(Exception):
    """The definition does not allow a trace that an engine found: the engine has a bug."""


@dataclass(frozen=True, slots=True)
class Change:
    """A path into the state with its values before and after, in charter notation. `variable` is
    the state variable, `keys` are the map keys on the path (as values)."""

    path: str
    before: str
    after: str
    variable: str
    keys: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class RetoldStep:
    """One step: what was called with which arguments (as text, by name), the rules that were
    taken (`part[x].operation/branch`), what changed, and the messages."""

    operation: str
    args: tuple[tuple[str, str], ...]
    rules: tuple[str, ...]
    changes: tuple[Change, ...]
    mail: tuple[Mail, ...]
    state: State


def run_of(
    machine: Machine, acts: Sequence[Act], wanted: Wanted, mark: int = 0
) -> tuple[State, ...]:
    """The states of a run of `acts` for which `wanted` is true, the initial state first. `wanted`
    is given the last two states and the one after `mark` steps.

    Raises NotARun if there is none."""
    runs: list[tuple[State, ...]] = [(machine.initial(),)]
    for operation, args in acts:
        alike = {(_key(machine, run[-1]), _key(machine, run[min(mark, len(run) - 1)])): run
                 for run in reversed(runs)}  # fmt: skip
        runs = [
            (*run, outcome.state)
            for run in reversed(alike.values())
            for outcome in machine.outcomes(run[-1], operation, args)
        ]
    for run in runs:
        if wanted(run):
            return run
    raise NotARun(f"the definition does not allow {' '.join(act[0] for act in acts)}")


def _key(machine: Machine, state: State) -> tuple[Value, ...]:
    return tuple(state[v.name] for v in machine.variables)


def retell(
    machine: Machine, acts: Sequence[Act], states: Sequence[State]
) -> tuple[RetoldStep, ...]:
    """The steps of a run with the given states."""
    told: list[RetoldStep] = []
    for (operation, args), before, after in zip(acts, states[:-1], states[1:], strict=True):
        shown = tuple(machine.args_shown(operation, args).items())
        rules, mail = _follow(machine, (operation, args), before, after)
        told.append(
            RetoldStep(operation, shown, rules, changes(machine, before, after), mail, after)
        )
    return tuple(told)


def _follow(
    machine: Machine, act: Act, before: State, after: State
) -> tuple[tuple[str, ...], tuple[Mail, ...]]:
    """The branches that a step took from one state to the next, and the messages that it sent and
    received."""
    operation, args = act
    chosen = machine.operations[operation]
    if isinstance(chosen, n.Operation):
        outcomes = machine.outcomes(before, operation, args)
        return tuple(dict.fromkeys(o.branch for o in outcomes if o.state == after))[:1], ()
    names = dict(zip((p.name for p in chosen.params), args, strict=True))
    runs: list[Run] = [((), (), names, before)]
    for line in chosen.body:
        runs = [longer for run in runs for longer in _continue_runs(machine, line, before, run)]
    for rules, mail, _, reached in runs:
        if reached == after:
            return rules, _in_order(mail)
    return (), ()


def _in_order(mail: tuple[Mail, ...]) -> tuple[Mail, ...]:
    """What a step received, then what it sent. If it used a place twice, the order of its
    statements, since it may have received what it sent itself."""
    places = [(one.channel, one.ends) for one in mail]
    if len(set(places)) < len(places):
        return mail
    return tuple(sorted(mail, key=lambda one: one.is_sent))


def _continue_runs(machine: Machine, line: n.Statement, before: State, run: Run) -> Iterator[Run]:
    """Continues runs through the first statements of a step by one more statement."""
    evaluator, (rules, mail, names, work) = machine.evaluator, run
    if isinstance(line, n.OnChannel):
        for some, local, after in evaluator.mail(line, before, names, work):
            yield rules, (*mail, *some), local, after
        return
    if not isinstance(line, n.CallOperation):
        for local, after in evaluator.do(line, before, names, work):
            yield rules, mail, local, after
        return
    part, _ = evaluator.parts[line.part]
    shown = part.name
    if part.index is not None and line.index is not None:
        key = evaluator.value(line.index, machine.scope(before, work), names)
        shown = f"{part.name}[{show_value(part.index, key, machine.universe)}]"
    for branch, local, after in evaluator.call(line, before, names, work):
        yield (*rules, f"{shown}.{branch}"), mail, local, after


def keys_of(machine: Machine, channel: str) -> tuple[t.Type, ...]:
    """The key types of a channel or another variable, at most two."""
    kind = next(v.type for v in machine.variables if v.name == channel)
    found: list[t.Type] = []
    while isinstance(kind, t.Map) and len(found) < 2:
        found.append(kind.key)
        kind = kind.value
    return tuple(found)


def changes(machine: Machine, before: State, after: State) -> tuple[Change, ...]:
    """The differences of two states, down to entries of maps and fields of records."""
    found: list[Change] = []
    for variable in machine.variables:
        name, ends = variable.name, path_of(machine, variable)
        found += _differing(
            (variable.type, machine.universe), (before[name], after[name]), ends, (name, ())
        )
    return tuple(found)


def path_of(machine: Machine, variable: n.StateVar) -> tuple[str, str]:
    """How the path of a variable begins, and the text to put behind the first key: those of
    `replica.log`, of a part that is a map, are `replica` and `.log`."""
    part, dot, inner = variable.name.partition(".")
    is_many = dot and isinstance(variable.type, t.Map) and _is_many(machine, part)
    return (part, f".{inner}") if is_many else (variable.name, "")


def _is_many(machine: Machine, part: str) -> bool:
    systems = (s for s in machine.model.systems if s.name == machine.instance.machine)
    return any(p.name == part and p.index is not None for s in systems for p in s.parts)


def _differing(
    what: tuple[t.Type, Universe],
    values: tuple[Value, Value],
    ends: tuple[str, str],
    place: tuple[str, tuple[Value, ...]],
) -> Iterator[Change]:
    """`ends` is the path so far, and the text to put behind the first key."""
    (kind, universe), (old, new), (path, behind), (variable, keys) = what, values, ends, place
    if old == new:
        return
    match kind:
        case t.Map(key=key, value=inner) if isinstance(old, tuple) and isinstance(new, tuple):
            for at, one, other in zip(universe.domain(key), old, new, strict=True):
                further = f"{path}[{show_value(key, at, universe)}]{behind}"
                about = (variable, (*keys, at))
                yield from _differing((inner, universe), (one, other), (further, ""), about)
        case t.Record(fields=fields) if isinstance(old, tuple) and isinstance(new, tuple):
            for (name, inner), one, other in zip(fields, old, new, strict=True):
                further = f"{path}{behind}.{name}"
                yield from _differing((inner, universe), (one, other), (further, ""), place)
        case t.Option(inner=t.Record() as inner) if old is not None and new is not None:
            yield from _differing((inner, universe), (old, new), (f"{path}{behind}", ""), place)
        case _:
            one, other = (show_value(kind, value, universe) for value in (old, new))
            yield Change(f"{path}{behind}", one, other, variable, keys)
