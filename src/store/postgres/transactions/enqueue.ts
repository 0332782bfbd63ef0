/**
 * enqueue inside a caller's transaction: the jobs are there if and when it commits. A call without
 * keys is one statement. One with keys is several, in a savepoint, so that whatever goes wrong
 * leaves nothing of it behind and the caller's transaction as it was. InternedNames are interned
 * before, outside: in there they would stop everybody who needs them too.
 *
 * Nobody is woken. NOTIFY would be heard after the commit, but each such commit waits for a lock of
 * the whole database; workers find these jobs when they poll.
 */
import { MillraceError } from "../../../core/errors.ts";
import type { JobId } from "../../../core/job.ts";
import type { EnqueueAnswer, NewJob } from "../../types/jobs-and-runs.ts";
import { answersOf, noteKeyHolders } from "../jobs/enqueue-answers.ts";
import { batchesOf } from "../batching/fallback.ts";
import { bytesOf, CALL_BYTES_MAX } from "../jobs/enqueue.ts";
import { Outdated } from "../database/errors.ts";
import { batchOf, fileJobs, hasKeys, type Filed } from "../jobs/job-rows.ts";
import { callerSql } from "./statements.ts";
import { elsewhere, callerError } from "./errors.ts";
import { enqueueKeyed } from "../jobs/enqueue-keyed.ts";
import { runnerOf } from "./drivers.ts";
import type { Session } from "../database/session.ts";
import type { Sql } from "../database/statements.ts";
import { Outbox } from "../events/outbox.ts";

/** How often keys that others change in the same moment are looked at anew. */
const ROUNDS_MAX = 3;

/** The answers stand in the order of the jobs. */
export async function enqueueInTransaction(
  session: Session,
  tx: unknown,
  jobs: readonly NewJob[],
): Promise<readonly EnqueueAnswer[]> {
  const run = await runnerOf(tx);
  const home = await homeOf(session);
  const { schema, clock } = session;
  const now = clock === null ? null : new Date(clock.now()).toISOString();
  const place: Place = { session, sql: callerSql(run, { schema, now }), home };
  const loads = batchesOf(await named(session, jobs), ({ job }) => bytesOf(job), CALL_BYTES_MAX);
  try {
    return await (jobs.some(hasKeys) ? insertKeyed(place, loads) : insertPlain(place, loads));
  } catch (error) {
    throw callerError(error, schema);
  }
}

interface Place {
  readonly session: Session;
  readonly sql: Sql;
  /** The database that the store is in. */
  readonly home: string;
}

async function homeOf(session: Session): Promise<string> {
  session.state.home ??= (await session.read.get("home", {}))?.home ?? "";
  return session.state.home;
}

async function insertPlain(
  { session, sql, home }: Place,
  loads: readonly (readonly Filed[])[],
): Promise<EnqueueAnswer[]> {
  const answers: EnqueueAnswer[] = [];
  for (const load of loads) {
    const [made] = await sql.tuples("enqueue_at_home", { ...batchOf(load), home });
    const later = made?.[0] ?? null;
    if (later === null) throw elsewhere(session.schema);
    answers.push(...answersOf(load, [load.length, later, null, null]));
  }
  return answers;
}

async function insertKeyed(
  { session, sql, home }: Place,
  loads: readonly (readonly Filed[])[],
): Promise<EnqueueAnswer[]> {
  const here = await sql.get("home", {});
  if (here?.home !== home) throw elsewhere(session.schema);
  for (let round = 1; ; round += 1) {
    try {
      return await inSavepoint(sql, () => writeKeyed(sql, loads));
    } catch (error) {
      if (!(error instanceof Outdated) || round >= ROUNDS_MAX) throw error;
    }
  }
}

async function writeKeyed(
  sql: Sql,
  loads: readonly (readonly Filed[])[],
): Promise<EnqueueAnswer[]> {
  const outbox = new Outbox();
  const answers: EnqueueAnswer[] = [];
  const keyHolders = new Map<JobId, JobId>();
  for (const load of loads) {
    const own = await enqueueKeyed({ ...sql, outbox }, load, keyHolders);
    noteKeyHolders(keyHolders, load, own);
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
    // If even this fails, the transaction is lost as a whole, and the first error says why.
    await sql.run("undo_part", {}).then(() => sql.run("keep_part", {}), ignore);
    throw error;
  }
  await sql.run("keep_part", {});
  return answer;
}

/** A name that the database does not take refuses the call before anything is sent. */
async function named({ names }: Session, jobs: readonly NewJob[]): Promise<Filed[]> {
  const filed = (await fileJobs(names, jobs)).filter((job) => job !== null);
  if (filed.length === jobs.length) return filed;
  throw new MillraceError("STORE_REFUSED", "the database refused a name");
}

function ignore(): void {}
