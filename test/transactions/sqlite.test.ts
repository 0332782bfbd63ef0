/** `{ tx }` on SQLite: a handle of the application on the same file. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { defineJob, openMillrace, typed, type Millrace } from "millrace";
import { createTestMill } from "millrace/testing";
import { describe, expect, test } from "vitest";
import { load } from "./libraries.ts";

const note = defineJob({ type: "note", payload: typed<{ text: string }>() }).run(
  ({ text }) => text,
);
const bare = defineJob({ type: "bare" }).run(() => "ran");
const TEXT = `it's "quoted" \\ $1 ? ?1 :name @name ☃ 𝄞 \n`;

interface Shared extends AsyncDisposable {
  readonly mill: Millrace;
  readonly path: string;
  /** The application's own handle. */
  readonly db: DatabaseSync;
}

async function openShared(options: object = {}): Promise<Shared> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-tx-"));
  const path = join(folder, "app.db");
  const mill = await openMillrace(`sqlite:${path}`);
  const db = new DatabaseSync(path, options);
  db.exec("CREATE TABLE orders (id INTEGER PRIMARY KEY)");
  return {
    mill,
    path,
    db,
    async [Symbol.asyncDispose]() {
      if (db.isOpen) db.close();
      await mill.close();
      await rm(folder, { recursive: true });
    },
  };
}

describe.each([
  ["opened as it comes", {}],
  ["that reads big integers as lists", { readBigInts: true, returnArrays: true }],
])("a transaction of node:sqlite on a handle %s", (_, options) => {
  test("that commits leaves a job which runs with the payload that was given", async () => {
    await using app = await openShared(options);
    app.db.exec("BEGIN IMMEDIATE; INSERT INTO orders VALUES (1)");
    const job = await app.mill.enqueue(note, { text: TEXT }, { tx: app.db, tags: { a: "b" } });
    app.db.exec("COMMIT");

    expect(job).toMatchObject({ type: "note", state: "queued", created: true });
    await using worker = app.mill.work({ jobs: [note] });
    await worker.ready;
    expect(await app.mill.result(job, { timeout: "30s" })).toBe(TEXT);
  });

  test("that rolls back leaves no trace, not even a name", async () => {
    await using app = await openShared(options);
    await app.mill.enqueue(bare, undefined, { delay: "1h" });
    const before = traces(app.path);
    app.db.exec("BEGIN IMMEDIATE");
    await app.mill.enqueue(note, { text: "a" }, { tx: app.db, tags: { x: "y" } });
    await app.mill.enqueue(note, { text: "b" }, { tx: app.db, delay: "1h" });
    const keys = { idempotencyKey: "gone", dedupKey: "gone" };
    await app.mill.enqueue(note, { text: "c" }, { tx: app.db, ...keys });
    app.db.exec("ROLLBACK");
    expect(traces(app.path)).toEqual(before);
    // The type was met inside; outside it is made anew.
    const again = await app.mill.enqueue(note, { text: "d" }, keys);
    expect(again.created).toBe(true);
  });

  test("shows its jobs inside, and to no other client before it commits", async () => {
    await using app = await openShared(options);
    app.db.exec("BEGIN IMMEDIATE");
    const { id } = await app.mill.enqueue(bare, undefined, { tx: app.db });
    expect(app.db.prepare("SELECT key FROM millrace_job").all()).toHaveLength(1);
    await expect(app.mill.jobs.get(id)).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
    app.db.exec("COMMIT");
    expect(await app.mill.jobs.get(id)).toMatchObject({ state: "queued" });
  });

  test("takes many jobs at once, honours their keys, and survives a conflict", async () => {
    await using app = await openShared(options);
    const [tx, idempotencyKey] = [app.db, "k"];
    app.db.exec("BEGIN IMMEDIATE");
    const jobs = await app.mill.enqueueMany([
      note.of({ text: "one" }, { tx, idempotencyKey }),
      bare.of(undefined, { tx, delay: "1h" }),
      note.of({ text: "one" }, { tx, idempotencyKey }),
    ]);
    expect(jobs.map(({ state, created }) => [state, created])).toEqual([
      ["queued", true],
      ["scheduled", true],
      ["queued", false],
    ]);
    await expect(
      app.mill.enqueue(note, { text: "two" }, { tx, idempotencyKey }),
    ).rejects.toMatchObject({ code: "IDEMPOTENCY_CONFLICT" });
    app.db.exec("COMMIT");
    const found = await Promise.all(jobs.map(({ id }) => app.mill.jobs.get(id)));
    expect(found.map(({ type }) => type)).toEqual(["note", "bare", "note"]);
  });

  test("tells the feed of its jobs once it has committed", async () => {
    await using app = await openShared(options);
    const heard = Promise.withResolvers<string>();
    app.mill.on("job:enqueued", ({ id }) => heard.resolve(id));
    app.db.exec("BEGIN IMMEDIATE");
    const { id } = await app.mill.enqueue(bare, undefined, { tx: app.db });
    app.db.exec("COMMIT");
    expect(await heard.promise).toBe(id);
  });
});

