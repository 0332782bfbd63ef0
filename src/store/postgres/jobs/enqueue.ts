/**
 * enqueue: inserts, and only inserts. Overlapping calls share statements. A call with keys travels
 * apart from the others, so that nobody waits for a key that is not his; its jobs stay together, so
 * that they come to be in the order in which they were asked for.
 */
import type { JobId } from "../../../core/job.ts";
import { noteKeyHolder, type KeyHolders } from "../../shared/key-holders.ts";
import { insistOnAll } from "../../shared/refused-child.ts";
import type { EnqueueAnswer, NewJob } from "../../types/jobs-and-runs.ts";
import {
  answersOf,
  missingOf,
  noteKeyHolders,
  owned,
  refusal,
  withRepeats,
} from "./enqueue-answers.ts";
import { bisect, batchesOf, LOCK_MS, untilFree } from "../batching/fallback.ts";
import { Batcher } from "../batching/batcher.ts";
import { Semaphore } from "../../../lib/semaphore.ts";
import { failureOf } from "../database/errors.ts";
import { alikeOf, batchOf, fileJobs, hasKeys, rowOf, type Filed } from "./job-rows.ts";
import { marksOf, parentMarks } from "./enqueue-order.ts";
import { enqueueKeyed } from "./enqueue-keyed.ts";
import { repeating } from "../database/retry.ts";
import type { Session, SessionTransaction } from "../database/session.ts";
import { uuids } from "../database/values.ts";

/** Batches on their way at once, how many jobs are worth a second one, and what fills one. */
const FLIGHTS_MAX = 2;
const CROWD = 200;
const BATCH_JOBS_MAX = 1_000;
const BATCH_BYTES_MAX = 4_000_000;
/** Fewer with keys: each of them holds a lock until the commit. */
const BATCH_KEYED_MAX = 200;
/** What one call may bring in a single statement; a heavier call becomes several. */
export const CALL_BYTES_MAX = 32_000_000;
/** Connections for jobs that go by themselves. */
const ALONE_AT_ONCE = 3;
/** What a job weighs besides its payload, and each that it is to run after. */
const JOB_BYTES = 300;
const PARENT_BYTES = 40;
const NOBODY: KeyHolders = new Map();

/** A job on its way, and those that gave way before in the same call. */
interface Asked {
  readonly job: NewJob;
  readonly earlier: KeyHolders;
}

export class Enqueuer {
  readonly #plain: Batcher<NewJob, EnqueueAnswer>;
  readonly #keyed: Batcher<Asked, EnqueueAnswer>;

