/** What becomes of a claim whose answer was lost on its way. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openProxy } from "../../scripts/show/lib/fleet/proxy.ts";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { queries } from "../../src/store/postgres/database/queries.gen.ts";
import { inSchema } from "../../src/store/postgres/database/statements.ts";
import type { ClaimRequest, WorkerId } from "../../src/store/types/jobs-and-runs.ts";
import type { JobStore } from "../../src/store/store.ts";
import { fail, uses } from "../conformance/services/scene.ts";
import { completed } from "../support/factories.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { add, addCrashed, joinWorker, loneRequest } from "../support/steps.ts";

const TYPE = { kind: "type", name: "email" } as const;
const LIMIT = { concurrency: 5, rate: null } as const;
const CRASH_CAP = 3;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("a claim on PostgreSQL whose answer was lost", () => {
  test("is answered to the next one of the worker", async () => {
    await using lossy = await openLossy("begun");
    const [id] = await add(lossy.store, {});
    await lossy.loseClaim({ prefetch: false });
    const { jobs } = await lossy.claim({ prefetch: false });
    expect(jobs.map((job) => job.id)).toEqual([id]);
  });

  test("is answered in parts to those who ask for less", async () => {
    await using lossy = await openLossy("parts");
    const ids = await add(lossy.store, {}, {}, {});
    await lossy.loseClaim({});
    const first = await lossy.claim({ limit: 2 });
    const second = await lossy.claim({ limit: 2 });
    const third = await lossy.claim({ limit: 2 });
    expect([first, second, third].map(({ jobs }) => jobs.length)).toEqual([2, 1, 0]);
    expect([...first.jobs, ...second.jobs].map(({ id }) => id)).toEqual(ids);
    expect(second.lease).toEqual(first.lease);
  });

  test("is not answered to one for other slots", async () => {
    await using lossy = await openLossy("slots");
    const [id] = await add(lossy.store, {});
    await lossy.loseClaim({ lanes: ["general"] });
    const other = await lossy.claim({ lanes: ["fast"] });
    const same = await lossy.claim({ lanes: ["general"] });
    expect(other.jobs).toEqual([]);
    expect(same.jobs.map((job) => job.id)).toEqual([id]);
  });

  test("goes back if it was for a buffer, so that the next can run and settle it", async () => {
    await using lossy = await openLossy("buffered");
    const [id] = await add(lossy.store, {});
    await lossy.loseClaim({ prefetch: true });
    const { lease, jobs } = await lossy.claim({ prefetch: false });
    expect(jobs.map((job) => job.id)).toEqual([id]);
    const items = jobs.map(({ key, n }) => ({ lease: lease!, key, n, settlement: completed() }));
    expect(await lossy.store.settle(items)).toEqual(["settled"]);
  });

  test("never gives the next more than it asks for, if it was for a buffer", async () => {
    await using lossy = await openLossy("many");
    await add(lossy.store, {}, {}, {});
    await lossy.loseClaim({ prefetch: true });
    const { jobs } = await lossy.claim({ prefetch: false, limit: 1 });
    expect(jobs).toHaveLength(1);
  });

  test("is answered with the permits of its jobs", async () => {
    await using lossy = await openLossy("limited");
    const { store } = lossy;
    await store.setLimit(TYPE, LIMIT, null);
    await add(store, {}, {});
    await lossy.loseClaim({});
    const { permits } = await lossy.claim({});

    expect(permits?.granted).toEqual([{ limit: (await store.limits())[0]?.id, count: 2 }]);
    expect(await store.keepPermits(lossy.worker, permits?.granted ?? [])).toBe(true);
    expect(await store.limits()).toMatchObject([{ used: 2 }]);
  });

  test("brings no permit of a later limit that the store has not noted", async () => {
    await using lossy = await openLossy("later");
    const { store } = lossy;
    await add(store, { lane: "general" });
    await lossy.loseClaim({ lanes: ["general"] });
    await store.setLimit(TYPE, { concurrency: 1, rate: null }, null);
    await add(store, { lane: "fast" }, { lane: "fast" });

    const one = await lossy.claim({ lanes: ["fast"] });
    const found = await lossy.claim({ lanes: ["general"] });
    // The found job has ended, and the worker lends the permit that came with the job.
    const permits = found.permits?.granted ?? [];
    const next = await lossy.claim({ lanes: ["fast"], permits });

    expect([one.jobs.length, found.jobs.length]).toEqual([1, 1]);
    expect(await store.limits()).toMatchObject([{ used: 2 }]);
    expect(next.jobs).toEqual([]);
  });

  test("is answered once with the permits of a probe", async () => {
    await using lossy = await openLossy("probe");
    const { store } = lossy;
    await store.setLimit(TYPE, LIMIT, null);
    await uses(store, ["bank"]);
    await add(store, {});
    await fail(store, { limits: { failuresMax: 1, openMs: 1 } });
    await lossy.loseProbe();
    const found = await lossy.claimProbe();

    expect(found?.granted).toEqual([{ limit: (await store.limits())[0]?.id, count: 1 }]);
    expect(await lossy.claimProbe()).toBeNull();
    expect(await store.keepPermits(lossy.worker, found?.granted ?? [])).toBe(true);
    expect(await store.limits()).toMatchObject([{ used: 1 }]);
  });

  test("goes back before the next claim of any kind if it was for a lone job", async () => {
    await using lossy = await openLossy("alone");
    const id = await addCrashed(lossy.store, 3, { concurrencyKey: "account" });
    await lossy.loseAlone();
    const { awaitsAlone, jobs } = await lossy.claim({ crashed: { once: 1, often: 1, cap: 3 } });
    expect({ awaitsAlone, jobs }).toEqual({ awaitsAlone: true, jobs: [] });

    await lossy.loseAlone();
    expect((await lossy.claimAlone())?.job.id).toBe(id);
  });
});

interface Lossy extends AsyncDisposable {
  readonly store: JobStore;
  readonly worker: WorkerId;
  claim(wanted: Partial<ClaimRequest>): ReturnType<JobStore["claim"]>;
  /** A claim that the server carries out, and whose answer is lost. */
  loseClaim(wanted: Partial<ClaimRequest>): Promise<void>;
  claimAlone(): ReturnType<JobStore["claimAlone"]>;
  /** The same with a claim of a job that must run alone. */
  loseAlone(): Promise<void>;
  claimProbe(): ReturnType<JobStore["claimProbe"]>;
  /** The same with the claim of a probe. */
  loseProbe(): Promise<void>;
}

