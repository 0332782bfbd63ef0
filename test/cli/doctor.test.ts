/**
 * What `millrace doctor` finds in a file that another program has spoilt, and whether its cures
 * cure.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { fileChecks } from "../../src/cli/commands/doctor-file-findings.ts";
import { applyFixes } from "../../src/cli/commands/doctor-fix.ts";
import { defineJob, typed } from "../../src/index.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { take } from "../support/steps.ts";
import { TestStore } from "./command-line.ts";

const email = defineJob({ type: "email", payload: typed<number>() }).run((number) => number);

interface Check {
  readonly name: string;
  readonly found: string;
  readonly fix: string | null;
}

describe("a job that lies nowhere", () => {
  test.each([
    ["before its first run", 0],
    ["after a failed run", 1],
  ])("%s is found, and released by hand", async (_, runs) => {
    await using store = new TestStore();
    const { id } = await store.json("enqueue", "email");
    if (runs > 0) await store.type("jobs", "fail", id, "--retry", "--message", "once");
    plant(store, "DELETE FROM millrace_ready; DELETE FROM millrace_scheduled");

    const finding = await findingOf(store, "lost job");
    await store.type("jobs", "release", id);

    expect(finding.found).toContain(id);
    expect(finding.fix).toBe(`millrace jobs release ${id}`);
    expect(await namesOf(store)).not.toContain("lost job");
    expect(await store.json("jobs", "show", id)).toMatchObject({
      job: { state: "queued", attempts: runs },
    });
  });
});

describe("a lease without its worker", () => {
  test("is found with every job that it holds, and released by hand", async () => {
    await using store = new TestStore();
    const ids = await held(store, 2);
    plant(store, "DELETE FROM millrace_worker");

    const findings = await findingsOf(store, "lease without worker");
    for (const id of ids) await store.type("jobs", "release", id);

    expect(findings.map(({ fix }) => fix)).toEqual(ids.map((id) => `millrace jobs release ${id}`));
    expect(await namesOf(store)).not.toContain("lease without worker");
    expect(await store.json("stats")).toMatchObject({ queued: 2, running: 0 });
  });

  test("is found when all of its jobs have ended, too", async () => {
    await using store = new TestStore();
    const ids = await held(store, 1);
    plant(
      store,
      `INSERT INTO millrace_lease (secret, worker, keys, ns, ranks, starts, claimed_at)
       SELECT secret, worker, keys, ns, ranks, starts, claimed_at FROM millrace_lease`,
    );
    for (const id of ids) await store.type("jobs", "fail", id, "--message", "by hand");
    plant(store, "DELETE FROM millrace_worker");

    const { fix } = await findingOf(store, "lease without worker");
    plant(store, sqlOf(fix));

    expect(await namesOf(store)).not.toContain("lease without worker");
  });
});

describe("a place without its job", () => {
  test.each(["ready", "scheduled", "blocked"])("in %s is found, and taken out", async (place) => {
    await using store = new TestStore();
    await putInto(store, place);
    plant(store, "DELETE FROM millrace_job");

    const { found, fix } = await findingOf(store, "place without job");
    plant(store, sqlOf(fix));

    expect(found).toContain(`${place} has the key`);
    expect(await namesOf(store)).not.toContain("place without job");
  });
});

describe("a place that the ledger contradicts", () => {
  test("is found when the job is over", async () => {
    await using store = new TestStore();
    const { id } = await store.json("enqueue", "email");
    const before = rowsOf(store, "millrace_ready");
    await store.type("jobs", "fail", id, "--message", "broken");
    insert(store, "millrace_ready", before);

    const { found, fix } = await findingOf(store, "place against ledger");
    plant(store, sqlOf(fix));

    expect(found).toContain(`${id} is in ready, although it is final`);
    expect(await namesOf(store)).not.toContain("place against ledger");
  });

  test("is found when a worker holds the job", async () => {
    await using store = new TestStore();
    const { id } = await store.json("enqueue", "email");
    const before = rowsOf(store, "millrace_ready");
    await claim(store);
    insert(store, "millrace_ready", before);

    const { found, fix } = await findingOf(store, "place against ledger");
    plant(store, sqlOf(fix));

    expect(found).toContain(`${id} is in ready, although a worker runs it`);
    expect(await namesOf(store)).not.toContain("place against ledger");
    expect(await store.json("stats")).toMatchObject({ queued: 0, running: 1 });
  });

  test("is found when the job is in another place as well", async () => {
    await using store = new TestStore();
    const { id } = await store.json("enqueue", "email");
    plant(
      store,
      `INSERT INTO millrace_scheduled
       SELECT key, rank / 1000, lane, priority, type, tenant, concurrency, n, tries, crashes
       FROM millrace_ready`,
    );

    const { found, fix } = await findingOf(store, "place against ledger");
    plant(store, sqlOf(fix));

    expect(found).toContain(`${id} is in ready, and in another place as well`);
    expect(await namesOf(store)).not.toContain("place against ledger");
    expect(await store.json("jobs", "show", id)).toMatchObject({ job: { state: "scheduled" } });
  });

  test("is found when its next run has a number that was there, and cured", async () => {
    await using store = new TestStore();
    const job = await (await store.mill).enqueue(email, 7);
    await store.type("jobs", "fail", job.id, "--retry", "--message", "once");
    plant(store, "UPDATE millrace_scheduled SET n = 1");

    const { found, fix } = await findingOf(store, "place against ledger");
    plant(store, sqlOf(fix));
    const worker = (await store.mill).work({ jobs: [email] });
    await store.type("jobs", "retry", job.id);

    expect(found).toContain(`${job.id} is in scheduled, with a run number`);
    expect(await (await store.mill).result(job)).toBe(7);
    await worker.stop();
  });
});

describe("an invariant that does not hold", () => {
  test("is found with the number of jobs and the first of them, and cured", async () => {
    await using store = new TestStore();
    const requests = Array.from({ length: 7 }, (_, number) => email.of(number));
    const jobs = await (await store.mill).enqueueMany(requests);
    plant(
      store,
      "INSERT INTO millrace_cancel_request (key, at) SELECT key, created_at FROM millrace_job",
    );

    const finding = await findingOf(store, "stale cancel request");
    const { code, out } = await store.type("doctor");
    plant(store, sqlOf(finding.fix));

    const first = jobs.slice(0, 5).map(({ id }) => id);
    expect(finding).toMatchObject({ invariant: "I8", count: 7, jobs: first });
    expect(finding.found).toContain(`7 jobs: `);
    expect(out).toContain(`FINDING  stale cancel request: 7 jobs: `);
    expect(out).toContain(`(${first.join(", ")}, …)`);
    expect(code).toBe(1);
    expect(await namesOf(store)).not.toContain("stale cancel request");
  });

  test("is found with a command for each job", async () => {
    await using store = new TestStore();
    const [id] = await held(store, 1);
    plant(
      store,
      `INSERT INTO millrace_lease (secret, worker, keys, ns, ranks, starts, claimed_at)
       SELECT secret, worker, keys, ns, ranks, starts, claimed_at FROM millrace_lease`,
    );

    const { fix } = await findingOf(store, "job in two leases");
    await store.type("jobs", "release", id ?? "", "--force");

    expect(fix).toBe(`millrace jobs release ${id} --force`);
    expect(await namesOf(store)).not.toContain("job in two leases");
  });
});

describe("doctor --fix", () => {
  test("repairs what was changed by hand, and healthy jobs go on", async () => {
    await using store = new TestStore();
    const [one, gone, lost] = await held(store, 3);
    const { id: waiting } = await store.json("enqueue", "email");
    plant(
      store,
      `DELETE FROM millrace_job WHERE key = 2;
       DELETE FROM millrace_ready;
       UPDATE millrace_lease SET ns = '[1,1,null]';
       INSERT INTO millrace_cancel_request (key, at) VALUES (99999, 1);
       INSERT INTO millrace_lock (tenant, name, job, n) VALUES (1, 'ghost', 99999, 1);
       INSERT INTO millrace_dependency (job, depends_on, tolerant) VALUES (99999, 99998, 0);
       INSERT INTO millrace_ended_run (worker, key, n) VALUES (randomblob(16), 99999, 1);
       INSERT INTO millrace_stale (key, at) VALUES (99999, 1);
       INSERT INTO millrace_ready (lane, priority, rank, key, type, tenant, n, tries, crashes)
       SELECT lane, priority, 1, 99999, type, tenant, 1, 0, 0 FROM millrace_job LIMIT 1`,
    );
    const before = await namesOf(store);

    const { out } = await store.type("doctor", "--fix");

    expect(gone).toBeDefined();
    expect(new Set(before)).toEqual(
      new Set([
        "place without job",
        "lost job",
        "lease against ledger",
        "stale cancel request",
        "lock without run",
        "dependency without wait",
        "ended run without worker",
        "note without job",
      ]),
    );
    for (const name of before) expect(out).toContain(`FIXED    ${name}: `);
    expect(await namesOf(store)).toEqual([]);
    for (const id of [lost, waiting]) {
      expect(await store.json("jobs", "show", id ?? "")).toMatchObject({
        job: { state: "queued" },
      });
    }
    expect(await store.json("jobs", "show", one ?? "")).toMatchObject({
      job: { state: "running" },
    });
  });

  test("fixes more jobs than a check lists, and they wait for their dependencies", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const first = await mill.enqueue(email, 0, { delay: "1h" });
    const requests = Array.from({ length: 130 }, (_, number) =>
      email.of(number, { after: [first] }),
    );
    await mill.enqueueMany(requests);
    plant(store, "DELETE FROM millrace_blocked");

    const { out } = await store.type("doctor", "--fix");

    expect(out.match(/^FIXED {4}lost job: /gm)).toHaveLength(130);
    expect(await namesOf(store)).not.toContain("lost job");
    expect(rowsOf(store, "millrace_blocked").map(({ gate }) => gate)).toEqual(
      requests.map(() => 0),
    );
    expect(rowsOf(store, "millrace_dependency")).toHaveLength(130);
  });

  test("fixes all places before rows that are judged by them", async () => {
    await using store = new TestStore();
    const requests = Array.from({ length: 25 }, (_, number) => email.of(number));
    await (await store.mill).enqueueMany(requests);
    const before = rowsOf(store, "millrace_ready");
    await claim(store);
    insert(store, "millrace_ready", before);
    plant(store, "INSERT INTO millrace_cancel_request (key, at) SELECT key, 1 FROM millrace_job");

    await store.type("doctor", "--fix");

    expect(rowsOf(store, "millrace_ready")).toEqual([]);
    expect(rowsOf(store, "millrace_cancel_request")).toHaveLength(25);
    expect(await store.json("stats")).toMatchObject({ queued: 0, running: 25 });
  });

  test("says when the maximum of passes has left something to fix", async () => {
    await using store = new TestStore();
    const requests = Array.from({ length: 25 }, (_, number) => email.of(number));
    await (await store.mill).enqueueMany(requests);
    plant(store, "DELETE FROM millrace_ready");
    const file = makeSqliteStore({ path: store.file });
    await file.open();
    const check = async () => fileChecks(await file.examine(), store.file);

    const cut = await applyFixes({ store: file, check }, 1);
    const whole = await applyFixes({ store: file, check }, 2);
    await file.close();

    expect([cut.fixes.length, cut.isCutShort]).toEqual([20, true]);
    expect([whole.fixes.length, whole.isCutShort]).toEqual([5, false]);
  });

  test("prints the fixes for programs, and leaves the rest to a person", async () => {
    await using store = new TestStore();
    const [id] = await held(store, 1);
    await store.type("jobs", "fail", id ?? "", "--message", "by hand");
    plant(
      store,
      `INSERT INTO millrace_dead_letter (
         id, type, tenant, status, error, attempts, died_at, spec, cause
       )
       SELECT randomblob(16), type, tenant, 1, error, attempts, 1, spec, cause
       FROM millrace_dead_letter;
       DELETE FROM millrace_dead_letter WHERE died_at > 1;
       INSERT INTO millrace_cancel_request (key, at) VALUES (99999, 1)`,
    );

    const { code, out } = await store.type("doctor", "--fix", "-o", "json");
    const told: (Check & { readonly fixed?: boolean })[] = JSON.parse(out);

    expect(told.filter(({ fixed }) => fixed === true)).toMatchObject([
      { name: "stale cancel request" },
    ]);
    const left = told.filter(({ fixed, fix }) => fixed === undefined && fix !== null);
    expect(left.map(({ name }) => name)).toContain("failed without dead letter");
    expect(code).toBe(1);
  });

  test("changes nothing in a sound file", async () => {
    await using store = new TestStore();
    await held(store, 1);

    const { code, out } = await store.type("doctor", "--fix");

    expect(out).not.toContain("FIXED");
    expect(code).toBe(0);
  });
});

describe("a damaged file", () => {
  test("is found where its rows break the rules of the schema", async () => {
    await using store = new TestStore();
    await store.type("enqueue", "email");
    plant(store, "PRAGMA ignore_check_constraints = ON; UPDATE millrace_ready SET n = 0");

    const { found, fix } = await findingOf(store, "file");

    expect(found).toContain("CHECK constraint failed in millrace_ready");
    expect(fix).toContain("restore the last backup");
  });

  test("is found where a page has been written over, and nothing more is believed", async () => {
    await using store = new TestStore();
    await store.type("enqueue", "email");
    plant(store, "PRAGMA wal_checkpoint(TRUNCATE)");
    overwriteRoot(store, "millrace_job_type");

    const findings = await findingsOf(store, "file");

    expect(findings.length).toBeGreaterThan(0);
    expect(findings[0]?.found).toContain("is damaged: ");
    expect(await namesOf(store)).not.toContain("jobs");
  });
});

describe("a sound file", () => {
  test("has nothing to find: jobs in every place, run, failed and retried", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const worker = mill.work({ jobs: [email] });
    const done = await mill.enqueue(email, 1);
    await mill.result(done);
    await mill.jobs.retry(done.id);
    await store.type("enqueue", "sms", "--delay", "1h");
    const { id } = await store.json("enqueue", "sms");
    await store.type("jobs", "fail", id, "--message", "broken");

    const { code, out } = await store.type("doctor");
    await worker.stop();

    expect(out).toContain("ok       file: not damaged, and every job has one place");
    expect(out).toContain("ok       invariants: 31 hold\n");
    expect(code).toBe(0);
  });
});

/** Does to the file what only another program can do. */
function plant(store: TestStore, sql: string): void {
  const database = new DatabaseSync(store.file, { timeout: 5_000 });
  database.exec(sql);
  database.close();
}

