/** Jobs in a file, as another connection to the file sees them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { defineJob, NonRetryableError, openMillrace, typed, type Millrace } from "millrace";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeSqliteStore } from "../../../src/store/sqlite/create.ts";
import { halfway, keep } from "../../support/notes.ts";
import { takeOne } from "../../support/steps.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "millrace-file-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe("the internal key of a job", () => {
  test("has 64 bits, and no surface shows it (000-06)", async () => {
    const path = join(folder, "jobs.db");
    await using mill = await openMillrace(`sqlite:${path}`);
    using other = new DatabaseSync(path);
    const first = 5_555_555_555_555;
    other.prepare("INSERT INTO sqlite_sequence VALUES ('millrace_job', ?)").run(first - 1);
    const told: unknown[] = [];
    for (const event of EVENTS) mill.on(event, (detail) => told.push(detail));
    const job = defineJob({ type: "job", payload: typed<number>() }).phase(
      "only",
      async (_, ctx) => {
        ctx.log.info("begun");
        await ctx.step("unit", () => 1);
        throw new NonRetryableError("no");
      },
    );
    const enqueued = await mill.enqueue(job, 1, { tags: { a: "b" }, concurrencyKey: "key" });
    const waiting = await mill.enqueue(job, 2, { after: [enqueued], onFailed: "run", delay: "1h" });
    await using worker = mill.work({ jobs: [job] });
    await mill.wait(enqueued);

    const shown = await surfacesOf(mill, enqueued.id, waiting.id);
    const keys = other.prepare("SELECT key FROM millrace_job ORDER BY key").all();
    expect(keys).toEqual([{ key: first }, { key: first + 1 }]);
    expect(JSON.stringify([enqueued, waiting, worker.id, told, shown])).not.toContain("555555");
  });
});

describe("a claim", () => {
  test("is committed before its job begins, and the job is no part of it (002-14)", async () => {
    const path = join(folder, "jobs.db");
    await using mill = await openMillrace(`sqlite:${path}`);
    using other = new DatabaseSync(path);
    const job = defineJob({ type: "job" }).run(() => {
      const leases = other.prepare("SELECT number FROM millrace_lease").all();
      other.exec("BEGIN EXCLUSIVE");
      other.exec("ROLLBACK");
      return leases.length;
    });
    await using worker = mill.work({ jobs: [job] });
    await worker.ready;

    expect(await mill.result(await mill.enqueue(job))).toBe(1);
  });
});

describe("a report of progress", () => {
  test.each([
    ["within a phase", { percent: 60 }],
    ["at the start of a phase", { phase: "upload", phases: ["fetch", "upload"], percent: 0 }],
  ])("%s changes one row, and adds its event (000-27)", async (_, change) => {
    const path = join(folder, "jobs.db");
    const store = makeSqliteStore({ path });
    await using mill = await openMillrace(store);
    await mill.enqueue(defineJob({ type: "email" }));
    const batch = await takeOne(store);
    await keep(store, batch, { progress: halfway() });
    using other = new DatabaseSync(path);
    noteWrites(other);

    await keep(store, batch, { progress: halfway(change) });

    expect(other.prepare("SELECT what FROM written ORDER BY what").all()).toEqual([
      { what: "INSERT millrace_event" },
      { what: "UPDATE millrace_run" },
    ]);
  });
});

const EVENTS = ["job:enqueued", "job:started", "job:progress", "job:failed"] as const;

/** All that the library shows of a failed job and of one that waits. */
async function surfacesOf(
  { jobs, deadLetters, workers }: Millrace,
  failed: string,
  waiting: string,
) {
  return Promise.all([
    ...[failed, waiting].flatMap((id) => [jobs.get(id), jobs.explain(id), jobs.progress(id)]),
    jobs.list(),
    jobs.attempts(failed),
    jobs.units(failed),
    jobs.logs(failed),
    jobs.stats(),
    deadLetters.list(),
    workers.list(),
  ]);
}

/** From now on every changed row leaves its table in `written`, for every connection. */
function noteWrites(db: DatabaseSync): void {
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const names = tables.map(({ name }) => String(name));
  db.exec("CREATE TABLE written (what TEXT)");
  for (const name of names.filter((each) => each.startsWith("millrace_"))) {
    for (const verb of ["INSERT", "UPDATE", "DELETE"]) {
      db.exec(
        `CREATE TRIGGER "${verb} ${name}" AFTER ${verb} ON ${name}
         BEGIN INSERT INTO written VALUES ('${verb} ${name}'); END`,
      );
    }
  }
}
