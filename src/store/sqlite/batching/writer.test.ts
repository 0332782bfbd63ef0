import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Clock } from "../../../core/clock.ts";
import { systemClock, systemDice } from "../../../lib/system.ts";
import { Statements } from "../database/statements.ts";
import { migrations } from "../database/migrations.gen.ts";
import { Outbox } from "../events/outbox.ts";
import { Writer } from "./writer.ts";

let folder: string;
let database: DatabaseSync;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "millrace-writer-"));
  database = open();
  for (const { sql } of migrations) database.exec(sql);
  database.exec("CREATE TABLE note (text TEXT NOT NULL)");
});

afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

describe("overlapping writes", () => {
  test("share one commit", async () => {
    const outbox = new CountingOutbox(new Statements(database), systemClock);
    const writer = makeWriter(systemClock, outbox);

    await Promise.all(Array.from({ length: 50 }, (_, index) => writer.write(() => note(index))));

    expect(notes()).toHaveLength(50);
    expect(outbox.groups).toBe(1);
  });

  test("do not affect each other: only the failed one is rejected and rolled back", async () => {
    const writer = makeWriter();

    const answers = await Promise.allSettled([
      writer.write(() => note("first")),
      writer.write(() => {
        note("half of a bad one");
        database.exec("INSERT INTO note VALUES (NULL)");
      }),
      writer.write(() => note("third")),
    ]);

    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(notes()).toEqual(["first", "third"]);
  });

  test("are split into several commits when they take long: the loop stays free", async () => {
    // Every read of the clock costs a millisecond: eight pieces fill a slice.
    let ticks = 0;
    const slow: Clock = { ...systemClock, monotonic: () => (ticks += 1) };
    const outbox = new CountingOutbox(new Statements(database), slow);
    const writer = makeWriter(slow, outbox);

    await Promise.all(Array.from({ length: 40 }, (_, index) => writer.write(() => note(index))));

    expect(notes()).toHaveLength(40);
    expect(outbox.groups).toBe(5);
  });

  test("let other work of the event loop run between two slices", async () => {
    let ticks = 0;
    const slow: Clock = { ...systemClock, monotonic: () => (ticks += 100) };
    const writer = makeWriter(slow);
    const order: string[] = [];

    const writes = [1, 2].map((index) => writer.write(() => order.push(`write ${index}`)));
    const other = new Promise<void>((resolve) =>
      setImmediate(() => {
        order.push("other");
        resolve();
      }),
    );
    await Promise.all([...writes, other]);

    expect(order).toEqual(["write 1", "other", "write 2"]);
  });
});

describe("relaxed writes", () => {
  test("do not wait for the disk, while all others do", async () => {
    const writer = makeWriter();
    const modes: unknown[] = [];
    const look = (): void => {
      modes.push(database.prepare("PRAGMA synchronous").get()?.["synchronous"]);
    };

    await writer.write(look);
    await writer.writeRelaxed(look);
    await writer.write(look);
    await Promise.all([writer.writeRelaxed(look), writer.write(look)]);

    const [FULL, NORMAL] = [2, 1];
    expect(modes).toEqual([FULL, NORMAL, FULL, FULL, FULL]);
  });
});

describe("a transaction that SQLite ends by itself", () => {
  test("keeps every acknowledged write and commits no other", async () => {
    const writer = makeWriter();
    const { page_count: pages } = database.prepare("PRAGMA page_count").get() ?? {};
    database.exec(`PRAGMA max_page_count = ${Number(pages) + 4}`);

    const answers = await Promise.allSettled([
      writer.write(() => note("before")),
      // More than fits: SQLite rolls the whole transaction back.
      writer.write(() => note("x".repeat(1_000_000))),
      writer.write(() => note("after")),
    ]);

    const acknowledged = ["before", "too much", "after"].filter(
      (_, index) => answers[index]?.status === "fulfilled",
    );
    expect(answers[1]).toMatchObject({ status: "rejected", reason: { code: "STORE_FULL" } });
    expect(notes()).toEqual(acknowledged);
    database.exec("PRAGMA max_page_count = 1000000");
    await writer.write(() => note("later"));
    expect(notes()).toEqual([...acknowledged, "later"]);
  });
});

describe("a database that another process locks", () => {
  test("is waited for, and the write succeeds", async () => {
    const other = open();
    other.exec("BEGIN IMMEDIATE");
    const writer = makeWriter();

    const written = writer.write(() => note("patient"));
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(notes()).toEqual([]);
    other.exec("COMMIT");
    await written;

    expect(notes()).toEqual(["patient"]);
    other.close();
  });

  test("is rejected as busy after a minute", async () => {
    const other = open();
    other.exec("BEGIN IMMEDIATE");
    let elapsed = 0;
    const impatient: Clock = {
      now: () => systemClock.now(),
      monotonic: () => (elapsed += 40_000),
      after: (_ms, wake) => systemClock.after(0, wake),
    };
    const writer = makeWriter(impatient);

    await expect(writer.write(() => note("never"))).rejects.toMatchObject({ code: "STORE_BUSY" });

    other.exec("COMMIT");
    await writer.write(() => note("later"));
    expect(notes()).toEqual(["later"]);
    other.close();
  });
});

describe("closing", () => {
  test("completes accepted writes and rejects new ones", async () => {
    const writer = makeWriter();

    const accepted = writer.write(() => note("accepted"));
    const closed = writer.close();
    await expect(writer.write(() => note("late"))).rejects.toMatchObject({ code: "STORE_CLOSED" });
    await Promise.all([accepted, closed]);

    expect(notes()).toEqual(["accepted"]);
  });
});

function open(): DatabaseSync {
  const handle = new DatabaseSync(join(folder, "jobs.db"));
  handle.exec("PRAGMA journal_mode = WAL");
  return handle;
}

/** Every group writes its outbox once, right before its commit. */
class CountingOutbox extends Outbox {
  groups = 0;

  override write(): void {
    this.groups += 1;
    super.write();
  }
}

function makeWriter(
  clock: Clock = systemClock,
  outbox: Outbox = new Outbox(new Statements(database), clock),
): Writer {
  return new Writer({
    database,
    path: "jobs.db",
    clock,
    dice: systemDice,
    outbox,
    check: () => {},
    committed: () => {},
    rolledBack: () => {},
  });
}

function note(text: string | number): void {
  database.prepare("INSERT INTO note VALUES (?)").run(String(text));
}

function notes(): string[] {
  return database
    .prepare("SELECT text FROM note ORDER BY rowid")
    .all()
    .map((row) => String(row["text"]));
}
