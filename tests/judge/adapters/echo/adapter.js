import {
  Fault,
  NEVER_ISSUED_TEXT,
  NotLoadable,
  serveSessions,
  Unsupported,
} from "./charter/protocol.js";

class Echo {
  start({ given }) {
    if (given === null) {
      throw new NotLoadable("nothing is given");
    }
    this.given = given;
  }

  observe() {
    return this.given;
  }

  image() {
    return this.given;
  }

  next({ order, epoch, cookie }) {
    if (cookie === NEVER_ISSUED_TEXT) {
      throw new Fault("NoCookie", "never issued");
    }
    if (cookie === "broken") {
      throw new Error("it is broken");
    }
    if (order.case === "clear_all") {
      throw new Unsupported("clear_all");
    }
    return epoch;
  }
}

await serveSessions(
  { name: "echo", version: "1", capabilities: ["load", "image"] },
  () => new Echo(),
  3,
);
