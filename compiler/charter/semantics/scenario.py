"""Executes scenarios on the definition. Where several outcomes are allowed all are followed; an
expectation drops those that do not meet it, and a `never` line holds for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from charter.core import nodes as n
from charter.core.nodes import Value
from charter.core.walk import nodes, operands
from charter.diagnostics import Span
from charter.formats.canonical import Json
from charter.semantics.builtins import EvaluationError
from charter.semantics.evaluate import Outcome
from charter.semantics.expressions import Locals, State
from charter.semantics.machine import Machine, NoInitialState
from charter.semantics.shown_values import show_value

MachineOf = Callable[[n.Model, n.Instance], Machine]
"""The machine of an instance; `shared_outcomes` has a faster one than `Machine.of`."""
MOST_TOLD = 3
"""How many of the runs that are possible where a scenario fails are reported apart."""


class ScenarioFails(Exception):
    """The charter allows no trace in which a line of the scenario comes true, or one in which a
    `never` line does. `span` is the line, `moment` the headline above it ("" for none); `expected`
    and `actual` are phrases."""

    def __init__(self, place: tuple[str, str], span: Span, expected: str, actual: str) -> None:
        self.title, self.moment = place
        self.span = span
        self.expected = expected
        self.actual = actual
        super().__init__(f"{span.where()}: {self.sentence()}")

    def sentence(self) -> str:
        """One sentence: which scenario fails in which step, what was expected, what was found."""
        step = f', step "{self.moment}"' if self.moment else ""
        found = f"expected {self.expected}, but {self.actual}"
        return f'scenario "{self.title}"{step}: {found}'

    def json(self) -> Json:
        """The same as JSON."""
        return {
            "scenario": self.title,
            "step": self.moment,
            "where": self.span.where(),
            "expected": self.expected,
            "actual": self.actual,
        }


@dataclass(frozen=True, slots=True)
class Followed:
    """One operation of a scenario with the outcome that was followed. `moment` is its headline, ""
    if the one before still applies."""

    moment: str
    operation: str
    args: tuple[Value, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class ScenarioTrace:
    """A trace that meets all lines so far: its last state, its steps, and the values of the
    scenario's `let`s."""

    state: State
    steps: tuple[Followed, ...]
    names: Locals


def failing(
    model: n.Model, machine: str = "", machine_of: MachineOf = Machine.of
) -> tuple[ScenarioFails, ...]:
    """The failures of the scenarios of a machine ("": of all machines), in the order of the
    charter."""
    return tuple(failures(model, machine, machine_of))


def failures(
    model: n.Model, machine: str = "", machine_of: MachineOf = Machine.of
) -> Iterator[ScenarioFails]:
    """The same, one after another: a scenario is followed when the next failure is asked for."""
    for scenario in model.scenarios:
        if machine in ("", scenario.instance.machine):
            try:
                follow_in(machine_of(model, scenario.instance), scenario)
            except ScenarioFails as problem:
                yield problem


def follow(
    model: n.Model, scenario: n.Scenario, until: int | None = None
) -> tuple[ScenarioTrace, ...]:
    """Every trace that meets the whole scenario, or the part of it that begins in line `until` of
    its file or above. Raises ScenarioFails at the first line that none meets."""
    return follow_in(Machine.of(model, scenario.instance), scenario, until)


def follow_in(
    machine: Machine, scenario: n.Scenario, until: int | None = None
) -> tuple[ScenarioTrace, ...]:
    """The same in a machine of the scenario's instance."""
    try:
        runs: tuple[ScenarioTrace, ...] = (ScenarioTrace(machine.initial(), (), {}),)
    except NoInitialState as problem:
        why = f"{problem.variable} has no initial value ({problem.cause})"
        raise ScenarioFails((scenario.title, ""), scenario.span, "a first state", why) from None
    headline = moment = ""
    for step in scenario.steps:
        if until is not None and step.span.source.position(step.span.start)[0] > until:
            break
        if isinstance(step, n.Moment):
            headline = moment = step.title
            continue
        place = (scenario.title, headline)
        try:
            left = tuple(after for run in runs for after in _line(machine, step, run, moment))
        except EvaluationError as problem:
            raise ScenarioFails(place, step.span, "a value", str(problem)) from None
        if isinstance(step, n.Do | n.Expect) and step.never:
            if left:
                raise ScenarioFails(place, step.span, *_why_not(machine, step, runs))
            continue
        if not left:
            raise ScenarioFails(place, step.span, *_why(machine, step, runs))
        runs = left
        if isinstance(step, n.Do):
            moment = ""
    return runs


