/** Locks and retention in the embedded store: old files, and scans past very many jobs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { completed, newJobs, retention } from "../../../test/support/factories.ts";
import {
  add,
  at,
  claimable,
  joinWorker,
  settleAll,
  settleItem,
  take,
} from "../../../test/support/steps.ts";
import { pagesOf } from "../../../test/support/sweeps.ts";
import { virtualClock } from "../../../test/support/virtual-clock.ts";
import type { JobId } from "../../core/job.ts";
import { PROTOCOL, type JobStore } from "../store.ts";
import { migrationScripts } from "./database/connection.ts";
import { makeSqliteStore } from "./create.ts";

const HOUR_MS = 3_600_000;
const AT_ONCE = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 } as const;
const LATE = {
  completed: HOUR_MS,
  completed_with_errors: HOUR_MS,
  failed: HOUR_MS,
  cancelled: HOUR_MS,
} as const;
const KEPT = retention({ finishedMs: AT_ONCE, types: { report: LATE } });
const PAGE = { fresh: true, limit: 10 } as const;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "millrace-flows-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe("a file of a release that knew no exclusive names", () => {
  test("gives what runs its key, and no more work to workers of that release", async () => {
    const path = join(folder, "jobs.db");
    const ids = await fillFile(path);
    backTo(path, 2);

    const store = makeSqliteStore({ path });
    await store.open();

    expect(await store.lockHolder("default", "docs/main")).toBe(ids[0]);
    expect(await store.lockHolder("default", "docs/next")).toBeNull();
    const old = await joinWorker(store, { protocol: PROTOCOL - 1 });
    expect(await claimable(store, { worker: old })).toEqual([]);
    expect(await claimable(store)).toEqual([ids[2]]);
    await store.close();
  });
});

/** One job of a key runs, one of the same key waits, and one of another. */
async function fillFile(path: string): Promise<readonly JobId[]> {
  const store = makeSqliteStore({ path });
  await store.open();
  const keyed = { concurrencyKey: "docs/main" };
  const ids = await add(store, keyed, keyed, { concurrencyKey: "docs/next" });
  await take(store, { limit: 1 });
  await store.close();
  return ids;
}

/** Takes away what the migrations after this one have made. */
function backTo(path: string, version: number): void {
  const fresh = new DatabaseSync(":memory:");
  for (const script of migrationScripts()) {
    if (script.version <= version) fresh.exec(script.sql);
  }
  const known = new Set(
    fresh
      .prepare("SELECT name FROM sqlite_schema")
      .all()
      .map((row) => String(row["name"])),
  );
  const database = new DatabaseSync(path);
  const now = database.prepare("SELECT type, name FROM sqlite_schema WHERE sql IS NOT NULL").all();
  for (const { type, name } of now) {
    if (!known.has(String(name))) database.exec(`DROP ${String(type)} IF EXISTS ${String(name)}`);
  }
  database.exec(`UPDATE millrace_meta SET value = '${version}' WHERE name = 'schema';
                 UPDATE millrace_meta SET value = '1' WHERE name = 'min_protocol'`);
  database.close();
  fresh.close();
}

describe("retention behind thousands of jobs that are kept longer", () => {
  test("scans past them in one call", async () => {
    const { store, clock } = await openInMemory();
    await endJobs(store, 4_500, "report");
    await clock.advance(10);
    await endJobs(store, 3, "email");

    expect(await store.prune(KEPT, 100)).toMatchObject({ jobs: 3, more: false });
    await endJobs(store, 2, "email");
    expect(await store.prune(KEPT, 100)).toMatchObject({ jobs: 2, more: false });

    expect(await store.count({ type: "report" }, 10_000)).toBe(4_500);
    await store.close();
  });

  test("finds jobs that were skipped before", async () => {
    const { store, clock } = await openInMemory();
    const [old] = await add(store, {}, { type: "report" });
    const pair = await take(store, { limit: 2 });
    await store.settle([settleItem(pair, at(pair.jobs, 0), completed())]);
    await endJobs(store, 4_500, "report");
    await clock.advance(10);
    expect((await pagesOf(store, KEPT, PAGE)).flat()).toEqual([]);
    await store.settle([settleItem(pair, at(pair.jobs, 1), completed())]);

    const sweeps = [1, 2, 3, 4].map(() => pagesOf(store, KEPT, PAGE));
    const found = (await Promise.all(sweeps)).flat(2).map(({ id }) => id);

    expect(new Set(found)).toEqual(new Set([old]));
    await store.close();
  });
});

async function openInMemory() {
  const clock = virtualClock();
  const store = makeSqliteStore({ path: ":memory:" }, { clock });
  await store.open();
  return { store, clock };
}

async function endJobs(store: JobStore, count: number, type: string): Promise<void> {
  await store.enqueue(newJobs(count, { type }));
  for (let left = count; left > 0; left -= 500) {
    await settleAll(store, await take(store, { limit: Math.min(left, 500) }), completed());
  }
}
