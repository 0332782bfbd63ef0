import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkAudit } from "../../src/client/audit/verify.ts";
import type { JobId } from "../../src/core/job.ts";
import type { JobStore } from "../../src/store/store.ts";
import { fillStates, type Installation } from "../support/all-states.ts";
import {
  jobId,
  newOperation,
  completed,
  diedAlone,
  newJob,
  newJobs,
  newToken,
  retention,
  workerInfo,
} from "../support/factories.ts";
import { freed } from "../support/flows.ts";
import { detailsOf } from "../support/notes.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import {
  add,
  ask,
  at,
  claimable,
  joinWorker,
  recordOf,
  rescueSilent,
  runOne,
  settleAll,
  stateOf,
  take,
  takeOne,
} from "../support/steps.ts";
import { differences, Ends } from "./ends.ts";

/** So many times as many are more than one transaction of the file deals with. */
const WIDTH = 32;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

const DAY_MS = 86_400_000;
const SCAN = { scope: "type", name: "scan" } as const;
const RATE = { count: 1_000, perMs: 1_000, burst: 1_000 };
const QUOTA = { waiting: null, rate: RATE, payloadBytes: null };
const OVERRIDE = { lane: null, priority: 5, maxAttempts: null, timeoutMs: null };

describe("a copy", () => {
  test("moves every table, row by row, bytes as they are", async () => {
    await using ends = await Ends.open(server);
    const { ids, flows } = await fillStates(ends.old, 300);
    await dieAlone(ends.old);
    const rate = { count: 5, perMs: 1_000, burst: 2 };
    await ends.old.setLimit({ kind: "tenant", name: "acme" }, { concurrency: 3, rate }, "ada");
    await ends.old.setFairness("general", { acme: 3 }, "ada");
    await ends.old.enqueue([...newJobs(20), ...newJobs(2, { tenant: "acme" })]);
    expect((await ends.old.giveTurns(1_000)).given).toBeGreaterThan(0);
    const key = { kind: "key", name: "mailbox-7", tenant: "acme" } as const;
    await ends.old.setLimit(key, { concurrency: null, rate }, "ada");
    await ends.old.declareLimits([{ type: "email", rule: { concurrency: 9, rate } }]);
    const seen = { kind: "acknowledged", by: "ada", notes: null } as const;
    await ends.old.decideGroup("0123456789abcdef", {}, seen);
    await ends.old.overrideType("email", OVERRIDE, "ada");
    await ends.old.setQuota("metered", QUOTA, { by: "ada", reason: "small" });
    await ends.old.enqueue([newJob({ tenant: "metered" })]);
    await ends.old.beginRemoval("gone", { by: "ada", reason: "left" });
    await ends.old.saveView({ tenant: "acme", name: "a", screen: "jobs", query: "", by: "ada" });
    const worker = workerInfo({ appVersion: "1.4.0" });
    await ends.old.register(worker);
    await ends.old.deregister(worker.id);
    expect(await ends.old.sealAudit(1_000)).toBeGreaterThan(2);
    const pruned = await ends.old.prune({ ...retention(), auditMs: -2 * DAY_MS }, 1);
    expect(pruned.audits).toBe(1);
    const audit = await checkAudit(ends.old, {});
    const operation = await ends.old.startOperation(newOperation());
    const [held] = await ends.old.claimOperations("runner");
    const items = [{ id: jobId() }];
    const chunk = { runner: "runner", from: held!.cursor, to: "5", items, idempotencyMs: 0 };
    await ends.old.applyChunk(operation.id, chunk);
    await ends.old.setPayloadRule(SCAN, { hardBytes: 5_000 }, { by: "ada", reason: "small" });
    await ends.old.closeIntake({ kind: "type", name: "fax" }, { reason: "gone", by: "ada" });
    const spent = [...ids.done, ...ids.failing, ...ids.later, ...ids.paused, flows.patient];
    const before = await told(ends.old, spent);

    const comparisons = await ends.copy();

    expect(differences(comparisons)).toEqual([]);
    const empty = comparisons?.filter(({ source }) => source.rows === 0).map(({ table }) => table);
    expect(empty, "the tables that blocking the writes empties").toEqual([
      "cancel_request",
      "finished_dependency",
    ]);
    const moved = await ends.moved();
    expect(await told(moved, spent)).toEqual(before);
    expect(await checkAudit(moved, {}, { heads: audit.heads })).toMatchObject({
      findings: [],
      sealed: audit.sealed,
    });
    await moved.pause({ kind: "lane", name: "x" }, { by: "ada", reason: "goes on" });
    while ((await moved.sealAudit(1_000)) > 0);
    expect(await checkAudit(moved, {})).toMatchObject({ findings: [], unsealed: 0 });
    const limit = { kind: "tenant", name: "acme", concurrency: 3, rate, used: 0, by: "ada" };
    const stated = { kind: "type", name: "email", concurrency: 9, rate, owner: "code" };
    expect(await moved.limits()).toMatchObject([key, limit, stated]);
    expect(await moved.operation(operation.id)).toMatchObject({ cursor: "5", items: 1 });
    expect(await moved.operationItems(operation.id, { after: 0, limit: 5 })).toHaveLength(1);
    expect(await moved.fairLanes()).toMatchObject([{ weights: { acme: 3 }, by: "ada" }]);
    const rule = { ...SCAN, rule: { hardBytes: 5_000 }, by: "ada", reason: "small" };
    expect(await moved.payloadRules()).toMatchObject([rule]);
  });

  test("gives what ran back, uncharged, with the run in the ledger", async () => {
    await using ends = await Ends.open(server);
    const { ids } = await fillStates(ends.old, 300);
    await ends.copy();
    const store = await ends.moved();

    const [, id] = ids.running;
    expect(await recordOf(store, id!)).toMatchObject({ state: "queued", attempts: 0, crashes: 0 });
    const attempts = await store.attempts(id!);
    expect(attempts).toMatchObject([{ n: 1, outcome: "interrupted", tries: 0 }]);
  });

  test("returns a job that only lay in a buffer as if no worker had had it", async () => {
    await using ends = await Ends.open(server);
    const { ids } = await fillStates(ends.old, 300);
    await ends.copy();
    const store = await ends.moved();

    expect(await stateOf(store, at(ids.buffered, 0))).toBe("queued");
    expect(await store.attempts(at(ids.buffered, 0))).toEqual([]);
  });

  test("cancels what ran and was to be cancelled", async () => {
    await using ends = await Ends.open(server);
    const { ids } = await fillStates(ends.old, 300);
    await ends.copy();

    expect(await stateOf(await ends.moved(), at(ids.running, 0))).toBe("cancelled");
  });

  test("leaves the names that runs had behind: their keys can be claimed", async () => {
    await using ends = await Ends.open(server);
    const { ids, flows } = await fillStates(ends.old, 300);
    const key = (await recordOf(ends.old, flows.holder)).concurrencyKey ?? "";
    expect(await ends.old.lockHolder("default", key)).toBe(flows.holder);
    await ends.copy();
    const store = await ends.moved();

    expect(await store.lockHolder("default", key)).toBeNull();
    expect(await ends.sql("SELECT * FROM millrace.lock")).toEqual([]);
    const waiting = await Promise.all(flows.behind.map((id) => recordOf(store, id)));
    expect(waiting.map(({ heldBy }) => heldBy?.kind)).toEqual([undefined, "key", "key"]);
    const running = await claimable(store, { lanes: ["running"] });
    expect(running.toSorted()).toEqual(ids.running.slice(1).toSorted());
    expect(await store.lockHolder("default", key)).toBe(flows.holder);
    expect(await claimable(store, { lanes: ["behind"] })).toEqual([]);
  });

  test("lets jobs wait on for others, and cancels those of one that was to stop", async () => {
    await using ends = await Ends.open(server);
    const { ids, flows } = await fillStates(ends.old, 300);
    await ends.copy();
    const store = await ends.moved();

    expect(await stateOf(store, flows.doomed)).toBe("cancelled");
    expect(await recordOf(store, flows.patient)).toMatchObject({ heldBy: { kind: "after" } });
    const parents = [flows.holder, at(ids.later, 0)];
    expect((await store.openDependencies(flows.patient, 10)).toSorted()).toEqual(
      parents.toSorted(),
    );
    for (const id of parents) await store.cancel(id, "ada", null);
    await freed(store, flows.patient);
    expect(await claimable(store, { lanes: ["patient"] })).toEqual([flows.patient]);
  });

  test("takes along what has ended and was not yet told to those who wait for it", async () => {
    await using ends = await Ends.open(server);
    await endMany(ends.old);
    const comparisons = await ends.copy();
    const store = await ends.moved();

    expect(differences(comparisons)).toEqual([]);
    const ended = comparisons?.find(({ table }) => table === "finished_dependency");
    expect(ended?.source.rows).toBeGreaterThan(0);
    expect((await store.stats(100)).held).toBeGreaterThan(0);
    await store.resolveDependencies(1_000);
    expect(await claimable(store, { lanes: ["narrow"] })).toHaveLength(WIDTH);
  });

  test("keeps idempotency keys, dedup keys and the one living repeat of a job", async () => {
    await using ends = await Ends.open(server);
    const { keyed, repeat } = await fillStates(ends.old, 300);
    const dedup = { key: "nightly", onConflict: "skip" } as const;
    const [holder] = await add(ends.old, { dedup });
    await ends.copy();
    const store = await ends.moved();

    expect(await ask(store, { ...keyed, id: newJob().id })).toMatchObject({
      status: "existing",
      by: "idempotency",
      id: keyed.id,
    });
    expect(await ask(store, { dedup })).toMatchObject({ by: "dedup", id: holder });
    expect(await ask(store, { retryOf: repeat.of })).toMatchObject({
      by: "successor",
      id: repeat.id,
    });
  });

  test("takes API tokens along with the hashes of their secrets", async () => {
    await using ends = await Ends.open(server);
    await fillStates(ends.old, 100);
    const person = newToken({ roles: ["operator"], tenant: "acme" });
    const session = newToken({ kind: "session", parentId: person.id });
    for (const token of [person, session]) await ends.old.createToken(token);
    const all = { includeEnded: true };
    const before = await ends.old.tokens(all, { limit: 100 });
    await ends.copy();
    const store = await ends.moved();

    expect(await store.tokens(all, { limit: 100 })).toEqual(before);
    expect(await store.tokenOf(session.hash)).toMatchObject({ id: session.id });
    expect(await store.revokeToken(person.id)).toBe(true);
    expect(await store.tokenOf(session.hash)).toBeNull();
    await expect(ends.old.createToken(newToken())).rejects.toMatchObject({ code: "STORE_MOVED" });
  });

  test("keeps what the feed tells of removed jobs", async () => {
    await using ends = await Ends.open(server);
    const [id] = await add(ends.old, { tenant: "acme", correlationId: 'order "7", {x}' });
    await settleAll(ends.old, await take(ends.old), completed());
    const none = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };
    await ends.old.prune(retention({ finishedMs: none }), 10);
    const before = await detailsOf(ends.old, id);

    const comparisons = await ends.copy();

    expect(differences(comparisons)).toEqual([]);
    expect(await detailsOf(await ends.moved(), id)).toEqual(before);
    expect(before).toMatchObject([["job:deleted", { tenant: "acme" }]]);
  });

  test("never gives a key, a fence or a position away a second time", async () => {
    await using ends = await Ends.open(server);
    const { open } = await fillStates(ends.old, 300);
    await ends.old.prune(retention({ eventMs: 0 }), 500);
    const fences = open.map(({ lease }) => lease.number);
    const [last] = await add(ends.old, { lane: "late" });
    const { key } = await claimIn(ends.old, "late");
    await ends.copy();
    const store = await ends.moved();
    const end = await store.feedEnd();

    await add(store, { lane: "new" });
    const claimed = await claimIn(store, "new");

    expect(claimed.key).toBeGreaterThan(key);
    expect(claimed.fence).toBeGreaterThan(Math.max(...fences));
    const news = await store.feed(end, 100);
    expect(news.map(({ position }) => position)).toEqual([end + 1, end + 2]);
    expect(end).toBeGreaterThan(0);
    expect(await stateOf(store, last)).toBe("queued");
  });

  test("reconciles rows that changed in the source after they were copied ahead", async () => {
    await using ends = await Ends.open(server);
    const made = await fillStates(ends.old, 300);
    const fresh: JobId[] = [];
    const comparisons = await ends.copy(({ source }) => ({
      source: {
        ...source,
        blockWrites: async (...args) => {
          fresh.push(...(await liveOn(ends.old, made)));
          return source.blockWrites(...args);
        },
      },
    }));

    expect(differences(comparisons)).toEqual([]);
    const store = await ends.moved();
    for (const id of fresh) expect(await stateOf(store, id)).toBe("queued");
    expect(await store.get(at(made.ids.done, 0)), "pruned meanwhile").toBeNull();
    expect(await stateOf(store, at(made.ids.waiting, 0))).toBe("completed");
  });

  test("leaves an installation in which work goes on", async () => {
    await using ends = await Ends.open(server);
    const { ids } = await fillStates(ends.old, 100);
    await ends.copy();
    const store = await ends.moved();

    const waiting = await claimable(store, { lanes: ["waiting"] });
    expect(waiting).toEqual(expect.arrayContaining([...ids.waiting]));
    await add(store, { lane: "again" });
    await store.resume({ kind: "lane", name: "paused" });
    expect(await store.release(100), "and one of a free key").toBe(ids.paused.length + 1);
  });

  test("moves an installation in which nothing has happened yet", async () => {
    await using ends = await Ends.open(server);
    expect(differences(await ends.copy())).toEqual([]);
    const store = await ends.moved();
    await add(store, {});
    await runOne(store, completed());
  });
});

