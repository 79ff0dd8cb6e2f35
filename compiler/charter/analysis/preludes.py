"""Replays preludes: the operations (of a system: steps) that lead from the machine's own first
state to that of an instance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from charter.analysis.canonical import Canonical
from charter.core import nodes as n
from charter.core import types as t
from charter.core.affected import find_affected
from charter.core.walk import instances_of
from charter.diagnostics import Span
from charter.passes.narrow import narrow
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import State
from charter.semantics.machine import Machine
from charter.semantics.scenario import (
    Followed,
    MachineOf,
    ScenarioFails,
    ScenarioTrace,
    follow_in,
)
from charter.semantics.shown_values import show_value


class PreludeFails(Exception):
    """A prelude does not lead to the first state of its instance. `span` is the line, or the
    prelude."""

    def __init__(self, sentence: str, span: Span) -> None:
        self.sentence = sentence
        self.span = span
        super().__init__(f"{span.where()}: {sentence}")


@dataclass(frozen=True, slots=True)
class ReplayedPrelude:
    """A replayed prelude: the machine's own first state, the steps, and the state that they lead
    to. It is the first one of the instance up to renaming of counters."""

    first: State
    steps: tuple[Followed, ...]
    state: State


def replay(
    model: n.Model, instance: n.Instance, machine_of: MachineOf = Machine.of
) -> ReplayedPrelude | None:
    """The prelude of an instance along its first trace that leads there; None if it has none.
    Raises PreludeFails."""
    if instance.prelude is None:
        return None
    story = _as_scenario(instance)
    machine = machine_of(model, story.instance)
    try:
        runs = follow_in(machine, story)
        wanted = Machine.of(model, instance).initial()
    except ScenarioFails as problem:
        why = f"expected {problem.expected}, but {problem.actual}"
        raise PreludeFails(f"{_name(instance)}: {why}", problem.span) from None
    except EvaluationError as problem:
        raise PreludeFails(f"{_name(instance)}: {problem}", instance.prelude.span) from None
    run = _find_leading(machine, runs, wanted)
    if run is None:
        why = _explain(machine, runs[0].state, wanted)
        raise PreludeFails(f"{_name(instance)} does not lead to its start: {why}", _end(instance))
    return ReplayedPrelude(machine.initial(), run.steps, run.state)


def check_preludes(
    model: n.Model, unedited: n.Model | None, machine_of: MachineOf
) -> Iterator[PreludeFails]:
    """The preludes of instances and scenarios that do not lead to their starts; of an edited model
    only those that the edits affect. Equal ones are replayed once."""
    led = {_as_title(i): i for i in instances_of(model) if i.prelude is not None}
    if unedited is not None:
        before = (_as_scenario(i) for i in instances_of(unedited) if i.prelude is not None)
        stories = replace(model, scenarios=tuple(map(_as_scenario, led.values())))
        affected = find_affected(replace(unedited, scenarios=tuple(before)), stories)
        led = {story.title: led[story.title] for story in affected}
    seen: list[n.Instance] = []
    for instance in led.values():
        bare = replace(instance, name="", offers=(), only=(), misses=(), fails=())
        if bare in seen:
            continue
        seen.append(bare)
        try:
            replay(model, instance, machine_of)
        except PreludeFails as problem:
            yield problem


def _as_title(instance: n.Instance) -> str:
    return f"{instance.machine} {instance.name}"


def _as_scenario(instance: n.Instance) -> n.Scenario:
    """The prelude as a scenario from the machine's own first state."""
    assert instance.prelude is not None
    bare = replace(instance, starts=(), offers=(), only=(), prelude=None)
    lines = instance.prelude.steps
    return n.Scenario(_as_title(instance), bare, lines, (), span=instance.prelude.span)


def _name(instance: n.Instance) -> str:
    return f"the prelude of `{instance.name}`"


def _end(instance: n.Instance) -> Span:
    assert instance.prelude is not None
    return instance.prelude.span


def _find_leading(
    machine: Machine, runs: Sequence[ScenarioTrace], wanted: State
) -> ScenarioTrace | None:
    """The first trace that ends in a state, up to renaming of counters."""
    for run in runs:
        if run.state == wanted:
            return run
    whole = narrow(machine.model, machine.instance.machine)
    forms = Canonical.of(Machine.of(whole, machine.instance), symmetry=False)
    form = forms.form(wanted)
    return next((run for run in runs if forms.form(run.state) == form), None)


def _explain(machine: Machine, state: State, wanted: State) -> str:
    """The first variable that differs, one without counters if there is one."""
    other = [v for v in machine.variables if state[v.name] != wanted[v.name]]
    other.sort(key=lambda v: bool(t.counters_in(v.type)))
    for v in other[:1]:
        found, start = (show_value(v.type, s[v.name], machine.universe) for s in (state, wanted))
        return f"`{v.name}` becomes {found}, and the start has {start}"
    raise AssertionError("the states are equal")
