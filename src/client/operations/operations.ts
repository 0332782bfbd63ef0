/** `mill.operations`: one action on many jobs or dead letters. */
import type { WaitOptions } from "../../api/client.ts";
import type {
  Operation,
  OperationItems,
  OperationItemPage,
  OperationPreview,
  OperationRequest,
  Operations,
} from "../../api/control/operations.ts";
import { aName, anObject, aWholeNumber, must, oneOf, type Rule } from "../../api/rules.ts";
import { within, type Clock } from "../../core/clock.ts";
import { CHUNK_DEFAULT, itemsPerSecond, RATE_DEFAULT } from "../../core/control/bulk.ts";
import { durationMs, formatDuration } from "../../core/duration.ts";
import { MillraceError } from "../../core/errors.ts";
import type { JobId } from "../../core/job.ts";
import { aText, insistOn } from "../../jobs/check-text.ts";
import { deadLetterView, idOf, jobView, listed } from "../../jobs/views.ts";
import type { JobStore } from "../../store/store.ts";
import {
  OPERATION_CHUNK_MAX,
  type OperationPlan,
  type OperationRecord,
} from "../../store/types/operations.ts";
import type { DeadLetterQuery } from "../../store/types/letters.ts";
import type { DeadLetterRecord } from "../../store/types/records.ts";
import type { LocalRuns } from "./local-runs.ts";
import { planOf, type Planned } from "./plan.ts";
import { operationView } from "./views.ts";

const COUNT_MAX = 10_000;
const SAMPLE = 10;
const PAGE_DEFAULT = 50;
const PAGE_MAX = 1_000;
/** How often the store is asked whether an operation of another process has ended. */
const POLL_MS = 500;
const REASON_LENGTH_MAX = 1_000;

interface OperationParts {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly newId: () => JobId;
  /** Null: all tenants. */
  readonly tenant: string | null;
  readonly runs: LocalRuns;
  readonly closing: AbortSignal;
}

export function makeOperations(parts: OperationParts): Operations {
  const { store, newId, tenant, runs } = parts;
  const find = (id: string): Promise<OperationRecord> => recordOf(store, id);
  return {
    preview: async (request) => preview(store, planOf("operations.preview", request), request),
    async start(request, options) {
      const planned = planOf("operations.start", request);
      insistOn("operations.start", AN_OPTION, options, "");
      const { actor, reason, chunk = CHUNK_DEFAULT } = options;
      const rate = itemsPerSecond(options.rate ?? RATE_DEFAULT) ?? RATE_DEFAULT;
      const { count: expected, isExact: isExpectedExact } = await countOf(store, planned.plan);
      const shared = { plan: planned.plan, tenant, actor, reason, rate, chunk };
      const expectation = { expected, isExpectedExact };
      const stored = await store.startOperation({ id: newId(), ...shared, ...expectation });
      runs.begin();
      return operationView(stored);
    },
    get: async (id) => operationView(await find(id)),
    async list(filter = {}) {
      insistOn("operations.list", A_FILTER, filter, "");
      const { status, after } = filter;
      const page = { limit: pageOf(filter.limit) };
      const from = after === undefined ? {} : { after: idOf(after, "operation") };
      const query = status === undefined ? {} : { status };
      return (await store.operations(query, { ...page, ...from })).map(operationView);
    },
    items: async (id, page = {}) => listItems(store, (await find(id)).id, page),
    async stop(id, by) {
      insistOn("operations.stop", AN_ACTOR, by, "");
      const stopped = await store.stopOperation(idOf(id, "operation"), by.actor);
      if (stopped === null) throw notFound(id);
      runs.wake();
      return operationView(stopped);
    },
    wait: (id, options = {}) => untilEnded(parts, id, options),
  };
}

const A_RATE: Rule = must(
  (value) => (typeof value === "string" || typeof value === "number") && isRate(value),
  'a number of items per second, or a text such as "500/s", "30/m" or "100/h"; at least 1/m',
);
const AN_OPTION: Rule = anObject(
  {
    required: { actor: aName, reason: aText(REASON_LENGTH_MAX) },
    optional: { rate: A_RATE, chunk: aWholeNumber({ min: 1, max: OPERATION_CHUNK_MAX }) },
  },
  'an object such as { actor: "ada", reason: "wrong list" }',
);
const AN_ACTOR: Rule = anObject(
  { required: { actor: aName }, optional: {} },
  'an object such as { actor: "ada" }',
);
const A_LIMIT: Rule = aWholeNumber({ min: 1 });
const A_FILTER: Rule = anObject(
  {
    required: {},
    optional: {
      status: oneOf("pending", "running", "completed", "stopped", "failed"),
      after: aText(100),
      limit: A_LIMIT,
    },
  },
  'an object such as { status: "running" }',
);
const AN_ITEM_PAGE: Rule = anObject(
  {
    required: {},
    optional: {
      outcome: oneOf("done", "skipped", "failed"),
      after: aWholeNumber({ min: 0 }),
      limit: A_LIMIT,
    },
  },
  'an object such as { outcome: "failed" }',
);

function isRate(rate: number | string): boolean {
  return itemsPerSecond(rate) !== null;
}

