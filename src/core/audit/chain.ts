/**
 * The hash chain of audit entries. Each tenant has a chain, which goes on from day to day: a seal
 * has the hash of the seal before it, and a hash over that hash, its own columns and every column
 * of its entry.
 */

/** SHA-256 of a text, as 64 hexadecimal digits. */
export type Digest = (text: string) => string;

/** An entry as it is hashed. Instants are milliseconds since the epoch. */
export interface ChainedEntry {
  readonly id: number;
  readonly at: number;
  /** Null: the whole installation. */
  readonly tenant: string | null;
  readonly name: string;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly subjectKind: string;
  readonly subject: string;
  /** JSON, as it is stored. */
  readonly before: string | null;
  readonly after: string | null;
}

/** The place of a seal: the day since the epoch, in UTC, and the position in the day, from 1. */
export interface ChainPlace {
  readonly day: number;
  readonly position: number;
}

/** The last seal of a chain. */
export interface ChainHead extends ChainPlace {
  readonly hash: string;
}

export interface Seal extends ChainPlace {
  readonly tenant: string | null;
  readonly auditId: number;
  readonly previous: string;
  readonly hash: string;
  readonly sealedAt: number;
}

const DAY_MS = 86_400_000;
/** The first part of each hashed text: another form of hashing would have another one. */
const FORM = "millrace audit 1\n";

/** The head of a chain without seals. */
export const CHAIN_START: ChainHead = { day: -1, position: 0, hash: "0".repeat(64) };

export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}

/**
 * The seals of the next entries of one tenant, in the order given. A late entry of an earlier day
 * is sealed in the day of the head, so that days never overlap.
 */
export function sealsOf(
  head: ChainHead,
  entries: readonly ChainedEntry[],
  sealedAt: number,
  digest: Digest,
): Seal[] {
  const seals: Seal[] = [];
  let last = head;
  for (const entry of entries) {
    const { tenant, id: auditId } = entry;
    const place = { ...placeAfter(last, entry), tenant, auditId, previous: last.hash, sealedAt };
    const seal = { ...place, hash: sealHash(place, entry, digest) };
    seals.push(seal);
    last = seal;
  }
  return seals;
}

/** Where the next entry of a chain is sealed. */
export function placeAfter(last: ChainPlace, { at }: Pick<ChainedEntry, "at">): ChainPlace {
  const day = dayOf(at);
  if (day > last.day) return { day, position: 1 };
  return { day: last.day, position: last.position + 1 };
}

export function sealHash(seal: Omit<Seal, "hash">, entry: ChainedEntry, digest: Digest): string {
  return digest(FORM + encoded([...sealValues(seal), ...entryValues(entry)]));
}

type Value = string | number | null;

function sealValues(seal: Omit<Seal, "hash">): readonly Value[] {
  const { previous, tenant, day, position, auditId, sealedAt } = seal;
  return [previous, tenant, day, position, auditId, sealedAt];
}

function entryValues(entry: ChainedEntry): readonly Value[] {
  const { id, at, tenant, name, actor, reason, subjectKind, subject, before, after } = entry;
  return [id, at, tenant, name, actor, reason, subjectKind, subject, before, after];
}

/** Each value has a mark of its kind and its length, so that two lists never have one text. */
export function encoded(values: readonly Value[]): string {
  return values.map(encodedValue).join("");
}

function encodedValue(value: Value): string {
  if (value === null) return "n;";
  if (typeof value === "number") return `i${value};`;
  return `s${value.length}:${value};`;
}
