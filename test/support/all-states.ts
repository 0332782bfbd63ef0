/** An installation with jobs in every state and something in every table, made by the verbs. */
import type { JobId, JsonText } from "../../src/core/job.ts";
import type { Settlement } from "../../src/core/outcome.ts";
import { BATCH_MAX, type JobStore } from "../../src/store/store.ts";
import type { NewJob } from "../../src/store/types/jobs-and-runs.ts";
import {
  declaration,
  workerId,
  completed,
  completedWithErrors,
  fault,
  failedWith,
  newJob,
  newJobs,
  newSchedule,
  newToken,
  retention,
  retryIn,
} from "./factories.ts";
import { broken, done, halfway, running, runNote } from "./notes.ts";
import { add, joinWorker, settleItem, type Batch } from "./steps.ts";

/** A lane for each fate, and how many of a hundred jobs have it. */
const SHARES = {
  done: 40,
  failing: 10,
  partial: 4,
  retrying: 6,
  cancelling: 4,
  running: 2,
  buffered: 2,
  waiting: 16,
  later: 12,
  paused: 4,
} as const;

type Fate = keyof typeof SHARES;
const FATES = Object.entries(SHARES).flatMap(([fate, share]) => Array<string>(share).fill(fate));
const ENQUEUE_MAX = 2_000;

export interface Installation {
  readonly ids: Readonly<Record<Fate, readonly JobId[]>>;
  /** A job with an idempotency key, as it was enqueued. */
  readonly keyed: NewJob;
  /** The claims that are still open: begun runs, and a prefetch. */
  readonly open: readonly Batch[];
  /** Of a final job, and its living repeat. */
  readonly repeat: { readonly of: JobId; readonly id: JobId };
  readonly flows: Flows;
}

/** Jobs that wait for a key or for others. */
export interface Flows {
  /** Runs under a key, and has a name besides. */
  readonly holder: JobId;
  /** Wait for that key, moved out of the way. */
  readonly behind: readonly JobId[];
  /** Waits for the holder and for a job that is due later. A child of the holder gave way to it. */
  readonly patient: JobId;
  /** Waits for a run that was asked to stop. */
  readonly doomed: JobId;
}

/** Fills an empty store with about so many jobs; a hundred at least. */
export async function fillStates(store: JobStore, jobs: number): Promise<Installation> {
  const ids: Record<Fate, JobId[]> = {
    done: [],
    failing: [],
    partial: [],
    retrying: [],
    cancelling: [],
    running: [],
    buffered: [],
    waiting: [],
    later: [],
    paused: [],
  };
  let keyed: NewJob | null = null;
  for (let first = 0; first < jobs; first += ENQUEUE_MAX) {
    const count = Math.min(ENQUEUE_MAX, jobs - first);
    const batch = Array.from({ length: count }, (_, index) => jobNumber(first + index));
    for (const job of batch) idsOf(ids, job.lane).push(job.id);
    keyed ??=
      batch.find(({ idempotency, lane }) => idempotency !== null && lane === "done") ?? null;
    await store.enqueue(batch);
  }
  await endAll(store, "done", completed('{"sum":12.50}'));
  await endAll(store, "partial", completedWithErrors(2));
  await endAll(store, "failing", failedWith(fault({ message: "the card “4711” was declined" })));
  await endAll(store, "retrying", retryIn(3_600_000));
  const repeat = await review(store, ids.failing);
  for (const id of ids.cancelling) await store.cancel(id, "ada", "no longer wanted");
  await store.pause({ kind: "lane", name: "paused" }, { reason: "stocktaking", by: "ada" });
  await store.declareTypes(workerId(), [declaration({ services: ["bank"] })]);
  await breakServices(store);
  while ((await store.hold(BATCH_MAX)) > 0);
  const open = [
    ...(await takeAll(store, "running", false)),
    ...(await takeAll(store, "buffered", true)),
  ];
  const [asked] = ids.running;
  if (asked !== undefined) await store.cancel(asked, "bob", null);
  if (keyed === null) throw new Error("too few jobs");
  await markStale(store);
  await addTokens(store, keyed.id);
  await addSchedules(store);
  return { ids, keyed, open, repeat, flows: await addFlows(store, ids, open) };
}

