"""The charter's model, but its rule for `expire` has a bug: it fails where it is asked."""

from tests.support.toy.machine import export

export(globals(), "has_a_bug")
