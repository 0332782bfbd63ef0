/** A run that an operator of another process takes away from its worker. */
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { defineJob, openMillrace, typed } from "millrace";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";

const TRIES = 12;
const PATIENCE_MS = 60_000;
const ignore = (): void => {};
const QUIET = { debug: ignore, info: ignore, warn: ignore, error: ignore };

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

/** A long job beside a short one in the slots of one worker. */
async function openScene() {
  const { url } = server;
  const mill = await openMillrace(url, { logger: QUIET });
  // Another URL, so that the operator has a store of its own.
  const operator = await openMillrace(`${url}?application_name=operator`, { logger: QUIET });
  const seen = { begun: 0, now: 0, most: 0, aborted: 0 };
  let neighbour = Promise.withResolvers<void>();
  let begun = Promise.withResolvers<void>();
  const long = defineJob({ type: "long", payload: typed<number>() }).run(async (_, ctx) => {
    seen.begun += 1;
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    begun.resolve();
    await once(ctx.signal, "abort");
    seen.aborted += 1;
    // The handler needs a moment to end.
    await setTimeout(20);
    seen.now -= 1;
  });
  const short = defineJob({ type: "short" }).run(() => neighbour.promise);
  const worker = mill.work({ jobs: [long, short], lanes: { general: 2 }, lease: "1s" });

  return {
    operator,
    seen,
    nextRun(): Promise<void> {
      begun = Promise.withResolvers();
      return begun.promise;
    },
    /** Enqueues both, and answers when both run under one lease. */
    async begin() {
      neighbour = Promise.withResolvers();
      const isBegun = this.nextRun();
      const [job, other] = await mill.enqueueMany([long.of(1), short.of()]);
      await isBegun;
      await until(async () => (await operator.jobs.get(other.id)).state === "running");
      const settleNeighbour = async (): Promise<void> => {
        neighbour.resolve();
        await mill.wait(other);
      };
      return { job, settleNeighbour };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await worker.stop({ grace: "1s" });
      await operator.close();
      await mill.close();
    },
  };
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await setTimeout(5);
}

test(
  "its handler is told, although its neighbour settles first",
  async () => {
    await using scene = await openScene();
    const { operator, seen } = scene;

    for (let round = 1; round <= TRIES; round += 1) {
      const { job, settleNeighbour } = await scene.begin();
      await operator.jobs.fail(job.id, "by hand");
      await settleNeighbour();
      await until(() => seen.now === 0);
      expect(seen).toEqual({ begun: round, now: 0, most: 1, aborted: round });
    }
  },
  PATIENCE_MS,
);

test(
  "the job never runs twice at once in one worker",
  async () => {
    await using scene = await openScene();
    const { operator, seen } = scene;
    const { job, settleNeighbour } = await scene.begin();

    for (let round = 1; round <= TRIES; round += 1) {
      const isBegun = scene.nextRun();
      await operator.jobs.release(job.id);
      if (round === 1) await settleNeighbour();
      await isBegun;
      expect(seen).toEqual({ begun: round + 1, now: 1, most: 1, aborted: round });
    }
    await operator.jobs.cancel(job.id);
    await until(() => seen.now === 0);
  },
  PATIENCE_MS,
);
