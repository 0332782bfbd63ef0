/**
 * How long the answer to a statement is waited for. Silence is most often a broken line, so what
 * the engine lives on is asked again soon, on another connection.
 */
import { INVARIANTS } from "../../doctor/invariants.ts";

/** Most statements take milliseconds; this is a server under heavy load. */
export const ANSWER_MS = 8_000;
/** A heartbeat must be there well before its lease ends, also if the first try is lost. */
const BEAT_MS = 3_000;
/** Whoever asks for lists and figures, or removes what is old, can wait. */
const READER_MS = 60_000;
const DOCTOR_MS = 600_000;
/** A slow line carries a large batch at a million bytes per second. */
const BYTES_PER_MS = 1_000;

const READERS = /^(match|count|keys_of|list|longest|expired|prune)_/;
const DOCTOR: ReadonlySet<string> = new Set([
  ...INVARIANTS.map(({ query }) => query),
  "recount",
  "table_health",
  "schema_objects",
  "lost_jobs",
  "ownerless_leases",
  "places_without_job",
  "places_against_ledger",
]);

export function timeoutMs(name: string, values: readonly unknown[]): number {
  return patienceOf(name) + Math.round(bytesOf(values) / BYTES_PER_MS);
}

function patienceOf(name: string): number {
  if (name === "renew_worker") return BEAT_MS;
  if (READERS.test(name)) return READER_MS;
  return DOCTOR.has(name) ? DOCTOR_MS : ANSWER_MS;
}

function bytesOf(values: readonly unknown[]): number {
  let bytes = 0;
  for (const value of values) if (typeof value === "string") bytes += value.length;
  return bytes;
}
