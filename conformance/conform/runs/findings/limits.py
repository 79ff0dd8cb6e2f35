"""Finds which limits of a target a finding may depend on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from charter.formats.canonical import Json
from charter.formats.limits import TargetLimit
from charter.formats.run_description import RunDescription
from charter.formats.types import JudgedTypes
from conform.storage.observations import types_of


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits of a target in a run, and the types of its suite (None: not known)."""

    limits: tuple[TargetLimit, ...] = ()
    types: JudgedTypes | None = None

    @classmethod
    def of(cls, about: RunDescription) -> RunLimits:
        """Those that a run.json notes. Raises `BadRun`."""
        return cls(about.limits, types_of(about))

    def touching(self, branches: Iterable[str], paths: Iterable[str]) -> tuple[str, ...]:
        """The sentences of the limits that a finding in these branches may depend on, which
        differs at these paths; not of those that touch every finding."""
        operations = {branch.partition("/")[0] for branch in branches}
        places = [self._fields(path.removeprefix("image.")) for path in paths]
        return tuple(
            limit.says
            for limit in self.limits
            if not operations.isdisjoint(limit.operations)
            or any(_meet(name.split("."), place) for name in limit.variables for place in places)
        )

    def _fields(self, path: str) -> tuple[str, ...]:
        return self.types.fields(path) if self.types else (path.partition(".")[0],)


NO_LIMITS = RunLimits()


def general_limits(about: RunDescription) -> tuple[str, ...]:
    """The sentences of the limits that touch every finding of a run."""
    return tuple(one.says for one in about.limits if one.touches_all)


def images_told(summary: Mapping[str, Json]) -> tuple[str, ...]:
    """A sentence about what no image of a run shows; none if there is nothing."""
    lacking = summary.get("images_lack")
    if not isinstance(lacking, list) or not lacking:
        return ()
    return (f"its images never show {', '.join(map(str, lacking))}",)


def _meet(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether one place is the other, or in it."""
    shared = min(len(one), len(other))
    return shared > 0 and [*one[:shared]] == [*other[:shared]]
