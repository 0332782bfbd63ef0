/** What two verbs find that are about exclusive names, or about jobs that run after others. */
import type { JobId } from "../../src/core/job.ts";
import { completed, newJob } from "../support/factories.ts";
import { add, joinWorker, settleAll, take, takeOne } from "../support/steps.ts";
import type { PostgresTestStore } from "../support/stores.ts";
import { LEASE_MS, type Scene } from "./scenes.ts";

const KEYED = { concurrencyKey: "a" } as const;

/** Two jobs of one key wait. */
export async function keyed({ store }: PostgresTestStore): Promise<Scene> {
  const other = await joinWorker(store, { leaseMs: 10 * LEASE_MS });
  const [id] = await add(store, KEYED, KEYED);
  return { id, batch: null, other };
}

/** The same in two lanes. */
export async function keyedInLanes({ store }: PostgresTestStore): Promise<Scene> {
  const other = await joinWorker(store, { leaseMs: 10 * LEASE_MS });
  const [id] = await add(store, { ...KEYED, lane: "one" }, { ...KEYED, lane: "two" });
  return { id, batch: null, other };
}

/** Of two jobs of one key one runs; the scene is about the other. */
export async function keyTaken(db: PostgresTestStore): Promise<Scene> {
  const { other } = await keyed(db);
  const batch = await take(db.store);
  const { jobs } = await db.store.list({ states: ["queued"] }, { limit: 1 });
  return { id: jobs[0]?.id ?? "", batch, other };
}

export async function keySilent(db: PostgresTestStore): Promise<Scene> {
  const scene = await keyTaken(db);
  await db.clock.advance(LEASE_MS + 1_000);
  return scene;
}

/** Two were moved out of the way of one that has ended: one of them is still there. */
export async function keyFree(db: PostgresTestStore): Promise<Scene> {
  const { other } = await keyed(db);
  const [id] = await add(db.store, KEYED);
  const batch = await takeOne(db.store);
  await db.store.hold(10);
  await settleAll(db.store, batch, completed());
  return { id, batch: null, other };
}

/** A run has a name, and a job with that key waits. */
export async function nameTaken(db: PostgresTestStore): Promise<Scene> {
  const scene = await nameWanted(db);
  const { lease, jobs } = scene.batch ?? { lease: null, jobs: [] };
  const [run] = jobs;
  if (lease === null || run === undefined) throw new Error("nothing runs");
  await db.store.acquireLocks({ lease, key: run.key, n: run.n }, ["a"]);
  return scene;
}

/** A run without a name, and a job with a key. */
export async function nameWanted({ store }: PostgresTestStore): Promise<Scene> {
  const other = await joinWorker(store, { leaseMs: 10 * LEASE_MS });
  await add(store, {});
  const batch = await takeOne(store);
  const [id] = await add(store, KEYED);
  return { id, batch, other };
}

/** Two runs under two leases. */
export async function twoRuns({ store }: PostgresTestStore): Promise<Scene> {
  const other = await joinWorker(store, { leaseMs: 10 * LEASE_MS });
  const [id] = await add(store, {}, {});
  return { id, batch: await takeOne(store), rival: await takeOne(store), other };
}

/** The same, and a job that waits for both. */
export async function twoParents(db: PostgresTestStore): Promise<Scene> {
  const scene = await twoRuns(db);
  const runs = [scene.batch, scene.rival].flatMap((batch) => batch?.jobs ?? []);
  const [id] = await add(db.store, { lane: "after", after: runs.map((run) => run.id) });
  await db.store.resolveDependencies(100);
  return { ...scene, id };
}

/** A run, and a job that waits for it. */
export async function oneParent(db: PostgresTestStore): Promise<Scene> {
  const other = await joinWorker(db.store, { leaseMs: 10 * LEASE_MS });
  const [parent] = await add(db.store, {});
  const batch = await takeOne(db.store);
  const [id] = await add(db.store, { lane: "after", after: [parent] });
  await db.store.resolveDependencies(100);
  return { id, batch, other };
}

/**
 * Two jobs are over. One job waits for both and one for the first, and no worker has told them yet:
 * they came in a transaction of the application.
 */
export async function endedParents(db: PostgresTestStore): Promise<Scene> {
  const other = await joinWorker(db.store, { leaseMs: 10 * LEASE_MS });
  const [first, second] = await add(db.store, {}, {});
  await settleAll(db.store, await take(db.store), completed());
  const id = await addInside(db, [first, second]);
  await addInside(db, [first]);
  return { id, batch: null, other };
}

async function addInside({ store, pool }: PostgresTestStore, after: JobId[]): Promise<JobId> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const [answer] = await store.enqueueInTransaction(client, [newJob({ lane: "after", after })]);
    await client.query("COMMIT");
    return answer?.status === "created" ? answer.id : "";
  } finally {
    client.release();
  }
}
