"""Evaluates expressions in states: the initial state of an instance, and those of scenarios and
traces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from charter.analysis.environment import list_offered
from charter.analysis.retell import changes
from charter.api.charters import Charter, select_instance
from charter.check.names.types import show_type
from charter.core import nodes as n
from charter.core import types as t
from charter.diagnostics import Refused
from charter.formats.canonical import Json
from charter.project import pipeline
from charter.project.sources import Missing, Selection
from charter.render.story.itf import decode
from charter.semantics.builtins import EvaluationError
from charter.semantics.expressions import Locals, State
from charter.semantics.machine import Machine
from charter.semantics.scenario import ScenarioFails, follow
from charter.semantics.shown_values import show_value
from charter.semantics.values import to_json

__all__ = ["Place", "Refused", "Valued", "WrongState", "in_instance", "in_scenario", "in_trace"]

_WORD = re.compile(r"[^\W\d]\w*")


class WrongState(Exception):
    """There is no such state, or the expression has no value in it; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Valued:
    """The value of an expression: as text and as JSON, with its type."""

    type: str
    text: str
    json: Json


@dataclass(frozen=True, slots=True)
class Place:
    """States in which expressions are evaluated: one, or after the lines of a scenario all that are
    possible. `names` are the types of the scenario's `let`s; `told` says which state it is."""

    charter: Charter
    selection: Selection
    machine: Machine
    states: tuple[tuple[State, Locals], ...]
    told: str
    names: Mapping[str, t.Type] = field(default_factory=dict)

    def evaluate(self, expression: str) -> tuple[Valued, ...]:
        """The value of an expression in each of the states, equal values once. Raises `Refused`
        with all errors of the expression, or `WrongState` if it has no value."""
        files = pipeline.flatten(pipeline.parse_or_refuse(self.charter.sources), self.selection)
        machine = self.machine
        core = pipeline.state_expression_of(
            files, machine.model, machine.instance, expression, self.names
        )
        found: dict[str, Valued] = {}
        for state, names in self.states:
            try:
                value = machine.evaluator.value(core, machine.scope(state), names)
            except EvaluationError as error:
                raise WrongState(f"it has no value in {self.told}: {_cause(error)}") from None
            shown = show_value(core.type, value, machine.universe)
            data = to_json(core.type, value, machine.universe)
            found.setdefault(shown, Valued(show_type(core.type), shown, data))
        return tuple(found.values())

    def elsewhere(self, expression: str) -> tuple[str, str]:
        """A name in an expression that is an element in another instance of the charter only, and
        that instance; "" and "" if there is none."""
        here = {name for _, names in self.machine.instance.sorts for name in names}
        for word in _WORD.findall(expression):
            for instance in self.machine.model.instances if word not in here else ():
                if any(word in names for _, names in instance.sorts):
                    return word, instance.name
        return "", ""

    def variables(self) -> Iterator[tuple[str, str]]:
        """The state variables of the first state, each with its value."""
        state, _ = self.states[0]
        for variable in self.machine.variables:
            value = show_value(variable.type, state[variable.name], self.machine.universe)
            yield variable.name, value

    def steps(self) -> Iterator[tuple[str, Place]]:
        """The transitions out of the first state, each told with what it changes."""
        state, _ = self.states[0]
        machine = self.machine
        for operation, args in list_offered(machine, state):
            params = machine.operations[operation].params
            pairs = zip(params, args, strict=True)
            given = ", ".join(show_value(p.type, v, machine.universe) for p, v in pairs)
            for outcome in machine.outcomes(state, operation, args):
                _, slash, branch = outcome.branch.partition("/")
                taken = f" -> {branch}" if slash else ""
                call = f"{operation}({given}){taken}"
                told = "; ".join(
                    f"{each.path}: {each.before} -> {each.after}"
                    for each in changes(machine, state, outcome.state)
                )
                after = replace(self, states=((outcome.state, {}),), told=f"the state after {call}")
                yield f"{call}: {told or 'nothing changes'}", replace(after, names={})


