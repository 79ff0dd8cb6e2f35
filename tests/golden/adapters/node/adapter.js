/** An adapter of the component library of sample.kinds: it drives one implementation. */

import { serve, Unsupported } from "./charter/protocol.js";

class Adapter {
  /**
   * Clears everything of earlier questions, and configures the implementation with the constants of
   * this one. A given state is loaded if the adapter claims `load`.
   * @param {import("./charter/protocol.js").Question} question
   */
  start(question) {}

  /** Returns the state as it is. */
  observe() {
    return {
      members: new Map(),
      moves: new Set(),
      open: new Map(),
      prices: new Map(),
      colours: new Map(),
      seen: new Set(),
    };
  }

  /**
   * A node comes, with a cookie of its own.
   *
   * S1 joining
   */
  joinLibrary({ node, cookie, sessionId, statuses }) {
    throw new Unsupported("join_library");
  }

  handle({ orders, epochs, at }) {
    throw new Unsupported("handle");
  }

  failover() {
    throw new Unsupported("failover");
  }

  type({ move, limit }) {
    throw new Unsupported("type");
  }
}

await serve({ name: "library", version: "0.1" }, new Adapter());
