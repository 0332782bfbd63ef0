/**
 * Public job ids: a UUIDv7, shown as 26 letters of Crockford's Base32.
 *
 * 128 bits fill 26 letters of five bits with two leading zero bits, so the first letter is 0 to 7
 * and ids sort as text in the order of their time. The lookup tables make ids fast.
 */
import type { Clock, Dice } from "./clock.ts";
import type { JobId } from "./job.ts";

const LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The character code of each letter. */
const CODES: readonly number[] = Array.from(LETTERS, (letter) => letter.charCodeAt(0));

/** The five bits of each letter, by its character code. */
const BITS: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  Math.max(0, LETTERS.indexOf(String.fromCharCode(code))),
);

const HEX_LETTERS = "0123456789abcdef";
const HEX_CODES: readonly number[] = Array.from(HEX_LETTERS, (digit) => digit.charCodeAt(0));

/** The value of each hexadecimal digit, by its character code. */
const DIGITS: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  Math.max(0, HEX_LETTERS.indexOf(String.fromCharCode(code).toLowerCase())),
);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** U is no letter of the alphabet; I, L and O are read as the digits they resemble. */
const BASE32 = /^[0-7ILO][0-9A-TV-Z]{25}$/i;

/** The fewest letters that are taken as the beginning of an id. */
export const PREFIX_LETTERS_MIN = 4;

/** The beginning of an id, or a whole one. */
const PREFIX = new RegExp(`^[0-7ILO][0-9A-TV-Z]{${PREFIX_LETTERS_MIN - 1},25}$`, "i");

/** Scratch memory, filled and read within one call, because batches make thousands of ids. */
const SCRATCH_CODES: number[] = Array.from({ length: 26 }, () => 0);
const SCRATCH_HEX: number[] = Array.from({ length: 32 }, () => 0);
const SCRATCH_BYTES: Uint8Array = new Uint8Array(16);

const DASH = "-".charCodeAt(0);

/** The 12 bits that follow the time. */
const COUNTER_MAX = 0xfff;

/** Random bytes in one id: two for the counter, eight for the tail. */
const CHANCE_BYTES = 10;
const CHANCE_IDS = 128;

/**
 * One id. A process that makes many ids uses an {@link idSource}, which keeps them in order.
 */
export function newId(nowMs: number, dice: Dice): JobId {
  const chance = dice.bytes(CHANCE_BYTES);
  return compose({ timeMs: nowMs, counter: counterBits(chance, 0) }, chance, 0);
}

/**
 * Ids that strictly grow within this process.
 *
 * The 12 bits after the time (rand_a) count up within a millisecond, from a random start in their
 * lower half; all further bits are random. When the counter is full, or the clock has stepped back,
 * the time of the id runs ahead of the clock until the clock has caught up.
 */
export function idSource(clock: Pick<Clock, "now">, dice: Dice): () => JobId {
  let chance: Uint8Array = new Uint8Array(0);
  let used = 0;
  let stamp: Stamp = { timeMs: -1, counter: 0 };

  return () => {
    if (used === chance.length) {
      chance = dice.bytes(CHANCE_BYTES * CHANCE_IDS);
      used = 0;
    }
    stamp = advance(stamp, Math.floor(clock.now()), counterBits(chance, used) >> 1);
    const id = compose(stamp, chance, used);
    used += CHANCE_BYTES;
    return id;
  };
}

/**
 * The canonical id of a given text: 26 letters in any case, with Crockford's confusable letters and
 * an optional prefix `job_`, or a UUID. Other texts give `null`.
 */
export function parseId(text: string): JobId | null {
  const bare = withoutMark(text);
  if (UUID.test(bare)) return idFromUuid(bare);
  return BASE32.test(bare) ? canonical(bare) : null;
}

/** The ids that begin with the given letters, from the first to the last that is possible. */
export interface IdRange {
  readonly from: JobId;
  readonly to: JobId;
}

/**
 * The range of ids that begin with these letters, in the same forms as for {@link parseId}, UUIDs
 * apart. `null` for a text that no id begins with, and for fewer than {@link PREFIX_LETTERS_MIN}
 * letters.
 */
export function idsWithPrefix(text: string): IdRange | null {
  const bare = withoutMark(text);
  if (!PREFIX.test(bare)) return null;
  const letters = canonical(bare);
  return { from: letters.padEnd(26, "0"), to: letters.padEnd(26, "Z") };
}

