/** The commands of an operator, on real stores. */
import { chmodSync, existsSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, test, vi } from "vitest";
import { defineJob, openMillrace } from "../../src/index.ts";
import { systemClock } from "../../src/lib/system.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { workerInfo } from "../support/factories.ts";
import { TestStore, type } from "./command-line.ts";
import { temporaryFolder } from "./programs.ts";

const email = defineJob({ type: "email" });

describe("millrace dlq", () => {
  test("lists what has failed for good, by status and type", async () => {
    await using store = new TestStore();
    const id = await deadLetter(store);

    const { out } = await store.type("dlq", "list", "--status", "pending_review");
    const others = await store.type("dlq", "list", "--type", "sms");

    expect(out).toMatch(new RegExp(`^${id} +email +pending_review .*FailedByHand: broken$`, "m"));
    expect(others).toMatchObject({ code: 0, out: "", err: "No dead letters match.\n" });
  });

  test("counts by status, category, type and class of error", async () => {
    await using store = new TestStore();
    await deadLetter(store);

    const { out } = await store.type("dlq", "stats");

    expect(out).toMatch(/^dead letters +1$/m);
    expect(out).toMatch(/^status +pending_review +1$/m);
    expect(out).toMatch(/^category +- +1$/m);
    expect(out).toMatch(/^type +email +1$/m);
    expect(out).toMatch(/^error class +non_retryable +1$/m);
    expect(await store.json("dlq", "stats")).toMatchObject({ count: 1, last24Hours: 1 });
  });

  test("lists by class of error, category and time", async () => {
    await using store = new TestStore();
    const id = await deadLetter(store);
    const found = async (...words: string[]) =>
      (await store.json("dlq", "list", ...words)).map((letter: any) => letter.id);

    expect(await found("--error-class", "non_retryable", "--since", "1h")).toEqual([id]);
    expect(await found("--error-class", "transient")).toEqual([]);
    expect(await found("--category", "billing")).toEqual([]);
    expect(await found("--until", "1h")).toEqual([]);
  });

  test("shows a letter with payload and error", async () => {
    await using store = new TestStore();
    const id = await deadLetter(store);

    const { out } = await store.type("dlq", "show", id);

    expect(out).toMatch(/^payload +\{"to":"ada"\}$/m);
    expect(out).toMatch(/^error +FailedByHand: broken$/m);
  });

  test("reprocess makes a linked job with the same payload, and records who", async () => {
    await using store = new TestStore();
    const id = await deadLetter(store);

    const job = await store.json("dlq", "reprocess", id, "--notes", "the bank is back");

    const { mill } = store;
    expect(await (await mill).jobs.get(job.id)).toMatchObject({
      state: "queued",
      retryOf: id,
      payload: { to: "ada" },
    });
    expect(await store.json("dlq", "show", id)).toMatchObject({
      status: "reprocessed",
      successorId: job.id,
      reviewedBy: userInfo().username,
      notes: "the bank is back",
    });
  });

  test("reprocess takes another payload", async () => {
    await using store = new TestStore();
    const id = await deadLetter(store);

    const job = await store.json("dlq", "reprocess", id, "--payload", '{"to":"bob"}');

    const { payload } = await (await store.mill).jobs.get(job.id);
    expect(payload).toEqual({ to: "bob" });
    expect((await store.type("dlq", "reprocess", id, "--payload", "{")).code).toBe(2);
  });

  test("reprocess refuses another payload that a rule forbids", async () => {
    await using store = new TestStore();
    const id = await deadLetter(store);
    await store.type("payloads", "rules", "set", "--type", "email", "--forbid", "body");

    const refused = await store.type("dlq", "reprocess", id, "--payload", '{"body":"x"}');

    expect(refused.code).toBe(2);
    expect(refused.err).toContain("PAYLOAD_RULE_BROKEN");
    expect(await store.json("dlq", "show", id)).toMatchObject({ status: "pending_review" });
  });

  test("004-25 acknowledge and discard record who decided and why", async () => {
    await using store = new TestStore();
    const id = await deadLetter(store);

    const seen = await store.type("dlq", "acknowledge", id, "--by", "ada");
    const closed = await store.json("dlq", "discard", id, "--by", "bob", "--notes", "a test");
    const late = await store.type("dlq", "acknowledge", id);

    expect(seen.out).toBe(`${id} is acknowledged.\n`);
    expect(closed).toMatchObject({ status: "discarded", reviewedBy: "bob", notes: "a test" });
    expect(late.code).toBe(1);
  });

  test("a closed letter names its successor or its reviewer, and no way to retry", async () => {
    await using store = new TestStore();
    const [done, dropped] = [await deadLetter(store), await deadLetter(store)];
    const successor = await store.json("dlq", "reprocess", done);
    await store.type("dlq", "discard", dropped, "--by", "bob");

    const again = await store.type("dlq", "reprocess", done);
    const late = await store.type("dlq", "discard", dropped);

    expect(again).toMatchObject({ code: 0 });
    expect(again.out).toContain(`${successor.id} was enqueued in its place before`);
    expect(late).toMatchObject({ code: 1, out: "" });
    expect(late.err).toContain("was discarded by bob");
    expect(late.err).toContain("Enqueue a new job");
    expect(again.err + late.err).not.toContain("Retry the job");
  });
});

