/**
 * enqueue: inserts only. Overlapping calls share a statement. Calls with keyed jobs use a separate
 * batch, so that unkeyed jobs never wait for another caller's key. The jobs of one call stay in one
 * batch, so that they are created in the order of the call.
 */
import type { JobId } from "../../../core/job.ts";
import { intakeRefusal } from "../../shared/control/intakes.ts";
import { aliasesOf, noteKeyHolder, type KeyHolders } from "../../shared/key-holders.ts";
import { throwIfRefused } from "../../shared/refused-child.ts";
import { readyIn } from "../../types/wake-ups.ts";
import type { EnqueueAnswer, NewJob } from "../../types/jobs-and-runs.ts";
import {
  insertAnswers,
  existingIds,
  noteKeyHolders,
  ownAsCreated,
  refusal,
  repeatAnswer,
  withRepeats,
} from "./enqueue-answers.ts";
import { intakesOf } from "./intakes.ts";
import { bisect, batchesOf, LOCK_MS, retryWhileLocked } from "../batching/fallback.ts";
import { Batcher } from "../batching/batcher.ts";
import { Semaphore } from "../../../lib/semaphore.ts";
import { failureOf } from "../database/errors.ts";
import {
  alikeParameters,
  batchParameters,
  internJobs,
  hasKeys,
  jobRow,
  type InternedJob,
} from "./job-rows.ts";
import { conflictKeys, dependencyKeys } from "./enqueue-order.ts";
import { enqueueKeyed } from "./enqueue-keyed.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { uuidOf, uuids } from "../database/values.ts";

/** Batches in flight, waiting jobs that justify a second one, and a full batch. */
const CONCURRENCY_MAX = 2;
const OVERLAP_JOBS_MIN = 200;
const BATCH_JOBS_MAX = 1_000;
const BATCH_BYTES_MAX = 4_000_000;
/** A smaller batch for keyed jobs: each key stays locked until the commit. */
const BATCH_KEYED_MAX = 200;
/** Bytes of one call in one statement. A larger call is split. */
export const CALL_BYTES_MAX = 32_000_000;
/** Connections for keyed jobs that are sent one by one. */
const SINGLE_CONCURRENCY = 3;
/** Estimated bytes of a job without its payload, and of each of its dependencies. */
const JOB_BYTES = 300;
const DEPENDENCY_BYTES = 40;
const NONE: KeyHolders = new Map();

/** A job, and the key holders that earlier batches of its call have found. */
interface KeyedRequest {
  readonly job: NewJob;
  readonly earlier: KeyHolders;
}

export class Enqueuer {
  readonly #plain: Batcher<NewJob, EnqueueAnswer>;
  readonly #keyed: Batcher<KeyedRequest, EnqueueAnswer>;

