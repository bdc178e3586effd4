/**
 * pkanon.js: randomise one person's answers on their own device, exactly as plan.json says, and send them.
 *
 * No build step, no other file, no floating point where a draw is made. Three parts:
 *   1. sampling: answers -> codes -> units -> randomised record, from random words;
 *   2. invitations: blind RSA signatures (RFC 9474, RSABSSA-SHA384-PSS-Randomized);
 *   3. sending: one submission, and what the service said to it.
 *
 * A source of words is a function (block, draw, round, bits) => BigInt below 2^bits. A word that is rejected is followed by
 * that of the next round. So written-down words have one outcome, here and in Python (_collect/device.py).
 */

// ---------------------------------------------------------------- 1. sampling

/** Words from the browser's own generator of random numbers. */
export function systemWords(block, draw, round, bits) {
  const bytes = crypto.getRandomValues(new Uint8Array(bits / 8));
  return bytes.reduce((word, byte) => (word << 8n) | BigInt(byte), 0n);
}

/** Words that are written down: "block/draw/round" to decimal digits. For tests and for checking a practice draw. */
export function listedWords(words) {
  return (block, draw, round, bits) => {
    const word = BigInt(words[`${block}/${draw}/${round}`] ?? -1);
    if (word < 0n || word >> BigInt(bits)) throw new RangeError(`There is no word ${block}/${draw}/${round} of ${bits} bits.`);
    return word;
  };
}

/**
 * The plan as the functions below want it: attributes to randomise (in the order of a record), units and blocks.
 * Anything that this module does not understand is refused, because it might change what the plan means.
 * @param {object} json what plan.json holds
 */
export function readPlan(json) {
  if (json.format !== "pkanon-plan/1") throw new Error("The plan has an unknown format.");
  const attributes = json.attributes
    .filter((attribute) => attribute.role === "randomise")
    .map((attribute) => ({ ...attribute, size: domainSize(attribute) + ("other" in attribute) + isOptional(attribute) }));
  const units = json.units.map((unit) => {
    const places = unit.attributes.map((name) => attributes.findIndex((attribute) => attribute.name === name));
    const sizes = places.map((place) => attributes[place].size);
    return { places, sizes, size: unit.size, forbid: unit.forbid ?? [] };
  });
  const blocks = json.blocks.map((block) => {
    const kind = KINDS[block.kind];
    if (!kind || ![16, 32, 64].includes(block.width)) throw new Error("The plan has an unknown kind of block.");
    const own = (block.units ?? [block.unit]).map((place) => units[place]);
    const numbers = kind.numbers(block);
    if (!kind.fits(numbers, own, 1n << BigInt(block.width))) throw new Error("The numbers of a block do not fit.");
    return { ...kind, width: block.width, units: own, numbers };
  });
  return { attributes, units, blocks, records: json.records };
}

const isOptional = (attribute) => attribute.missing === "value";

function domainSize({ values, range, bins }) {
  if (values) return values.length;
  return range ? Number(BigInt(range[1]) - BigInt(range[0])) + 1 : bins.labels.length;
}

/**
 * The code of an answer, or null if the attribute does not allow it.
 * @param {object} attribute one of readPlan(...).attributes
 * @param {string|null} answer the value as plan.json writes it, or a number or date; null is "no answer"
 */
export function codeOf(attribute, answer) {
  if (answer === null) return isOptional(attribute) ? attribute.size - 1 : null;
  const domain = attribute.values ?? attribute.range ?? attribute.bins.edges;
  let code = -1;
  if (attribute.values) {
    code = domain.indexOf(answer);
  } else {
    const value = parsed(answer, attribute.type);
    if (value === null) return null;
    const limits = domain.map((text) => parsed(text, attribute.type));
    if (attribute.range) {
      if (limits[0] <= value && value <= limits[1]) code = Number(value - limits[0]);
    } else {
      const low = ["low", "both"].includes(attribute.bins.open);
      code = limits.filter((edge) => edge <= value).length - 1 + low;
      if (code >= attribute.bins.labels.length) code = -1;
    }
  }
  if (code >= 0) return code;
  return "other" in attribute ? domainSize(attribute) : null;
}

function parsed(text, type) {
  if (type === "date") return /^\d{4}-\d\d-\d\d$/.test(text) ? text : null;
  if (type === "integer") return /^[+-]?\d+$/.test(text) ? BigInt(text.replace("+", "")) : null;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : null;
}

