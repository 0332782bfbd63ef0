/** A script of flows: keys that jobs share, names of runs, jobs after others, logs, stale marks. */
import assert from "node:assert/strict";
import type { SqliteJobStore } from "../../src/store/sqlite/store.ts";
import type { LogEntry } from "../../src/store/types/notes.ts";
import {
  completed,
  crashedOnce,
  failedWith,
  retention,
  retryIn,
  workerInfo,
} from "../support/factories.ts";
import { runNote } from "../support/notes.ts";
import { at, settleAll, settleItem, take } from "../support/steps.ts";
import type { Batch } from "../support/steps.ts";
import { did, type Life, type Scene, type Step } from "./steps.ts";

const MAIN = { lane: "docs", concurrencyKey: "docs/main" };
const OLD = { lane: "docs", concurrencyKey: "docs/old" };
const GONE = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };
/** Each of so many waits for each of as many: more than one transaction deals with. */
const WIDTH = 32;

export const flows: Life = { before, after };

async function* before(store: SqliteJobStore, scene: Scene): AsyncGenerator<Step, Batch> {
  yield* enqueueAll(store, scene);
  yield* runUnderKeys(store, scene);
  yield* endParents(store, scene);
  const held = await take(store, { worker: scene.worker, lanes: ["docs"] });
  yield did("claim the next of a key");
  assert.equal(await store.hold(100), 1);
  yield did("hold the last of it");
  return held;
}

async function* after(
  store: SqliteJobStore,
  scene: Scene,
  held: Batch,
): AsyncGenerator<Step, void> {
  yield* operate(store, scene, held);
  yield* rescue(store, scene);
  yield* endMany(store, scene);
  yield* growStale(store, scene);
}

async function* enqueueAll(store: SqliteJobStore, { job }: Scene): AsyncGenerator<Step, void> {
  await store.enqueue([job({ ...MAIN, priority: 1 }), job(MAIN), job(MAIN), job(MAIN), job(OLD)]);
  yield did("enqueue jobs of two keys");
  const first = job({ lane: "chain" });
  const second = job({ lane: "chain", after: [first.id] });
  const third = job({ lane: "chain", after: [second.id], due: { delayMs: 600_000 } });
  await store.enqueue([first, second, third]);
  yield did("enqueue a chain");
  const [bad, good] = [job({ lane: "bad" }), job({ lane: "good" })];
  const victim = job({ after: [bad.id, good.id] });
  const heir = job({ lane: "heir", after: [bad.id], onFailed: "run" });
  await store.enqueue([bad, good, victim, job({ after: [victim.id] }), heir]);
  yield did("enqueue jobs after one that will fail");
  const [refused] = await store.enqueue([job({ after: [job().id] })]);
  assert.equal(refused?.status, "refused");
  yield did("enqueue after a job that there is not");
}

async function* runUnderKeys(store: SqliteJobStore, { worker }: Scene): AsyncGenerator<Step, void> {
  await store.register(workerInfo({ id: worker, process: worker }));
  yield did("register");
  const batch = await take(store, { worker, lanes: ["docs"] });
  yield did("claim one of each key");
  const [main, old] = batch.jobs;
  assert.ok(main?.concurrencyKey === "docs/main" && old?.concurrencyKey === "docs/old");
  assert.equal(await store.hold(100), 3);
  yield did("hold those whose key is taken");

  const names = ["page/1", "page/2", "docs/old"];
  const occupation = await store.acquireLocks(runNote(batch, main, {}), names);
  assert.deepEqual(occupation, { status: "done", names: ["page/1", "page/2"] });
  yield { name: "acquireLocks", promise: "relaxed" };
  await store.acquireLocks(runNote(batch, old, {}), ["page/3"]);
  yield { name: "acquireLocks for another run", promise: "relaxed" };
  const logs = [said("page 1 of 2"), said("done", '{"ms":12}')];
  await store.record([runNote(batch, main, { releases: ["page/1"], logs })]);
  yield did("give up a name, with a log");
  await store.record([runNote(batch, main, { logs: [said("still here")] })]);
  yield { name: "log", promise: "relaxed" };

  const note = { releases: ["page/2"], logs: [said("too early")] };
  await store.settle([{ ...settleItem(batch, main, retryIn(600_000)), note }]);
  yield did("retry later, and let the next of the key through");
  assert.equal(await store.release(100), 1);
  yield did("release another of a free key");
}

let turns = 0;

function said(message: string, fields: string | null = null): LogEntry {
  turns += 1;
  return { turn: turns, at: 1_000, level: "info", message, fields };
}

