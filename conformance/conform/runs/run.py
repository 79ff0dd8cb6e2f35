"""Executes one run: from a target and a suite to committed buckets, canaries and a summary."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import orjson

from charter.formats.canonical import Json
from charter.formats.suite import MANIFEST, Manifest, read_manifest
from conform.adapters.stdio import StdioConnection
from conform.adapters.targets import Prepared, Target, files_digest, prepare, target
from conform.console.errors import BadRun, BadSuite, UnknownTarget, Untrustworthy
from conform.console.progress import bar
from conform.judging import model
from conform.judging.assess import Item
from conform.judging.follow import Siblings
from conform.runs import canaries, summary
from conform.runs import overclaims as overlaid
from conform.runs.compared import Scope, left_out
from conform.runs.engines import inline
from conform.runs.engines.bucket import empty_bucket
from conform.runs.engines.context import Context
from conform.runs.overclaims import denied
from conform.storage.lease import Lease
from conform.storage.store import RunFolder
from conform.suites.cache import Suite, open_suite
from conform.suites.importing import item_of

Engine = Literal["spark", "inline"]

Ranges = Callable[[Target], Mapping[str, tuple[str, str]]]
"""Tells the first and the last release ("" for open) of each entry of a target's overlay."""


_LOCK = ".lock"
_SAME = {
    "target": "target", "release": "release", "suite": "suite", "spec_digest": "charter",
    "limit": "limit", "implementation": "implementation", "component": "component",
    "overlay": "overlay", "entries": "overlay's entries", "models": "models",
    "buckets": "number of buckets", "adapter": "adapter's files",
}  # fmt: skip
"""What of run.json must be as it was for a run to go on, with the words for it."""
_OURS = ("verdicts", "deviations", "observations", "transitions", "commits")


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller asks for. `out` "" is `build/runs/<id>`; `limit` 0 is all vectors."""

    target: str
    release: str = ""
    suite: str = ""
    engine: Engine = "spark"
    master: str = "local[*]"
    limit: int = 0
    out: str = ""
    strict: bool = False
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finished:
    """A run that came to its end."""

    folder: RunFolder
    run: Mapping[str, Json]
    summary: Mapping[str, Json]
    canaries: tuple[Json, ...] = field(default_factory=tuple)

    @property
    def exit_code(self) -> int:
        code = self.summary["exit"]
        assert isinstance(code, int)
        return code


def no_ranges(_: Target) -> Mapping[str, tuple[str, str]]:
    """Every entry applies to every release."""
    return {}


def run_target(
    options: Options, say: Callable[[str], None], ranges: Ranges = no_ranges
) -> Finished:
    """Judge a target. Buckets of an earlier run of the same kind are not judged again if that run
    did not end. `say` gets sentences for a person. Raises `ConformError`s."""
    began = time.time()
    chosen = choose(Wanted("", options.target, options.release, options.suite), ranges)
    suite, prepared = chosen.suite, chosen.prepared
    _check_fits(suite, prepared)
    about = {**_greet(prepared, suite, options), **judged_with(suite, chosen.entries)}
    folder = _folder(options, about)
    with _alone_in(folder):
        _start_or_resume(folder, about, say)
        return _run_into(folder, about, chosen, options, began)


def _run_into(
    folder: RunFolder, about: Mapping[str, Json], chosen: Chosen, options: Options, began: float
) -> Finished:
    """Judge what is left, and sum up a run that began at a time."""
    suite, prepared, entries = chosen.suite, chosen.prepared, chosen.entries
    folder.write_json("prepared.json", {**prepared.said})
    context = _context(suite, prepared, options, (about, folder, entries))
    spent = _judge_all(suite, context, options, folder)
    extra: list[Json] = [canary.json() for canary in canaries.of_run(context)]
    counts = summary.collect(folder)
    counts.canaries += extra
    stale = stale_entries(folder, suite, entries, counts) if context.reference else ()
    vectors = sum(min(held.vectors, context.limit or held.vectors) for held in suite.stored)
    left = left_out(folder, scope(suite, about, vectors))
    asked = summary.Asked(tuple(entries), stale, options.strict, suite.manifest.vectors, left)
    concluded = summary.conclude(counts, asked, time.time() - began, summary.distinct_pairs(folder))
    concluded["judging_seconds"] = round(spent, 3)
    concluded["first_verdict_seconds"] = round(max(0.0, counts.first_verdict - began), 3)
    trusted = concluded["trusted"]
    folder.write_json("canaries.json", {"trusted": trusted, "canaries": counts.canaries})
    folder.write_json("summary.json", concluded)
    return Finished(folder, about, concluded, tuple(counts.canaries))


def scope(suite: Suite, about: Mapping[str, Json], asked: int) -> Scope:
    """What a run is to compare that is asked for so many vectors of a suite."""
    shows, allowed = about["observes"], about["not_compared"]
    assert isinstance(shows, list) and isinstance(allowed, dict)
    hidden = [name for name in variables(suite) if name not in shows]
    reasons = {name: str(reason) for name, reason in allowed.items()}
    return Scope(asked, suite.manifest.vectors - asked, hidden, reasons)


def stale_entries(
    folder: RunFolder, suite: Suite, entries: Mapping[str, str], counts: summary.Counts
) -> tuple[str, ...]:
    """The entries that explain nothing, though the target went where they would have to."""
    unused = [entry for entry in entries if entry and not counts.by_entry[entry]]
    if not unused:
        return ()
    models = {entry: Siblings(model.load(entries[entry]), same_state=False) for entry in unused}
    shows = folder.read_json("run.json")["observes"]
    assert isinstance(shows, list)
    wanted = variables(suite)
    all_shown = set(wanted) <= set(shows)
    observes = None if all_shown else tuple(name for name in wanted if name in shows)
    return tuple(denied(overlaid.Finished(folder, suite, observes), models))


@dataclass(frozen=True, slots=True)
class Chosen:
    """A target that is ready, with a suite and the overlay entries that apply."""

    prepared: Prepared
    suite: Suite
    entries: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Target, release and suite by name; what is empty is taken from the run `earlier`."""

    earlier: str = ""
    target: str = ""
    release: str = ""
    suite: str = ""