/**
 * One randomised record from one person's codes. Pure: all chance comes from the words.
 * @param {object} plan from readPlan
 * @param {number[]} codes the true answer to each attribute, in the order of the plan
 * @param {(block: number, draw: number, round: number, bits: number) => bigint} words
 * @returns {number[]} the record that may leave the device
 */
export function randomise(plan, codes, words) {
  if (codes.length !== plan.attributes.length || codes.some((code, i) => !inRange(code, plan.attributes[i].size))) {
    throw new RangeError("The answers do not fit the plan.");
  }
  const record = new Array(codes.length);
  plan.blocks.forEach((block, number) => {
    const before = block.units.map((unit) => join(unit, unit.places.map((place) => codes[place])));
    const wordOf = (draw, round, bits) => words(number, draw, round, bits);
    block.draw(block, before, wordOf).forEach((code, i) => {
      const unit = block.units[i];
      split(unit, code).forEach((part, j) => (record[unit.places[j]] = part));
    });
  });
  return record;
}

const inRange = (code, size) => Number.isInteger(code) && code >= 0 && code < size;

/** The code of a unit: its allowed combinations, numbered row by row. */
export function join(unit, codes) {
  const cell = codes.reduce((sum, code, i) => sum * unit.sizes[i] + code, 0);
  if (!unit.forbid.length) return cell;
  const code = allowedCells(unit).indexOf(cell);
  if (code < 0) throw new RangeError("The plan forbids this combination of answers.");
  return code;
}

/** The codes of a unit's attributes; the inverse of join. */
export function split(unit, code) {
  let cell = unit.forbid.length ? allowedCells(unit)[code] : code;
  const codes = unit.sizes.map(() => 0);
  for (let i = codes.length - 1; i >= 0; i--) {
    codes[i] = cell % unit.sizes[i];
    cell = Math.floor(cell / unit.sizes[i]);
  }
  return codes;
}

function allowedCells(unit) {
  if (!unit.cells) {
    const all = unit.sizes.reduce((product, size) => product * size, 1);
    const whole = { ...unit, forbid: [] };
    unit.cells = [];
    for (let cell = 0; cell < all; cell++) if (isPossible(unit, split(whole, cell))) unit.cells.push(cell);
  }
  return unit.cells;
}

/** Whether an allowed combination has these codes; null stands for a code that is still open. */
export function isPossible(unit, codes) {
  if (unit.forbid.some((rule) => rule.every((some, i) => !some.length || some.includes(codes[i])))) return false;
  const open = codes.indexOf(null);
  if (open < 0 || !unit.forbid.length) return true;
  for (let code = 0; code < unit.sizes[open]; code++) {
    if (isPossible(unit, codes.map((known, i) => (i === open ? code : known)))) return true;
  }
  return false;
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0n);

/** The place of the first entry at which the running sum exceeds the word. */
function pick(numbers, word) {
  let place = 0;
  for (let end = numbers[0]; word >= end; end += numbers[place]) place++;
  return place;
}

