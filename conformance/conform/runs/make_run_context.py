"""Builds the `RunContext` that workers get."""

from __future__ import annotations

import time

from charter.formats.vector import FORMAT
from conform.adapters.prepared import adapter_files
from conform.console.errors import Untrustworthy
from conform.judging import model
from conform.judging.verdict import VectorItem
from conform.runs.canaries import canaries
from conform.runs.canaries.forgetful_canaries import forgetful
from conform.runs.run_context import RunContext
from conform.runs.select import ResolvedRun, variables
from conform.suites.cache import Suite
from conform.suites.importing import item_of

MOST_PREFIXES = 256
"""The most questions of a suite that walks begin with."""


def context_of(resolved: ResolvedRun, name: str, place: str, limit: int = 0) -> RunContext:
    """The context of the run `name` in the folder `place`. Raises `Untrustworthy`."""
    suite = resolved.suite
    manifest = suite.manifest
    module = manifest.models.charter
    return RunContext(
        run=f"{name}-{time.time_ns():x}",
        place=place,
        start=resolved.prepared.start,
        model=module,
        entries=resolved.entries,
        variables=variables(suite),
        limit=-(-limit // suite.buckets),
        canaries=_canary_items(suite),
        forgetful=forgetful(suite) if module else {},
        started=time.time(),
        reference=model.is_of(module, manifest.spec_digest),
        folders=resolved.folders,
        files=adapter_files(resolved.prepared.target.folder, resolved.prepared.files),
        types=manifest.read_types(),
        suite_buckets=suite.buckets,
        component={
            "format": FORMAT, "protocol": manifest.protocol, "variant": manifest.variant,
            "component": manifest.component,
        },
    )  # fmt: skip


def list_prefixes(suite: Suite) -> tuple[bytes, ...]:
    """Questions of a suite that begin in the first state, for walks: at most `MOST_PREFIXES`, the
    first ones by their ids."""
    found: dict[str, bytes] = {}
    for bucket in range(suite.buckets):
        first = {i.id: i.question for i in suite.items(bucket) if "load" not in i.needs.split()}
        found |= dict(sorted(first.items())[:MOST_PREFIXES])
    return tuple(found[name] for name in sorted(found)[:MOST_PREFIXES])


def _canary_items(suite: Suite) -> dict[str, tuple[VectorItem, ...]]:
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
