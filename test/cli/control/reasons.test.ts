/** The reason of an act is in the audit: from the library, over HTTP and on the command line. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ActedBy } from "../../../src/api/control/audit.ts";
import { schedule } from "../../../src/api/schedule.ts";
import type { OperatorMill } from "../../../src/cli/operator-mill.ts";
import type { AuditName } from "../../../src/core/audit/names.ts";
import { defineJob, type Millrace } from "../../../src/index.ts";
import { remoteMill } from "../../../src/remote/remote-mill.ts";
import type { Typed } from "../command-line.ts";
import { ServedStore } from "../server/served-store.ts";

const report = defineJob({ type: "report" }).run(() => {});
const nightly = schedule("nightly", { cron: "@daily" }, report);

interface Act {
  readonly name: AuditName;
  /** Makes what the act is about, and answers its id. */
  readonly prepare?: (mill: Millrace) => Promise<unknown>;
  readonly act: (mill: OperatorMill, by: ActedBy, id: string) => Promise<unknown>;
  /** The same act as a command. */
  readonly words: (id: string) => readonly string[];
}

const ACTS: readonly Act[] = [
  {
    name: "tenant_resumed",
    prepare: (mill) => mill.pause({ tenant: "acme" }, "x"),
    act: (mill, by) => mill.resume({ tenant: "acme" }, by),
    words: () => ["tenants", "resume", "acme"],
  },
  {
    name: "lane_resumed",
    prepare: (mill) => mill.pause({ lane: "fast" }, "x"),
    act: (mill, by) => mill.resume({ lane: "fast" }, by),
    words: () => ["resume", "--lane", "fast"],
  },
  {
    name: "intake_opened",
    prepare: (mill) => mill.intake.close({ lane: "fast" }, "x"),
    act: (mill, by) => mill.intake.open({ lane: "fast" }, by),
    words: () => ["intake", "open", "--lane", "fast"],
  },
  {
    name: "limit_set",
    act: (mill, by) => mill.limits.set({ type: "report" }, { concurrency: 5 }, by),
    words: () => ["limits", "set", "--type", "report", "--concurrency", "5"],
  },
  {
    name: "limit_removed",
    prepare: (mill) => mill.limits.set({ type: "report" }, { concurrency: 5 }),
    act: (mill, by) => mill.limits.remove({ type: "report" }, by),
    words: () => ["limits", "remove", "--type", "report"],
  },
  {
    name: "fairness_set",
    act: (mill, by) => mill.fairness.set("fast", { weights: { acme: 3 } }, by),
    words: () => ["fairness", "set", "fast", "--weight", "acme=3"],
  },
  {
    name: "fairness_removed",
    prepare: (mill) => mill.fairness.set("fast"),
    act: (mill, by) => mill.fairness.remove("fast", by),
    words: () => ["fairness", "remove", "fast"],
  },
  {
    name: "type_overridden",
    act: (mill, by) => mill.types.override("report", { priority: 5 }, by),
    words: () => ["types", "override", "report", "--priority", "5"],
  },
  {
    name: "type_reset",
    prepare: (mill) => mill.types.override("report", { priority: 5 }),
    act: (mill, by) => mill.types.reset("report", by),
    words: () => ["types", "reset", "report"],
  },
  {
    name: "breaker_reset",
    prepare: (mill) => mill.breakers.forceOpen("bank", "x"),
    act: (mill, by) => mill.breakers.reset("bank", by),
    words: () => ["breakers", "reset", "bank"],
  },
  {
    name: "schedule_created",
    prepare: (mill) => mill.schedules.remove("nightly").catch(() => {}),
    act: (mill, by) => mill.schedules.create(nightly, by),
    words: () => ["schedules", "create", "nightly", "@daily", "report"],
  },
  {
    name: "schedule_updated",
    act: (mill, by) => mill.schedules.update("nightly", { cron: "@hourly" }, by),
    words: () => ["schedules", "update", "nightly", "--cron", "@hourly"],
  },
  {
    name: "schedule_resumed",
    prepare: (mill) => mill.schedules.pause("nightly", "x"),
    act: (mill, by) => mill.schedules.resume("nightly", by),
    words: () => ["schedules", "resume", "nightly"],
  },
  {
    name: "schedule_run",
    act: (mill, by) => mill.schedules.runNow("nightly", by),
    words: () => ["schedules", "run", "nightly"],
  },
  {
    name: "schedule_removed",
    prepare: (mill) => mill.schedules.create(nightly).catch(() => {}),
    act: (mill, by) => mill.schedules.remove("nightly", by),
    words: () => ["schedules", "remove", "nightly"],
  },
  {
    name: "token_created",
    act: (mill, by) => mill.tokens.create({ kind: "producer", name: "shop" }, by),
    words: () => ["token", "create", "shop"],
  },
  {
    name: "token_revoked",
    prepare: async ({ tokens }) =>
      (await tokens.create({ kind: "producer", name: "shop" })).token.id,
    act: (mill, by, id) => mill.tokens.revoke(id, by),
    words: (id) => ["token", "revoke", id],
  },
  {
    name: "worker_quieted",
    prepare: startWorker,
    act: (mill, by, id) => mill.workers.quiet(id, by),
    words: (id) => ["workers", "quiet", id],
  },
  {
    name: "worker_quieted",
    prepare: startWorker,
    act: (mill, by, id) => mill.drain({ worker: id }, by),
    words: (id) => ["drain", "--worker", id],
  },
  {
    name: "worker_resumed",
    prepare: async (mill) => {
      const id = await startWorker(mill);
      await mill.workers.quiet(id);
      return id;
    },
    act: (mill, by, id) => mill.workers.resume(id, by),
    words: (id) => ["workers", "resume", id],
  },
  {
    name: "worker_stop_requested",
    prepare: startWorker,
    act: (mill, by, id) => mill.workers.stop(id, by),
    words: (id) => ["workers", "stop", id],
  },
];

