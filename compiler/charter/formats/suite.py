"""Reads and writes suites: vectors with a manifest. Here as JSON lines; the judge also keeps it as
Parquet.

The digest of a suite covers its manifest and the sorted `id answer-digest why-digest` lines of its
vectors, so it does not depend on how, or in which order, the vectors are stored.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.files import regular
from charter.formats.reading import BadVector, JsonReader
from charter.formats.types import JudgedTypes, read_types
from charter.formats.vector import FORMAT, Vector, read_line

MANIFEST = "manifest.json"
LINES = "vectors.jsonl"

OF_SMALL_SUITE = frozenset(
    {"obligations_covered", "obligations_open", "mutants_killed", "mutants_killed_in_some_runs"}
)
"""Counts of a manifest that are about the small suite in a full one, too."""

COVER_STATES = "cover_states"
"""The count of a manifest that only a suite with a state cover has: the states of its instance."""

SMALL_SUITE = "the small suite"
"""How a small suite is called in a verdict."""

_DIGEST = re.compile("[0-9a-f]{20}")
_MODEL = re.compile(r"charter_models(\.[A-Za-z_][A-Za-z0-9_]*)+")


def word_count(name: str) -> str:
    """A count of a manifest in words, with what it is about if that may be a part of the suite."""
    return f"{name.replace('_', ' ')}{' (small suite)' if name in OF_SMALL_SUITE else ''}"


@dataclass(frozen=True, slots=True)
class Models:
    """The Python modules of charter_models that the judge needs, by name.

    `charter` is the model of the suite's own rules; `overlays` maps each overlay to its entries,
    and those to the sibling model with this one entry applied (`@4.3.0`: with all entries that
    apply from that release on);
    `mutants` maps each mutant that the suite kills to its sibling model.
    """

    charter: str = ""
    overlays: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    mutants: Mapping[str, str] = field(default_factory=dict)

    def json(self) -> dict[str, Json]:
        return {
            "charter": self.charter,
            "overlays": {name: dict(entries) for name, entries in self.overlays.items()},
            "mutants": dict(self.mutants),
        }


@dataclass(frozen=True, slots=True)
class ExhaustedInstance:
    """The instance whose transitions a suite asks, all of them: its bounds, the operations that it
    offers, and those of which it offers some arguments only. It has `states` up to renaming, with
    so many `transitions`; `refused` of these are no question, `behind_choice` come only after a
    choice of the target, and `unsupported` need an operation that the target lacks."""

    name: str
    sorts: Mapping[str, int]
    consts: Mapping[str, int]
    operations: tuple[str, ...]
    restricted: tuple[str, ...]
    states: int
    transitions: int
    refused: int
    behind_choice: int
    unsupported: int = 0

    def json(self) -> dict[str, Json]:
        """As a manifest and a certificate have it."""
        return {
            "name": self.name,
            "sorts": dict(self.sorts),
            "consts": dict(self.consts),
            "operations": list(self.operations),
            "restricted": list(self.restricted),
            "states": self.states,
            "transitions": self.transitions,
            "refused": self.refused,
            "behind_choice": self.behind_choice,
            "unsupported": self.unsupported,
        }

    @staticmethod
    def read(reader: JsonReader) -> ExhaustedInstance:
        """From parsed JSON; one of an earlier version lacks `unsupported`. Raises `BadVector`."""
        numbers = ("states", "transitions", "refused", "behind_choice", "unsupported")
        reader = JsonReader({"unsupported": 0, **reader.object()}, reader.where)
        reader.fields("name", "sorts", "consts", "operations", "restricted", *numbers)
        return ExhaustedInstance(
            reader.text("name"),
            {name: item.integer() for name, item in reader.item("sorts").entries()},
            {name: item.integer() for name, item in reader.item("consts").entries()},
            reader.item("operations").texts(),
            reader.item("restricted").texts(),
            *(reader.item(name).integer() for name in numbers),
        )


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a suite is, without its vectors.

    `spec_digest` is the digest of the charter that the answers were computed from. `counts` are
    numbers from the generator. `canaries` maps each mutant of `models` to ids of vectors that
    distinguish it from the charter.
    """

    digest: str
    protocol: str
    variant: str
    component: str
    spec_digest: str
    vectors: int
    models: Models = Models()
    canaries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    consts: Mapping[str, str] = field(default_factory=dict)
    """The constants that the rules read, and their types; questions have values for them."""
    types: Mapping[str, Json] = field(default_factory=dict)
    """The types of replies and observations as text; empty in a suite of an earlier version."""
    asked_digest: str = ""
    """A digest of the scenarios and of the instances that questions were made from; "" in a suite
    of an earlier version, or of other origin."""
    exhausts: ExhaustedInstance | None = None
    """The instance of which the suite asks all transitions, besides the small suite."""
    small_digest: str = ""
    """The digest of the small suite that is part of one with a state cover, or of a standard one;
    "" in others, and in a suite of an earlier version."""

    @property
    def small(self) -> bool:
        """Whether it is a small suite: it has a ledger, and not the transitions of any instance.
        A suite of other origin, without counts, is neither small nor full."""
        return "obligations" in self.counts and "states" not in self.counts

    def read_types(self) -> JudgedTypes | None:
        """The types of replies and observations, if the suite has them."""
        return read_types(dict(self.types), "types") if self.types else None

    def seal(self, lines: str) -> Manifest:
        """The manifest with the digest of the suite, of all else that it says and of its vectors;
        `lines` is their `lines_digest`."""
        return replace(self, digest=canonical.digest({**self.json(), "digest": lines}))

    def json(self) -> dict[str, Json]:
        return {
            "format": FORMAT,
            "digest": self.digest,
            "protocol": self.protocol,
            "variant": self.variant,
            "component": self.component,
            "spec_digest": self.spec_digest,
            "vectors": self.vectors,
            "models": self.models.json(),
            "canaries": {name: list(ids) for name, ids in self.canaries.items()},
            "counts": dict(self.counts),
            **({"consts": dict(self.consts)} if self.consts else {}),
            **({"types": dict(self.types)} if self.types else {}),
            **({"asked_digest": self.asked_digest} if self.asked_digest else {}),
            **({"exhausts": self.exhausts.json()} if self.exhausts else {}),
            **({"small_digest": self.small_digest} if self.small_digest else {}),
        }


