/** A lease service in memory, the implementation that is judged. */

// Two planted bugs for the judge to find; set them to false to mend the service.
const tokenIsReused = true; // a lock that was released is granted again with its old token
const releasedIsRenewed = true; // a lease that was released can still be renewed

export class LeaseService {
  /** Leases last `ttl` ticks. */
  constructor(ttl, names) {
    this.ttl = ttl;
    this.locks = new Map();
    for (const name of names) {
      this.locks.set(name, { newest: 0, lease: null, released: null });
    }
  }

  /** Returns the token of the new lease, or null if somebody holds the lock. */
  acquire(client, name) {
    const lock = this.locks.get(name);
    if (lock.lease !== null) {
      return null;
    }
    if (lock.released === null || !tokenIsReused) {
      lock.newest += 1;
    }
    lock.lease = { holder: client, token: lock.newest, left: this.ttl };
    return lock.newest;
  }

  renew(client, name, token) {
    const lock = this.locks.get(name);
    if (lock.lease === null && releasedIsRenewed) {
      lock.lease = lock.released;
      lock.released = null;
    }
    if (!isHeld(lock, client, token)) {
      return false;
    }
    lock.lease.left = this.ttl;
    return true;
  }

  release(client, name, token) {
    const lock = this.locks.get(name);
    if (!isHeld(lock, client, token)) {
      return false;
    }
    lock.released = lock.lease;
    lock.lease = null;
    return true;
  }

  /** Lets time pass, and returns the locks whose leases end. */
  tick() {
    const ended = [];
    for (const [name, lock] of this.locks) {
      if (lock.lease === null) {
        continue;
      }
      lock.lease.left -= 1;
      if (lock.lease.left === 0) {
        lock.lease = null;
        ended.push(name);
      }
    }
    return ended;
  }
}

function isHeld({ lease }, client, token) {
  return lease !== null && lease.holder === client && lease.token === token;
}
