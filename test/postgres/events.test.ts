/** `mill.on` where the feed is asked for its place on another connection than jobs are written. */
import { defineJob, openMillrace } from "millrace";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";

const ROUNDS = 50;
const plain = defineJob({ type: "plain" }).run(() => {});

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

test("whoever listens hears what the same mill enqueues right after", async () => {
  await using mill = await openMillrace(server.url);
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
