/** A script of keys, gates, callers' transactions, dead letters, workers that go, and retention. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { storeError } from "../../src/store/sqlite/database/errors.ts";
import type { SqliteJobStore } from "../../src/store/sqlite/store.ts";
import type { NewJob } from "../../src/store/types/jobs-and-runs.ts";
import {
  completed,
  completedWithErrors,
  crashedOnce,
  failedWith,
  retention,
  newSchedule,
  newToken,
  retryIn,
  workerInfo,
} from "../support/factories.ts";
import { at, settleItem, take } from "../support/steps.ts";
import type { Batch } from "../support/steps.ts";
import { did, type Life, type Scene, type Step } from "./steps.ts";

const PAYMENT = { key: "payment-1", onConflict: "return-existing" } as const;
const HELD = { kind: "type", name: "held" } as const;
const GONE = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };

export const keys: Life = { before, after };

async function* before(store: SqliteJobStore, scene: Scene): AsyncGenerator<Step, Batch> {
  yield* enqueueAll(store, scene);
  yield* closeGates(store, scene);
  return yield* work(store, scene);
}

async function* after(
  store: SqliteJobStore,
  scene: Scene,
  held: Batch,
): AsyncGenerator<Step, void> {
  yield* openGates(store);
  yield* reprocess(store, scene, held);
  yield* comeAndGo(store, scene);
  yield* useTokens(store, scene);
  yield* prune(store, scene);
  yield* useSchedules(store, scene);
}

async function* enqueueAll(store: SqliteJobStore, scene: Scene): AsyncGenerator<Step, void> {
  const { job } = scene;
  const dedup = (onConflict: "skip" | "extend") => ({ key: "nightly", onConflict }) as const;
  const payload = JSON.stringify({ text: "x".repeat(400) });
  await store.enqueue([
    job({ payload }),
    job({ due: { delayMs: 30_000 }, dedup: dedup("skip"), tags: { customer: "c1" } }),
    job({ idempotency: PAYMENT, payload }),
    job({ due: { delayMs: 30_000 } }),
    ...Array.from({ length: 12 }, () => job({ payload, priority: 300 })),
  ]);
  yield did("enqueue with keys and without in one call");
  const extending = job({ due: { delayMs: 90_000 }, dedup: dedup("extend") });
  const [extended] = await store.enqueue([extending]);
  assert.equal(extended?.status, "existing");
  yield did("put off the holder of a dedup key");

  const mine = [job({ tenant: "acme" }), job({ dedup: { key: "mine", onConflict: "skip" } })];
  await inTransaction(store, scene, mine, "COMMIT");
  yield did("enqueue in a caller's transaction");
  await inTransaction(store, scene, [job({ type: "never heard of" })], "ROLLBACK");
  yield did("enqueue in one that is rolled back");
}

/** A caller's handle has the same file open, and waits for the disk as the store does. */
function inTransaction(
  store: SqliteJobStore,
  { path, patiently }: Scene,
  jobs: readonly NewJob[],
  end: "COMMIT" | "ROLLBACK",
): Promise<void> {
  return patiently(() => enqueueInside(store, path, jobs, end));
}

async function enqueueInside(
  store: SqliteJobStore,
  path: string,
  jobs: readonly NewJob[],
  end: "COMMIT" | "ROLLBACK",
): Promise<void> {
  const handle = new DatabaseSync(path);
  try {
    handle.exec("PRAGMA synchronous = FULL");
    handle.exec("BEGIN IMMEDIATE");
    await store.enqueueInTransaction(handle, jobs);
    handle.exec(end);
  } catch (error) {
    throw storeError(error, path);
  } finally {
    handle.close();
  }
}

async function* closeGates(store: SqliteJobStore, { job }: Scene): AsyncGenerator<Step, void> {
  await store.enqueue([job({ type: HELD.name }), job({ type: HELD.name, priority: 1 })]);
  yield did("enqueue behind a gate");
  const tenant = { kind: "tenant", name: "acme" } as const;
  await store.pause(tenant, { reason: "unpaid", by: "ada", forMs: 20_000 });
  yield did("pause for a while");
  await store.pause(HELD, { reason: "stocktaking", by: "ada" });
  yield did("pause");
  assert.equal(await store.hold(100), 3);
  yield did("hold");
}

