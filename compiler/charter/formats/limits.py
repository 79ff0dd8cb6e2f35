"""Reads what an adapter.toml says of the limits of a target: what it hides or cannot do, and which
findings that can touch (docs/formats/adapter.md, "Limits")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from charter.formats.canonical import Json
from charter.formats.reading import texts
from charter.formats.spelling import suggest

_LISTS = ("variables", "operations", "releases")


@dataclass(frozen=True, slots=True)
class TargetLimit:
    """Something that a target hides or cannot do, as a sentence. `variables` are state variables,
    or fields in them (`partition.elr`), and `operations` those in which a finding may depend on it;
    without both it may touch every finding. `releases`: the only ones, or their first parts."""

    says: str
    variables: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    releases: tuple[str, ...] = ()

    @property
    def touches_all(self) -> bool:
        """Whether every finding may depend on it."""
        return not self.variables and not self.operations

    def applies(self, release: str) -> bool:
        """Whether a release has it."""
        return not self.releases or any(is_within(release, one) for one in self.releases)

    def json(self) -> dict[str, Json]:
        """As run.json has it: the release is known there."""
        return {
            "says": self.says,
            "variables": list(self.variables),
            "operations": list(self.operations),
        }


def is_within(release: str, part: str) -> bool:
    """Whether `part` is a release, or the first part of it: "3.7" of "3.7.2"."""
    return f"{release}.".startswith(f"{part}.")


def read_limits(value: object, releases: Iterable[str]) -> tuple[TargetLimit, ...]:
    """The `limits` of an adapter.toml whose target has these releases. Raises `ValueError`."""
    if not isinstance(value, list):
        raise ValueError("'limits' is no list; begin each of them with [[limits]]")
    limits = tuple(map(_limit, value))
    known = tuple(releases)
    for limit in limits:
        for part in limit.releases:
            if not any(is_within(release, part) for release in known):
                raise ValueError(f"'limits' names the release {part}, which 'releases' lacks")
    return limits


def read_noted_limits(value: Json) -> tuple[TargetLimit, ...]:
    """The `limits` of a run.json; none in those of earlier versions."""
    held = [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
    return tuple(
        TargetLimit(
            str(item.get("says")), texts(item.get("variables")), texts(item.get("operations"))
        )
        for item in held
    )


def _limit(held: object) -> TargetLimit:
    if not isinstance(held, Mapping):
        raise ValueError("'limits' is no list of tables; begin each of them with [[limits]]")
    for name in held:
        if name not in ("says", *_LISTS):
            like = suggest(str(name), ("says", *_LISTS))
            raise ValueError(f"'limits' has the unknown key {name!r}{like and f'; {like}'}")
    says = held.get("says")
    if not isinstance(says, str) or not says.strip():
        raise ValueError("a limit lacks the sentence 'says', which is printed beside findings")
    lists = {name: held.get(name, []) for name in _LISTS}
    for name, names in lists.items():
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            raise ValueError(f'{name!r} of a limit is no list of texts, as in ["a", "b"]')
    return TargetLimit(says.strip(), *(tuple(map(str, lists[name])) for name in _LISTS))
