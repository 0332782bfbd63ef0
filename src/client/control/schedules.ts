/** `mill.schedules`: lists and changes what enqueues jobs by the clock. */
import type { ActedBy } from "../../api/control/audit.ts";
import { ACT_FIELDS, actOf, toAct } from "../../jobs/acted-by.ts";
import type { Clock } from "../../core/clock.ts";
import { firstSlot, nextSlots } from "../../core/cron/plan.ts";
import { cronSentence } from "../../core/cron/sentence.ts";
import { MillraceError } from "../../core/errors.ts";
import { aName, anObject, aWholeNumber, must } from "../../api/rules.ts";
import { isSchedule, TIMING_RULE, type Timing, type TimingChange } from "../../api/schedule.ts";
import type { ScheduleFilter, Schedules, ScheduleView, TickView } from "../../api/schedule.ts";
import { checkRemark, insistOn } from "../../jobs/check-text.ts";
import { aKey } from "../../jobs/enqueue-options.ts";
import { enqueuedOf } from "../../jobs/enqueue-result.ts";
import type { JobDefaults } from "../../jobs/new-job.ts";
import { acceptedSlotJob, scheduleSpecOf, timingOf } from "../../jobs/schedule-spec.ts";
import { dateOf } from "../../jobs/views.ts";
import {
  DECLARED_MS,
  SCHEDULES_MAX,
  TENANT_SCHEDULES_MAX,
  TICKS_KEPT,
} from "../../store/roles/schedules.ts";
import type { JobStore } from "../../store/store.ts";
import type { Act } from "../../store/types/audit.ts";
import type { NewJob } from "../../store/types/jobs-and-runs.ts";
import type {
  SaveAnswer,
  ScheduleRecord,
  ScheduleSpec,
  TickRecord,
} from "../../store/types/schedules.ts";

const PAGE_DEFAULT = 50;
const PAGE_MAX = 1_000;
const NEXT_RUNS = 5;
/** How often a change begins anew because the schedule has changed meanwhile. */
const TRIES_MAX = 5;

const FILTER = anObject(
  { required: {}, optional: { tenant: aName, after: aName, limit: aWholeNumber({ min: 1 }) } },
  'an object such as { tenant: "acme" }',
);
const RUN_OPTIONS = anObject(
  { required: {}, optional: { idempotencyKey: aKey, ...ACT_FIELDS } },
  'an object such as { idempotencyKey: "k" }',
);
const PAGE = anObject(
  {
    required: {},
    optional: {
      before: must((value) => value instanceof Date, "a Date"),
      limit: aWholeNumber({ min: 1 }),
    },
  },
  "an object such as { limit: 10 }",
);

export interface SchedulesParts {
  readonly store: JobStore;
  readonly clock: Pick<Clock, "now">;
  readonly defaults: JobDefaults;
}

export function makeSchedules(parts: SchedulesParts): Schedules {
  const { store, clock, defaults } = parts;
  const get = async (name: string): Promise<ScheduleView> =>
    scheduleView(await recordOf(store, name), clock.now());
  return {
    get,
    async list(filter = {}) {
      insistOn("schedules.list", FILTER, filter, "");
      const found = await store.schedules(tenantOf(filter), pageOf(filter));
      return found.map((schedule) => scheduleView(schedule, clock.now()));
    },
    async create(schedule, by) {
      insistOn("schedules.create", must(isSchedule, "made with schedule"), schedule, "it");
      const act = namedActOf("schedules.create", by);
      await defaults.payloads?.refresh();
      const spec = await scheduleSpecOf(schedule, defaults);
      requireFutureEnd("schedules.create", spec.endsAt, clock.now());
      const answer = await store.saveSchedule(spec, { revision: null, ...act }, firstSlot);
      if (answer !== "saved") throw refusalOf(answer, spec.name);
      const now = clock.now();
      // Another call may have removed the schedule meanwhile.
      return scheduleView((await store.schedule(spec.name)) ?? madeFrom(spec, act, now), now);
    },
    async update(name, when, by) {
      await update(parts, name, when, namedActOf("schedules.update", by));
      return get(name);
    },
    async pause(name, reason, by) {
      checkRemark("schedules.pause", "reason", reason);
      const why = { reason, by: namedActOf("schedules.pause", by).by };
      if (!(await store.pauseSchedule(checkedName(name), why))) throw notFound(name);
    },
    async resume(name, by) {
      const act = actOf("schedules.resume", by);
      const answer = await store.resumeSchedule(checkedName(name), firstSlot, act);
      if (answer === "unknown") throw notFound(name);
      return { wasPaused: answer === "resumed" };
    },
    runNow: (name, options = {}) => runNow(parts, name, options),
    async remove(name, by) {
      const act = actOf("schedules.remove", by);
      const answer = await store.removeSchedule(checkedName(name), act);
      if (answer !== "removed") throw refusalOf(answer, name);
    },
    async history(name, page = {}) {
      insistOn("schedules.history", PAGE, page, "");
      await recordOf(store, name);
      const limit = Math.min(page.limit ?? PAGE_DEFAULT, TICKS_KEPT);
      const before = page.before?.getTime();
      const ticks = await store.scheduleTicks(
        name,
        before === undefined ? { limit } : { limit, before },
      );
      return ticks.map(tickView);
    },
  };
}