async function* endParents(store: SqliteJobStore, { worker }: Scene): AsyncGenerator<Step, void> {
  const chain = await take(store, { worker, lanes: ["chain"] });
  yield did("claim the first of a chain");
  await settleAll(store, chain, completed());
  yield did("complete the first of a chain");
  const bad = await take(store, { worker, lanes: ["bad"] });
  yield did("claim one that others wait for");
  await settleAll(store, bad, failedWith());
  assert.equal((await store.count({ states: ["cancelled"] }, 10)).count, 2);
  yield did("fail one that others wait for");
}

async function* operate(
  store: SqliteJobStore,
  { job, worker }: Scene,
  held: Batch,
): AsyncGenerator<Step, void> {
  const { id } = at(held.jobs, 0);
  await store.intervene(id, () => failedWith());
  yield did("fail a run under a key by hand");
  const [late] = await store.enqueue([job({ lane: "late", after: [id], onFailed: "run" })]);
  assert.ok(late?.status === "created" && (await store.get(late.id))?.heldBy === null);
  yield did("enqueue after a job that is over");
  const chain = await take(store, { worker, lanes: ["chain"] });
  yield did("claim the second of a chain");
  await settleAll(store, chain, completed());
  assert.equal((await store.count({ states: ["scheduled"] }, 10)).count, 2);
  yield did("complete the second, and plan the third");
  const parent = job();
  await store.enqueue([parent, job({ after: [parent.id] })]);
  yield did("enqueue one after another");
  await store.cancel(parent.id, "ada", null);
  assert.equal((await store.count({ states: ["cancelled"] }, 10)).count, 4);
  yield did("cancel both");
  const [copy] = await store.enqueue([job({ lane: "late", retryOf: id })]);
  assert.ok(copy?.status === "created" && (await store.get(copy.id))?.heldBy !== null);
  yield did("enqueue a copy that waits for the code of its original");
  const { key, n } = at(held.jobs, 0);
  await store.reportCode(worker, { ended: [{ key, n }] });
  assert.equal((await store.get(copy.id))?.heldBy, null);
  yield did("report that the code of the original has ended");
}

/** The run of the other key, and the name that it has taken, are still held. */
async function* rescue(
  store: SqliteJobStore,
  { clock, worker }: Scene,
): AsyncGenerator<Step, void> {
  await clock.advance(40_000);
  const [silent] = await store.silent(10);
  assert.ok(silent && (await store.lockHolder("default", "page/3")) !== null);
  await store.rescue({ worker, beats: silent.beats, limit: 100, decide: crashedOnce });
  assert.equal(await store.lockHolder("default", "page/3"), null);
  yield did("rescue a run that has names");
}

async function* endMany(store: SqliteJobStore, { job }: Scene): AsyncGenerator<Step, void> {
  const parents = Array.from({ length: WIDTH }, () => job({ lane: "wide" }));
  const ids = parents.map(({ id }) => id);
  const children = Array.from({ length: WIDTH }, (_, nr) =>
    job({ lane: "narrow", after: ids, onFailed: nr % 2 === 0 ? "run" : "cancel" }),
  );
  await store.enqueue([...parents, ...children]);
  yield did("enqueue many after many");
  const { id: worker } = job();
  await store.register(workerInfo({ id: worker, process: worker }));
  yield did("join another worker");
  const batch = await take(store, { worker, lanes: ["wide"] });
  yield did("claim many");
  const ends = batch.jobs.map((run, nr) =>
    settleItem(batch, run, nr < WIDTH - 1 ? completed() : failedWith()),
  );
  await store.settle(ends);
  assert.deepEqual(await store.openDependencies(at(children, -1).id, 1), []);
  assert.equal((await store.get(at(children, -1).id))?.heldBy?.kind, "after");
  yield did("end many that many wait for");
  assert.equal(await store.resolveDependencies(10), 10);
  yield did("resolveDependencies with some");
  assert.ok((await store.resolveDependencies(1_000)) > 0);
  yield did("resolveDependencies with the rest");
}

async function* growStale(store: SqliteJobStore, { clock }: Scene): AsyncGenerator<Step, void> {
  await clock.advance(1_000);
  const rules = retention({ finishedMs: GONE });
  const { jobs, next } = await store.expired(rules, { fresh: true, limit: 6, from: null });
  const keys = jobs.map(({ key }) => key);
  assert.equal(await store.markStale(keys), 6);
  yield did("mark as stale");
  const page = await store.expired(rules, { fresh: true, limit: 2, from: next });
  assert.equal(await store.markStale([...keys, ...page.jobs.map(({ key }) => key)]), 2);
  yield did("mark some of them again");
  assert.equal(await store.remove(keys.slice(0, 3), rules), 3);
  yield did("remove");
  assert.ok((await store.prune(rules, 100)).jobs > 0);
  yield did("prune");
}
