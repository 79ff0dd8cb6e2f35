"""A sibling: the leader stays when its session expires."""

from tests.support.toy.machine import export

export(globals(), "keeps_leader")
