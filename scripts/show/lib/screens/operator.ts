/** What two people do in the installation of the demo, so that no screen is empty. */
import type { Millrace } from "../../../../src/index.ts";
import { schedule } from "../../../../src/index.ts";
import { archive, email, report } from "../../../../src/demo/jobs.ts";

const ADA = { actor: "ada" };
const GRACE = { actor: "grace" };

/** The jobs whose pages are shown. */
export interface ShownJobs {
  readonly failed: string;
  readonly pipeline: string;
  readonly waiting: string;
  readonly correlation: string;
}

export async function actAsOperator(mill: Millrace): Promise<ShownJobs> {
  await controlWork(mill);
  await reviewLetters(mill);
  await runOperations(mill);
  await mill.views.save({ name: "Failed invoices", screen: "jobs", query: FAILED }, ADA);
  await mill.views.save({ name: "Slow thumbnails", screen: "jobs", query: SLOW }, GRACE);
  await mill.tokens.create({ kind: "person", name: "grace", roles: ["operator"] }, ADA);
  await mill.tokens.create(
    { kind: "producer", name: "web shop", types: ["demo.invoice", "demo.email"], tenant: "acme" },
    ADA,
  );
  return jobsToShow(mill);
}

const FAILED = "type:demo.invoice state:failed";
/** Older letters are discarded. */
const OLD_MS = 50 * 60_000;
const SLOW = "type:demo.thumbnail state:running";

async function controlWork(mill: Millrace): Promise<void> {
  await mill.pause({ type: archive.type }, "the disk of the exports is full", ADA);
  await mill.limits.set({ type: "demo.thumbnail" }, { concurrency: 4 }, GRACE);
  await mill.limits.set({ tenant: "umbra" }, { rate: { limit: 600, per: "1m" } }, ADA);
  const quota = { waiting: 5_000, rate: { limit: 1_000, per: "1m" } } as const;
  await mill.tenants.setQuota("acme", quota, { ...ADA, reason: "contract 2026-07" });
  await mill.schedules.create(
    schedule("monthly report", { cron: "30 6 1 * *", timeZone: "Europe/Berlin" }, report, {
      month: "2026-11",
    }),
    GRACE,
  );
  await mill.schedules.create(
    schedule("weekday greeting", { cron: "0 9 * * 1-5", timeZone: "America/New_York" }, email, {
      to: "team@example.com",
    }),
    ADA,
  );
  await mill.schedules.pause("weekday greeting", "holidays until Monday", GRACE);
}

async function reviewLetters(mill: Millrace): Promise<void> {
  const [first, second, third] = await mill.deadLetters.list({ limit: 3 });
  if (first !== undefined) {
    await mill.deadLetters.assign(first.jobId, { ...ADA, to: "grace" });
    await mill.deadLetters.note(first.jobId, {
      ...GRACE,
      notes: "The customer moved to another country. Billing adds the new tax rate today.",
    });
  }
  if (second !== undefined) {
    await mill.deadLetters.acknowledge(second.jobId, { ...GRACE, notes: "known since Tuesday" });
  }
  if (third !== undefined) {
    await mill.deadLetters.reprocess(third.jobId, {
      ...ADA,
      notes: "with the right number",
      payload: { customer: "ada", number: 3 },
    });
  }
  const [group] = await mill.failures.list();
  if (group !== undefined) await mill.failures.acknowledge(group.cause, { ...ADA });
}

async function runOperations(mill: Millrace): Promise<void> {
  const createdBefore = new Date(Date.now() - OLD_MS);
  await mill.operations.start(
    { action: "discard", deadLetters: { status: "pending_review", createdBefore } },
    { ...GRACE, reason: "settled by hand yesterday" },
  );
  await mill.operations.start(
    { action: "retry", jobs: { type: archive.type, state: "cancelled" } },
    { ...ADA, reason: "the exports are needed after all", rate: "1/s", chunk: 1 },
  );
}

async function jobsToShow(mill: Millrace): Promise<ShownJobs> {
  const idOf = async (type: string, state: "failed" | "completed_with_errors" | "completed") => {
    const { jobs } = await mill.jobs.list({ type, state, limit: 1 });
    return jobs[0]?.id ?? "";
  };
  const pipeline = await idOf("demo.publish", "completed_with_errors");
  const waiting = await mill.enqueue(archive);
  const { correlationId } = await mill.jobs.get(pipeline);
  return {
    failed: await idOf("demo.invoice", "failed"),
    pipeline,
    waiting: waiting.id,
    correlation: correlationId,
  };
}
