"""What stops a command, in the order in which a run talks to an implementation.

Each error is one sentence with its remedy, shown without a traceback; `exit_code` is what the
command line ends with. What an implementation does wrong is no error: it is a verdict.
"""

from __future__ import annotations


class ConformError(Exception):
    """Base of all that the command line shows as one sentence."""

    exit_code = 2


class UnknownTarget(ConformError):
    """First a target is looked up: there is no such folder, or its adapter.toml is not right."""


class UnknownRelease(ConformError):
    """The target does not list the release that was asked for."""


class CannotPrepare(ConformError):
    """The target's `prepare` command fetches and compiles: a JDK, a jar, a registry is missing."""


class CannotStart(ConformError):
    """The adapter is started and greeted: it did not come up, or it is not what was asked for."""


class BadSuite(ConformError):
    """The vectors are read: a file is cut off, foreign, or not there."""


class BadRun(ConformError):
    """An earlier run is read: the folder is not one, or it was made with something else."""


class MissingEngine(ConformError):
    """The engine is started: pyspark or Java is not there, or Spark could not start."""


class CannotWrite(ConformError):
    """Verdicts are written: the disk is full, or the folder may not be written to."""


class Incomplete(ConformError):
    """The run ended before all vectors were judged; what was judged is kept."""

    exit_code = 3


class ModelBug(ConformError):
    """A generated model fails while a run is followed: nothing is known of the target."""

    exit_code = 5


class Untrustworthy(ConformError):
    """A canary misbehaved, so nothing that the run says can be relied on."""

    exit_code = 3


class Interrupted(ConformError):
    """A search was interrupted."""

    exit_code = 130
