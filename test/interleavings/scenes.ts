/** What two verbs find at the beginning. */
import type { JobId } from "../../src/core/job.ts";
import type { WorkerId } from "../../src/store/types/jobs-and-runs.ts";
import { completed, failedWith } from "../support/factories.ts";
import { add, joinWorker, settleAll, take, takeOne, type Batch } from "../support/steps.ts";
import type { PostgresTestStore } from "../support/stores.ts";

/** One job, the worker that has it, and another worker that wants it. */
export interface Scene {
  readonly id: JobId;
  readonly batch: Batch | null;
  /** Another run, where there are two. */
  readonly rival?: Batch;
  readonly other: WorkerId;
}

export const LEASE_MS = 30_000;
export const GATE = { kind: "type", name: "email" } as const;

export async function waiting({ store }: PostgresTestStore): Promise<Scene> {
  const other = await joinWorker(store, { leaseMs: 10 * LEASE_MS });
  const [id] = await add(store, {});
  return { id, batch: null, other };
}

export async function running(db: PostgresTestStore): Promise<Scene> {
  const scene = await waiting(db);
  return { ...scene, batch: await takeOne(db.store) };
}

export async function prefetched(db: PostgresTestStore): Promise<Scene> {
  const scene = await waiting(db);
  return { ...scene, batch: await takeOne(db.store, { prefetch: true }) };
}

/** A prefetch of two: one runs, the other, the rival, has not started. */
export async function halfStarted(db: PostgresTestStore): Promise<Scene> {
  const other = await joinWorker(db.store, { leaseMs: 10 * LEASE_MS });
  await add(db.store, {}, {});
  const batch = await take(db.store, { prefetch: true });
  const [first, second] = batch.jobs;
  if (first === undefined || second === undefined) throw new Error("two jobs were to be taken");
  await db.store.startPrefetched(batch.lease, [first.key]);
  const rival = { ...batch, jobs: [second] };
  return { id: first.id, other, batch: { ...batch, jobs: [first] }, rival };
}

export async function silent(db: PostgresTestStore): Promise<Scene> {
  const scene = await running(db);
  await db.clock.advance(LEASE_MS + 1_000);
  return scene;
}

export async function failed(db: PostgresTestStore): Promise<Scene> {
  const scene = await running(db);
  if (scene.batch !== null) await settleAll(db.store, scene.batch, failedWith());
  await db.clock.advance(1_000);
  return { ...scene, batch: null };
}

/** A failed job whose successor runs. */
export async function repeated(db: PostgresTestStore): Promise<Scene> {
  const { id, other } = await failed(db);
  await add(db.store, { retryOf: id });
  return { id, other, batch: await takeOne(db.store) };
}

/** A job in the prefetch of a worker that is silent. */
export async function prefetchedSilent(db: PostgresTestStore): Promise<Scene> {
  const scene = await prefetched(db);
  await db.clock.advance(LEASE_MS + 1_000);
  return scene;
}

/** A job that waits for its time, which has come. */
export async function due({ store, clock }: PostgresTestStore): Promise<Scene> {
  const other = await joinWorker(store, { leaseMs: 10 * LEASE_MS });
  const [id] = await add(store, { due: { delayMs: 10 } });
  await clock.advance(20);
  return { id, batch: null, other };
}

/** A lease of two: one has finished and expired, the other runs. */
export async function halfDone(db: PostgresTestStore): Promise<Scene> {
  const other = await joinWorker(db.store, { leaseMs: 10 * LEASE_MS });
  await add(db.store, {}, {});
  const batch = await take(db.store);
  const [first, second] = batch.jobs;
  if (first === undefined || second === undefined) throw new Error("two jobs were to be taken");
  await settleAll(db.store, { ...batch, jobs: [first] }, completed());
  await db.clock.advance(1_000);
  return { id: second.id, other, batch: { ...batch, jobs: [second] } };
}

/** A waiting job behind a closed gate. */
export async function gated(db: PostgresTestStore): Promise<Scene> {
  const scene = await waiting(db);
  await db.store.pause(GATE, { reason: "stocktaking", by: null });
  return scene;
}

/** A job that was moved away from a gate that is open again. */
export async function held(db: PostgresTestStore): Promise<Scene> {
  const scene = await gated(db);
  await db.store.hold(10);
  await db.store.resume(GATE);
  return scene;
}

/** A waiting job that holds a dedup key. */
export async function deduplicated({ store }: PostgresTestStore): Promise<Scene> {
  const other = await joinWorker(store, { leaseMs: 10 * LEASE_MS });
  const [id] = await add(store, { dedup: { key: "nightly", onConflict: "skip" } });
  return { id, batch: null, other };
}