/** What each kind of block does: its whole numbers, whether they fit, one draw, and the chances of one draw. */
const KINDS = {
  // Keep the value, or replace it by any value: `replace` of the 2^width words lead to each.
  retention: {
    numbers: (block) => BigInt(block.replace),
    fits: (replace, [unit], all) => replace >= 0n && replace * BigInt(unit.size) <= all,
    draw({ units: [unit], numbers: replace, width }, [code], wordOf) {
      if (replace === 0n) return [code];
      const drawn = wordOf(0, 0, width) / replace;
      return [drawn < BigInt(unit.size) ? Number(drawn) : code];
    },
    chances: ({ units: [unit], numbers: replace, width }, [code]) => {
      const each = share(replace, width);
      return [{ each, extra: { [code]: 1 - unit.size * each } }];
    },
    factor({ units: [unit], numbers: replace, width }) {
      return ratio((1n << BigInt(width)) - BigInt(unit.size - 1) * replace, replace);
    },
  },
  // Any matrix: rows[true value][sent value] of the 2^width words.
  matrix: {
    numbers: (block) => block.rows.map((row) => row.map(BigInt)),
    fits: (rows, [unit], all) => rows.length === unit.size && rows.every((row) => row.length === unit.size && sum(row) === all),
    draw: ({ numbers: rows, width }, [code], wordOf) => [pick(rows[code], wordOf(0, 0, width))],
    chances: ({ numbers: rows, width }, [code]) => [{ each: 0, extra: rows[code].map((count) => share(count, width)) }],
    factor({ numbers: rows }) {
      const columns = rows[0].map((_, j) => rows.map((row) => row[j])).filter((column) => sum(column));
      return Math.max(...columns.map((column) => ratio(largest(column), smallest(column))));
    },
  },
  // A set of units keeps its values: sets[mask] of the 2^width words keep just the units in the mask. The others change.
  agreement: {
    numbers: (block) => block.sets.map(BigInt),
    fits: (sets, units, all) => sets.length === 1 << units.length && sum(sets) === all,
    draw({ units, numbers: sets, width }, codes, wordOf) {
      const survivors = pick(sets, wordOf(0, 0, width));
      const bits = Math.min(width, 32);
      let draw = 0;
      return units.map((unit, i) => {
        const kept = (survivors >> i) & 1;
        if (unit.size === 2) return kept ? codes[i] : 1 - codes[i];
        const wide = (1n << BigInt(bits)) / BigInt(unit.size - 1);
        let round = 0;
        let digit = wordOf(++draw, round, bits) / wide;
        while (!kept && digit >= BigInt(unit.size - 1)) digit = wordOf(draw, ++round, bits) / wide;
        if (kept) return codes[i];
        return Number(digit) + (digit >= BigInt(codes[i]) ? 1 : 0);
      });
    },
    chances: ({ units, numbers: sets, width }, codes) =>
      units.map((unit, i) => {
        const kept = share(sum(sets.filter((_, mask) => (mask >> i) & 1)), width);
        const each = (1 - kept) / (unit.size - 1);
        return { each, extra: { [codes[i]]: kept - each } };
      }),
    factor({ units, numbers: sets }) {
      const ways = sets.map((_, mask) => units.reduce((n, unit, i) => n * ((mask >> i) & 1 ? 1 : unit.size - 1), 1));
      const chances = sets.map((count, mask) => Number(count) / ways[mask]);
      return ratio(Math.max(...chances), Math.min(...chances));
    },
  },
};

const share = (count, width) => Number(count) / 2 ** width;
const ratio = (high, low) => (Number(low) ? Number(high) / Number(low) : Infinity);
const largest = (numbers) => numbers.reduce((a, b) => (a > b ? a : b));
const smallest = (numbers) => numbers.reduce((a, b) => (a < b ? a : b));

/**
 * The chance that one attribute is sent as a value, for a person with these codes. For words and practice, not for draws.
 * @returns {(sent: number) => number} the chance of each code of plan.attributes[place]
 */
export function chanceOf(plan, codes, place) {
  const block = plan.blocks.find(({ units }) => units.some((unit) => unit.places.includes(place)));
  const i = block.units.findIndex((unit) => unit.places.includes(place));
  const unit = block.units[i];
  const axis = unit.places.indexOf(place);
  const before = block.units.map((other) => join(other, other.places.map((p) => codes[p])));
  const { each, extra } = block.chances(block, before)[i];
  const more = new Map();
  for (const [code, chance] of Object.entries(extra)) {
    const sent = split(unit, Number(code))[axis];
    more.set(sent, (more.get(sent) ?? 0) + chance);
  }
  const combinations = combinationsOf(unit, axis);
  return (sent) => each * combinations(sent) + (more.get(sent) ?? 0);
}

/** How many allowed combinations of a unit have a code of one of its attributes. */
function combinationsOf(unit, axis) {
  if (!unit.forbid.length) return () => unit.size / unit.sizes[axis];
  const counts = new Array(unit.sizes[axis]).fill(0);
  allowedCells(unit).forEach((_, code) => counts[split(unit, code)[axis]]++);
  return (code) => counts[code];
}

/** Whatever is sent, it changes the odds between two sets of true answers by at most this factor: e^epsilon. */
export function oddsFactor(plan) {
  return plan.blocks.reduce((product, block) => product * block.factor(block), 1);
}

// ---------------------------------------------------------------- 2. invitations

const HASH = "SHA-384";
const HASH_BYTES = 48; // also the length of the salt

