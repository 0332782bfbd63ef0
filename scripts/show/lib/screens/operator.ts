/** What two people do in the installation of the demo, besides what the demo does by itself. */
import type { Millrace } from "../../../../src/index.ts";
import { archive } from "../../../../src/demo/jobs.ts";

const ADA = { actor: "ada" };
const GRACE = { actor: "grace" };

/** The jobs whose pages are shown. */
export interface ShownJobs {
  readonly failed: string;
  readonly pipeline: string;
  readonly waiting: string;
  readonly correlation: string;
  readonly cause: string;
  readonly operation: string;
}

export async function actAsOperator(mill: Millrace): Promise<ShownJobs> {
  await mill.pause({ type: archive.type }, "the disk of the exports is full", ADA);
  await reviewLetters(mill);
  await runOperations(mill);
  return jobsToShow(mill);
}

/** Older letters are discarded. */
const OLD_MS = 50 * 60_000;

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
    cause: (await mill.failures.list())[0]?.cause ?? "",
    operation: (await mill.operations.list())[0]?.id ?? "",
  };
}
