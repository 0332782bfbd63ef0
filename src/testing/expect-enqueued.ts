/** Assertions about enqueued jobs, for any test runner. */
import { AssertionError } from "node:assert";
import { idUuid } from "../core/ids.ts";
import type { Jobs, JobView } from "../api/client.ts";

/** The expected properties of a job besides its payload. Only the given properties must match. */
export type ExpectedJob = Partial<
  Pick<
    JobView,
    | "state"
    | "tenant"
    | "lane"
    | "priority"
    | "maxAttempts"
    | "correlationId"
    | "parentId"
    | "idempotencyKey"
    | "dedupKey"
    | "tags"
    | "createdBy"
    | "runAt"
  >
>;

export interface Expectation {
  readonly type: string;
  readonly payload: unknown;
  readonly job: ExpectedJob;
}

const JOBS_MAX = 1_000;
const SHOWN_MAX = 20;

/** Returns the newest job that matches. */
export async function findEnqueued(jobs: Jobs, expected: Expectation): Promise<JobView> {
  const { all, match } = await search(jobs, expected);
  if (match !== undefined) return match;
  const message = `no ${described(expected)} was enqueued; ${listed(all)}`;
  throw new AssertionError({ message, expected: partsOf(expected), actual: all.map(shownJob) });
}

export async function refuseEnqueued(jobs: Jobs, expected: Expectation): Promise<void> {
  const { match } = await search(jobs, expected);
  if (match === undefined) return;
  const actual = shownJob(match);
  const message = `${described(expected)} was enqueued as ${match.id}: ${JSON.stringify(actual)}`;
  throw new AssertionError({ message, actual });
}

async function search(jobs: Jobs, { type, payload, job }: Expectation) {
  const all = (await jobs.list({ limit: JOBS_MAX })).jobs;
  const match = all.find(
    (each) => each.type === type && contains(each.payload, payload) && contains(each, job),
  );
  return { all, match };
}

/** True if `whole` has all properties of `part`, at every depth; `undefined` matches anything. */
function contains(whole: unknown, part: unknown): boolean {
  if (part === undefined || Object.is(whole, part)) return true;
  if (part instanceof Date) return whole instanceof Date && whole.getTime() === part.getTime();
  if (typeof part !== "object" || typeof whole !== "object") return false;
  if (part === null || whole === null || Array.isArray(part) !== Array.isArray(whole)) return false;
  if (Array.isArray(part) && Array.isArray(whole) && part.length !== whole.length) return false;
  return Object.entries(part).every(([key, value]) => contains(Reflect.get(whole, key), value));
}

function described({ type, payload, job }: Expectation): string {
  const like = payload === undefined ? "" : ` like ${JSON.stringify(payload)}`;
  const among = Object.keys(job).length === 0 ? "" : ` with ${JSON.stringify(job)}`;
  return `job "${type}"${like}${among}`;
}

function listed(all: readonly JobView[]): string {
  if (all.length === 0) return "there are no jobs";
  const lines = all.slice(0, SHOWN_MAX).map((job) => `  ${JSON.stringify(shownJob(job))}`);
  const more = all.length > SHOWN_MAX ? `\n  and ${all.length - SHOWN_MAX} more` : "";
  return `these jobs were, newest first:\n${lines.join("\n")}${more}`;
}

function partsOf({ type, payload, job }: Expectation): object {
  return { type, ...(payload === undefined ? {} : { payload }), ...job };
}

/** The properties that differ from their defaults. */
function shownJob({ type, payload, state, tenant, runAt, tags, ...job }: JobView): object {
  return {
    type,
    payload,
    state,
    ...(tenant === "default" ? {} : { tenant }),
    ...(job.priority === 100 ? {} : { priority: job.priority }),
    ...(job.correlationId === idUuid(job.id) ? {} : { correlationId: job.correlationId }),
    ...(job.idempotencyKey === null ? {} : { idempotencyKey: job.idempotencyKey }),
    ...(job.dedupKey === null ? {} : { dedupKey: job.dedupKey }),
    ...(Object.keys(tags).length === 0 ? {} : { tags }),
    ...(runAt === null ? {} : { runAt: runAt.toISOString() }),
  };
}
