"""Writes run.json: target, adapter, suite, and what verdicts depend on."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from charter.formats import canonical
from charter.formats.run_description import RunDescription
from charter.formats.target import other_than_default
from conform.adapters.base import Connection
from conform.adapters.hello import check_hello, disagreement
from conform.adapters.prepared import digest_prepared
from conform.adapters.sources import files_digest, sources_digests
from conform.adapters.targets import Prepared, name_lookup
from conform.console.errors import UnknownTarget
from conform.judging import model
from conform.runs.options import RunOptions
from conform.runs.resume import DIGESTS
from conform.runs.select import ResolvedRun
from conform.suites.cache import Suite

_UNSAFE = re.compile(r"[^A-Za-z0-9._]+")
_PARAMETERS_WIDTH = 40
"""The most characters of values of parameters in the name of a run."""


def describe_run(
    greeted: Connection,
    resolved: ResolvedRun,
    digests: RunDescription,
    options: RunOptions,
    say: Callable[[str], None],
) -> RunDescription:
    """The content of run.json, with what the adapter says in its hello. `digests` has the
    `file_digests` from before it was started, and what is put besides the suite. Raises
    `ConformError` if it cannot be asked the suite."""
    suite, prepared, welcome = resolved.suite, resolved.prepared, greeted.welcome
    manifest, chosen = suite.manifest, prepared.target
    check_hello(welcome, manifest)
    disagreed = disagreement(welcome, chosen)
    if disagreed:
        say(disagreed)
    name = _name_run(prepared, manifest.digest)
    return replace(
        digests,
        id=f"{name}-{options.limit}" if options.limit else name,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        target=chosen.id,
        found_by=name_lookup(chosen),
        title=chosen.title,
        release=prepared.release,
        implementation={"name": welcome.name, "version": welcome.version},
        component=manifest.component,
        protocol=manifest.protocol,
        variant=manifest.variant,
        observes=tuple(welcome.observes),
        capabilities=tuple(sorted(welcome.capabilities)),
        operations=tuple(sorted(welcome.operations)),
        suite=manifest.digest,
        suite_vectors=manifest.vectors,
        suite_counts=manifest.counts,
        spec_digest=manifest.spec_digest,
        overlay=chosen.overlay,
        errors=chosen.errors,
        not_compared=chosen.not_compared,
        limits=chosen.limits_of(prepared.release),
        engine=options.engine,
        buckets=suite.buckets + options.walks.blocks + digests.apart_buckets,
        walks=options.walks,
        parameters=prepared.parameters,
        limit=options.limit,
        command=tuple(options.command),
        types=manifest.types,
        entries=dict(sorted(resolved.entries.items())),
    )


def _name_run(prepared: Prepared, suite: str) -> str:
    """Target, release, parameters that are not the defaults with a digest of them, and suite, as
    the name of a folder."""
    chosen = prepared.target
    values = other_than_default(chosen.parameters, prepared.parameters)
    shown = _UNSAFE.sub("-", "-".join(values.values())).strip("-.")[:_PARAMETERS_WIDTH]
    digest = canonical.digest({**values})[:8] if values else ""
    parts = (chosen.id, prepared.release, shown, digest, suite[:8])
    return "-".join(part for part in parts if part)


def file_digests(resolved: ResolvedRun) -> RunDescription:
    """Only digests: of the models, and of the files of an implementation if they are known.
    Raises `UnknownTarget` if a named source does not exist."""
    prepared = resolved.prepared
    return RunDescription(
        models=digest_models(resolved.suite, resolved.entries),
        adapter=files_digest(prepared.target),
        sources=sources_digests(prepared.target),
        prepared=digest_prepared(prepared.files),
    )


def list_changed(before: RunDescription, resolved: ResolvedRun) -> tuple[str, ...]:
    """Which files are not as their digests `before` say, in words."""
    try:
        now = file_digests(resolved)
    except UnknownTarget:
        now = replace(before, sources={})
    return tuple(words for name, words in DIGESTS.items()
                 if getattr(now, name) != getattr(before, name))  # fmt: skip


def digest_models(suite: Suite, entries: Mapping[str, str]) -> str:
    """A digest of the models that a run is judged by."""
    return model.digest(sorted({suite.manifest.models.charter, *entries.values()} - {""}))
