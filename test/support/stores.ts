/** Stores for tests: each opening is a database of its own, gone when the test ends. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Pool } from "pg";
import type { Dice } from "../../src/core/clock.ts";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import type { JobStore } from "../../src/store/store.ts";
import { readyIn } from "../../src/store/types/wake-ups.ts";
import { ENGINE_LOGIN, installForEngine, runsAsEngine, urlAs } from "./engine-role.ts";
import { newJob } from "./factories.ts";
import type { PostgresServer } from "./postgres.ts";
import { seededDice } from "./seeded-dice.ts";
import { virtualClock } from "./virtual-clock.ts";
import type { VirtualClock } from "./virtual-clock.ts";

export interface TestStore extends AsyncDisposable {
  /** An open handle. */
  readonly store: JobStore;
  /** The store's clock. Nothing else moves time. */
  readonly clock: VirtualClock;
  /** A further open handle on the same database, as another process would have. */
  another(): Promise<JobStore>;
  /** A handle on the same database that has not been opened yet. */
  unopened(): JobStore;
  /** Resolves when an open handle has heard all wake-ups so far, so that the next one is new. */
  heardAll(handle: JobStore): Promise<void>;
}

/** One on PostgreSQL, with a way past the store. */
export interface PostgresTestStore extends TestStore {
  readonly pool: Pool;
  readonly schema: string;
  /** The connections of the stores: the same pool, unless they run as another role. */
  readonly stores: Pool;
}

export type OpenStore = () => Promise<TestStore>;

/** Memory where the system offers it: what is tested here is not the disk. */
const ROOT = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export async function openSqlite(): Promise<TestStore> {
  const folder = await mkdtemp(join(ROOT, "millrace-"));
  const handles = await openHandles(
    (ports) => makeSqliteStore({ path: join(folder, "millrace.db") }, ports),
    () => rm(folder, { recursive: true }),
  );
  // All timers of the wake-ups are those of the clock.
  return { ...handles, heardAll: () => handles.clock.advance(10_000) };
}

/** What the tests of one server share: to connect and to make a schema takes longer than most. */
interface Shared {
  /** The connections of the owner, past the stores. */
  readonly owners: Pool;
  /** The connections of the stores. */
  readonly pool: Pool;
  /** Schemas that tests have left, empty again. */
  readonly schemas: string[];
}

const shared = new WeakMap<PostgresServer, Shared>();
let schemas = 0;

/** `unsynced`: one connection of its own, whose commits do not wait for the disk. */
export type Connections = "shared" | "own" | "unsynced";

/**
 * A schema of its own on a server that is already running. The handles share the connections of all
 * tests, as those of an application with a pool do, or have their own.
 */
export async function openPostgres(
  server: PostgresServer,
  connections: Connections = "own",
): Promise<PostgresTestStore> {
  const url = storesUrl(server);
  const { owners, pool: all, schemas: free } = sharedOf(server);
  const pool = connections === "unsynced" ? unsyncedPool(url) : all;
  const schema = free.pop() ?? (await newSchema(server));
  const address = connections === "own" ? { url, poolSize: 4 } : { pool };
  const handles = await openHandles(
    (ports) => makePostgresStore({ ...address, schema }, ports),
    async () => {
      if (pool !== all) await pool.end();
      await empty(owners, schema);
      free.push(schema);
    },
  );
  const past = runsAsEngine() ? owners : pool;
  const heardAll = (handle: JobStore): Promise<void> => heardByAll(handles, handle);
  return { ...handles, pool: past, stores: pool, schema, heardAll };
}

/** The user as whom stores connect. */
function storesUrl({ url }: PostgresServer): string {
  return runsAsEngine() ? urlAs(url, ENGINE_LOGIN) : url;
}

/** The first store makes its tables, unless its user may not. */
async function newSchema({ url }: PostgresServer): Promise<string> {
  const schema = `test_${process.pid}_${(schemas += 1)}`;
  if (runsAsEngine()) await installForEngine(url, schema);
  return schema;
}

