/** Steps that many tests share, told in the words of the port. Each stops the test if it fails. */
import assert from "node:assert/strict";
import type { JobId, State } from "../../src/core/job.ts";
import type { Settlement } from "../../src/core/outcome.ts";
import type {
  Claim,
  ClaimedJob,
  ClaimRequest,
  EnqueueAnswer,
  Lease,
  LoneClaim,
  LoneClaimRequest,
  NewJob,
  RescueAnswer,
  RescueRequest,
  SettleItem,
  WorkerId,
  WorkerInfo,
} from "../../src/store/types/jobs-and-runs.ts";
import type { EventKind, JobRecord } from "../../src/store/types/records.ts";
import type { JobStore } from "../../src/store/store.ts";
import { crashedTimes, failedWith, newJob, runAgain, workerInfo } from "./factories.ts";

/** A claim that took something. */
export interface Batch {
  readonly worker: WorkerId;
  readonly lease: Lease;
  readonly jobs: readonly ClaimedJob[];
}

/** Enqueues jobs that must all be new, in one call. Answers their ids in the order given. */
export async function add<const Jobs extends readonly Partial<NewJob>[]>(
  store: JobStore,
  ...jobs: Jobs
): Promise<{ readonly [Index in keyof Jobs]: JobId }> {
  const answers = await store.enqueue(jobs.map((overrides) => newJob(overrides)));
  const ids = answers.map((answer) => {
    assert.equal(answer.status, "created");
    return answer.id;
  });
  // One answer per job: the list has the shape of the arguments, which `map` cannot say.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return ids as { readonly [Index in keyof Jobs]: JobId };
}

/** Enqueues one job and answers what the store said of it. */
export async function ask(
  store: JobStore,
  overrides: Partial<NewJob> = {},
): Promise<EnqueueAnswer> {
  return at(await store.enqueue([newJob(overrides)]), 0);
}

export async function joinWorker(
  store: JobStore,
  overrides: Partial<WorkerInfo> = {},
): Promise<WorkerId> {
  const worker = workerInfo(overrides);
  await store.register(worker);
  return worker.id;
}

/** Claims for a known worker, or for a new one. Something must be there to take. */
export async function take(store: JobStore, overrides: Partial<ClaimRequest> = {}): Promise<Batch> {
  const worker = overrides.worker ?? (await joinWorker(store));
  const claim = await store.claim(claimRequest(worker, overrides));
  assert.ok(claim.lease, "nothing was claimed");
  return { worker, lease: claim.lease, jobs: claim.jobs };
}

/** Claims the first job in order, and only that. */
export async function takeOne(
  store: JobStore,
  overrides: Partial<ClaimRequest> = {},
): Promise<Batch & { readonly job: ClaimedJob }> {
  const batch = await take(store, { ...overrides, limit: 1 });
  return { ...batch, job: at(batch.jobs, 0) };
}

/** The ids a fresh worker is given, in order; none when nothing can be claimed. */
export async function claimable(
  store: JobStore,
  overrides: Partial<ClaimRequest> = {},
): Promise<readonly JobId[]> {
  const worker = overrides.worker ?? (await joinWorker(store));
  const claim = await store.claim(claimRequest(worker, overrides));
  return claim.jobs.map((job) => job.id);
}

export function claimRequest(
  worker: WorkerId,
  overrides: Partial<ClaimRequest> = {},
): ClaimRequest {
  return { worker, lanes: "any", limit: 100, prefetch: false, ...overrides };
}

export function settleItem(batch: Batch, job: ClaimedJob, settlement: Settlement): SettleItem {
  return { lease: batch.lease, key: job.key, n: job.n, settlement };
}

/** Begins every job of a prefetch. */
export function startAll(
  store: JobStore,
  batch: Pick<Claim, "lease" | "jobs">,
): ReturnType<JobStore["startPrefetched"]> {
  assert.ok(batch.lease, "nothing was claimed");
  return store.startPrefetched(
    batch.lease,
    batch.jobs.map(({ key }) => key),
  );
}

/** Settles every job of a batch alike. All must be accepted. */
export async function settleAll(
  store: JobStore,
  batch: Batch,
  settlement: Settlement,
): Promise<void> {
  const items = batch.jobs.map((job) => settleItem(batch, job, settlement));
  const answers = await store.settle(items);
  assert.deepEqual(new Set(answers), new Set(["settled"]));
}

