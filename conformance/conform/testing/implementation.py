"""Opens the implementation that is judged under pytest: an adapter in Python, in this process, or a
target with its own process."""

from __future__ import annotations

import importlib
import inspect
import os
import secrets
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

from charter.formats.target import FILE, Target, read_target
from conform.adapters.base import AdapterStart, Connection
from conform.adapters.direct import DirectConnection
from conform.adapters.hello import check_hello
from conform.adapters.projects import model_folders
from conform.adapters.session import Session
from conform.adapters.stdio import StdioConnection
from conform.adapters.targets import NO_PARAMETERS, Prepared, values_of
from conform.cli.output.overlay import releases_of
from conform.console.errors import ConformError
from conform.judging.model import use_folders
from conform.judging.verdict import VectorItem
from conform.runs.canaries import canaries
from conform.runs.canaries.canaries import Canary
from conform.runs.engines.bucket import siblings
from conform.runs.make_run_context import context_of
from conform.runs.obligations import check_sections
from conform.runs.run_context import RunContext
from conform.runs.select import ResolvedRun, RunSelection, check_fits, resolve
from conform.sdk import Implementation
from conform.suites.cache import open_suite


@dataclass(frozen=True, slots=True)
class JudgedAdapter:
    """An implementation with the suite that it is judged by. `made` is the adapter in Python, a
    class or an object; None for a target, which runs in a process of its own."""

    name: str
    resolved: ResolvedRun
    context: RunContext
    made: object = None

    @property
    def has_files(self) -> bool:
        """Whether its files are known: it is described by an adapter.toml."""
        return self.resolved.prepared.target.folder != Path()

    def connect(self) -> Connection:
        """A connection. Raises `ConformError`."""
        start = self.resolved.prepared.start
        if self.made is None:
            return StdioConnection(start)
        return DirectConnection(lambda: _instance(self.name, self.made), start)


def open_judged(wanted: str, suite: str, given: Mapping[str, str] = NO_PARAMETERS) -> JudgedAdapter:
    """The implementation `wanted`, with the suite and the values that are `given` of its
    parameters. Raises `ConformError`, and `BadProject`."""
    if not wanted:
        raise ConformError(
            "--charter needs an implementation: --charter-adapter MODULE:NAME, or the folder of a"
            " target; charter_adapter in the settings of pytest names it, too"
        )
    module, colon, name = wanted.partition(":")
    if not colon or os.sep in wanted:
        resolved = resolve(RunSelection("", wanted, "", suite, given), releases_of)
        check_fits(resolved.suite, resolved.prepared)
        return JudgedAdapter(wanted, resolved, context_of(resolved, "pytest", ""))
    found = open_suite(suite, os.cpu_count() or 1)
    folders = model_folders(found.manifest.models.charter, suite)
    use_folders(folders)
    start = AdapterStart((), consts=found.manifest.consts)
    made = _find_named(module, name)
    chosen = _target(module, wanted)
    values_of(chosen, given)  # a target that is imported has none
    check_sections(found.manifest)
    resolved = ResolvedRun(Prepared(chosen, "", start, {}), found, {}, folders)
    return JudgedAdapter(wanted, resolved, context_of(resolved, "pytest", ""), made)


def _target(module: str, wanted: str) -> Target:
    """The target `wanted` in a module. An adapter.toml beside that says which files it has, and
    what may be left out. Raises `BadProject`."""
    place = getattr(sys.modules.get(module), "__file__", None)
    path = Path(place).resolve().parent / FILE if place else None
    if path is None or not path.is_file():
        return Target(wanted, wanted, Path(), ())
    beside = read_target(path)
    return Target(
        wanted, wanted, path.parent, (), not_compared=beside.not_compared, sources=beside.sources
    )


def _find_named(module: str, name: str) -> object:
    """What a module calls by this name. Raises `ConformError`."""
    try:
        found: object = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise ConformError(
            f"the adapter {module}:{name} cannot be imported ({error}); `pythonpath` in the"
            " settings of pytest names the folders of modules"
        ) from None
    return found


def _instance(name: str, made: object) -> Implementation:
    """A new object of a class or function; the object itself otherwise. Raises `ConformError` if it
    is no implementation."""
    is_made = inspect.isclass(made) or inspect.isroutine(made)
    found: object = made() if is_made and callable(made) else made
    if not callable(getattr(found, "perform", None)):
        raise ConformError(
            f"{name} has no method `perform`, so it is no `conform.sdk.Implementation`; an adapter"
            " with the types that `conform generate --adapter python` writes needs a function that"
            " returns `protocol.implementation(...)`: `conform help pytest` shows it"
        )
    return cast("Implementation", found)


class VectorJudge:
    """Judges single vectors, with one connection for all of them."""

    def __init__(self, judged: JudgedAdapter) -> None:
        self.judged = judged

    @cached_property
    def session(self) -> Session:
        """The session, begun at the first vector. Raises `ConformError`."""
        context, connection = self.judged.context, self.judged.connect()
        check_hello(connection.welcome, self.judged.resolved.suite.manifest)
        made = Session(
            connection, siblings(context), context.start.deadlines, secrets.token_hex(4),
            context.variables or None,
        )  # fmt: skip
        made.judge.set_types(context.types)
        return made

    def begin(self) -> Session:
        """Opens the connection, if it is not open. Raises `ConformError`."""
        return self.session

    def canaries(self, sample: list[VectorItem]) -> list[Canary]:
        """What shows that this suite and this judge can fail: the reference conforms, and what
        does nothing, each mutant and a vector with a changed expectation diverge. The answers of
        the sample are derived again."""
        context = self.judged.context
        usable = [item for item in sample if self._conforms(item)][:1]
        return [
            *canaries.of_worker(context, sample, "pytest"),
            *canaries.of_run(context),
            *canaries.derive_again(context, sample, "pytest"),
            *canaries.on_target(self.session, usable, "pytest"),
        ]

    def _conforms(self, item: VectorItem) -> bool:
        judgement = next(iter(self.session.run([item], 1)))
        return canaries.can_be_canary(judgement.assessments[0].verdict.kind)

    def close(self) -> None:
        """End the connection, if there is one."""
        if "session" in self.__dict__:
            self.session.connection.close()