  constructor(session: Session) {
    const semaphore = new Semaphore(ALONE_AT_ONCE);
    const common = { flightsMax: FLIGHTS_MAX, crowd: CROWD, weightMax: BATCH_BYTES_MAX };
    this.#plain = new Batcher({
      ...common,
      itemsMax: BATCH_JOBS_MAX,
      weigh: bytesOf,
      flush: (jobs) => withNames(session, jobs, (filed) => flushPlain(session, filed)),
    });
    this.#keyed = new Batcher({
      ...common,
      itemsMax: BATCH_KEYED_MAX,
      weigh: ({ job }) => bytesOf(job),
      flush: (asked) =>
        withNames(
          session,
          asked.map(({ job }) => job),
          (filed) => flushKeyed(session, filed, earlierOf(asked), semaphore),
        ),
    });
  }

  /** Resolves once the jobs are durable; the answers stand in the order of the jobs. */
  async enqueue(jobs: readonly NewJob[]): Promise<readonly EnqueueAnswer[]> {
    const loads = batchesOf(jobs, bytesOf, CALL_BYTES_MAX);
    const answers: EnqueueAnswer[] = [];
    if (!jobs.some(hasKeys)) {
      for (const load of loads) answers.push(...(await this.#plain.add(load)));
      return answers;
    }
    const earlier = new Map<JobId, JobId>();
    for (const load of loads) {
      const asked = load.map((job) => ({ job, earlier }));
      const own = await this.#keyed.add(asked);
      noteKeyHolders(earlier, asked, own);
      answers.push(...own);
    }
    return answers;
  }
}

/** Those of all calls in a batch, for ids are unique. Calls of one load have none. */
function earlierOf(asked: readonly Asked[]): KeyHolders {
  const calls = new Set(asked.map(({ earlier }) => earlier));
  return new Map([...calls].flatMap((earlier) => [...earlier]));
}

type Later<Answer> = Answer | Promise<Answer>;

/** Sends a batch once its names are known. A name that the database does not take is refused. */
async function withNames(
  session: Session,
  jobs: readonly NewJob[],
  flush: (filed: readonly Filed[]) => Promise<readonly Later<EnqueueAnswer>[]>,
): Promise<readonly Later<EnqueueAnswer>[]> {
  const filed = await fileJobs(session.names, jobs);
  const known = filed.filter((job) => job !== null);
  const answers = (known.length > 0 ? await flush(known) : []).values();
  return filed.map((job, index) => (job === null ? refusal(jobs[index]!) : answers.next().value!));
}

/**
 * Enqueues jobs inside another verb's transaction; {@link fileJobs} comes before it begins. A job
 * with a value that the database does not take is refused by itself.
 */
export async function enqueueWithin(
  transaction: SessionTransaction,
  jobs: readonly (Filed | null)[],
  originals: readonly NewJob[],
): Promise<readonly EnqueueAnswer[]> {
  const known = jobs.filter((job) => job !== null);
  const answers = (await insertParts(transaction, known, NOBODY)).values();
  return jobs.map((job, index) =>
    job === null ? refusal(originals[index]!) : answers.next().value!,
  );
}

/** Enqueues what phases, and the ends of runs, bring into being. */
export async function enqueueChildren(
  transaction: SessionTransaction,
  dependencies: readonly {
    readonly children: readonly NewJob[];
    readonly filed: readonly (Filed | null)[];
  }[],
): Promise<void> {
  const children = dependencies.flatMap((parent) => parent.children);
  const filed = dependencies.flatMap((parent) => parent.filed);
  insistOnAll(children, await enqueueWithin(transaction, filed, children));
}

/** One statement for the whole batch. Only when it is refused, it is looked at more closely. */
async function flushPlain(
  session: Session,
  jobs: readonly Filed[],
): Promise<readonly EnqueueAnswer[]> {
  return repeating(session.dice, async (isRepeat) => {
    try {
      const later = await insertNew(session, jobs);
      return answersOf(jobs, [jobs.length, later, null, null]);
    } catch (error) {
      if (failureOf(error) !== "refused") throw error;
    }
    // An id is taken, perhaps by a first try whose answer was lost, or a value is not.
    const answers = await session.transaction((transaction) =>
      insertParts(transaction, jobs, NOBODY),
    );
    return owned(answers, isRepeat);
  });
}

/** Answers the ids of those that wait for their time. */
async function insertNew(
  { write, notifier }: Session,
  jobs: readonly Filed[],
): Promise<readonly JobId[] | null> {
  const alike = alikeOf(jobs);
  if (alike === null) {
    const [made] = await write.tuples("enqueue", batchOf(jobs));
    notifier.wake("work");
    return made?.[0] ?? null;
  }
  const wakeUp = alike.delay_ms === 0 ? "ready" : "work";
  // A lone job should not have to wait for a word that comes after it.
  const along = jobs.length === 1 ? notifier.handOver(wakeUp) : null;
  const { channel = null, word = null } = along?.word ?? {};
  const [made] = await write.tuples("enqueue_alike", { ...alike, channel, word });
  if (along === null) notifier.wake(wakeUp);
  else along.committed();
  return made?.[0] === true ? jobs.map(({ job }) => job.id) : null;
}

/**
 * One transaction for the whole batch. If somebody else's open transaction holds one of the keys,
 * each job with a key goes by itself, so that only those who need that key wait for it, and come
 * to be after the others.
 */
async function flushKeyed(
  session: Session,
  jobs: readonly Filed[],
  earlier: KeyHolders,
  semaphore: Semaphore,
): Promise<readonly Later<EnqueueAnswer>[]> {
  try {
    return await sendKeyed(session, jobs, earlier);
  } catch (error) {
    if (failureOf(error) !== "locked") throw error;
  }
  const plain = jobs.filter(({ job }) => !hasKeys(job));
  const plainAnswers = (plain.length > 0 ? await flushPlain(session, plain) : []).values();
  const last = new Map<string, Promise<EnqueueAnswer>>();
  return jobs.map((job) => {
    if (!hasKeys(job.job)) return plainAnswers.next().value!;
    const marks = marksOf(job);
    // Those that share a key take their semaphore, and dependencies come first.
    const before = [...parentMarks(job), ...marks].map((mark) => {
      return last.get(mark) ?? Promise.resolve(null);
    });
    const answer = Promise.allSettled(before).then((settled) => {
      const keyHolders = waysOf(job, settled, earlier);
      return untilFree(session, () => semaphore.take(() => sendAlone(session, job, keyHolders)));
    });
    for (const mark of marks) last.set(mark, answer);
    return answer;
  });
}

/** Those that gave way among the jobs that one is to run after. Their answers come first. */
function waysOf(
  { job }: Filed,
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

async function sendAlone(
  session: Session,
  job: Filed,
  earlier: KeyHolders,
): Promise<EnqueueAnswer> {
  const [answer] = await sendKeyed(session, [job], earlier);
  return answer ?? refusal(job.job);
}

function sendKeyed(
  session: Session,
  jobs: readonly Filed[],
  earlier: KeyHolders,
): Promise<readonly EnqueueAnswer[]> {
  return repeating(session.dice, async (isRepeat) => {
    const insert = async (work: typeof insertWhole): Promise<readonly EnqueueAnswer[]> =>
      session.transaction((transaction) => work(transaction, jobs, earlier), { lockMs: LOCK_MS });
    try {
      return owned(await insert(insertWhole), isRepeat);
    } catch (error) {
      if (failureOf(error) !== "refused") throw error;
    }
    return owned(await insert(insertParts), isRepeat);
  });
}

function insertParts(
  transaction: SessionTransaction,
  jobs: readonly Filed[],
  earlier: KeyHolders,
): Promise<readonly EnqueueAnswer[]> {
  const keyHolders = new Map(earlier);
  const insert = async (part: readonly Filed[]): Promise<readonly EnqueueAnswer[]> => {
    const answers = await insertWhole(transaction, part, keyHolders);
    noteKeyHolders(keyHolders, part, answers);
    return answers;
  };
  return bisect(transaction, jobs, insert, ({ job }) => refusal(job));
}

function insertWhole(
  transaction: SessionTransaction,
  jobs: readonly Filed[],
  earlier: KeyHolders,
): Promise<readonly EnqueueAnswer[]> {
  const isKeyed = jobs.some(({ job }) => hasKeys(job));
  return isKeyed ? enqueueKeyed(transaction, jobs, earlier) : insertPlain(transaction, jobs);
}

async function insertPlain(
  transaction: SessionTransaction,
  jobs: readonly Filed[],
): Promise<readonly EnqueueAnswer[]> {
  const [made] = await transaction.tuples("insert_jobs", {
    jobs: JSON.stringify(jobs.map((job) => rowOf(job))),
    dependencies: "[]",
    asked: jobs.length,
  });
  transaction.outbox.tell({ kind: "job:enqueued", jobs: made?.[3] ?? [] });
  transaction.outbox.wake();
  const answers = answersOf(jobs, made);
  if (made?.[2] === null) return answers;
  const known = await transaction.all("find_bodies", { ids: uuids(missingOf(answers)) });
  return withRepeats(jobs, answers, known, false);
}

export function bytesOf({ payload, after }: NewJob): number {
  return JOB_BYTES + (payload?.length ?? 0) + after.length * PARENT_BYTES;
}
