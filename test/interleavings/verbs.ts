/** The verbs that meet, each as one of two callers calls it. */
import type { Settlement } from "../../src/core/outcome.ts";
import type { JobStore } from "../../src/store/store.ts";
import type { SettleItem } from "../../src/store/types/jobs-and-runs.ts";
import { crashedOnce, failedWith, newJob, retention, workerInfo } from "../support/factories.ts";
import { claimRequest, type Batch } from "../support/steps.ts";
import { GATE, LEASE_MS, type Scene } from "./scenes.ts";

export type Verb = (store: JobStore, scene: Scene) => Promise<unknown>;

const EMPTY = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };

export function claim(store: JobStore, { other }: Scene): Promise<unknown> {
  return store.claim(claimRequest(other));
}

export async function rescue(store: JobStore, { batch }: Scene): Promise<unknown> {
  const worker = batch?.worker ?? "";
  return store.rescue({ worker, beats: 0, limit: 100, decide: crashedOnce });
}

export function settle(settlement: Settlement): Verb {
  return (store, { batch }) => store.settle(itemsOf(batch, settlement));
}

function itemsOf(batch: Batch | null, settlement: Settlement): SettleItem[] {
  if (batch === null) return [];
  const { lease } = batch;
  return batch.jobs.map(({ key, n }) => ({ lease, key, n, settlement }));
}

export function cancel(store: JobStore, { id }: Scene): Promise<unknown> {
  return store.cancel(id, "ada", "not wanted");
}

/** One job with a dedup key. */
export function enqueueKeyed(onConflict: "skip" | "replace" | "extend"): Verb {
  const due = { delayMs: onConflict === "extend" ? 1_000 : 0 };
  return (store) => store.enqueue([newJob({ due, dedup: { key: "nightly", onConflict } })]);
}

/** Several jobs in one call, without keys and with these. */
export function enqueueMixed(...keys: readonly string[]): Verb {
  const keyed = (key: string) => newJob({ dedup: { key, onConflict: "skip" } });
  return (store) => store.enqueue(keys.flatMap((key) => [newJob(), keyed(key)]));
}

export function enqueueOnce(store: JobStore): Promise<unknown> {
  return store.enqueue([
    newJob({ idempotency: { key: "payment", onConflict: "return-existing" } }),
  ]);
}

export function retry(store: JobStore, { id }: Scene): Promise<unknown> {
  return store.enqueue([newJob({ retryOf: id })]);
}

export function pause(store: JobStore): Promise<unknown> {
  return store.pause(GATE, { reason: "stocktaking", by: null });
}

export async function start(store: JobStore, { batch }: Scene): Promise<unknown> {
  return batch === null ? null : store.startPrefetched(batch.lease, keysOf(batch));
}

export async function startRival(store: JobStore, { rival }: Scene): Promise<unknown> {
  return rival === undefined ? null : store.startPrefetched(rival.lease, keysOf(rival));
}

export async function returnPrefetched(store: JobStore, { batch }: Scene): Promise<unknown> {
  return batch === null ? null : store.returnPrefetched(batch.lease, keysOf(batch));
}

function keysOf({ jobs }: Batch): readonly number[] {
  return jobs.map(({ key }) => key);
}

export function prune(store: JobStore): Promise<unknown> {
  return store.prune(retention({ finishedMs: EMPTY }), 100);
}

export function intervene(store: JobStore, { id }: Scene): Promise<unknown> {
  return store.intervene(id, () => failedWith());
}

export function renew(store: JobStore, { batch }: Scene): Promise<unknown> {
  return store.renew(batch?.worker ?? workerInfo().id, LEASE_MS);
}

export function promote(store: JobStore): Promise<unknown> {
  return store.promote(10);
}

export function hurry(store: JobStore, { id }: Scene): Promise<unknown> {
  return store.hurry(id);
}

export function hold(store: JobStore): Promise<unknown> {
  return store.hold(10);
}

export function release(store: JobStore): Promise<unknown> {
  return store.release(10);
}

export function reprocess(store: JobStore, { id }: Scene): Promise<unknown> {
  return store.reprocess(id, newJob({ retryOf: id }), "eve", null);
}

export function discard(store: JobStore, { id }: Scene): Promise<unknown> {
  return store.review(id, { status: "discarded", by: "eve", notes: null });
}