  constructor(session: Session) {
    const semaphore = new Semaphore(SINGLE_CONCURRENCY);
    const common = {
      concurrencyMax: CONCURRENCY_MAX,
      overlapItemsMin: OVERLAP_JOBS_MIN,
      weightMax: BATCH_BYTES_MAX,
    };
    this.#plain = new Batcher({
      ...common,
      itemsMax: BATCH_JOBS_MAX,
      weigh: bytesOf,
      flush: (jobs) => withNames(session, jobs, (interned) => sendPlain(session, interned)),
    });
    this.#keyed = new Batcher({
      ...common,
      itemsMax: BATCH_KEYED_MAX,
      weigh: ({ job }) => bytesOf(job),
      flush: (requests) =>
        withNames(
          session,
          requests.map(({ job }) => job),
          (interned) => sendKeyed(session, interned, earlierOf(requests), semaphore),
        ),
    });
  }

  /** Resolves once the jobs are durable. Answers have the order of the jobs. */
  async enqueue(jobs: readonly NewJob[]): Promise<readonly EnqueueAnswer[]> {
    const batches = batchesOf(jobs, bytesOf, CALL_BYTES_MAX);
    const answers: EnqueueAnswer[] = [];
    if (!jobs.some(hasKeys)) {
      for (const batch of batches) answers.push(...(await this.#plain.add(batch)));
      return answers;
    }
    const earlier = new Map<JobId, JobId>();
    for (const batch of batches) {
      const requests = batch.map((job) => ({ job, earlier }));
      const own = await this.#keyed.add(requests);
      noteKeyHolders(earlier, requests, own);
      answers.push(...own);
    }
    return answers;
  }
}

/** The key holders of all calls in a batch; ids are unique. */
function earlierOf(requests: readonly KeyedRequest[]): KeyHolders {
  const calls = new Set(requests.map(({ earlier }) => earlier));
  return new Map([...calls].flatMap((earlier) => [...earlier]));
}

type PendingAnswer = EnqueueAnswer | Promise<EnqueueAnswer>;

/** Interns the names of a batch, then sends it. A job with an invalid name is refused. */
async function withNames(
  session: Session,
  jobs: readonly NewJob[],
  send: (interned: readonly InternedJob[]) => Promise<readonly PendingAnswer[]>,
): Promise<readonly PendingAnswer[]> {
  const interned = await internJobs(session.names, jobs);
  const known = interned.filter((job) => job !== null);
  const answers = (known.length > 0 ? await send(known) : []).values();
  return interned.map((job, index) =>
    job === null ? refusal(jobs[index]!) : answers.next().value!,
  );
}

/**
 * Enqueues jobs inside another verb's transaction. {@link internJobs} runs before the transaction
 * begins. A job with an invalid value is refused; the others are created.
 */
export async function enqueueWithin(
  transaction: StoreTransaction,
  jobs: readonly (InternedJob | null)[],
  originals: readonly NewJob[],
): Promise<readonly EnqueueAnswer[]> {
  const known = jobs.filter((job) => job !== null);
  const answers = (await insertBisecting(transaction, known, NONE)).values();
  return jobs.map((job, index) =>
    job === null ? refusal(originals[index]!) : answers.next().value!,
  );
}

/**
 * Enqueues the child jobs of phases and of ended runs. A note is repeated after a lost answer: a
 * child that has given way stays away, even if its key is free by now.
 */
export async function enqueueChildren(
  transaction: StoreTransaction,
  parents: readonly {
    readonly children: readonly NewJob[];
    readonly interned: readonly (InternedJob | null)[];
  }[],
): Promise<void> {
  const all = parents.flatMap((parent) => parent.children);
  const givenWay = await findGivenWay(transaction, all);
  const isNew = ({ id }: NewJob): boolean => !givenWay.has(id);
  const children = all.filter(isNew);
  const interned = parents
    .flatMap((parent) => parent.interned)
    .filter((_, index) => isNew(all[index]!));
  const answers = await enqueueWithin(transaction, interned, children);
  throwIfRefused(children, answers);
  const aliases = aliasesOf(children, answers);
  if (aliases.length === 0) return;
  const given = aliases.map(({ id, holder, parent }) => {
    return { id: uuidOf(id), holder: uuidOf(holder), parent: uuidOf(parent) };
  });
  await transaction.run("insert_aliases", { given: JSON.stringify(given) });
}

/** The ids of children that have given way before. */
async function findGivenWay(
  transaction: StoreTransaction,
  children: readonly NewJob[],
): Promise<ReadonlySet<JobId>> {
  const keyed = children.filter(({ dedup, idempotency }) => dedup !== null || idempotency !== null);
  if (keyed.length === 0) return new Set();
  const rows = await transaction.all("find_aliases", { ids: uuids(keyed.map(({ id }) => id)) });
  return new Set(rows.map(({ id }) => id));
}

/** One statement for the whole batch. A refused batch is bisected in a transaction. */
async function sendPlain(
  session: Session,
  jobs: readonly InternedJob[],
): Promise<readonly EnqueueAnswer[]> {
  return repeating(session.dice, async (isRepeat) => {
    try {
      const later = await insertNew(session, jobs);
      if (later !== null) return insertAnswers(jobs, [jobs.length, later, null, null]);
    } catch (error) {
      if (failureOf(error) !== "refused") throw error;
    }
    // An intake is closed, an id exists, perhaps from a first try whose answer was lost, or a value
    // is invalid.
    const answers = await session.transaction((transaction) =>
      insertBisecting({ ...transaction, isProducer: true }, jobs, NONE),
    );
    return ownAsCreated(answers, isRepeat);
  });
}

/** Answers the ids of scheduled jobs. Null: an intake is closed, and no job was inserted. */
async function insertNew(
  { write, notifier }: Session,
  jobs: readonly InternedJob[],
): Promise<readonly JobId[] | null> {
  const alike = alikeParameters(jobs);
  if (alike === null) {
    const [made] = await write.tuples("enqueue", batchParameters(jobs));
    notifier.wake("work");
    return made?.[0] ?? null;
  }
  const wakeUp = alike.delay_ms === 0 ? readyIn(jobs[0]!.job.lane) : "work";
  // A notification inside the statement arrives sooner than one sent after the commit.
  const notification = jobs.length === 1 ? notifier.forStatement(wakeUp) : null;
  const { channel = null, payload = null } = notification?.parameters ?? {};
  const [made] = await write.tuples("enqueue_alike", { ...alike, channel, word: payload });
  if (notification === null) notifier.wake(wakeUp);
  else notification.committed();
  const later = made?.[0] ?? null;
  return later === true ? jobs.map(({ job }) => job.id) : later === false ? [] : null;
}

/**
 * One transaction for the whole batch. If another open transaction has locked one of the keys,
 * keyed jobs are sent one by one, so that only jobs with the locked key wait. Those jobs are
 * created after the others.
 */
async function sendKeyed(
  session: Session,
  jobs: readonly InternedJob[],
  earlier: KeyHolders,
  semaphore: Semaphore,
): Promise<readonly PendingAnswer[]> {
  try {
    return await sendKeyedBatch(session, jobs, earlier);
  } catch (error) {
    if (failureOf(error) !== "locked") throw error;
  }
  const plain = jobs.filter(({ job }) => !hasKeys(job));
  const plainAnswers = (plain.length > 0 ? await sendPlain(session, plain) : []).values();
  const last = new Map<string, Promise<EnqueueAnswer>>();
  return jobs.map((job) => {
    if (!hasKeys(job.job)) return plainAnswers.next().value!;
    const keys = conflictKeys(job);
    // Jobs that share a key are sent in order, and a job is sent after its dependencies.
    const before = [...dependencyKeys(job), ...keys].map((key) => {
      return last.get(key) ?? Promise.resolve(null);
    });
    const answer = Promise.allSettled(before).then((settled) => {
      const keyHolders = dependencyHolders(job, settled, earlier);
      return retryWhileLocked(session, () =>
        semaphore.take(() => sendSingle(session, job, keyHolders)),
      );
    });
    for (const key of keys) last.set(key, answer);
    return answer;
  });
}

/** Adds the key holders that replaced dependencies of this job. Their answers are settled. */
function dependencyHolders(
  { job }: InternedJob,
  settled: readonly PromiseSettledResult<EnqueueAnswer | null>[],
  earlier: KeyHolders,
): KeyHolders {
  const keyHolders = new Map(earlier);
  job.after.forEach((id, index) => {
    const parent = settled[index];
    const answer = parent?.status === "fulfilled" ? parent.value : null;
    if (answer !== null) noteKeyHolder(keyHolders, id, answer);
  });
  return keyHolders;
}

async function sendSingle(
  session: Session,
  job: InternedJob,
  earlier: KeyHolders,
): Promise<EnqueueAnswer> {
  const [answer] = await sendKeyedBatch(session, [job], earlier);
  return answer ?? refusal(job.job);
}

function sendKeyedBatch(
  session: Session,
  jobs: readonly InternedJob[],
  earlier: KeyHolders,
): Promise<readonly EnqueueAnswer[]> {
  return repeating(session.dice, async (isRepeat) => {
    const insert = async (work: typeof insertBatch): Promise<readonly EnqueueAnswer[]> =>
      session.transaction(
        (transaction) => work({ ...transaction, isProducer: true }, jobs, earlier),
        { lockMs: LOCK_MS },
      );
    try {
      return ownAsCreated(await insert(insertBatch), isRepeat);
    } catch (error) {
      if (failureOf(error) !== "refused") throw error;
    }
    return ownAsCreated(await insert(insertBisecting), isRepeat);
  });
}

function insertBisecting(
  transaction: StoreTransaction,
  jobs: readonly InternedJob[],
  earlier: KeyHolders,
): Promise<readonly EnqueueAnswer[]> {
  const keyHolders = new Map(earlier);
  const insert = async (part: readonly InternedJob[]): Promise<readonly EnqueueAnswer[]> => {
    const answers = await insertBatch(transaction, part, keyHolders);
    noteKeyHolders(keyHolders, part, answers);
    return answers;
  };
  return bisect(transaction, jobs, insert, ({ job }) => refusal(job));
}

function insertBatch(
  transaction: StoreTransaction,
  jobs: readonly InternedJob[],
  earlier: KeyHolders,
): Promise<readonly EnqueueAnswer[]> {
  const isKeyed = jobs.some(({ job }) => hasKeys(job));
  return isKeyed ? enqueueKeyed(transaction, jobs, earlier) : insertPlain(transaction, jobs);
}

async function insertPlain(
  transaction: StoreTransaction,
  jobs: readonly InternedJob[],
): Promise<readonly EnqueueAnswer[]> {
  if (transaction.isProducer !== true) return insertAdmitted(transaction, jobs);
  const refused = await refusedByIntakes(transaction, jobs);
  const admitted = jobs.filter((job) => !refused.has(job));
  const answers = (admitted.length > 0 ? await insertAdmitted(transaction, admitted) : []).values();
  return jobs.map((job) => refused.get(job) ?? answers.next().value!);
}

/** The answers to jobs whose intake is closed. A job that exists was accepted before. */
async function refusedByIntakes(
  transaction: StoreTransaction,
  jobs: readonly InternedJob[],
): Promise<ReadonlyMap<InternedJob, EnqueueAnswer>> {
  const closed = await intakesOf(transaction, jobs);
  const refused = new Map<InternedJob, EnqueueAnswer>();
  for (const interned of jobs) {
    const answer = intakeRefusal(interned.job, interned, closed);
    if (answer !== null) refused.set(interned, answer);
  }
  if (refused.size === 0) return refused;
  const ids = [...refused.keys()].map(({ job }) => job.id);
  const rows = await transaction.all("find_bodies", { ids: uuids(ids) });
  const bodies = new Map(rows.map((row) => [row.id, row]));
  for (const interned of refused.keys()) {
    const body = bodies.get(interned.job.id);
    if (body !== undefined) refused.set(interned, repeatAnswer(interned, body));
  }
  return refused;
}

async function insertAdmitted(
  transaction: StoreTransaction,
  jobs: readonly InternedJob[],
): Promise<readonly EnqueueAnswer[]> {
  const [made] = await transaction.tuples("insert_jobs", {
    jobs: JSON.stringify(jobs.map((job) => jobRow(job))),
    dependencies: "[]",
    asked: jobs.length,
  });
  transaction.outbox.add({ kind: "job:enqueued", jobs: made?.[3] ?? [] });
  transaction.outbox.wake();
  const answers = insertAnswers(jobs, made);
  if (made?.[2] === null) return answers;
  const known = await transaction.all("find_bodies", { ids: uuids(existingIds(answers)) });
  return withRepeats(jobs, answers, known, false);
}

export function bytesOf({ payload, after }: NewJob): number {
  return JOB_BYTES + (payload?.length ?? 0) + after.length * DEPENDENCY_BYTES;
}