/** Answers a run that is still held. */
async function* work(store: SqliteJobStore, { job, worker }: Scene): AsyncGenerator<Step, Batch> {
  await store.register(workerInfo({ id: worker, process: worker }));
  yield did("register");
  const batch = await take(store, { worker, limit: 6 });
  yield did("claim");
  const run = (index: number) => at(batch.jobs, index);
  const children = [job({ parentId: run(0).id, idempotency: { ...PAYMENT, key: "child" } })];
  const partly = settleItem(batch, run(0), completedWithErrors(2));
  await store.settle([{ ...partly, children }, settleItem(batch, run(1), completed())]);
  yield did("complete two, with a child that has a key");
  await store.settle([2, 3].map((index) => settleItem(batch, run(index), failedWith())));
  yield did("fail two");
  await store.cancel(run(4).id, "ada", "not wanted");
  yield did("ask a running job to stop");
  await store.settle([settleItem(batch, run(4), retryIn(10_000))]);
  yield did("cancel it instead of a retry");

  const [first, second] = await store.deadLetters({}, { limit: 2 });
  assert.ok(first && second);
  await store.review(first.id, { status: "acknowledged", by: "eve", notes: "seen" });
  yield did("acknowledge a dead letter");
  await store.review(second.id, { status: "discarded", by: "eve", notes: null });
  yield did("discard a dead letter");
  await store.annotate(first.id, { act: "noted", by: "eve", notes: "asked the bank" });
  yield did("add notes to a dead letter");
  const seen = { kind: "acknowledged", by: "eve", notes: null } as const;
  await store.decideGroup(first.cause, {}, seen);
  yield did("acknowledge the failures of a cause");
  const [scheduled] = (await store.list({ states: ["scheduled"] }, { limit: 1 })).jobs;
  assert.ok(scheduled);
  await store.hurry(scheduled.id);
  yield did("hurry");
  await store.quiet(worker);
  yield did("quiet");
  await store.resumeWorker(worker);
  yield did("resumeWorker");
  await store.renew(worker, 30_000);
  yield did("renew");
  return { ...batch, jobs: [run(5)] };
}

async function* openGates(store: SqliteJobStore): AsyncGenerator<Step, void> {
  await store.resume(HELD);
  yield did("resume");
  assert.equal(await store.release(1), 1);
  yield did("release one");
  assert.equal(await store.release(100), 1);
  yield did("release the rest behind that gate");
}

async function* reprocess(
  store: SqliteJobStore,
  { job }: Scene,
  held: Batch,
): AsyncGenerator<Step, void> {
  const [letter] = await store.deadLetters({ status: "acknowledged" }, { limit: 1 });
  assert.ok(letter);
  await store.reprocess(letter.id, job({ retryOf: letter.id }), "eve", "works again");
  yield did("reprocess a dead letter");
  await store.intervene(at(held.jobs, 0).id, () => failedWith());
  yield did("fail a running job by hand");
  const [failed] = await store.deadLetters({ status: "pending_review" }, { limit: 1 });
  assert.ok(failed);
  await store.reprocessMany([{ ...job({}), retryOf: failed.id }], "eve", null);
  yield did("reprocess several dead letters");
  await store.discardMany([letter.id], "eve", null);
  yield did("discard several dead letters");
}