function rowsOf(store: TestStore, table: string): Record<string, any>[] {
  const database = new DatabaseSync(store.file);
  const rows: Record<string, any>[] = database.prepare(`SELECT * FROM ${table}`).all();
  database.close();
  return rows;
}

function insert(store: TestStore, table: string, rows: readonly Record<string, any>[]): void {
  const database = new DatabaseSync(store.file, { timeout: 5_000 });
  for (const row of rows) {
    const marks = Object.keys(row).map(() => "?");
    const into = `${table} (${Object.keys(row).join(", ")})`;
    database.prepare(`INSERT INTO ${into} VALUES (${marks.join(", ")})`).run(...Object.values(row));
  }
  database.close();
}

/** Writes nonsense over the first page of a table or an index. */
function overwriteRoot(store: TestStore, name: string): void {
  const database = new DatabaseSync(store.file);
  const row = database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(name);
  const size = Number(database.prepare("PRAGMA page_size").get()?.["page_size"]);
  database.close();
  const descriptor = openSync(store.file, "r+");
  writeSync(descriptor, Buffer.alloc(size, 0xaa), 0, size, (Number(row?.["rootpage"]) - 1) * size);
  closeSync(descriptor);
}

/** The SQL in a cure. */
function sqlOf(fix: string | null): string {
  const [, sql] = /: ((?:DELETE|UPDATE) .*;)$/.exec(fix ?? "") ?? [];
  if (sql === undefined) throw new Error(`there is no SQL in: ${fix}`);
  return sql;
}