async function update(
  { store, clock }: SchedulesParts,
  name: string,
  when: TimingChange,
  act: Act,
): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const stored = await recordOf(store, name);
    const changed = changedTiming(stored, when);
    insistOn("schedules.update", TIMING_RULE, changed, "");
    const spec = { name, ...timingOf(changed), job: stored.job };
    if (when.end !== undefined) requireFutureEnd("schedules.update", spec.endsAt, clock.now());
    const answer = await store.saveSchedule(spec, { revision: stored.revision, ...act }, firstSlot);
    if (answer === "saved") return;
    if (answer !== "outdated") throw refusalOf(answer, name);
  }
  throw new MillraceError("STORE_BUSY", `schedule "${name}" is being changed by others`);
}

/** Code may declare a schedule that has ended; an operator who gives such an end is mistaken. */
function requireFutureEnd(verb: string, endsAt: number | null, now: number): void {
  if (endsAt === null || endsAt > now) return;
  const end = new Date(endsAt).toISOString();
  const details = { option: "end" };
  throw new MillraceError("OPTION_INVALID", `${verb}: the end ${end} is in the past`, { details });
}

/** A start or an end of null is removed. */
function changedTiming(stored: ScheduleRecord, when: TimingChange): Timing {
  const { start, end, ...others } = when;
  const { start: oldStart, end: oldEnd, ...kept } = timingFrom(stored);
  const [from, until] = [start === undefined ? oldStart : start, end === undefined ? oldEnd : end];
  return {
    ...kept,
    ...others,
    ...(from == null ? {} : { start: from }),
    ...(until == null ? {} : { end: until }),
  };
}

/** What a stored schedule would be written as in code. */
function timingFrom(stored: ScheduleRecord): Timing {
  const { cron, timeZone, overlap, jitterMs, startsAt, endsAt } = stored;
  return {
    cron,
    timeZone,
    overlap,
    missed: missedOf(stored),
    jitter: jitterMs,
    ...(startsAt === null ? {} : { start: startsAt }),
    ...(endsAt === null ? {} : { end: endsAt }),
  };
}

async function runNow(
  { store, defaults }: SchedulesParts,
  name: string,
  options: { readonly idempotencyKey?: string } & ActedBy,
): ReturnType<Schedules["runNow"]> {
  insistOn("schedules.runNow", RUN_OPTIONS, options, "");
  const { idempotencyKey: key } = options;
  const keyed =
    key === undefined ? {} : { idempotency: { key, onConflict: "return-existing" } as const };
  await defaults.payloads?.refresh();
  // The id is drawn once: the store may ask for the job again after a lost answer.
  const id = defaults.newId();
  let made: NewJob | null = null;
  const make = ({ job }: ScheduleRecord): NewJob => {
    const own = { ...job, ...keyed, id, due: { delayMs: 0 } };
    made = acceptedSlotJob(own, defaults.payloads);
    return made;
  };
  const answer = await store.runSchedule(checkedName(name), make, toAct(options));
  if (answer.status === "unknown" || made === null) throw notFound(name);
  return enqueuedOf(answer, made);
}

