/** A script of work: jobs are enqueued, claimed, ended in every way, rescued and removed. */
import assert from "node:assert/strict";
import type { SqliteJobStore } from "../../src/store/sqlite/store.ts";
import {
  cancelled,
  completed,
  crashedOnce,
  failedWith,
  retention,
  retryIn,
  diedAlone,
  workerInfo,
} from "../support/factories.ts";
import { broken, done, halfway, runNote, running } from "../support/notes.ts";
import { at, claimRequest, settleItem, take } from "../support/steps.ts";
import type { Batch } from "../support/steps.ts";
import { did, type Life, type Scene, type Step } from "./steps.ts";

export const work: Life = { before, after };

async function* before(store: SqliteJobStore, scene: Scene): AsyncGenerator<Step, Batch> {
  yield* enqueueAll(store, scene);
  yield* runSome(store, scene);
  return yield* operate(store, scene);
}

async function* after(
  store: SqliteJobStore,
  { clock, job, worker }: Scene,
  held: Batch,
): AsyncGenerator<Step, void> {
  await store.resume({ kind: "lane", name: "later" });
  yield did("resume");
  assert.ok((await store.release(100)) > 0);
  yield did("release");
  await store.intervene(at(held.jobs, 0).id, () => completed());
  yield did("complete by hand");
  const [letter] = await store.deadLetters({}, { limit: 1 });
  assert.ok(letter);
  await store.reprocess(letter.id, job({ retryOf: letter.id }), "eve", "works again");
  yield did("reprocess a dead letter");

  await clock.advance(40_000);
  assert.ok((await store.promote(100)).moved > 0);
  yield did("promote");
  const [silent] = await store.silent(10);
  assert.ok(silent);
  await store.rescue({ worker, beats: silent.beats, limit: 100, decide: crashedOnce });
  yield did("rescue");
  const { id } = job();
  const other = workerInfo({ id, process: id });
  await store.register(other);
  yield did("join another worker");
  await store.claim(claimRequest(other.id, { limit: 3 }));
  yield did("claim what was rescued");
  yield* dieAlone(store, { clock, job });
  assert.ok((await store.foldMinutes(100)) > 0);
  yield did("fold minutes");
  await clock.advance(1_000);
  const past = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };
  const pruned = await store.prune(retention({ finishedMs: past, eventMs: 500 }), 100);
  assert.ok(pruned.jobs > 0);
  yield did("prune");
}

async function* dieAlone(
  store: SqliteJobStore,
  { clock, job }: Pick<Scene, "clock" | "job">,
): AsyncGenerator<Step, void> {
  await clock.advance(40_000);
  await store.promote(100);
  yield did("promote what was rescued");
  const { id } = job();
  await store.register(workerInfo({ id, process: id }));
  yield did("join a worker for a lone run");
  const lone = await store.claimAlone({ worker: id, lanes: "any", cap: 1 });
  assert.ok(lone);
  yield did("claim a job that runs alone");
  await store.startPrefetched(lone.lease, [lone.job.key]);
  yield { name: "start the job that runs alone", promise: "relaxed" };
  await store.deregister(id);
  await clock.advance(1);
  yield did("leave the lone run behind");
  const beats = (await store.silent(10)).find((worker) => worker.id === id)?.beats ?? 0;
  await store.rescue({ worker: id, beats, limit: 10, decide: diedAlone });
  yield did("count a lone death");
  await store.endCrashStreak(lone.job.type);
  yield did("end the streak of lone deaths");
}

