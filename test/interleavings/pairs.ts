/** Pairs of verbs that may meet, what they find at the beginning, and what must come of it. */
import { isFinal, type JobId } from "../../src/core/job.ts";
import type { Settlement } from "../../src/core/outcome.ts";
import type { JobStore, SettleItem, WorkerId } from "../../src/store/store.ts";
import {
  completed,
  crashedOnce,
  failedWith,
  newJob,
  retention,
  retryIn,
  workerInfo,
} from "../support/factories.ts";
import { add, claimRequest, joinWorker, settleAll, takeOne, type Batch } from "../support/steps.ts";
import type { PostgresTestStore } from "../support/stores.ts";

/** One job, whoever has it, and somebody who wants it. */
export interface Scene {
  readonly id: JobId;
  readonly batch: Batch | null;
  readonly other: WorkerId;
}

interface Outcome extends Scene {
  readonly db: PostgresTestStore;
  readonly left: unknown;
  readonly right: unknown;
}

export interface Pair {
  readonly name: string;
  prepare(db: PostgresTestStore): Promise<Scene>;
  left(store: JobStore, scene: Scene): Promise<unknown>;
  right(store: JobStore, scene: Scene): Promise<unknown>;
  /** What is wrong with the answers. */
  judge(outcome: Outcome): Promise<readonly string[]>;
}

type Verb = (store: JobStore, scene: Scene) => Promise<unknown>;

const LEASE_MS = 30_000;
const GATE = { kind: "type", name: "email" } as const;
const EMPTY = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };

export const PAIRS: readonly Pair[] = [
  pair("claim / claim", waiting, claim, claim, ({ left, right, id }) =>
    exactlyOne("took the job", takes(left, id), takes(right, id)),
  ),
  pair("claim / rescue", silent, claim, rescue, ({ left, right, id }) =>
    exactlyOne("rescued the job", countOf(right) === 1, !takes(left, id) && countOf(right) !== 1),
  ),
  pair("settle done / rescue", silent, settle(completed()), rescue, settledOrRescued),
  pair("settle retry / rescue", silent, settle(retryIn(10)), rescue, settledOrRescued),
  pair("cancel / settle done", running, cancel, settle(completed()), keepsPromise),
  pair("cancel / settle retry", running, cancel, settle(retryIn(10)), keepsPromise),
  pair("cancel / rescue", silent, cancel, rescue, keepsPromise),
  pair("keyed enqueue / keyed enqueue", waiting, enqueueKeyed, enqueueKeyed, oneMade),
  pair("idempotent enqueue / the same", waiting, enqueueOnce, enqueueOnce, oneMade),
  pair("pause / claim", waiting, pause, claim, ({ left, right, id }) =>
    complainIf(left !== undefined || !(takes(right, id) || takesNothing(right)), "odd answers"),
  ),
  pair("retry / settle the successor", repeated, retry, settle(completed()), ({ right }) =>
    complainIf(!isSettled(right), "the successor was not settled"),
  ),
  pair("retry / retry", failed, retry, retry, oneMade),
  pair("start / cancel", buffered, start, cancel, startOrCancel),
  pair("prune / retry", failed, prune, retry, ({ right }) =>
    complainIf(!isMade(right), "the repeat was not made"),
  ),
  pair("settle / settle of one lease", running, settle(completed()), settle(retryIn(10)), once),
  pair("settle done / the same again", running, settle(completed()), settle(completed()), once),
  pair("handBack / start", buffered, handBack, start, ({ left, right }) =>
    exactlyOne("moved the job", left === 1, begins(right)),
  ),
  pair("intervene / settle", running, intervene, settle(completed()), ({ left, right }) =>
    exactlyOne("ended the run", isDone(left), isSettled(right)),
  ),
  pair("renew / rescue", silent, renew, rescue, ({ left, right }) =>
    exactlyOne("had the worker", statusOf(left) === "renewed", countOf(right) === 1),
  ),
];

function pair(
  name: string,
  prepare: Pair["prepare"],
  left: Verb,
  right: Verb,
  judge: (outcome: Outcome) => readonly string[] | Promise<readonly string[]>,
): Pair {
  return { name, prepare, left, right, judge: async (outcome) => judge(outcome) };
}

// ── Beginnings ───────────────────────────────────────────────────────────────────────────────────

async function waiting({ store }: PostgresTestStore): Promise<Scene> {
  const other = await joinWorker(store, { leaseMs: 10 * LEASE_MS });
  const [id] = await add(store, {});
  return { id, batch: null, other };
}

async function running(db: PostgresTestStore): Promise<Scene> {
  const scene = await waiting(db);
  return { ...scene, batch: await takeOne(db.store) };
}

async function buffered(db: PostgresTestStore): Promise<Scene> {
  const scene = await waiting(db);
  return { ...scene, batch: await takeOne(db.store, { buffer: true }) };
}

async function silent(db: PostgresTestStore): Promise<Scene> {
  const scene = await running(db);
  await db.clock.advance(LEASE_MS + 1_000);
  return scene;
}

async function failed(db: PostgresTestStore): Promise<Scene> {
  const scene = await running(db);
  if (scene.batch !== null) await settleAll(db.store, scene.batch, failedWith());
  await db.clock.advance(1_000);
  return { ...scene, batch: null };
}