def choose(wanted: Wanted, ranges: Ranges = no_ranges) -> Chosen:
    """What was asked for, ready to be started. Raises `ConformError`s."""
    name, release, suite = wanted.target, wanted.release, wanted.suite
    if wanted.earlier:
        about = RunFolder(str(Path(wanted.earlier).resolve())).read_json("run.json")
        same = name in ("", about["target"])
        name = name or str(about["target"])
        release = release or (str(about["release"]) if same else "")
        suite = suite or str(about["suite"])
    if not name:
        raise UnknownTarget("say which target: --target ID, or --run with an earlier run")
    chosen = target(name)
    found = open_suite(_wanted_suite(Options(name, release, suite), chosen), os.cpu_count() or 1)
    prepared = prepare(chosen, release, {"model": found.manifest.models.charter})
    entries = models_of(found.manifest, chosen, prepared.release, ranges)
    return Chosen(prepared, found, entries)


def _judge_all(suite: Suite, context: Context, options: Options, folder: RunFolder) -> float:
    """Judge the buckets that are not done; seconds from the first job on."""
    done = set(folder.committed())
    left = [bucket for bucket in range(suite.buckets) if bucket not in done]
    for bucket in list(left):
        if not suite.stored[bucket].vectors:
            empty_bucket(bucket, context)
            left.remove(bucket)
    if not left:
        return 0.0
    title = f"{options.target} {context.start.release}".strip()
    with bar(title, suite.buckets, lambda: len(folder.committed())) as progress:
        began = time.time()
        if options.engine == "inline":
            inline.run(suite, left, context, progress)
            return time.time() - began
        from conform.runs.engines import spark  # heavy, and only needed here

        session = spark.session(options.master)
        began = time.time()
        spark.run(session, suite, left, context, progress)
        return time.time() - began


def _wanted_suite(options: Options, chosen: Target) -> str:
    """The suite that was asked for, or the generated one that fits the target."""
    if options.suite:
        return options.suite
    generated = Path(__file__).resolve().parents[3] / "generated"
    variant = chosen.variant(chosen.release(options.release))
    found = []
    for path in sorted(generated.rglob(MANIFEST)):
        try:
            manifest = read_manifest(path.parent)
        except Exception:  # another kind of manifest
            continue
        if chosen.protocol in ("", manifest.protocol) and manifest.variant == variant:
            found.append((manifest.vectors, str(path.parent)))
    if not found:
        raise BadSuite(
            f"no generated suite fits {chosen.id}; `conform vectors` makes one, and --suite"
            " names it"
        )
    return max(found)[1]