describe("a transaction on SQLite", () => {
  test("blocks no later write: the store writes as soon as it is over", async () => {
    await using app = await openShared();
    app.db.exec("BEGIN IMMEDIATE");
    const inside = await app.mill.enqueue(bare, undefined, { tx: app.db });
    const outside = app.mill.enqueue(bare);
    app.db.exec("COMMIT");
    const ids = [inside.id, (await outside).id];
    const found = await Promise.all(ids.map((id) => app.mill.jobs.get(id)));
    expect(found.map(({ state }) => state)).toEqual(["queued", "queued"]);
  });

  test("is refused when it is over, or was never begun", async () => {
    await using app = await openShared();
    const refused = { code: "TX_INVALID", message: expect.stringContaining("BEGIN IMMEDIATE") };
    await expect(app.mill.enqueue(bare, undefined, { tx: app.db })).rejects.toMatchObject(refused);
    app.db.exec("BEGIN");
    const late = app.mill.enqueue(bare, undefined, { tx: app.db });
    app.db.exec("COMMIT");
    await expect(late).rejects.toMatchObject(refused);
    expect((await app.mill.jobs.list()).jobs).toEqual([]);
  });

  test("is refused on a closed handle, another file, or one in memory", async () => {
    await using app = await openShared();
    await using other = await openShared();
    using memory = new DatabaseSync(":memory:");
    other.db.exec("BEGIN");
    memory.exec("BEGIN");
    app.db.close();
    const cases = [
      { tx: app.db, why: "closed" },
      { tx: other.db, why: other.path },
      { tx: memory, why: "a database in memory" },
    ];
    for (const { tx, why } of cases) {
      await expect(app.mill.enqueue(bare, undefined, { tx })).rejects.toMatchObject({
        code: "TX_INVALID",
        message: expect.stringContaining(why),
      });
    }
  });

  test("is refused where another process holds the lock, and nothing is left of it", async () => {
    await using app = await openShared();
    using rival = new DatabaseSync(app.path);
    app.db.exec("BEGIN; SELECT * FROM orders");
    rival.exec("BEGIN IMMEDIATE");
    await expect(app.mill.enqueue(bare, undefined, { tx: app.db })).rejects.toMatchObject({
      code: "STORE_BUSY",
    });
    rival.exec("ROLLBACK");
    app.db.exec("COMMIT");
    expect((await app.mill.jobs.list()).jobs).toEqual([]);
  });

  test("cannot reach a store in memory", async () => {
    await using kit = await createTestMill();
    using memory = new DatabaseSync(":memory:");
    memory.exec("BEGIN");
    await expect(kit.mill.enqueue(bare, undefined, { tx: memory })).rejects.toMatchObject({
      code: "TX_INVALID",
      message: expect.stringContaining("in memory"),
    });
  });

  test("of better-sqlite3 is refused: two copies of SQLite do not see each other", async () => {
    await using app = await openShared();
    const database = new (load("better-sqlite3"))(app.path);
    database.exec("BEGIN");
    await expect(app.mill.enqueue(bare, undefined, { tx: database })).rejects.toMatchObject({
      code: "TX_INVALID",
      message: expect.stringContaining("better-sqlite3"),
    });
    database.close();
  });

  test("of PostgreSQL is refused", async () => {
    await using app = await openShared();
    const tx = { query: async () => ({ rows: [] }) };
    await expect(app.mill.enqueue(bare, undefined, { tx })).rejects.toMatchObject({
      code: "TX_INVALID",
      message: expect.stringContaining("the jobs are in a SQLite file"),
    });
  });
});

/** Everything that an enqueue writes. */
function traces(path: string): unknown {
  using db = new DatabaseSync(path, { readOnly: true });
  const tables = db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'millrace%'")
    .all()
    .map((row) => String(row["name"]));
  expect(tables.length).toBeGreaterThan(10);
  return tables.map((table) => [
    table,
    db.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.["rows"],
  ]);
}