/**
 * A fresh token, and what the issuer needs to sign it without seeing it. The token is the randomised preparation of the
 * empty message: 32 random bytes.
 * @param {{n: string, e: string, proof: string[]}} key the survey's public key, base64url
 * @returns {Promise<{token: Uint8Array, blinded: Uint8Array, inverse: bigint}>} keep token and inverse, send blinded
 */
export async function blindToken(key) {
  if (!(await isProven(key))) throw new Error("The key of the invitations has no proof that it hides who was invited.");
  const token = randomBytes(32);
  return { token, ...(await blind(key, token)) };
}

const ROOTS = 8;

/**
 * Whether a key hides what it should. A dishonest issuer could choose one with which blinded tokens can be told apart.
 * Either it lacks e-th roots: the proof holds the roots of eight units that follow from n, so that nobody chose them. Or
 * tokens share a factor with n: none may be small, and `blind` stops at a token that shares a larger one.
 */
export async function isProven(key) {
  const [bytes, e] = [fromBase64(key.n), toInteger(fromBase64(key.e))];
  const n = toInteger(bytes);
  const bits = n.toString(2).length;
  if (e !== 65537n || bits < 2048 || bits > 4096 || !(n & 1n) || key.proof.length !== ROOTS) return false;
  for (let factor = 3n; factor <= e; factor += 2n) if (n % factor === 0n) return false;
  for (let i = 0; i < ROOTS; i++) {
    const seed = joinBytes(new TextEncoder().encode("pkanon invitation key"), bytes, [i]);
    const number = toInteger(await mask(seed, bytes.length + 16)) % n;
    const root = toInteger(fromBase64(key.proof[i]));
    if (root <= 0n || root >= n || inverseOf(root, n) === null || power(root, e, n) !== number) return false;
  }
  return true;
}

/** RFC 9474, Blind; stops at a token that shares a factor with n. The salt and the blinding factor are arguments for tests. */
export async function blind(key, message, salt = randomBytes(HASH_BYTES), factor = null) {
  const n = toInteger(fromBase64(key.n));
  const e = toInteger(fromBase64(key.e));
  const encoded = toInteger(await encodePss(message, n.toString(2).length - 1, salt));
  if (inverseOf(encoded, n) === null) throw new Error("The token shares a factor with the key, which would mark it.");
  let r = factor;
  let inverse = r === null ? null : inverseOf(r, n);
  while (inverse === null) {
    r = randomBelow(n);
    inverse = inverseOf(r, n);
  }
  const length = fromBase64(key.n).length;
  return { blinded: toBytes((encoded * power(r, e, n)) % n, length), inverse };
}

/** RFC 9474, Finalize: the signature of the message, or an error if the issuer did not sign it. */
export async function finalize(key, message, blindSignature, inverse) {
  const bytes = fromBase64(key.n);
  const n = toInteger(bytes);
  const signature = toBytes((toInteger(blindSignature) * inverse) % n, bytes.length);
  if (!(await verify(key, message, signature))) throw new Error("The issuer's signature is wrong.");
  return signature;
}

/** Whether the signature of the message is right: RSASSA-PSS with SHA-384 and a salt of 48 bytes. */
export async function verify(key, message, signature) {
  const jwk = { kty: "RSA", n: key.n, e: key.e, alg: "PS384", ext: true };
  const imported = await crypto.subtle.importKey("jwk", jwk, { name: "RSA-PSS", hash: HASH }, false, ["verify"]);
  return crypto.subtle.verify({ name: "RSA-PSS", saltLength: HASH_BYTES }, imported, signature, message);
}

/** EMSA-PSS-ENCODE of RFC 8017, 9.1.1. */
async function encodePss(message, bits, salt) {
  const length = Math.ceil(bits / 8);
  const hash = await digest(HASH, joinBytes(new Uint8Array(8), await digest(HASH, message), salt));
  const block = new Uint8Array(length - HASH_BYTES - 1);
  block[block.length - salt.length - 1] = 1;
  block.set(salt, block.length - salt.length);
  (await mask(hash, block.length)).forEach((byte, i) => (block[i] ^= byte));
  block[0] &= 0xff >> (8 * length - bits);
  return joinBytes(block, hash, [0xbc]);
}

