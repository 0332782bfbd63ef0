/** Steps with jobs that wait for a key or for other jobs. */
import assert from "node:assert/strict";
import { vi } from "vitest";
import type { JobId } from "../../src/core/job.ts";
import type { ClaimedJob, NewJob } from "../../src/store/types/jobs-and-runs.ts";
import type { JobStore } from "../../src/store/store.ts";
import { hintOf } from "../../src/store/types/wake-ups.ts";
import { add, recordOf, takeOne, type Batch } from "./steps.ts";
import type { TestStore } from "./stores.ts";

/** Asked often enough: what moves a job in the background would have done so by then. */
const PATIENCE = 4;
const WAIT = { interval: 2, timeout: 5_000 } as const;

/** Enqueues one job that waits for others. */
export async function addAfter(
  store: JobStore,
  after: readonly JobId[],
  overrides: Partial<NewJob> = {},
): Promise<JobId> {
  const [id] = await add(store, { after, ...overrides });
  return id;
}

/** A parent that runs, and a job that waits for it. */
export async function pair(
  store: JobStore,
  overrides: Partial<NewJob> = {},
): Promise<{
  readonly parent: JobId;
  readonly batch: Batch & { readonly job: ClaimedJob };
  readonly child: JobId;
}> {
  const [parent] = await add(store, { type: "parent" });
  const batch = await takeOne(store, { types: ["parent"] });
  return { parent, batch, child: await addAfter(store, [parent], overrides) };
}

/** Why a job was cancelled with the one it waited for. */
export function becauseOf(parent: JobId, how: "failed" | "was cancelled"): string {
  return `job ${parent}, which it was to run after, ${how}`;
}

/**
 * Waits until jobs are through with those they waited for. No call asks for that: a store does so
 * by itself, but perhaps a moment after it has said that a parent has ended.
 */
export async function freed(store: JobStore, ...ids: readonly JobId[]): Promise<void> {
  await vi.waitFor(() => goneOn(store, ids), WAIT);
}

/** The same with the help of `resolveDependencies`, where something may be missed without it. */
export async function swept(store: JobStore, ...ids: readonly JobId[]): Promise<void> {
  await vi.waitFor(async () => {
    await store.resolveDependencies(1_000);
    await goneOn(store, ids);
  }, WAIT);
}

async function goneOn(store: JobStore, ids: readonly JobId[]): Promise<void> {
  for (const id of ids) assert.equal(await isWaiting(store, id), false, `${id} still waits`);
}

/** Looks for anything that would let jobs go on which must not. */
export async function stays(store: JobStore, ...ids: readonly JobId[]): Promise<void> {
  for (let turn = 0; turn < PATIENCE; turn += 1) {
    await store.resolveDependencies(1_000);
    for (const id of ids) assert.equal(await isWaiting(store, id), true, `${id} goes on`);
  }
}

async function isWaiting(store: JobStore, id: JobId): Promise<boolean> {
  return (await recordOf(store, id)).heldBy?.kind === "after";
}

/**
 * Does something, and waits until a worker that listens to `store`, by default the first handle,
 * hears that there is work because of it.
 */
export async function wakes(
  { store: first, clock, heardAll }: Pick<TestStore, "store" | "clock" | "heardAll">,
  act: () => Promise<unknown>,
  store: JobStore = first,
): Promise<void> {
  await heardAll(store);
  const called = nextWork(store);
  await act();
  for (let step = 0; step < 50; step += 1) await clock.advance(100);
  await called;
}

/** Resolves when there may be something to claim. */
function nextWork(store: JobStore): Promise<void> {
  return new Promise((resolve) => {
    const off = store.watch((wakeUp) => {
      if (hintOf(wakeUp) === null) return;
      off();
      resolve();
    });
  });
}