async function* enqueueAll(store: SqliteJobStore, { job }: Scene): AsyncGenerator<Step, void> {
  await store.enqueue([job({ payload: '{"first":true}' })]);
  yield did("enqueue one");
  const payload = JSON.stringify({ text: "x".repeat(400) });
  await store.enqueue(Array.from({ length: 24 }, (_, nr) => job({ payload, priority: 200 + nr })));
  yield did("enqueue many");

  const idempotency = { key: "payment-1", onConflict: "return-existing" } as const;
  await store.enqueue([job({ idempotency })]);
  yield did("enqueue with an idempotency key");
  const [repeated] = await store.enqueue([job({ idempotency })]);
  assert.equal(repeated?.status, "existing");
  yield did("enqueue the same key again");

  const due = { delayMs: 60_000 };
  await store.enqueue([job({ due, dedup: { key: "nightly", onConflict: "skip" } })]);
  yield did("enqueue with a dedup key");
  await store.enqueue([job({ due, dedup: { key: "nightly", onConflict: "replace" } })]);
  yield did("replace the holder of the dedup key");

  const overlapping = [job({ tags: { customer: "c1" } }), job({ tenant: "acme" })];
  await Promise.all(overlapping.map((each) => store.enqueue([each])));
  yield did("enqueue in two calls that share a commit");
}

async function* runSome(store: SqliteJobStore, scene: Scene): AsyncGenerator<Step, void> {
  const { job, worker } = scene;
  await store.register(workerInfo({ id: worker, process: worker }));
  yield did("register");
  const batch = await take(store, { worker, limit: 4 });
  yield did("claim");
  const [parent, failing, retried, last] = batch.jobs;
  assert.ok(parent && failing && retried && last);
  const progress = halfway();
  await store.record([runNote(batch, parent, { progress, units: [running("a"), running("b")] })]);
  yield did("begin units");
  const child = job({ parentId: parent.id });
  const phase = { completed: { name: "fetch", result: "1" }, children: [child] };
  await store.record([runNote(batch, parent, { units: [done("a"), broken("b")], ...phase })]);
  yield did("complete a phase with a child");
  await store.record([runNote(batch, parent, { progress })]);
  yield { name: "tell progress", promise: "relaxed" };
  const children = [job({ parentId: parent.id }), job({ parentId: parent.id })];
  await store.settle([{ ...settleItem(batch, parent, completed('{"sum":1}')), children }]);
  yield did("complete with children");
  await store.settle([settleItem(batch, failing, failedWith())]);
  yield did("fail");
  await store.settle([settleItem(batch, retried, retryIn(30_000))]);
  yield did("retry later");
  await store.settle([settleItem(batch, last, cancelled("not needed"))]);
  yield did("end as cancelled");
  yield* workFromBuffer(store, scene);
}

async function* workFromBuffer(
  store: SqliteJobStore,
  { worker }: Scene,
): AsyncGenerator<Step, void> {
  const prefetch = await take(store, { worker, limit: 5, prefetch: true });
  yield did("claim into a prefetch");
  const key = (index: number): number => at(prefetch.jobs, index).key;
  await store.startPrefetched(prefetch.lease, [key(0)]);
  yield { name: "start the first", promise: "relaxed" };
  await store.startPrefetched(prefetch.lease, [key(1), key(2)]);
  yield { name: "start two more", promise: "relaxed" };
  const ends = prefetch.jobs.slice(0, 2).map((each) => settleItem(prefetch, each, completed()));
  await store.settle(ends);
  yield did("complete two");
  await store.startPrefetched(prefetch.lease, [key(3)]);
  yield { name: "start the fourth", promise: "relaxed" };
  assert.equal(await store.returnPrefetched(prefetch.lease, [key(4)]), 1);
  yield did("hand back");
  await store.cancel(at(prefetch.jobs, 3).id, "ada", "too late");
  yield did("ask a running job to stop");
  await store.renew(worker, 30_000);
  yield did("renew");
}

/** Answers a run that is still held. */
async function* operate(
  store: SqliteJobStore,
  { job, worker }: Scene,
): AsyncGenerator<Step, Batch> {
  const later = { lane: "later", priority: 900 };
  const waiting = job(later);
  await store.enqueue([waiting, job(later)]);
  yield did("enqueue in another lane");
  await store.cancel(waiting.id, "ada", null);
  yield did("cancel a waiting job");
  const held = await take(store, { worker, limit: 2 });
  yield did("claim two more");
  await store.pause({ kind: "lane", name: "later" }, { reason: "stocktaking", by: "ada" });
  yield did("pause");
  assert.ok((await store.hold(100)) > 0);
  yield did("hold");
  return held;
}