def _cause(error: EvaluationError) -> str:
    """The message of an error, with its place: in the expression itself the part that has no value,
    else the line of the charter."""
    if error.span.source.name:
        return str(error)
    return f"{error.message}, in `{error.span.source.text[error.span.start : error.span.end]}`"


def in_instance(charter: Charter, selection: Selection, model: n.Model, instance: str) -> Place:
    """The initial state of an instance ("": the default one). Raises `Missing`."""
    machine = Machine.of(model, select_instance(model, instance))
    told = f"the initial state of {machine.instance.name}"
    return Place(charter, selection, machine, ((machine.initial(), {}),), told)


def in_scenario(
    charter: Charter, selection: Selection, model: n.Model, place: tuple[str, int | None]
) -> Place:
    """The states after the lines of a scenario; `place` is its title, or the beginning of it, and
    the last line of its file that counts (None: all). Raises `Missing`, or `WrongState` if the
    scenario fails before."""
    title, line = place
    known = {scenario.title: scenario for scenario in model.scenarios}
    found = [known[title]] if title in known else [
        scenario for name, scenario in known.items() if name.startswith(title)
    ]  # fmt: skip
    if len(found) != 1:
        titles = ", ".join(repr(name) for name in known if name.startswith(title) or not found)
        what = "several scenarios begin" if found else "no scenario begins"
        raise Missing(f"{what} with {title!r}; there are: {titles or 'none'}")
    (scenario,) = found
    try:
        runs = follow(model, scenario, line)
    except ScenarioFails as error:
        raise WrongState(str(error)) from None
    names = {step.name: step.value.type for step in scenario.steps if isinstance(step, n.Bind)}
    reached = {name: kind for name, kind in names.items() if all(name in r.names for r in runs)}
    where = "the end" if line is None else f"line {line}"
    return Place(
        charter,
        selection,
        Machine.of(model, scenario.instance),
        tuple((run.state, run.names) for run in runs),
        f"{where} of the scenario {scenario.title!r}",
        reached,
    )


def in_trace(initial: Place, data: Json, step: int | None) -> Place:
    """A state of a trace of the instance of `initial`: after `step` steps (None: the last), from
    ITF or from what `explore --json` writes, there of its first finding. Raises `WrongState`."""
    states = _itf(data)
    number = len(states) - 1 if step is None else step
    if not 0 <= number < len(states):
        raise WrongState(f"the trace has the steps 0 to {len(states) - 1}, not {number}")
    row, machine = states[number], initial.machine
    if not isinstance(row, dict):
        raise WrongState(f"state {number} of the trace is no object")
    state: dict[str, n.Value] = {}
    for variable in machine.variables:
        if variable.name not in row:
            raise WrongState(
                f"state {number} of the trace has no variable {variable.name}; is it of another"
                f" machine than {machine.instance.machine}?"
            )
        try:
            state[variable.name] = decode(variable.type, row[variable.name], machine.universe)
        except ValueError as error:
            raise WrongState(f"state {number} of the trace, {variable.name}: {error}") from None
    return replace(initial, states=((state, {}),), told=f"the state after step {number}")


def _itf(data: Json) -> list[Json]:
    """The states of a trace."""
    match data:
        case {"states": list(states), "vars": list()} if states:
            return states
        case {"findings": list(findings)}:
            traces = (f["itf"] for f in findings if isinstance(f, dict) and "itf" in f)
            found = next(traces, None)
            if found is not None:
                return _itf(found)
            raise WrongState("this search has no finding with a trace")
        case {"instances": [*searches]}:
            raise WrongState(
                f"this file has {len(searches)} searches; write one with explore --instance NAME"
            )
        case _:
            raise WrongState("this is neither a trace in ITF nor what explore --json writes")
