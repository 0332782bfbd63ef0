/** The bounded reads behind `mill.attention`, one for each kind of fact. */
import {
  ERROR_RATE_MS,
  type FactName,
  type Facts,
  type RunsFact,
} from "../../core/attention/facts.ts";
import { isCrashGate } from "../../core/crashes.ts";
import { withCause } from "../../core/failures/fingerprint.ts";
import { groupStatus } from "../../core/failures/group-status.ts";
import { listedFault } from "../../core/fault.ts";
import { isAlive } from "../../jobs/views.ts";
import type { JobStore } from "../../store/store.ts";
import type { MinuteFigures } from "../../store/types/minutes.ts";
import { OPERATIONS_OPEN_MAX, OPERATIONS_RUNNING_MAX } from "../../store/types/operations.ts";
import type { BreakerRecord } from "../../store/types/services.ts";
import { readSchedules } from "./read-schedules.ts";

/** The jobs that are read in each place, the groups of type, lane and tenant, and dead letters. */
const JOBS_MAX = 20_000;
const GROUPS_MAX = 10_000;
const LETTERS_MAX = 10_000;
/** The breakers whose waiting jobs are counted, and the jobs that each count reads. */
const BREAKERS_MAX = 20;
const BEHIND_MAX = 10_000;
/** The causes that failed last. */
const CAUSES_MAX = 20;
const WORKERS_MAX = 1_000;
const FAILED_OPERATIONS_MAX = 20;
const MINUTE_MS = 60_000;

export interface ReadContext {
  readonly store: JobStore;
  readonly now: number;
  /** Null: all tenants. */
  readonly tenant: string | null;
}

export interface ReadFact<Name extends FactName = FactName> {
  readonly facts: Facts[Name];
  /** There are more than were read. */
  readonly isPartial: boolean;
}

export const READS: {
  readonly [Name in FactName]: (context: ReadContext) => Promise<ReadFact<Name>>;
} = {
  breakers: readBreakers,
  causes: readCauses,
  groups: readGroups,
  workers: readWorkers,
  runs: readRuns,
  schedules: readSchedules,
  pauses: readPauses,
  intakes: readIntakes,
  letters: readLetters,
  operations: readOperations,
};

async function readBreakers({ store }: ReadContext): Promise<ReadFact<"breakers">> {
  const open = (await store.breakers()).filter(({ state }) => state !== "closed");
  const facts: Facts["breakers"][number][] = [];
  for (const breaker of open.slice(0, BREAKERS_MAX)) {
    const { service, state, failures, types, reason, by } = breaker;
    const waiting = await waitingFor(store, breaker);
    const times = { openedAt: breaker.openedAtMs, probeAt: breaker.probeAtMs };
    facts.push({ service, state, failures, types, waiting, ...times, reason, by });
  }
  return { facts, isPartial: open.length > BREAKERS_MAX };
}

async function waitingFor(
  store: JobStore,
  { service }: BreakerRecord,
): Promise<Facts["breakers"][number]["waiting"]> {
  const found = await store.countBehind({ kind: "service", name: service }, BEHIND_MAX);
  return {
    count: found.jobs + found.shared,
    atLeast: !found.isExact || !found.isSharedExact,
  };
}

async function readCauses({ store, now }: ReadContext): Promise<ReadFact<"causes">> {
  const groups = await store.failureGroups({}, CAUSES_MAX + 1);
  const facts = groups.slice(0, CAUSES_MAX).map((group) => ({
    cause: group.cause,
    status: groupStatus(group.decision, group, now),
    jobs: { count: group.count, atLeast: !group.isExact },
    types: group.types,
    firstAt: group.firstAt,
    lastAt: group.lastAt,
    jobId: group.sample.id,
    error: listedFault(withCause({ ...group.sample.fault, cause: group.cause })),
  }));
  return { facts, isPartial: groups.length > CAUSES_MAX };
}

async function readGroups({ store }: ReadContext): Promise<ReadFact<"groups">> {
  const stats = await store.groupedStats({ rows: JOBS_MAX, groups: GROUPS_MAX });
  const isPartial = stats.hasMore || stats.cutShort.includes("queued");
  const facts = stats.groups
    .filter(({ queued }) => queued > 0)
    .map(({ type, lane, tenant, queued, oldestQueuedMs: oldestMs }) => {
      return { type, lane, tenant, waiting: { count: queued, atLeast: isPartial }, oldestMs };
    });
  return { facts, isPartial };
}