/** How often a marker is sent, and how long each is waited for. */
const MARKERS_MAX = 500;
const MARKER_MS = 100;
let markers = 0;

/**
 * Wake-ups between handles take real time: the handle hears "work" when its connection listens, and
 * notifications wait for each other on both sides. Each other handle therefore sends markers until
 * the handle hears one of them by its own name: a wake-up that had to wait is merged with others,
 * and has lost its name. Those before such a marker have been heard.
 */
async function heardByAll({ handles, another }: Handles, handle: JobStore): Promise<void> {
  if (handles.length === 1) await another();
  for (const sender of handles.filter((each) => each !== handle)) await hearMarker(handle, sender);
}

async function hearMarker(handle: JobStore, sender: JobStore): Promise<void> {
  for (let sent = 0; sent < MARKERS_MAX; sent += 1) {
    const job = newJob({ lane: `marker-${(markers += 1)}` });
    const stop = new AbortController();
    const heard = new Promise<boolean>((resolve) => {
      const off = handle.watch((wakeUp) => {
        if (wakeUp === readyIn(job.lane)) resolve(true);
      });
      stop.signal.addEventListener("abort", off);
    });
    await sender.enqueue([job]);
    const isHeard = await Promise.race([heard, setTimeout(MARKER_MS, false, stop)]);
    stop.abort();
    await sender.cancel(job.id, null, null);
    if (isHeard) return;
  }
  throw new Error(`${MARKERS_MAX} wake-ups of another handle were not heard`);
}

function sharedOf(server: PostgresServer): Shared {
  const known = shared.get(server);
  if (known !== undefined) return known;
  const pool = manyOf(storesUrl(server));
  const made = { owners: runsAsEngine() ? manyOf(server.url) : pool, pool, schemas: [] };
  shared.set(server, made);
  return made;
}

function manyOf(url: string): Pool {
  return sturdy(new Pool({ connectionString: url, max: 20, allowExitOnIdle: true }));
}

function unsyncedPool(url: string): Pool {
  const options = "-c synchronous_commit=off";
  return sturdy(new Pool({ connectionString: url, max: 1, options, allowExitOnIdle: true }));
}

/** A pool whose server may be stopped at any moment, also while one of its connections ends. */
export function sturdy(pool: Pool): Pool {
  pool.on("error", () => {});
  pool.on("connect", (client) => void client.on("error", () => {}));
  return pool;
}

/** Leaves what an installation has from its first day on. */
async function empty(pool: Pool, schema: string): Promise<void> {
  await pool.query(`DO $$
    DECLARE place text;
    BEGIN
      -- The audit refuses to be emptied.
      PERFORM set_config('session_replication_role', 'replica', true);
      FOR place IN
        SELECT format('%I.%I', schemaname, tablename) FROM pg_tables
        WHERE schemaname = '${schema}' AND tablename NOT IN ('meta', 'interned_name', 'feed_head')
      LOOP
        EXECUTE 'DELETE FROM ' || place;
      END LOOP;
      DELETE FROM "${schema}".interned_name WHERE id > 1;
      UPDATE "${schema}".feed_head SET position = 0;
      UPDATE "${schema}".meta SET value = '{}' WHERE name = 'retention';
    END $$`);
}

type Handles = Omit<TestStore, "heardAll"> & { readonly handles: readonly JobStore[] };

/** Handles on one database, all with the same clock. `remove` is called when they are closed. */
async function openHandles(
  make: (ports: { clock: VirtualClock; dice: Dice }) => JobStore,
  remove: () => Promise<void>,
): Promise<Handles> {
  const clock = virtualClock();
  const handles: JobStore[] = [];

  function unopened(): JobStore {
    const handle = make({ clock, dice: seededDice(handles.length + 1) });
    handles.push(handle);
    return handle;
  }

  async function another(): Promise<JobStore> {
    const handle = unopened();
    await handle.open();
    return handle;
  }

  return {
    store: await another(),
    clock,
    handles,
    another,
    unopened,
    async [Symbol.asyncDispose]() {
      await Promise.all(handles.map((handle) => handle.close()));
      await remove();
    },
  };
}