def _line(
    machine: Machine, line: n.Do | n.Expect | n.Bind, run: ScenarioTrace, moment: str
) -> list[ScenarioTrace]:
    """The traces that continue one by a line; empty if it does not meet the line."""
    scope = machine.scope(run.state)
    match line:
        case n.Expect():
            return [run] if machine.evaluator.truth(line.condition, scope, run.names) else []
        case n.Bind(name=name):
            found = machine.evaluator.value(line.value, scope, run.names)
            return [replace(run, names={**run.names, name: found})]
        case n.Do():
            args = _args(machine, line, run)
            return [
                replace(
                    run,
                    state=outcome.state,
                    steps=(*run.steps, Followed(moment, line.operation, args, outcome)),
                )
                for outcome in _of_branch(machine, line, run)
                if line.reply is None or outcome.reply == _reply(machine, line.reply, run, outcome)
            ]


def _args(machine: Machine, line: n.Do, run: ScenarioTrace) -> tuple[Value, ...]:
    scope = machine.scope(run.state)
    return tuple(machine.evaluator.value(arg, scope, run.names) for arg in line.args)


def _of_branch(machine: Machine, line: n.Do, run: ScenarioTrace) -> list[Outcome]:
    """The outcomes that take the branch of a line, whatever they reply."""
    wanted = f"{line.operation}/{line.branch}" if line.branch else ""
    outcomes = machine.outcomes(run.state, line.operation, _args(machine, line, run))
    return [outcome for outcome in outcomes if not wanted or outcome.branch == wanted]


def _reply(machine: Machine, reply: n.Expr, run: ScenarioTrace, outcome: Outcome) -> Value:
    """The reply that a line expects, in the state that an outcome leaves."""
    return machine.evaluator.value(reply, machine.scope(outcome.state), run.names)


# --- why a scenario fails ------------------------------------------------------------------------


def _why(
    machine: Machine, line: n.Do | n.Expect | n.Bind, runs: tuple[ScenarioTrace, ...]
) -> tuple[str, str]:
    """Phrases: what a line expects, and what the traces have instead."""
    match line:
        case n.Expect():
            part = _false_part(machine, line.condition, runs[0])
            return _quote(part.span, line.span), _each(runs, lambda run: _show(machine, part, run))
        case n.Do() if line.reply is not None and any(
            _of_branch(machine, line, run) for run in runs
        ):
            return f"the reply {_quote(line.reply.span, line.span)}", _each(
                runs, lambda run: _check_reply(machine, line, run)
            )
        case n.Do() if line.branch:
            wanted = f"{line.operation}/{line.branch}"
            return wanted, _each(runs, lambda run: _take(machine, line, run))
        case n.Do():
            call = _call(machine, line, runs[0])
            return f"{call} to be enabled", _each(runs, lambda run: _stops(machine, line, run))
        case n.Bind():
            raise AssertionError("a let drops no run")


def _why_not(
    machine: Machine, line: n.Do | n.Expect, runs: tuple[ScenarioTrace, ...]
) -> tuple[str, str]:
    """Phrases: what a `never` line rules out, and the traces that have it."""
    those = tuple(run for run in runs if _line(machine, line, run, ""))
    match line:
        case n.Expect(condition=condition):
            return f"never {_quote(condition.span, line.span)}", _each(
                those, lambda run: _show(machine, condition, run, truth=True)
            )
        case n.Do() if line.reply is not None:
            return f"never the reply {_quote(line.reply.span, line.span)}", _each(
                those, lambda run: _check_reply(machine, line, run)
            )
        case n.Do() if line.branch:
            wanted = f"never {line.operation}/{line.branch}"
            return wanted, _each(those, lambda run: _take(machine, line, run))
        case n.Do():
            return "that this cannot be done", f"{_call(machine, line, those[0])} is possible"


