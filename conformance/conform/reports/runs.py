"""Loads runs for a report: JSON files as a whole, datasets by column."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute

from charter.formats.canonical import Json
from charter.formats.reading import mapping, own_number
from charter.formats.run_description import RunDescription
from charter.formats.vector import Question, Why, read_question, read_why
from conform.console.errors import BadSuite
from conform.judging import model
from conform.judging.automaton import AnswerJson
from conform.judging.model import sections_of
from conform.judging.places import ValuePlaces
from conform.reports.sections import Sections, read_sections
from conform.runs.kept_vectors import PLACE, read_kept
from conform.storage.bucket_store import Dataset, RunFolder, open_files
from conform.storage.observations import types_of
from conform.storage.tables import DATASETS
from conform.suites.cache import Suite, open_suite

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_BATCH = 64


@dataclass(frozen=True, slots=True)
class ReportedRun:
    """A finished run. `slug` names its folder in the site, `apart` has the parameters or
    the folder of the run if another run of the report is of the same target and release ("": none
    is). `suite` is the
    folder of the vectors, or None if it is no longer cached, and `suite_counts` are its planner's
    counts; `trusted`: all canaries behaved, and no batch failed without a reason; `in_use` keeps
    the suite cached while the report is written; `other_models`: the models and what is said of the
    charter beside them (sections.json) are not as they were when the run was judged;
    `charter_apart`: another run of the report was judged by another charter of the same name."""

    slug: str
    folder: Path
    about: RunDescription
    summary: Mapping[str, Json]
    canaries: tuple[Mapping[str, Json], ...]
    buckets: tuple[int, ...]
    sections: Sections = field(default_factory=Sections)
    suite: Path | None = None
    trusted: bool = False
    suite_counts: Mapping[str, int] = field(default_factory=dict)
    in_use: Suite | None = field(default=None, compare=False, repr=False)
    apart: str = ""
    other_models: bool = False
    charter_apart: bool = False

    @property
    def judged_by(self) -> tuple[str, ...]:
        """What the charter of the run calls itself: two charters may have one name."""
        return self.about.protocol, self.about.component, self.about.variant

    @property
    def places(self) -> ValuePlaces:
        """Which lists are sequences: by the types of the suite if run.json has them, else by the
        names of variables, fields and parameters. Raises `BadRun`."""
        known = self.sections.operations or self.sections.branches
        names = self.sections.ordered if known else None
        return ValuePlaces(types_of(self.about), names)

    def count(self, name: str) -> int:
        """A number of summary.json; 0 if missing."""
        value = self.summary.get(name, 0)
        return value if isinstance(value, int) else 0

    def counts(self, name: str) -> dict[str, int]:
        """An object of numbers of summary.json."""
        return {key: int(item) for key, item in mapping(self.summary.get(name)).items()
                if isinstance(item, int)}  # fmt: skip

    def branch_counts(self) -> dict[str, tuple[int, int]]:
        """Per branch: how often it was taken, and how often something else was observed instead."""
        found = {}
        for name, item in mapping(self.summary.get("by_branch")).items():
            held = mapping(item)
            found[name] = (own_number(held.get("taken", 0)), own_number(held.get("deviating", 0)))
        return found

    @property
    def name(self) -> str:
        """Target and release, as shown to readers, and what tells it from others of the same."""
        name = " ".join(part for part in (self.about.target, self.about.release) if part)
        return f"{name} ({self.apart})" if self.apart else name

    @property
    def version(self) -> str:
        """The version of the implementation as the adapter found it, or the release."""
        return self.about.implementation.get("version", "") or self.about.release

    @property
    def head(self) -> str:
        """The name with the version, as a table has it in its head."""
        has_it = not self.version or self.version in self.name.split()
        return self.name if has_it else f"{self.name}, {self.version}"

    @property
    def shown_folder(self) -> str:
        """The run's folder for a command line: relative to the current folder, or only its name."""
        try:
            return self.folder.resolve().relative_to(Path.cwd()).as_posix()
        except ValueError:
            return self.folder.name

    def dataset(self, name: str, most: int | None = None) -> Dataset:
        """A dataset of the run: its committed buckets, the first ones at `most`."""
        files = [f"{self.folder}/{name}/bucket={bucket:04d}/part-0.parquet"
                 for bucket in self.buckets[:most]]  # fmt: skip
        return open_files(files, DATASETS[name])

    def columns(self, name: str, columns: Sequence[str]) -> pa.Table:
        """Some columns of a dataset, all rows about vectors of the suite."""
        return self.dataset(name, self.about.suite_buckets).to_table(columns=list(columns))

    def rows(self, name: str, ids: Collection[str]) -> list[dict[str, Json]]:
        """The rows of some vectors."""
        return _rows_of(self.dataset(name), None, ids)

    def lines(self, ids: Collection[str]) -> Iterator[tuple[list[str], str]]:
        """The adapter's output lines about some vectors, each with the ids of all vectors that it
        is about."""
        wanted = set(ids)
        for batch in self.dataset("observations").to_batches(batch_size=_BATCH):
            about = batch.column("ids").to_pylist()
            for position, held in enumerate(about):
                if not wanted.isdisjoint(held):
                    yield held, batch.column("line")[position].as_py()

    def questions(self, ids: Collection[str]) -> dict[str, tuple[Question, Why]]:
        """The questions of some vectors and the reasons for them; empty without the suite."""
        found = {}
        for row in self._suite_rows(["id", "question", "why"], ids):
            question = read_question(orjson.loads(str(row["question"])))
            found[str(row["id"])] = question, read_why(orjson.loads(str(row["why"])))
        return found

    def titles(self, ids: Collection[str]) -> dict[str, str]:
        """The titles of some vectors. Empty without the suite."""
        return {
            str(row["id"]): str(orjson.loads(str(row["why"]))["title"])
            for row in self._suite_rows(["id", "why"], ids)
        }

    def answer(self, vector: str) -> AnswerJson | None:
        """The answer of a vector; None without the suite."""
        rows = self._suite_rows(["id", "answer"], {vector})
        found: AnswerJson | None = orjson.loads(str(rows[0]["answer"])) if rows else None
        return found

    def labels(self, ids: Collection[str]) -> dict[str, tuple[str, bool]]:
        """For some vectors: whether they can happen in a system, and whether they start from a
        given state. Empty without the suite."""
        return {
            str(row["id"]): (
                str(orjson.loads(str(row["why"]))["label"]),
                "load" in str(row["needs"]).split(),
            )
            for row in self._suite_rows(["id", "why", "needs"], ids)
        }

    def _suite_rows(self, columns: list[str], ids: Collection[str]) -> list[dict[str, Json]]:
        folders = {self.suite, self.folder / PLACE} if self.suite else set[Path]()
        files = sorted(file for one in folders for file in one.glob("bucket=*/part-0.parquet"))
        return _rows_of(open_files([str(file) for file in files]), columns, ids) if files else []


