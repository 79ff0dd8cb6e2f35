"""Lists what instances allow and what they leave out, so that they can be distinguished."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from charter.analysis.retell import path_of
from charter.core import nodes as n
from charter.core import types as t
from charter.core.nodes import Value
from charter.formats.canonical import Json
from charter.semantics.machine import Machine
from charter.semantics.shown_values import show_value
from charter.semantics.values import Universe


@dataclass(frozen=True, slots=True)
class InstanceLimits:
    """What limits the search of an instance: the number of elements of each sort; budgets (how
    often the steps that take from one can happen) and the other constants, which no step takes
    from; the `first` state as text by places such as `room[r1].lamp`, without budgets, and of it
    what the instance sets (`starts`); the operations (steps) that it offers (empty: all), those
    whose arguments have a condition (`only`), and what it lists under `misses` and `fails`."""

    instance: str
    machine: str
    sorts: Mapping[str, int]
    budgets: Mapping[str, int]
    constants: Mapping[str, int]
    first: Mapping[str, str]
    starts: Mapping[str, str]
    offers: tuple[str, ...]
    only: tuple[str, ...]
    misses: tuple[str, ...]
    fails: tuple[str, ...]

    @property
    def settings(self) -> dict[str, str]:
        """The constants and the first state as text, by name or place."""
        return {name: as_text(value) for name, value in self.constants.items()} | {**self.first}

    def row(self) -> dict[str, Json]:
        """The fields as JSON, with the names, but without the first state."""
        return {"instance": self.instance, "machine": self.machine, "limits": self.json()}

    def json(self) -> dict[str, Json]:
        """The fields as `--json` prints them, but for the names and the first state."""
        return {
            "sorts": {**self.sorts},
            "budgets": {**self.budgets},
            "constants": {**self.constants},
            "starts": {**self.starts},
            "offers": list(self.offers),
            "only": list(self.only),
            "misses": list(self.misses),
            "fails": list(self.fails),
        }


def as_text(value: int) -> str:
    """The value of a constant in charter notation."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def limits_of(model: n.Model, instance: n.Instance) -> InstanceLimits:
    """The limits of an instance of a model."""
    machine = Machine.of(model, instance)
    counters = (v.initial for v in machine.variables if v.is_budget)
    taken = {limit.name for limit in counters if isinstance(limit, n.ConstRef)}
    consts = dict(instance.consts)
    state = machine.initial()
    places = {v.name: dict(_places(machine, v, state[v.name]))
              for v in machine.variables if not v.is_budget}  # fmt: skip
    return InstanceLimits(
        instance.name,
        instance.machine,
        {name: len(members) for name, members in instance.sorts},
        {name: value for name, value in consts.items() if name in taken},
        {name: value for name, value in consts.items() if name not in taken},
        {place: text for found in places.values() for place, text in found.items()},
        {place: text for name, _ in instance.starts for place, text in places[name].items()},
        instance.offers,
        tuple(dict.fromkeys(name for name, _ in instance.only)),
        instance.misses,
        instance.fails,
    )


def usual(limits: Sequence[InstanceLimits]) -> dict[str, str]:
    """The constants, and the places of the first state that at least one instance sets, that are
    not the same in all of some instances of a machine, each with the value that most have (of two
    that are equally frequent the first; "" if most do not have the place)."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(name for one in limits for name in (*one.constants, *one.starts)):
        values = Counter(one.settings.get(name, "") for one in limits)
        if len(values) > 1:
            ((found[name], _),) = values.most_common(1)
    return found


def apart(one: InstanceLimits, most: Mapping[str, str]) -> dict[str, str]:
    """The constants and start values of an instance that are not the `usual` ones. A place that
    most instances do not have is told only if the instance sets it."""
    settings = one.settings
    return {
        name: settings[name]
        for name, text in most.items()
        if settings.get(name, text) != text
        and (text or name not in one.first or name in one.starts)
    }


def _places(machine: Machine, variable: n.StateVar, value: Value) -> Iterator[tuple[str, str]]:
    """The places of a variable with their values, as text."""
    yield from _leaves(variable.type, value, path_of(machine, variable), machine.universe)


def _leaves(
    kind: t.Type, value: Value, ends: tuple[str, str], universe: Universe
) -> Iterator[tuple[str, str]]:
    """Entries of maps and fields of records, each with its path; `ends` is the path so far, and the
    text to put behind the first key."""
    path, behind = ends
    match kind:
        case t.Map(key=key, value=inner) if isinstance(value, tuple):
            for at, entry in zip(universe.domain(key), value, strict=True):
                further = f"{path}[{show_value(key, at, universe)}]{behind}"
                yield from _leaves(inner, entry, (further, ""), universe)
        case t.Record(fields=fields) if isinstance(value, tuple):
            for (name, inner), part in zip(fields, value, strict=True):
                yield from _leaves(inner, part, (f"{path}{behind}.{name}", ""), universe)
        case t.Option(inner=inner) if value is not None:
            yield from _leaves(inner, value, ends, universe)
        case _:
            yield f"{path}{behind}", show_value(kind, value, universe)