def _each(runs: tuple[ScenarioTrace, ...], tell: Callable[[ScenarioTrace], str]) -> str:
    told = list(dict.fromkeys(tell(run) for run in runs))
    more = [f"{len(told) - MOST_TOLD} other cases"] if len(told) > MOST_TOLD else []
    return "; or ".join((*told[:MOST_TOLD], *more))


def _false_part(machine: Machine, condition: n.Expr, run: ScenarioTrace) -> n.Expr:
    """The first conjunct that is false."""
    scope = machine.scope(run.state)
    parts = operands(condition, "and")
    return next(p for p in parts if not machine.evaluator.truth(p, scope, run.names))


def _show(machine: Machine, part: n.Expr, run: ScenarioTrace, *, truth: bool = False) -> str:
    """The values of both sides of a comparison, or else of the state that a condition reads."""
    if isinstance(part, n.Binary) and part.op not in ("and", "or", "implies"):
        sides = [side for side in (part.left, part.right) if _varies(side)]
        if sides:
            return " and ".join(_show_value(machine, side, run) for side in sides)
    read = [e for e in nodes(part) if isinstance(e, n.StateRef) or _is_let(e, run)]
    told = dict.fromkeys(_show_value(machine, e, run) for e in read)
    is_so = "it is true" if truth else "it is false"
    return f"{is_so}: {' and '.join(told)}" if told else is_so


def _is_let(expr: n.Expr, run: ScenarioTrace) -> bool:
    return isinstance(expr, n.Local) and expr.name in run.names


def _varies(expr: n.Expr) -> bool:
    return any(isinstance(e, n.StateRef | n.Local) for e in nodes(expr))


def _show_value(machine: Machine, expr: n.Expr, run: ScenarioTrace) -> str:
    value = machine.evaluator.value(expr, machine.scope(run.state), run.names)
    return f"`{expr.span.quote()}` is {show_value(expr.type, value, machine.universe)}"


def _take(machine: Machine, line: n.Do, run: ScenarioTrace) -> str:
    outcomes = machine.outcomes(run.state, line.operation, _args(machine, line, run))
    branches = " or ".join(dict.fromkeys(outcome.branch for outcome in outcomes))
    return f"{_call(machine, line, run)} takes {branches}"


def _check_reply(machine: Machine, line: n.Do, run: ScenarioTrace) -> str:
    operation = machine.operations[line.operation]
    assert isinstance(operation, n.Operation)
    given = (outcome.reply for outcome in _of_branch(machine, line, run))
    told = dict.fromkeys(show_value(operation.result, one, machine.universe) for one in given)
    return f"{_call(machine, line, run)} replies {' or '.join(told)}"


def _stops(machine: Machine, line: n.Do, run: ScenarioTrace) -> str:
    """The statement of a step that cannot be executed."""
    step = machine.operations[line.operation]
    assert isinstance(step, n.Step)
    args = _args(machine, line, run)
    budgets = {v.name for v in machine.variables if v.is_budget}
    for statement, before in _beginnings(step):
        if not machine.evaluator.step(before, run.state, args):
            quoted = statement.span.quote()
            match statement:
                case n.Require(condition=n.Binary(left=n.StateRef(name=name))) if name in budgets:
                    return f"its budget `{quoted}` is used up"
            return f"`{quoted}` ({statement.span.where()}) stops it"
    raise AssertionError("nothing stops the step: it is enabled")


def _beginnings(step: n.Step) -> Iterator[tuple[n.Statement, n.Step]]:
    """Each statement of a step, with the step cut off behind it."""
    for end, statement in enumerate(step.body, start=1):
        yield statement, replace(step, body=step.body[:end])


def _call(machine: Machine, line: n.Do, run: ScenarioTrace) -> str:
    params = machine.operations[line.operation].params
    pairs = zip(params, _args(machine, line, run), strict=True)
    args = ", ".join(show_value(p.type, value, machine.universe) for p, value in pairs)
    return f"{line.operation}({args})"


def _quote(span: Span, line: Span) -> str:
    """The charter's text at a span; its location too if it is outside the scenario's line."""
    inside = span.source is line.source and line.start <= span.start < line.end
    return f"`{span.quote()}`" + ("" if inside else f" ({span.where()})")
