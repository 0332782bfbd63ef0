/** The reason of an act is in the audit, in whichever way the act was done. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ActedBy } from "../../../src/api/control/audit.ts";
import { schedule } from "../../../src/api/schedule.ts";
import type { OperatorMill } from "../../../src/cli/operator-mill.ts";
import type { AuditName } from "../../../src/core/audit/names.ts";
import { defineJob, type Millrace } from "../../../src/index.ts";
import { TestStore } from "../command-line.ts";

const report = defineJob({ type: "report" }).run(() => {});
const nightly = schedule("nightly", { cron: "@daily" }, report);

interface Act {
  readonly name: AuditName;
  /** Makes what the act is about, and answers its id. */
  readonly prepare?: (mill: Millrace) => Promise<unknown>;
  readonly act: (mill: OperatorMill, by: ActedBy, id: string) => Promise<unknown>;
}

const ACTS: readonly Act[] = [
  {
    name: "tenant_resumed",
    prepare: (mill) => mill.pause({ tenant: "acme" }, "x"),
    act: (mill, by) => mill.resume({ tenant: "acme" }, by),
  },
  {
    name: "lane_resumed",
    prepare: (mill) => mill.pause({ lane: "fast" }, "x"),
    act: (mill, by) => mill.resume({ lane: "fast" }, by),
  },
  {
    name: "intake_opened",
    prepare: (mill) => mill.intake.close({ lane: "fast" }, "x"),
    act: (mill, by) => mill.intake.open({ lane: "fast" }, by),
  },
  {
    name: "limit_set",
    act: (mill, by) => mill.limits.set({ type: "report" }, { concurrency: 5 }, by),
  },
  {
    name: "limit_removed",
    prepare: (mill) => mill.limits.set({ type: "report" }, { concurrency: 5 }),
    act: (mill, by) => mill.limits.remove({ type: "report" }, by),
  },
  {
    name: "fairness_set",
    act: (mill, by) => mill.fairness.set("fast", { weights: { acme: 3 } }, by),
  },
  {
    name: "fairness_removed",
    prepare: (mill) => mill.fairness.set("fast"),
    act: (mill, by) => mill.fairness.remove("fast", by),
  },
  {
    name: "type_overridden",
    act: (mill, by) => mill.types.override("report", { priority: 5 }, by),
  },
  {
    name: "type_reset",
    prepare: (mill) => mill.types.override("report", { priority: 5 }),
    act: (mill, by) => mill.types.reset("report", by),
  },
  {
    name: "breaker_reset",
    prepare: (mill) => mill.breakers.forceOpen("bank", "x"),
    act: (mill, by) => mill.breakers.reset("bank", by),
  },
  {
    name: "schedule_created",
    prepare: (mill) => mill.schedules.remove("nightly").catch(() => {}),
    act: (mill, by) => mill.schedules.create(nightly, by),
  },
  {
    name: "schedule_updated",
    act: (mill, by) => mill.schedules.update("nightly", { cron: "@hourly" }, by),
  },
  {
    name: "schedule_resumed",
    prepare: (mill) => mill.schedules.pause("nightly", "x"),
    act: (mill, by) => mill.schedules.resume("nightly", by),
  },
  {
    name: "schedule_run",
    act: (mill, by) => mill.schedules.runNow("nightly", by),
  },
  {
    name: "schedule_removed",
    prepare: (mill) => mill.schedules.create(nightly).catch(() => {}),
    act: (mill, by) => mill.schedules.remove("nightly", by),
  },
  {
    name: "token_created",
    act: (mill, by) => mill.tokens.create({ kind: "producer", name: "shop" }, by),
  },
  {
    name: "token_revoked",
    prepare: async ({ tokens }) =>
      (await tokens.create({ kind: "producer", name: "shop" })).token.id,
    act: (mill, by, id) => mill.tokens.revoke(id, by),
  },
  {
    name: "worker_quieted",
    prepare: workerOf,
    act: (mill, by, id) => mill.workers.quiet(id, by),
  },
  {
    name: "worker_stop_requested",
    prepare: workerOf,
    act: (mill, by, id) => mill.workers.stop(id, by),
  },
];

async function workerOf(mill: Millrace): Promise<string> {
  const [first] = await mill.workers.list();
  if (first === undefined) throw new Error("there is no worker");
  return first.id;
}

describe("the reason of an act", () => {
  const store = new TestStore();

  beforeAll(async () => {
    const mill = await store.mill;
    // Declares its type, and is asked to stop.
    await mill.work({ jobs: [report], signals: false }).ready;
  });

  afterAll(() => store[Symbol.asyncDispose]());

  test.each(ACTS)("is in the entry $name", async ({ name, prepare, act }) => {
    const mill = await store.mill;
    const id = String(await prepare?.(mill));

    await act(mill, { actor: "ada", reason: "asked by support" }, id);

    const [entry] = await mill.audit.list({ name, limit: 1 });
    expect(entry).toMatchObject({ actor: "ada", reason: "asked by support" });
  });

  test("is in the entries of saved views", async () => {
    const { views, audit } = await store.mill;

    await views.save({ name: "all", screen: "jobs", query: "" }, { reason: "a hint" });
    await views.remove("all", { actor: "ada", reason: "stale" });

    expect(await audit.list({ limit: 2 })).toMatchObject([
      { name: "view_removed", actor: "ada", reason: "stale" },
      { name: "view_saved", actor: null, reason: "a hint" },
    ]);
  });

  test("is refused under a misspelled name", async () => {
    const { limits } = await store.mill;
    const misspelled: any = { actor: "ada", raeson: "asked by support" };

    const refused = limits.set({ type: "report" }, { concurrency: 5 }, misspelled);

    await expect(refused).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});
