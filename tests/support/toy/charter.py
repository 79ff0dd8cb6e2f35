"""The keeper as its charter has it."""

from tests.support.toy.machine import export

export(globals())
