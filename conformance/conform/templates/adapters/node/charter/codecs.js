/**
 * How values of the charter's types are written as JSON, and read. A codec has two functions:
 * `encode` and `decode`.
 */

/** The number in an argument that asks for one which the implementation never allotted. */
export const NEVER_ISSUED = 999_999_999;

/** The same for a text. */
export const NEVER_ISSUED_TEXT = "never issued";

const same = (value) => value;

/** A value for people: texts stand in quotes, so that "1" differs from 1. */
const shown = (value) =>
  typeof value === "string" ||
  Object.getPrototypeOf(Object(value)) === Object.prototype
    ? JSON.stringify(value)
    : String(value);

/** An integer that JavaScript has exactly; JSON.parse rounds those past 2^53 without a word. */
function exact(value) {
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(
      `${shown(value)} is no integer between -2^53 and 2^53`,
    );
  }
  return value;
}

/** Without this, JSON.stringify would leave out or change another value. */
const typed = (type, what) => (value) => {
  if (typeof value !== type) {
    throw new TypeError(`${shown(value)} is no ${what}`);
  }
  return value;
};

/** The items, encoded. `Array.from` would take an object without items for an empty array. */
function encoded(values, what, encode) {
  if (typeof values !== "object" || values?.[Symbol.iterator] === undefined) {
    throw new TypeError(`${shown(values)} is no ${what}`);
  }
  return Array.from(values, encode);
}

/** Calls `make`; where it throws, the message begins with the place. */
function at(place, make) {
  try {
    return make();
  } catch (error) {
    error.message = `${place}: ${error.message}`;
    throw error;
  }
}

const isWish = (value) => value?.never_issued === true;

/** Truth values. */
export const bool = { encode: typed("boolean", "truth value"), decode: same };

/** Integers between -2^53 and 2^53. */
export const int = { encode: exact, decode: exact };

/** Elements of a sort and members of an enum. */
export const name = { encode: typed("string", "name"), decode: same };

/** A counter. */
export const counter = {
  encode: exact,
  decode: (value) => (isWish(value) ? NEVER_ISSUED : exact(value)),
};

/** Numbers that the implementation allots: past 2^53 they are of the type bigint. */
export const opaqueCounter = {
  encode: (value) => `@${typeof value === "bigint" ? value : exact(value)}`,
  decode: (value) => (isWish(value) ? NEVER_ISSUED : integer(value.slice(1))),
};

function integer(digits) {
  const number = Number(digits);
  return Number.isSafeInteger(number) ? number : BigInt(digits);
}

/** Texts that the implementation allots. */
export const opaque = {
  encode: (value) => `~${value}`,
  decode: (value) => (isWish(value) ? NEVER_ISSUED_TEXT : value.slice(1)),
};

/** `null`, or a value. */
export const option = (inner) => ({
  encode: (value) => {
    if (value === undefined) {
      throw new TypeError(
        "undefined is no value; write null where there is none",
      );
    }
    return value === null ? null : inner.encode(value);
  },
  decode: (value) => (value === null ? null : inner.decode(value)),
});

/** A sequence or a ranking: an array. */
export const list = (inner) => ({
  encode: (values) => encoded(values, "array", inner.encode),
  decode: (values) => values.map(inner.decode),
});

/** A set: a Set. */
export const set = (inner) => ({
  encode: (values) => sorted(encoded(values, "Set", inner.encode)),
  decode: (values) => new Set(values.map(inner.decode)),
});

/** A map whose keys are names: a Map. */
export const map = (inner) => ({
  encode: (values) =>
    once(
      encoded(values, "Map", ([key, value]) => [
        key,
        at(key, () => inner.encode(value)),
      ]),
    ),
  decode: (object) =>
    new Map(
      Object.entries(object).map(([key, value]) => [key, inner.decode(value)]),
    ),
});

/** The object with these entries; an object would keep the last one of a key that is there twice. */
function once(entries) {
  const object = Object.fromEntries(entries);
  if (Object.keys(object).length < entries.length) {
    const keys = entries.map(([key]) => String(key));
    const key = keys.find((key, place) => keys.indexOf(key) < place);
    throw new TypeError(`a map has the key ${JSON.stringify(key)} twice`);
  }
  return object;
}

/** A map whose keys are truth values: a Map. */
export const boolMap = (inner) => ({
  encode: map(inner).encode,
  decode: (object) =>
    new Map(
      [...map(inner).decode(object)].map(([key, v]) => [key === "true", v]),
    ),
});

/** A map with other keys: a Map. */
export const pairs = (key, inner) => ({
  encode: (values) =>
    sorted(
      encoded(values, "Map", ([k, v]) => [key.encode(k), inner.encode(v)]),
    ),
  decode: (entries) =>
    new Map(entries.map(([k, v]) => [key.decode(k), inner.decode(v)])),
});

/** Calls `make`; if it throws for a property that `value` lacks, the message has what is there. */
function there(value, property, fields, make) {
  try {
    return make();
  } catch (error) {
    const others = Object.keys(value).filter(
      (name) => !(name in fields) && name !== "case",
    );
    if (!(property in value) && others.length > 0) {
      error.message += `; there is no ${property}, but ${others.join(", ")}`;
    }
    throw error;
  }
}

/** An object; `fields` maps its properties to the charter's names and to codecs. */
export const record = (fields) => ({
  encode: (value) =>
    Object.fromEntries(
      Object.entries(fields).map(([property, [field, codec]]) => [
        field,
        at(field, () =>
          there(value, property, fields, () => codec.encode(value[property])),
        ),
      ]),
    ),
  decode: (object) =>
    Object.fromEntries(
      Object.entries(fields).map(([property, [field, codec]]) => [
        property,
        codec.decode(object[field]),
      ]),
    ),
});

/** An object with the name of its case in `case`; `cases` maps these to codecs of the rest. */
export const union = (cases) => ({
  encode: (value) => ({ case: value.case, ...of(cases, value).encode(value) }),
  decode: (object) => ({
    case: object.case,
    ...of(cases, object).decode(object),
  }),
});

function of(cases, value) {
  const codec = cases[value.case];
  if (codec === undefined) {
    throw new TypeError(
      `${JSON.stringify(value.case)} is no case of ${Object.keys(cases).join(", ")}`,
    );
  }
  return codec;
}

/** The text of JSON with sorted keys and without spaces. */
export function canonical(value) {
  if (Array.isArray(value)) {
    return `[${value.map(canonical).join(",")}]`;
  }
  if (value !== null && typeof value === "object") {
    const keys = Object.keys(value).sort();
    const entries = keys.map(
      (key) => `${JSON.stringify(key)}:${canonical(value[key])}`,
    );
    return `{${entries.join(",")}}`;
  }
  return JSON.stringify(value);
}

/** The items in canonical order. Repeats stay: the judge tells them. */
function sorted(items) {
  const keyed = items.map((item) => [orderKey(item), item]);
  keyed.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return keyed.map(([, item]) => item);
}

/** What sets and maps are sorted by: in canonical text, "@9" comes before "@10". */
function orderKey(item) {
  return canonical(item).replace(/"@(-?\d+)"/g, (_, digits) => {
    const number = BigInt(digits) + 10n ** 20n;
    return `"@${number.toString().padStart(21, "0")}"`;
  });
}