/** What a reader sees of jobs. */
async function told(store: JobStore, ids: readonly JobId[]): Promise<unknown[]> {
  return Promise.all(
    ids.map(async (id) => {
      const [job, attempts] = [await recordOf(store, id), await store.attempts(id)];
      const logs = await store.logs(id, { limit: 100 });
      return { job, attempts, logs, letter: await store.deadLetter(id) };
    }),
  );
}

/** Each of many jobs waits for each of as many, which end at once. Not all of them hear of it. */
async function endMany(store: JobStore): Promise<void> {
  const parents = await add(store, ...newJobs(WIDTH, { lane: "wide" }));
  await add(store, ...newJobs(WIDTH, { lane: "narrow", after: parents }));
  await settleAll(store, await take(store, { lanes: ["wide"] }), completed());
}

async function claimIn(store: JobStore, lane: string): Promise<{ key: number; fence: number }> {
  const worker = await joinWorker(store, { lanes: [lane] });
  const { jobs, lease } = await store.claim({ worker, lanes: [lane], limit: 1, prefetch: false });
  return { key: at(jobs, 0).key, fence: lease?.number ?? 0 };
}

/** New jobs come, old ones go, and waiting ones end. Answers the new ones. */
async function liveOn(store: JobStore, { ids }: Installation): Promise<readonly JobId[]> {
  const worker = await joinWorker(store, { lanes: ["waiting"] });
  const claim = { worker, lanes: ["waiting"], limit: 500, prefetch: false };
  const { lease, jobs } = await store.claim(claim);
  if (lease === null) throw new Error(`nothing of ${ids.waiting.length} waits`);
  await store.settle(jobs.map(({ key, n }) => ({ lease, key, n, settlement: completed() })));
  const { finishedMs } = retention();
  await store.prune(retention({ finishedMs: { ...finishedMs, completed: -1 } }), 20);
  return add(store, {}, { tags: { late: "yes" } }, {});
}

/** A job kills its process while it runs alone. */
async function dieAlone(store: JobStore): Promise<void> {
  await add(store, { lane: "poison" });
  const { worker } = await takeOne(store, { lanes: ["poison"] });
  await store.deregister(worker);
  await rescueSilent(store, worker, { decide: diedAlone });
}
