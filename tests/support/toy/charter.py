"""The toy protocol's model without edits."""

from tests.support.toy.machine import export

export(globals())
