"""Selects the instances that a command names, and searches them one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from charter import api
from conform.console.errors import ConformError, Interrupted
from conform.console.progress import SearchListener, searching
from conform.console.terminal import say

T = TypeVar("T")
CANNOT = (api.CannotExplore, api.NoInitialState, api.TooManyValues)
"""Why an instance cannot be searched at all; the message is one sentence."""


def code_of(error: Exception) -> int:
    """The exit code of a command that goes on without an instance: 3, not known; or 1, a finding,
    if an initial value does not exist."""
    return 1 if isinstance(error, api.NoInitialState) else 3


def instances_named(model: api.Model, pattern: str) -> tuple[str, ...]:
    """The names of the instances that match a pattern. Raises `ConformError`."""
    try:
        return api.instances(model, pattern)
    except api.Missing as error:
        raise ConformError(str(error)) from None


@dataclass(slots=True)
class NotSearched:
    """The instances that could not be searched, each with the reason, and the exit code of a
    command that goes on without them."""

    why: dict[str, str] = field(default_factory=dict)
    code: int = 0

    def add(self, name: str, error: Exception, *, is_finding: bool = True) -> None:
        """Tell that an instance could not be searched. The exit code is that of the error, or 3 if
        this is no finding."""
        code = code_of(error) if is_finding else 3
        self.code = 1 if code == 1 else self.code or 3
        self.why[name] = str(error)
        say(f"{name} is not searched: {error}")

    def refuse(self, file: object) -> None:
        """Tell, if there are such instances, that a file is not written without them."""
        if self.why:
            say(f"{file} is not written, since it would lack {', '.join(self.why)}")


@dataclass(frozen=True, slots=True)
class EachSearched(Generic[T]):
    """The results of searches by instance, and the instances that could not be searched."""

    found: Mapping[str, T]
    failed: NotSearched


def each_searched(
    names: Sequence[str], search: Callable[[str, SearchListener], T]
) -> EachSearched[T]:
    """The result of `search` for each instance, with a line of progress; an instance that cannot be
    searched is told. Raises `Interrupted` with how many were searched."""
    found: dict[str, T] = {}
    failed = NotSearched()
    try:
        for name in names:
            try:
                with searching() as progress:
                    found[name] = search(name, progress)
            except CANNOT as error:
                failed.add(name, error)
    except KeyboardInterrupt as ended:
        raise Interrupted(
            f"interrupted; {len(found)} of {len(names)} instances were searched", ended
        ) from None
    return EachSearched(found, failed)
