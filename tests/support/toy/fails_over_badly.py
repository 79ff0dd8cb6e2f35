"""A sibling: a failover may throw an exception while there is a leader."""

from dataclasses import dataclass

from tests.support.toy.machine import export

export(globals())


@dataclass(frozen=True, slots=True)
class Fault:
    branch: str
    exception: str
    saying: str


def fails(state, operation, args):
    if operation == "failover" and state.leader is not None:
        return [Fault("failover/done", "java.lang.IllegalStateException", "at 0x")]
    return []
