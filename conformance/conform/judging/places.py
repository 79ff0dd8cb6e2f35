"""Decides which lists of a run are sequences and which are sets, by the types of its suite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from charter.formats.canonical import Json
from charter.formats.types import DeclaredType, JudgedTypes

_NO_TYPES: Mapping[str, DeclaredType] = {}


@dataclass(frozen=True, slots=True)
class ValuePlace:
    """A place in a value. `type` is None where it is not known: then a list below one of the names
    `ordered` is a sequence, and another one a set if `sure`."""

    type: DeclaredType | None = None
    named: Mapping[str, DeclaredType] = field(default_factory=lambda: _NO_TYPES)
    ordered: frozenset[str] = frozenset()
    name: str = ""
    sure: bool = False

    @property
    def meant(self) -> DeclaredType | None:
        """The type without its name and without `option`."""
        kind = self.type
        while kind is not None and kind.kind in ("option", "name"):
            kind = kind.parts[0][1] if kind.kind == "option" else self.named.get(kind.names[0])
        return kind

    @property
    def is_map(self) -> bool:
        """Whether a list has the entries of a map."""
        return self.meant is not None and self.meant.kind == "map"

    @property
    def sequence(self) -> bool | None:
        """Whether the order of a list means something; None if that is not known."""
        meant = self.meant
        if meant is not None:
            return {"list": True, "set": False, "map": False}.get(meant.kind)
        if self.name in self.ordered:
            return True
        return False if self.sure else None

    def at(self, name: str, value: Json = None) -> ValuePlace:
        """The place of a field; `value` is the object that has it."""
        meant = self.meant
        if meant is None:
            below = self.name if self.name in self.ordered else name  # a map of sequences
            return ValuePlace(None, self.named, self.ordered, below, self.sure)
        parts = dict(meant.parts)
        if meant.kind == "union":
            chosen = parts.get(str(value.get("case"))) if isinstance(value, dict) else None
            parts = dict(chosen.parts) if chosen is not None else {}
        elif meant.kind == "map":
            return ValuePlace(meant.parts[1][1], self.named)
        return ValuePlace(
            parts.get(name) if meant.kind in ("record", "union") else None, self.named
        )

    def item(self) -> ValuePlace:
        """The place of the elements of a list."""
        meant = self.meant
        if meant is None or meant.kind not in ("list", "set"):
            return ValuePlace(None, self.named, self.ordered, "", self.sure)
        return ValuePlace(meant.parts[0][1], self.named)


UNKNOWN = ValuePlace()


@dataclass(frozen=True, slots=True)
class ValuePlaces:
    """The places in the steps of a run. `types` are those of its suite (None: not known). `ordered`
    are the names of variables, fields and parameters that are sequences (None: not known)."""

    types: JudgedTypes | None = None
    ordered: frozenset[str] | None = None

    def argument(self, name: str) -> ValuePlace:
        """An argument of an operation."""
        known = self.ordered is not None
        return ValuePlace(None, ordered=self.ordered or frozenset(), name=name, sure=known)

    @property
    def observation(self) -> ValuePlace:
        """What is observed of a state."""
        if self.types is None:
            return ValuePlace(ordered=self.ordered or frozenset())
        whole = DeclaredType("record", parts=tuple(self.types.observes.items()))
        return ValuePlace(whole, self.types.named)

    def reply(self, operation: str) -> ValuePlace:
        """The reply of an operation."""
        if self.types is None:
            return ValuePlace(ordered=self.ordered or frozenset())
        return ValuePlace(self.types.replies.get(operation), self.types.named)


NOT_KNOWN = ValuePlaces()
"""The places of a run of which nothing is known."""
