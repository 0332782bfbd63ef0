/**
 * `{ tx }` on PostgreSQL: the same promises through every library, on a real server. `npm test` has
 * three tests of each library, `npm run campaign` all of them.
 */
import type { Client } from "pg";
import { quoted } from "../../src/store/postgres/database/statements.ts";
import { defineJob, openMillrace, typed, type Millrace } from "millrace";
import { postgresStore } from "millrace/postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isCampaign } from "../../scripts/lib/campaign-size.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";
import { LIBRARIES, type Connected } from "./libraries.ts";
import { testLogger } from "../support/logger.ts";

const note = defineJob({
  type: "note",
  payload: typed<{ text: string; none?: null; list?: readonly (string | null)[] }>(),
}).run((payload) => payload);
const bare = defineJob({ type: "bare" }).run(() => "ran");

/** What drivers and query builders have a meaning for, or quote. */
const AWKWARD = {
  text: `it's "quoted" \\ \\" $1 $2::text ? ?? \\? :name ::int {a,b} ☃ 𝄞 \n\t -- /* ; %s`,
  none: null,
  list: ["NULL", null, "{}", ""],
};

/** Thrown to roll back. */
const changedMind = new Error("changed my mind");

let schemas = 0;
let server: PostgresServer;
let observer: Client;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
  observer = await connect(server.url);
});
afterAll(async () => {
  await observer.end();
  await server[Symbol.asyncDispose]();
});

