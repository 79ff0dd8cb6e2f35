"""What the generated successor functions call: failures and a few operations on tuples."""

from __future__ import annotations

from charter.core.nodes import Value
from charter.semantics.builtins import sort_key


class Undefined(Exception):
    """The charter asked for a value that does not exist (the evaluator's EvaluationError)."""


def position(table: dict[Value, int], key: Value, where: str) -> int:
    """Where `key` stands in the domain of a map. Raises Undefined outside of it."""
    at = table.get(key)
    if at is None:
        raise Undefined(f"{where}: {key!r} is not a key of the map")
    return at


def put(items: tuple[Value, ...], at: int, value: Value) -> tuple[Value, ...]:
    """`items` with one of them replaced."""
    return (*items[:at], value, *items[at + 1 :])


def bounded(items: tuple[Value, ...], limit: int, where: str) -> tuple[Value, ...]:
    """`items`, if there are at most `limit`. Raises Undefined otherwise."""
    if len(items) > limit:
        raise Undefined(f"{where}: the sequence grows past its limit")
    return items


def appended(items: tuple[Value, ...], item: Value) -> tuple[Value, ...]:
    """A ranking with `item` as its last."""
    return (*(i for i in items if i != item), item)


def joined(items: tuple[Value, ...], more: tuple[Value, ...]) -> tuple[Value, ...]:
    """A ranking with the new items of another behind it."""
    return (*items, *(i for i in more if i not in items))


def at(items: tuple[Value, ...], index: int) -> Value:
    """The item at a position, None outside."""
    return items[index] if 0 <= index < len(items) else None


def item(items: tuple[Value, ...], index: int, where: str) -> Value:
    """The item at a position. Raises Undefined outside."""
    if not 0 <= index < len(items):
        raise Undefined(f"{where}: position {index} of a sequence of {len(items)}")
    return items[index]


def least(pool: frozenset[int], where: str) -> int:
    """The smallest member. Raises Undefined for the empty set."""
    if not pool:
        raise Undefined(f"{where}: min of an empty set")
    return min(pool)


def greatest(pool: frozenset[int], where: str) -> int:
    """The largest member. Raises Undefined for the empty set."""
    if not pool:
        raise Undefined(f"{where}: max of an empty set")
    return max(pool)


def in_order(members: frozenset[Value]) -> list[Value]:
    """Members in an order that depends on their values alone."""
    return sorted(members, key=sort_key)


def fail(why: str, where: str) -> None:
    """Raise Undefined."""
    raise Undefined(f"{where}: {why}")
