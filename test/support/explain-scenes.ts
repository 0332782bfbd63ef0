/**
 * The reasons why a job waits, each produced for real, with the cure that its hint names. The table
 * runs on SQLite in virtual time and on a PostgreSQL server in real time.
 */
import { defineJob, RateLimitedError, TransientError, type ExplanationReason } from "millrace";
import type { Millrace } from "millrace";
import { expect } from "vitest";
import { defaults } from "../../src/core/presets.ts";
import type { JobStore } from "../../src/store/store.ts";
import { latch } from "../runtime/support.ts";
import { workerInfo } from "./factories.ts";
import { addCrashed } from "./steps.ts";

/** What the scenes need of a store and its time. */
export interface SceneKit {
  readonly mill: Millrace;
  readonly store: JobStore;
  /** Resolves when the condition holds, by what workers do on their own. */
  readonly until: (condition: () => Promise<boolean>) => Promise<void>;
}

/** Breakers open after two failures, for longer than a scene takes. */
export const preset = { ...defaults, breaker: { failures: 2, openMs: 60_000 } };
const ONE = { general: 1 } as const;

/** The job that waits, what must be said about it, and what lets it run. */
export interface Scene {
  readonly id: string;
  readonly sentence: string;
  readonly details: object;
  readonly hint: string;
  readonly cure: () => Promise<unknown>;
  /** Ends the runs that go on after the cure. */
  readonly end?: () => void;
}

type Wait = Exclude<
  ExplanationReason,
  | "completed"
  | "completed_with_errors"
  | "cancelled"
  | "failed"
  | "running"
  | "cancelling"
  | "buffered"
>;

const work = defineJob({ type: "work" }).run(() => "done");
const enqueue = async ({ mill }: SceneKit, job: any, options: object = {}): Promise<string> =>
  (await mill.enqueue(job, undefined, options)).id;
const start = async ({ mill }: SceneKit, job: any, options: object = {}) => {
  const worker = mill.work({ jobs: [job], signals: false, ...options });
  await worker.ready;
  return worker;
};
const untilState = ({ mill, until }: SceneKit, id: string, state: string): Promise<void> =>
  until(async () => (await mill.jobs.get(id)).state === state);

/** A job that runs until the latch opens, and holds one slot, key or permit. */
async function occupied(kit: SceneKit, options: object = {}, lanes: object = { general: 5 }) {
  const end = latch();
  let runs = 0;
  const job = defineJob({ type: "work" }).run(() => {
    runs += 1;
    return runs === 1 ? end.passed : undefined;
  });
  const holder = await enqueue(kit, job, options);
  await start(kit, job, { lanes });
  await untilState(kit, holder, "running");
  return { job, holder, end };
}

/** A service whose calls fail until the scene says that it is up. */
async function outage(kit: SceneKit, failures: number, error: () => Error) {
  const bank = { isUp: false };
  const job = defineJob({ type: "pay", services: ["bank"], maxAttempts: 1 }).run(() => {
    if (!bank.isUp) throw error();
  });
  for (let count = 0; count < failures; count += 1) await enqueue(kit, job);
  await start(kit, job, { preset, lanes: ONE });
  await kit.until(async () => {
    const { state, parkedUntil } = await kit.mill.breakers.get("bank");
    return state === "open" || parkedUntil.length > 0;
  });
  return { bank, id: await enqueue(kit, job) };
}

