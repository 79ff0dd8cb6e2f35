"""Makes the four profiles of a suite. `smoke` is small, takes seconds and is committed in
generated/; `cover` adds what only answers in each state of an instance; `standard` adds triples of
operations, and variables that are set again; `full` adds to the small one all transitions of the
explored instances, paths and walks."""

from __future__ import annotations

import contextlib
import heapq
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from charter.core import nodes as n
from charter.diagnostics import Source
from charter.formats.files import need_writable
from charter.formats.project import find_project
from charter.formats.reading import BadVector
from charter.formats.suite import LINES, MANIFEST, ExhaustedInstance, Manifest, read_manifest
from charter.suites.build import Progress, WantedParts, build_full, build_tours
from charter.suites.parts import Task
from charter.suites.search_results import place, read_found, write_found
from charter.suites.smoke import smoke
from charter.suites.standard.make_standard import make_standard
from charter.suites.standard.selected import list_offered, select_instance
from charter.suites.subject import Subject, overlays_in, rename_sources, subject
from charter.suites.touring.state_cover import StateCover, cover_states
from charter.suites.vector_texts import VectorRecord, merge
from charter.suites.write_suite import conclude, write_records
from charter.vectors.ledger import tell_hidden

Profile = Literal["smoke", "cover", "standard", "full"]

LEDGER = "ledger.md"

_UNFINISHED = ".unfinished"
_LEFT_BEHIND = frozenset({_UNFINISHED, f".{LINES}.part", f".{MANIFEST}.part"})


@dataclass(frozen=True, slots=True)
class Made:
    """A written suite, with `refused` vectors by reason, and the digest of the `small` one that is
    part of it. `left` has the open obligations, each with its bound and reason; `failed` the
    failing scenarios, `unasked` those that are no question. `cover` says in words how far a
    state cover goes."""

    manifest: Manifest
    small: str
    refused: dict[str, int]
    left: dict[str, str]
    failed: tuple[str, ...]
    unasked: Mapping[str, str]
    cover: str = ""


def open_subject(charter: Path, sources: Sequence[Source], variant: str, component: str) -> Subject:
    """The subject of a suite. Raises `Refused`, `BadProject`, or `Missing`."""
    project = find_project(charter)
    chosen = subject(rename_sources(sources, project.root if project else None), variant, component)
    chosen = replace(chosen, found=read_found(place(charter, variant, chosen.inside)))
    if project is None:
        return chosen
    overlays = overlays_in(project, chosen.model.protocol, chosen.component.name)
    return replace(chosen, overlays=overlays)


def look(about: Subject, charter: Path, progress: Progress, most_states: int = 0) -> Subject:
    """Search again, with the solver if it is installed, and write the results beside the charter;
    instances with more than `most_states` are left out (0: none)."""
    from charter.suites.search import search

    need_writable(place(charter, about.model.variant, about.inside))
    found = search(about, progress, find_spec("z3") is not None, most_states)
    write_found(place(charter, about.model.variant, about.inside), found)
    return replace(about, found=found)


def usual_folder(about: Subject, profile: str) -> Path:
    """The folder of a suite for which none was named; another one if a suite of another protocol,
    which has a component of the same name, lies there. `profile` is one, or names an instance."""
    model = about.model
    name = f"{about.component.name}-{model.variant or 'charter'}-{profile}"
    folder = Path("build") / "suites" / name
    with contextlib.suppress(BadVector, OSError):
        if read_manifest(folder).protocol != model.protocol:
            return folder.with_name(f"{model.protocol}-{name}")
    return folder


def why_refused(folder: Path) -> str:
    """Why no suite can be written into a folder: it holds something else, which could be lost; ""
    if it is empty, or holds a suite or what a killed process left of one."""
    try:
        held = {path.name for path in folder.iterdir()} - _LEFT_BEHIND
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{folder} cannot be read: {error.strerror}"
    cut = (folder / f".{MANIFEST}.part").exists()  # it was written, and the suite was to follow
    if not held or _is_suite(folder) or (cut and held <= {LINES, MANIFEST}):
        return ""
    return f"{folder} holds something other than a suite, which could be lost; name another folder"


