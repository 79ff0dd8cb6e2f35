"""Keeps what failed when a target was last judged by it: vectors by their ids, and questions. They
are in the cache, in a file for each release of a target and each choice of its parameters."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson

from charter.formats import canonical
from charter.formats.canonical import Json
from charter.formats.files import regular
from charter.formats.reading import BadVector, JsonReader
from charter.formats.run_description import RunDescription
from charter.formats.target import Target
from charter.formats.vector import Question, read_question
from charter.formats.verdict import JUDGED, Kind
from conform.runs.findings.findings import finding_id
from conform.runs.judged_rows import JudgedRows
from conform.runs.resume import DIGESTS
from conform.suites.cache import cache_folder

QUESTIONS_MAX = 100
"""The most questions that are remembered of a target."""
_MOST_VECTORS = 10_000
_TROUBLE_KINDS = frozenset({Kind.CRASHED, Kind.TIMED_OUT, Kind.ADAPTER_ERROR})
_FINE_KINDS = frozenset({Kind.CONFORMS, Kind.INCONCLUSIVE})


@dataclass(frozen=True, slots=True)
class FailedQuestion:
    """A question that failed when it was last put: it showed a `finding`, or broke the adapter
    (the name of the verdict). It was made from the `vector` with this id. `judged_with` is a digest
    of the files that it failed with ("": not known)."""

    question: Question
    finding: str
    vector: str
    judged_with: str = ""

    @property
    def id(self) -> str:
        """The id of the question."""
        return self.question.id

    @property
    def is_of_adapter(self) -> bool:
        """Whether the adapter failed, which says nothing about the implementation."""
        return self.finding.startswith(f"{Kind.ADAPTER_ERROR} ")

    def json(self) -> dict[str, Json]:
        """As the file has it."""
        return {"question": self.question.json(), "finding": self.finding, "vector": self.vector,
                "judged_with": self.judged_with}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FailedRecord:
    """The vectors of suites that failed, each with what it was judged with ("": not known), and the
    questions that failed, the oldest first."""

    vectors: Mapping[str, str] = field(default_factory=dict)
    questions: tuple[FailedQuestion, ...] = ()


def read_record(target: Target, release: str, parameters: Mapping[str, str]) -> FailedRecord:
    """What failed of a release of a target with these values of its parameters; nothing if that is
    not known."""
    return _read(_place(target, release, parameters))


def list_records(target: Target) -> Iterator[tuple[Mapping[str, str], FailedRecord]]:
    """What failed of all releases of a target, with the parameters of these runs (none: not
    known)."""
    for path in sorted(_place(target, "", {}).parent.glob(f"{target.id}-*.json")):
        held = _load(path)
        if held.get("folder") == str(target.folder.resolve()):
            given = held.get("parameters")
            named = given.items() if isinstance(given, dict) else ()
            yield {name: str(value) for name, value in named}, _read(path)


def write_record(
    target: Target, release: str, parameters: Mapping[str, str], record: FailedRecord
) -> None:
    """Keep what failed. It only changes what the next run asks first, so that it may fail."""
    path = _place(target, release, parameters)
    content = {
        "folder": str(target.folder.resolve()),
        "parameters": {**parameters},
        "vectors": dict([*record.vectors.items()][:_MOST_VECTORS]),
        "questions": [one.json() for one in record.questions[:QUESTIONS_MAX]],
    }
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        hidden = path.with_name(f"{path.name}.{os.getpid()}")
        hidden.write_bytes(orjson.dumps(content))
        hidden.replace(path)


def _place(target: Target, release: str, parameters: Mapping[str, str]) -> Path:
    values: list[Json] = [{**parameters}] if parameters else []
    place = canonical.digest([str(target.folder.resolve()), release, *values])[:8]
    return cache_folder() / "failed" / f"{target.id}-{place}.json"


def _load(path: Path) -> dict[str, Json]:
    try:
        held = orjson.loads(regular(path).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return held if isinstance(held, dict) else {}


def _read(path: Path) -> FailedRecord:
    """The content of a file; nothing if another version of conform wrote it."""
    try:
        held = JsonReader(_load(path), path.name)
        vectors = {name: str(one.raw) for name, one in held.item("vectors").entries()}
        return FailedRecord(vectors, tuple(map(_question, held.item("questions").items())))
    except BadVector:
        return FailedRecord()


def _question(item: JsonReader) -> FailedQuestion:
    question = read_question(item.value("question"))
    return FailedQuestion(
        question, item.text("finding"), item.text("vector"), item.text("judged_with")
    )


# --- what a run says of that ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AskedVerdicts:
    """The verdicts of a run, by id. `deviating` have a deviation that neither the overlay
    nor the baseline lists."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    deviating: frozenset[str] = frozenset()

    @classmethod
    def of(cls, judged: JudgedRows, known: frozenset[str]) -> AskedVerdicts:
        """Those of a run; the baseline lists the findings `known`."""
        deviations = judged.deviations.select(["id", "entry", "cause"]).to_pylist()
        deviating = frozenset(row["id"] for row in deviations if _is_new(row, known))
        ids, kinds = (judged.verdicts[name].to_pylist() for name in ("id", "kind"))
        return cls(dict(zip(ids, kinds, strict=True)), deviating)

    @property
    def failing(self) -> list[str]:
        """Those that broke the adapter, and those that deviate."""
        broke = {name for name, kind in self.kinds.items() if kind in _TROUBLE_KINDS}
        return sorted(self.deviating | broke)

    @property
    def fine(self) -> list[str]:
        """Those in which the implementation does nothing that the charter does not allow."""
        return sorted(name for name, kind in self.kinds.items() if kind in _FINE_KINDS)

    @property
    def good(self) -> frozenset[str]:
        """Those that were judged and do not fail: what deviates in them is listed."""
        judged = (name for name, kind in self.kinds.items() if kind in JUDGED)
        return frozenset(judged) - self.deviating


