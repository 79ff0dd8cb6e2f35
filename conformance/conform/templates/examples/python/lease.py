"""A lease service in memory, the implementation that is judged."""

from __future__ import annotations

from dataclasses import dataclass

# Two planted bugs for the judge to find; set them to False to mend the service.
TOKEN_IS_REUSED = True  # a lock that was released is granted again with its old token
RELEASED_IS_RENEWED = True  # a lease that was released can still be renewed


@dataclass(slots=True)
class Lease:
    """Who holds a lock, with which token, for how many more ticks."""

    holder: str
    token: int
    left: int


@dataclass(slots=True)
class Lock:
    """A lock: its newest token, its lease, and the last lease that was released."""

    newest: int = 0
    lease: Lease | None = None
    released: Lease | None = None

    def is_held(self, client: str, token: int) -> bool:
        """Whether a client has the lock, and with this token."""
        return self.lease is not None and (self.lease.holder, self.lease.token) == (client, token)


class LeaseService:
    """Grants locks for `ttl` ticks."""

    def __init__(self, ttl: int, locks: list[str]) -> None:
        self.ttl = ttl
        self.locks = {name: Lock() for name in locks}

    def acquire(self, client: str, name: str) -> int | None:
        """The token of the new lease; None if somebody holds the lock."""
        lock = self.locks[name]
        if lock.lease is not None:
            return None
        if lock.released is None or not TOKEN_IS_REUSED:
            lock.newest += 1
        lock.lease = Lease(client, lock.newest, self.ttl)
        return lock.newest

    def renew(self, client: str, name: str, token: int) -> bool:
        """Start the time of a lease again."""
        lock = self.locks[name]
        if lock.lease is None and RELEASED_IS_RENEWED:
            lock.lease, lock.released = lock.released, None
        if lock.lease is None or not lock.is_held(client, token):
            return False
        lock.lease.left = self.ttl
        return True

    def release(self, client: str, name: str, token: int) -> bool:
        """End a lease."""
        lock = self.locks[name]
        if not lock.is_held(client, token):
            return False
        lock.released, lock.lease = lock.lease, None
        return True

    def tick(self) -> list[str]:
        """Let time pass; returns the locks whose leases end."""
        ended = []
        for name, lock in self.locks.items():
            if lock.lease is None:
                continue
            lock.lease.left -= 1
            if lock.lease.left == 0:
                lock.lease = None
                ended.append(name)
        return ended
