"""Reads what a judge may ask of a component, from the tables of its generated model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, cast

from charter.formats.canonical import Json
from charter.formats.types import DeclaredType, parse_type
from conform.console.errors import BadSuite
from conform.judging.model import JudgeModel, World, name_of

_COUNTERS = frozenset({"ordered", "opaque"})


class _Offering(Protocol):
    """The tables of a model (docs/formats/generated.md)."""

    PARAMS: Mapping[str, Mapping[str, str]]
    PARAM_TYPES: Mapping[str, str]
    INSTANCES: Mapping[str, tuple[Mapping[str, str], Mapping[str, int], str]]


@dataclass(frozen=True, slots=True)
class OfferedWorld:
    """An instance: the elements of each sort, the values of constants, and the operations that it
    offers (none: all). `prelude` are the operations that lead to its first state, as JSON."""

    sorts: Mapping[str, tuple[str, ...]]
    consts: Mapping[str, int]
    operations: tuple[str, ...] = ()
    prelude: str = "[]"

    @property
    def world(self) -> World:
        """Sorts and constants, as a model reads them."""
        return self.sorts, self.consts

    def read_limit(self, limit: str) -> int:
        """The value of a limit of a type: a number, a constant, or a constant and a number. Raises
        KeyError for a constant that has no value here."""
        cut = max(limit.find("+"), limit.find("-"))
        name, rest = (limit, "0") if cut < 0 else (limit[:cut], limit[cut:])
        start = int(name or 0) if name.isdigit() or not name else self.consts[name]
        return start + int(rest)


@dataclass(frozen=True, slots=True)
class Offered:
    """The parameters of each operation with their types, the types that these mention by name, and
    the instances. `plans` say how the arguments of operations are drawn, where that is known."""

    params: Mapping[str, tuple[tuple[str, DeclaredType], ...]]
    named: Mapping[str, DeclaredType]
    instances: Mapping[str, OfferedWorld]
    plans: dict[str, Callable[..., dict[str, Json]]] = field(default_factory=dict, compare=False)

    def counter(self, kind: DeclaredType) -> tuple[str, bool] | None:
        """The name of a counter or opaque type, and whether an implementation chooses its values;
        None for another type."""
        if kind.kind != "name":
            return None
        (name,) = kind.names
        inner = self.named[name]
        if inner.kind in _COUNTERS:
            return name, True
        return (name, False) if inner.kind == "int" and not inner.names else None

    def holds_counter(self, kind: DeclaredType) -> bool:
        """Whether there is a counter or opaque value in values of a type."""
        if kind.kind == "name":
            return self.counter(kind) is not None or self.holds_counter(self.named[kind.names[0]])
        return any(self.holds_counter(part) for _, part in kind.parts)

    def strip(self, kind: DeclaredType) -> DeclaredType:
        """A type without its name; a sort keeps it."""
        while kind.kind == "name":
            kind = self.named[kind.names[0]]
        return kind


def read_offered(model: JudgeModel) -> Offered:
    """What the tables of a model say. Raises `BadSuite` if an earlier version made it."""
    if not hasattr(model, "INSTANCES"):
        raise BadSuite(
            f"the generated model {name_of(model)} does not say what a walk may ask, so there"
            " cannot be any; run `conform generate`"
        )
    tables = cast("_Offering", model)
    preludes: Mapping[str, str] = getattr(model, "PRELUDES", {})  # earlier versions had none
    calls: Mapping[str, str] = getattr(model, "PRELUDE_CALLS", {})
    named = {name: _read_named(name, text) for name, text in tables.PARAM_TYPES.items()}
    return Offered(
        {
            operation: tuple((name, parse_type(text, operation)) for name, text in params.items())
            for operation, params in tables.PARAMS.items()
        },
        named,
        {
            name: replace(_read_world(*held), prelude=_join(preludes.get(name, ""), calls))
            for name, held in tables.INSTANCES.items()
        },
    )


def _join(numbers: str, calls: Mapping[str, str]) -> str:
    """The calls with these numbers, as one text of JSON."""
    return f"[{','.join(calls[number] for number in numbers.split())}]"


def _read_named(name: str, text: str) -> DeclaredType:
    kind = parse_type(text, name)
    return DeclaredType("sort", (name,)) if kind.kind == "sort" else kind


def _read_world(
    sorts: Mapping[str, str], consts: Mapping[str, int], operations: str
) -> OfferedWorld:
    elements = {sort: tuple(names.split()) for sort, names in sorts.items()}
    return OfferedWorld(elements, dict(consts), tuple(operations.split()))


def choose_worlds(offered: Offered, instance: str) -> Sequence[OfferedWorld]:
    """The worlds that walks are in: that of an instance, or those of all, each once, with all
    operations. Raises `BadSuite` if there is no such instance."""
    if instance:
        if instance not in offered.instances:
            raise BadSuite(
                f"the component has no instance {instance!r}; there are:"
                f" {', '.join(offered.instances) or 'none'}"
            )
        return (offered.instances[instance],)
    found: list[OfferedWorld] = []
    for world in offered.instances.values():
        whole = OfferedWorld(world.sorts, world.consts)
        if whole not in found:
            found.append(whole)
    if not found:
        raise BadSuite("walks need an instance, and the component has none: add one to its charter")
    return found