function pageOf(limit: number = PAGE_DEFAULT): number {
  return Math.min(limit, PAGE_MAX);
}

/** The items that the walk would find now. One more is counted than is told. */
async function countOf(
  store: JobStore,
  plan: OperationPlan,
): Promise<{ readonly count: number; readonly isExact: boolean }> {
  if ("ids" in plan) return { count: plan.ids.length, isExact: true };
  const max = COUNT_MAX + 1;
  const { count, isExact } =
    "jobs" in plan
      ? await store.count(plan.jobs, max)
      : { count: await countOpen(store, plan.deadLetters, max), isExact: true };
  return { count: Math.min(count, COUNT_MAX), isExact: isExact && count <= COUNT_MAX };
}

/** Only open dead letters are changed. */
async function countOpen(store: JobStore, query: DeadLetterQuery, max: number): Promise<number> {
  let count = 0;
  for (const status of ["pending_review", "acknowledged"] as const) {
    if (query.status !== undefined && query.status !== status) continue;
    count += await store.countLetters({ ...query, status }, max);
  }
  return Math.min(count, max);
}

async function preview(
  store: JobStore,
  { plan, jobs }: Planned,
  { action }: OperationRequest,
): Promise<OperationPreview> {
  const { count, isExact } = await countOf(store, plan);
  const found = { action, count, atLeast: !isExact };
  if ("ids" in plan) return { ...found, skipped: {}, jobs: [], deadLetters: [] };
  if ("jobs" in plan) {
    const matching = await store.count(jobs ?? plan.jobs, COUNT_MAX + 1);
    const { jobs: sample } = await store.list(plan.jobs, { limit: SAMPLE });
    const views = sample.map((job) => listed(jobView(job)));
    return {
      ...found,
      skipped: skippedBy("state", isExact && matching.isExact ? matching.count - count : 0),
      jobs: views,
      deadLetters: [],
    };
  }
  const matching = await store.countLetters(plan.deadLetters, COUNT_MAX + 1);
  const sample = await openLetters(store, plan.deadLetters);
  return {
    ...found,
    skipped: skippedBy("closed", matching - count),
    jobs: [],
    deadLetters: sample.map((letter) => listed(deadLetterView(letter))),
  };
}

/** Counts stop at a maximum: beyond that, the difference says nothing. */
function skippedBy(reason: string, count: number): Record<string, number> {
  return count > 0 ? { [reason]: Math.min(count, COUNT_MAX) } : {};
}

/** The newest open letters of a filter. */
async function openLetters(
  store: JobStore,
  query: DeadLetterQuery,
): Promise<readonly DeadLetterRecord[]> {
  const page = { limit: SAMPLE };
  const statuses = (["pending_review", "acknowledged"] as const).filter(
    (status) => query.status === undefined || query.status === status,
  );
  const found: DeadLetterRecord[] = [];
  for (const status of statuses)
    found.push(...(await store.deadLetters({ ...query, status }, page)));
  return found.toSorted((one, other) => other.diedAt - one.diedAt).slice(0, SAMPLE);
}

async function listItems(
  store: JobStore,
  id: JobId,
  page: OperationItemPage,
): Promise<OperationItems> {
  insistOn("operations.items", AN_ITEM_PAGE, page, "");
  const { outcome, after = 0 } = page;
  const limit = pageOf(page.limit);
  const wanted = outcome === undefined ? {} : { outcome };
  const found = await store.operationItems(id, { after, limit, ...wanted });
  const items = found.map(({ n, id: jobId, outcome: word, code, successor }) => {
    return { n, jobId, outcome: word, code, successorId: successor };
  });
  return { items, next: items.length < limit ? null : (items.at(-1)?.n ?? null) };
}

async function recordOf(store: JobStore, id: string): Promise<OperationRecord> {
  const found = await store.operation(idOf(id, "operation"));
  if (found === null) throw notFound(id);
  return found;
}

function notFound(id: string): MillraceError {
  return new MillraceError("OPERATION_NOT_FOUND", `there is no operation ${id}`, {
    details: { id },
  });
}

async function untilEnded(
  { store, clock, runs, closing }: OperationParts,
  id: string,
  { signal, timeout }: WaitOptions,
): Promise<Operation> {
  const limitMs = timeout === undefined ? Infinity : durationMs(timeout, "timeout");
  const until = clock.monotonic() + limitMs;
  for (;;) {
    signal?.throwIfAborted();
    const { stepped } = runs;
    const found = await recordOf(store, id);
    if (found.finishedAt !== null) return operationView(found);
    const leftMs = until - clock.monotonic();
    const { status } = found;
    if (leftMs <= 0) {
      const message = `operation ${id} is still ${status} after ${formatDuration(limitMs)}`;
      throw new MillraceError("WAIT_TIMED_OUT", message, { details: { id, status } });
    }
    if (closing.aborted) {
      const message = `the mill was closed while operation ${id} is ${status}; it continues`;
      throw new MillraceError("STORE_CLOSED", message, { details: { id, status } });
    }
    const given = [signal, closing].filter((each) => each !== undefined);
    const ends = Promise.race([stepped, ...given.map(aborted)]);
    await within(clock, Math.min(POLL_MS, leftMs), ends);
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
