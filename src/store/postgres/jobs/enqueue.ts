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
import { NewerQuotas, NONE_REFUSED, type OverQuota } from "./quota-book.ts";
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
  readonly overQuota: OverQuota;
}

export class Enqueuer {
  readonly #plain: Batcher<NewJob, EnqueueAnswer>;
  readonly #keyed: Batcher<KeyedRequest, EnqueueAnswer>;
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
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
          (interned) => sendKeyed(session, interned, contextOf(requests), semaphore),
        ),
    });
  }

  /** Resolves once the jobs are durable. Answers have the order of the jobs. */
  async enqueue(jobs: readonly NewJob[]): Promise<readonly EnqueueAnswer[]> {
    const admitted = this.#session.state.quotas.admit(jobs);
    const pass = admitted instanceof Promise ? await admitted : admitted;
    let answers: readonly EnqueueAnswer[] = [];
    try {
      answers = await this.#insert(jobs, pass.refused);
    } finally {
      pass.landed(answers);
    }
    return answers;
  }

  async #insert(jobs: readonly NewJob[], overQuota: OverQuota): Promise<readonly EnqueueAnswer[]> {
    if (jobs.some(hasKeys)) return this.#insertKeyed(jobs, overQuota);
    if (overQuota.size > 0) return this.#insertSome(jobs, overQuota);
    const answers: EnqueueAnswer[] = [];
    for (const batch of batchesOf(jobs, bytesOf, CALL_BYTES_MAX)) {
      answers.push(...(await this.#plain.add(batch)));
    }
    return answers;
  }

  async #insertKeyed(
    jobs: readonly NewJob[],
    overQuota: OverQuota,
  ): Promise<readonly EnqueueAnswer[]> {
    const answers: EnqueueAnswer[] = [];
    const earlier = new Map<JobId, JobId>();
    for (const batch of batchesOf(jobs, bytesOf, CALL_BYTES_MAX)) {
      const requests = batch.map((job) => ({ job, earlier, overQuota }));
      const own = await this.#keyed.add(requests);
      noteKeyHolders(earlier, requests, own);
      answers.push(...own);
    }
    return answers;
  }

  /** Inserts the admitted jobs. A job over quota that exists is answered as existing. */
  async #insertSome(
    jobs: readonly NewJob[],
    overQuota: OverQuota,
  ): Promise<readonly EnqueueAnswer[]> {
    const isRefused = ({ id }: NewJob): boolean => overQuota.has(id);
    const admitted = jobs.filter((job) => !isRefused(job));
    const made = admitted.length === 0 ? [] : await this.#insert(admitted, NONE_REFUSED);
    const session = this.#session;
    const refused = await withNames(session, jobs.filter(isRefused), (interned) =>
      insertJudged(session, interned, overQuota),
    );
    const [madeAnswers, refusedAnswers] = [
      made.values(),
      (await Promise.all(refused.map((answer) => Promise.resolve(answer)))).values(),
    ];
    return jobs.map((job) => (isRefused(job) ? refusedAnswers : madeAnswers).next().value!);
  }
}

/** What the keyed jobs of one batch need from their calls. */
interface KeyedContext {
  readonly earlier: KeyHolders;
  readonly overQuota: OverQuota;
}

/** The key holders and refused jobs of all calls in a batch; ids are unique. */
function contextOf(requests: readonly KeyedRequest[]): KeyedContext {
  const calls = new Set(requests.map(({ earlier }) => earlier));
  const refused = new Set(requests.map(({ overQuota }) => overQuota));
  return {
    earlier: new Map([...calls].flatMap((earlier) => [...earlier])),
    overQuota: new Map([...refused].flatMap((overQuota) => [...overQuota])),
  };
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
    // An intake is closed, a quota is new, an id exists, perhaps from a first try whose answer was
    // lost, or a value is invalid.
    const overQuota = await session.state.quotas.admitIfNewer(jobs.map(({ job }) => job));
    return ownAsCreated(await insertJudged(session, jobs, overQuota), isRepeat);
  });
}

