"""Chooses the engine of a run, and starts it if it is Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from conform.console.extras import is_installed, remedy
from conform.runs.engines.cluster import is_local
from conform.runs.options import Engine, RunOptions

if TYPE_CHECKING:
    from conform.runs.engines.spark_start import StartingSpark


INLINE = 20_000
"""The most vectors that the engine `auto` judges in one process (docs/design/judging.md)."""


def engine_for(options: RunOptions, vectors: int, say: Callable[[str], None]) -> Engine:
    """The engine of a run: inline for what one process judges in seconds, else Spark if it is
    installed. A run that stops at its first finding is judged inline."""
    if options.wanted.first:
        return "inline"
    asked = min(options.limit or vectors, vectors)
    if options.engine == "auto" and not is_local(options.master):
        return "spark"
    if options.engine != "auto" or asked <= INLINE:
        return "inline" if options.engine == "auto" else options.engine
    if is_installed("pyspark"):
        return "spark"
    say(f"{asked:,} vectors are judged in one process; Spark uses all cores: {remedy('pyspark')}")
    return "inline"


def starting_spark(options: RunOptions) -> StartingSpark | None:
    """Spark, which starts while the target is prepared, if the run needs it. Raises
    `MissingEngine` if the master does not answer."""
    if options.engine != "spark":
        return None
    from conform.runs.engines.spark_start import StartingSpark  # slow to import

    return StartingSpark(options.master)
