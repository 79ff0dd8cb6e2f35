/**
 * The adapter's side of the adapter protocol: reads the judge's questions from stdin, calls the
 * adapter that you write, and answers on stdout with what was observed.
 *
 * sdk.js and codecs.js are the same for every charter; protocol.js has the types of yours, and is
 * written anew by `conform generate --adapter node`.
 */

import { canonical } from "./codecs.js";

const VERSION = 1;

/**
 * An operation throws it if the implementation failed in a way that the charter does not name. It
 * ends the question.
 */
export class Fault extends Error {
  constructor(name, message = "") {
    super(message);
    this.name = name;
  }
}

/** Thrown for what the adapter cannot do; it names the operation or capability. */
export class Unsupported extends Error {}

/** `start` throws it if the given state did not come back. */
export class NotLoadable extends Error {}

/** A reference leads to no value in the observations. */
class Dangling extends Error {}

/**
 * What hello says about the adapter. Lists that are left out stand for everything that the charter
 * has.
 * @typedef {object} About
 * @property {string} name
 * @property {string} version - of the implementation that was found
 * @property {string[]} [capabilities] - "load" if `start` can load a given state, "image" if there
 *   is a method `image`
 * @property {string[]} [operations]
 * @property {string[]} [observes]
 * @property {string[]} [consts] - the constants that `start` configures the implementation with
 */

/**
 * Answers the judge until it says bye or stdin ends. `component` is in protocol.js.
 * @param {About} about
 */
export function serve(about, adapter, component) {
  return serveSessions(about, () => adapter, 1, component);
}

/**
 * As `serve`, with so many sessions at once, each on an adapter that `make` returns. Only for
 * adapters that share nothing, such as a server.
 * @param {About} about
 * @param {number} sessions
 */
export async function serveSessions(about, make, sessions, component) {
  const server = new Server(about, make, sessions, component);
  for await (const line of lines(process.stdin)) {
    const message = JSON.parse(line);
    if (message.bye) {
      return;
    }
    const answer = await server.answer(message);
    process.stdout.write(`${canonical(answer)}\n`);
  }
}

async function* lines(stream) {
  let rest = "";
  stream.setEncoding("utf8");
  for await (const chunk of stream) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop();
    yield* parts;
  }
}

/** Adapters are `idle`, or each has a session in `open`. */
class Server {
  open = new Map();

  constructor(about, make, sessions, component) {
    this.about = {
      capabilities: [],
      operations: Object.keys(component.operations),
      observes: component.observes,
      consts: component.constNames,
      ...about,
    };
    this.make = make;
    this.idle = [make()];
    this.sessions = sessions;
    this.component = component;
  }

  async answer(message) {
    if (!("hello" in message)) {
      return this.run(message);
    }
    if (message.hello !== VERSION) {
      return { hello: VERSION };
    }
    this.greeting = message;
    await this.idle[0].hello?.(message);
    const consts = this.about.consts.filter(
      (name) => name in (message.consts ?? {}),
    );
    return {
      hello: VERSION,
      ...this.about,
      component: this.component.name,
      consts,
      sessions: this.sessions,
    };
  }

  async run({ run, questions, end = [], begin = [], steps = [] }) {
    const shared = new Shared();
    const results = [];
    this.end(questions ? [...this.open.keys()] : end);
    for (const question of questions ?? []) {
      const execution = new Execution(this, this.idle[0], question);
      results.push(await execution.answer(shared, question.operations, true));
    }
    for (const question of begin) {
      results.push(await this.begin(question, shared));
    }
    for (const step of steps) {
      results.push(await this.step(step, shared));
    }
    return { run, values: shared.values, results };
  }

  /** Opens a session; the result has its first state. */
  async begin(question, shared) {
    this.end([question.id]);
    if (this.open.size >= this.sessions) {
      return failed(question, `${this.sessions} sessions are open`);
    }
    if (this.idle.length === 0) {
      const made = this.make();
      await made.hello?.(this.greeting);
      this.idle.push(made);
    }
    const execution = new Execution(this, this.idle.pop(), question);
    this.open.set(question.id, execution);
    return this.endIfOver(execution, await execution.answer(shared, [], true));
  }

  /** Performs one operation of a session. */
  async step(step, shared) {
    const execution = this.open.get(step.id);
    if (execution === undefined) {
      return failed(step, `no session ${step.id} is open`);
    }
    return this.endIfOver(execution, await execution.answer(shared, [step]));
  }

  endIfOver(execution, result) {
    if (execution.over) {
      this.end([execution.question.id]);
    }
    return result;
  }

  /** Ends those of these sessions that are open. */
  end(ids) {
    for (const id of ids) {
      const execution = this.open.get(id);
      if (execution !== undefined) {
        this.open.delete(id);
        this.idle.push(execution.adapter);
      }
    }
  }
}

function failed({ id, nonce }, detail) {
  return { id, nonce, status: "error", detail, steps: [] };
}

function statusOf(error) {
  if (error instanceof Dangling) return "unresolved";
  if (error instanceof Unsupported) return "unsupported";
  if (error instanceof NotLoadable) return "not_loadable";
  return "error";
}

