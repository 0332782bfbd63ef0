/** What the store says at the end. */
import type { JobView, Millrace } from "millrace";
import type { StoredJob, StoredLine, StoredUnit } from "./history.ts";
import { UNITS_PHASE } from "./task.ts";
import type { Task } from "./task.ts";

const PAGE = 200;
/** More than a log keeps. */
const LINES_MAX = 1_000;

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
  const { after, onFailed, lines, units } = payload ?? {};
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
    asked: {
      ...(after !== undefined && { after }),
      ...(onFailed !== undefined && { onFailed }),
      ...(lines !== undefined && { lines }),
      ...(units !== undefined && { units }),
    },
    ...(lines !== undefined && { logs: await logsOf(mill, job.id) }),
    ...(units !== undefined && { units: await unitsOf(mill, job.id) }),
  };
}

async function logsOf(mill: Millrace, id: string): Promise<readonly StoredLine[]> {
  const lines: StoredLine[] = [];
  for (let after: number | null = 0; after !== null;) {
    const page = await mill.jobs.logs(id, { limit: LINES_MAX, after });
    lines.push(...page.lines.map(({ line, message }) => ({ line, message })));
    after = page.next;
  }
  return lines;
}

async function unitsOf(mill: Millrace, id: string): Promise<readonly StoredUnit[]> {
  const found: StoredUnit[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page = await mill.jobs.units(id, {
      phase: UNITS_PHASE,
      ...(after !== undefined && { after }),
    });
    for (const { key, state, result } of page.units) {
      found.push({ key, state, fence: typeof result === "number" ? result : null });
    }
    after = page.next;
  }
  return found;
}