async function readWorkers({ store }: ReadContext): Promise<ReadFact<"workers">> {
  const workers = await store.workers(WORKERS_MAX);
  const registered = workers.filter(({ takenBy }) => takenBy === null);
  const facts = registered.map((worker) => ({
    id: worker.id,
    host: worker.host,
    pid: worker.pid,
    types: worker.types,
    lanes: worker.lanes,
    tenant: worker.tenant,
    isAlive: isAlive(worker),
    isQuiet: worker.quiet,
    heartbeatAgoMs: Math.max(0, worker.beatAgoMs),
    running: worker.running + worker.prefetched,
  }));
  return { facts, isPartial: workers.length === WORKERS_MAX };
}

async function readRuns({ store, now }: ReadContext): Promise<ReadFact<"runs">> {
  const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  const stretch = { from: minute - ERROR_RATE_MS, to: minute + MINUTE_MS };
  const { figures, isCutShort } = await store.minutes({ ...stretch, stepMs: null });
  const byType = Map.groupBy(figures, ({ type }) => type);
  const facts = [...byType].map(([type, ofType]) => ({ type, ...verdictsOf(ofType) }));
  return { facts, isPartial: isCutShort };
}

/** Runs that were cancelled, interrupted or snoozed have no verdict. */
function verdictsOf(figures: readonly MinuteFigures[]): Omit<RunsFact, "type"> {
  let [runs, errors] = [0, 0];
  for (const { outcome, count } of figures) {
    const isError = outcome === "failed" || outcome === "timed_out" || outcome === "crashed";
    if (isError) errors += count;
    if (isError || outcome === "succeeded") runs += count;
  }
  return { runs, errors };
}

/** A tenant is told of its own pause alone, and of its own intake. */
async function readPauses({ store, tenant }: ReadContext): Promise<ReadFact<"pauses">> {
  const gates = (await store.gates()).filter(({ kind }) => tenant === null || kind === "tenant");
  const facts = gates.map(({ kind, name, reason, by, closedAt }) => {
    return {
      kind,
      name,
      reason,
      by,
      closedAt,
      isOfEngine: isCrashGate(kind, by),
    };
  });
  return { facts, isPartial: false };
}

async function readIntakes({ store, tenant }: ReadContext): Promise<ReadFact<"intakes">> {
  const intakes = await store.intakes();
  const facts = intakes.filter(({ kind }) => tenant === null || kind === "tenant");
  return { facts, isPartial: false };
}

async function readLetters({ store }: ReadContext): Promise<ReadFact<"letters">> {
  const limits = { rows: LETTERS_MAX + 1, groups: GROUPS_MAX };
  const { groups, hasMore } = await store.letterGroups(limits);
  const count = groups.reduce((total, { letters }) => total + letters, 0);
  const facts = groups
    .filter(({ status }) => status === "pending_review")
    .map(({ type, letters, lastDay, oldestAt }) => ({ type, old: letters - lastDay, oldestAt }));
  return { facts, isPartial: hasMore || count > LETTERS_MAX };
}

/** Operations of other tenants may be the next ones: a tenant does not know. */
async function readOperations({ store, tenant }: ReadContext): Promise<ReadFact<"operations">> {
  const read = (status: "failed" | "pending" | "running", limit: number) =>
    store.operations({ status }, { limit });
  const failed = await read("failed", FAILED_OPERATIONS_MAX);
  const pending = await read("pending", OPERATIONS_OPEN_MAX);
  const running = await read("running", OPERATIONS_RUNNING_MAX);
  const free = tenant === null ? OPERATIONS_RUNNING_MAX - running.length : 0;
  // The newest is first, and the oldest begins next.
  const next = new Set(pending.slice(pending.length - Math.min(free, pending.length)));
  const facts = [...failed, ...pending].map((operation) => {
    const { id, status, createdAt, finishedAt, error, plan } = operation;
    const isNext = next.has(operation);
    return { id, status, action: plan.action, createdAt, finishedAt, error, isNext };
  });
  return { facts, isPartial: failed.length === FAILED_OPERATIONS_MAX };
}
