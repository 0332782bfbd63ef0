/**
 * What only the embedded store can show: one file, one host's clock, copies of the file. Everything
 * that both stores do is in test/conformance.
 */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../core/ids.ts";
import { systemClock, systemDice } from "../../lib/system.ts";
import { newJob, newJobs, workerInfo } from "../../../test/support/factories.ts";
import type { JobStore } from "../store.ts";
import { makeSqliteStore } from "./create.ts";
import { SqliteJobStore } from "./store.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "millrace-store-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe("a commit", () => {
  test("touches the log when it is visible, for the watches of other processes", async () => {
    const path = join(folder, "jobs.db");
    // A time that no write to the log has.
    const clock = { ...systemClock, now: () => Date.UTC(2020, 0, 5) };
    const parts = { shared: false, dice: systemDice, thread: null };
    const store = new SqliteJobStore({ path, watchesLog: true, clock, ...parts });
    await store.open();

    await store.enqueue(newJobs(1));

    expect(statSync(`${path}-wal`).mtimeMs).toBe(clock.now());
    await store.close();
  });
});

describe("a host whose clock steps back", () => {
  test("does not close a gate that was opened", async () => {
    let now = Date.UTC(2026, 0, 5);
    const clock = { ...systemClock, now: () => now };
    const store = makeSqliteStore({ path: ":memory:" }, { clock });
    await store.open();
    await store.pause({ kind: "type", name: "email" }, { reason: "mail is down", by: null });
    await store.resume({ kind: "type", name: "email" });

    now -= 3_600_000;

    expect(await store.gates()).toEqual([]);
    await store.close();
  });

  test("hides no job of a range of time, if the step is less than an hour", async () => {
    let now = Date.UTC(2026, 0, 5);
    const clock = { ...systemClock, now: () => now };
    const store = makeSqliteStore({ path: ":memory:" }, { clock });
    await store.open();
    const [early, late] = newJobs(2);
    await store.enqueue([early ?? newJob()]);
    now -= 3_599_000;
    await store.enqueue([late ?? newJob()]);

    const since = await store.list({ createdFrom: now + 1 }, { limit: 10 });
    const until = await store.list({ createdBefore: now + 1 }, { limit: 10 });

    expect(since.jobs).toMatchObject([{ id: early?.id }]);
    expect(until.jobs).toMatchObject([{ id: late?.id }]);
    await store.close();
  });
});

