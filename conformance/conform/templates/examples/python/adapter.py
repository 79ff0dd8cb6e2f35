"""An adapter of the component service of lease: it drives the lease service in lease.py."""

from __future__ import annotations

import protocol
from lease import Lease, LeaseService
from protocol import Acquired, Busy, Client, Granted, Lock, Token


class Adapter(protocol.Adapter):
    """It holds the service."""

    service: LeaseService

    def start(self, question: protocol.Question) -> None:
        self.service = LeaseService(question.consts.ttl, [*question.sorts.lock])
        if question.given is not None:
            self._load(question.given)

    def _load(self, given: protocol.Given) -> None:
        for name, token in given.newest.items():
            self.service.locks[name].newest = token
        for name, held in given.lease.items():
            if held is not None:
                self.service.locks[name].lease = Lease(held.holder, held.token, held.left)

    def observe(self) -> protocol.Observation:
        locks = self.service.locks
        return protocol.Observation(
            lease={Lock(name): _shown(lock.lease) for name, lock in locks.items()},
            newest={Lock(name): Token(lock.newest) for name, lock in locks.items()},
        )

    def acquire(self, client: Client, lock: Lock) -> Acquired:
        token = self.service.acquire(client, lock)
        return Busy() if token is None else Granted(Token(token))

    def renew(self, client: Client, lock: Lock, token: Token) -> bool:
        return self.service.renew(client, lock, token)

    def release(self, client: Client, lock: Lock, token: Token) -> bool:
        return self.service.release(client, lock, token)

    def tick(self) -> frozenset[Lock]:
        return frozenset(Lock(name) for name in self.service.tick())


def _shown(lease: Lease | None) -> protocol.Lease | None:
    if lease is None:
        return None
    return protocol.Lease(Client(lease.holder), Token(lease.token), lease.left)


if __name__ == "__main__":
    protocol.serve_sessions(protocol.about("lease-python", "1.0", ("load",)), Adapter, 64)
