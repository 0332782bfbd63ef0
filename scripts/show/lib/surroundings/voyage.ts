/** One day of an application under a setting: every kind of enqueue, run and end, and one crash. */
import { setTimeout as sleep } from "node:timers/promises";
import { Pool, type PoolClient, type PoolConfig } from "pg";
import { defineJob, typed } from "../../../../src/api/define.ts";
import { openMillrace } from "../../../../src/open.ts";
import { makePostgresStore } from "../../../../src/store/postgres/create.ts";
import { postgresStore } from "../../../../src/store/postgres/index.ts";
import type { PostgresServer } from "../../../../test/support/postgres.ts";

const PLAIN = 20;
const CRASH_JOBS = 80;
const LEASE = "2s";
/** Handlers that hold a connection, and for how long: three leases. */
const HOLDERS = 2;
const HELD_S = 6;
/** A short limit for idle transactions ends some of those of the application. */
const TRIES_MAX = 20;
/** How long the jobs of a row may take. */
const ROW_MS_MAX = 60_000;

/** What happened, and what was said: warnings, errors and what doctor found. */
export interface Outcome {
  readonly happened: string;
  readonly said: readonly string[];
  readonly isSound: boolean;
}

export interface Scene {
  readonly url: string;
  readonly schema: string;
  /** A pool of the application with these options; else the store has its own. */
  readonly pool?: PoolConfig;
  /** Handlers hold a connection of the pool for three leases. */
  readonly holds?: boolean;
}

/** Runs jobs of every kind to their ends. Never throws. */
export async function sail(scene: Scene): Promise<Outcome> {
  const { url, schema, holds = false } = scene;
  const said = new Set<string>();
  const tell = (message: string, fields: { readonly error?: unknown } = {}): void => {
    said.add(fields.error instanceof Error ? `${message}: ${fields.error.message}` : message);
  };
  const logger = { debug() {}, info() {}, warn: tell, error: tell };
  const { hostname: host, port, username: user } = new URL(url);
  const pool = new Pool({ host, port: Number(port), user, database: "postgres", ...scene.pool });
  const application = new Pool({ connectionString: url });
  for (const each of [pool, application]) each.on("error", () => {});
  const runs = new Map<string, number>();
  const { jobs, flaky } = definitions(runs, holds ? pool : null);
  try {
    const address = scene.pool === undefined ? { url } : { pool };
    const mill = await openMillrace(postgresStore({ ...address, schema }), { logger });
    const rescuer = await openMillrace(postgresStore({ url, schema }), { logger });
    const [plain, steps] = jobs;
    try {
      mill.work({ jobs, lease: LEASE, poll: "200ms" });
      const refs = [
        ...(await mill.enqueueMany(Array.from({ length: PLAIN }, (_, at) => plain.of(at)))),
        await mill.enqueue(plain, 100, { idempotencyKey: "order 7" }),
        await mill.enqueue(plain, 101, { dedupKey: "site 7" }),
        await mill.enqueue(plain, 102, { delay: "300ms" }),
        await mill.enqueue(steps),
        await mill.enqueue(flaky),
        await enqueueInside(application, (tx) => mill.enqueue(plain, 103, { tx })),
      ];
      await sleep(500);
      // Beside the worker, because it would rescue the jobs of a silent one.
      rescuer.work({ jobs, lease: LEASE, poll: "200ms" });
      await mill.pause({ type: "none" }, "a look");
      await mill.resume({ type: "none" });
      const waited = Promise.all(refs.map((ref) => rescuer.wait(ref)));
      const finals = await Promise.race([waited, sleep(ROW_MS_MAX, null, { ref: false })]);
      const completed = finals?.filter(({ state }) => state === "completed").length ?? 0;
      const twice = [...runs].filter(([type, count]) => count > (type === "flaky" ? 2 : 1)).length;
      for (const finding of await findingsOf(url, schema)) said.add(finding);
      const happened = `${completed} of ${refs.length} jobs completed, ${twice} ran twice`;
      return { happened, said: [...said], isSound: completed === refs.length && twice === 0 };
    } finally {
      await Promise.allSettled([mill.close(), rescuer.close()]);
    }
  } catch (error) {
    said.add(String(error));
    return { happened: "refused", said: [...said], isSound: false };
  } finally {
    await Promise.all([pool.end(), application.end()]);
  }
}

function definitions(runs: Map<string, number>, held: Pool | null) {
  const count = (name: string): void => void runs.set(name, (runs.get(name) ?? 0) + 1);
  const plain = defineJob({ type: "plain", payload: typed<number>() }).run(
    async (number, { job }) => {
      count(job.id);
      if (held === null || number >= HOLDERS) return;
      const client = await held.connect();
      await client.query("SELECT pg_sleep($1)", [HELD_S]);
      client.release();
    },
  );
  const steps = defineJob({ type: "steps" }).run(async (_, ctx) => {
    count(ctx.job.id);
    await ctx.step("one", () => 1);
    await ctx.progress(50);
    return ctx.step("two", () => 2);
  });
  const flaky = defineJob({ type: "flaky" }).run(() => {
    count("flaky");
    if (runs.get("flaky") === 1) throw new Error("the first time");
  });
  return { jobs: [plain, steps, flaky] as const, flaky };
}

/** In a transaction of the application, which tries again when the server has ended it. */
async function enqueueInside<Ref>(
  pool: Pool,
  enqueue: (tx: PoolClient) => Promise<Ref>,
  triesLeft = TRIES_MAX,
): Promise<Ref> {
  try {
    return await enqueueOnce(pool, enqueue);
  } catch (error) {
    if (triesLeft === 1) throw error;
    return enqueueInside(pool, enqueue, triesLeft - 1);
  }
}

async function enqueueOnce<Ref>(
  pool: Pool,
  enqueue: (tx: PoolClient) => Promise<Ref>,
): Promise<Ref> {
  const client = await pool.connect();
  client.on("error", () => {});
  let isDone = false;
  try {
    await client.query("BEGIN");
    const ref = await enqueue(client);
    await client.query("COMMIT");
    isDone = true;
    return ref;
  } finally {
    client.release(!isDone);
  }
}

async function findingsOf(url: string, schema: string): Promise<readonly string[]> {
  const store = makePostgresStore({ url, schema });
  await store.open();
  const { findings } = await store.examine();
  await store.close();
  return findings.map(({ name, found }) => `doctor: ${name}: ${found}`);
}

/** Enqueues one job after the other, crashes the server, and counts what is left. */
export async function crash(server: PostgresServer, scene: Scene): Promise<Outcome> {
  const { url, schema } = scene;
  const mill = await openMillrace(postgresStore({ url, schema }));
  const job = defineJob({ type: "kept" });
  const ids: string[] = [];
  for (let count = 0; count < CRASH_JOBS; count += 1) ids.push((await mill.enqueue(job)).id);
  await server.stop("immediate");
  await server.start();
  const kept = await Promise.all(ids.map((id) => mill.jobs.get(id).catch(() => null)));
  const left = kept.filter((each) => each !== null).length;
  await mill.close();
  const happened = `crash of the server: ${left} of ${CRASH_JOBS} acknowledged jobs are left`;
  return { happened, said: await findingsOf(url, schema), isSound: left === CRASH_JOBS };
}
