/** The concurrency tests that the firms' specification asks for, on both stores. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineJob, openMillrace, typed, type Millrace } from "millrace";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../../../test/support/postgres.ts";
import { PAYLOAD_VERSION, PRESET } from "../src/categories.ts";
import { requestJob } from "../src/requests.ts";
import type { FirmPayload } from "../src/payload-validator.ts";
import { FIRM, OTHER_FIRM } from "./world.ts";

const STEP = "orchestration_step_execute";
const WAIT = { timeout: "30s" } as const;

/** The server of this test has no durable writes, and the store would warn of it. */
const silent = (): void => {};
const QUIET = { debug: silent, info: silent, warn: silent, error: silent };

let server: PostgresServer;
const folder = mkdtempSync(join(tmpdir(), "millrace-practice-"));
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe.each([
  ["SQLite", () => `sqlite:${join(folder, "jobs.db")}`],
  ["PostgreSQL", () => server.url],
])("workers on %s", (_store, urlOf) => {
  test("skip a job that another one has claimed, and take the next (003-31)", async () => {
    await using mill = await openMillrace(urlOf(), { preset: PRESET, logger: QUIET });
    const held = new Steps("held_1");
    const first = await request(mill, "held_1");
    const busy = mill.work({ jobs: [held.job], lanes: { general: 1 } });
    await held.reached;
    const second = await request(mill, "next_1");
    const free = mill.work({ jobs: [held.job], lanes: { general: 1 } });

    await mill.wait(second, WAIT);
    const { state } = await mill.jobs.get(first.id);
    held.release();
    await mill.wait(first, WAIT);
    const workers = await Promise.all([first, second].map((job) => workerOf(mill, job.id)));
    await Promise.all([busy.stop(), free.stop()]);

    expect(state).toBe("running");
    expect(workers).toEqual([[busy.id], [free.id]]);
  });

  test("claim different jobs, and no job twice (003-31)", async () => {
    await using mill = await openMillrace(urlOf(), { preset: PRESET, logger: QUIET });
    const steps = new Steps();
    const keys = Array.from({ length: 40 }, (_, index) => `many_${index}`);
    const jobs = [];
    for (const key of keys) jobs.push(await request(mill, key));

    const workers = [1, 2, 3].map(() =>
      mill.work({ jobs: [steps.job], lanes: { general: 1 }, batch: 1 }),
    );
    await Promise.all(jobs.map((job) => mill.wait(job, WAIT)));
    const runs = await Promise.all(jobs.map((job) => workerOf(mill, job.id)));
    await Promise.all(workers.map((worker) => worker.stop()));

    expect(steps.ran.toSorted()).toEqual(keys.toSorted());
    expect(runs.map((each) => each.length)).toEqual(keys.map(() => 1));
  });

  test("make one job for each key of a firm, whenever it is asked (003-11, 003-31)", async () => {
    await using mill = await openMillrace(urlOf(), { preset: PRESET, logger: QUIET });

    const asked = Array.from({ length: 10 }, () => request(mill, "unique_1"));
    const answers = await Promise.allSettled(asked);
    const other = await request(mill, "unique_1", OTHER_FIRM);

    const refusals = answers.filter(({ status }) => status === "rejected");
    expect(refusals).toHaveLength(9);
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ reason: { code: "IDEMPOTENCY_KEY_USED", status: 409 } });
    }
    expect((await mill.jobs.get(other.id)).tenant).toBe(String(OTHER_FIRM));
  });
});

/** A step whose run can be held. */
class Steps {
  readonly ran: string[] = [];
  readonly #reached = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  readonly reached = this.#reached.promise;
  readonly release = this.#released.resolve;
  readonly job;

  constructor(heldKey?: string) {
    this.job = defineJob({
      type: STEP,
      category: "orchestration",
      payload: typed<FirmPayload>(),
      payloadVersion: PAYLOAD_VERSION,
    }).run(async ({ idempotency_key: key }) => {
      this.ran.push(key);
      if (key !== heldKey) return;
      this.#reached.resolve();
      await this.#released.promise;
    });
  }
}

async function request(
  mill: Millrace,
  key: string,
  firm = FIRM,
): Promise<{ id: string; type: string }> {
  const refs = { execution_id: 1, step: key };
  // Every request comes with the same trace, as a repeated one does.
  const trace = { correlation_id: "550e8400-e29b-41d4-a716-446655440000" };
  const { job_id: id } = await requestJob(mill, firm, { type: STEP, key, refs }, trace);
  return { id, type: STEP };
}

/** The workers of all runs of a job. */
async function workerOf(mill: Millrace, id: string): Promise<(string | null)[]> {
  return (await mill.jobs.attempts(id)).map(({ worker }) => worker);
}