describe("millrace pause and resume", () => {
  test.each([
    ["--type", "email", "Type email"],
    ["--lane", "general", "Lane general"],
    ["--tenant", "default", "Tenant default"],
  ])("%s %s holds its jobs back and lets them go on", async (option, name, subject) => {
    await using store = new TestStore();
    const { id } = await store.json("enqueue", "email");

    const paused = await store.type("pause", option, name, "--reason", "the bank is down");
    const held = await store.type("jobs", "explain", id);
    const resumed = await store.type("resume", option, name);
    const free = await store.json("jobs", "explain", id);

    expect(paused).toMatchObject({ code: 0, out: `${subject} is paused.\n` });
    expect(held.out).toContain("the bank is down");
    expect(resumed).toMatchObject({
      code: 0,
      out: `${subject} is resumed: 1 queued job may run now.\n`,
    });
    expect(free.reason).not.toBe("paused");
  });

  test("resume says that nothing was paused, and what is", async () => {
    await using store = new TestStore();
    await store.type("pause", "--type", "email");

    const wrong = await store.type("resume", "--type", "emial");
    const other = await store.type("resume", "--lane", "fast");
    const facts = await store.json("resume", "--type", "email");

    expect(wrong).toMatchObject({ code: 0, out: "Type emial was not paused.\n" });
    expect(wrong.err).toMatch(/^KIND .*\ntype +email +0 /);
    expect(other).toMatchObject({ code: 0, out: "Lane fast was not paused.\n" });
    expect(other.err).toMatch(/^KIND .*\ntype +email +0 /);
    const none = await store.type("resume", "--type", "email");
    expect(none.err).toBe("Nothing is paused.\n");
    expect(facts).toEqual({
      type: "email",
      paused: false,
      wasPaused: true,
      queued: 0,
      atLeast: false,
    });
  });

  test("pauses lists what is paused, since when, by whom and why, and what waits", async () => {
    await using store = new TestStore();
    const none = await store.type("pauses");
    await store.json("enqueue", "email");
    await store.json("enqueue", "email");
    await store.type("pause", "--type", "email", "--reason", "the bank is down", "--by", "ada");
    await store.type("pause", "--lane", "slow");

    const { code, out } = await store.type("pauses");
    const pauses = await store.json("pauses");

    expect(none).toMatchObject({ code: 0, out: "", err: "Nothing is paused.\n" });
    expect(code).toBe(0);
    expect(out).toMatch(/^KIND +NAME +WAITING +ALONE +SINCE +BY +REASON +UNTIL$/m);
    expect(out).toMatch(/^type +email +2 +2 +\S+ m?s ago +ada +the bank is down +resumed$/m);
    const user = userInfo().username;
    expect(out).toMatch(new RegExp(`^lane +slow +0 +0 .* ${user} +no reason given +resumed$`, "m"));
    expect(pauses).toContainEqual({
      kind: "type",
      name: "email",
      reason: "the bank is down",
      pausedBy: "ada",
      pausedAt: expect.any(String),
      until: null,
      queued: 2,
      atLeast: false,
      shared: 0,
      sharedAtLeast: false,
    });
  });

  test("pauses shows the jobs that wait behind two pauses at each of them", async () => {
    await using store = new TestStore();
    await store.json("enqueue", "email");
    await store.json("enqueue", "email");
    await store.json("enqueue", "email", "--tenant", "acme");
    await store.type("pause", "--type", "email");
    await store.type("pause", "--tenant", "default");

    const { out } = await store.type("pauses");

    expect(out).toMatch(/^type +email +3 +1 /m);
    expect(out).toMatch(/^tenant +default +2 +0 /m);
    expect(await store.json("pauses")).toMatchObject([{ shared: 2 }, { shared: 2 }]);
  });

  test("pause warns of a type that no job and no worker has", async () => {
    await using store = new TestStore();
    const worker = (await store.mill).work({ jobs: [email.run(() => {})] });
    await worker.ready;

    const unknown = await store.type("pause", "--type", "nope");
    const taken = await store.type("pause", "--type", "email");
    await worker.stop();
    await store.json("enqueue", "email");
    const near = await store.type("pause", "--type", "emial");

    expect(unknown).toMatchObject({ code: 0, out: "Type nope is paused.\n" });
    expect(unknown.err).toBe("There is no job of type nope, and no worker takes it.\n");
    expect(taken.err).toBe("");
    expect(near.err).toMatch(/^There is no job of type emial.* Did you mean email\?\n$/);
  });

  test("ask for exactly one target", async () => {
    await using store = new TestStore();

    expect((await store.type("pause")).code).toBe(2);
    expect((await store.type("resume", "--type", "a", "--lane", "b")).code).toBe(2);
  });
});

