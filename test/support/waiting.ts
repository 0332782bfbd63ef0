/** The places where a job can be before it ends, for tests that try them all. */
import type { JobId } from "../../src/core/job.ts";
import type { JobStore } from "../../src/store/store.ts";
import type { NewJob } from "../../src/store/types/jobs-and-runs.ts";
import { add, take } from "./steps.ts";

type Put = (store: JobStore, overrides?: Partial<NewJob>) => Promise<JobId>;

/** Holds back the jobs of the type that `newJob` makes. */
export const GATE = { kind: "type", name: "email" } as const;

/** Puts a job into each place where it waits. */
export const WAITING: readonly (readonly [place: string, put: Put])[] = [
  ["scheduled", addScheduled],
  ["queued", addQueued],
  ["held", addHeld],
];

/** Puts a job into a worker's hands. Nothing else may be waiting. */
export const HELD_BY_WORKER: readonly (readonly [place: string, put: Put])[] = [
  ["running", (store, overrides) => addTaken(store, false, overrides)],
  ["buffered", (store, overrides) => addTaken(store, true, overrides)],
];

async function addScheduled(store: JobStore, overrides: Partial<NewJob> = {}): Promise<JobId> {
  const [id] = await add(store, { ...overrides, due: { delayMs: 60_000 } });
  return id;
}

async function addQueued(store: JobStore, overrides: Partial<NewJob> = {}): Promise<JobId> {
  const [id] = await add(store, overrides);
  return id;
}

async function addHeld(store: JobStore, overrides: Partial<NewJob> = {}): Promise<JobId> {
  const [id] = await add(store, overrides);
  await store.pause(GATE, { reason: "maintenance", by: null });
  await store.hold(100);
  return id;
}

async function addTaken(
  store: JobStore,
  prefetch: boolean,
  overrides: Partial<NewJob> = {},
): Promise<JobId> {
  const [id] = await add(store, overrides);
  await take(store, { prefetch: prefetch });
  return id;
}