def digest_line(vector: Vector) -> str:
    """The line of one vector for the digest of its suite."""
    return f"{vector.id} {vector.answer.digest} {canonical.digest(vector.why.json())}"


def lines_digest(lines: Iterable[str]) -> str:
    """20 hexadecimal digits for the lines that `digest_line` made, in any order."""
    total = hashlib.sha256()
    for line in sorted(lines):
        total.update(line.encode())
        total.update(b"\n")
    return total.hexdigest()[:20]


def read_manifest(folder: Path) -> Manifest:
    """The manifest of the suite in `folder`. Raises `BadVector`, or OSError if there is none."""
    path = folder / MANIFEST
    try:
        value = json.loads(regular(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadVector(f"{path}: no JSON ({error})") from None
    return parse_manifest(value, str(path))


def parse_manifest(value: Json, where: str) -> Manifest:
    """A manifest from parsed JSON. Raises `BadVector`."""
    whole = JsonReader(value, where)
    names = ("consts", "types", "asked_digest", "exhausts", "small_digest")
    optional = [name for name in names if name in whole.object()]
    reader = whole.fields(
        "format", "digest", "protocol", "variant", "component", "spec_digest", "vectors",
        "models", "canaries", "counts", *optional,
    )  # fmt: skip
    if reader.value("format") != FORMAT:
        raise BadVector(
            f"{where}: the format is {reader.value('format')!r}, this program reads {FORMAT}"
        )
    models = reader.item("models").fields("charter", "overlays", "mutants")
    digest = reader.text("digest")
    if not _DIGEST.fullmatch(digest):  # it is the name of a folder in the cache
        raise BadVector(f"{where}: the digest is not 20 hexadecimal digits")
    return Manifest(
        digest=digest,
        protocol=reader.text("protocol"),
        variant=reader.text("variant"),
        component=reader.text("component"),
        spec_digest=reader.text("spec_digest"),
        vectors=reader.item("vectors").integer(),
        models=Models(
            _model(models, "charter") if models.text("charter") else "",
            {name: _models(item) for name, item in models.item("overlays").entries()},
            _models(models.item("mutants")),
        ),
        canaries={name: item.texts() for name, item in reader.item("canaries").entries()},
        counts={name: item.integer() for name, item in reader.item("counts").entries()},
        consts=_names(reader.item("consts")) if "consts" in optional else {},
        types=_types(reader.item("types")) if "types" in optional else {},
        asked_digest=reader.text("asked_digest") if "asked_digest" in optional else "",
        exhausts=ExhaustedInstance.read(reader.item("exhausts"))
        if "exhausts" in optional
        else None,
        small_digest=reader.text("small_digest") if "small_digest" in optional else "",
    )


def read_lines(path: Path) -> Iterator[Vector]:
    """The vectors of a JSON lines file. Raises `BadVector` with the line number."""
    with regular(path).open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield read_line(line, f"{path}:{number}")


def _types(reader: JsonReader) -> dict[str, Json]:
    read_types(reader.raw, reader.where)
    return reader.object()


def _model(reader: JsonReader, name: str) -> str:
    """The module of a model, which the judge imports: only generated ones are allowed."""
    module = reader.text(name)
    if not _MODEL.fullmatch(module):
        raise BadVector(
            f"{reader.where}: {name!r} names the model {module!r}, which is no generated model; the"
            " modules of those begin with charter_models"
        )
    return module


def _models(reader: JsonReader) -> dict[str, str]:
    return {name: _model(reader, name) for name in reader.object()}


def _names(reader: JsonReader) -> dict[str, str]:
    return {name: reader.text(name) for name in reader.object()}
