"""Reads the bounds of an instance (sizes of sorts, values of constants) and replaces some of
them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from charter.core import nodes as n
from charter.core import types as t
from charter.core.walk import nodes as within
from charter.semantics.machine import Machine, NoInitialState
from charter.semantics.values import Universe

NUMBERED = re.compile(r"(?P<stem>.*?)[0-9]+")


class WrongBound(Exception):
    """A bound that cannot be set; the message is one sentence for the user."""


def bounds_of(instance: n.Instance) -> dict[str, int]:
    """The sizes of the sorts and the values of the constants, by name."""
    return {name: len(members) for name, members in instance.sorts} | dict(instance.consts)


def with_bounds(model: n.Model, instance: n.Instance, wanted: Sequence[str]) -> n.Instance:
    """`instance` with bounds replaced, each written `name=number`; the last one counts.

    A sort that grows gets new elements behind its own, a sort that shrinks loses its last ones.
    Raises WrongBound for text of another form, a bound that the instance does not have, a number
    outside a constant's range, and if the initial state or the conditions of the instance no longer
    fit."""
    before = bounds_of(instance)
    sizes: dict[str, int] = {}
    for text in wanted:
        name, value = _read(text, instance)
        sizes[name] = value
    taken = {member for _, members in instance.sorts for member in members}
    sorts: dict[str, tuple[str, ...]] = {}
    for name, members in instance.sorts:
        sorts[name] = _resize(name, members, sizes.get(name, len(members)), taken)
        taken.update(sorts[name])
    consts = {name: sizes.get(name, value) for name, value in instance.consts}
    kinds = dict(model.consts)
    for name in sizes:
        if name in consts and not _inside(kinds[name], consts[name], Universe(sorts, consts)):
            raise WrongBound(
                f"{name}={consts[name]} is outside the range of {name},"
                f" {_range(kinds[name])}; {instance.name} has {_list_bounds(before)}"
            )
    _refuse_unnamed(instance, sorts)
    made = replace(instance, sorts=tuple(sorts.items()), consts=tuple(consts.items()))
    if sizes:
        _refuse_start(model, made, sizes)
    return made


def _read(text: str, instance: n.Instance) -> tuple[str, int]:
    """A name and a number. Raises WrongBound."""
    known = bounds_of(instance)
    name, _, number = (part.strip() for part in text.partition("="))
    there = f"{instance.name} has {_list_bounds(known)}"
    if name not in known:
        raise WrongBound(f"{instance.name} has no bound {name!r}; {there}")
    truths = {"false": 0, "true": 1} if isinstance(known[name], bool) else {}
    digits = number.replace("_", "")
    if number in truths:
        return name, bool(truths[number])
    if truths or not re.fullmatch("-?[0-9]{1,18}", digits):
        what = "true or false" if truths else "a whole number"
        raise WrongBound(f"{text!r} does not set {name} to {what}; {there}")
    value = int(digits)
    is_sort = any(name == sort for sort, _ in instance.sorts)
    if is_sort and not 1 <= value <= t.MOST_ELEMENTS:
        raise WrongBound(f"{name} can have 1 to {t.MOST_ELEMENTS} elements, not {value}; {there}")
    return name, value


def _list_bounds(bounds: Mapping[str, int]) -> str:
    """The bounds, as a charter writes them."""
    return f"the bounds {_pairs(bounds)}" if bounds else "no bounds"


def _pairs(bounds: Mapping[str, int]) -> str:
    pairs = ((name, str(v).lower() if isinstance(v, bool) else v) for name, v in bounds.items())
    return ", ".join(f"{name}={v}" for name, v in pairs)


def _inside(kind: t.Type, value: int, universe: Universe) -> bool:
    if not isinstance(kind, t.Int):
        return True
    low, high = kind.low, kind.high
    return (low is None or universe.limit(low) <= value) and (
        high is None or value <= universe.limit(high)
    )


def _range(kind: t.Type) -> str:
    assert isinstance(kind, t.Int)
    return f"{_limit(kind.low)}..{_limit(kind.high)}"


def _limit(limit: t.Limit | None) -> str:
    if limit is None:
        return ""
    plus = f"{limit.plus:+}" if limit.plus else ""
    return f"{limit.const}{plus}" if limit.const else str(limit.plus)


def _resize(sort: str, members: tuple[str, ...], size: int, taken: Set[str]) -> tuple[str, ...]:
    """The first elements of a sort, and new ones up to `size`; no new name is in `taken`."""
    stems = {found["stem"] for name in members if (found := NUMBERED.fullmatch(name))}
    stem = stems.pop() if len(stems) == 1 else sort[0].lower()
    new = (name for name in _number(stem, len(members) + 1) if name not in taken)
    return (*members, *(next(new) for _ in range(size - len(members))))[:size]


def _number(stem: str, first: int) -> Iterator[str]:
    while True:
        yield f"{stem}{first}"
        first += 1


def _refuse_unnamed(instance: n.Instance, sorts: Mapping[str, tuple[str, ...]]) -> None:
    """Raises WrongBound if a `start` or a condition names an element that was removed."""
    for _, e in (*instance.starts, *instance.only):
        for part in within(e):
            if isinstance(part, n.Literal) and isinstance(part.type, t.Sort):
                sort, number = part.type.name, part.value
                assert isinstance(number, int)
                if number >= len(sorts[sort]):
                    missing = dict(instance.sorts)[sort][number]
                    raise WrongBound(
                        f"{sort}={len(sorts[sort])} leaves out {missing}, which"
                        f" {instance.name} names. The bounds of {instance.name}:"
                        f" {_pairs(bounds_of(instance))}"
                    )


def _refuse_start(model: n.Model, instance: n.Instance, sizes: Mapping[str, int]) -> None:
    """Raises WrongBound if the initial state does not fit into the new bounds."""
    machine = Machine.of(model, instance)
    try:
        variable = machine.outside(machine.initial())
        why = f"{variable} leaves its range in the initial state" if variable else ""
    except NoInitialState as problem:
        why = f"the initial state has no value ({problem.cause})"
    if why:
        bounds = ", ".join(f"{name}={value}" for name, value in sizes.items())
        raise WrongBound(
            f"with {bounds} {why}; {instance.name} has {_list_bounds(bounds_of(instance))}"
        )