/** A schedule as it was stored a moment ago. */
function madeFrom(spec: ScheduleSpec, { by }: Act, now: number): ScheduleRecord {
  return {
    ...spec,
    owner: "operator",
    nextSlot: firstSlot(spec, now),
    lastSlot: null,
    lastJob: null,
    pausedAt: null,
    pausedBy: null,
    pauseReason: null,
    declaredAt: null,
    createdBy: by,
    createdAt: now,
    updatedAt: now,
    revision: 1,
  };
}

async function recordOf(store: JobStore, name: string): Promise<ScheduleRecord> {
  const found = await store.schedule(checkedName(name));
  if (found === null) throw notFound(name);
  return found;
}

function checkedName(name: string): string {
  insistOn("schedules", aName, name, "name");
  return name;
}

/** A schedule has the actor as a name: who created it, who paused it. */
function namedActOf(verb: string, by: ActedBy | undefined): Act {
  const act = actOf(verb, by);
  if (act.by !== null) insistOn(verb, aName, act.by, "actor");
  return act;
}

function tenantOf({ tenant }: ScheduleFilter): { tenant?: string } {
  return tenant === undefined ? {} : { tenant };
}

function pageOf({ after, limit }: ScheduleFilter): { after?: string; limit: number } {
  const page = { limit: Math.min(limit ?? PAGE_DEFAULT, PAGE_MAX) };
  return after === undefined ? page : { ...page, after };
}

function scheduleView(record: ScheduleRecord, now: number): ScheduleView {
  const { owner, declaredAt, pausedAt, lastSlot, job } = record;
  const isDeclared = owner === "operator" || (declaredAt ?? 0) > now - DECLARED_MS;
  const isActive = isDeclared && pausedAt === null;
  const from = Math.max(now, lastSlot ?? 0);
  return {
    name: record.name,
    owner,
    description: cronSentence(record),
    cron: record.cron,
    timeZone: record.timeZone,
    missed: missedOf(record),
    overlap: record.overlap,
    jitterMs: record.jitterMs,
    start: dateOf(record.startsAt),
    end: dateOf(record.endsAt),
    type: job.type,
    tenant: job.tenant,
    lane: job.lane,
    nextRuns: isActive ? nextSlots(record, from, NEXT_RUNS).map((slot) => new Date(slot)) : [],
    lastTick: dateOf(lastSlot),
    lastJobId: record.lastJob,
    pausedAt: dateOf(pausedAt),
    pausedBy: record.pausedBy,
    pauseReason: record.pauseReason,
    isDeclared,
    createdBy: record.createdBy,
    createdAt: new Date(record.createdAt),
    updatedAt: new Date(record.updatedAt),
  };
}

function missedOf({ missedMax }: ScheduleRecord): ScheduleView["missed"] {
  return missedMax === 0 ? "skip" : missedMax === 1 ? "once" : { all: missedMax };
}

function tickView({ slot, since, outcome, job, at }: TickRecord): TickView {
  return {
    slot: new Date(slot),
    since: dateOf(since),
    outcome,
    jobId: job,
    at: new Date(at),
  };
}

function refusalOf(answer: Exclude<SaveAnswer, "saved">, name: string): MillraceError {
  const details = { name };
  if (answer === "unknown") return notFound(name);
  if (answer === "owned_by_code") {
    const message = `schedule "${name}" is declared in code, in the schedules of mill.work`;
    return new MillraceError("SCHEDULE_OWNED_BY_CODE", message, { details });
  }
  if (answer === "too_many" || answer === "too_many_of_tenant") return tooMany(answer, name);
  const message = `there is a schedule "${name}" already`;
  return new MillraceError("SCHEDULE_EXISTS", message, { details });
}

function tooMany(answer: "too_many" | "too_many_of_tenant", name: string): MillraceError {
  const [max, owner] =
    answer === "too_many" ? [SCHEDULES_MAX, "operators"] : [TENANT_SCHEDULES_MAX, "a tenant"];
  const limit = `${owner} can have at most ${max} schedules`;
  const message = `cannot create the schedule "${name}": ${limit}`;
  return new MillraceError("SCHEDULES_TOO_MANY", message, { details: { name, max } });
}

function notFound(name: string): MillraceError {
  const details = { name };
  return new MillraceError("SCHEDULE_NOT_FOUND", `there is no schedule "${name}"`, { details });
}
