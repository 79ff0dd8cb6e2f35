"""The instances that a command is asked for, and searches of them, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from charter import api
from conform.console.errors import ConformError, Interrupted
from conform.console.progress import SearchListener, searching

T = TypeVar("T")


def instances_named(model: api.Model, pattern: str) -> tuple[str, ...]:
    """The names of the instances that match a pattern. Raises `ConformError`."""
    try:
        return api.instances(model, pattern)
    except api.Missing as error:
        raise ConformError(str(error)) from None


def each_searched(names: Sequence[str], search: Callable[[str, SearchListener], T]) -> list[T]:
    """The result of `search` for each instance, with a line of progress. Raises `ConformError` with
    the instance that cannot be searched, `Interrupted` with how many were."""
    found: list[T] = []
    try:
        for name in names:
            with searching() as progress:
                found.append(search(name, progress))
    except api.CannotExplore as error:
        raise ConformError(f"{names[len(found)]}: {error}") from None
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; {len(found)} of {len(names)} instances were searched"
        ) from None
    return found
