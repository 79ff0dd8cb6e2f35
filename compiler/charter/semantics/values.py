"""Enumerates and converts values in an instance: finite domains, ranges, and JSON (see
docs/formats/vector.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations, permutations, product
from typing import assert_never

from charter.core import types as t
from charter.core.nodes import Instance, Param, Value
from charter.core.show import show_type
from charter.formats.canonical import Json, as_pairs, as_set, text

MOST_VALUES = 1 << 20
"""A type with more values than this is not enumerated: a minute, and gigabytes of memory."""


class NotFinite(TypeError):
    """The type has no finite domain: it is or contains a counter or a number without a range."""


class TooManyValues(Exception):
    """The type has a finite domain, which is too large to be enumerated."""


@dataclass(slots=True)
class _Listed:
    """The values of a finite type, in their canonical order, and where each is, once that is asked
    for."""

    values: tuple[Value, ...]
    known: dict[Value, int] | None = None

    @property
    def positions(self) -> Mapping[Value, int]:
        """The index of each value."""
        if self.known is None:
            self.known = {value: i for i, value in enumerate(self.values)}
        return self.known


@dataclass(frozen=True, slots=True)
class Universe:
    """What an instance fixes: the elements of each sort, in order, and the constants."""

    sorts: Mapping[str, tuple[str, ...]]
    consts: Mapping[str, int]
    _listed: dict[t.Type, _Listed] = field(default_factory=dict, repr=False, compare=False)
    _found: dict[int, tuple[t.Type, _Listed]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """The same by the identity of a type, which is held: its hash takes longer."""
    _placed: dict[int, tuple[t.Type, Mapping[Value, int]]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """Where each value is, by the identity of its type."""

    @staticmethod
    def of(instance: Instance) -> Universe:
        """The universe of an instance."""
        return Universe(dict(instance.sorts), dict(instance.consts))

    def limit(self, limit: t.Limit) -> int:
        """A limit as a number."""
        return (self.consts[limit.const] if limit.const else 0) + limit.plus

    def domain(self, kind: t.Type) -> tuple[Value, ...]:
        """All values of a finite type, in their canonical order. Raises NotFinite and
        TooManyValues."""
        return self._of(kind).values

    def refuse_many(self, params: Iterable[Param]) -> None:
        """Raises TooManyValues if parameters have too many lists of values; a type with a counter
        is taken for one value."""
        finite = {p.name: p.type for p in params if not t.holds(p.type, t.Counter)}
        if len(finite) > 1 and _product(map(self.cardinality, finite.values())) > MOST_VALUES:
            names = ", ".join(f"`{name}`" for name in finite)
            raise TooManyValues(
                f"the arguments {names} have more than {MOST_VALUES:,} lists of values here, too"
                " many to try in each state; choose smaller bounds in the instance"
            )

    def cardinality(self, kind: t.Type) -> int:
        """The number of values of a finite type, without listing them; more than MOST_VALUES may be
        any such number. Raises NotFinite."""
        match kind:
            case t.Bool():
                return 2
            case t.Enum(members=members):
                return len(members)
            case t.Sort(name=name):
                return len(self.sorts[name])
            case t.Option(inner=inner):
                return 1 + self.cardinality(inner)
            case t.Record(fields=fields):
                return _product(self.cardinality(part) for _, part in fields)
            case t.Union(cases=cases):
                return sum(_product(self.cardinality(p) for _, p in ps) for _, ps in cases)
            case t.Set(inner=inner):
                return 1 << min(self.cardinality(inner), 64)
            case t.Int() | t.Ranking() | t.Map() | t.Seq() | t.Counter():
                return self._other_cardinality(kind)
            case _:
                assert_never(kind)

    def _other_cardinality(self, kind: t.Int | t.Ranking | t.Map | t.Seq | t.Counter) -> int:
        match kind:
            case t.Int(low=low, high=high):
                if low is None or high is None:
                    raise NotFinite("an integer without a range has no domain")
                return max(0, self.limit(high) - self.limit(low) + 1)
            case t.Map(key=key, value=value):
                return int(self.cardinality(value) ** min(self.cardinality(key), 64))
            case t.Seq(inner=inner, limit=limit):
                each = self.cardinality(inner)
                return sum(each**length for length in range(self.limit(limit) + 1))
            case t.Ranking(inner=inner):
                count = self.cardinality(inner)
                return count if count < 2 else 2 ** min(64, count * 2)
            case t.Counter(name=name):
                raise NotFinite(f"counter {name} has no domain")

    def least(self, kind: t.Type) -> Value:
        """The first value of a type; 0 for counters and for numbers without a range."""
        match kind:
            case t.Bool():
                return False
            case t.Int(low=low):
                return 0 if low is None else self.limit(low)
            case t.Sort() | t.Counter():
                return 0
            case t.Enum(members=members):
                return members[0]
            case t.Option():
                return None
            case t.Record(fields=fields):
                return tuple(self.least(part) for _, part in fields)
            case t.Union(cases=((tag, params), *_)):
                return (tag, *(self.least(part) for _, part in params))
            case t.Set():
                return frozenset()
            case t.Map(key=key, value=value):
                return (self.least(value),) * len(self.domain(key))
            case t.Seq() | t.Ranking():
                return ()
            case t.Union():
                raise TypeError("a union without cases")

    def position(self, kind: t.Type, value: Value) -> int:
        """The index of `value` in `domain(kind)`. Raises KeyError."""
        return self.positions(kind)[value]

    def positions(self, kind: t.Type) -> Mapping[Value, int]:
        """The index of each value in `domain(kind)`."""
        found = self._placed.get(id(kind))
        if found is None:
            found = self._placed[id(kind)] = kind, self._of(kind).positions
        return found[1]

    def _of(self, kind: t.Type) -> _Listed:
        found = self._found.get(id(kind))
        if found is None:
            if kind not in self._listed:
                self._listed[kind] = self._list(kind)
            found = self._found[id(kind)] = kind, self._listed[kind]
        return found[1]

    def _list(self, kind: t.Type) -> _Listed:
        if self.cardinality(kind) > MOST_VALUES:
            raise TooManyValues(
                f"{show_type(kind)} has more than {MOST_VALUES:,} values here, too many to"
                " list; choose smaller bounds in the instance"
            )
        return _Listed(_domain(kind, self))


def _product(factors: Iterable[int]) -> int:
    """At most a little more than MOST_VALUES: records within records are not looked at twice."""
    result = 1
    for factor in factors:
        result *= factor
        if result > MOST_VALUES:
            break
    return result


def _domain(kind: t.Type, universe: Universe) -> tuple[Value, ...]:
    match kind:
        case t.Bool():
            return (False, True)
        case t.Int(low=low, high=high):
            if low is None or high is None:
                raise NotFinite("an integer without a range has no domain")
            return tuple(range(universe.limit(low), universe.limit(high) + 1))
        case t.Sort(name=name):
            return tuple(range(len(universe.sorts[name])))
        case t.Enum(members=members):
            return members
        case t.Option(inner=inner):
            return (None, *universe.domain(inner))
        case t.Record(fields=fields):
            return tuple(product(*(universe.domain(part) for _, part in fields)))
        case t.Union(cases=cases):
            return tuple(
                (tag, *args)
                for tag, params in cases
                for args in product(*(universe.domain(part) for _, part in params))
            )
        case t.Set(inner=inner):
            items = universe.domain(inner)
            return tuple(
                frozenset(c) for n in range(len(items) + 1) for c in combinations(items, n)
            )
        case t.Map(key=key, value=value):
            return tuple(product(universe.domain(value), repeat=len(universe.domain(key))))
        case t.Seq(inner=inner, limit=limit):
            lengths = range(universe.limit(limit) + 1)
            return tuple(s for n in lengths for s in product(universe.domain(inner), repeat=n))
        case t.Ranking(inner=inner):
            items = universe.domain(inner)
            return tuple(p for n in range(len(items) + 1) for p in permutations(items, n))
        case t.Counter(name=name):
            raise NotFinite(f"counter {name} has no domain")
        case _:
            assert_never(kind)


def is_bounded(kind: t.Type) -> bool:
    """Whether a type has numbers or lengths that can be out of their range."""
    return any(
        isinstance(part, t.Seq)
        or (isinstance(part, t.Int) and (part.low is not None or part.high is not None))
        for part in t.inside(kind)
    )


def list_parts(kind: t.Type, value: Value) -> Iterable[tuple[t.Type, Value]]:
    """The parts of a value, each with its type; of a map its values, but not its keys."""
    match kind, value:
        case t.Option(inner=inner), _ if value is not None:
            return ((inner, value),)
        case t.Record(fields=fields), tuple():
            return zip((part for _, part in fields), value, strict=True)
        case t.Union() as union, (str() as tag, *rest):
            return zip((part for _, part in union.params(tag)), rest, strict=True)
        case t.Map(value=inner), tuple():
            return ((inner, v) for v in value)
        case (t.Set() | t.Seq() | t.Ranking()) as several, (frozenset() | tuple()):
            return ((several.inner, v) for v in value)
        case _:
            return ()


def fits(kind: t.Type, value: Value, universe: Universe) -> bool:
    """Whether every bounded number and length inside `value` is within its range."""
    match kind, value:
        case t.Int(low=low, high=high), int():
            inside = low is None or universe.limit(low) <= value
            return inside and (high is None or value <= universe.limit(high))
        case t.Seq(limit=limit), tuple() if len(value) > universe.limit(limit):
            return False
        case _:
            return all(fits(part, v, universe) for part, v in list_parts(kind, value))


def to_json(kind: t.Type, value: Value, universe: Universe) -> Json:
    """A value as JSON; sort elements by name, opaque values as "@n" (ordered) or "~n"."""
    match kind, value:
        case t.Counter(opaque=True, ordered=ordered), int():
            return f"@{value}" if ordered else f"~{value}"
        case t.Sort(name=name), int():
            return universe.sorts[name][value]
        case t.Option(inner=inner), _:
            return None if value is None else to_json(inner, value, universe)
        case t.Record(fields=fields), tuple():
            pairs = zip(fields, value, strict=True)
            return {name: to_json(part, v, universe) for (name, part), v in pairs}
        case t.Union() as union, (str() as tag, *rest):
            named = zip(union.params(tag), rest, strict=True)
            return {"case": tag} | {n: to_json(part, v, universe) for (n, part), v in named}
        case t.Set(inner=inner), frozenset():
            return as_set(to_json(inner, item, universe) for item in value)
        case t.Map(key=key, value=inner), tuple():
            keys = [to_json(key, k, universe) for k in universe.domain(key)]
            items = [to_json(inner, v, universe) for v in value]
            if isinstance(key, t.Sort | t.Enum | t.Bool):
                names = [k if isinstance(k, str) else text(k) for k in keys]
                return dict(zip(names, items, strict=True))
            return as_pairs(zip(keys, items, strict=True))
        case (t.Seq() | t.Ranking()) as listed, tuple():
            inner = listed.inner
            return [to_json(inner, item, universe) for item in value]
        case _, bool() | int() | str() | None:
            return value
        case _:
            raise TypeError(f"{value!r} is not a value of {kind}")


def from_json(kind: t.Type, data: Json, universe: Universe) -> Value:
    """The inverse of `to_json`. Raises ValueError with what was expected."""
    try:
        return _from_json(kind, data, universe)
    except (KeyError, TypeError, IndexError, ValueError) as problem:
        raise ValueError(f"{text(data)} is not a value of {kind}") from problem


def _from_json(kind: t.Type, data: Json, universe: Universe) -> Value:
    match kind, data:
        case t.Bool(), bool():
            return data
        case ((t.Int() | t.Counter(opaque=False)), int()) if not isinstance(data, bool):
            return data
        case t.Counter(opaque=True, ordered=ordered), str() if data[:1] == (
            "@" if ordered else "~"
        ):
            return int(data[1:])
        case t.Sort(name=name), str():
            return universe.sorts[name].index(data)
        case t.Enum(members=members), str() if data in members:
            return data
        case t.Option(inner=inner), _:
            return None if data is None else _from_json(inner, data, universe)
        case t.Record(fields=fields), dict() if set(data) == {name for name, _ in fields}:
            return tuple(_from_json(part, data[name], universe) for name, part in fields)
        case t.Union() as union, dict() if isinstance(data.get("case"), str):
            tag = str(data["case"])
            params = union.params(tag)
            return (tag, *(_from_json(part, data[name], universe) for name, part in params))
        case t.Set(inner=inner), list():
            return frozenset(_from_json(inner, item, universe) for item in data)
        case t.Map(key=key, value=inner), dict():
            keys = [to_json(key, k, universe) for k in universe.domain(key)]
            names = [k if isinstance(k, str) else text(k) for k in keys]
            return tuple(_from_json(inner, data[name], universe) for name in names)
        case t.Map(key=key, value=inner), list():
            found: dict[Value, Value] = {}
            for pair in data:
                if not isinstance(pair, list):
                    raise TypeError(kind)
                found[_from_json(key, pair[0], universe)] = _from_json(inner, pair[1], universe)
            return tuple(found[k] for k in universe.domain(key))
        case (t.Seq() | t.Ranking()) as listed, list():
            inner = listed.inner
            return tuple(_from_json(inner, item, universe) for item in data)
        case _:
            raise TypeError(kind)
