/** `mill.jobs`: reads jobs, and changes one on behalf of an operator. */
import { ACT_FIELDS, actOf, toAct } from "../jobs/acted-by.ts";
import type { Act } from "../store/types/audit.ts";
import { MillraceError } from "../core/errors.ts";
import { idsWithPrefix, PREFIX_LETTERS_MIN } from "../core/ids.ts";
import { isFinal, type JobId, type State } from "../core/job.ts";
import type { Settlement } from "../core/outcome.ts";
import { settle, type SettleContext } from "../core/settle.ts";
import type { JobFilter, JobPage, Jobs, JobView } from "../api/client.ts";
import type { Enqueued } from "../api/enqueue.ts";
import { anObject, aWholeNumber, isObject, must, type Rule } from "../api/rules.ts";
import { SETTING_RULES } from "../api/settings.ts";
import { aDelay, aMoment } from "../jobs/enqueue-options.ts";
import { dueOf, priorityOf } from "../jobs/new-job.ts";
import type { PlaceAnswer } from "../store/types/operations.ts";
import type { InterveneFacts } from "../store/types/jobs-and-runs.ts";
import type { JobRecord } from "../store/types/records.ts";
import type { JobStore } from "../store/store.ts";
import { detailsOf } from "./details.ts";
import { explain, type TenantWorkers } from "./explain.ts";
import { hintOfTenant } from "./tenants/tenant-hints.ts";
import { listFilter } from "./filters.ts";
import { cursorOf, keyOfCursor } from "./job-cursor.ts";
import type { KnownTypes } from "./known-types.ts";
import { listLogs } from "./logs.ts";
import { holdersOf, listUnits, progressOf } from "./progress.ts";
import { countBy, countJobs, countMatching } from "./stats.ts";
import { successorAnswer, successorOf } from "../jobs/retry-as-new-job.ts";
import { checkAnyRemark, checkRemark, insistOn } from "../jobs/check-text.ts";
import { hasNothingToRetry } from "../jobs/nothing-to-retry.ts";
import { attemptView, idOf, jobView, listed } from "../jobs/views.ts";

/** The ids that `findIds` returns. */
const IDS_DEFAULT = 10;
const IDS_MAX = 1_000;

const aFlag = must((value) => typeof value === "boolean", "true or false");
const RETRY: Rule = anObject(
  {
    required: {},
    optional: { restart: aFlag, ...ACT_FIELDS },
  },
  "an object such as { restart: true }",
);

const RELEASE: Rule = anObject(
  {
    required: {},
    optional: { force: aFlag, ...ACT_FIELDS },
  },
  "an object such as { force: false }",
);

const DUE: Rule = (value, place) =>
  (isObject(value) && value["runAt"] !== undefined ? DUE_AT : DUE_IN)(value, place);
const DUE_AT: Rule = anObject(
  { required: { runAt: aMoment }, optional: {} },
  'an object such as { runAt: "2026-11-15T10:00:00Z" } or { delay: "2h" }',
);
const DUE_IN: Rule = anObject(
  { required: { delay: aDelay }, optional: {} },
  'an object such as { delay: "2h" } or { runAt: "2026-11-15T10:00:00Z" }',
);

export interface JobsParts {
  readonly store: JobStore;
  readonly newId: () => JobId;
  readonly random: () => number;
  readonly known: KnownTypes;
  /** Only for the mill of a tenant. */
  readonly tenantWorkers: TenantWorkers | undefined;
}

export function makeJobs(parts: JobsParts): Jobs {
  return { ...readers(parts), ...verbs(parts) };
}

type Verb = "cancel" | "retry" | "fail" | "release" | "setPriority" | "reschedule";

function readers(parts: JobsParts): Omit<Jobs, Verb> {
  const { store, known, tenantWorkers } = parts;
  const find = (id: string): Promise<JobRecord> => recordOf(parts, idOf(id));
  return {
    get: async (id) => jobView(await find(id)),
    async details(id) {
      const job = await find(id);
      return detailsOf(store, job, known.phasesOf(job.type));
    },
    async texts(id) {
      const { payload, result } = await find(id);
      return { payload, result };
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
      const explanation = await explain(store, job, { crashCap, tenantWorkers });
      return tenantWorkers === undefined ? explanation : hintOfTenant(explanation);
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
    async cancel(text, reason, by) {
      checkAnyRemark("jobs.cancel", "reason", reason);
      const id = idOf(text);
      const answer = await store.cancel(id, actOf("jobs.cancel", by).by, reason ?? null);
      if (answer.status === "unknown") throw known.notFound(id);
      if (answer.status === "final") throw isOver(id, answer.state);
      return view(id);
    },
    async retry(id, options = {}) {
      insistOn("jobs.retry", RETRY, options, "");
      return retry(parts, idOf(id), options.restart ?? false, toAct(options));
    },
    async fail(text, message, { retry: again = false, actor = "" } = {}) {
      checkRemark("jobs.fail", "message", message);
      const act = actOf("jobs.fail", { actor, reason: message });
      const id = idOf(text);
      const decide = (facts: InterveneFacts): Settlement =>
        failBy(facts, message, again, contextOf(facts.type));
      await intervene(parts, id, decide, act);
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
        await intervene(parts, id, decide, toAct(options));
      } catch (error) {
        // The run may have ended meanwhile: a waiting job cannot be interrupted.
        await insistRunning();
        throw error;
      }
      return view(id);
    },
    async setPriority(text, priority, by) {
      const act = actOf("jobs.setPriority", by);
      insistOn("jobs.setPriority", SETTING_RULES.priority, priority, "priority");
      const id = idOf(text);
      insistChanged(parts, id, await store.setPriority(id, priorityOf(priority), act));
      return view(id);
    },
    async reschedule(text, due, by) {
      const act = actOf("jobs.reschedule", by);
      insistOn("jobs.reschedule", DUE, due, "");
      const id = idOf(text);
      insistChanged(parts, id, await store.reschedule(id, dueOf(due), act));
      return view(id);
    },
  };
}

/** Only a waiting job has a priority and a due time. */
function insistChanged({ known }: JobsParts, id: JobId, answer: PlaceAnswer): void {
  if (answer.status === "unknown") throw known.notFound(id);
  if (answer.status === "final") throw isOver(id, answer.state);
  if (answer.status === "done") return;
  throw new MillraceError("JOB_NOT_WAITING", `job ${id} is running`, { details: { id } });
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

async function retry(
  parts: JobsParts,
  id: JobId,
  restart: boolean,
  act: Act,
): Promise<Enqueued<unknown>> {
  const { store, newId, known } = parts;
  const job = await recordOf(parts, id);
  if (isFinal(job.state)) {
    if (!restart) await insistOnSomethingToDo(parts, job);
    const successor = { ...successorOf(job, newId(), { restart }), retryOf: job.id };
    return successorAnswer(job, await store.retryAsNew(successor, act));
  }
  if (restart) throw notFinal(job);
  const answer = await store.hurry(job.id, act);
  if (answer.status === "unknown") throw known.notFound(id);
  const state = answer.status === "running" ? "running" : answer.state;
  return { id: job.id, type: job.type, state, created: false };
}

async function insistOnSomethingToDo({ store, known }: JobsParts, job: JobRecord): Promise<void> {
  if (!(await hasNothingToRetry(store, known, job))) return;
  const { id } = job;
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
  act: Act,
): Promise<void> {
  const answer = await store.intervene(id, decide, act);
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