/** A store behind a proxy, in a schema of its own, with one worker. */
async function openLossy(schema: string): Promise<Lossy> {
  const claimText = inSchema(queries.claim.text, schema);
  /** The statement whose answer is lost. */
  let cut: string | null = null;
  const proxy = await openProxy({
    url: server.url,
    fateOf: ({ sql }) =>
      sql === cut ? { kind: "cut after", manner: "reset", isWorth: () => true } : { kind: "pass" },
  });
  const store = makePostgresStore({ url: proxy.url, schema });
  await store.open();
  const worker: WorkerId = await joinWorker(store);
  const claim: Lossy["claim"] = (wanted) =>
    store.claim({ worker, lanes: "any", limit: 10, prefetch: false, ...wanted });
  const claimAlone: Lossy["claimAlone"] = () => store.claimAlone(loneRequest(worker));
  const claimProbe: Lossy["claimProbe"] = () =>
    store.claimProbe({ worker, lanes: "any", cap: CRASH_CAP });
  const lose = async (statement: string, verb: () => Promise<unknown>): Promise<void> => {
    cut = statement;
    await expect(verb()).rejects.toThrow(/PostgreSQL at/);
    cut = null;
  };
  return {
    store,
    worker,
    claim,
    claimAlone,
    loseClaim: (wanted) => lose(claimText, () => claim(wanted)),
    loseAlone: () => lose("COMMIT", claimAlone),
    claimProbe,
    loseProbe: () => lose("COMMIT", claimProbe),
    async [Symbol.asyncDispose]() {
      await store.close();
      await proxy[Symbol.asyncDispose]();
    },
  };
}
