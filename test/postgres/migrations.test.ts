/** Migrations beside workers that go on: expand first, contract later, never stop the fleet. */
import { defineJob, openMillrace } from "millrace";
import type { Logger, Millrace } from "millrace";
import type { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { migrations } from "../../src/store/postgres/database/migrations.gen.ts";
import type { Migration } from "../../src/store/shared/migrations.ts";
import { PROTOCOL } from "../../src/store/store.ts";
import { completed } from "../support/factories.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";
import { add, claimable, joinWorker, settleAll, take } from "../support/steps.ts";
import { type } from "../cli/command-line.ts";

let server: PostgresServer;
let client: Client;
beforeAll(async () => {
  server = await startPostgres();
  client = await connect(server.url);
});
afterAll(async () => {
  await client.end();
  await server[Symbol.asyncDispose]();
});

const NEWEST = migrations.at(-1)!.version;
/** What a newer release might add: columns in every hot table, an index, a table, a function. */
const EXPANDING = next(`
  ALTER TABLE millrace.job ADD COLUMN region text NOT NULL DEFAULT 'here';
  ALTER TABLE millrace.ready ADD COLUMN weight integer NOT NULL DEFAULT 1;
  ALTER TABLE millrace.lease ADD COLUMN purpose text;
  ALTER TABLE millrace.attempt ADD COLUMN cost bigint NOT NULL DEFAULT 0;
  ALTER TABLE millrace.event_outbox ADD COLUMN origin text;
  CREATE INDEX job_region ON millrace.job (region, key);
  CREATE TABLE millrace.newer_table (gate integer PRIMARY KEY);
  CREATE FUNCTION millrace.region_of(wanted bigint) RETURNS text LANGUAGE sql STABLE
      RETURN (SELECT region FROM millrace.job WHERE key = wanted);
`);
const CONTRACTING = next(
  `UPDATE millrace.meta SET value = '${PROTOCOL + 1}' WHERE name = 'min_protocol';`,
);

function next(sql: string): readonly Migration[] {
  return [...migrations, { version: NEWEST + 1, name: "of a newer release", sql }];
}

/** A process of a release that has these migrations, opened. */
async function open(schema: string, list: readonly Migration[] = migrations) {
  const store = makePostgresStore({ url: server.url, schema, poolSize: 4 }, { migrations: list });
  await store.open();
  return store;
}

async function versionOf(schema: string): Promise<number> {
  const text = `SELECT value FROM "${schema}".meta WHERE name = 'schema'`;
  const { rows } = await client.query<{ value: string }>(text);
  return Number(rows[0]?.value);
}

describe("a worker and a producer of the release before", () => {
  test("meet no error while a newer release migrates, nor afterwards", async () => {
    const logged: string[] = [];
    const tick = defineJob({ type: "tick" }).run(() => "done");
    const mill = await openMillrace(await open("expanded"), { logger: loggerTo(logged) });
    const worker = mill.work({ jobs: [tick], lanes: { general: 5 } });
    const run = async (count: number): Promise<unknown[]> => {
      const jobs = await Promise.all(Array.from({ length: count }, () => mill.enqueue(tick)));
      return Promise.all(jobs.map((job) => mill.result(job)));
    };
    const migrated = new AbortController();
    const during = (async () => {
      const results: unknown[] = [];
      while (!migrated.signal.aborted) results.push(...(await run(20)));
      return results;
    })();
    await run(20);

    await (await open("expanded", EXPANDING)).close();
    migrated.abort();

    expect(await versionOf("expanded")).toBe(NEWEST + 1);
    expect(new Set(await during)).toEqual(new Set(["done"]));
    expect(new Set(await run(200))).toEqual(new Set(["done"]));
    await stopped(mill, worker);
    expect(logged).toEqual([]);
  });

  test("take no new work once a migration demands more, and end what they have", async () => {
    const logged: string[] = [];
    const gate = Promise.withResolvers<string>();
    const slow = defineJob({ type: "slow" }).run(() => gate.promise);
    const mill = await openMillrace(await open("contracted"), { logger: loggerTo(logged) });
    const worker = mill.work({ jobs: [slow], poll: 50 });
    const running = await mill.enqueue(slow);
    const waiting = await mill.enqueue(slow, undefined, { delay: "1h" });
    await vi.waitUntil(async () => (await mill.jobs.get(running.id))?.state === "running");

    const newer = await open("contracted", CONTRACTING);
    await vi.waitUntil(() => logged.length > 0, { timeout: 10_000 });
    await expect(mill.enqueue(slow)).rejects.toMatchObject({ code: "STORE_NEWER" });
    await newer.hurry(waiting.id);
    gate.resolve("ended well");

    expect(await mill.result(running)).toBe("ended well");
    // On a busy host the thread of the heartbeat may start after the migration.
    const warnings = logged.filter((message) => !message.includes("thread of the heartbeat"));
    expect(warnings).toEqual([expect.stringMatching(/newer release.*claims no more jobs/)]);
    const worker2 = await joinWorker(newer, { protocol: PROTOCOL + 1 });
    expect(await claimable(newer, { worker: worker2 })).toEqual([waiting.id]);
    await stopped(mill, worker);
    await newer.close();
  });
});

describe("an older release", () => {
  test("opens a newer schema that accepts it, and says that it should be upgraded", async () => {
    await (await open("newer", EXPANDING)).close();
    const notices: string[] = [];

    const older = await open("newer");
    older.onWarning((notice) => notices.push(notice));

    const [id] = await add(older, {});
    const batch = await take(older);
    expect(batch.jobs).toMatchObject([{ id }]);
    await settleAll(older, batch, completed());
    expect(notices).toEqual([expect.stringMatching(/newer release.*still works.*upgraded/)]);
    await older.close();
  });

  test("is refused by a schema that demands more", async () => {
    await (await open("demanding", CONTRACTING)).close();
    await expect(open("demanding")).rejects.toMatchObject({
      code: "STORE_NEWER",
      details: { found: PROTOCOL + 1, known: PROTOCOL },
    });
  });
});

describe("a migration", () => {
  test("is carried out once, however many processes start at the same moment", async () => {
    const stores = await Promise.all([1, 2, 3, 4].map(() => open("crowded", EXPANDING)));
    expect(await versionOf("crowded")).toBe(NEWEST + 1);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("waits for the process that is at it", async () => {
    await client.query("BEGIN");
    await client.query(
      "SELECT pg_advisory_xact_lock(hashtextextended('millrace migration waiting', 0))",
    );
    const opening = open("waiting");
    await vi.waitUntil(async () => {
      const text = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
      return (await client.query(text)).rowCount === 1;
    });
    await client.query("COMMIT");
    await (await opening).close();
    expect(await versionOf("waiting")).toBe(NEWEST);
  });

  test("that fails half-way leaves nothing behind", async () => {
    const older = await open("halfway");
    const failing = next("CREATE TABLE millrace.newer_table (gate integer); SELECT 1 / 0;");

    await expect(open("halfway", failing)).rejects.toMatchObject({ code: "STORE_REFUSED" });

    expect(await versionOf("halfway")).toBe(NEWEST);
    expect(await add(older, {})).toHaveLength(1);
    await (await open("halfway", EXPANDING)).close();
    await older.close();
  });

  test("may take longer than the statement_timeout of its role", async () => {
    await (await open("hasty")).close();
    await client.query("ALTER ROLE postgres SET statement_timeout = '250ms'");

    const [opened] = await Promise.allSettled([open("hasty", next("SELECT pg_sleep(0.5);"))]);

    await client.query("ALTER ROLE postgres RESET statement_timeout");
    expect(opened.status).toBe("fulfilled");
    expect(await versionOf("hasty")).toBe(NEWEST + 1);
    if (opened.status === "fulfilled") await opened.value.close();
  });

  test("lets the fleet pass while a long transaction uses a table that it changes", async () => {
    const older = await open("patient");
    await client.query('BEGIN; SELECT count(*) FROM "patient".ready');
    const newer = makePostgresStore(
      { url: server.url, schema: "patient", poolSize: 2 },
      { migrations: EXPANDING },
    );
    const notice = new Promise((resolve) => newer.onWarning(resolve));

    const opening = newer.open();

    expect(await notice).toMatch(/a migration waits for a transaction/);
    const [id] = await add(older, {});
    expect(await claimable(older)).toEqual([id]);
    expect(await versionOf("patient")).toBe(NEWEST);
    await client.query("COMMIT");
    await opening;
    expect(await versionOf("patient")).toBe(NEWEST + 1);
    await Promise.all([older.close(), newer.close()]);
  });

  test("can be printed without a connection, and run by hand", async () => {
    const { out } = await type(
      "migrate",
      "--print",
      "--db",
      "postgres://ada@nowhere.invalid/nothing?schema=By%20%22hand%22",
    );

    await client.query(out);

    const store = await open('By "hand"');
    const [id] = await add(store, {});
    expect(await claimable(store)).toEqual([id]);
    await store.close();
  });
});

async function stopped(mill: Millrace, worker: { stop(): Promise<void> }): Promise<void> {
  await worker.stop();
  await mill.close();
}

/** Keeps what is worth a word. */
function loggerTo(logged: string[]): Logger {
  const keep = (message: string): void => void logged.push(message);
  return { debug: () => {}, info: () => {}, warn: keep, error: keep };
}