/** A schedule of each owner, one paused and one with a tick of a missed slot. */
async function addSchedules(store: JobStore): Promise<void> {
  const night = newSchedule({ name: "größe „x“", overlap: "replace", jitterMs: 5, startsAt: 1 });
  const paused = newSchedule({ name: "paused", timeZone: "Europe/Berlin", endsAt: 8e12 });
  await store.declareSchedules([night], () => 1_000);
  await store.saveSchedule(paused, { revision: null, by: "bob" }, () => 8e12);
  await store.pauseSchedule("paused", { reason: "a bug", by: "ada" });
  await store.tickSchedule(night.name, () => ({
    ticks: [],
    missed: { first: 1_000, last: 2_000 },
    nextSlot: 8e12,
  }));
}

/** Tokens of every kind, one of them used and one revoked with its session. */
async function addTokens(store: JobStore, id: JobId): Promise<void> {
  const [person, revoked] = [
    newToken({ roles: ["viewer", "admin"] }),
    newToken({ tenant: "acme" }),
  ];
  const tokens = [
    person,
    revoked,
    newToken({ kind: "producer", types: ["email", "größe „x“"] }),
    newToken({ kind: "worker", types: [] }),
    newToken({ kind: "stream", jobId: id, parentId: person.id }),
    newToken({ kind: "session", roles: ["operator"], parentId: revoked.id }),
  ];
  for (const token of tokens) await store.createToken(token);
  await store.markTokensUsed([person.id]);
  await store.revokeToken(revoked.id);
}

function idsOf(ids: Record<Fate, JobId[]>, lane: string): JobId[] {
  const fate = Object.entries(ids).find(([name]) => name === lane);
  if (fate === undefined) throw new Error(`no fate ${lane}`);
  return fate[1];
}

/** The fates are mixed: neighbours have different ones. */
function jobNumber(number: number): NewJob {
  const lane = FATES[(number * 37) % FATES.length] ?? "done";
  const job = newJob({
    lane,
    type: ["email", "report", "sync"][number % 3] ?? "email",
    tenant: number % 7 === 0 ? "acme" : "default",
    category: number % 5 === 0 ? "billing" : null,
    priority: 100 + (number % 3),
    payload: payloadOf(number),
    payloadVersion: number % 2 === 0 ? "2" : null,
    correlationId: number % 4 === 0 ? `order-${number >> 4}` : null,
    tags: number % 10 === 0 ? { customer: `c${number % 97}`, größe: "groß" } : {},
    createdBy: number % 6 === 0 ? "ada" : null,
    timeoutMs: number % 9 === 0 ? 30_000 : null,
    concurrencyKey: lane === "running" && number % 2 === 0 ? `docs/${number}` : null,
    due: lane === "later" ? { delayMs: 3_600_000 + number } : { delayMs: 0 },
    onOrphan: number % 8 === 0 ? "fail" : "retry",
  });
  const idempotency = { key: `payment-${number}`, onConflict: "return-existing" } as const;
  const dedup = { key: `nightly-${number}`, onConflict: "skip" } as const;
  return {
    ...job,
    idempotency: number % 11 === 0 ? idempotency : null,
    dedup: number % 13 === 0 ? dedup : null,
  };
}

/** Spaces, escapes and the order of keys are part of a payload. */
function payloadOf(number: number): JsonText | null {
  if (number % 17 === 0) return null;
  const text = String.raw`"tab\tand \u0000 and \ud83d\ude00 and 😀"`;
  return `{"z": ${number}.0, "a":${text},  "n":[1e3,null]}`;
}

/** Ends everything in a lane. */
async function endAll(store: JobStore, lane: Fate, settlement: Settlement): Promise<void> {
  const worker = await joinWorker(store, { lanes: [lane] });
  for (;;) {
    const claim = await store.claim({ worker, lanes: [lane], limit: BATCH_MAX, prefetch: false });
    if (claim.lease === null) break;
    const batch = { worker, lease: claim.lease, jobs: claim.jobs };
    if (lane === "failing") await tellAll(store, batch);
    await store.settle(batch.jobs.map((job) => settleItem(batch, job, settlement)));
  }
  await store.deregister(worker);
}