describe.each(LIBRARIES)("a transaction of $name", ({ connect: connectLibrary }) => {
  /** A name that has to be quoted, and that query builders would read as something else. */
  const number = (schemas += 1);
  const schema = `jobs of "x"? $1 :tx ${number}`;
  let mill: Millrace;
  let library: Connected;

  beforeAll(async () => {
    mill = await openMillrace(postgresStore({ url: server.url, schema }), { logger: testLogger });
    library = await connectLibrary(server.url);
  });
  afterAll(async () => {
    await library[Symbol.asyncDispose]();
    await mill.close();
  });

  /** What goes into `{ tx }`. */
  const txOf = (tx: unknown): any => library.wrap?.(tx) ?? tx;

  async function rolledBack(work: (tx: unknown) => Promise<void>): Promise<void> {
    const transaction = library.transaction(async (tx) => {
      await work(tx);
      throw changedMind;
    });
    await expect(transaction).rejects.toThrow(changedMind.message);
  }

  test("that commits leaves a job which runs with the payload that was given", async () => {
    const ids: string[] = [];
    await library.transaction(async (tx) => {
      const job = await mill.enqueue(note, AWKWARD, { tx: txOf(tx), tags: { a: "?" } });
      expect(job).toMatchObject({ type: "note", state: "queued", created: true });
      ids.push(job.id);
    });

    const [id = ""] = ids;
    expect(await mill.jobs.get(id)).toMatchObject({ state: "queued", tags: { a: "?" } });
    await using worker = mill.work({ jobs: [note, bare], poll: "100ms" });
    await worker.ready;
    expect(await mill.result({ id, type: "note" }, { timeout: "30s" })).toEqual(AWKWARD);
  });

  test("that rolls back leaves no trace", async () => {
    const before = await traces(schema);
    await rolledBack(async (tx) => {
      await mill.enqueue(note, { text: "a" }, { tx: txOf(tx), tags: { x: "y" } });
      await mill.enqueue(note, { text: "b" }, { tx: txOf(tx), delay: "1h" });
      const keys = { idempotencyKey: "gone", dedupKey: "gone" };
      await mill.enqueue(note, { text: "c" }, { tx: txOf(tx), ...keys });
    });
    expect(await traces(schema)).toEqual(before);
  });

  test("of another database is refused, although there is a schema of the same name", async () => {
    const name = `elsewhere_${number}`;
    await observer.query(`CREATE DATABASE ${name}`);
    const url = server.url.replace(/postgres$/, name);
    await using there = await openMillrace(postgresStore({ url, schema }), { logger: testLogger });
    await using other = await connectLibrary(url);
    await other.transaction(async (given) => {
      const tx = other.wrap?.(given) ?? given;
      const refused = { code: "TX_INVALID", message: expect.stringContaining("another database") };
      await expect(mill.enqueue(bare, undefined, { tx })).rejects.toMatchObject(refused);
      await expect(
        mill.enqueue(bare, undefined, { tx, idempotencyKey: "else" }),
      ).rejects.toMatchObject(refused);
    });
    expect((await there.jobs.list()).jobs).toEqual([]);
  });

  if (!isCampaign()) return;

  test("shows its jobs inside, and to no other client before it commits", async () => {
    await library.transaction(async (tx) => {
      const plain = await mill.enqueue(bare, undefined, { tx: txOf(tx), delay: "1h" });
      const keyed = await mill.enqueue(bare, undefined, { tx: txOf(tx), dedupKey: "inside" });
      const text = `SELECT count(*)::text AS seen FROM ${quoted(schema)}.job
        WHERE xmin::text = pg_current_xact_id()::text OR dedup = 'inside'`;
      expect(await library.query(tx, text)).toEqual([{ seen: "2" }]);
      await expect(mill.jobs.get(plain.id)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
      await expect(mill.jobs.get(keyed.id)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
    });
  });

  test("takes many jobs at once, with keys and without, and answers in their order", async () => {
    const ids: string[] = [];
    await library.transaction(async (given) => {
      const tx = txOf(given);
      const jobs = await mill.enqueueMany([
        bare.of(undefined, { tx, delay: "1h" }),
        note.of({ text: "keyed" }, { tx, idempotencyKey: "many", delay: "1h" }),
        note.of({ text: "plain" }, { tx, delay: "2h", tags: { n: "3" } }),
        note.of({ text: "keyed" }, { tx, idempotencyKey: "many" }),
      ]);
      expect(jobs.map(({ type, state, created }) => [type, state, created])).toEqual([
        ["bare", "scheduled", true],
        ["note", "scheduled", true],
        ["note", "scheduled", true],
        ["note", "scheduled", false],
      ]);
      expect(jobs[3].id).toBe(jobs[1].id);
      ids.push(...jobs.map(({ id }) => id));
    });
    const found = await Promise.all(ids.map((id) => mill.jobs.get(id)));
    expect(found.map(({ payload }) => payload)).toEqual([
      null,
      { text: "keyed" },
      { text: "plain" },
      { text: "keyed" },
    ]);
  });

  test("tells the feed of its jobs, with keys and without", async () => {
    const tags = { told: "yes" };
    await library.transaction(async (given) => {
      const options = { tx: txOf(given), delay: "1h", tags } as const;
      await mill.enqueue(bare, undefined, options);
      await mill.enqueue(bare, undefined, { ...options, dedupKey: "feed" });
    });
    const home = quoted(schema);
    const told = await observer.query(`
      SELECT count(*)::integer AS jobs
      FROM (SELECT kind, keys FROM ${home}.event_outbox
            UNION ALL SELECT kind, keys FROM ${home}.event) AS entry
      JOIN ${home}.tag ON tag.name = 'told' AND tag.key = ANY (entry.keys)
      WHERE entry.kind = 1`);
    expect(told.rows).toEqual([{ jobs: 2 }]);
  });

  test("honours idempotency keys, and survives a conflict", async () => {
    const first = await mill.enqueue(note, { text: "one" }, { idempotencyKey: "k", delay: "1h" });
    const later: string[] = [];
    await library.transaction(async (given) => {
      const tx = txOf(given);
      const again = await mill.enqueue(note, { text: "one" }, { tx, idempotencyKey: "k" });
      expect(again).toEqual({ id: first.id, type: "note", state: "scheduled", created: false });
      await expect(
        mill.enqueue(note, { text: "two" }, { tx, idempotencyKey: "k" }),
      ).rejects.toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
      later.push((await mill.enqueue(bare, undefined, { tx, delay: "1h" })).id);
    });
    expect(await mill.jobs.get(later[0] ?? "")).toMatchObject({ state: "scheduled" });
  });

  test("that rolls back gives a dedup key back to the job that it had replaced", async () => {
    const held = await mill.enqueue(bare, undefined, { dedupKey: "d", delay: "1h" });
    const dedupKey = { key: "d", onConflict: "replace" } as const;
    await rolledBack(async (tx) => {
      const newer = await mill.enqueue(bare, undefined, { tx: txOf(tx), dedupKey });
      expect(newer.created).toBe(true);
    });
    expect(await mill.jobs.get(held.id)).toMatchObject({ state: "scheduled" });
    await library.transaction(async (tx) => {
      await mill.enqueue(bare, undefined, { tx: txOf(tx), dedupKey, delay: "1h" });
    });
    expect(await mill.jobs.get(held.id)).toMatchObject({ state: "cancelled" });
  });

  test("that an error has aborted is told so, with and without keys", async () => {
    const transaction = library.transaction(async (given) => {
      await library.query(given, "SELECT 1 / 0").catch(() => {});
      const tx = txOf(given);
      const aborted = { code: "TX_ABORTED", hint: expect.stringContaining("Roll") };
      await expect(mill.enqueue(bare, undefined, { tx })).rejects.toMatchObject(aborted);
      await expect(
        mill.enqueue(bare, undefined, { tx, idempotencyKey: "aborted" }),
      ).rejects.toMatchObject(aborted);
      throw changedMind;
    });
    await expect(transaction).rejects.toThrow(changedMind.message);
  });

  test("that cannot have a key in time is told so, and stays as it was", async () => {
    const holder = await connect(server.url);
    await holder.query("BEGIN");
    await mill.enqueue(bare, undefined, { tx: holder, dedupKey: "held", delay: "1h" });
    const keys = { idempotencyKey: "taken before it waits", dedupKey: "held" };
    const ids: string[] = [];
    const transaction = library.transaction(async (given) => {
      await library.query(given, "SET LOCAL lock_timeout = '20ms'");
      const tx = txOf(given);
      await expect(mill.enqueue(bare, undefined, { tx, ...keys })).rejects.toMatchObject({
        code: "STORE_BUSY",
      });
      ids.push((await mill.enqueue(bare, undefined, { tx, delay: "1h" })).id);
    });
    const end = library.afterAnError ?? "committed";
    expect(await verdict(transaction)).toBe(end);
    expect(await verdict(mill.jobs.get(ids[0] ?? ""))).toBe(end);
    const { idempotencyKey } = keys;
    const again = await mill.enqueue(bare, undefined, { idempotencyKey, delay: "1h" });
    expect(again.created).toBe(true);
    await holder.end();
  });

  test("keeps nothing of Millrace in its session, and needs no search path", async () => {
    await library.transaction(async (tx) => {
      await library.query(tx, "SET LOCAL search_path = nowhere");
      await mill.enqueue(bare, undefined, { tx: txOf(tx), delay: "1h" });
      await mill.enqueue(bare, undefined, { tx: txOf(tx), delay: "1h", dedupKey: "s" });
      const kept = await library.query(
        tx,
        `SELECT count(*)::text AS kept, current_setting('search_path') AS path,
                current_setting('enable_nestloop') AS loops
         FROM pg_prepared_statements WHERE statement LIKE '%job%'`,
      );
      // Prepared by the library for this very question, at most.
      expect(Number(kept[0].kept)).toBeLessThanOrEqual(1);
      expect(kept[0]).toMatchObject({ path: "nowhere", loops: "on" });
    });
  });

  test("is not what it was begun with", async () => {
    for (const tx of library.noTransactions) {
      await expect(mill.enqueue(bare, undefined, { tx })).rejects.toMatchObject({
        code: "TX_INVALID",
        message: expect.stringContaining("open one"),
      });
    }
  });
});

describe("a transaction that cannot be used", () => {
  test("because the schema is not there is refused", async () => {
    await using broken = await openMillrace(postgresStore({ url: server.url, schema: "dropped" }), {
      logger: testLogger,
    });
    await broken.enqueue(bare);
    await observer.query("DROP SCHEMA dropped CASCADE");
    const client = await connect(server.url);
    await client.query("BEGIN");
    await expect(broken.enqueue(bare, undefined, { tx: client })).rejects.toMatchObject({
      code: "TX_INVALID",
      message: expect.stringContaining('"dropped" is gone'),
    });
    await client.end();
  });

  test.each([
    ["of SQLite", { prepare: () => {} }, "it is one of SQLite"],
    ["of Drizzle without its tag", { execute: () => {} }, "fromDrizzle(tx, sql)"],
    ["of no known library", { hello: 1 }, "supported are transactions of pg"],
    ["that is no object", "BEGIN", "supported are transactions of pg"],
    ["that does not run the statement", { query: () => Promise.reject(new Error("no")) }, "no"],
    ["that gives no answer", { query: async () => ({ rows: [] }) }, "returned no rows"],
  ])("%s is refused", async (_, tx: any, why) => {
    await using mill = await openMillrace(postgresStore({ url: server.url }), {
      logger: testLogger,
    });
    await expect(mill.enqueue(bare, undefined, { tx })).rejects.toMatchObject({
      code: "TX_INVALID",
      message: expect.stringContaining(why),
      hint: "Pass an open transaction on the database of the store.",
    });
  });

  test("because a client that cannot tell has none is refused", async () => {
    await using mill = await openMillrace(postgresStore({ url: server.url }), {
      logger: testLogger,
    });
    const client = await connect(server.url);
    // As in older releases of the driver.
    const old = { query: (text: string, values?: string[]) => client.query(text, values) };
    await expect(mill.enqueue(bare, undefined, { tx: old })).rejects.toMatchObject({
      code: "TX_INVALID",
      message: expect.stringContaining("open one"),
    });
    await client.query("BEGIN");
    const job = await mill.enqueue(bare, undefined, { tx: old });
    await client.query("ROLLBACK");
    await expect(mill.jobs.get(job.id)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
    await client.end();
  });

  test("because it is read-only is refused", async () => {
    await using mill = await openMillrace(postgresStore({ url: server.url }), {
      logger: testLogger,
    });
    const client = await connect(server.url);
    await client.query("BEGIN READ ONLY");
    await expect(mill.enqueue(bare, undefined, { tx: client })).rejects.toMatchObject({
      code: "TX_INVALID",
      message: expect.stringContaining("read-only"),
    });
    await client.end();
  });

  test("for all jobs of one call is refused", async () => {
    await using mill = await openMillrace(postgresStore({ url: server.url }), {
      logger: testLogger,
    });
    const client = await connect(server.url);
    await client.query("BEGIN");
    const requests = [bare.of(undefined, { tx: client }), bare.of()];
    await expect(mill.enqueueMany(requests)).rejects.toMatchObject({
      code: "OPTION_INVALID",
      details: { option: "tx", index: 1 },
    });
    await client.end();
  });
});

/** What became of a transaction, or of what was written in it. */
function verdict(outcome: Promise<unknown>): Promise<"committed" | "rolled back"> {
  return outcome.then(
    () => "committed",
    () => "rolled back",
  );
}

/** Everything that an enqueue writes, but for the interned names. */
async function traces(schema: string): Promise<unknown> {
  const tables = ["job", "ready", "scheduled", "blocked", "tag", "idempotency", "dedup"];
  const counts: [table: string, rows: number][] = [];
  for (const table of [...tables, "event_outbox", "event", "attempt"]) {
    const text = `SELECT count(*)::integer AS rows FROM ${quoted(schema)}.${table}`;
    counts.push([table, (await observer.query(text)).rows[0].rows]);
  }
  return counts;
}
