/**
 * Enqueues in a caller's transaction: the jobs exist if and when the caller commits. A call without
 * keyed jobs is one statement. A call with keyed jobs is several statements in a savepoint, so that
 * an error undoes the whole call and keeps the caller's transaction usable. Names are interned
 * before, outside the transaction: inside, their rows would stay locked until the caller commits.
 *
 * No notification is sent. NOTIFY would make the caller's commit wait for a database-wide lock;
 * workers find these jobs by polling.
 */
import { MillraceError } from "../../../core/errors.ts";
import type { JobId } from "../../../core/job.ts";
import { intakeRefusal } from "../../shared/control/intakes.ts";
import type { EnqueueAnswer, NewJob } from "../../types/jobs-and-runs.ts";
import { insertAnswers, noteKeyHolders } from "../jobs/enqueue-answers.ts";
import { batchesOf } from "../batching/fallback.ts";
import { bytesOf, CALL_BYTES_MAX, withNewestQuotas } from "../jobs/enqueue.ts";
import { Outdated } from "../database/errors.ts";
import { intakesOf } from "../jobs/intakes.ts";
import { batchParameters, internJobs, hasKeys, type InternedJob } from "../jobs/job-rows.ts";
import type { OverQuota, QuotaPass } from "../jobs/quota-book.ts";
import { callerSql } from "./statements.ts";
import { otherDatabase, callerError } from "./errors.ts";
import { enqueueKeyed } from "../jobs/enqueue-keyed.ts";
import { runnerOf } from "./drivers.ts";
import { identityOf } from "./drizzle.ts";
import type { Session } from "../database/session.ts";
import type { Sql } from "../database/statements.ts";
import { Outbox } from "../events/outbox.ts";

/** Attempts when other transactions change the same keys. */
const ROUNDS_MAX = 3;

/** Answers have the order of the jobs. */
export async function enqueueInTransaction(
  session: Session,
  tx: unknown,
  jobs: readonly NewJob[],
): Promise<readonly EnqueueAnswer[]> {
  const run = await runnerOf(tx);
  const home = await homeOf(session);
  const { schema, access, clock } = session;
  const now = clock === null ? null : new Date(clock.now()).toISOString();
  const destination: Destination = { session, sql: callerSql(run, { schema, access, now }), home };
  const interned = await internAll(session, jobs);
  const batches = batchesOf(interned, ({ job }) => bytesOf(job), CALL_BYTES_MAX);
  const pass = await admitted(destination, tx, jobs);
  const { refused } = pass;
  let answers: readonly EnqueueAnswer[] = [];
  try {
    answers = await (jobs.some(hasKeys)
      ? insertKeyed(destination, batches, refused)
      : insertPlain(destination, batches, refused));
  } catch (error) {
    throw callerError(error, schema);
  } finally {
    pass.landed(answers);
  }
  return answers;
}

/** The store, and its statements in the caller's transaction. */
interface Destination {
  readonly session: Session;
  readonly sql: Sql;
  /** The database that the store is in. */
  readonly home: string;
}

async function admitted(
  { session, sql }: Destination,
  tx: unknown,
  jobs: readonly NewJob[],
): Promise<QuotaPass> {
  try {
    return await session.state.quotas.admitInTransaction(jobs, { tx: identityOf(Object(tx)), sql });
  } catch (error) {
    throw callerError(error, session.schema);
  }
}

async function homeOf(session: Session): Promise<string> {
  session.state.home ??= (await session.read.get("home", {}))?.home ?? "";
  return session.state.home;
}

async function insertPlain(
  { session, sql, home }: Destination,
  batches: readonly (readonly InternedJob[])[],
  overQuota: OverQuota,
): Promise<EnqueueAnswer[]> {
  const answers: EnqueueAnswer[] = [];
  for (const batch of batches) {
    answers.push(...(await insertBatch({ session, sql, home }, batch, overQuota)));
  }
  return answers;
}

