"""Defines what the judge says about one vector on one target (docs/formats/run.md)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from charter.formats.canonical import Json

STDERR = "; stderr: "
"""What stands in a detail between how an adapter ended and what it wrote to stderr."""
BETWEEN = " | "
"""What stands in a detail between lines of stderr."""


class Kind(StrEnum):
    """The kinds of verdict. They are never merged: each is counted for itself.

    Only the first three speak of the implementation's behaviour.
    """

    CONFORMS = "conforms"
    DIVERGES = "diverges"
    INCONCLUSIVE = "inconclusive"
    UNSUPPORTED = "unsupported"
    NOT_LOADABLE = "not_loadable"
    UNRESOLVED = "unresolved"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    ADAPTER_ERROR = "adapter_error"


JUDGED = frozenset({Kind.CONFORMS, Kind.DIVERGES, Kind.INCONCLUSIVE})
"""The kinds in which all or part of the vector was compared with the charter."""


class Severity(StrEnum):
    """What differs, the gravest first."""

    FAULT = "fault"
    STATE = "state"
    REPLY = "reply"
    IMAGE = "image"


@dataclass(frozen=True, slots=True)
class Deviation:
    """One transition that the charter does not allow.

    `step` counts from 0 (the state before the first operation). `expected` is what the charter
    allows from where the run was: `[{"branch", "reply", "observation"}, ...]`; `observed` is
    `{"reply", "observation", "image"}`, both renamed (charter.formats.labels). `before` is the
    observation before the step. `branch` is the nearest expected branch. `entries` are the overlay
    entries that explain it, each alone; empty for a new one. `values` say in sentences which
    earlier values the opaque values equal that differ.
    """

    step: int
    operation: str
    args: Json
    branch: str
    severity: Severity
    before: Json
    expected: Json
    observed: Json
    entries: tuple[str, ...] = ()
    values: tuple[str, ...] = ()

    def json(self) -> dict[str, Json]:
        return {
            "step": self.step,
            "operation": self.operation,
            "args": self.args,
            "branch": self.branch,
            "severity": str(self.severity),
            "before": self.before,
            "expected": self.expected,
            "observed": self.observed,
            "entries": list(self.entries),
            "values": list(self.values),
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement of one vector.

    `judged` operations were compared with the charter, `not_judged` were not (the state could not
    be followed, or the run had ended). `branches` holds for each judged step the branch it took,
    "" where the charter allows the outcome by more than one, or by none.
    """

    id: str
    kind: Kind
    detail: str = ""
    deviations: tuple[Deviation, ...] = ()
    branches: tuple[str, ...] = ()
    judged: int = 0
    not_judged: int = 0

    @property
    def first(self) -> Deviation | None:
        """The deviation that comes first."""
        return self.deviations[0] if self.deviations else None

    @property
    def new(self) -> bool:
        """Whether a deviation is not explained by an entry of the overlay."""
        return any(not deviation.entries for deviation in self.deviations)
