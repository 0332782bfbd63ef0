/** Who may be claimed, and in which order. */
import { CRASH_GATE_BY } from "../../../src/core/crashes.ts";
import { isBehindService, isServiceProbe, limitsOf } from "./control/barriers.ts";
import type { Report, Step } from "./invariants.ts";
import type { PlaceRow } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";

export function isBehindGate({ gates }: Snapshot, name: number, nowMs: number): boolean {
  const gate = gates.get(name);
  return gate !== undefined && isClosed(gate, nowMs);
}

/** Crashes have closed the gate of a type: one job at a time is tried alone. */
export function isCrashGate({ gates }: Snapshot, type: number): boolean {
  return gates.get(type)?.by === CRASH_GATE_BY;
}

export function isClosed({ until }: { readonly until: number | null }, nowMs: number): boolean {
  return until === null || until > nowMs;
}

/** What is claimed together comes before what stays, lane by lane. */
export function checkOrder({ before, after, changed, nowMs }: Step, report: Report): void {
  const fresh = [...changed]
    .flatMap((key) => after.held.get(key) ?? [])
    .filter(({ key, fence }) => before.held.get(key)?.[0]?.fence !== fence);
  // The probe of a service passes all others.
  if (fresh.length === 0 || fresh.some((run) => isServiceProbe(after, run))) return;
  const isBuffer = fresh.some(({ start }) => start === null);
  const waiting = [...before.places.values()].flat().filter(({ place }) => place === "ready");
  const taken = new Set(fresh.map(({ key }) => key));
  // A job that is to run alone is claimed without the others.
  const places = [...taken].flatMap((key) => before.places.get(key) ?? []);
  if (isBuffer && places.some((job) => job.crashes > 0 || isCrashGate(before, job.type))) return;
  const last = new Map<number, (typeof waiting)[number]>();
  for (const place of waiting) {
    const known = last.get(place.lane);
    // Within a priority, jobs that have crashed before come first.
    if (!taken.has(place.key) || place.crashes > 0) continue;
    if (known === undefined || comesBefore(known, place)) last.set(place.lane, place);
  }
  for (const left of waiting) {
    const names = [left.lane, left.type, left.tenant];
    if (taken.has(left.key) || names.some((name) => isBehindGate(before, name, nowMs))) continue;
    if (isBehindService(before, left, nowMs) || limitsOf(before, left).length > 0) continue;
    // A claim takes a limited number of crashed jobs, and a prefetch takes none.
    if (left.crashes > 0 || (isBuffer && left.concurrency !== null)) continue;
    if (isKeyTaken(before, left, waiting, taken)) continue;
    // Not every worker takes these.
    if (before.names.get(left.type)?.startsWith(ONE_WORKER)) continue;
    const passed = last.get(left.lane);
    if (passed !== undefined && comesBefore(left, passed)) {
      report("I11", `job ${passed.key} was claimed before job ${left.key}, which is more urgent`);
    }
  }
}

/** Another job has its key, or one that is more urgent, or of another lane, gets it now. */
function isKeyTaken(
  { locks }: Snapshot,
  left: PlaceRow,
  waiting: readonly PlaceRow[],
  taken: ReadonlySet<number>,
): boolean {
  if (left.concurrency === null) return false;
  if (locks.has(`${left.tenant}.${left.concurrency}`)) return true;
  return waiting.some((other) => {
    const isSameKey = other.tenant === left.tenant && other.concurrency === left.concurrency;
    // Within a priority, jobs that have crashed before come first.
    const isCrashed = other.crashes > 0 && other.priority <= left.priority;
    const goesFirst = other.lane !== left.lane || isCrashed || comesBefore(other, left);
    return taken.has(other.key) && isSameKey && goesFirst;
  });
}

/** How the types begin that only one worker takes. */
export const ONE_WORKER = "only-";

interface Ordered {
  readonly priority: number;
  readonly rank: number;
  readonly key: number;
}

export function comesBefore(left: Ordered, right: Ordered): boolean {
  return (left.priority - right.priority || left.rank - right.rank || left.key - right.key) < 0;
}
