"""Implementations of the toy protocol with one planted bug each, and the fewest operations and
nodes that show it."""

from tests.support.fakes.fake import Fake
from tests.support.toy.machine import Machine, Outcome, reject


class KeepsLeader(Machine):
    least = (3, 1)  # register, elect, expire

    def expire(self, state, node):
        for outcome in super().expire(state, node):
            yield outcome._replace(state=outcome.state._replace(leader=state.leader))


class KeepsSessions(Machine):
    least = (3, 1)  # register, failover, elect

    def failover(self, state):
        yield Outcome("failover/done", True, state)


class WrongError(Machine):
    least = (1, 1)  # elect

    def elect(self, state):
        for outcome in super().elect(state):
            nobody = outcome.branch == "elect/nobody"
            yield outcome._replace(reply=reject("NOT_LEADER")) if nobody else outcome


class ReusesEpoch(Machine):
    least = (2, 1)  # register, register

    def register(self, state, node):
        for outcome in super().register(state, node):
            known = state.epoch(node)
            if known is None:
                yield outcome
                continue
            reply = {"case": "registered", "epoch": f"@{known}"}
            yield outcome._replace(reply=reply, state=outcome.state._replace(epochs=state.epochs))


class ExpiresTwice(Machine):
    least = (1, 1)  # expire

    def expire(self, state, node):
        for outcome in super().expire(state, node):
            yield outcome._replace(reply=True)


class ExpiresAll(Machine):
    least = (3, 2)  # register one, expire the other, then it

    def expire(self, state, node):
        for outcome in super().expire(state, node):
            yield outcome._replace(state=outcome.state._replace(session=frozenset()))


class SkipsVersion(Machine):
    least = (3, 1)  # register, elect, elect

    def elect(self, state):
        again = state.leader is not None
        for outcome in super().elect(state):
            version = outcome.state.version + (again and outcome.branch == "elect/chosen")
            yield outcome._replace(state=outcome.state._replace(version=version))


class OneEpochForAll(Machine):
    least = (2, 2)  # register both

    def register(self, state, node):
        for outcome in super().register(state, node):
            epochs = tuple((name, epoch and outcome.state.issued)
                           for name, epoch in outcome.state.epochs)  # fmt: skip
            yield outcome._replace(state=outcome.state._replace(epochs=epochs))


class AnyVersion(Machine):
    least = (3, 1)  # register, elect, write

    def write(self, state, node, epoch, version):
        yield from super().write(state, node, epoch, state.version)


class LeaderForgets(Machine):
    least = (3, 2)  # register, elect, register the other

    def register(self, state, node):
        for outcome in super().register(state, node):
            stays = state.leader in {None, node}
            yield outcome if stays else outcome._replace(state=outcome.state._replace(leader=None))


BUGS = (KeepsLeader, KeepsSessions, WrongError, ReusesEpoch, ExpiresTwice, ExpiresAll, SkipsVersion,
        OneEpochForAll, AnyVersion, LeaderForgets)  # fmt: skip


def implementation(bug):
    """An adapter of an implementation with a bug."""

    class Planted(Fake):
        model_module = bug()

    return Planted()
