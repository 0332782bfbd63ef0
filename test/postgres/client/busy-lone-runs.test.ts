/** A job that must run alone, in a worker with a backlog of other jobs and claims that overlap. */
import { setTimeout as sleep } from "node:timers/promises";
import { defineJob, openMillrace } from "millrace";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, startPostgres, type PostgresServer } from "../../support/postgres.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});

test("a job that must run alone runs before a long backlog is done", async () => {
  await using mill = await openMillrace(server.url);
  const isBusy = Promise.withResolvers<void>();
  const began = Promise.withResolvers<number>();
  let others = 0;
  const poison = defineJob({ type: "poison" }).run(() => began.resolve(others));
  const busy = defineJob({ type: "busy" }).run(async () => {
    await sleep(20);
    others += 1;
    if (others === 50) isBusy.resolve();
  });
  await mill.pause({ type: "poison" }, "until the worker is busy");
  await mill.enqueueMany(Array.from({ length: 2_000 }, () => busy.of()));
  await mill.enqueue(poison);
  const client = await connect(server.url);
  await client.query(`
    UPDATE millrace.ready SET crashes = 3
    WHERE type = (SELECT id FROM millrace.interned_name WHERE text = 'poison')`);
  await client.end();

  mill.work({ jobs: [poison, busy], lanes: { general: 4 }, signals: false });
  await isBusy.promise;
  await mill.resume({ type: "poison" });

  expect(await began.promise).toBeLessThan(1_000);
}, 60_000);
