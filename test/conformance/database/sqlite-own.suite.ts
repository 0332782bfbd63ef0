/** What only a file can do: fail halfway on a caller's own handle, and be fenced. */
import type { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import type { unblockWrites as unfenceFile } from "../../../src/store/sqlite/copy/write-block.ts";
import type { makeSqliteStore as makeStore } from "../../../src/store/sqlite/create.ts";
import { completed, newJob, runAgain } from "../../support/factories.ts";
import { add, at, eventsOf, recordOf, settleItem, stateOf, take } from "../../support/steps.ts";
import { openFile } from "../transactions/callers.ts";
import { pastSqlite } from "../doctor/past-the-store.ts";
import { repairSuite } from "../queue/repair.suite.ts";
import { badRowsSuite } from "../doctor/bad-rows.suite.ts";
import { changedAuditSuite } from "../audit/changed-audit.suite.ts";
import { damagedTokensSuite } from "../identity/damaged-tokens.suite.ts";
import { freedKeysSuite } from "../doctor/freed-keys.suite.ts";
import { protocolSuite } from "./protocol.suite.ts";

interface Parts {
  readonly makeSqliteStore: typeof makeStore;
  readonly unblockWrites: typeof unfenceFile;
}

const MARK = { to: "the new 'home'", copy: "copy-1" } as const;
const MOVED = { code: "STORE_MOVED", message: expect.stringContaining(MARK.to) };

export function sqliteOwnSuite({ makeSqliteStore, unblockWrites }: Parts): void {
  repairSuite(pastSqlite(makeSqliteStore));
  badRowsSuite(pastSqlite(makeSqliteStore));
  damagedTokensSuite(pastSqlite(makeSqliteStore));
  changedAuditSuite(pastSqlite(makeSqliteStore), "sqlite");
  freedKeysSuite(pastSqlite(makeSqliteStore));
  protocolSuite(pastSqlite(makeSqliteStore));

  describe("enqueueInTransaction that fails in its middle", () => {
    test("leaves nothing of the call, and the transaction as it was", async () => {
      await using db = await openFile(makeSqliteStore);
      const tx = db.connect();
      tx.exec(`CREATE TEMP TRIGGER halfway BEFORE INSERT ON main.millrace_job
               WHEN new.payload IS NOT NULL BEGIN SELECT RAISE(ABORT, 'halfway'); END`);
      const [before, first, second] = [newJob(), newJob(), newJob({ payload: "1" })];
      tx.exec("BEGIN IMMEDIATE");
      await db.store.enqueueInTransaction(tx, [before]);

      const failing = db.store.enqueueInTransaction(tx, [first, second]);

      await expect(failing).rejects.toMatchObject({ message: expect.stringContaining("halfway") });
      tx.exec("COMMIT");
      expect(await stateOf(db.store, before.id)).toBe("queued");
      expect(await db.store.get(first.id)).toBeNull();
    });
  });

  describe("blockWrites", () => {
    test.each(["INSERT", "UPDATE", "DELETE"])("refuses every %s of any handle", async (verb) => {
      await using db = await openFile(makeSqliteStore);
      await add(db.store, { tags: { a: "1" }, ...KEYS }, { due: { delayMs: 60_000 } });

      await db.store.blockWrites(MARK, runAgain);

      const writes = writesTo(db.connect(), verb);
      expect(writes.length).toBeGreaterThan(5);
      for (const write of writes) expect(write).toThrow(MARK.to);
    });

    test("refuses a handle that was open before, and no store opens the file again", async () => {
      await using db = await openFile(makeSqliteStore);
      const [id] = await add(db.store, {});

      await db.store.blockWrites(MARK, runAgain);

      await expect(db.store.enqueue([newJob()])).rejects.toMatchObject(MOVED);
      await expect(db.store.cancel(id, null, null)).rejects.toMatchObject(MOVED);
      await expect(makeSqliteStore({ path: db.path }).open()).rejects.toMatchObject(MOVED);
      expect(await stateOf(db.store, id)).toBe("queued");
    });

    test("takes back what runs, as a rescue does, and forgets its workers", async () => {
      await using db = await openFile(makeSqliteStore);
      const { store } = db;
      const [running, buffered] = await add(store, { priority: 1 }, { priority: 2 });
      const held = await take(store, { limit: 1 });
      await take(store, { limit: 1, prefetch: true });

      const taken = await store.blockWrites(MARK, runAgain);

      expect(taken).toBe(2);
      expect(await recordOf(store, running)).toMatchObject({ state: "queued", attempts: 0 });
      expect(await store.attempts(running)).toMatchObject([{ n: 1, outcome: "interrupted" }]);
      expect(await stateOf(store, buffered)).toBe("queued");
      expect(await store.attempts(buffered)).toEqual([]);
      expect((await eventsOf(store, running)).at(-1)).toBe("job:retrying");
      expect(await store.workers(10)).toEqual([]);
      const late = settleItem(held, at(held.jobs, 0), completed());
      await expect(store.settle([late])).rejects.toMatchObject(MOVED);
    });

    test("stands once: a second move is refused", async () => {
      await using db = await openFile(makeSqliteStore);
      await db.store.blockWrites(MARK, runAgain);

      const second = db.store.blockWrites({ to: "elsewhere", copy: "copy-2" }, runAgain);

      await expect(second).rejects.toMatchObject(MOVED);
    });

    test("goes as a whole: every handle writes again", async () => {
      await using db = await openFile(makeSqliteStore);
      const [id] = await add(db.store, {});
      await db.store.blockWrites(MARK, runAgain);

      unblockWrites(db.connect());

      const other = makeSqliteStore({ path: db.path });
      await other.open();
      expect((await take(other)).jobs).toMatchObject([{ id }]);
      await other.close();
      await add(db.store, {});
    });
  });
}

const KEYS = {
  idempotency: { key: "order 7", onConflict: "error" },
  dedup: { key: "nightly", onConflict: "skip" },
} as const;

/** One statement for each table that has rows; inserts go to all. */
function writesTo(database: DatabaseSync, verb: string): (() => void)[] {
  const tables = database
    .prepare(
      `SELECT name FROM sqlite_schema
       WHERE type = 'table' AND name GLOB 'millrace_*' AND name <> 'millrace_meta'`,
    )
    .all()
    .map((row) => String(row["name"]));
  return tables
    .filter((table) => verb === "INSERT" || isFilled(database, table))
    .map((table) => () => database.exec(statementOf(database, table, verb)));
}

function isFilled(database: DatabaseSync, table: string): boolean {
  return database.prepare(`SELECT 1 FROM ${table}`).get() !== undefined;
}

function statementOf(database: DatabaseSync, table: string, verb: string): string {
  if (verb === "INSERT") return `INSERT INTO ${table} DEFAULT VALUES`;
  if (verb === "DELETE") return `DELETE FROM ${table}`;
  const column = database.prepare("SELECT name FROM pragma_table_info(?)").get(table)?.["name"];
  return `UPDATE ${table} SET "${String(column)}" = "${String(column)}"`;
}