async function putInto(store: TestStore, place: string): Promise<void> {
  await store.type("enqueue", "email", ...(place === "scheduled" ? ["--delay", "1h"] : []));
  if (place !== "blocked") return;
  plant(
    store,
    `INSERT INTO millrace_blocked
     SELECT key, type, lane, priority, rank, type, tenant, concurrency, n, tries, crashes, NULL
     FROM millrace_ready;
     DELETE FROM millrace_ready`,
  );
}

/** Enqueues jobs and puts them into the hands of a worker. */
async function held(store: TestStore, count: number): Promise<string[]> {
  const requests = Array.from({ length: count }, (_, number) => email.of(number));
  const jobs = await (await store.mill).enqueueMany(requests);
  await claim(store);
  return jobs.map(({ id }) => id);
}

/** Puts all that waits into the hands of a worker that never speaks again. */
async function claim(store: TestStore): Promise<void> {
  await store.mill;
  const other = makeSqliteStore({ path: store.file });
  await other.open();
  await take(other);
  await other.close();
}

async function findingsOf(store: TestStore, name: string): Promise<Check[]> {
  const { code, out } = await store.type("doctor", "-o", "json");
  const checks: Check[] = JSON.parse(out);
  expect(code).toBe(1);
  return checks.filter((check) => check.name === name && check.fix !== null);
}

async function findingOf(store: TestStore, name: string): Promise<Check> {
  const [finding, ...more] = await findingsOf(store, name);
  expect(more).toEqual([]);
  if (finding === undefined) throw new Error(`there is no finding “${name}”`);
  return finding;
}

/** What is still found. */
async function namesOf(store: TestStore): Promise<string[]> {
  const { out } = await store.type("doctor", "-o", "json");
  const checks: Check[] = JSON.parse(out);
  return checks.filter(({ fix }) => fix !== null).map(({ name }) => name);
}
