"""Writes run.json: target, adapter, suite, and what verdicts depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from charter.formats.canonical import Json
from charter.formats.suite import Manifest
from conform.adapters.base import Connection
from conform.adapters.hello import check_hello, disagreement
from conform.adapters.prepared import digest_prepared
from conform.adapters.sources import files_digest, sources_digests
from conform.adapters.targets import name_lookup
from conform.console.errors import UnknownTarget
from conform.judging import model
from conform.runs.options import RunOptions
from conform.runs.resume import DIGESTS
from conform.runs.select import ResolvedRun
from conform.suites.cache import Suite


def describe_run(
    greeted: Connection,
    resolved: ResolvedRun,
    digests: Mapping[str, Json],
    options: RunOptions,
    say: Callable[[str], None],
) -> dict[str, Json]:
    """The content of run.json, with what the adapter says in its hello, and with the `file_digests`
    from before it was started. Raises `ConformError` if it cannot be asked the suite."""
    suite, prepared, welcome = resolved.suite, resolved.prepared, greeted.welcome
    manifest, chosen = suite.manifest, prepared.target
    check_hello(welcome, manifest)
    disagreed = disagreement(welcome, chosen)
    if disagreed:
        say(disagreed)
    name = "-".join(part for part in (chosen.id, prepared.release, manifest.digest[:8]) if part)
    return {
        "id": f"{name}-{options.limit}" if options.limit else name,
        "format": 1,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "target": chosen.id,
        "found_by": name_lookup(chosen),
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
        "limits": chosen.limits_of(prepared.release),
        "engine": options.engine,
        "buckets": suite.buckets,
        "limit": options.limit,
        "command": list(options.command),
        **label_types(manifest),
        **digest_judging(suite, resolved.entries),
        **digests,
    }


def file_digests(resolved: ResolvedRun) -> dict[str, Json]:
    """Digests of the files of an implementation that is known to have them, and of the models.
    Raises `UnknownTarget` if a named source does not exist."""
    prepared = resolved.prepared
    sources = sources_digests(prepared.target)
    return {
        "adapter": files_digest(prepared.target),
        "sources": None if sources is None else {**sources},
        "prepared": {**digest_prepared(prepared.files)},
        "models": digest_judging(resolved.suite, resolved.entries)["models"],
    }


def list_changed(before: Mapping[str, Json], resolved: ResolvedRun) -> tuple[str, ...]:
    """Which files are not as their digests `before` say (those of run.json, or a part of them), in
    words."""
    try:
        now = file_digests(resolved)
    except UnknownTarget:
        now = {"sources": {}}
    return tuple(words for name, words in DIGESTS.items()
                 if name in now and now[name] != before.get(name))  # fmt: skip


def label_types(manifest: Manifest) -> dict[str, Json]:
    """The types of a suite, by which labels may count and a report tells sequences from sets."""
    return {"types": dict(manifest.types)} if manifest.types else {}


def digest_judging(suite: Suite, entries: Mapping[str, str]) -> dict[str, Json]:
    """What verdicts depend on besides suite and target: the models, and which entries apply."""
    module = suite.manifest.models.charter
    modules = sorted({module, *entries.values()} - {""})
    return {"models": model.digest(modules), "entries": dict(sorted(entries.items()))}
