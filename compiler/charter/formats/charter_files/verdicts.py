"""Reads and writes what searches of a charter's instances found (docs/guide/verdicts.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal, get_args

from charter.formats.canonical import Json
from charter.formats.files import beside_charter, regular
from charter.formats.reading import BadVector, JsonReader

FOLDER = "verdicts"
FILE, PAGE = "verdicts.json", "README.md"
FORMAT = 5
OBJECTS = 1
"""The format in which each verdict is an object: it is read, not written. In format 2 only those in
`details` are; since 3 a witness is only the number of steps to it; since 4 a row of a variant has
no verdicts if they are those of its instance in the charter itself; since 5 a trace has numbers in
place of its steps, whose texts stand once in the file."""

Word = Literal["holds", "not exercised", "violated", "unknown", "found", "not found"]


LETTERS: Mapping[str, Word] = {"h": "holds", "n": "not exercised", "u": "unknown", "w": "not found"}
"""What a file has of a verdict without a trace. `.`: the instance has no such property; `*`: the
verdict stands in `details`."""
NONE, DETAILED = ".", "*"


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
    of levels. `complete`: all states were searched. `misstated`: what the lists `misses` and
    `fails` of the instance lack or have too much, each in a few words; empty with a variant or a
    mutant, as the lists are about the charter itself, and if not all states were searched.
    `out_of_date`: what was searched has changed since."""

    variant: str
    mutant: str
    machine: str
    instance: str
    digest: str
    states: int
    depth: int
    complete: bool
    verdicts: Mapping[str, PropertyVerdict]
    misstated: tuple[str, ...] = ()
    out_of_date: bool = False

    @property
    def place(self) -> SearchedPlace:
        """What was searched."""
        return SearchedPlace(self.variant, self.mutant, self.instance)

    @property
    def is_of_charter(self) -> bool:
        """Whether the charter itself was searched, without a variant or a mutant."""
        return not (self.variant or self.mutant)


def verdicts_file(charter: Path) -> Path:
    """The file of the verdicts of a charter: below its folder, or beside its file."""
    return beside_charter(charter, FOLDER) / FILE


def verdicts_text(rows: Iterable[InstanceVerdicts]) -> str:
    """The content of a file of verdicts: the properties of each machine, and a line for each
    instance, with a letter for each property."""
    shown = tuple(rows)
    names: dict[str, dict[str, None]] = {}
    for row in shown:
        names.setdefault(row.machine, {}).update(dict.fromkeys(row.verdicts))
    properties: dict[str, Json] = {machine: list(held) for machine, held in names.items()}
    own = {row.instance: row.verdicts for row in shown if row.is_of_charter}
    lines, steps = [], dict[str, int]()
    for row in shown:
        told = _row_json(row, tuple(names[row.machine]), steps)
        if row.variant and row.verdicts == own.get(row.instance):
            told = {name: value for name, value in told.items() if name not in ANSWERS}
        lines.append(_text(told))
    return (
        f'{{"format":{FORMAT},"properties":{_text(properties)},\n"steps":{_text([*steps])},'
        '"instances":[\n' + ",\n".join(lines) + "\n]}\n"
    )


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _row_json(
    row: InstanceVerdicts, names: Sequence[str], steps: dict[str, int]
) -> dict[str, Json]:
    """A row without what is as usual. `steps` gets the number of each text of a step."""
    whole: dict[str, Json] = asdict(row)
    letters = {word: letter for letter, word in LETTERS.items()}
    plain = {
        name: letters[one.word]
        for name, one in row.verdicts.items()
        if one.word in letters and one == PropertyVerdict(one.word)
    }
    others = {name: one for name, one in row.verdicts.items() if name not in plain}
    marks = dict.fromkeys(others, DETAILED) | plain
    whole["verdicts"] = "".join(marks.get(name, NONE) for name in names)
    for name in ("misstated", "out_of_date"):
        if not whole[name]:
            del whole[name]
    if others:
        whole["details"] = {name: _answer(one, steps) for name, one in others.items()}
    return whole


def _answer(one: PropertyVerdict, steps: dict[str, int]) -> Json:
    if one.steps is not None and one == PropertyVerdict("found", one.steps):
        return one.steps
    shown: dict[str, Json] = {"word": one.word}
    if one.steps is not None:
        shown["steps"] = one.steps
    if one.trace:
        shown["trace"] = [steps.setdefault(step, len(steps)) for step in one.trace]
    if one.expected:
        shown["expected"] = True
    return shown