async function* comeAndGo(
  store: SqliteJobStore,
  { clock, job, worker }: Scene,
): AsyncGenerator<Step, void> {
  await store.deregister(worker);
  yield did("leave with an end that it has not heard of");
  await store.rescue({
    worker,
    beats: await beatsOf(store, worker),
    limit: 10,
    decide: crashedOnce,
  });
  yield did("rescue nothing but the worker");
  const { id } = job();
  const other = workerInfo({ id, process: id });
  await store.register(other);
  yield did("join another worker");
  await take(store, { worker: other.id, limit: 3, prefetch: true });
  yield did("claim into a prefetch");
  await store.stopWorker(other.id);
  yield did("ask a worker to stop");
  await store.deregister(other.id);
  yield did("leave with a prefetch");
  await clock.advance(1);
  const beats = await beatsOf(store, other.id);
  await store.rescue({ worker: other.id, beats, limit: 2, decide: crashedOnce });
  yield did("rescue a part");
  await store.rescue({ worker: other.id, beats, limit: 100, decide: crashedOnce });
  yield did("rescue the rest");
  await clock.advance(95_000);
  await store.promote(100);
  yield did("promote");
}

async function beatsOf(store: SqliteJobStore, worker: string): Promise<number> {
  return (await store.silent(10)).find(({ id }) => id === worker)?.beats ?? 0;
}

async function* useTokens(
  store: SqliteJobStore,
  { clock, job }: Scene,
): AsyncGenerator<Step, void> {
  const hash = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
  const person = newToken({ id: job().id, hash: hash(1), roles: ["viewer"] });
  await store.createToken(person);
  yield did("create a token");
  const [first, second] = [2, 3].map((byte) =>
    newToken({ id: job().id, hash: hash(byte), kind: "session", parentId: person.id }),
  );
  assert.equal(await store.createToken(first!), "created");
  yield did("create a token from another");
  assert.equal(await store.createToken(second!), "created");
  yield did("create a second one");
  await clock.advance(1);
  await store.markTokensUsed([person.id, first!.id]);
  yield { name: "mark tokens as used", promise: "relaxed" };
  assert.ok(await store.revokeToken(person.id));
  yield did("revoke a token and those made from it");
}

async function* useSchedules(
  store: SqliteJobStore,
  { clock, job }: Scene,
): AsyncGenerator<Step, void> {
  const [slot, next] = [clock.now() + 1_000, clock.now() + 3_600_000];
  const spec = newSchedule();
  await store.declareSchedules([spec], () => slot);
  yield did("declare a schedule");
  await clock.advance(1_000);
  const tick = { ticks: [{ slot, job: job() }], missed: null, nextSlot: next };
  assert.equal((await store.tickSchedule(spec.name, () => tick)).length, 1);
  yield did("tick a schedule");
  await store.confirmSchedules([spec.name]);
  yield did("confirm a schedule");
  const own = { ...spec, name: "own" };
  assert.equal(await store.saveSchedule(own, { revision: null, by: null }, () => next), "saved");
  yield did("save a schedule");
  const id = job().id;
  await store.runSchedule("own", ({ job: made }) => ({ ...made, id, due: { delayMs: 9e6 } }));
  yield did("run a schedule");
  await store.pauseSchedule("own", { reason: "a bug", by: null });
  yield did("pause a schedule");
  assert.equal(await store.resumeSchedule("own", () => next), "resumed");
  yield did("resume a schedule");
  assert.equal(await store.removeSchedule("own"), "removed");
  yield did("remove a schedule");
}

async function* prune(store: SqliteJobStore, { clock, job }: Scene): AsyncGenerator<Step, void> {
  // The longest period that a worker has declared holds: no later prune has a shorter one.
  const periods = { idempotencyMs: 200_000, deadLetterMs: 200_000 };
  const rules = retention({ finishedMs: GONE, ...periods });
  const two = await store.prune(rules, 2);
  assert.ok(two.jobs === 2 && two.tokens === 2);
  yield did("prune two jobs and two sessions");
  assert.ok((await store.prune(rules, 100)).jobs > 0);
  yield did("prune the other jobs");
  await clock.advance(200_000);
  const all = { ...rules, eventMs: 0 };
  const { deadLetters, idempotencyKeys } = await store.prune(all, 100);
  assert.ok(deadLetters > 0 && idempotencyKeys > 0);
  yield did("prune keys, dead letters and events");
  const [again] = await store.enqueue([job({ idempotency: PAYMENT })]);
  assert.equal(again?.status, "created");
  yield did("enqueue with a key that is free again");
}