/** The ids of scheduled jobs. Null: an intake is closed or a quota is new; no job was inserted. */
async function insertNew(
  { write, notifier, state }: Session,
  jobs: readonly InternedJob[],
): Promise<readonly JobId[] | null> {
  const alike = alikeParameters(jobs);
  const quotas = state.quotas.revision;
  if (alike === null) {
    const [made] = await write.tuples("enqueue", { ...batchParameters(jobs), quotas });
    notifier.wake("work");
    return made?.[0] ?? null;
  }
  const wakeUp = alike.delay_ms === 0 ? readyIn(jobs[0]!.job.lane) : "work";
  // A notification inside the statement arrives sooner than one sent after the commit.
  const notification = jobs.length === 1 ? notifier.forStatement(wakeUp) : null;
  const { channel = null, payload = null } = notification?.parameters ?? {};
  const told = { channel, word: payload };
  const [made] = await write.tuples("enqueue_alike", { ...alike, ...told, quotas });
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
  context: KeyedContext,
  semaphore: Semaphore,
): Promise<readonly PendingAnswer[]> {
  try {
    return await sendKeyedBatch(session, jobs, context);
  } catch (error) {
    if (failureOf(error) !== "locked") throw error;
  }
  const plain = jobs.filter(({ job }) => !hasKeys(job));
  const plainAnswers = (
    plain.length > 0 ? await sendAdmitted(session, plain, context) : []
  ).values();
  const last = new Map<string, Promise<EnqueueAnswer>>();
  return jobs.map((job) => {
    if (!hasKeys(job.job)) return plainAnswers.next().value!;
    const keys = conflictKeys(job);
    // Jobs that share a key are sent in order, and a job is sent after its dependencies.
    const before = [...dependencyKeys(job), ...keys].map((key) => {
      return last.get(key) ?? Promise.resolve(null);
    });
    const answer = Promise.allSettled(before).then((settled) => {
      const earlier = dependencyHolders(job, settled, context.earlier);
      return retryWhileLocked(session, () =>
        semaphore.take(() => sendSingle(session, job, { ...context, earlier })),
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

/** Plain jobs of a keyed call. */
async function sendAdmitted(
  session: Session,
  jobs: readonly InternedJob[],
  { overQuota }: KeyedContext,
): Promise<readonly EnqueueAnswer[]> {
  if (!jobs.some(({ job }) => overQuota.has(job.id))) return sendPlain(session, jobs);
  return insertJudged(session, jobs, overQuota);
}

/** Inserts plain jobs of a producer, some of which a quota may refuse. */
function insertJudged(
  session: Session,
  jobs: readonly InternedJob[],
  overQuota: OverQuota,
): Promise<readonly EnqueueAnswer[]> {
  return session.transaction((transaction) =>
    insertBisecting({ ...transaction, isProducer: true, overQuota }, jobs, NONE),
  );
}

async function sendSingle(
  session: Session,
  job: InternedJob,
  context: KeyedContext,
): Promise<EnqueueAnswer> {
  const [answer] = await sendKeyedBatch(session, [job], context);
  return answer ?? refusal(job.job);
}

function sendKeyedBatch(
  session: Session,
  jobs: readonly InternedJob[],
  context: KeyedContext,
): Promise<readonly EnqueueAnswer[]> {
  return repeating(session.dice, async (isRepeat) => {
    const insert = async (work: typeof insertBatch): Promise<readonly EnqueueAnswer[]> =>
      withNewestQuotas(session, jobs, context.overQuota, (overQuota) => {
        const producer = {
          isProducer: true,
          overQuota,
          quotas: session.state.quotas.revision,
        } as const;
        return session.transaction(
          (transaction) => work({ ...transaction, ...producer }, jobs, context.earlier),
          { lockMs: LOCK_MS },
        );
      });
    try {
      return ownAsCreated(await insert(insertBatch), isRepeat);
    } catch (error) {
      if (failureOf(error) !== "refused") throw error;
    }
    return ownAsCreated(await insert(insertBisecting), isRepeat);
  });
}

/** Runs `work` again if a quota was set after the jobs were admitted. */
export async function withNewestQuotas<Answer>(
  { state }: Session,
  jobs: readonly InternedJob[],
  overQuota: OverQuota,
  work: (overQuota: OverQuota) => Promise<Answer>,
): Promise<Answer> {
  try {
    return await work(overQuota);
  } catch (error) {
    if (!(error instanceof NewerQuotas)) throw error;
  }
  const more = await state.quotas.admitIfNewer(jobs.map(({ job }) => job));
  return work(new Map([...overQuota, ...more]));
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
  const refused = await refusedJobs(transaction, jobs);
  const admitted = jobs.filter((job) => !refused.has(job));
  const answers = (admitted.length > 0 ? await insertAdmitted(transaction, admitted) : []).values();
  return jobs.map((job) => refused.get(job) ?? answers.next().value!);
}

/** The answers to jobs that are not admitted. A job that exists was accepted before. */
async function refusedJobs(
  transaction: StoreTransaction,
  jobs: readonly InternedJob[],
): Promise<ReadonlyMap<InternedJob, EnqueueAnswer>> {
  const closed = await intakesOf(transaction, jobs);
  const refused = new Map<InternedJob, EnqueueAnswer>();
  for (const interned of jobs) {
    const overQuota = transaction.overQuota?.get(interned.job.id) ?? null;
    const answer = intakeRefusal(interned.job, interned, closed) ?? overQuota;
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
