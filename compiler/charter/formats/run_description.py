"""Reads and writes run.json, the description of a run (docs/formats/run.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from charter.formats.canonical import Json
from charter.formats.limits import TargetLimit, read_noted_limits
from charter.formats.reading import mapping, texts

_LEFT_OUT = frozenset(
    {"types", "rejudged", "continued", "walks", "parameters", "remembered", "hidden", "followed"}
    | {"crosschecks"}
)
"""Fields that run.json has only if they are not empty."""
WALKS_OF_BLOCK = 64
"""The walks that are chosen together; a block of them is a bucket of a run."""
FOLLOWED_OF_BLOCK = 64
"""The questions of a suite that go on in one bucket of a run."""
TRIED_OF_BLOCK = 64
"""The places of cross-checks that are tried in one bucket of a run."""


@dataclass(frozen=True, slots=True)
class WalkSettings:
    """The walks of a run: how many, how many steps each has, the seed, after how many seconds they
    are cut (0: never), and the instance that they are in ("": all of them)."""

    count: int = 0
    steps: int = 20
    seed: int = 1
    seconds: int = 0
    instance: str = ""

    def __bool__(self) -> bool:
        return self.count > 0

    @property
    def blocks(self) -> int:
        """The number of blocks of 64 walks."""
        return -(-self.count // WALKS_OF_BLOCK)

    def numbers(self, block: int) -> range:
        """The numbers of the walks of a block."""
        first = block * WALKS_OF_BLOCK
        return range(first, min(first + WALKS_OF_BLOCK, self.count))

    def json(self) -> dict[str, Json]:
        """As run.json has it."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def read(cls, value: Json) -> WalkSettings:
        """What a run.json says; nothing if that is of another type."""
        held = value if isinstance(value, dict) else {}
        count, steps, seed, seconds = (
            _number(held.get(name, 0)) for name in ("count", "steps", "seed", "seconds")
        )
        return cls(count, steps, seed, seconds, _text(held.get("instance", "")))


NO_WALKS = WalkSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDescription:
    """The content of run.json: target, adapter, suite, and what verdicts depend on. `models`,
    `adapter`, `sources` and `prepared` are digests of files, `remembered` is one of the questions
    that come before the suite. `sources` is None if adapter.toml
    names none: then the implementation may be another one each time. `hidden` are the state
    variables that the target does not show, for which `followed` questions go on. `crosschecks` is
    how many places of cross-checks are tried. A field that an
    earlier version did not write (`lacks`) is empty."""

    id: str = ""
    format: int = 1
    started: str = ""
    target: str = ""
    found_by: str = ""
    title: str = ""
    release: str = ""
    implementation: Mapping[str, str] = field(default_factory=dict)
    component: str = ""
    protocol: str = ""
    variant: str = ""
    observes: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    operations: tuple[str, ...] = ()
    suite: str = ""
    suite_vectors: int = 0
    suite_counts: Mapping[str, int] = field(default_factory=dict)
    spec_digest: str = ""
    overlay: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    not_compared: Mapping[str, str] = field(default_factory=dict)
    limits: tuple[TargetLimit, ...] = ()
    engine: str = ""
    buckets: int = 0
    limit: int = 0
    command: tuple[str, ...] = ()
    types: Mapping[str, Json] = field(default_factory=dict)
    entries: Mapping[str, str] = field(default_factory=dict)
    models: str = ""
    adapter: str = ""
    sources: Mapping[str, str] | None = None
    prepared: Mapping[str, str] = field(default_factory=dict)
    selection: Mapping[str, Json] = field(default_factory=dict)
    folder: str = ""
    rejudged: str = ""
    continued: int = 0
    walks: WalkSettings = NO_WALKS
    parameters: Mapping[str, str] = field(default_factory=dict)
    remembered: str = ""
    hidden: tuple[str, ...] = ()
    followed: int = 0
    crosschecks: int = 0
    lacks: frozenset[str] = frozenset()

    @property
    def walk_buckets(self) -> int:
        """The number of buckets with vectors of the suite and with walks; those with questions that
        go on come after them."""
        return self.buckets - self.apart_buckets

    @property
    def apart_buckets(self) -> int:
        """The number of buckets with questions that go on, with cross-checks, and with remembered
        questions."""
        blocks = -(-self.followed // FOLLOWED_OF_BLOCK) - (-self.crosschecks // TRIED_OF_BLOCK)
        return blocks + bool(self.remembered)

    @property
    def suite_buckets(self) -> int:
        """The number of buckets with vectors of the suite; those with walks come after them, then
        those with questions that go on, and with cross-checks. The one with remembered questions
        is the last."""
        return self.walk_buckets - self.walks.blocks

    @classmethod
    def read(cls, held: Mapping[str, Json]) -> RunDescription:
        """What a run.json says; what is of no known type counts as empty."""
        readers = {each.name: _READERS[str(each.type)] for each in fields(cls)
                   if each.name != "lacks"}  # fmt: skip
        known = {name: read(held[name]) for name, read in readers.items() if name in held}
        return cls(**known, lacks=frozenset(readers.keys() - held.keys()))

    def json(self) -> dict[str, Json]:
        """As run.json has it, without what an earlier version did not write."""
        held = {each.name: getattr(self, each.name) for each in fields(self)
                if each.name != "lacks"}  # fmt: skip
        left_out = self.lacks | _LEFT_OUT
        return {name: _json(one) for name, one in held.items() if one or name not in left_out}


def _json(value: object) -> Json:
    match value:
        case TargetLimit() | WalkSettings():
            return value.json()
        case Mapping():
            return {**value}
        case tuple():
            return [_json(item) for item in value]
        case _:
            assert value is None or isinstance(value, str | int)
            return value


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _number(value: Json) -> int:
    return value if isinstance(value, int) else 0


def _text_by_name(value: Json) -> Mapping[str, str]:
    return {name: str(text) for name, text in mapping(value).items()}


_READERS: Mapping[str, Callable[[Json], Any]] = MappingProxyType(
    {
        "str": _text,
        "int": _number,
        "tuple[str, ...]": texts,
        "tuple[TargetLimit, ...]": read_noted_limits,
        "Mapping[str, Json]": mapping,
        "WalkSettings": WalkSettings.read,
        "Mapping[str, int]": mapping,
        "Mapping[str, str]": _text_by_name,
        "Mapping[str, str] | None": lambda value: None if value is None else _text_by_name(value),
    }
)
"""How a field is read, by its type."""