async function startWorker(mill: Millrace): Promise<string> {
  const worker = mill.work({ jobs: [report], signals: false });
  await worker.ready;
  return worker.id;
}

let store: ServedStore;

beforeAll(async () => {
  store = await ServedStore.open();
  // Declares its type.
  await startWorker(store.mill);
});

afterAll(() => store[Symbol.asyncDispose]());

/** How a person reaches the installation, with a reason. */
const WAYS: Readonly<Record<string, (act: Act, id: string, reason: string) => Promise<unknown>>> = {
  "the library": ({ act }, id, reason) => act(store.mill, { actor: "ada", reason }, id),
  HTTP: ({ act }, id, reason) => {
    const { address: url, secret: token } = store;
    return act(remoteMill({ url, token }), { reason }, id);
  },
  "the command line": ({ words }, id, reason) =>
    store.local(...words(id), "--reason", reason).then(succeeded),
  "the command line with --server": ({ words }, id, reason) =>
    store.remote(...words(id), "--reason", reason).then(succeeded),
};

function succeeded({ code, err }: Typed): void {
  if (code !== 0) throw new Error(err);
}

describe.each(Object.entries(WAYS))("the reason of an act by %s", (way, actBy) => {
  test.each(ACTS)("is in the entry $name", async (act) => {
    const { name, prepare } = act;
    const { mill } = store;
    const id = String(await prepare?.(mill));

    await actBy(act, id, `asked by ${way}`);

    const [entry] = await mill.audit.list({ name, limit: 1 });
    expect(entry).toMatchObject({ actor: expect.any(String), reason: `asked by ${way}` });
  });
});

describe("the reason of an act", () => {
  test("is in the entries of saved views", async () => {
    const { views, audit } = store.mill;

    await views.save({ name: "all", screen: "jobs", query: "" }, { reason: "a hint" });
    await views.remove("all", { actor: "ada", reason: "stale" });

    expect(await audit.list({ limit: 2 })).toMatchObject([
      { name: "view_removed", actor: "ada", reason: "stale" },
      { name: "view_saved", actor: null, reason: "a hint" },
    ]);
  });

  test("is refused under a misspelled name", async () => {
    const misspelled: any = { actor: "ada", raeson: "asked by support" };

    const refused = store.mill.limits.set({ type: "report" }, { concurrency: 5 }, misspelled);

    await expect(refused).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});
