"""Explains what can be wrong with a cluster of Spark, each in one sentence."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from conform.console.errors import Incomplete, MissingEngine

_ANSWER_SECONDS = 5.0
_ALONE_SECONDS = 60.0
_STANDALONE = re.compile(r"([^:,/]+|\[[^]]+\]):(\d+)")
_VERSION = re.compile(r"worker has different version: (\S+?) than that in driver: (\S+?),")
_MODULE = re.compile(r"ModuleNotFoundError: No module named '(\w+)")
_PROGRAM = re.compile(r'Cannot run program "([^"]+)"')
_SCHEME = "spark://"


def is_local(master: str) -> bool:
    """Whether the workers of a master are processes on this machine that it starts itself."""
    return master.startswith("local")


def address_of(master: str, instead: str) -> str:
    """The address of this machine by which the first of the standalone masters that answers
    reaches it; "" for clusters of other kinds. Raises `MissingEngine` if none answers."""
    if not master.startswith(_SCHEME):
        return ""
    why = "it names no HOST:PORT"
    for host, port in _STANDALONE.findall(master.removeprefix(_SCHEME)):
        try:
            with socket.create_connection((host.strip("[]"), int(port)), _ANSWER_SECONDS) as link:
                return str(link.getsockname()[0])
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or str(error)
    raise MissingEngine(
        f"the Spark master {master} does not answer ({why}); start it, name another with --master,"
        f" or use {instead}"
    )


@dataclass(slots=True)
class ClusterWatch:
    """Looks whether a job has workers; `workers` counts them."""

    master: str
    workers: Callable[[], int]
    patience: float = _ALONE_SECONDS
    alone: float = field(default_factory=time.monotonic)

    def look(self) -> None:
        """Raises `Incomplete` if there was no worker for a while."""
        now = time.monotonic()
        if self.workers() > 0:
            self.alone = now
        if now - self.alone > self.patience:
            raise Incomplete(
                f"{self.master} has had no worker for this run in {self.patience:.0f} s: all are"
                " gone, busy, or have too little memory; repeat the command to go on"
            )


def why_lost(said: str) -> str:
    """Why a job ended, from what Spark says: one sentence with a remedy."""
    if found := _VERSION.search(said):
        return (
            f"a worker has Python {found[1]}, and this is Python {found[2]}; name one of the same"
            " version in PYSPARK_PYTHON"
        )
    if found := _MODULE.search(said):
        return (
            f"the workers' Python lacks the package {found[1]}; install what `conform help cluster`"
            " lists, or name another Python in PYSPARK_PYTHON"
        )
    if found := _PROGRAM.search(said):
        return f"a worker has no program {found[1]}; name its Python in PYSPARK_PYTHON"
    first = (said.strip().splitlines() or ["without a word"])[0][:200]
    return f"Spark gave up ({first}); repeat the command to go on"
