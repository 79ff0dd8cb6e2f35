"""Makes the suite of `conform run --exhaustive`: all transitions of an instance."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing

from charter import api
from charter.api.exhaustive import ExhaustedRequest, make_exhaustive
from conform.adapters.stdio import StdioConnection
from conform.cli.search_systems import find_charter
from conform.console.errors import ConformError
from conform.console.progress import tasks
from conform.runs.select import RunSelection, choose, prepare_run

OPTION = "--exhaustive"


def exhaustive_suite(
    target: str, release: str, instance: str, parameters: Mapping[str, str]
) -> str:
    """The folder of the suite for a target, of operations that its hello claims. Raises
    `ConformError`s, and `Refused`."""
    chosen = choose(RunSelection("", target, release, "", parameters))
    about = chosen.suite.manifest
    charter = find_charter(about.protocol, OPTION)
    with closing(StdioConnection(prepare_run(chosen).prepared.start)) as greeted:
        performed = greeted.welcome.operations
    wanted = ExhaustedRequest(charter, about.variant, about.component, instance, performed)
    try:
        with tasks("transitions") as progress:
            return str(make_exhaustive(wanted, progress))
    except api.Missing as missing:
        raise ConformError(f"{OPTION} {instance}: {missing}") from None
