/** `mill.jobs`: looking at jobs, and what an operator may do to one. */
import { MillraceError } from "../core/errors.ts";
import { isFinal, type JobId, type State } from "../core/job.ts";
import type { Settlement } from "../core/outcome.ts";
import { settle, type SettleContext } from "../core/settle.ts";
import type { RetryPolicy } from "../core/policy.ts";
import type { JobFilter, Jobs, JobView } from "../face/client.ts";
import type { Enqueued } from "../face/enqueue.ts";
import type { CrashFacts, JobRecord, JobStore } from "../store/store.ts";
import { explain } from "./explain.ts";
import { jobFilter } from "./filters.ts";
import { holdersOf, listUnits, progressOf } from "./progress.ts";
import { successorAnswer, successorOf } from "./successor.ts";
import { checkAnyRemark, checkRemark } from "./texts.ts";
import { attemptView, idOf, jobView, notFound } from "./views.ts";

const COUNT_MAX = 10_000;

export interface JobsParts {
  readonly store: JobStore;
  readonly newId: () => JobId;
  readonly random: () => number;
  readonly now: () => number;
  /** The policy of a type, as far as this process knows it. */
  readonly policyOf: (type: string) => RetryPolicy;
  /** Likewise its phases. */
  readonly phasesOf: (type: string) => readonly string[];
}

export function makeJobs(parts: JobsParts): Jobs {
  const { store, newId, random, now, policyOf, phasesOf } = parts;
  const contextOf = (type: string): SettleContext => ({ policy: policyOf(type), random: random() });
  const view = async (id: JobId): Promise<JobView> => jobView(await recordOf(store, id));
  return {
    get: async (id) => view(idOf(id)),
    list: async (filter = {}) => listJobs(store, filter),
    stats: () => store.stats(COUNT_MAX),
    async progress(id) {
      const job = await recordOf(store, idOf(id));
      return progressOf(store, job, phasesOf(job.type));
    },
    units: async (id, filter = {}) => listUnits(store, await recordOf(store, idOf(id)), filter),
    holders: async (unit) => holdersOf(store, unit),
    explain: async (id) => explain(store, await recordOf(store, idOf(id)), now()),
    async attempts(id) {
      const job = await recordOf(store, idOf(id));
      return (await store.attempts(job.id)).map(attemptView);
    },
    async cancel(text, reason) {
      checkAnyRemark("jobs.cancel", "reason", reason);
      const id = idOf(text);
      const answer = await store.cancel(id, null, reason ?? null);
      if (answer.status === "unknown") throw notFound(id);
      if (answer.status === "final") throw isOver(id, answer.state);
      return view(id);
    },
    retry: (id) => retry(store, idOf(id), newId),
    async fail(text, message, { retry: again = false } = {}) {
      checkRemark("jobs.fail", "message", message);
      const id = idOf(text);
      await intervene(store, id, (facts) => failBy(facts, message, again, contextOf(facts.type)));
      return view(id);
    },
    async release(text) {
      const id = idOf(text);
      const insistRunning = async (): Promise<void> => {
        const { state } = await recordOf(store, id);
        if (state !== "running" && !isFinal(state)) throw notRunning(id, state);
      };
      await insistRunning();
      const decide = (facts: CrashFacts): Settlement =>
        settle(facts, { type: "interrupted" }, contextOf(facts.type));
      try {
        await intervene(store, id, decide);
      } catch (error) {
        // Its run may have ended meanwhile: what waits cannot be interrupted.
        await insistRunning();
        throw error;
      }
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
  given: JobFilter,
): Promise<{ jobs: readonly JobView[]; next: string | null }> {
  const { filter, after, limit } = jobFilter(given);
  const found: JobRecord[] = [];
  let next = after === undefined ? undefined : await cursorKey(store, after);
  for (;;) {
    const from = next === undefined ? {} : { after: next };
    const listing = await store.list(filter, { limit: limit - found.length, ...from });
    found.push(...listing.jobs);
    if (listing.next === null || found.length >= limit) break;
    next = listing.next;
  }
  const last = found.length >= limit ? found.at(-1) : undefined;
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

async function retry(store: JobStore, id: JobId, newId: () => JobId): Promise<Enqueued<unknown>> {
  const job = await recordOf(store, id);
  if (isFinal(job.state)) {
    const [answer] = await store.enqueue([successorOf(job, newId())]);
    if (answer === undefined) throw new Error("the store gave no answer");
    return successorAnswer(job, answer);
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
function failBy(
  facts: CrashFacts,
  message: string,
  again: boolean,
  context: SettleContext,
): Settlement {
  const fault = {
    class: again ? "retryable" : "non_retryable",
    name: "FailedByHand",
    message,
  } as const;
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