def _check_fits(suite: Suite, prepared: Prepared) -> None:
    chosen, manifest = prepared.target, suite.manifest
    if chosen.protocol and chosen.protocol != manifest.protocol:
        raise BadSuite(
            f"{chosen.id} implements {chosen.protocol}, but the suite is about"
            f" {manifest.protocol}; choose another with --suite"
        )
    if chosen.protocol and prepared.start.variant != manifest.variant:
        raise BadSuite(
            f"{chosen.id} {prepared.release} is judged against the variant"
            f" {prepared.start.variant or 'without a name'!r}, but the suite is of"
            f" {manifest.variant or 'the one without a name'!r}; choose another with --suite"
        )


def _greet(prepared: Prepared, suite: Suite, options: Options) -> dict[str, Json]:
    """The content of run.json: start the adapter once and hear what it found."""
    connection = StdioConnection(prepared.start)
    welcome = connection.welcome
    connection.close()
    manifest, chosen = suite.manifest, prepared.target
    if welcome.component != manifest.component:
        raise BadSuite(
            f"the adapter drives the component {welcome.component}, but the suite is about"
            f" {manifest.component}; choose another with --suite"
        )
    name = "-".join(part for part in (chosen.id, prepared.release, manifest.digest[:8]) if part)
    return {
        "id": f"{name}-{options.limit}" if options.limit else name,
        "format": 1,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "target": chosen.id,
        "title": chosen.title,
        "release": prepared.release,
        "implementation": {"name": welcome.name, "version": welcome.version},
        "component": manifest.component,
        "protocol": manifest.protocol,
        "variant": manifest.variant,
        "observes": list(welcome.observes),
        "capabilities": [*sorted(welcome.capabilities)],
        "operations": [*sorted(welcome.operations)],
        "suite": manifest.digest,
        "suite_vectors": manifest.vectors,
        "suite_counts": dict(manifest.counts),
        "spec_digest": manifest.spec_digest,
        "overlay": chosen.overlay,
        "errors": dict(chosen.errors),
        "not_compared": dict(chosen.not_compared),
        "adapter": files_digest(chosen),
        "engine": options.engine,
        "buckets": suite.buckets,
        "limit": options.limit,
        "command": list(options.command),
    }


def judged_with(suite: Suite, entries: Mapping[str, str]) -> dict[str, Json]:
    """What verdicts depend on beside suite and target: the models, and which entries apply."""
    module = suite.manifest.models.charter
    modules = sorted({module, *entries.values()} - {""})
    return {"models": model.digest(modules), "entries": dict(sorted(entries.items()))}


def _folder(options: Options, about: Mapping[str, Json]) -> RunFolder:
    out = options.out or str(Path("build") / "runs" / str(about["id"]))
    return RunFolder(out if "://" in out else str(Path(out).resolve()))


@contextlib.contextmanager
def _alone_in(folder: RunFolder) -> Iterator[None]:
    """Have a folder for one run. Raises `BadRun` if another has it, or if it is none of a run."""
    if "://" in folder.place:
        yield
        return
    place = Path(folder.place)
    if not folder.has("run.json") and any(path.name != _LOCK for path in place.glob("*")):
        raise BadRun(f"{folder.place} holds something else; choose another folder with --out")
    lease = Lease(place / _LOCK)
    try:
        if not lease.take() and lease.works:
            raise BadRun(
                f"another run writes into {folder.place}; wait for it, or choose another folder"
                " with --out"
            )
        yield
    finally:
        lease.close()


def _start_or_resume(
    folder: RunFolder, about: Mapping[str, Json], say: Callable[[str], None]
) -> None:
    """Go on with a run that did not end and was the same; begin afresh otherwise."""
    if folder.has("run.json"):
        before = folder.read_json("run.json")
        changed = [words for name, words in _SAME.items() if before.get(name) != about[name]]
        done = len(folder.committed())
        if not changed and not folder.has("summary.json"):
            say(f"going on with the run in {folder.place}: {done} buckets are done")
            return
        if changed and done:
            say(
                f"the {' and the '.join(changed)} changed since the run in {folder.place} was"
                f" begun; it begins anew, {done} buckets are judged again"
            )
        _clear(folder)
    folder.write_json("run.json", dict(about))


