"""Says of which type each opaque value is in a reply, an observation or a state.

Values of different types are never compared, so labels count by type (docs/formats/vector.md). For
most charters there is nothing to tell apart: they have one opaque counter at most, and one type of
opaque values without order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.types import DeclaredType, JudgedTypes

MARKS = ("@", "~", "#")
"""How an opaque value begins: as received, ordered or not, or as a label."""

Change = Callable[[str, str], str]
"""From the name of a type and an opaque value to what takes its place."""


@dataclass(frozen=True, slots=True)
class OpaqueTypes:
    """Where values of which types are. All of them are empty if there is nothing to tell apart:
    then all values are of the type ""; so are values in places where none is expected."""

    replies: Mapping[str, DeclaredType] = field(default_factory=dict)
    observes: Mapping[str, DeclaredType] = field(default_factory=dict)
    state: Mapping[str, DeclaredType] = field(default_factory=dict)
    named: Mapping[str, DeclaredType] = field(default_factory=dict)

    @staticmethod
    def of(types: JudgedTypes | None) -> OpaqueTypes:
        """Those of a suite."""
        if types is None or not types.state:
            return OpaqueTypes()
        return OpaqueTypes(types.replies, types.observes, types.state, types.named)

    @property
    def differ(self) -> bool:
        """Whether there are several types, so that labels depend on where a value is."""
        return bool(self.state)

    def reply(self, operation: str, value: Json, change: Change) -> Json:
        """The reply of an operation with its opaque values changed, in the order of a traversal
        with sorted keys."""
        return self._change(self.replies.get(operation), value, change)

    def observation(self, value: Json, change: Change) -> Json:
        """As `reply`, for an observation."""
        return self._variables(self.observes, value, change)

    def whole(self, value: Json, change: Change) -> Json:
        """As `reply`, for all variables of a state."""
        return self._variables(self.state, value, change)

    def _variables(self, shapes: Mapping[str, DeclaredType], value: Json, change: Change) -> Json:
        if not isinstance(value, dict):
            return self._change(None, value, change)
        return {name: self._change(shapes.get(name), value[name], change) for name in sorted(value)}

    def _change(self, shape: DeclaredType | None, value: Json, change: Change) -> Json:
        if isinstance(value, str):
            return change(self._type_of(shape), value) if value[:1] in MARKS else value
        if isinstance(value, dict):
            inside = self._parts(shape, value)
            return {
                name: self._change(inside.get(name), value[name], change) for name in sorted(value)
            }
        if isinstance(value, list):
            return self._items(self._strip(shape), value, change)
        return value

    def _type_of(self, shape: DeclaredType | None) -> str:
        """The name of the type of an opaque value in a place of this type; "" if none is expected
        there."""
        while shape is not None:
            if shape.kind == "option":
                shape = shape.parts[0][1]
            elif shape.kind == "name":
                inner = self.named[shape.names[0]]
                if inner.kind in ("ordered", "opaque"):
                    return shape.names[0]
                shape = inner
            else:
                return ""
        return ""

    def _strip(self, shape: DeclaredType | None) -> DeclaredType | None:
        """A type without its name and without `option`."""
        while shape is not None and shape.kind in ("option", "name"):
            shape = shape.parts[0][1] if shape.kind == "option" else self.named[shape.names[0]]
        return shape

    def _parts(
        self, shape: DeclaredType | None, value: Mapping[str, Json]
    ) -> Mapping[str, DeclaredType]:
        """The types of the fields of an object."""
        meant = self._strip(shape)
        if meant is None:
            return {}
        match meant.kind:
            case "record":
                return dict(meant.parts)
            case "union":
                case = dict(meant.parts).get(str(value.get("case")))
                return dict(case.parts) if case is not None else {}
            case "map":
                return dict.fromkeys(value, meant.parts[1][1])
            case _:
                return {}

    def _items(self, meant: DeclaredType | None, value: list[Json], change: Change) -> Json:
        if meant is None or meant.kind not in ("list", "set", "map"):
            return [self._change(None, item, change) for item in value]
        if meant.kind == "map":
            return _in_order([self._pair(meant, item, change) for item in value])
        changed = [self._change(meant.parts[0][1], item, change) for item in value]
        return _in_order(changed) if meant.kind == "set" else changed

    def _pair(self, meant: DeclaredType, value: Json, change: Change) -> Json:
        """An entry of a map that is written as an array of pairs."""
        if not isinstance(value, list) or len(value) != len(meant.parts):
            return self._change(None, value, change)
        return [
            self._change(part, item, change)
            for (_, part), item in zip(meant.parts, value, strict=True)
        ]


def _in_order(items: list[Json]) -> list[Json]:
    """The changed elements of a set or map: numbers of two types, which mean nothing to each other,
    may have decided on their order."""
    return sorted(items, key=canonical.order_key)