/** A failed job whose successor runs. */
async function repeated(db: PostgresTestStore): Promise<Scene> {
  const { id, other } = await failed(db);
  await add(db.store, { retryOf: id });
  return { id, other, batch: await takeOne(db.store) };
}

// ── Verbs ────────────────────────────────────────────────────────────────────────────────────────

function claim(store: JobStore, { other }: Scene): Promise<unknown> {
  return store.claim(claimRequest(other));
}

async function rescue(store: JobStore, { batch }: Scene): Promise<unknown> {
  const worker = batch?.worker ?? "";
  return store.rescue({ worker, beats: 0, limit: 100, decide: crashedOnce });
}

function settle(settlement: Settlement): Verb {
  return (store, { batch }) => store.settle(itemsOf(batch, settlement));
}

function itemsOf(batch: Batch | null, settlement: Settlement): SettleItem[] {
  if (batch === null) return [];
  const { lease } = batch;
  return batch.jobs.map(({ key, n }) => ({ lease, key, n, settlement }));
}

function cancel(store: JobStore, { id }: Scene): Promise<unknown> {
  return store.cancel(id, "ada", "not wanted");
}

function enqueueKeyed(store: JobStore): Promise<unknown> {
  return store.enqueue([newJob({ dedup: { key: "nightly", onConflict: "skip" } })]);
}

function enqueueOnce(store: JobStore): Promise<unknown> {
  return store.enqueue([
    newJob({ idempotency: { key: "payment", onConflict: "return-existing" } }),
  ]);
}

function retry(store: JobStore, { id }: Scene): Promise<unknown> {
  return store.enqueue([newJob({ retryOf: id })]);
}

function pause(store: JobStore): Promise<unknown> {
  return store.pause(GATE, { reason: "stocktaking", by: null });
}

async function start(store: JobStore, { batch }: Scene): Promise<unknown> {
  return batch === null ? null : store.start(batch.lease, keysOf(batch));
}

async function handBack(store: JobStore, { batch }: Scene): Promise<unknown> {
  return batch === null ? null : store.handBack(batch.lease, keysOf(batch));
}

function keysOf({ jobs }: Batch): readonly number[] {
  return jobs.map(({ key }) => key);
}

function prune(store: JobStore): Promise<unknown> {
  return store.prune(retention({ finishedMs: EMPTY }), 100);
}

function intervene(store: JobStore, { id }: Scene): Promise<unknown> {
  return store.intervene(id, () => failedWith());
}

function renew(store: JobStore, { batch }: Scene): Promise<unknown> {
  return store.renew(batch?.worker ?? workerInfo().id, LEASE_MS);
}

// ── Judgements ───────────────────────────────────────────────────────────────────────────────────

function complainIf(isWrong: boolean, complaint: string): readonly string[] {
  return isWrong ? [complaint] : [];
}

function exactlyOne(what: string, left: boolean, right: boolean): readonly string[] {
  if (left !== right) return [];
  return [left ? `both ${what}` : `neither ${what}`];
}

function settledOrRescued({ left, right }: Outcome): readonly string[] {
  return exactlyOne("ended the run", isSettled(left), countOf(right) === 1);
}

function once({ left, right }: Outcome): readonly string[] {
  return exactlyOne("was accepted", isSettled(left), isSettled(right));
}

function oneMade({ left, right }: Outcome): readonly string[] {
  return exactlyOne("made a job", isMade(left), isMade(right));
}

/** Whatever a cancellation has met: the job is over, or its worker is asked to stop it. */
async function keepsPromise({ db, id, left }: Outcome): Promise<readonly string[]> {
  const job = await db.store.get(id);
  if (job === null) return ["the job is gone"];
  const isKept = isFinal(job.state) || (job.state === "running" && job.cancelRequested);
  return complainIf(
    !isKept,
    `cancel answered ${String(statusOf(left))}, and the job is ${job.state}`,
  );
}

async function startOrCancel(outcome: Outcome): Promise<readonly string[]> {
  const job = await outcome.db.store.get(outcome.id);
  const isRunning = job?.state === "running" && job.startedAt !== null;
  return [
    ...(await keepsPromise({ ...outcome, left: outcome.right })),
    ...complainIf(begins(outcome.left) !== isRunning, "it was told to begin, or was not"),
  ];
}

// ── Answers ──────────────────────────────────────────────────────────────────────────────────────

function field(answer: unknown, name: string): unknown {
  if (typeof answer !== "object" || answer === null) return undefined;
  const value: unknown = Reflect.get(answer, name);
  return value;
}

function listIn(answer: unknown, name: string): readonly unknown[] {
  const found = field(answer, name);
  return Array.isArray(found) ? found : [];
}

function statusOf(answer: unknown): unknown {
  return field(answer, "status");
}

function takes(answer: unknown, id: JobId): boolean {
  return listIn(answer, "jobs").some((job) => field(job, "id") === id);
}

function takesNothing(answer: unknown): boolean {
  return field(answer, "lease") === null;
}

/** How many runs a rescue has ended. */
function countOf(answer: unknown): number {
  return listIn(answer, "settled").length;
}

function isSettled(answer: unknown): boolean {
  return Array.isArray(answer) && answer[0] === "settled";
}

function isMade(answer: unknown): boolean {
  return Array.isArray(answer) && statusOf(answer[0]) === "created";
}

function begins(answer: unknown): boolean {
  return listIn(answer, "begun").length === 1;
}

function isDone(answer: unknown): boolean {
  return statusOf(answer) === "done";
}