describe("millrace workers", () => {
  test("lists them, and quiets one", async () => {
    await using store = new TestStore();
    const lanes = { fast: 1, general: 2 };
    const worker = (await store.mill).work({ jobs: [email.run(() => {})], lanes });
    await worker.ready;

    const listed = await store.type("workers", "list");
    const quieted = await store.type("workers", "quiet", worker.id);
    const [view] = await store.json("workers", "list");
    const resumed = await store.type("workers", "resume", worker.id);
    const [after] = await store.json("workers", "list");
    await worker.stop();
    const gone = await store.type("workers", "list");

    expect(listed.out).toMatch(
      new RegExp(`^${worker.id} .* ${process.pid} .* working +0/3 +fast,general +email +all `, "m"),
    );
    expect(quieted).toMatchObject({ code: 0, out: `${worker.id} claims no more jobs.\n` });
    expect(view).toMatchObject({ id: worker.id, isQuiet: true, types: ["email"], slots: 3 });
    expect(resumed).toMatchObject({ code: 0, out: `${worker.id} claims jobs again.\n` });
    expect(after).toMatchObject({ id: worker.id, isQuiet: false });
    expect(listed.out).toMatch(/HEARTBEAT +MEMORY +LAG\n/);
    expect(view).toHaveProperty("memoryBytes");
    expect(view).toHaveProperty("loopLagMs");
    expect(gone.err).toContain("No workers.");
  });

  test("shows a worker as silent when two heartbeats are missing", async () => {
    await using store = new TestStore();
    const files = makeSqliteStore({ path: store.file });
    await store.mill;
    await files.open();
    const info = workerInfo({ beatMs: 1_000, leaseMs: 600_000 });
    await files.register(info);
    const beat = (agoMs: number): Promise<void> =>
      files.runSql(`UPDATE millrace_worker SET renewed_at = ${systemClock.now() - agoMs}`);

    const alive = await store.type("workers", "list");
    await beat(2_001);
    const silent = await store.type("workers", "list");
    const [view] = await store.json("workers", "list");
    await files.close();

    expect(alive.out).toMatch(new RegExp(`^${info.id} .* working `, "m"));
    expect(silent.out).toMatch(new RegExp(`^${info.id} .* silent .* 2(\\.\\d)? s ago`, "m"));
    expect(view).toMatchObject({ isAlive: false, heartbeatAgoMs: expect.any(Number) });
  });

  test("stops one", async () => {
    await using store = new TestStore();
    const files = makeSqliteStore({ path: store.file });
    await store.mill;
    await files.open();
    // They send no heartbeats, so the request stays visible.
    const ids = ["01KE6Z4XP07V1H8R2N5QWT9AC8", "01KE6Z4XP17V1H8R2N5QWT9AC9"];
    for (const id of ids) await files.register(workerInfo({ id }));

    const stopped = await store.type("workers", "stop", ids[0]!.slice(0, 12).toLowerCase());
    const asJson = await store.json("workers", "stop", ids[0]!);
    const resumed = await store.type("workers", "resume", ids[0]!);
    const listed = await store.type("workers", "list");
    const views = await store.json("workers", "list");
    const unknown = await store.type("workers", "stop", ids[0]!.replace(/8$/, "7"));
    const few = await store.type("workers", "stop", ids[0]!.slice(0, 11));
    await files.close();

    expect(stopped).toMatchObject({ code: 0, out: `${ids[0]} was asked to stop.\n` });
    expect(asJson).toEqual({ id: ids[0], isStopping: true });
    expect(resumed).toMatchObject({ code: 1, out: "" });
    expect(resumed.err).toContain("WORKER_STOPPING");
    expect(listed.out).toMatch(new RegExp(`^${ids[0]} .* stopping `, "m"));
    expect(views).toMatchObject([
      { id: ids[0], isQuiet: true, isStopping: true },
      { id: ids[1], isQuiet: false, isStopping: false },
    ]);
    expect(unknown).toMatchObject({ code: 1, out: "" });
    expect(unknown.err).toContain(`Did you mean ${ids[0]}?`);
    expect(few).toMatchObject({ code: 2, out: "" });
  });

  test("quiet speaks of workers, and names the worker that was meant", async () => {
    await using store = new TestStore();
    await using worker = (await store.mill).work({ jobs: [email.run(() => {})] });
    await worker.ready;
    const mistyped = `${worker.id.slice(0, -1)}${worker.id.endsWith("0") ? "1" : "0"}`;

    const wrong = await store.type("workers", "quiet", "email");
    const unknown = await store.type("workers", "quiet", mistyped);

    expect(wrong).toMatchObject({ code: 2, out: "" });
    expect(wrong.err).toMatch(/^ID_INVALID: "email" is not the id of a worker\n/);
    expect(unknown).toMatchObject({ code: 1, out: "" });
    expect(unknown.err).toContain(`WORKER_NOT_FOUND: there is no worker ${mistyped}`);
    expect(unknown.err).toContain(`Did you mean ${worker.id}?`);
    expect(wrong.err + unknown.err).not.toContain("job");
  });

  test("quiet takes the first twelve letters of a worker's id, in any case", async () => {
    await using store = new TestStore();
    await using worker = (await store.mill).work({ jobs: [email.run(() => {})] });
    await worker.ready;
    const start = worker.id.slice(0, 12);

    const few = await store.type("workers", "quiet", worker.id.slice(0, 11));
    const none = await store.type("workers", "quiet", `7${start.slice(1)}`);
    const [before] = await store.json("workers", "list");
    const quieted = await store.type("workers", "quiet", start.toLowerCase());

    expect(few).toMatchObject({ code: 2, out: "" });
    expect(few.err).toContain("at least 12 letters");
    expect(none).toMatchObject({ code: 1, out: "" });
    expect(none.err).toContain("WORKER_NOT_FOUND");
    expect(before).toMatchObject({ isQuiet: false });
    expect(quieted).toMatchObject({ code: 0, out: `${worker.id} claims no more jobs.\n` });
  });

  test("quiet refuses letters that several workers have, and names these workers", async () => {
    await using store = new TestStore();
    await store.mill;
    const files = makeSqliteStore({ path: store.file });
    await files.open();
    const ids = ["01KE6Z4XP07V1H8R2N5QWT9AC8", "01KE6Z4XP07V1H8R2N5QWT9AC9"];
    for (const id of ids) await files.register(workerInfo({ id }));

    const { code, out, err } = await store.type("workers", "quiet", ids[0]!.slice(0, 25));
    await files.close();

    expect({ code, out }).toEqual({ code: 2, out: "" });
    for (const id of ids) expect(err).toContain(id);
  });
});