export const SCENES: Readonly<Record<Wait, (kit: SceneKit) => Promise<Scene>>> = {
  async scheduled(kit) {
    await start(kit, work);
    const id = await enqueue(kit, work, { delay: "1h" });
    const at = (await kit.mill.jobs.get(id)).scheduledAt;
    return {
      id,
      sentence: `It is due at ${at.toISOString()}.`,
      details: { at },
      hint: `millrace jobs retry ${id}`,
      cure: () => kit.mill.jobs.retry(id),
    };
  },

  async retrying(kit) {
    const job = defineJob({ type: "work", maxAttempts: 3 }).run((_, ctx) => {
      if (ctx.attempt === 1) throw new TypeError("hung up");
    });
    const id = await enqueue(kit, job);
    await start(kit, job);
    await untilState(kit, id, "scheduled");
    const { runAt } = await kit.mill.jobs.get(id);
    return {
      id,
      sentence: expect.stringMatching(/attempt 1 of 3 failed after TypeError: hung up/),
      details: { at: runAt, attempts: 1, maxAttempts: 3, error: "TypeError" },
      hint: `millrace jobs retry ${id}`,
      cure: () => kit.mill.jobs.retry(id),
    };
  },

  async after(kit) {
    await start(kit, work);
    const first = await kit.mill.enqueue(work, undefined, { delay: "1h" });
    const second = await kit.mill.enqueue(work, undefined, { delay: "1h" });
    const id = await enqueue(kit, work, { after: [first, second] });
    return {
      id,
      sentence: expect.stringMatching(
        new RegExp(`after the jobs .*${first.id}.* which have not ended yet`),
      ),
      details: { jobs: expect.arrayContaining([first.id, second.id]), more: false },
      hint: "millrace jobs explain",
      cure: () => Promise.all([first, second].map((job) => kit.mill.jobs.retry(job.id))),
    };
  },

  async handler(kit) {
    const { holder, end } = await occupied(kit);
    await kit.mill.jobs.fail(holder, "it hangs");
    const { id } = await kit.mill.deadLetters.reprocess(holder, { actor: "ada" });
    const worker = (await kit.mill.workers.list())[0];
    return {
      id,
      sentence: expect.stringMatching(
        new RegExp(`the handler of job ${holder}: .* ${worker?.id} .* has not reported`),
      ),
      details: expect.objectContaining({ job: holder, worker: worker?.id }),
      hint: `millrace workers stop ${worker?.id}`,
      cure: async () => end.open(),
    };
  },

  async paused(kit) {
    await kit.mill.pause({ type: "work" }, "the provider is down", { actor: "ada" });
    await start(kit, work);
    const id = await enqueue(kit, work);
    const why = { by: "ada", reason: "the provider is down", until: null, waiting: null };
    return {
      id,
      sentence: "The type work is paused by ada: the provider is down.",
      details: { kind: "type", name: "work", ...why },
      hint: "millrace resume --type work",
      cure: () => kit.mill.resume({ type: "work" }),
    };
  },

  async breaker(kit) {
    const { bank, id } = await outage(kit, 2, () => new TransientError("hung up"));
    const { probeAt } = await kit.mill.breakers.get("bank");
    return {
      id,
      sentence: expect.stringMatching(
        new RegExp(`open until ${probeAt?.toISOString()} .*last: TransientError: hung up`),
      ),
      details: {
        service: "bank",
        state: "open",
        failures: 2,
        reason: "TransientError: hung up",
        by: null,
        probeAt,
        probe: null,
        waiting: { count: 1, atLeast: false },
      },
      hint: "millrace breakers reset bank",
      cure() {
        bank.isUp = true;
        return kit.mill.breakers.reset("bank");
      },
    };
  },

  async rate_limited(kit) {
    const asked = { retryAfter: "30s", service: "bank" } as const;
    const { bank, id } = await outage(kit, 1, () => new RateLimitedError("429", asked));
    const until = (await kit.mill.breakers.get("bank")).parkedUntil[0]?.until;
    return {
      id,
      sentence: expect.stringMatching(
        new RegExp(`bank has asked for a pause until ${until?.toISOString()}`),
      ),
      details: { service: "bank", tenant: null, until, waiting: { count: 1, atLeast: false } },
      hint: "millrace breakers reset bank",
      cure() {
        bank.isUp = true;
        return kit.mill.breakers.reset("bank");
      },
    };
  },

  async no_worker(kit) {
    const id = await enqueue(kit, work);
    return {
      id,
      sentence: "It is due, but no worker is running.",
      details: { type: "work", lane: "general", tenant: "default" },
      hint: "mill.work({ jobs })",
      cure: () => start(kit, work),
    };
  },

  async quiet(kit) {
    const worker = await start(kit, work);
    await kit.mill.workers.quiet(worker.id);
    const id = await enqueue(kit, work);
    return {
      id,
      sentence: expect.stringMatching(/all 1 worker\(s\) are quiet/),
      details: { workers: 1 },
      hint: "Start another",
      cure: () => start(kit, work),
    };
  },

  async type_not_taken(kit) {
    await start(kit, work);
    const mistyped = defineJob({ type: "wrok" }).run(() => "done");
    const id = await enqueue(kit, mistyped);
    return {
      id,
      sentence: expect.stringMatching(
        /no worker takes the type wrok; .* types work \(did you mean work\?\)/,
      ),
      details: { type: "wrok", didYouMean: "work", known: ["work"], more: false },
      hint: "whose file exports that job",
      cure: () => start(kit, mistyped),
    };
  },

  async lane_not_taken(kit) {
    const heavy = defineJob({ type: "work", lane: "heavy" }).run(() => "done");
    await start(kit, heavy, { lanes: { fast: 1, general: 0 } });
    const id = await enqueue(kit, heavy);
    return {
      id,
      sentence: expect.stringMatching(/no worker takes the lane heavy; .* slots in fast/),
      details: { lane: "heavy", known: ["fast"], more: false },
      hint: "--lanes heavy=1",
      cure: () => start(kit, heavy, { lanes: { heavy: 1 } }),
    };
  },

  async tenant_not_taken(kit) {
    await start(kit, work, { tenant: "acme" });
    const id = await enqueue(kit, work);
    return {
      id,
      sentence: expect.stringMatching(/no worker takes the tenant default; .* tenants acme/),
      details: { tenant: "default", known: ["acme"], more: false },
      hint: "--tenant default",
      cure: () => start(kit, work, { tenant: "default" }),
    };
  },

  async key(kit) {
    const { job, holder, end } = await occupied(kit, { concurrencyKey: "site" });
    const id = await enqueue(kit, job, { concurrencyKey: "site" });
    return {
      id,
      sentence: `It is due, but its concurrency key site is taken by job ${holder}.`,
      details: { name: "site", holder },
      hint: "It starts when that job releases it",
      cure: async () => end.open(),
    };
  },

  async limit(kit) {
    await kit.mill.limits.set({ type: "work" }, { concurrency: 1 });
    const { job, end } = await occupied(kit);
    const id = await enqueue(kit, job);
    return {
      id,
      end: () => end.open(),
      sentence: "The limit of 1 running job of the type work is used up.",
      details: { kind: "type", name: "work", concurrency: 1, used: 1 },
      hint: "millrace limits set --type work --concurrency NUMBER",
      cure: () => kit.mill.limits.set({ type: "work" }, { concurrency: 2 }),
    };
  },

  async rate(kit) {
    await kit.mill.limits.set({ type: "work" }, { rate: { limit: 1, per: "1h" } });
    const first = await enqueue(kit, work);
    await start(kit, work);
    await untilState(kit, first, "completed");
    const id = await enqueue(kit, work);
    const raised = { rate: { limit: 100, per: "10s" } } as const;
    return {
      id,
      sentence: expect.stringMatching(/^The rate of the type work allows the next job at \d{4}-/),
      details: { kind: "type", name: "work", nextStartAt: expect.any(Date) },
      hint: "millrace limits set --type work --rate NUMBER/PERIOD",
      cure: () => kit.mill.limits.set({ type: "work" }, raised),
    };
  },

  async crashed(kit) {
    const end = latch();
    let runs = 0;
    const job = defineJob({ type: "work" }).run(() => {
      runs += 1;
      return runs === 1 ? end.passed : undefined;
    });
    const crashed = { type: "work", lane: "general" } as const;
    const ids = [await addCrashed(kit.store, 1, crashed), await addCrashed(kit.store, 1, crashed)];
    await start(kit, job, { lanes: { general: 2 } });
    // One of two slots is for such jobs.
    await kit.until(async () => (await waitingAmong(kit, ids)).length === 1);
    const [id = ""] = await waitingAmong(kit, ids);
    return {
      id,
      sentence: expect.stringMatching(/died once while it ran/),
      details: { crashes: 1, cap: 3 },
      hint: "It starts when one is free",
      cure: async () => end.open(),
    };
  },

  async alone(kit) {
    const { end } = await beside(kit);
    const id = await addCrashed(kit.store, 3, { type: "work", lane: "general" });
    return {
      id,
      sentence: expect.stringMatching(/runs alone/),
      details: { crashes: 3, cap: 3 },
      hint: "millrace jobs",
      cure: async () => end.open(),
    };
  },

  async busy(kit) {
    // The slots of another lane are idle, and do not take the job.
    const { job, end } = await occupied(kit, {}, { fast: 3, general: 1 });
    const [, , id] = [await enqueue(kit, job), await enqueue(kit, job), await enqueue(kit, job)];
    const all = "It is due, and all 1 slot(s) for the lane general of 1 worker(s) are busy.";
    const ahead = { count: 2, atLeast: false };
    return {
      id,
      sentence: `${all} It is behind 2 jobs of its lane.`,
      details: { lane: "general", workers: 1, slots: 1, running: 1, ahead, fair: null },
      hint: "It starts when one is free",
      cure: async () => end.open(),
    };
  },

  async waiting(kit) {
    // A worker that has registered and has not claimed yet.
    const takes = {
      types: ["work"],
      lanes: ["fast", "general"],
      laneSlots: { fast: 3, general: 1 },
    };
    await kit.store.register(workerInfo({ ...takes, slots: 4, leaseMs: 600_000, beatMs: 60_000 }));
    const id = await enqueue(kit, work);
    const use = "It is due; 1 worker(s) take it and use 0 of 1 slot(s) for its lane.";
    const ahead = { count: 0, atLeast: false };
    return {
      id,
      sentence: `${use} It is the next of its lane.`,
      details: { lane: "general", workers: 1, slots: 1, running: 0, ahead, fair: null },
      hint: "millrace workers list",
      cure: () => start(kit, work),
    };
  },
};

async function waitingAmong({ mill }: SceneKit, ids: readonly string[]): Promise<string[]> {
  const jobs = await Promise.all(ids.map((id) => mill.jobs.get(id)));
  return jobs.filter(({ state }) => state === "queued").map(({ id }) => id);
}

/** A worker of `work` with one slot, which a job of another type has taken. */
async function beside(kit: SceneKit) {
  const end = latch();
  const long = defineJob({ type: "long" }).run(() => end.passed);
  const id = await enqueue(kit, long);
  kit.mill.work({ jobs: [long, work], lanes: ONE, signals: false });
  await untilState(kit, id, "running");
  return { end };
}
