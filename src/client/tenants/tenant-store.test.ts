import { describe, expect, test } from "vitest";
import { failedWith, jobId, newJob, newJobs } from "../../../test/support/factories.ts";
import { add, runOne } from "../../../test/support/steps.ts";
import { openSqlite } from "../../../test/support/stores.ts";
import { tenantStore } from "./tenant-store.ts";

const OWN = "acme";
const ALL = { from: "0".repeat(26), to: `7${"Z".repeat(25)}` };

/** A store with another tenant, and the part of it that the own tenant sees. */
async function openOwn() {
  const db = await openSqlite();
  return {
    store: db.store,
    acme: tenantStore(db.store, OWN),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

describe("enqueue for a tenant", () => {
  test("refuses a job of another tenant, and stores none of the call", async () => {
    await using db = await openOwn();

    await expect(db.acme.enqueue([newJob({ tenant: OWN }), newJob()])).rejects.toMatchObject({
      code: "FORBIDDEN_TENANT",
      message: expect.stringContaining('the tenant "default"'),
    });

    expect((await db.store.count({}, 10)).count).toBe(0);
  });

  test("answers a dependency of another tenant as an unknown one, job by job", async () => {
    await using db = await openOwn();
    const [other] = await add(db.store, {});
    const [own] = await add(db.store, { tenant: OWN });
    const first = newJob({ tenant: OWN, after: [own] });
    const jobs = [first, newJob({ tenant: OWN, after: [own, other] })];
    const last = newJob({ tenant: OWN, after: [first.id] });

    const answers = await db.acme.enqueue([...jobs, last]);

    expect(answers).toMatchObject([
      { status: "created", id: first.id },
      { status: "refused", code: "AFTER_UNKNOWN", holder: other },
      { status: "created", id: last.id },
    ]);
  });

  test("looks for the holder of a key first, as with an unknown dependency", async () => {
    await using db = await openOwn();
    const [other] = await add(db.store, {});
    const idempotency = { key: "once", onConflict: "return-existing" } as const;
    const [holder] = await add(db.store, { tenant: OWN, idempotency });
    const again = (after: string) => [newJob({ tenant: OWN, idempotency, after: [after] })];

    for (const id of [other, jobId()]) {
      expect(await db.acme.enqueue(again(id))).toMatchObject([{ status: "existing", id: holder }]);
    }
  });

  test("repeats a job of its own, and no job of another tenant or of none", async () => {
    await using db = await openOwn();
    const [other] = await add(db.store, {});
    await runOne(db.store, failedWith());
    const [own] = await add(db.store, { tenant: OWN });
    await runOne(db.store, failedWith());
    const repeat = (retryOf: string) => db.acme.enqueue([newJob({ tenant: OWN, retryOf })]);

    for (const id of [other, jobId()]) {
      const refused = { status: "refused", code: "AFTER_UNKNOWN", holder: id };
      expect(await repeat(id)).toEqual([refused]);
    }
    expect(await repeat(own)).toMatchObject([{ status: "created" }]);
  });

  test("asks for no tenants if the jobs have no links", async () => {
    await using db = await openOwn();
    let asked = 0;
    Reflect.set(db.store, "tenantsOf", () => (asked += 1));

    await db.acme.enqueue(newJobs(3, { tenant: OWN }));

    expect(asked).toBe(0);
  });
});

describe("the feed of a tenant", () => {
  test("continues behind a page of other tenants, and tells only where", async () => {
    await using db = await openOwn();
    const [first] = await add(db.store, { tenant: OWN });
    for (let turn = 0; turn < 3; turn += 1) await add(db.store, {});
    const [last] = await add(db.store, { tenant: OWN });

    const page = await db.acme.feed(0, 3);
    const rest = await db.acme.feed(page.at(-1)?.position ?? 0, 3);

    expect(page).toMatchObject([
      { kind: "job:enqueued", jobs: [first] },
      { position: 3, jobs: [], at: 0, details: [] },
    ]);
    expect(rest.map(({ jobs }) => jobs)).toEqual([[last]]);
    expect(await db.acme.feed(rest.at(-1)?.position ?? 0, 3)).toEqual([]);
  });

  test("divides an entry about jobs of several tenants, with its facts", async () => {
    await using db = await openOwn();
    await db.store.enqueue([newJob(), newJob({ tenant: OWN, type: "ours" }), newJob()]);

    const [entry] = await db.acme.feed(0, 10, new Set(["job:enqueued"] as const));

    expect(entry?.jobs).toHaveLength(1);
    expect(entry?.facts).toMatchObject([{ type: "ours" }]);
  });
});

describe("idsBetween for a tenant", () => {
  test("finds ids behind thousands of others, each once", async () => {
    await using db = await openOwn();
    for (let turn = 0; turn < 3; turn += 1) await db.store.enqueue(newJobs(1_000));
    const own = newJobs(5, { tenant: OWN });
    await db.store.enqueue(own);

    const ids = own.map(({ id }) => id).toSorted();
    expect(await db.acme.idsBetween(ALL, 10)).toEqual(ids);
    expect(await db.acme.idsBetween(ALL, 2)).toEqual(ids.slice(0, 2));
    expect(await db.acme.idsBetween(ALL, 0)).toEqual([]);
  });
});

describe("stats of a tenant", () => {
  test("count its jobs, and do not claim to know the oldest", async () => {
    await using db = await openOwn();
    await db.store.enqueue(newJobs(3, { tenant: OWN }));
    await db.store.enqueue(newJobs(4));

    expect(await db.acme.stats(2)).toMatchObject({ queued: 2, oldestQueuedMs: null });
    expect(await db.acme.stats(100)).toMatchObject({ queued: 3, isOldestExact: false });
    expect(await tenantStore(db.store, "unknown").stats(100)).toMatchObject({
      queued: 0,
      isOldestExact: true,
    });
  });
});
