/** What two verbs find at the beginning, with jobs that have crashed before. */
import { LONE_DEATHS_MAX, PROBE_MS_MIN } from "../../src/core/crashes.ts";
import type { JobStore } from "../../src/store/store.ts";
import { diedAlone, workerId } from "../support/factories.ts";
import { add, addCrashed, joinWorker, rescueSilent, take, takeAlone } from "../support/steps.ts";
import type { PostgresTestStore } from "../support/stores.ts";
import { LEASE_MS, type Scene } from "./scenes.ts";

const CAP = 3;

/** Two jobs that must run alone, in different lanes. */
export async function lone({ store }: PostgresTestStore): Promise<Scene> {
  const id = await addCrashed(store, CAP, { lane: "one" });
  await addCrashed(store, CAP, { lane: "two" });
  return { id, batch: null, other: await patientWorker(store) };
}

/** A job that must run alone, and a fresh job, both with one concurrency key. */
export async function loneKeyed({ store }: PostgresTestStore): Promise<Scene> {
  const id = await addCrashed(store, CAP, { concurrencyKey: "account", priority: 1 });
  await add(store, { concurrencyKey: "account", priority: 2 });
  return { id, batch: null, other: await patientWorker(store) };
}

/** A job of a type whose gate crashes have closed, and whose probe is due. */
export async function probeDue(db: PostgresTestStore): Promise<Scene> {
  const { store, clock } = db;
  for (let count = 0; count < LONE_DEATHS_MAX; count += 1) await dieAlone(db);
  await clock.advance(PROBE_MS_MIN);
  const [id] = await add(store, {});
  return { id, batch: null, other: await patientWorker(store) };
}

/** A due probe, beside a dead worker whose lone run is of the same type. */
export async function probeBesideDeath(db: PostgresTestStore): Promise<Scene> {
  const scene = await probeDue(db);
  await add(db.store, {});
  const batch = await runAlone(db.store);
  await db.clock.advance(2 * PROBE_MS_MIN);
  return { ...scene, batch };
}

/** A run of a type of which two jobs have died alone, beside a dead worker with a third one. */
export async function successBesideDeath(db: PostgresTestStore): Promise<Scene> {
  const { store, clock } = db;
  for (let count = 1; count < LONE_DEATHS_MAX; count += 1) await dieAlone(db);
  await addCrashed(store, CAP);
  const rival = await runAlone(store);
  await clock.advance(LEASE_MS + 1_000);
  const [id] = await add(store, {});
  const batch = await take(store, { worker: await patientWorker(store) });
  return { id, batch, rival, other: rival.worker };
}

/** Two workers of one process that is dead, with one run each. */
export async function deadProcess(db: PostgresTestStore): Promise<Scene> {
  const { store, clock } = db;
  const process = workerId();
  const [id] = await add(store, { lane: "one" }, { lane: "two" });
  const batch = await take(store, { lanes: ["one"], worker: await joinWorker(store, { process }) });
  const rival = await take(store, { lanes: ["two"], worker: await joinWorker(store, { process }) });
  await clock.advance(LEASE_MS + 1_000);
  return { id, batch, rival, other: rival.worker };
}

async function dieAlone(db: PostgresTestStore): Promise<void> {
  await addCrashed(db.store, CAP);
  const { worker } = await runAlone(db.store);
  await db.store.deregister(worker);
  await rescueSilent(db.store, worker, { decide: diedAlone });
}

async function runAlone(store: JobStore): Promise<NonNullable<Scene["batch"]>> {
  const { worker, lease, job } = await takeAlone(store);
  await store.startPrefetched(lease, [job.key]);
  return { worker, lease, jobs: [job] };
}

/** A worker whose lease outlasts the scene. */
function patientWorker(store: JobStore): Promise<string> {
  return joinWorker(store, { leaseMs: 10 * PROBE_MS_MIN });
}