describe("millrace stats", () => {
  test("004-16 counts what waits, runs and has failed", async () => {
    await using store = new TestStore();
    await deadLetter(store);
    await store.type("enqueue", "email", "--delay", "1h");
    await store.type("enqueue", "email");

    const { out } = await store.type("stats");

    expect(out).toMatch(/^scheduled +1\nretrying +0\nqueued +1\nheld +0\nrunning +0\nfailed +1\n/);
    expect(await store.json("stats")).toMatchObject({ scheduled: 1, queued: 1, failed: 1 });
  });

  test("counts jobs behind a pause as held before a worker has moved them", async () => {
    await using store = new TestStore();
    await store.type("enqueue", "mail");
    await store.type("enqueue", "mail");
    await store.type("pause", "--type", "mail", "--reason", "relay down");
    const stats = await store.json("stats");
    const byType = await store.json("stats", "--by", "type");
    const doctor = await store.type("doctor");
    await store.type("pause", "--tenant", "default");
    const doubly = await store.type("doctor");
    await store.type("enqueue", "sms", "--tenant", "acme");

    expect(await store.json("pauses")).toMatchObject([
      { queued: 0, shared: 2 },
      { queued: 0, shared: 2 },
    ]);
    expect(stats).toMatchObject({ queued: 0, held: 2, oldestQueuedMs: null, atLeast: [] });
    expect(byType).toMatchObject({ groups: [{ name: "mail", queued: 0, held: 2 }], atLeast: [] });
    expect(doctor.out).toContain(
      "the type mail is paused (relay down); 2 job(s) wait for this pause alone",
    );
    expect(doctor.out).not.toContain("no worker runs");
    expect(doubly.out).toContain(
      "mail is paused (relay down); 0 job(s) wait for this pause alone, 2 for another pause",
    );
    expect(await store.json("stats")).toMatchObject({ queued: 1, held: 2 });
  });
});

