"""Reads what an adapter.toml says of cross-checks: what must hold of the answers of a target
without an expected answer (docs/formats/adapter.md, "Cross-checks")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from charter.formats.canonical import Json
from charter.formats.reading import mapping, own_object
from charter.formats.spelling import suggest

PRESENT = "present"
"""The value in `ends` for any value but null."""
_RULE = "cross-check "
"""What begins the rule of a finding that a cross-check shows."""
_KEYS = ("help", "insert", "append", "ends", "deltas", "open")
_OPEN_KEYS = ("branches", "says")
_CALL_KEYS = ("operation", "each", "args")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class AppendedCall:
    """An operation that is appended to a question, once for each element of the sort `each` ("":
    once). In `args` `{Sort}` is the element. A text that begins with `@` is the value at this path
    in the observation before the operation."""

    operation: str
    each: str = ""
    args: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeftOpen:
    """A difference that is no finding, since the charter leaves it open: the answers take some of
    these `branches`. `says` is the reason."""

    branches: frozenset[str]
    says: str


@dataclass(frozen=True, slots=True)
class CrossCheck:
    """A check without an expected answer. With `insert`: a question with these operations in it is
    answered as without them. With `append`: where the charter says so, a question with these
    operations behind it `ends` with these values. With `deltas`: the image after two steps agrees,
    however many steps lie between
    them. Some differences are left `open`."""

    name: str
    help: str
    insert: tuple[str, ...] = ()
    append: tuple[AppendedCall, ...] = ()
    ends: Mapping[str, Json] = field(default_factory=dict)
    deltas: bool = False
    open: tuple[LeftOpen, ...] = ()

    @property
    def operations(self) -> frozenset[str]:
        """The operations that it needs besides those of a question."""
        return frozenset((*self.insert, *(call.operation for call in self.append)))

    @property
    def rule(self) -> str:
        """Its name where findings have the branch of a rule."""
        return f"{_RULE}{self.name}"

    def ends_well(self, observation: Json) -> bool:
        """Whether an observation has the values of `ends`, each in one place at least."""
        return all(self._holds(observation, path, value) for path, value in self.ends.items())

    def _holds(self, observation: Json, path: str, wanted: Json) -> bool:
        found = [*_find(observation, path.split("."))]
        if wanted == PRESENT:
            return bool(found) and None not in found
        return bool(found) and all(value == wanted for value in found)


def is_crosscheck(rule: str) -> bool:
    """Whether the rule of a finding is a cross-check, and none of the charter."""
    return rule.startswith(_RULE)


def _find(value: Json, path: Sequence[str]) -> Iterator[Json]:
    """The values at a path, in which `*` is any key; none below a null."""
    if not path:
        yield value
    elif isinstance(value, dict):
        names = value.keys() if path[0] == "*" else [path[0]]
        for name in names:
            if name in value:
                yield from _find(value[name], path[1:])


def read_crosschecks(value: object) -> tuple[CrossCheck, ...]:
    """The `crosschecks` of an adapter.toml. Raises `ValueError`."""
    if not isinstance(value, Mapping):
        raise ValueError("'crosschecks' is no table; begin each of them with [crosschecks.NAME]")
    return tuple(_crosscheck(str(name), held) for name, held in value.items())


def _crosscheck(name: str, held: object) -> CrossCheck:
    what = f"the cross-check {name!r}"
    if not _NAME.fullmatch(name):
        raise ValueError(f"{what} has no name of small letters, digits and `_`")
    if not isinstance(held, Mapping):
        raise ValueError(f"{what} is no table; write [crosschecks.{name}]")
    _need_known(what, held, _KEYS)
    help = held.get("help")
    if not isinstance(help, str) or not help.strip():
        raise ValueError(f"{what} lacks 'help', the sentence that explains it")
    kinds = [key for key in ("insert", "append", "deltas") if key in held]
    if len(kinds) != 1:
        raise ValueError(f"{what} must have one of 'insert', 'append' and 'deltas'")
    if ("append" in held) != ("ends" in held):
        raise ValueError(f"{what} must have both 'append' and 'ends', or neither")
    insert, ends, deltas = held.get("insert", []), held.get("ends", {}), held.get("deltas", True)
    if not isinstance(insert, list) or not all(isinstance(one, str) for one in insert):
        raise ValueError(f"'insert' of {what} is no list of operations, as in [\"failover\"]")
    if not isinstance(ends, Mapping):
        raise ValueError(f"'ends' of {what} is no table of paths and values")
    if deltas is not True or ("insert" in held and not insert):
        raise ValueError(f"{what} checks nothing; fill 'insert', or write deltas = true")
    append = held.get("append", [])
    if not isinstance(append, list) or ("append" in held and not append):
        raise ValueError(f"'append' of {what} is no list of tables with an 'operation' each")
    calls = tuple(_call(what, one) for one in append)
    left = held.get("open", [])
    if not isinstance(left, list) or (left and not insert):
        raise ValueError(f"'open' of {what} is no list of tables next to 'insert'")
    opened = tuple(_read_open(what, one) for one in left)
    deltas = kinds == ["deltas"]
    return CrossCheck(name, help.strip(), tuple(insert), calls, {**ends}, deltas, opened)


def _read_open(what: str, held: object) -> LeftOpen:
    if not isinstance(held, Mapping):
        raise ValueError(f"'open' of {what} has something that is no table")
    _need_known(what, held, _OPEN_KEYS)
    branches, says = held.get("branches"), held.get("says")
    if not isinstance(branches, list) or not branches:
        raise ValueError(f"'open' of {what} lacks 'branches', the list of those that may differ")
    if not isinstance(says, str) or not says.strip():
        raise ValueError(f"'open' of {what} lacks 'says', the reason")
    return LeftOpen(frozenset(map(str, branches)), says.strip())


def _call(what: str, held: object) -> AppendedCall:
    if not isinstance(held, Mapping) or not isinstance(held.get("operation"), str):
        raise ValueError(f"'append' of {what} has something without the text 'operation'")
    _need_known(what, held, _CALL_KEYS)
    args, each = held.get("args", {}), held.get("each", "")
    if not isinstance(args, Mapping) or not isinstance(each, str):
        raise ValueError(f"{held['operation']!r} of {what} needs a table 'args' and a sort 'each'")
    return AppendedCall(str(held["operation"]), each, {**args})


def _need_known(what: str, held: Mapping[object, object], known: Sequence[str]) -> None:
    for key in held:
        if key not in known:
            like = suggest(str(key), known)
            raise ValueError(f"{what} has the unknown key {str(key)!r}{like and f'; {like}'}")


def fill_element(value: Json, sort: str, element: str) -> Json:
    """A value with an element in the place of `{Sort}`."""
    if isinstance(value, str):
        return value.replace(f"{{{sort}}}", element) if sort else value
    if isinstance(value, dict):
        return {name: fill_element(item, sort, element) for name, item in value.items()}
    if isinstance(value, list):
        return [fill_element(item, sort, element) for item in value]
    return value


def list_calls(check: CrossCheck, sorts: Mapping[str, Json]) -> Iterator[dict[str, Json]]:
    """The operations that a check appends, for the elements of a question's sorts."""
    for call in check.append:
        elements = mapping(sorts.get(call.each)) if call.each else {"": 0}
        for element in elements:
            args = fill_element({**call.args}, call.each, element)
            yield {"operation": call.operation, "args": own_object(args)}
