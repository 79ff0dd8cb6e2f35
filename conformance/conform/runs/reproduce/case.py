"""Describes the ways through that show a finding: operations, and what is compared at the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from charter.formats.canonical import Json
from conform.console.errors import ConformError

SHOWS, LEFT_OUT = "shows", "left_out"
"""The names of the two cases: all operations, and those without the causes."""
Question = dict[str, Json]


class CannotReproduce(ConformError):
    """A finding does not show, or nothing leads to it; the text has the remedy."""

    exit_code = 1


@dataclass(frozen=True, slots=True)
class CaseCheck:
    """A place that is compared after the last operation: a path into the state, into the reply, or
    into the image (none: whether it can be made)."""

    path: tuple[str, ...]
    expected: Json
    observed: Json
    is_reply: bool = False
    in_image: bool = False

    @property
    def place(self) -> str:
        """The path in words, as `reply.fenced` or `partition.t1.isr`."""
        first = ("reply",) if self.is_reply else ("image",) if self.in_image else ()
        return ".".join((*first, *self.path))


@dataclass(frozen=True, slots=True)
class KeptValue:
    """A value that a later operation needs, to be noted under this name once the step is done."""

    name: str
    path: tuple[Json, ...]
    in_reply: bool


@dataclass(frozen=True, slots=True)
class CaseStep:
    """An operation with its arguments. A reference has the key `now` if its value is still there
    before the operation, and else `kept`, the name under which an earlier step noted it. `reply` is
    None if nothing is compared with it. `published`: an image is made after it."""

    number: int
    operation: str
    args: Mapping[str, Json]
    call: str
    reply: Json
    published: bool = False
    keeps: tuple[KeptValue, ...] = ()


@dataclass(frozen=True, slots=True)
class ReproducedCase:
    """Operations on a target, and what is compared after the last. `entries`: the findings that it
    shows; `gone` are the operations of the path that it leaves out."""

    name: str
    steps: tuple[CaseStep, ...]
    checks: tuple[CaseCheck, ...]
    entries: frozenset[str]
    gone: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether something is not as expected after the last operation."""
        return any(check.expected != check.observed for check in self.checks)