/** Where the adapter or its implementation threw: ` (adapter.js:12)`, or "". */
function placeOf(error) {
  const frames = String(error?.stack ?? "")
    .split("\n")
    .filter((line) => /^\s*at /.test(line));
  const own = frames.find(
    (line) => !/^\s*at async |node:|[/\\]charter[/\\]/.test(line),
  );
  const place = /([^/\\]+:\d+):\d+\)?$/.exec(own ?? "");
  return place ? ` (${place[1]})` : "";
}

/** The values of a batch, each once. */
class Shared {
  values = [];
  #indices = new Map();

  add(value) {
    const text = canonical(value);
    if (!this.#indices.has(text)) {
      this.#indices.set(text, this.values.length);
      this.values.push(value);
    }
    return this.#indices.get(text);
  }
}

/**
 * A question or a session, and what was observed so far. It is over after a fault and after an
 * error.
 */
class Execution {
  history = { observations: [], replies: [] };
  over = false;

  constructor({ about, component }, adapter, question) {
    this.about = about;
    this.adapter = adapter;
    this.component = component;
    this.question = question;
  }

  /** Performs operations, after the start if it starts. Whatever goes wrong affects no other. */
  async answer(shared, operations, starts = false) {
    const { id, nonce } = this.question;
    this.shared = shared;
    this.steps = [];
    try {
      await this.performAll(operations, starts);
      return { id, nonce, status: "ok", detail: "", steps: this.steps };
    } catch (error) {
      this.over = true;
      const status = statusOf(error);
      if (status === "error") {
        console.error(error);
      }
      const steps = status === "unresolved" ? this.steps : [];
      return {
        id,
        nonce,
        status,
        detail:
          String(error?.message ?? error) +
          (status === "error" ? placeOf(error) : ""),
        steps,
      };
    }
  }

  async performAll(operations, starts) {
    if (starts) {
      await this.start();
    }
    for (const { operation, args } of operations) {
      const resolved = resolve(args, this.history);
      let reply;
      try {
        reply = await this.perform(operation, resolved);
      } catch (error) {
        if (!(error instanceof Fault)) {
          throw error;
        }
        const fault = { fault: error.name, message: error.message };
        this.steps.push([this.shared.add(fault), -1, -1]);
        this.over = true;
        return;
      }
      this.history.replies.push(reply);
      await this.observe(this.shared.add(reply));
    }
  }

  async start() {
    const { component, question } = this;
    await this.call("start", {
      id: question.id,
      sorts: component.sorts.decode({
        ...component.noSorts,
        ...question.sorts,
      }),
      consts: component.consts.decode(question.consts ?? {}),
      given: question.given && component.given.decode(question.given),
    });
    this.history.replies.push(null);
    await this.observe(-1);
  }

  async perform(operation, args) {
    const known = this.component.operations[operation];
    if (known === undefined) {
      throw new Unsupported(operation);
    }
    return known.reply.encode(
      await this.call(known.method, known.args.decode(args)),
    );
  }

  /** Calls a method of the adapter. */
  call(method, ...args) {
    const { adapter } = this;
    if (typeof adapter[method] !== "function") {
      const there = methodsOf(adapter).join(", ") || "none";
      throw new Error(`the adapter has no method ${method}; it has: ${there}`);
    }
    return adapter[method](...args);
  }

  /** Adds the step of a reply. */
  async observe(reply) {
    const observation = this.show(await this.call("observe"));
    const { delta } = this.question;
    const step = this.history.observations.length;
    const wanted = delta === "each" || delta.includes(step);
    let image = -1;
    if (wanted && this.about.capabilities.includes("image")) {
      image = this.shared.add(this.show(await this.call("image")));
    }
    this.history.observations.push(observation);
    this.steps.push([reply, this.shared.add(observation), image]);
  }

  /** The variables that hello named. */
  show(observation) {
    const shown = this.component.observation.encode(observation);
    return Object.fromEntries(
      this.about.observes.map((name) => [name, shown[name]]),
    );
  }
}

/** The names of the methods of an object and its class. */
function methodsOf(adapter) {
  const own = Object.getOwnPropertyNames(Object(adapter));
  const shared = Object.getOwnPropertyNames(
    Object.getPrototypeOf(Object(adapter)),
  );
  return [...own, ...shared].filter(
    (name) => typeof adapter[name] === "function" && name !== "constructor",
  );
}

/** `args` with each reference replaced by what stands there. */
function resolve(value, history) {
  if (Array.isArray(value)) {
    return value.map((item) => resolve(item, history));
  }
  if (value === null || typeof value !== "object") {
    return value;
  }
  if (isReference(value)) {
    const shown = value.in === "reply" ? history.replies : history.observations;
    return lookUp(value.ref, value.plus ?? 0, shown);
  }
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, item]) => [key, resolve(item, history)]),
  );
}

/** Whether an object stands for an earlier value; a record of the charter may have a field `ref`. */
function isReference(value) {
  const known = Object.keys(value).every((key) =>
    ["ref", "plus", "in"].includes(key),
  );
  return known && Array.isArray(value.ref);
}

/** What stands at a path: the number of a step, then keys and positions. */
function lookUp(path, plus, shown) {
  let value = shown;
  for (const part of path) {
    value = Object.hasOwn(Object(value), part) ? value[part] : null;
  }
  if (value === null) {
    throw new Dangling(`nothing stands at ${path.join(".")}`);
  }
  if (plus !== 0 && typeof value !== "number") {
    throw new Dangling(`${path.join(".")} is no number`);
  }
  return plus === 0 ? value : value + plus;
}
