"""The charter's model with a bug: its rule for `expire` raises an exception."""

from tests.support.toy.machine import export

export(globals(), "has_a_bug")