function withoutMark(text: string): string {
  return text.replace(/^job_/i, "");
}

function canonical(letters: string): string {
  return letters.toUpperCase().replaceAll(/[IL]/g, "1").replaceAll("O", "0");
}

/** The 16 bytes of a canonical id. */
export function idBytes(id: JobId): Uint8Array {
  const bytes = new Uint8Array(16);
  let held = 0;
  // The first letter carries three bits only.
  let heldBits = -2;
  let at = 0;
  for (let i = 0; i < id.length; i += 1) {
    held = (held << 5) | BITS[id.charCodeAt(i)]!;
    heldBits += 5;
    if (heldBits < 8) continue;
    heldBits -= 8;
    bytes[at] = held >> heldBits;
    at += 1;
    held &= (1 << heldBits) - 1;
  }
  return bytes;
}

/** The canonical id of 16 bytes. */
export function idFromBytes(bytes: Uint8Array): JobId {
  const codes = SCRATCH_CODES;
  let at = 0;
  let held = 0;
  // Two leading zero bits make 130 bits, which are 26 letters.
  let heldBits = 2;
  for (let i = 0; i < 16; i += 1) {
    held = (held << 8) | bytes[i]!;
    for (heldBits += 8; heldBits >= 5;) {
      heldBits -= 5;
      codes[at] = CODES[held >> heldBits]!;
      at += 1;
      held &= (1 << heldBits) - 1;
    }
  }
  return String.fromCharCode(...codes);
}

/** The canonical id of a UUID as text. */
export function idFromUuid(uuid: string): JobId {
  const bytes = SCRATCH_BYTES;
  let digits = 0;
  for (let i = 0; i < uuid.length; i += 1) {
    const code = uuid.charCodeAt(i);
    if (code === DASH) continue;
    bytes[digits >> 1] = (bytes[digits >> 1]! << 4) | DIGITS[code]!;
    digits += 1;
  }
  return idFromBytes(bytes);
}

/** The 32 hexadecimal digits of a canonical id. */
export function idHex(id: JobId): string {
  const codes = SCRATCH_HEX;
  let at = 0;
  let held = 0;
  // The first letter carries three bits only.
  let heldBits = -2;
  for (let i = 0; i < id.length; i += 1) {
    held = (held << 5) | BITS[id.charCodeAt(i)]!;
    for (heldBits += 5; heldBits >= 4;) {
      heldBits -= 4;
      codes[at] = HEX_CODES[held >> heldBits]!;
      at += 1;
      held &= (1 << heldBits) - 1;
    }
  }
  return String.fromCharCode(...codes);
}

/** The same id as a UUID in lower case. */
export function idUuid(id: JobId): string {
  const hex = idHex(id);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join("-");
}

/** When the id was made, in milliseconds since the epoch. */
export function idTime(id: JobId): number {
  return idBytes(id)
    .subarray(0, 6)
    .reduce((ms, byte) => ms * 256 + byte, 0);
}

/** The part of an id that orders the ids of one process. */
interface Stamp {
  readonly timeMs: number;
  readonly counter: number;
}

function advance(last: Stamp, nowMs: number, start: number): Stamp {
  if (nowMs > last.timeMs) return { timeMs: nowMs, counter: start };
  if (last.counter < COUNTER_MAX) return { timeMs: last.timeMs, counter: last.counter + 1 };
  return { timeMs: last.timeMs + 1, counter: 0 };
}

/** A UUIDv7: 48 bits of time, version, 12 bits of counter, variant, 62 random bits. */
function compose({ timeMs, counter }: Stamp, chance: Uint8Array, from: number): JobId {
  const bytes = SCRATCH_BYTES;
  // A typed array keeps the lowest eight bits of a number and drops the fraction.
  bytes[0] = timeMs / 2 ** 40;
  bytes[1] = timeMs / 2 ** 32;
  bytes[2] = timeMs / 2 ** 24;
  bytes[3] = timeMs / 2 ** 16;
  bytes[4] = timeMs / 2 ** 8;
  bytes[5] = timeMs;
  for (let i = 2; i < CHANCE_BYTES; i += 1) bytes[6 + i] = chance[from + i]!;
  bytes[6] = 0x70 | (counter >> 8);
  bytes[7] = counter;
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return idFromBytes(bytes);
}

function counterBits(chance: Uint8Array, from: number): number {
  return ((chance[from]! << 8) | chance[from + 1]!) & COUNTER_MAX;
}
