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
export async function serve(about, adapter, component) {
  const server = new Server(about, adapter, component);
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

class Server {
  constructor(about, adapter, component) {
    this.about = {
      capabilities: [],
      operations: Object.keys(component.operations),
      observes: component.observes,
      consts: component.constNames,
      ...about,
    };
    this.adapter = adapter;
    this.component = component;
  }

  async answer(message) {
    if (!("hello" in message)) {
      return this.run(message);
    }
    if (message.hello !== VERSION) {
      return { hello: VERSION };
    }
    await this.adapter.hello?.(message);
    const consts = this.about.consts.filter(
      (name) => name in (message.consts ?? {}),
    );
    return {
      hello: VERSION,
      ...this.about,
      component: this.component.name,
      consts,
    };
  }

  async run({ run, questions }) {
    const shared = new Shared();
    const results = [];
    for (const question of questions) {
      results.push(await this.ask(question, shared));
    }
    return { run, values: shared.values, results };
  }

  /** Answers one question. Whatever goes wrong affects no other. */
  async ask(question, shared) {
    const asking = new Asking(this, question, shared);
    const { id, nonce } = question;
    try {
      await asking.performAll();
      return { id, nonce, status: "ok", detail: "", steps: asking.steps };
    } catch (error) {
      const status = statusOf(error);
      if (status === "error") {
        console.error(error);
      }
      const steps = status === "unresolved" ? asking.steps : [];
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

/** A question, and what was observed so far. */
class Asking {
  steps = [];
  history = { observations: [], replies: [null] };

  constructor({ about, adapter, component }, question, shared) {
    this.about = about;
    this.adapter = adapter;
    this.component = component;
    this.question = question;
    this.shared = shared;
  }

  async performAll() {
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
    await this.observe(-1);
    for (const { operation, args } of question.operations) {
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
        return;
      }
      this.history.replies.push(reply);
      await this.observe(this.shared.add(reply));
    }
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
    const wanted = delta === "each" || delta.includes(this.steps.length);
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
