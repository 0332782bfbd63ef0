/** What `millrace doctor` finds about workers, and about jobs that no worker takes. */
import { describe, expect, test } from "vitest";
import type { WorkerInfo } from "../../src/store/types/jobs-and-runs.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { systemClock } from "../../src/lib/system.ts";
import { newJob, workerInfo } from "../support/factories.ts";
import { TestStore } from "./command-line.ts";

const HOUR_MS = 3_600_000;

describe("millrace doctor finds jobs that no worker takes", () => {
  test.each([
    ["type", { type: "sms" }, "millrace worker --jobs FILE"],
    ["lane", { lane: "slow" }, "millrace worker --jobs FILE --lanes slow=1"],
    ["tenant", { tenant: "acme" }, "millrace worker --jobs FILE --tenant acme"],
  ] as const)("because of their %s", async (kind, job, fix) => {
    await using house = await openHouse();
    await house.join({ lanes: ["fast"], tenant: "default" });
    await house.files.enqueue([newJob({ lane: "fast" })]);
    const served = await house.doctor();
    await house.files.enqueue([1, 2].map(() => newJob({ lane: "fast", ...job })));

    const { code, findings } = await house.doctor();

    expect(served).toEqual({ code: 0, findings: [] });
    expect(code).toBe(1);
    expect(findings).toEqual([
      {
        name: "jobs",
        found: `2 queued job(s) of the ${kind} ${Object.values(job)[0]}, which no worker takes`,
        fix: expect.stringContaining(fix),
      },
    ]);
  });

  test("where workers that take them are quiet, overdue or silent", async () => {
    await using house = await openHouse();
    await house.join({ types: ["email"] });
    await house.files.quiet((await house.join({ types: ["sms"] })).id);
    await house.join({ types: ["push"], beatMs: 1 });
    await house.join({ types: ["post"], leaseMs: 0 });
    await house.files.runSql(`UPDATE millrace_worker SET renewed_at = renewed_at - 10`);
    const types = ["email", "sms", "push", "post"];
    await house.files.enqueue(types.map((type) => newJob({ type })));

    const { findings } = await house.doctor();

    const jobs = findings.filter(({ name }) => name === "jobs").map(({ found }) => found);
    expect(jobs).toEqual(
      ["sms", "push", "post"].map((type) => expect.stringContaining(`of the type ${type}, which`)),
    );
  });

  test("takes general slots for any lane, and says nothing of later jobs", async () => {
    await using house = await openHouse();
    await house.join({ lanes: ["general"] });
    await house.files.enqueue([
      newJob({ lane: "slow" }),
      newJob({ type: "sms", due: { delayMs: HOUR_MS } }),
    ]);

    expect(await house.doctor()).toEqual({ code: 0, findings: [] });
  });

  test("because all workers are quiet, or none runs", async () => {
    await using house = await openHouse();
    await house.files.enqueue([newJob({})]);
    const none = await house.doctor();
    for (const { id } of [await house.join({}), await house.join({})]) await house.files.quiet(id);

    const { findings } = await house.doctor();

    expect(none.findings[0]?.found).toMatch(/jobs wait.*, and no worker runs$/);
    expect(findings[0]?.found).toMatch(/jobs wait.*, and all 2 worker\(s\) are quiet$/);
  });

  test("leaves out jobs behind a pause", async () => {
    await using house = await openHouse();
    await house.join({});
    await house.files.enqueue([newJob({ type: "sms" })]);
    await house.files.pause({ kind: "type", name: "sms" }, { reason: "no credit", by: null });

    const { findings } = await house.doctor();

    expect(findings.map(({ name }) => name)).toEqual(["pauses"]);
  });

  test("names at most ten groups, and counts the others", async () => {
    await using house = await openHouse();
    await house.join({});
    const types = Array.from({ length: 12 }, (_, n) => `t${n}`);
    await house.files.enqueue(types.map((type) => newJob({ type })));

    const { findings } = await house.doctor();

    expect(findings).toHaveLength(11);
    expect(findings.at(-1)?.found).toBe("2 more groups of queued jobs that no worker takes");
  });
});

describe("millrace doctor finds workers", () => {
  test("whose heartbeat is overdue while their lease is alive", async () => {
    await using house = await openHouse();
    const { id } = await house.join({ host: "mill-7", pid: 4_711, beatMs: 1_000 });
    const since = systemClock.now() - 12_000;
    await house.files.runSql(`UPDATE millrace_worker SET renewed_at = ${since}`);

    const { code, findings } = await house.doctor();

    expect(code).toBe(1);
    expect(findings).toMatchObject([{ name: "workers", fix: expect.stringContaining("mill-7") }]);
    expect(findings[0]?.found).toMatch(
      new RegExp(
        `^${id} \\(mill-7, pid 4711\\) has sent no heartbeat for 1\\d(\\.\\d)? s and holds 0`,
      ),
    );
  });
});

interface Finding {
  readonly name: string;
  readonly found: string;
  readonly fix: string | null;
}

/** A store with workers that are never overdue by themselves. */
async function openHouse() {
  const store = new TestStore();
  await store.mill;
  const files = makeSqliteStore({ path: store.file });
  await files.open();
  return {
    files,
    async join(overrides: Partial<WorkerInfo>): Promise<WorkerInfo> {
      const info = workerInfo({ leaseMs: HOUR_MS, beatMs: HOUR_MS, ...overrides });
      await files.register(info);
      return info;
    },
    async doctor(): Promise<{ code: number; findings: Finding[] }> {
      const { code, out } = await store.type("doctor", "-o", "json");
      const checks: Finding[] = JSON.parse(out);
      return { code, findings: checks.filter(({ fix }) => fix !== null) };
    },
    async [Symbol.asyncDispose]() {
      await files.close();
      await store[Symbol.asyncDispose]();
    },
  };
}
