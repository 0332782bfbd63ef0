/** What the store says at the end. */
import type { JobView, Millrace } from "millrace";
import type { StoredJob } from "./history.ts";
import type { Task } from "./task.ts";

const PAGE = 200;

/** Every job of the store with its attempts. */
export async function readStore(mill: Millrace): Promise<ReadonlyMap<string, StoredJob>> {
  const stored = new Map<string, StoredJob>();
  for (let after: string | null | undefined; after !== null;) {
    const page = await mill.jobs.list({ limit: PAGE, ...(after !== undefined && { after }) });
    const jobs = await Promise.all(page.jobs.map((job) => withAttempts(mill, job)));
    for (const [index, { id }] of page.jobs.entries()) stored.set(id, jobs[index]!);
    after = page.next;
  }
  return stored;
}

async function withAttempts(mill: Millrace, job: JobView): Promise<StoredJob> {
  const attempts = await mill.jobs.attempts(job.id);
  const payload: Partial<Task> | null = JSON.parse(JSON.stringify(job.payload));
  return {
    state: job.state,
    charged: job.attempts,
    attempts: attempts.map(({ fence, outcome, finishedAt, crashes }) => ({
      fence,
      outcome,
      crashes,
      finishedAt: finishedAt.getTime(),
    })),
    key: job.idempotencyKey,
    parent: job.parentId,
    ...(payload?.name !== undefined && { name: payload.name }),
    ...(payload?.end !== undefined && { end: payload.end }),
  };
}
