"""A mutant: writes under a stale epoch are committed."""

from tests.support.toy.machine import export

export(globals(), "no_epoch_check")