/** Claims the first job and settles it. Answers its id. */
export async function runOne(store: JobStore, settlement: Settlement): Promise<JobId> {
  const batch = await takeOne(store);
  await settleAll(store, batch, settlement);
  return batch.job.id;
}

/** Rescues a worker that is listed as silent. */
export async function rescueSilent(
  store: JobStore,
  worker: WorkerId,
  overrides: Pick<RescueRequest, "decide"> & Partial<RescueRequest>,
): Promise<RescueAnswer> {
  const silent = (await store.silent(100)).find(({ id }) => id === worker);
  assert.ok(silent, `${worker} is not silent`);
  return store.rescue({ worker, beats: silent.beats, limit: 100, ...overrides });
}

export async function recordOf(store: JobStore, id: JobId): Promise<JobRecord> {
  const record = await store.get(id);
  assert.ok(record, `job ${id} is unknown`);
  return record;
}

export async function stateOf(store: JobStore, id: JobId): Promise<State> {
  return (await recordOf(store, id)).state;
}

/** What the feed tells about one job, oldest first. */
export async function eventsOf(store: JobStore, id: JobId): Promise<readonly EventKind[]> {
  const entries = await store.feed(0, 10_000);
  return entries.flatMap((entry) => entry.jobs.filter((job) => job === id).map(() => entry.kind));
}

/** The element at `index`, which must exist. */
export function at<Item>(list: readonly Item[], index: number): Item {
  const item = list.at(index);
  if (item === undefined) assert.fail(`no element ${index} among ${list.length}`);
  return item;
}

/** Enqueues jobs and lets them all fail at once. Nothing else may be waiting. */
export async function addDead<const Jobs extends readonly Partial<NewJob>[]>(
  store: JobStore,
  ...jobs: Jobs
): Promise<{ readonly [Index in keyof Jobs]: JobId }> {
  const ids = await add<Jobs>(store, ...jobs);
  await settleAll(store, await take(store), failedWith());
  return ids;
}

/**
 * Enqueues a job that has crashed so many times and is due again. Jobs without a key that wait in
 * its lane come back as they were.
 */
export async function addCrashed(
  store: JobStore,
  crashes: number,
  overrides: Partial<NewJob> = {},
): Promise<JobId> {
  const job = newJob(overrides);
  await store.enqueue([job]);
  for (let count = 1; count <= crashes; count += 1) {
    const batch = await take(store, { lanes: [job.lane], limit: 100 });
    const items = batch.jobs.map((each) =>
      settleItem(
        batch,
        each,
        each.id === job.id
          ? crashedTimes(count)
          : { ...runAgain(), tries: each.tries, crashes: each.crashes },
      ),
    );
    await store.settle(items);
  }
  assert.equal((await recordOf(store, job.id)).crashes, crashes);
  return job.id;
}

/** Claims a job to run alone. There must be one. */
export async function takeAlone(
  store: JobStore,
  overrides: Partial<LoneClaimRequest> = {},
): Promise<LoneClaim & { readonly worker: WorkerId }> {
  const worker = overrides.worker ?? (await joinWorker(store));
  const claim = await store.claimAlone(loneRequest(worker, overrides));
  assert.ok(claim, "no job was claimed to run alone");
  return { ...claim, worker };
}

/** The job that a fresh worker would run alone; null when there is none. It goes back. */
export async function claimableAlone(
  store: JobStore,
  overrides: Partial<LoneClaimRequest> = {},
): Promise<JobId | null> {
  const worker = overrides.worker ?? (await joinWorker(store));
  const claim = await store.claimAlone(loneRequest(worker, overrides));
  if (claim === null) return null;
  assert.equal(await store.returnPrefetched(claim.lease, [claim.job.key]), 1);
  return claim.job.id;
}

export function loneRequest(
  worker: WorkerId,
  overrides: Partial<LoneClaimRequest> = {},
): LoneClaimRequest {
  return { worker, lanes: "any", cap: 3, ...overrides };
}

/** Resolves with the next call of a listener, which is then called off. */
export function nextCall(store: JobStore): Promise<"called"> {
  return new Promise((resolve) => {
    const off = store.watch(() => {
      off();
      resolve("called");
    });
  });
}

/** The warnings of a store about its jobs. The server of most tests has no fsync, and says so. */
export function warningsOf(store: JobStore): readonly string[] {
  const warnings: string[] = [];
  store.onWarning?.((warning) => {
    if (!warning.startsWith("the PostgreSQL server has")) warnings.push(warning);
  });
  return warnings;
}
