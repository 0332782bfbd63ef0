/** What becomes of notes whose answer was lost on its way. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { openProxy } from "../../scripts/show/lib/fleet/proxy.ts";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { completed, newJob } from "../support/factories.ts";
import { done, halfway, keep } from "../support/notes.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { add, eventsOf, settleItem, takeOne } from "../support/steps.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

test("a note whose answer was lost is kept once, with its child and its phase", async () => {
  await using lossy = await openLossy("record");
  const { store } = lossy;
  const [id] = await add(store, {});
  const batch = await takeOne(store);
  const child = newJob({ lane: "children" });

  lossy.loseNextCommit();
  await keep(store, batch, {
    progress: halfway(),
    units: [done("a", "1")],
    completed: { name: "fetch", result: "1" },
    children: [child],
  });

  expect(lossy.lost()).toBe(1);
  const told = (await eventsOf(store, id)).filter((kind) => kind === "job:phase:completed");
  expect(told).toHaveLength(1);
  expect(await eventsOf(store, child.id)).toEqual(["job:enqueued"]);
  expect((await store.progress(id))?.units).toMatchObject([{ completed: 1 }]);
});

test("an end with a note whose answer was lost is settled once", async () => {
  await using lossy = await openLossy("settle");
  const { store } = lossy;
  const [id] = await add(store, {});
  const batch = await takeOne(store);
  const note = { completed: { name: "fetch", result: "1" } };

  lossy.loseNextCommit();
  const answers = await store.settle([{ ...settleItem(batch, batch.job, completed()), note }]);

  expect([answers, lossy.lost()]).toEqual([["settled"], 1]);
  expect((await eventsOf(store, id)).slice(2)).toEqual(["job:phase:completed", "job:completed"]);
});

/** A store behind a proxy, in a schema of its own. */
async function openLossy(schema: string) {
  let [isCut, lost] = [false, 0];
  const proxy = await openProxy({
    url: server.url,
    fateOf: ({ sql }) => {
      if (!isCut || sql !== "COMMIT") return { kind: "pass" };
      [isCut, lost] = [false, lost + 1];
      return { kind: "cut after", manner: "reset", isWorth: () => true };
    },
  });
  const store = makePostgresStore({ url: proxy.url, schema });
  await store.open();
  return {
    store,
    /** The server carries it out, and its answer is lost. */
    loseNextCommit: () => void (isCut = true),
    lost: () => lost,
    async [Symbol.asyncDispose]() {
      await store.close();
      await proxy[Symbol.asyncDispose]();
    },
  };
}