def list_unsteady(
    target: Target, about: RunDescription, judged: AskedVerdicts,
    remembered: AskedVerdicts | None = None,
) -> tuple[str, ...]:  # fmt: skip
    """Which vectors of a run, and which `remembered` questions, are fine now and failed before with
    the same files (`about`: run.json, or what it says of release, parameters, implementation, files
    and charter)."""
    judged_by, before = digest_judging(about), read_record(target, about.release, about.parameters)
    then = {**before.vectors, **{one.id: one.judged_with for one in before.questions}}
    fine = (*judged.fine, *(remembered or AskedVerdicts()).fine)
    return tuple(name for name in fine if judged_by and then.get(name) == judged_by)


def record_failed(
    target: Target, about: RunDescription, judged: AskedVerdicts,
    remembered: AskedVerdicts | None = None, *, trusted: bool = True,
) -> None:  # fmt: skip
    """Keep which of the vectors of a run failed. Others of them do not fail any more, nor do
    `remembered` questions that were put; a run that is not `trusted` drops no question."""
    release, judged_by = about.release, digest_judging(about)
    before = read_record(target, release, about.parameters)
    kept = dict.fromkeys(judged.failing, judged_by)
    kept |= {name: before.vectors[name] for name in sorted(before.vectors.keys() - judged.kinds)}
    apart = remembered or AskedVerdicts()
    failing = frozenset(apart.failing)
    questions = tuple(
        replace(one, judged_with=judged_by) if one.id in failing else one
        for one in before.questions
        if not (trusted and (one.id in apart.good or judged.good & {one.vector, one.id}))
    )
    write_record(target, release, about.parameters, FailedRecord(kept, questions))


def digest_judging(about: RunDescription) -> str:
    """A digest of the files of an implementation and of what it was judged with; "" if nobody knows
    which files it has."""
    if about.sources is None:
        return ""
    held = about.json()
    names = ("spec_digest", "entries", "implementation", *DIGESTS)
    return canonical.digest([*(held[name] for name in names), held.get("parameters", {})])


def _is_new(row: Mapping[str, str], known: frozenset[str]) -> bool:
    return not row["entry"] and finding_id("", row["cause"]) not in known