describe("a backup", () => {
  test("is complete, a single file and private, while another process writes", async () => {
    const store = await openStore("jobs.db");
    const other = await openStore("jobs.db");
    await store.enqueue(newJobs(500));
    const copy = join(folder, "copy.db");
    const stop = new AbortController();
    const writer = (async () => {
      while (!stop.signal.aborted) await other.enqueue([newJob()]);
    })();

    await store.backup(copy);
    stop.abort();
    await writer;
    await Promise.all([store.close(), other.close()]);

    expect((statSync(copy).mode & 0o777).toString(8)).toBe("600");
    expect(["-wal", "-shm", "-journal"].filter((side) => existsSync(copy + side))).toEqual([]);
    const restored = await openStore("copy.db");
    expect((await restored.count({ states: ["queued"] }, 1_000)).count).toBeGreaterThanOrEqual(500);
    await restored.close();
  });

  test("never overwrites a file", async () => {
    const store = await openStore("jobs.db");
    const copy = join(folder, "copy.db");
    await store.backup(copy);

    await expect(store.backup(copy)).rejects.toMatchObject({ code: "BACKUP_EXISTS" });
    await store.close();
  });

  test("into a missing folder is refused and leaves no file", async () => {
    const store = await openStore("jobs.db");

    const backup = store.backup(join(folder, "missing", "copy.db"));

    await expect(backup).rejects.toMatchObject({
      code: "STORE_FOLDER_MISSING",
      message: `there is no folder ${join(folder, "missing")}`,
    });
    await store.close();
  });

  test("replaces the part file of a backup that died", async () => {
    const store = await openStore("jobs.db");
    await store.enqueue(newJobs(3));
    const copy = join(folder, "copy.db");
    for (const side of ["", "-journal"]) writeFileSync(`${copy}.part${side}`, "left behind");

    await store.backup(copy);
    await store.close();

    expect(filesOfCopy()).toEqual(["copy.db"]);
    const restored = await openStore("copy.db");
    expect((await restored.count({ states: ["queued"] }, 10)).count).toBe(3);
    await restored.close();
  });

  test("does not take the database itself for a part file", async () => {
    const store = await openStore("copy.db.part");

    const backup = store.backup(join(folder, "copy.db"));

    await expect(backup).rejects.toMatchObject({ code: "BACKUP_EXISTS" });
    expect(filesOfCopy()).toContain("copy.db.part");
    await store.close();
  });

  test("started twice at the same time is made once", async () => {
    const store = await openStore("jobs.db");
    const copy = join(folder, "copy.db");

    const [first, second] = await Promise.allSettled([store.backup(copy), store.backup(copy)]);
    await store.close();

    expect(first.status).toBe("fulfilled");
    expect(second).toMatchObject({ status: "rejected", reason: { code: "BACKUP_EXISTS" } });
    expect(filesOfCopy()).toEqual(["copy.db"]);
  });

  test("does not replace a file that appeared while it was made", async () => {
    const store = await openStore("jobs.db");
    const copy = join(folder, "copy.db");

    const backup = store.backup(copy);
    writeFileSync(copy, "of another program");

    await expect(backup).rejects.toMatchObject({ code: "BACKUP_EXISTS" });
    expect(readFileSync(copy, "utf8")).toBe("of another program");
    expect(filesOfCopy()).toEqual(["copy.db"]);
    await store.close();
  });

  function filesOfCopy(): readonly string[] {
    return readdirSync(folder).filter((name) => name.startsWith("copy"));
  }
});

describe("odd paths", () => {
  test("a link to nowhere is refused", async () => {
    const path = join(folder, "link.db");
    symlinkSync(join(folder, "nowhere.db"), path);

    await expect(makeSqliteStore({ path }).open()).rejects.toMatchObject({
      code: "STORE_READ_ONLY",
      message: expect.stringContaining("link"),
    });
  });

  test("an address instead of a file name is refused", () => {
    expect(() => makeSqliteStore({ path: "file:jobs.db" })).toThrow("plain file name");
  });

  test("a database without a readable version is refused", async () => {
    const store = await openStore("jobs.db");
    await store.close();
    const broken = new DatabaseSync(join(folder, "jobs.db"));
    broken.exec("UPDATE millrace_meta SET value = 'abc' WHERE name = 'schema'");
    broken.close();

    const reopened = makeSqliteStore({ path: join(folder, "jobs.db") });

    await expect(reopened.open()).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  });
});

describe("counts and lists", () => {
  test("are one snapshot: a job on its way between two places is never missing", async () => {
    const [store, other] = [await openStore("jobs.db"), await openStore("jobs.db")];
    const jobs = newJobs(40);
    await store.enqueue(jobs);
    const worker = newId(systemClock.now(), systemDice);
    await other.register(workerInfo({ id: worker, leaseMs: 60_000 }));

    const counts: number[] = [];
    for (let round = 0; round < 60; round += 1) {
      const cycle = cycleAll(other, worker);
      counts.push((await store.count({ states: ["queued", "running"] }, 100)).count);
      await cycle;
    }

    expect([...new Set(counts)]).toEqual([40]);
    await Promise.all([store.close(), other.close()]);
  });
});

/** Claims all jobs and returns them. */
async function cycleAll(store: JobStore, worker: string): Promise<void> {
  const { lease, jobs } = await store.claim({ worker, lanes: "any", limit: 40, prefetch: true });
  if (lease !== null) {
    await store.returnPrefetched(
      lease,
      jobs.map(({ key }) => key),
    );
  }
}

async function openStore(file: string): Promise<ReturnType<typeof makeSqliteStore>> {
  const store = makeSqliteStore({ path: join(folder, file) });
  await store.open();
  return store;
}
