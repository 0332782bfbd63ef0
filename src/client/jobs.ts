/** `mill.jobs`: reads jobs, and changes one on behalf of an operator. */
import { MillraceError } from "../core/errors.ts";
import { idsWithPrefix, PREFIX_LETTERS_MIN } from "../core/ids.ts";
import { isFinal, type JobId, type State } from "../core/job.ts";
import type { Settlement } from "../core/outcome.ts";
import { settle, type SettleContext } from "../core/settle.ts";
import type { JobFilter, JobPage, Jobs, JobView } from "../api/client.ts";
import type { Enqueued } from "../api/enqueue.ts";
import { anObject, aWholeNumber, must, type Rule } from "../api/rules.ts";
import type { InterveneFacts } from "../store/types/jobs-and-runs.ts";
import type { JobRecord } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";
import { detailsOf } from "./details.ts";
import { explain, type TenantWorkers } from "./explain.ts";
import { listFilter } from "./filters.ts";
import { cursorOf, keyOfCursor } from "./job-cursor.ts";
import type { KnownTypes } from "./known-types.ts";
import { listLogs } from "./logs.ts";
import { holdersOf, listUnits, progressOf } from "./progress.ts";
import { countBy, countJobs, countMatching } from "./stats.ts";
import { successorAnswer, successorOf } from "./retry-as-new-job.ts";
import { checkAnyRemark, checkRemark, insistOn } from "../jobs/check-text.ts";
import { attemptView, idOf, jobView, listed } from "../jobs/views.ts";

/** The ids that `findIds` returns. */
const IDS_DEFAULT = 10;
const IDS_MAX = 1_000;

const RETRY: Rule = anObject(
  {
    required: {},
    optional: { restart: must((value) => typeof value === "boolean", "true or false") },
  },
  "an object such as { restart: true }",
);

const RELEASE: Rule = anObject(
  {
    required: {},
    optional: { force: must((value) => typeof value === "boolean", "true or false") },
  },
  "an object such as { force: false }",
);

export interface JobsParts {
  readonly store: JobStore;
  readonly newId: () => JobId;
  readonly random: () => number;
  readonly now: () => number;
  readonly known: KnownTypes;
  /** Only for the mill of a tenant. */
  readonly tenantWorkers: TenantWorkers | undefined;
}

export function makeJobs(parts: JobsParts): Jobs {
  return { ...readers(parts), ...verbs(parts) };
}

type Verb = "cancel" | "retry" | "fail" | "release";

function readers(parts: JobsParts): Omit<Jobs, Verb> {
  const { store, now, known, tenantWorkers } = parts;
  const find = (id: string): Promise<JobRecord> => recordOf(parts, idOf(id));
  return {
    get: async (id) => jobView(await find(id)),
    async details(id) {
      const job = await find(id);
      return detailsOf(store, job, known.phasesOf(job.type));
    },
    findIds: async (prefix, limit) => findIds(store, prefix, limit),
    list: async (filter = {}) => listJobs(store, filter),
    count: async (filter = {}, options = {}) => countMatching(store, filter, options),
    stats: () => countJobs(store),
    statsBy: async (by) => countBy(store, by),
    async progress(id) {
      const job = await find(id);
      return progressOf(store, job, known.phasesOf(job.type));
    },
    async units(id, filter = {}) {
      const job = await find(id);
      return listUnits(store, job, known.phasesOf(job.type), filter);
    },
    holders: async (unit) => holdersOf(store, unit),
    logs: async (id, page = {}) => listLogs(store, (await find(id)).id, page),
    async explain(id) {
      const job = await find(id);
      const { crashCap } = known.policyOf(job.type);
      return explain(store, job, { now: now(), crashCap, tenantWorkers });
    },
    attempts: async (id) => (await store.attempts((await find(id)).id)).map(attemptView),
  };
}

function verbs(parts: JobsParts): Pick<Jobs, Verb> {
  const { store, random, known } = parts;
  const contextOf = (type: string): SettleContext => ({
    policy: known.policyOf(type),
    random: random(),
  });
  const view = async (id: JobId): Promise<JobView> => jobView(await recordOf(parts, id));
  return {
    async cancel(text, reason) {
      checkAnyRemark("jobs.cancel", "reason", reason);
      const id = idOf(text);
      const answer = await store.cancel(id, null, reason ?? null);
      if (answer.status === "unknown") throw known.notFound(id);
      if (answer.status === "final") throw isOver(id, answer.state);
      return view(id);
    },
    async retry(id, options = {}) {
      insistOn("jobs.retry", RETRY, options, "");
      return retry(parts, idOf(id), options.restart ?? false);
    },
    async fail(text, message, { retry: again = false } = {}) {
      checkRemark("jobs.fail", "message", message);
      const id = idOf(text);
      await intervene(parts, id, (facts) => failBy(facts, message, again, contextOf(facts.type)));
      return view(id);
    },
    async release(text, options = {}) {
      insistOn("jobs.release", RELEASE, options, "");
      const { force = true } = options;
      const id = idOf(text);
      const insistRunning = async (): Promise<void> => {
        const { state } = await recordOf(parts, id);
        if (state !== "running" && !isFinal(state)) throw notRunning(id, state);
      };
      await insistRunning();
      const decide = (facts: InterveneFacts): Settlement => {
        if (facts.isHeld && !force) throw isHealthy(id);
        return settle(facts, { type: "interrupted" }, contextOf(facts.type));
      };
      try {
        await intervene(parts, id, decide);
      } catch (error) {
        // The run may have ended meanwhile: a waiting job cannot be interrupted.
        await insistRunning();
        throw error;
      }
      return view(id);
    },
  };
}

