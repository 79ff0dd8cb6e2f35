"""Says of which type each opaque value is in a reply, an observation or a state.

Values of different types are never compared, so labels count by type (docs/formats/vector.md). For
most charters there is nothing to tell apart: they have one opaque counter at most, and one type of
opaque values without order. Where types are known, only the places are visited that can hold an
opaque value (`charter.formats.opaque_places`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from charter.formats.canonical import Json
from charter.formats.opaque_places import (
    ANYWHERE,
    Change,
    Places,
    Planning,
    change_fields,
    places_in,
)
from charter.formats.types import JudgedTypes

Variables = Mapping[str, Places]
"""Where the opaque values of each variable, or of the reply of each operation, are."""


@dataclass(frozen=True, slots=True)
class OpaqueTypes:
    """Where opaque values are; anywhere in what is not mentioned here. If they `differ`, there are
    several types, and labels depend on where a value is; else all values are of the type ""."""

    replies: Variables = field(default_factory=dict)
    observes: Variables = field(default_factory=dict)
    state: Variables = field(default_factory=dict)
    differ: bool = False

    @staticmethod
    def of(types: JudgedTypes | None) -> OpaqueTypes:
        """Those of a suite."""
        if types is None:
            return OpaqueTypes()
        planning = Planning(types.named, differ=bool(types.state))
        replies, observes, state = (
            {name: places_in(kind, planning) for name, kind in each.items()}
            for each in (types.replies, types.observes, types.state)
        )
        return OpaqueTypes(replies, observes, state, planning.differ)

    def reply(self, operation: str, value: Json, change: Change) -> Json:
        """The reply of an operation with its opaque values changed, in the order of a traversal
        with sorted keys."""
        places = self.replies.get(operation, ANYWHERE)
        return value if places is None else places.change(value, change)

    def observation(self, value: Json, change: Change) -> Json:
        """As `reply`, for an observation."""
        return _change_variables(self.observes, value, change)

    def whole(self, value: Json, change: Change) -> Json:
        """As `reply`, for all variables of a state."""
        return _change_variables(self.state, value, change)


def _change_variables(variables: Variables, value: Json, change: Change) -> Json:
    if not isinstance(value, dict):
        return ANYWHERE.change(value, change)
    fields = ((name, variables.get(name, ANYWHERE)) for name in sorted(value))
    return change_fields(value, fields, change)
