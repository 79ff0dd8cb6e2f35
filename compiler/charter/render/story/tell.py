"""Replays a finding on the definition: each step with its actor, rules and changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from charter.analysis.canonical import Canonical
from charter.analysis.environment import is_cut, unrestrict
from charter.analysis.narrowed_machine import open_machine
from charter.analysis.retell import Act, RetoldStep, keys_of, retell, run_of
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.core.transition import is_of_transition
from charter.formats.canonical import Json
from charter.render.story.why import Explanation, why
from charter.semantics.evaluate import Mail
from charter.semantics.expressions import Scope, State
from charter.semantics.machine import Machine
from charter.semantics.shown_values import show_value
from charter.semantics.values import to_json

Same = Callable[[State, State], bool]
"""Whether two states are the same for a lasso: equal up to renaming of counters."""


@dataclass(frozen=True, slots=True)
class ToldFinding:
    """A finding of an engine: its kind (`always`, `stepwise`, `witness`, `eventually`, `deadlock`,
    `undefined`), name and steps. The steps from number `loop` on repeat for ever (None: no lasso;
    the number of all steps: nothing happens any more). `fails` is a further step whose evaluation
    has no value (None if a property has none, or nothing failed). `binding` are the values for
    which an `eventually` fails; `detail` is the engine's comment."""

    kind: str
    name: str
    acts: tuple[Act, ...]
    loop: int | None = None
    fails: Act | None = None
    binding: tuple[tuple[n.Param, Value], ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """A finding with the retold steps of its trace."""

    found: ToldFinding
    machine: Machine
    initial: State
    steps: tuple[RetoldStep, ...]

    @property
    def states(self) -> tuple[State, ...]:
        """Every state, the initial one first."""
        return (self.initial, *(step.state for step in self.steps))

    @property
    def ends_where_cut(self) -> bool:
        """Whether a run stays where only what the instance leaves out could change something."""
        if self.found.loop != len(self.steps):
            return False
        return is_cut(self.machine, unrestrict(self.machine), self.states[-1])

    @property
    def why(self) -> Explanation | None:
        """Why the property is false at the end; None for findings of other kinds."""
        if self.found.kind not in ("always", "stepwise"):
            return None
        prop = next(p for p in self.machine.model.properties if p.name == self.found.name)
        return why(self.machine, prop, _last(self.machine, self.found, prop, self.states))

    @property
    def title(self) -> str:
        """The title: what the finding is."""
        kind, name = self.found.kind, self.found.name
        what = kind if kind == name else f"{kind} {name}"
        return f"{what} of {self.machine.instance.machine}"

    def steps_json(self) -> list[Json]:
        """The steps with names, arguments, rules, changes and mail."""
        pairs = zip(self.found.acts, self.steps, strict=True)
        return [
            {
                "operation": operation,
                "args": self.machine.args_json(operation, args),
                "rules": list(step.rules),
                "changes": [
                    {"path": c.path, "before": c.before, "after": c.after} for c in step.changes
                ],
                "mail": [self._mail_json(mail) for mail in step.mail],
            }
            for (operation, args), step in pairs
        ]

    def _mail_json(self, mail: Mail) -> Json:
        return {
            "what": "lost" if mail.is_lost else "sent" if mail.is_sent else "received",
            "place": self.place_of(mail),
            "message": self.message_of(mail),
            "stays": mail.stays,
        }

    def place_of(self, mail: Mail) -> str:
        """The entry of a channel that a message was sent to or received from, as text."""
        kinds, universe = keys_of(self.machine, mail.channel), self.machine.universe
        at = (show_value(k, end, universe) for k, end in zip(kinds, mail.ends, strict=True))
        return mail.channel + "".join(f"[{end}]" for end in at)

    def message_of(self, mail: Mail) -> str:
        """A message in charter notation."""
        return show_value(mail.type, mail.message, self.machine.universe)

    def binding_json(self) -> dict[str, Json]:
        """The values for which an `eventually` fails, by name."""
        universe = self.machine.universe
        return {p.name: to_json(p.type, value, universe) for p, value in self.found.binding}

    def last_state(self) -> dict[str, str]:
        """The values of the variables in the last state, in charter notation."""
        universe, last = self.machine.universe, self.states[-1]
        return {v.name: show_value(v.type, last[v.name], universe) for v in self.machine.variables}


def tell(machine: Machine, found: ToldFinding, same: Same) -> Story:
    """The story of a finding. Raises NotARun if the definition does not allow it."""
    acts = found.acts
    mark = 0 if found.loop is None else found.loop
    states = run_of(machine, acts, lambda run: _shows(machine, found, run, same), mark)
    return Story(found, machine, states[0], retell(machine, acts, states))


def sameness(model: n.Model, instance: n.Instance) -> Same:
    """Which states of an instance are the same for a lasso."""
    variables = Machine.of(model, instance).variables
    plain = [v.name for v in variables if not t.counters_in(v.type)]

    @cache
    def canonical() -> Canonical:  # it takes longer than most stories, which can do without
        whole = open_machine(model, instance)
        return Canonical.of(whole, symmetry=False)

    def same(one: State, other: State) -> bool:
        if one == other or any(one[name] != other[name] for name in plain):
            return one == other
        return canonical().form(one) == canonical().form(other)

    return same


def close_story(story: Story, same: Same) -> Story:
    """The story of an `eventually` of which only the steps are known, with where they repeat: from
    the first state on that is the same as the last one."""
    last = story.states[-1]
    loop = next(number for number, state in enumerate(story.states) if same(state, last))
    return replace(story, found=replace(story.found, loop=loop))


def _shows(machine: Machine, found: ToldFinding, run: Sequence[State], same: Same) -> bool:
    """Whether a run ends in the finding."""
    if found.kind == "eventually":
        return found.loop is None or same(run[found.loop], run[-1])
    prop = next((p for p in machine.model.properties if p.name == found.name), None)
    if prop is None or found.kind in ("undefined", "deadlock"):
        return True
    return machine.holds(prop, _last(machine, found, prop, run)) is (prop.kind == "witness")


def _last(machine: Machine, found: ToldFinding, prop: n.Property, run: Sequence[State]) -> Scope:
    """The scope in which a property is evaluated at the end of a run."""
    if len(run) > 1 and is_of_transition(prop):
        operation, args = found.acts[-1]
        ways = machine.outcomes(run[-2], operation, args)
        took = next((o.branch for o in ways if o.state == run[-1]), "")
        return machine.scope(run[-2], run[-1], took, args)
    return machine.scope(run[-1])