/** MGF1 of RFC 8017, B.2.1. */
async function mask(seed, length) {
  let result = [];
  for (let i = 0n; result.length < length; i++) result = joinBytes(result, await digest(HASH, joinBytes(seed, toBytes(i, 4))));
  return result.slice(0, length);
}

function power(base, exponent, modulus) {
  let result = 1n;
  for (let square = base % modulus; exponent; exponent >>= 1n, square = (square * square) % modulus) {
    if (exponent & 1n) result = (result * square) % modulus;
  }
  return result;
}

/** The inverse of a modulo n, or null if there is none. */
function inverseOf(a, n) {
  let [r, s, x, y] = [n, a % n, 0n, 1n];
  while (s) {
    const q = r / s;
    [r, s, x, y] = [s, r - q * s, y, x - q * y];
  }
  return r === 1n ? (x + n) % n : null;
}

function randomBelow(n) {
  const bits = n.toString(2).length;
  for (;;) {
    const bytes = randomBytes(Math.ceil(bits / 8));
    bytes[0] &= 0xff >> (8 * bytes.length - bits);
    const number = toInteger(bytes);
    if (number > 0n && number < n) return number;
  }
}

export const randomBytes = (count) => crypto.getRandomValues(new Uint8Array(count));
export const digest = async (name, bytes) => new Uint8Array(await crypto.subtle.digest(name, bytes));
export const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const toInteger = (bytes) => BigInt("0x" + (toHex(bytes) || "0"));
const toBytes = (number, length) =>
  Uint8Array.from(number.toString(16).padStart(2 * length, "0").match(/../g), (pair) => parseInt(pair, 16));
const joinBytes = (...parts) => Uint8Array.from(parts.flatMap((part) => Array.from(part)));
export const toBase64 = (bytes) =>
  btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
export const fromBase64 = (text) =>
  Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (character) => character.charCodeAt(0));

// ---------------------------------------------------------------- 3. sending

/** Requests carry no cookies and no referrer, are not cached, and follow no redirect. */
const QUIET = { credentials: "omit", referrerPolicy: "no-referrer", cache: "no-store", redirect: "error" };
const PATIENCE = 20_000; // milliseconds until a request without a reply counts as lost

/**
 * The body of a submission: exactly these bytes leave the device. Spaces make all bodies of a survey equally long: TLS hides
 * what is sent, but not its length.
 * @param {object} plan what readPlan(...) gave
 * @param {string} survey the survey digest: SHA-256 of manifest.json
 * @param {{key: string} | {token: string, signature: string}} proof what lets the service count a record once
 * @param {number[]} record
 */
export function submission({ attributes }, survey, proof, record) {
  const body = (codes) => JSON.stringify({ survey, ...proof, record: codes });
  return body(record).padEnd(body(attributes.map(({ size }) => size - 1)).length);
}

/** A new submission key: 128 random bits as 32 hex digits. */
export const newKey = () => toHex(randomBytes(16));

/**
 * Send a body with POST. Never throws. A reply counts only if it has the entry `expected`: a login page of some network is
 * no acknowledgement.
 * @returns {Promise<{ok: boolean, data: object, code: string, retry: boolean, after: number}>} code: what went wrong;
 *   retry: whether sending the same bytes again may help; after: the seconds the service asks to wait
 */
export async function post(url, body, expected) {
  const headers = { "Content-Type": "application/json" };
  let response;
  try {
    response = await fetch(url, { ...QUIET, method: "POST", headers, body, signal: AbortSignal.timeout(PATIENCE) });
    const data = await response.json().catch(() => ({}));
    if (response.ok && data[expected]) return { ok: true, data, code: "", retry: false, after: 0 };
    const retry = data.error?.retry ?? [200, 408, 425, 429, 500, 502, 503, 504].includes(response.status);
    const after = Math.min(Number(response.headers.get("Retry-After")) || 0, 600);
    return { ok: false, data, code: data.error?.code ?? `http_${response.status}`, retry, after };
  } catch {
    return { ok: false, data: {}, code: "unreachable", retry: true, after: 0 };
  }
}

/** The bytes at an address, or null if they cannot be had. */
export async function get(url) {
  try {
    const response = await fetch(url, { ...QUIET, signal: AbortSignal.timeout(PATIENCE) });
    return response.ok ? new Uint8Array(await response.arrayBuffer()) : null;
  } catch {
    return null;
  }
}
