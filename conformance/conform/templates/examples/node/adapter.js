/** An adapter of the component service of lease: it drives the lease service in lease.js. */

import { serveSessions } from "./charter/protocol.js";
import { LeaseService } from "./lease.js";

class Adapter {
  start({ sorts, consts, given }) {
    this.service = new LeaseService(consts.ttl, sorts.lock.keys());
    if (given !== null) {
      this.load(given);
    }
  }

  load({ lease, newest }) {
    for (const [name, lock] of this.service.locks) {
      lock.newest = newest.get(name);
      lock.lease = lease.get(name);
    }
  }

  observe() {
    const lease = new Map();
    const newest = new Map();
    for (const [name, lock] of this.service.locks) {
      lease.set(name, lock.lease);
      newest.set(name, lock.newest);
    }
    return { lease, newest };
  }

  acquire({ client, lock }) {
    const token = this.service.acquire(client, lock);
    return token === null ? { case: "busy" } : { case: "granted", token };
  }

  renew({ client, lock, token }) {
    return this.service.renew(client, lock, token);
  }

  release({ client, lock, token }) {
    return this.service.release(client, lock, token);
  }

  tick() {
    return new Set(this.service.tick());
  }
}

await serveSessions(
  { name: "lease-node", version: "1.0", capabilities: ["load"] },
  () => new Adapter(),
  64,
);
