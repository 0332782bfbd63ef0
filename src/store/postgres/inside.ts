/**
 * enqueue inside a caller's transaction: the jobs are there if and when it commits. Jobs without
 * keys are one statement. Those with keys are several, in a savepoint, so that whatever goes wrong
 * leaves nothing of them behind and the caller's transaction as it was. Names are interned before,
 * outside: in there they would stop everybody who needs them too.
 *
 * Nobody is woken. NOTIFY would be heard after the commit, but each such commit waits for a lock of
 * the whole database; workers find these jobs when they poll.
 */
import type { EnqueueAnswer, NewJob } from "../store.ts";
import { answersOf, refusal } from "./answers.ts";
import { inOrder, loadsOf } from "./enqueue.ts";
import { Outdated } from "./errors.ts";
import { batchOf, fileJobs, hasKeys, type Filed } from "./filing.ts";
import { foreignSql } from "./foreign.ts";
import { elsewhere, foreignError } from "./foreign-errors.ts";
import { enqueueKeyed } from "./keyed.ts";
import { runnerOf } from "./libraries.ts";
import type { Session } from "./session.ts";
import type { Sql } from "./statements.ts";
import { Tidings } from "./tidings.ts";

/** How often keys that others change in the same moment are looked at anew. */
const ROUNDS_MAX = 3;

/** The answers stand in the order of the jobs. */
export async function enqueueInside(
  session: Session,
  tx: unknown,
  jobs: readonly NewJob[],
): Promise<readonly EnqueueAnswer[]> {
  const run = await runnerOf(tx);
  const home = await homeOf(session);
  const { schema, clock } = session;
  const now = clock === null ? null : new Date(clock.now()).toISOString();
  const place: Place = { session, sql: foreignSql(run, { schema, now }), home };
  try {
    // Those with keys first: what fails after them is a statement that ends the whole transaction.
    const keyed = await insertKeyed(place, jobs.filter(hasKeys));
    const plain: EnqueueAnswer[] = [];
    for (const load of loadsOf(jobs.filter((job) => !hasKeys(job)))) {
      plain.push(...(await insertPlain(place, load)));
    }
    return inOrder(jobs, plain, keyed);
  } catch (error) {
    throw foreignError(error, schema);
  }
}

interface Place {
  readonly session: Session;
  readonly sql: Sql;
  /** The database that the store is in. */
  readonly home: string;
}

const homes = new WeakMap<Session, string>();

async function homeOf(session: Session): Promise<string> {
  const known = homes.get(session);
  if (known !== undefined) return known;
  const home = (await session.read.get("home", {}))?.home ?? "";
  homes.set(session, home);
  return home;
}

async function insertPlain(place: Place, jobs: readonly NewJob[]): Promise<EnqueueAnswer[]> {
  const { session, sql, home } = place;
  return withNames(session, jobs, async (filed) => {
    const [made] = await sql.tuples("enqueue_at_home", { ...batchOf(filed), home });
    const later = made?.[0] ?? null;
    if (later === null) throw elsewhere(session.schema);
    return answersOf(filed, [filed.length, later, null, null]);
  });
}

async function insertKeyed(place: Place, jobs: readonly NewJob[]): Promise<EnqueueAnswer[]> {
  if (jobs.length === 0) return [];
  const { session, sql, home } = place;
  return withNames(session, jobs, async (filed) => {
    const here = await sql.get("home", {});
    if (here?.home !== home) throw elsewhere(session.schema);
    for (let round = 1; ; round += 1) {
      try {
        return await inSavepoint(sql, () => writeKeyed(sql, filed));
      } catch (error) {
        if (!(error instanceof Outdated) || round >= ROUNDS_MAX) throw error;
      }
    }
  });
}

async function writeKeyed(sql: Sql, jobs: readonly Filed[]): Promise<readonly EnqueueAnswer[]> {
  const tidings = new Tidings();
  const answers = await enqueueKeyed({ ...sql, tidings }, jobs);
  await tidings.write(sql);
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

/** A name that the database does not take is refused before anything is sent. */
async function withNames(
  { names }: Session,
  jobs: readonly NewJob[],
  insert: (filed: readonly Filed[]) => Promise<readonly EnqueueAnswer[]>,
): Promise<EnqueueAnswer[]> {
  const filed = await fileJobs(names, jobs);
  const known = filed.filter((job) => job !== null);
  const answers = (known.length > 0 ? await insert(known) : []).values();
  return filed.map((job, index) => (job === null ? refusal(jobs[index]!) : answers.next().value!));
}

function ignore(): void {}