/** What runs leave that have come half of the way. */
async function tellAll(store: JobStore, batch: Batch): Promise<void> {
  await store.record(
    batch.jobs.map((job, index) =>
      runNote(batch, job, {
        progress: halfway({ percent: 100 / 3, data: payloadOf(index) }),
        units: [done("größe\t“1”", payloadOf(index)), broken("B"), running("a"), running("z", "")],
        completed: { name: "fetch", result: payloadOf(index) },
        logs: [
          {
            turn: 1,
            at: 1_700_000_000_000 + index,
            level: "warn",
            message: "größer\nals 😀",
            fields: null,
          },
          { turn: 2, at: 1_700_000_000_123, level: "error", message: "", fields: payloadOf(index) },
        ],
      }),
    ),
  );
}

/** Reviews some letters in every way. The last answer is about a living repeat. */
async function review(store: JobStore, failed: readonly JobId[]): Promise<Installation["repeat"]> {
  const [acknowledged, discarded, reprocessed] = failed;
  if (acknowledged === undefined || discarded === undefined || reprocessed === undefined) {
    throw new Error("too few jobs");
  }
  await store.review(acknowledged, { status: "acknowledged", by: "eve", notes: "looked at it" });
  await store.review(discarded, { status: "discarded", by: "eve", notes: null });
  const successor = newJob({ lane: "waiting", retryOf: reprocessed });
  await store.reprocess(reprocessed, successor, "eve", "the card works again");
  return { of: reprocessed, id: successor.id };
}

async function takeAll(store: JobStore, lane: Fate, prefetch: boolean): Promise<Batch[]> {
  const batches: Batch[] = [];
  const worker = await joinWorker(store, { lanes: [lane], leaseMs: 600_000 });
  for (;;) {
    const claim = await store.claim({
      worker,
      lanes: [lane],
      limit: BATCH_MAX,
      prefetch: prefetch,
    });
    if (claim.lease === null) return batches;
    const batch = { worker, lease: claim.lease, jobs: claim.jobs };
    if (!prefetch) await tellAll(store, batch);
    batches.push(batch);
  }
}

async function markStale(store: JobStore): Promise<void> {
  const { finishedMs } = retention();
  const periods = { finishedMs: { ...finishedMs, completed: -1, failed: -1 } };
  const { jobs } = await store.expired(periods, { fresh: true, limit: 20, from: null });
  await store.markStale(jobs.map(({ key }) => key));
}

async function addFlows(
  store: JobStore,
  ids: Installation["ids"],
  open: readonly Batch[],
): Promise<Flows> {
  const batch = open.find(({ jobs }) => jobs.some(({ concurrencyKey }) => concurrencyKey !== null));
  const holder = batch?.jobs.find(({ concurrencyKey }) => concurrencyKey !== null);
  const [asked] = ids.running;
  const [later] = ids.later;
  if (batch === undefined || holder === undefined || asked === undefined || later === undefined) {
    throw new Error("too few jobs");
  }
  await store.acquireLocks(runNote(batch, holder, {}), ["page/größe"]);
  const { tenant, concurrencyKey } = holder;
  const behind = await add(store, ...newJobs(3, { lane: "behind", tenant, concurrencyKey }));
  while ((await store.hold(BATCH_MAX)) > 0);
  const dedup = { key: "one at a time", onConflict: "skip" } as const;
  const [patient, doomed] = await add(
    store,
    { lane: "patient", after: [holder.id, later], onFailed: "run", dedup },
    { lane: "doomed", after: [asked] },
  );
  const children = [newJob({ parentId: holder.id, dedup })];
  await store.record([runNote(batch, holder, { units: [done("child")], children })]);
  return { holder: holder.id, behind, patient, doomed };
}

/** An open breaker with its history, and services that have asked for a pause. */
async function breakServices(store: JobStore): Promise<void> {
  const limits = { failuresMax: 1, openMs: 60_000 };
  const call = { outcome: "failed", run: { key: 1, n: 1 }, reason: "hung up", limits } as const;
  const park = { forMs: 3_600_000, tenant: null };
  await store.reportCalls([
    { ...call, service: "fax", tenant: "default" },
    { ...call, service: "post", tenant: "default", park },
    { ...call, service: "phone", tenant: "acme", park: { ...park, tenant: "acme" } },
  ]);
}