def _is_suite(folder: Path) -> bool:
    """Whether a folder has the manifest of a suite, of any version."""
    try:
        about = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(about, dict) and {"spec_digest", "vectors", "models"} <= set(about)


def in_order(records: Iterable[VectorRecord]) -> list[VectorRecord]:
    """Records sorted, one for each question."""
    return list(merge(sorted(records, key=lambda record: record.id)))


@contextlib.contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A temporary folder on the disk of a suite; what a killed process left in it is removed."""
    scratch = folder / _UNFINISHED
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class ExhaustTask:
    """An instance whose transitions a suite asks, with `most_states` at most; none by operations
    that a target is `lacking`."""

    instance: n.Instance
    most_states: int
    lacking: tuple[str, ...] = ()


def exhaust(of: Subject, wanted: ExhaustTask, folder: Path, progress: Progress) -> Manifest:
    """Write a suite of all transitions of an instance into `folder`, with the small suite, so that
    its run is trusted as one of that. Raises TooManyStates."""
    instance = wanted.instance
    small = smoke(of)
    records = in_order(VectorRecord.of(entry.vector) for entry in small.entries)
    of = replace(of, canaries=small.canaries())
    with _scratch(folder) as scratch:
        task = Task.of(of.model, instance, "tours", scratch, wanted.lacking)
        built = build_tours(replace(task, most_states=wanted.most_states), progress)
        exhausted = ExhaustedInstance(
            instance.name,
            {name: len(members) for name, members in instance.sorts},
            {name: int(value) for name, value in instance.consts},
            tuple(instance.offers or (one.name for one in of.component.operations)),
            tuple(dict.fromkeys(name for name, _ in instance.only)),
            built.counts["states"],
            built.counts["transitions"],
            built.counts["transitions_refused"],
            built.counts["transitions_behind_choice"],
            built.counts.get("transitions_unsupported", 0),
        )
        about = of.manifest({**small.counts(), **built.counts})
        about = replace(about, asked_digest=of.full_digest, exhausts=exhausted)
        everything = heapq.merge(records, built.records(), key=lambda record: record.id)
        return write_records(folder, merge(everything), about)


def make(
    of: Subject, profile: Profile, folder: Path, progress: Progress, instance: str = ""
) -> Made:
    """Write a suite into `folder`, of one instance alone or of all (""). One with a state cover, or
    a standard one, has its ledger with it. Raises Missing."""
    of = select_instance(of, instance) if instance else of
    small = smoke(of)
    records = in_order(VectorRecord.of(entry.vector) for entry in small.entries)
    of = replace(of, canaries=small.canaries())
    left = {row.name: row.note for row in small.ledger.rows if row.status == "open"}
    if profile == "smoke":
        manifest = write_records(folder, records, of.manifest(small.counts()))
        return Made(manifest, manifest.digest, {}, left, small.failed, small.unasked)
    lines = [record.digest_line() for record in records]
    digest = conclude(of.manifest(small.counts()), lines).digest
    if profile in ("cover", "standard"):
        instances = list_offered(of, instance)
        add = cover_states if profile == "cover" else make_standard
        added = add(of.model, of.component, instances, progress)
        more = in_order(map(VectorRecord.of, added.vectors))
        about = of.manifest({**small.counts(), **added.counts()})
        about = replace(about, small_digest=digest)
        manifest = write_records(folder, in_order((*records, *more)), about)
        ledger = small.ledger.markdown(of.title) + tell_hidden(of.component) + added.markdown()
        (folder / LEDGER).write_text(ledger, encoding="utf-8", newline="\n")
        made = Made(
            manifest, manifest.digest, dict(added.refused), left, small.failed, small.unasked
        )
        return replace(made, cover=added.tell() if isinstance(added, StateCover) else "")
    with _scratch(folder) as scratch:
        name = of.component.name
        left_out = of.found.still_left_out(of.model, name)
        wanted = WantedParts(of.model, name, left_out, instance)
        built = build_full(wanted, scratch, progress)
        everything = heapq.merge(records, built.records(), key=lambda record: record.id)
        about = of.manifest({**small.counts(), **built.counts})
        about = replace(about, asked_digest=of.full_digest)
        manifest = write_records(folder, merge(everything), about)
        return Made(manifest, digest, dict(built.refused), left, small.failed, small.unasked)
