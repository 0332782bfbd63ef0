/** Connections on which nothing passes any more, and neither side is told. */
import { defineJob, openMillrace, typed } from "millrace";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openProxy } from "../../scripts/show/lib/fleet/proxy.ts";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { Pool, send } from "../../src/store/postgres/database/pool.ts";
import { completed, newJob, retention } from "../support/factories.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";
import { add, claimRequest, joinWorker, settleItem, take } from "../support/steps.ts";

/** The bound of a statement that waits for nothing, twice, and some more: far below a minute. */
const BOUND_MS = 30_000;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

describe.concurrent("a store all of whose connections are half open", () => {
  test(
    "enqueues, claims, settles and renews on fresh ones soon",
    async () => {
      await using line = await openLine("verbs");
      const { store } = line;
      const [, waiting] = await add(store, { priority: 1 }, { priority: 2 });
      const batch = await take(store, { limit: 1 });
      const items = batch.jobs.map((job) => settleItem(batch, job, completed()));
      await line.fillPool();

      line.freeze();
      const [renewal, settled, [added], claimed] = await Promise.all([
        store.renew(batch.worker, 30_000),
        store.settle(items),
        store.enqueue([newJob({ priority: 3 })]),
        // What an uncertain claim took is answered to the next.
        store
          .claim(claimRequest(batch.worker, { limit: 1 }))
          .catch(() => store.claim(claimRequest(batch.worker, { limit: 1 }))),
      ]);

      expect(renewal).toMatchObject({ status: "renewed" });
      expect(settled).toEqual(["settled"]);
      expect(added).toMatchObject({ status: "created" });
      expect(claimed.jobs.map(({ id }) => id)).toEqual([waiting]);
    },
    BOUND_MS,
  );

  test(
    "is closed though retention, which has more patience, waits for an answer",
    async () => {
      await using line = await openLine("retention");
      line.freezeAfter("dead_letter");
      const pruning = line.store.prune(retention(), 100);
      pruning.catch(() => {});

      await line.store.close();

      await expect(line.store.enqueue([newJob()])).rejects.toThrow("not open");
    },
    BOUND_MS,
  );

  test(
    "is closed nevertheless",
    async () => {
      await using line = await openLine("closing");
      await line.fillPool();
      line.freeze();
      await line.store.close();
      await expect(line.store.enqueue([newJob()])).rejects.toThrow("not open");
    },
    BOUND_MS,
  );
});

describe.concurrent("a worker all of whose connections are half open", () => {
  test(
    "keeps its lease and goes on with its jobs",
    async () => {
      await using proxy = await openProxy({ url: server.url });
      const said: string[] = [];
      const note = (message: string): void => void said.push(message);
      const logger = { debug: note, info: note, warn: note, error: note };
      const mill = await openMillrace(`${proxy.url}?schema=worker`, { logger });
      const job = defineJob({ type: "email", payload: typed<number>() }).run((number) => number);
      const worker = mill.work({ jobs: [job] });
      await mill.result(await mill.enqueue(job, 1));

      for (const link of proxy.links) link.freeze();
      const answers = await Promise.all(
        [2, 3, 4].map(async (number) => mill.result(await mill.enqueue(job, number))),
      );

      expect(answers).toEqual([2, 3, 4]);
      expect(await mill.workers.list()).toMatchObject([{ id: worker.id }]);
      expect(said.filter((message) => message.includes("lease lost"))).toEqual([]);
      await mill.close();
    },
    BOUND_MS * 2,
  );
});

describe.concurrent("a statement whose answer is not waited for any more", () => {
  test("is given up by the server as well", async () => {
    const pool = await Pool.make({ url: server.url });
    const sleeping = pool.withConnection((client) =>
      send(client, { text: "SELECT pg_sleep(600) AS nap", query_timeout: 100 }),
    );
    await expect(sleeping).rejects.toThrow("Query read timeout");

    const observer = await connect(server.url);
    const text =
      "SELECT pid FROM pg_stat_activity WHERE query LIKE '%AS nap' AND pid <> pg_backend_pid()";
    await expect
      .poll(async () => (await observer.query(text)).rows, { timeout: 20_000 })
      .toEqual([]);
    await observer.end();
    await pool.end();
  });

  test("lets its locks go when it was cut off in the middle of a transaction", async () => {
    await using line = await openLine("locks");
    const [id] = await add(line.store, {});
    const { worker } = await take(line.store);
    // The lease is locked, and nothing more is heard of the transaction.
    line.freezeAfter("FOR UPDATE");
    const intervening = line.store.intervene(id, () => completed());
    await intervening;

    expect(await line.store.renew(worker, 30_000)).toMatchObject({ status: "renewed" });
    expect(await line.store.get(id)).toMatchObject({ state: "completed" });
  });
});

/** A store in a schema of its own behind a proxy. */
async function openLine(schema: string) {
  let frozenAfter: string | null = null;
  const proxy = await openProxy({
    url: server.url,
    fateOf({ link, sql }) {
      if (frozenAfter === null || !sql.includes(frozenAfter)) return { kind: "pass" };
      frozenAfter = null;
      // The request itself still passes, its answer does not.
      queueMicrotask(() => link.freeze());
      return { kind: "pass" };
    },
  });
  const store = makePostgresStore({ url: proxy.url, schema });
  await store.open();
  return {
    store,
    /** As many connections as a busy store has. */
    async fillPool(): Promise<void> {
      await Promise.all(Array.from({ length: 10 }, () => joinWorker(store)));
    },
    freeze(): void {
      for (const link of proxy.links) link.freeze();
    },
    freezeAfter(sql: string): void {
      frozenAfter = sql;
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await store.close();
      await proxy[Symbol.asyncDispose]();
    },
  };
}