describe("millrace dlq show", () => {
  test("has the same facts as JSON: keys, every run, every review, what was changed", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const scan = defineJob({ type: "scan", category: "documents" });
    const broken = scan.run(() => {
      throw new TypeError("no scanner");
    });
    const job = await mill.enqueue(scan, undefined, {
      correlationId: "order-7",
      idempotencyKey: "scan-7",
      dedupKey: "page-7",
      concurrencyKey: "scanner",
      maxAttempts: 1,
    });
    const worker = mill.work({ jobs: [broken], signals: false });
    await mill.wait(job);
    await worker.stop();
    const { id } = job;
    await store.type("dlq", "assign", id, "--to", "bob", "--by", "ada", "--notes", "look");
    await store.json("dlq", "reprocess", id, "--payload", '{"page":1}', "--by", "bob");

    const { out } = await store.type("dlq", "show", id);
    const letter = await store.json("dlq", "show", id);

    for (const [name, value] of [
      ["category", "documents"],
      ["correlation", "order-7"],
      ["idempotency key", "scan-7"],
      ["dedup key", "page-7"],
      ["concurrency key", "scanner"],
      ["created", letter.originalCreatedAt],
    ]) {
      expect(out).toMatch(new RegExp(`^${name} +${value}$`, "m"));
    }
    expect(out).toMatch(/^1 +\S+Z +failed +retryable +TypeError: no scanner$/m);
    expect(out).toMatch(/^\S+Z +ada +assigned +bob +look$/m);
    expect(out).toMatch(/^\S+Z +bob +reprocessed/m);
    expect(letter.reviews.at(-1).changes).toHaveLength(1);
    expect(out).toMatch(/^\$.* \{"page":1\}$/m);
  });
});

describe("millrace stats --by", () => {
  test.each([
    [
      "type",
      [
        ["email", "0", "2", "0", "0", "1"],
        ["sms", "1", "0", "0", "0", "0"],
      ],
    ],
    [
      "tenant",
      [
        ["default", "0", "2", "0", "0", "1"],
        ["acme", "1", "0", "0", "0", "0"],
      ],
    ],
    ["lane", [["general", "1", "2", "0", "0", "1"]]],
  ])("%s counts the jobs of each name, most jobs first", async (by, rows) => {
    await using store = new TestStore();
    await deadLetter(store);
    await store.type("enqueue", "email");
    await store.type("enqueue", "email");
    await store.type("enqueue", "sms", "--tenant", "acme", "--delay", "1h");

    const { code, out, err } = await store.type("stats", "--by", by);
    const [heading, ...lines] = out.trimEnd().split("\n");

    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(heading).toMatch(
      new RegExp(`^${by.toUpperCase()} +SCHEDULED +QUEUED +HELD +RUNNING +FAILED$`),
    );
    expect(lines.map((line) => line.split(/ +/))).toEqual(rows);
  });

  test("category counts the jobs of each category, and none without one", async () => {
    await using store = new TestStore();
    const mill = await store.mill;
    const scan = defineJob({ type: "scan", category: "documents" });
    await mill.enqueueMany([scan.of(), scan.of(), defineJob({ type: "email" }).of()]);

    const { groups } = await store.json("stats", "--by", "category");

    expect(groups).toMatchObject([{ name: "documents", queued: 2 }]);
  });

  test("has the same facts as JSON, and says that nothing was cut short", async () => {
    await using store = new TestStore();
    await store.type("enqueue", "email");

    expect(await store.json("stats", "--by", "type")).toEqual({
      by: "type",
      groups: [{ name: "email", scheduled: 0, queued: 1, held: 0, running: 0, failed: 0 }],
      atLeast: [],
      cutShort: false,
    });
  });

  test("says which names are known", async () => {
    await using store = new TestStore();

    const { code, err } = await store.type("stats", "--by", "tenat");

    expect(code).toBe(2);
    expect(err).toContain("Allowed choices are type, lane, tenant, category.");
  });

  test("says that only the largest groups are shown", async () => {
    await using store = new TestStore();
    const requests = Array.from({ length: 101 }, (_, n) =>
      email.of(undefined, { tenant: `t${n}` }),
    );
    await (await store.mill).enqueueMany(requests);

    const { out, err } = await store.type("stats", "--by", "tenant");

    expect(out.trimEnd().split("\n")).toHaveLength(101);
    expect(err).toBe("There are more: the 100 largest are shown.\n");
  });
});