/** Inserts the jobs whose intakes are open. A refusal does not abort the caller's transaction. */
async function insertBatch(
  { session, sql, home }: Destination,
  batch: readonly InternedJob[],
  overQuota: OverQuota,
): Promise<EnqueueAnswer[]> {
  const { quotas } = session.state;
  const refused = new Map<InternedJob, EnqueueAnswer>();
  for (const interned of batch) {
    const answer = overQuota.get(interned.job.id);
    if (answer !== undefined) refused.set(interned, answer);
  }
  for (let round = 1; round <= ROUNDS_MAX; round += 1) {
    const rest = batch.filter((job) => !refused.has(job));
    if (rest.length === 0) return batch.map((job) => refused.get(job)!);
    const [made] = await sql.tuples("enqueue_at_home", {
      ...batchParameters(rest),
      quotas: quotas.revision,
      home,
    });
    const [here, later] = made ?? [false, null];
    if (!here) throw otherDatabase(session.schema);
    if (later !== null) {
      const answers = insertAnswers(rest, [rest.length, later, null, null]).values();
      return batch.map((job) => refused.get(job) ?? answers.next().value!);
    }
    const closed = await intakesOf(sql, rest);
    const more = await quotas.admitIfNewer(rest.map(({ job }) => job));
    for (const interned of rest) {
      const { job } = interned;
      const answer = intakeRefusal(job, interned, closed) ?? more.get(job.id) ?? null;
      if (answer !== null) refused.set(interned, answer);
    }
  }
  throw new Outdated("the closed intakes or quotas have changed meanwhile");
}

async function insertKeyed(
  { session, sql, home }: Destination,
  batches: readonly (readonly InternedJob[])[],
  overQuota: OverQuota,
): Promise<EnqueueAnswer[]> {
  const here = await sql.get("home", {});
  if (here?.home !== home) throw otherDatabase(session.schema);
  for (let round = 1; ; round += 1) {
    try {
      return await withNewestQuotas(session, batches.flat(), overQuota, (refused) =>
        inSavepoint(sql, () => writeKeyed(session, sql, batches, refused)),
      );
    } catch (error) {
      if (!(error instanceof Outdated) || round >= ROUNDS_MAX) throw error;
    }
  }
}

async function writeKeyed(
  { warnings, state }: Session,
  sql: Sql,
  batches: readonly (readonly InternedJob[])[],
  overQuota: OverQuota,
): Promise<EnqueueAnswer[]> {
  const outbox = new Outbox();
  const answers: EnqueueAnswer[] = [];
  const keyHolders = new Map<JobId, JobId>();
  for (const batch of batches) {
    const quotas = state.quotas.revision;
    const writer = { ...sql, outbox, warnings, isProducer: true, quotas, overQuota } as const;
    const own = await enqueueKeyed(writer, batch, keyHolders);
    noteKeyHolders(keyHolders, batch, own);
    answers.push(...own);
  }
  await outbox.write(sql);
  return answers;
}

async function inSavepoint<Answer>(sql: Sql, work: () => Promise<Answer>): Promise<Answer> {
  await sql.run("save_part", {});
  let answer: Answer;
  try {
    answer = await work();
  } catch (error) {
    // If the rollback fails as well, the transaction is aborted; the first error says why.
    await sql.run("undo_part", {}).then(() => sql.run("keep_part", {}), ignore);
    throw error;
  }
  await sql.run("keep_part", {});
  return answer;
}

/** Interns the names. A refused name refuses the call before anything is sent. */
async function internAll({ names }: Session, jobs: readonly NewJob[]): Promise<InternedJob[]> {
  const interned = (await internJobs(names, jobs)).filter((job) => job !== null);
  if (interned.length === jobs.length) return interned;
  throw new MillraceError("STORE_REFUSED", "the database refused a name");
}

function ignore(): void {}
