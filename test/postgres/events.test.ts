/** `mill.on` where the feed is asked for its place on another connection than jobs are written. */
import { defineJob, openMillrace } from "millrace";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { newJobs, retention } from "../support/factories.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";
import { testLogger } from "../support/logger.ts";

const ROUNDS = 50;
const plain = defineJob({ type: "plain" }).run(() => {});

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

test("a listener hears what the same mill enqueues right after", async () => {
  await using mill = await openMillrace(server.url, { logger: testLogger });
  const missed: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const heard: string[] = [];
    const end = mill.on("job:enqueued", (event) => heard.push(event.id));

    const { id } = await mill.enqueue(plain);

    // What comes first is the job, or it was missed and will never come.
    while (heard.length === 0) await mill.enqueue(plain);
    if (heard[0] !== id) missed.push(round);
    end();
  }

  expect(missed).toEqual([]);
});

describe("the feed of a bulk enqueue", () => {
  /** Events that are about so many jobs have no position yet. */
  async function openBulk(schema: string) {
    const store = makePostgresStore({ url: server.url, schema });
    await store.open();
    const ids: string[] = [];
    for (let call = 0; call < 12; call += 1) {
      const jobs = newJobs(10_000);
      ids.push(...jobs.map(({ id }) => id));
      await store.enqueue(jobs);
    }
    const client = await connect(server.url);
    return {
      store,
      ids,
      async counts(): Promise<{ waiting: number; numbered: number }> {
        const jobsIn = (table: string): string =>
          `(SELECT coalesce(sum(cardinality(keys)), 0)::integer FROM ${schema}.${table})`;
        const { rows } = await client.query(
          `SELECT ${jobsIn("event_outbox")} AS waiting, ${jobsIn("event")} AS numbered`,
        );
        return rows[0];
      },
      async [Symbol.asyncDispose]() {
        await client.end();
        await store.close();
      },
    };
  }

  test("is numbered in pieces by its readers, no further than they read", async () => {
    await using bulk = await openBulk("bulk_read");
    const { store, ids } = bulk;

    const [first] = await store.feed(0, 1);
    const counts = await bulk.counts();

    expect(first?.jobs[0]).toBe(ids[0]);
    expect(counts.numbered).toBeLessThanOrEqual(50_000);
    expect(counts.waiting + counts.numbered).toBe(ids.length);
    const told: string[] = [];
    for (let position = 0; told.length < ids.length;) {
      const page = await store.feed(position, 1_000);
      told.push(...page.flatMap(({ jobs }) => jobs));
      position = page.at(-1)?.position ?? Infinity;
    }
    expect(told).toEqual(ids);
  });

  test("is numbered in pieces by retention, which says that there is more", async () => {
    await using bulk = await openBulk("bulk_prune");
    const { store, ids } = bulk;

    const pruned = await store.prune(retention(), 100);
    const counts = await bulk.counts();
    let calls = 1;
    while ((await store.prune(retention(), 100)).more) calls += 1;

    expect(pruned.more).toBe(true);
    expect(counts.numbered).toBeLessThanOrEqual(50_000);
    expect(calls).toBeGreaterThan(1);
    expect(await bulk.counts()).toEqual({ waiting: 0, numbered: ids.length });
  });

  test("is numbered as a whole before its end is told", async () => {
    await using bulk = await openBulk("bulk_end");

    const end = await bulk.store.feedEnd();

    expect(await bulk.counts()).toEqual({ waiting: 0, numbered: bulk.ids.length });
    expect(await bulk.store.feed(end, 10)).toEqual([]);
  });
});