describe("millrace doctor", () => {
  test("finds nothing in a healthy store", async () => {
    await using store = new TestStore();

    const { code, out } = await store.type("doctor");

    expect(code).toBe(0);
    expect(out).toContain(`node: ${process.versions.node}`);
    expect(out).not.toContain("FINDING");
  });

  test("names the fix for a file that others may read", async () => {
    await using store = new TestStore();
    await store.type("stats");
    chmodSync(store.file, 0o644);

    const { code, out } = await store.type("doctor");

    expect(code).toBe(1);
    expect(out).toContain(`${store.file} is 644`);
    expect(out).toContain(`chmod 600 ${store.file}\n`);
  });

  test("names the fix for jobs that wait without a worker", async () => {
    await using store = new TestStore();
    await store.type("enqueue", "email");

    const { code, out } = await store.type("doctor", "-o", "json");

    expect(code).toBe(1);
    expect(JSON.parse(out)).toContainEqual(
      expect.objectContaining({ name: "jobs", fix: "millrace worker --jobs FILE" }),
    );
  });

  test("does not make the store that it was asked to look at", async () => {
    expect((await type("doctor", "--db", "sqlite:./nowhere.db")).code).toBe(5);
    expect(existsSync("./nowhere.db")).toBe(false);
  });
});

describe("millrace migrate --print", () => {
  test("prints the SQL and opens nothing", async () => {
    const { code, out } = await type("migrate", "--print", "--db", "sqlite:./nowhere.db");

    expect(code).toBe(0);
    expect(out).toMatch(/^-- 0001_tables\n/);
    expect(out).toContain("CREATE TABLE millrace_job");
    expect(existsSync("./nowhere.db")).toBe(false);
  });

  test("prints what can be run by hand to the same effect", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "jobs.db");
    const { out } = await type("migrate", "--print", "--db", `sqlite:${path}`);
    const database = new DatabaseSync(path);
    database.exec(out);
    database.close();

    const mill = await openMillrace(`sqlite:${path}`);

    expect(await mill.jobs.stats()).toMatchObject({ queued: 0 });
    await mill.close();
  });
});

describe("every command that prints", () => {
  test("speaks JSON, migrate and backup too", async () => {
    await using store = new TestStore();

    const migrated = await store.json("migrate");
    const copied = await store.json("backup", `${store.file}.copy`);
    const printed = await store.json("migrate", "--print");

    expect(migrated).toEqual({ db: `sqlite:${store.file}`, schema: printed.at(-1).version });
    expect(copied).toMatchObject({ file: `${store.file}.copy` });
  });
});

describe("millrace config print", () => {
  afterEach(() => void vi.unstubAllEnvs());

  test("shows values with their sources, and no secret", async () => {
    vi.stubEnv("MILLRACE_PORT", "8080");
    vi.stubEnv("MILLRACE_TOKEN", "t0psecret");

    const { out } = await type("config", "print", "--db", "postgres://ada:s3cret@db/jobs");

    expect(out).toMatch(/^db +postgres:\/\/ada:…@db\/jobs +--db$/m);
    expect(out).toMatch(/^port +8080 +MILLRACE_PORT$/m);
    expect(out).toMatch(/^token +… +MILLRACE_TOKEN$/m);
    expect(out).not.toMatch(/s3cret|t0psecret/);
  });
});

async function deadLetter(store: TestStore): Promise<string> {
  const { id } = await store.json("enqueue", "email", '{"to":"ada"}');
  await store.type("jobs", "fail", id, "--message", "broken");
  return id;
}
