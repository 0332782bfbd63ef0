/** Payloads and results that were damaged in the database file. One bad row harms one job. */
import { DatabaseSync } from "node:sqlite";
import { defineJob, openMillrace, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { makeSqliteStore } from "../../../src/store/sqlite/create.ts";
import { openFile } from "../../conformance/transactions/callers.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const EMAIL = defineJob({ type: "email", payload: typed<number>() });

describe("a damaged payload", () => {
  test("is marked by jobs.get and jobs.list, which show the other jobs", async () => {
    await using kit = await openDamaged();
    const { mill } = kit;
    const [bad, good] = [await mill.enqueue(EMAIL, 1), await mill.enqueue(EMAIL, 2)];
    kit.damage("UPDATE millrace_job SET payload = '{\"half' WHERE payload = '1'");

    const { jobs } = await mill.jobs.list();

    expect(jobs).toHaveLength(2);
    const one = jobs.find(({ id }) => id === bad.id);
    expect(one).toMatchObject({ state: "queued", payload: null, damaged: ["payload"] });
    expect(jobs.find(({ id }) => id === good.id)).toMatchObject({ payload: 2 });
    expect(jobs.find(({ id }) => id === good.id)).not.toHaveProperty("damaged");
    expect(await mill.jobs.get(bad.id)).toEqual(one);
  });

  test("ends its job at the first run, and the dead letter is marked", async () => {
    await using kit = await openDamaged();
    const { mill } = kit;
    const [bad, good] = [await mill.enqueue(EMAIL, 1), await mill.enqueue(EMAIL, 2)];
    kit.damage("UPDATE millrace_job SET payload = '{\"half' WHERE payload = '1'");
    const worker = mill.work({ jobs: [EMAIL.run((number) => number)] });

    const [ended, result] = [await mill.wait(bad), await mill.result(good)];
    await worker.stop();

    expect(result).toBe(2);
    expect(ended).toMatchObject({
      state: "failed",
      error: { message: `the payload of job ${bad.id} is damaged: it is not JSON` },
    });
    expect(await mill.jobs.attempts(bad.id)).toHaveLength(1);
    expect(await mill.deadLetters.list()).toMatchObject([{ payload: null, damaged: ["payload"] }]);
  });
});

describe("a damaged result", () => {
  test("is marked by jobs.get, and named by mill.result", async () => {
    await using kit = await openDamaged();
    const { mill } = kit;
    const job = await mill.enqueue(EMAIL, 1);
    const worker = mill.work({ jobs: [EMAIL.run((number) => number)] });
    await mill.wait(job);
    await worker.stop();
    kit.damage("UPDATE millrace_attempt SET result = '[1,'");

    expect(await mill.jobs.get(job.id)).toMatchObject({ result: null, damaged: ["result"] });
    await expect(mill.result(job)).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: `the result of job ${job.id} is damaged: it is not JSON`,
    });
  });
});

describe("a damaged dead letter", () => {
  test("is marked in the list, and not reprocessed", async () => {
    await using kit = await openDamaged();
    const { mill } = kit;
    const job = await mill.enqueue(EMAIL, 1);
    await mill.jobs.fail(job.id, "by hand");
    kit.damage("UPDATE millrace_dead_letter SET spec = '{'");

    expect(await mill.deadLetters.list()).toMatchObject([{ payload: null, damaged: ["payload"] }]);
    await expect(mill.deadLetters.reprocess(job.id, { actor: "ada" })).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: `the dead letter of job ${job.id} is damaged: it is not JSON`,
    });
  });
});

async function openDamaged() {
  const home = await openFile(makeSqliteStore);
  const mill = await openMillrace(`sqlite:${home.path}`, { logger: SILENT });
  return {
    mill,
    damage(sql: string): void {
      const database = new DatabaseSync(home.path, { timeout: 5_000 });
      database.exec(`PRAGMA ignore_check_constraints = 1; ${sql}`);
      database.close();
    },
    async [Symbol.asyncDispose]() {
      await mill.close();
      await home[Symbol.asyncDispose]();
    },
  };
}