async function recordOf({ store, known }: JobsParts, id: JobId): Promise<JobRecord> {
  const job = await store.get(id);
  if (job === null) throw known.notFound(id);
  return job;
}

async function findIds(
  store: JobStore,
  prefix: string,
  limit: number = IDS_DEFAULT,
): Promise<readonly string[]> {
  insistOn("jobs.findIds", aWholeNumber({ min: 1 }), limit, "limit");
  const range = typeof prefix === "string" ? idsWithPrefix(prefix) : null;
  if (range !== null) return store.idsBetween(range, Math.min(limit, IDS_MAX));
  const what = `${JSON.stringify(prefix)} is not the beginning of an id`;
  throw new MillraceError("ID_INVALID", `${what}: give at least ${PREFIX_LETTERS_MIN} letters`);
}

async function listJobs(store: JobStore, given: JobFilter): Promise<JobPage> {
  const { filter, after, limit } = listFilter(given);
  const from = after === undefined ? {} : { after: await keyAt(store, after) };
  const { jobs, next, isCutShort } = await store.list(filter, { limit, ...from });
  return {
    jobs: jobs.map((job) => listed(jobView(job))),
    next: next === null ? null : cursorOf(next),
    cutShort: isCutShort,
  };
}

/** The position after which a page starts: a cursor, or the id of a job. */
async function keyAt(store: JobStore, after: string): Promise<number> {
  const key = keyOfCursor(after);
  if (key !== null) return key;
  const job = await store.get(idOf(after));
  if (job !== null) return job.key;
  throw new MillraceError(
    "OPTION_INVALID",
    `after: the job ${after} no longer exists; start from the first page`,
  );
}

async function retry(parts: JobsParts, id: JobId, restart: boolean): Promise<Enqueued<unknown>> {
  const { store, newId, known } = parts;
  const job = await recordOf(parts, id);
  if (isFinal(job.state)) {
    if (!restart) await insistOnSomethingToDo(parts, job);
    const [answer] = await store.enqueue([successorOf(job, newId(), { restart })]);
    if (answer === undefined) throw new Error("the store gave no answer");
    return successorAnswer(job, answer);
  }
  if (restart) throw notFinal(job);
  const answer = await store.hurry(job.id);
  if (answer.status === "unknown") throw known.notFound(id);
  const state = answer.status === "running" ? "running" : answer.state;
  return { id: job.id, type: job.type, state, created: false };
}

/** A successor keeps completed phases: of a completed pipeline, all of them. */
async function insistOnSomethingToDo(
  { store, known }: JobsParts,
  { id, type, state }: JobRecord,
): Promise<void> {
  if (state !== "completed" || known.restarts(type)) return;
  const found = await store.progress(id);
  const defined = known.phasesOf(type);
  const phases = defined.length > 0 ? defined : (found?.progress?.phases ?? []);
  const completed = new Set(found?.phases.map(({ name }) => name));
  if (phases.length === 0 || !phases.every((phase) => completed.has(phase))) return;
  throw new MillraceError(
    "NOTHING_TO_RETRY",
    `job ${id} is completed, and a successor would keep all of its phases, so nothing would run`,
    { details: { id } },
  );
}

async function intervene(
  { store, known }: JobsParts,
  id: JobId,
  decide: (job: InterveneFacts) => Settlement,
): Promise<void> {
  const answer = await store.intervene(id, decide);
  if (answer.status === "unknown") throw known.notFound(id);
  if (answer.status === "final") throw isOver(id, answer.state);
}

/**
 * A failure by an operator: a failed attempt like any other, or final. The final failure of a job
 * that waits costs no attempt, because nothing ran.
 */
function failBy(
  { hasStarted, ...facts }: InterveneFacts,
  message: string,
  again: boolean,
  context: SettleContext,
): Settlement {
  const fault = {
    class: again ? "retryable" : "non_retryable",
    name: "FailedByHand",
    message,
  } as const;
  const failure = settle({ ...facts, retryOwner: "queue" }, { type: "failed", fault }, context);
  return again || hasStarted ? failure : { ...failure, tries: facts.tries };
}

function notFinal({ id, state }: JobRecord): MillraceError {
  const message = `jobs.retry: restart is only for final jobs, and job ${id} is ${state}`;
  return new MillraceError("OPTION_INVALID", message, { details: { option: "restart" } });
}

function isOver(id: JobId, state: State): MillraceError {
  return new MillraceError("JOB_OVER", `job ${id} is ${state}, which is final`, {
    details: { id, state },
  });
}

function isHealthy(id: JobId): MillraceError {
  const message = `job ${id} runs on a worker whose lease is alive`;
  return new MillraceError("RUN_HEALTHY", message, { details: { id } });
}

function notRunning(id: JobId, state: State): MillraceError {
  return new MillraceError("JOB_NOT_RUNNING", `job ${id} is ${state}: no worker holds it`, {
    details: { id, state },
  });
}
