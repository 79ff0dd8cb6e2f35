"""Defines the errors that end a command, in the order of the phases of a run.

Each message is one sentence with its remedy, shown without a traceback; `exit_code` is the exit
code of the command line. Mistakes of an implementation are verdicts, not errors.
"""

from __future__ import annotations


def first_line(error: Exception) -> str:
    """The first line of an error's text, at most 200 characters; its kind if it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


class ConformError(Exception):
    """Base of all that the command line shows as one sentence."""

    exit_code = 2


class UnknownTarget(ConformError):
    """A target does not exist, or its adapter.toml is invalid."""


class UnknownRelease(ConformError):
    """The target does not list the requested release."""


class BadParameter(ConformError):
    """A parameter of a target is unknown, or has no value."""


class CannotPrepare(ConformError):
    """The target's `prepare` command failed: a JDK, a jar or a registry is missing. `stderr` has
    the last lines of what it wrote there, which our stderr has, too."""

    def __init__(self, sentence: str, stderr: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.stderr = stderr


class CannotStart(ConformError):
    """The adapter did not start, or is not of the requested version."""


class BadHello(ConformError):
    """The adapter's hello names something that the charter does not have."""


class BadSuite(ConformError):
    """A suite cannot be read: a file is truncated, of another format, or missing."""


class BadBaseline(ConformError):
    """A file of known findings cannot be read."""


class BadRun(ConformError):
    """The folder of an earlier run cannot be read, or does not fit."""


class MissingEngine(ConformError):
    """pyspark or Java is missing, or Spark could not start."""


class MissingExtra(ConformError):
    """An optional package is not installed."""


class CannotWrite(ConformError):
    """The disk is full, or the folder is not writable."""


class Incomplete(ConformError):
    """The run ended before all vectors were judged; finished buckets are kept."""

    exit_code = 3


class ModelBug(ConformError):
    """A generated model has a bug, so nothing can be said about the target."""

    exit_code = 5


class Untrustworthy(ConformError):
    """A canary misbehaved, so the run cannot be trusted."""

    exit_code = 3


class Interrupted(ConformError):
    """A search was interrupted; `ended` is how, and has the exit code."""

    def __init__(self, sentence: str, ended: KeyboardInterrupt) -> None:
        super().__init__(sentence)
        self.exit_code = getattr(ended, "exit_code", 130)