def _rows_of(
    stored: Dataset, columns: list[str] | None, ids: Collection[str]
) -> list[dict[str, Json]]:
    wanted = pyarrow.compute.field("id").isin(pa.array(sorted(ids), pa.string()))
    found: list[dict[str, Json]] = stored.to_table(columns=columns, filter=wanted).to_pylist()
    return found


def open_runs(folders: Sequence[Path], sections: Path | None) -> tuple[ReportedRun, ...]:
    """The runs in `folders`, with the data of their suites and charters.

    `sections` is a sections.json to use for all; without it each run uses the one next to its
    model. Raises `BadRun` for a folder that is not a finished run.
    """
    runs: list[ReportedRun] = []
    for folder in folders:
        runs.append(_open(folder, {run.slug for run in runs}, sections))
    return tell_apart(runs)


def tell_apart(runs: Sequence[ReportedRun]) -> tuple[ReportedRun, ...]:
    """Mark the runs of one report that have one name, and those that were judged by different
    charters of one name."""
    charters: dict[tuple[str, ...], set[str]] = {}
    for run in runs:
        charters.setdefault(run.judged_by, set()).add(run.about.spec_digest)
    return tuple(
        replace(
            run,
            apart=_tell_apart(run, [one for one in runs if one.name == run.name]),
            charter_apart=len(charters[run.judged_by]) > 1,
        )
        for run in runs
    )


def _tell_apart(run: ReportedRun, alike: Sequence[ReportedRun]) -> str:
    """What tells a run from others of the same target and release: the parameters that differ, else
    the name of its folder; "" if it is alone."""
    if len(alike) < 2:
        return ""
    every = [one.about.parameters for one in alike]
    differ = [name for name in every[0] if len({held.get(name) for held in every}) > 1]
    texts = [", ".join(f"{name}={held[name]}" for name in differ if name in held) for held in every]
    unique = len(set(texts)) == len(texts)
    return texts[alike.index(run)] if unique else run.folder.resolve().name


def _open(folder: Path, taken: set[str], sections: Path | None) -> ReportedRun:
    store = RunFolder(str(folder.resolve()))
    store.check()
    about, summary = store.read_run(), store.read_json("summary.json")
    outcome = store.read_json("canaries.json")
    canaries = outcome.get("canaries")
    suite = _suite(about.suite) or read_kept(folder)
    return ReportedRun(
        slug=_slug(about, taken),
        folder=folder,
        about=about,
        summary=summary,
        canaries=tuple(mapping(item) for item in canaries) if isinstance(canaries, list) else (),
        buckets=tuple(store.buckets_done()),
        sections=_sections(suite, sections),
        suite=suite.folder if suite else None,
        suite_counts=suite.manifest.counts if suite else {},
        in_use=suite,
        trusted=outcome.get("trusted") is True and summary.get("trusted") is True,
        other_models=suite is not None and sections is None and _has_other_models(suite, about),
    )


def _has_other_models(suite: Suite, about: RunDescription) -> bool:
    """Whether generated/ has other models now than those that a run was judged by."""
    modules = {suite.manifest.models.charter, *about.entries.values()}
    try:
        return "models" not in about.lacks and model.digest(sorted(modules - {""})) != about.models
    except BadSuite:
        return True


def _slug(about: RunDescription, taken: set[str]) -> str:
    parts = (about.target, about.release)
    base = _UNSAFE.sub("-", "-".join(part for part in parts if part)).strip("-.") or "run"
    slug, number = base, 2
    while slug in taken:
        slug, number = f"{base}-{number}", number + 1
    return slug


def _suite(digest: str) -> Suite | None:
    try:
        return open_suite(digest, 1)
    except BadSuite:
        return None


def _sections(suite: Suite | None, chosen: Path | None) -> Sections:
    if chosen is not None:
        return read_sections(chosen)
    if suite is None:
        return Sections()
    path = sections_of(suite.manifest.models.charter)
    return read_sections(path) if path else Sections()
