"""What searches of a charter's instances found: a file beside it (docs/guide/verdicts.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from charter.formats.canonical import Json
from charter.formats.files import beside_charter
from charter.formats.reading import BadVector, JsonReader

FOLDER = "verdicts"
FILE, PAGE = "verdicts.json", "README.md"
FORMAT = 1

Word = Literal["holds", "not exercised", "violated", "unknown", "found", "not found"]


class BadVerdicts(Exception):
    """A file of verdicts is wrong; the text is one sentence with the file and the remedy."""


@dataclass(frozen=True, slots=True)
class PropertyVerdict:
    """The answer for a property or a witness in an instance. `not exercised`: it holds, but a
    condition of it was never met. `steps` are the steps of a shortest trace to a violation, or to
    a witness (None: there is none), `trace` those steps of a violation as text. `expected`: the
    instance lists it under `fails`."""

    word: Word
    steps: int | None = None
    trace: tuple[str, ...] = ()
    expected: bool = False


@dataclass(frozen=True, slots=True)
class SearchedPlace:
    """What was searched: an instance, with a variant or a mutant ("": none)."""

    variant: str
    mutant: str
    instance: str


@dataclass(frozen=True, slots=True)
class InstanceVerdicts:
    """A search of an instance of a component or system (`machine`), with a variant or a mutant.
    `digest` is of the rules, the properties and the bounds that were searched. `depth`: the number
    of levels. `complete`: all states were searched."""

    variant: str
    mutant: str
    machine: str
    instance: str
    digest: str
    states: int
    depth: int
    complete: bool
    verdicts: Mapping[str, PropertyVerdict]

    @property
    def place(self) -> SearchedPlace:
        """What was searched."""
        return SearchedPlace(self.variant, self.mutant, self.instance)


def verdicts_file(charter: Path) -> Path:
    """The file of the verdicts of a charter: below its folder, or beside its file."""
    return beside_charter(charter, FOLDER) / FILE


def verdicts_text(rows: Iterable[InstanceVerdicts]) -> str:
    """The content of a file of verdicts: a line for each instance."""
    lines = (json.dumps(_shown(row), ensure_ascii=False, separators=(",", ":")) for row in rows)
    return f'{{"format":{FORMAT},"instances":[\n' + ",\n".join(lines) + "\n]}\n"


def _shown(row: InstanceVerdicts) -> dict[str, Json]:
    """A row without what is as usual."""
    whole: dict[str, Json] = asdict(row)
    whole["verdicts"] = {name: _answer(one) for name, one in row.verdicts.items()}
    return whole


def _answer(one: PropertyVerdict) -> Json:
    shown: dict[str, Json] = {"word": one.word}
    if one.steps is not None:
        shown["steps"] = one.steps
    if one.trace:
        shown["trace"] = list(one.trace)
    if one.expected:
        shown["expected"] = True
    return shown


def read_verdicts(path: Path) -> tuple[InstanceVerdicts, ...]:
    """The verdicts in a file; none if there is no file. Raises `BadVerdicts`."""
    if not path.exists():
        return ()
    try:
        raw: Json = json.loads(path.read_text(encoding="utf-8"))
        whole = JsonReader(raw, "the file").fields("format", "instances")
        if whole.value("format") != FORMAT:
            raise BadVector(f"it has another format than {FORMAT}")
        return tuple(_row(row) for row in whole.item("instances").items())
    except OSError as error:
        raise BadVerdicts(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, BadVector, RecursionError) as error:
        raise BadVerdicts(
            f"{path} has no verdicts that can be read ({error}); delete it, and"
            " `conform verdicts CHARTER --write FOLDER` writes it anew"
        ) from None


def _row(row: JsonReader) -> InstanceVerdicts:
    names = (
        "variant",
        "mutant",
        "machine",
        "instance",
        "digest",
        "states",
        "depth",
        "complete",
        "verdicts",
    )
    row.fields(*names)
    return InstanceVerdicts(
        row.text("variant"),
        row.text("mutant"),
        row.text("machine"),
        row.text("instance"),
        row.text("digest"),
        row.item("states").integer(),
        row.item("depth").integer(),
        row.item("complete").raw is True,
        {name: _verdict(answer) for name, answer in row.item("verdicts").entries()},
    )


def _verdict(answer: JsonReader) -> PropertyVerdict:
    held = answer.object()
    word = answer.text("word")
    known: tuple[Word, ...] = get_args(Word)
    found = next((one for one in known if one == word), None)
    if found is None:
        raise BadVector(f"{answer.where}.word: not one of {', '.join(known)}")
    steps = answer.item("steps").integer() if "steps" in held else None
    trace = answer.item("trace").texts() if "trace" in held else ()
    return PropertyVerdict(found, steps, trace, held.get("expected") is True)
