"""Numbers for the operations and steps of several versions of a protocol: two have the same number
if they are equal, and so are all that they call and the variables of their machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from charter.core import nodes as n
from charter.core.affected import Body, Declared, list_called, list_declared, parts_of

_Compared = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Version:
    """One version of a declaration: what is compared of it, its number among the versions of this
    declaration, and what it calls itself."""

    compared: _Compared
    number: int
    calls: frozenset[Declared]


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions that were seen so far."""

    _seen: dict[Declared, list[_Version]] = field(default_factory=dict)
    _numbers: dict[tuple[Declared, frozenset[tuple[Declared, int]]], int] = field(
        default_factory=dict
    )

    def of(self, model: n.Model) -> Mapping[Declared, int]:
        """The number of each operation and step of a protocol. Those of one number have the same
        outcomes in the same state, with the same arguments, sorts and constants."""
        parts = parts_of(model)
        here = {
            key: self._version(key, x, parts.get(key[0], {})) for key, x in list_declared(model)
        }
        return {key: self._number(key, here) for key in here if _is_operation(key)}

    def _version(self, key: Declared, body: Body, parts: Mapping[str, str]) -> _Version:
        compared, versions = _select_compared(body, parts), self._seen.setdefault(key, [])
        for known in versions:
            if known.compared == compared:
                return known
        needed = [(key[0], "")] if _is_operation(key) else []
        calls = () if isinstance(body, n.Component | n.System) else list_called(body, parts)
        versions.append(_Version(compared, len(versions), frozenset([*calls, *needed])))
        return versions[-1]

    def _number(self, key: Declared, here: Mapping[Declared, _Version]) -> int:
        reached, waiting = {key}, [key]
        while waiting:
            more = here[waiting.pop()].calls - reached
            reached |= more
            waiting += more
        numbered = frozenset((each, here[each].number) for each in reached)
        return self._numbers.setdefault((key, numbered), len(self._numbers))


def _is_operation(key: Declared) -> bool:
    """Whether this is an operation or a step: it has a machine and a name."""
    return all(key)


def _select_compared(body: Body, parts: Mapping[str, str]) -> _Compared:
    """What is compared of a declaration; of a step also which components its system has. Initial
    values do not matter: operations begin in a given state."""
    match body:
        case n.Function() | n.Operation():
            return (body,)
        case n.Step():
            return body, parts
        case n.Component():
            return tuple((v.name, v.type) for v in body.state)
        case n.System():
            # Its state has that of all parts: a step is numbered with what it reads of a part
            # whose operations it does not call.
            return body.parts, tuple((v.name, v.type) for v in body.state)
        case _:
            assert_never(body)