def _clear(folder: RunFolder) -> None:
    """Remove what an earlier run wrote, and nothing else."""
    if "://" in folder.place:
        raise BadRun(f"{folder.place} holds another run; choose another folder with --out")
    root = Path(folder.place)
    for name in _OURS:
        shutil.rmtree(root / name, ignore_errors=True)
    for name in ("summary.json", "canaries.json", "run.json", "prepared.json"):
        (root / name).unlink(missing_ok=True)


def models_of(manifest: Manifest, chosen: Target, release: str, ranges: Ranges) -> dict[str, str]:
    """The overlay entries that apply to a release, with the modules of their models; "" is the one
    with all of them.

    They are named by the suite, or else found beside the generated models; `ranges` tells the
    releases of each entry.
    """
    found = dict(manifest.models.overlays.get(chosen.overlay, {}))
    if not found and chosen.overlay and not manifest.variant:
        found = _generated_overlay(manifest.protocol, chosen.id)
    known = ranges(chosen)
    applying = {
        entry: module
        for entry, module in found.items()
        if not entry.startswith("@") and (entry not in known or within(release, *known[entry]))
    }
    groups = [name for name in found if name.startswith("@") and within(release, name[1:], "")]
    if groups and len(applying) > 1:
        applying[""] = found[max(groups, key=lambda name: _numbers(name[1:]))]
    return applying


def _generated_overlay(protocol: str, target_id: str) -> dict[str, str]:
    """The sibling models that `conform generate` made from a target's overlay.charter."""
    package = f"charter_models.{protocol.replace('.', '_')}_overlays"
    package = f"{package}.{target_id.replace('-', '_')}"
    try:
        paths = importlib.import_module(package).__path__
    except ImportError:
        return {}
    names = sorted(module.name for module in pkgutil.iter_modules(paths))
    return {_entry(name): f"{package}.{name}" for name in names}


def _entry(module: str) -> str:
    """The entry of a model's module; `@4.3.0` for all that apply from that release on."""
    start, _, release = module.partition("_")
    parts = release.split("_")
    if start == "from" and all(part.isdigit() for part in parts):
        return f"@{'.'.join(parts)}"
    return module


def within(release: str, first: str, last: str) -> bool:
    """Whether a release lies in a range; an end that is empty is open. "4.0" as the last one
    includes all its patches."""
    parts = _numbers(release)
    if first and parts < _numbers(first):
        return False
    return not last or parts[: len(_numbers(last))] <= _numbers(last)


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in release.split("."))


def _context(
    suite: Suite,
    prepared: Prepared,
    options: Options,
    known: tuple[Mapping[str, Json], RunFolder, Mapping[str, str]],
) -> Context:
    about, folder, entries = known
    manifest = suite.manifest
    module = manifest.models.charter
    return Context(
        run=f"{about['id']}-{time.time_ns():x}",
        place=folder.place,
        start=prepared.start,
        model=module,
        entries=entries,
        variables=variables(suite),
        limit=-(-options.limit // suite.buckets) if options.limit else 0,
        canaries=_canary_items(suite),
        started=time.time(),
        reference=model.is_of(module, manifest.spec_digest),
    )


def variables(suite: Suite) -> tuple[str, ...]:
    """The variables that the answers of the suite show."""
    for bucket in range(suite.buckets):
        for item in suite.items(bucket):
            observation = orjson.loads(item.answer)["observations"][0]
            return tuple(observation) if isinstance(observation, dict) else ()
    return ()


def _canary_items(suite: Suite) -> dict[str, tuple[Item, ...]]:
    manifest = suite.manifest
    found = {}
    for mutant, module in manifest.models.mutants.items():
        ids = manifest.canaries.get(mutant, ())
        found[module] = tuple(item_of(suite.find(vector)) for vector in ids[: canaries.SAMPLE])
        if not found[module]:
            raise Untrustworthy(
                f"the suite names the mutant {mutant} and no vector that catches it; generate it"
                " again"
            )
    return found