def read_verdicts(path: Path) -> tuple[InstanceVerdicts, ...]:
    """The verdicts in a file; none if there is no file. Raises `BadVerdicts`."""
    if not path.exists():
        return ()
    try:
        raw: Json = json.loads(regular(path).read_text(encoding="utf-8"))
        whole = JsonReader(raw, "the file")
        if whole.object().get("format") == OBJECTS:
            whole.fields("format", "instances")
            return tuple(_row(row, _read_verdicts(row)) for row in whole.item("instances").items())
        if whole.value("format") not in (2, 3, 4, FORMAT):
            raise BadVector(f"it has another format than {FORMAT}")
        numbered = ("steps",) if whole.value("format") == FORMAT else ()
        whole.fields("format", "properties", *numbered, "instances")
        return _rows(whole, whole.item("steps").texts() if numbered else None)
    except OSError as error:
        raise BadVerdicts(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, BadVector, RecursionError) as error:
        raise BadVerdicts(
            f"{path} has no verdicts that can be read ({error}); delete it, and"
            " `conform verdicts CHARTER --write FOLDER` writes it anew"
        ) from None


COLUMNS = (
    "variant", "mutant", "machine", "instance", "digest", "states", "depth", "complete", "verdicts",
)  # fmt: skip
RARE = ("details", "misstated", "out_of_date")
ANSWERS = ("verdicts", "details")


def _read_verdicts(row: JsonReader) -> Mapping[str, PropertyVerdict]:
    row.fields(*COLUMNS)
    return {name: _verdict(answer, None) for name, answer in row.item("verdicts").entries()}


def _rows(whole: JsonReader, steps: tuple[str, ...] | None) -> tuple[InstanceVerdicts, ...]:
    """The rows of a file since format 2; `steps` are the texts of steps (None: before format 5)."""
    names = {machine: held.texts() for machine, held in whole.item("properties").entries()}
    rows = tuple(whole.item("instances").items())
    own = {
        row.text("instance"): _read_letters(row, names, steps)
        for row in rows if not (row.text("variant") or row.text("mutant"))
    }  # fmt: skip
    return tuple(
        _row(
            row,
            _read_letters(row, names, steps) if "verdicts" in row.object() else _as_own(row, own),
        )
        for row in rows
    )


def _read_letters(
    row: JsonReader, names: Mapping[str, tuple[str, ...]], steps: tuple[str, ...] | None
) -> Mapping[str, PropertyVerdict]:
    """The verdicts of a row that has a letter for each property of its machine."""
    rare = tuple(name for name in RARE if name in row.object())
    row.fields(*COLUMNS, *rare)
    others = dict(row.item("details").entries()) if "details" in rare else {}
    mine, marks = names.get(row.text("machine"), ()), row.text("verdicts")
    if len(mine) != len(marks):
        raise BadVector(f"{row.where}.verdicts: not a letter for each property of its machine")
    found: dict[str, PropertyVerdict] = {}
    for name, mark in zip(mine, marks, strict=True):
        if mark in LETTERS:
            found[name] = PropertyVerdict(LETTERS[mark])
        elif mark == DETAILED and name in others:
            found[name] = _verdict(others[name], steps)
        elif mark != NONE:
            raise BadVector(f"{row.where}.verdicts: `{mark}` says nothing of {name}")
    return found


def _as_own(
    row: JsonReader, own: Mapping[str, Mapping[str, PropertyVerdict]]
) -> Mapping[str, PropertyVerdict]:
    """The verdicts of a row of a variant that has those of the charter itself."""
    rare = tuple(name for name in RARE if name in row.object() and name not in ANSWERS)
    row.fields(*(name for name in COLUMNS if name not in ANSWERS), *rare)
    instance = row.text("instance")
    if instance not in own:
        raise BadVector(f"{row.where}: {instance} of the charter itself has no row")
    return own[instance]


def _row(row: JsonReader, verdicts: Mapping[str, PropertyVerdict]) -> InstanceVerdicts:
    return InstanceVerdicts(
        row.text("variant"),
        row.text("mutant"),
        row.text("machine"),
        row.text("instance"),
        row.text("digest"),
        row.item("states").integer(),
        row.item("depth").integer(),
        row.item("complete").raw is True,
        verdicts,
        row.item("misstated").texts() if "misstated" in row.object() else (),
        row.object().get("out_of_date") is True,
    )


def _verdict(answer: JsonReader, texts: tuple[str, ...] | None) -> PropertyVerdict:
    if isinstance(answer.raw, int):
        return PropertyVerdict("found", answer.integer())
    held = answer.object()
    word = answer.text("word")
    known: tuple[Word, ...] = get_args(Word)
    found = next((one for one in known if one == word), None)
    if found is None:
        raise BadVector(f"{answer.where}.word: not one of {', '.join(known)}")
    steps = answer.item("steps").integer() if "steps" in held else None
    trace = _trace(answer.item("trace"), texts) if "trace" in held else ()
    return PropertyVerdict(found, steps, trace, held.get("expected") is True)


def _trace(answer: JsonReader, texts: tuple[str, ...] | None) -> tuple[str, ...]:
    """The steps of a trace: numbers of `texts`; texts themselves before format 5 (None)."""
    if texts is None:
        return answer.texts()
    numbers = [(item.integer(), item.where) for item in answer.items()]
    for number, where in numbers:
        if number not in range(len(texts)):
            raise BadVector(f"{where}: no step has the number {number}")
    return tuple(texts[number] for number, _ in numbers)
