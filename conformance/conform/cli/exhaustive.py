"""Makes the suite of `conform run --exhaustive`: all transitions of an instance."""

from __future__ import annotations

from collections.abc import Mapping

from charter import api
from charter.api.exhaustive import ExhaustedRequest, make_exhaustive
from conform.cli.search_systems import find_charter
from conform.console.errors import ConformError
from conform.console.progress import tasks
from conform.runs.select import RunSelection, choose

OPTION = "--exhaustive"


def exhaustive_suite(
    target: str, release: str, instance: str, parameters: Mapping[str, str]
) -> str:
    """The folder of the suite for a target. Raises `ConformError`s, and `Refused`."""
    chosen = choose(RunSelection("", target, release, "", parameters))
    about = chosen.suite.manifest
    charter = find_charter(about.protocol, OPTION)
    wanted = ExhaustedRequest(charter, about.variant, about.component, instance)
    try:
        with tasks("transitions") as progress:
            return str(make_exhaustive(wanted, progress))
    except api.Missing as missing:
        raise ConformError(f"{OPTION} {instance}: {missing}") from None
