"""Arguments of cached functions that are compared by identity."""

from __future__ import annotations

from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


class ByIdentity(Generic[T_co]):
    """Something that is compared by identity, and held, so that nothing else gets this identity:
    models and trees do not change, and to compare two takes long."""

    def __init__(self, held: T_co) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and other.held is self.held

    def __hash__(self) -> int:
        return id(self.held)
