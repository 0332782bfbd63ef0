/** `mill.jobs`: looking at jobs, and what an operator may do to one. */
import { MillraceError } from "../core/errors.ts";
import { isFinal, type JobId, type State } from "../core/job.ts";
import type { Settlement } from "../core/outcome.ts";
import { settle } from "../core/settle.ts";
import { defaults } from "../core/presets.ts";
import type { JobFilter, Jobs, JobView } from "../face/client.ts";
import type { Enqueued } from "../face/enqueue.ts";
import type { CrashFacts, JobRecord, JobStore, ListFilter } from "../store/store.ts";
import { explain } from "./explain.ts";
import { successorOf } from "./successor.ts";
import { attemptView, idOf, jobView, notFound } from "./views.ts";

const PAGE_DEFAULT = 50;
const PAGE_MAX = 1_000;
const COUNT_MAX = 10_000;
const PENDING: readonly State[] = ["scheduled", "queued"];

export interface JobsParts {
  readonly store: JobStore;
  readonly newId: () => JobId;
  readonly random: () => number;
  readonly now: () => number;
}

export function makeJobs({ store, newId, random, now }: JobsParts): Jobs {
  const view = async (id: JobId): Promise<JobView> => jobView(await recordOf(store, id));
  return {
    get: async (id) => view(idOf(id)),
    list: (filter = {}) => listJobs(store, filter),
    stats: () => store.stats(COUNT_MAX),
    explain: async (id) => explain(store, await recordOf(store, idOf(id)), now()),
    async attempts(id) {
      const job = await recordOf(store, idOf(id));
      return (await store.attempts(job.id)).map(attemptView);
    },
    async cancel(text, reason) {
      const id = idOf(text);
      const answer = await store.cancel(id, null, reason ?? null);
      if (answer.status === "unknown") throw notFound(id);
      if (answer.status === "final") throw isOver(id, answer.state);
      return view(id);
    },
    retry: (id) => retry(store, idOf(id), newId),
    async fail(text, message, { retry: again = false } = {}) {
      const id = idOf(text);
      await intervene(store, id, (facts) => failBy(facts, message, again, random()));
      return view(id);
    },
    async release(text) {
      const id = idOf(text);
      const { state } = await recordOf(store, id);
      if (state !== "running" && !isFinal(state)) throw notRunning(id, state);
      const context = { policy: defaults.retry, random: random() };
      await intervene(store, id, (facts) => settle(facts, { type: "interrupted" }, context));
      return view(id);
    },
  };
}

async function recordOf(store: JobStore, id: JobId): Promise<JobRecord> {
  const job = await store.get(id);
  if (job === null) throw notFound(id);
  return job;
}

/** Pages are cut by an opaque cursor: the id of their last job. */
async function listJobs(
  store: JobStore,
  filter: JobFilter,
): Promise<{ jobs: readonly JobView[]; next: string | null }> {
  const { after, limit = PAGE_DEFAULT } = filter;
  const before = after === undefined ? undefined : await cursorKey(store, after);
  const page = {
    limit: Math.min(limit, PAGE_MAX),
    ...(before === undefined ? {} : { after: before }),
  };
  const found: JobRecord[] = [];
  for (let next: number | null | undefined = before; next !== null;) {
    const listing = await store.list(filterOf(filter), {
      ...page,
      limit: page.limit - found.length,
      ...(next === undefined ? {} : { after: next }),
    });
    found.push(...listing.jobs);
    next = found.length >= page.limit ? null : listing.next;
  }
  const last = found.length >= page.limit ? found.at(-1) : undefined;
  return { jobs: found.map(jobView), next: last?.id ?? null };
}

async function cursorKey(store: JobStore, after: string): Promise<number> {
  const job = await store.get(idOf(after));
  if (job !== null) return job.key;
  throw new MillraceError(
    "OPTION_INVALID",
    `after: the job ${after} is no longer there; start anew`,
  );
}

function filterOf({ state, after: _after, limit: _limit, ...rest }: JobFilter): ListFilter {
  if (state === undefined) return rest;
  const states = (Array.isArray(state) ? state : [state]).flatMap((each: State | "pending") =>
    each === "pending" ? PENDING : [each],
  );
  return { ...rest, states };
}

async function retry(store: JobStore, id: JobId, newId: () => JobId): Promise<Enqueued<unknown>> {
  const job = await recordOf(store, id);
  if (isFinal(job.state)) {
    const [answer] = await store.enqueue([successorOf(job, newId())]);
    if (answer === undefined || answer.status === "refused") {
      throw new MillraceError("STORE_REFUSED", `the successor of ${id} was refused`);
    }
    const { id: successor, state } = answer;
    return { id: successor, type: job.type, state, created: answer.status === "created" };
  }
  const answer = await store.hurry(id);
  if (answer.status === "unknown") throw notFound(id);
  const state = answer.status === "running" ? "running" : answer.state;
  return { id, type: job.type, state, created: false };
}

async function intervene(
  store: JobStore,
  id: JobId,
  decide: (job: CrashFacts) => Settlement,
): Promise<void> {
  const answer = await store.intervene(id, decide);
  if (answer.status === "unknown") throw notFound(id);
  if (answer.status === "final") throw isOver(id, answer.state);
}

/** A failure by hand: final, or a failed attempt like any other. */
function failBy(facts: CrashFacts, message: string, again: boolean, random: number): Settlement {
  const fault = {
    class: again ? "retryable" : "non_retryable",
    name: "FailedByHand",
    message,
  } as const;
  const context = { policy: defaults.retry, random };
  return settle({ ...facts, retryOwner: "queue" }, { type: "failed", fault }, context);
}

function isOver(id: JobId, state: State): MillraceError {
  return new MillraceError("JOB_OVER", `job ${id} is ${state}, which is final`, {
    details: { id, state },
  });
}

function notRunning(id: JobId, state: State): MillraceError {
  return new MillraceError("JOB_NOT_RUNNING", `job ${id} is ${state}: no worker holds it`, {
    details: { id, state },
  });
}
