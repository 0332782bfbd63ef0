/**
 * Enqueues jobs with an idempotency key, a dedup key, a predecessor or dependencies. Keys are
 * unique rows. All transactions take them before the job is inserted and in the same order:
 * idempotency keys first, then dedup keys together with the rows of successors. A transaction that
 * finds a key taken waits for the commit of the key holder, and reads the holder in a statement of
 * its own, which sees that commit. A transaction that extends or replaces a holder locks the key
 * before it reads the holder. Dependencies are read, never locked.
 */
import type { JobId } from "../../../core/job.ts";
import { ALL_OPEN, intakeRefusal, type ClosedIntakes } from "../../shared/control/intakes.ts";
import { requestHash } from "../../shared/request-hash.ts";
import { stateCodec } from "../../shared/codes.ts";
import { noteKeyHolder, type KeyHolders } from "../../shared/key-holders.ts";
import { requireProtocol } from "../../shared/migrations.ts";
import type { EnqueueAnswer, JobKey, NewJob } from "../../types/jobs-and-runs.ts";
import { repeatAnswer } from "./enqueue-answers.ts";
import { intakesOf } from "./intakes.ts";
import { NewerQuotas, NONE_REFUSED, type OverQuota } from "./quota-book.ts";
import { Outdated } from "../database/errors.ts";
import { dueOf, jobRow, type InternedJob } from "./job-rows.ts";
import { endUnstarted, putWaiting, takeWaiting } from "../queue/places.ts";
import {
  mayChangeHolder,
  roundsOf,
  wantedRows,
  type NumberedJob,
  type WantedRow,
} from "./enqueue-order.ts";
import {
  findDependencies,
  dependencyRows,
  dependencyRefusal,
  type Dependencies,
} from "./enqueue-after.ts";
import type { JobWriter } from "../database/session.ts";
import { list, uuidOf, uuids } from "../database/values.ts";

/**
 * Answers and job keys have the order of the jobs, so that age follows the order of the call. Jobs
 * that share a key are created one after the other. `earlier`: the key holders that earlier batches
 * of the same call have found.
 */
export async function enqueueKeyed(
  transaction: JobWriter,
  jobs: readonly InternedJob[],
  earlier: KeyHolders,
): Promise<readonly EnqueueAnswer[]> {
  const answers = new Map<InternedJob, EnqueueAnswer>();
  const keyHolders = new Map(earlier);
  const { numbered, closed } = await reserveKeys(transaction, jobs);
  const call = { keyHolders, closed, overQuota: transaction.overQuota ?? NONE_REFUSED };
  for (const round of await roundsOf(transaction, numbered)) {
    for (const [interned, answer] of await enqueueRound(transaction, round, call)) {
      answers.set(interned, answer);
      noteKeyHolder(keyHolders, interned.job.id, answer);
    }
  }
  return jobs.map((job) => answers.get(job)!);
}

type Answers = Map<InternedJob, EnqueueAnswer>;

/** What the jobs of one call share. */
interface Call {
  readonly keyHolders: KeyHolders;
  readonly closed: ClosedIntakes;
  readonly overQuota: OverQuota;
}

/** What a job needs to be admitted: its dependencies, an open intake, and room in its quota. */
interface Admission extends Pick<Call, "closed" | "overQuota"> {
  readonly dependencies: Dependencies;
}

/** Null: the job is admitted. */
function admissionRefusal(
  numbered: NumberedJob,
  { closed, overQuota, dependencies }: Admission,
): EnqueueAnswer | null {
  const { interned } = numbered;
  const { job } = interned;
  const refused = intakeRefusal(job, interned, closed) ?? overQuota.get(job.id);
  return refused ?? dependencyRefusal(numbered, dependencies);
}

/** Creates jobs of which no two share an id or a key, so that none affects another. */
async function enqueueRound(
  transaction: JobWriter,
  round: readonly NumberedJob[],
  { keyHolders, closed, overQuota }: Call,
): Promise<Answers> {
  const answers: Answers = new Map();
  const open = (): NumberedJob[] => round.filter(({ interned }) => !answers.has(interned));
  // Ids first: a repeat of a job does not compete for its key.
  await findRepeats(transaction, internedOf(round), answers);
  await takeIdempotency(transaction, internedOf(open()), answers);
  const numbered = open();
  const dependencies = await findDependencies(transaction, numbered, keyHolders);
  const admission = { closed, overQuota, dependencies };
  await takeDedup(transaction, numbered, answers, admission);
  refuseUnadmitted(open(), answers, admission);
  await releaseKeys(transaction, numbered, answers);
  await insert(transaction, open(), answers, dependencies);
  return withStates(transaction, answers);
}

function internedOf(numbered: readonly NumberedJob[]): InternedJob[] {
  return numbered.map(({ interned }) => interned);
}

async function findRepeats(
  transaction: JobWriter,
  jobs: readonly InternedJob[],
  answers: Answers,
): Promise<void> {
  const rows = await transaction.all("find_bodies", { ids: uuids(jobs.map(({ job }) => job.id)) });
  const bodies = new Map(rows.map((row) => [row.id, row]));
  for (const interned of jobs) {
    const body = bodies.get(interned.job.id);
    if (body !== undefined) answers.set(interned, repeatAnswer(interned, body));
  }
}

async function takeIdempotency(
  transaction: JobWriter,
  jobs: readonly InternedJob[],
  answers: Answers,
): Promise<void> {
  const keyed = jobs.filter(({ job }) => job.idempotency !== null);
  if (keyed.length === 0) return;
  const wanted = JSON.stringify(keyed.map(idempotencyRow));
  const taken = new Set(
    (await transaction.all("take_idempotency", { wanted })).map((row) => row.job_id),
  );
  const lost = keyed.filter(({ job }) => !taken.has(job.id));
  if (lost.length === 0) return;
  const rows = await transaction.all("find_idempotency", {
    wanted: JSON.stringify(lost.map(idempotencyRow)),
  });
  const holders = new Map(rows.map((row) => [row.seeker, row]));
  for (const interned of lost) {
    const held = holders.get(interned.job.id);
    if (held === undefined) throw new Outdated("the holder of an idempotency key was removed");
    answers.set(interned, idempotencyAnswer(interned, held));
  }
}

function idempotencyRow({ job, tenant }: InternedJob): object {
  const body = Buffer.from(requestHash(job)).toString("hex");
  return { tenant, key: job.idempotency?.key, job_id: uuidOf(job.id), body };
}

function idempotencyAnswer(
  { job }: InternedJob,
  { holder, same }: { readonly holder: JobId; readonly same: boolean },
): EnqueueAnswer {
  if (!same) return { status: "refused", code: "IDEMPOTENCY_CONFLICT", holder };
  if (job.idempotency?.onConflict === "error") {
    return { status: "refused", code: "IDEMPOTENCY_KEY_USED", holder };
  }
  return { status: "existing", id: holder, state: null, by: "idempotency" };
}

/** Draws a key for each job. For a producer, also reads which intakes are closed. */
async function reserveKeys(
  transaction: JobWriter,
  jobs: readonly InternedJob[],
): Promise<{ readonly numbered: NumberedJob[]; readonly closed: ClosedIntakes }> {
  const rows = await transaction.all("draw_keys", { count: jobs.length });
  const numbered = jobs.map((interned, index) => ({ interned, key: rows[index]!.key }));
  if (transaction.isProducer !== true) return { numbered, closed: ALL_OPEN };
  requireProtocol(rows[0]?.protocol ?? 0);
  if ((rows[0]?.quotas ?? 0) > (transaction.quotas ?? Infinity)) throw new NewerQuotas();
  const closed = rows[0]?.closed === true ? await intakesOf(transaction, jobs) : ALL_OPEN;
  return { numbered, closed };
}

async function takeDedup(
  transaction: JobWriter,
  numbered: readonly NumberedJob[],
  answers: Answers,
  admission: Admission,
): Promise<void> {
  const rows = await takeFreeRows(transaction, numbered);
  const conflicts: DedupConflict[] = [];
  for (const { type, seeker: key, holder, id } of rows) {
    const seeker = numbered.find((each) => each.key === key)!;
    const isSuccessor = type === 0;
    if (!isSuccessor) conflicts.push({ seeker, holder });
    // A second successor is answered with the first one, and changes no dedup holder.
    if (!isSuccessor && answers.has(seeker.interned)) continue;
    const by = isSuccessor ? "successor" : "dedup";
    answers.set(seeker.interned, { status: "existing", id, state: null, by });
  }
  const withPolicy = (policy: string): DedupConflict[] =>
    conflicts.filter(({ seeker: { interned } }) => {
      const answer = answers.get(interned);
      const isDuplicate = answer?.status === "existing" && answer.by === "dedup";
      return isDuplicate && interned.job.dedup?.onConflict === policy;
    });
  await replace(
    transaction,
    await refuseReplacing(transaction, withPolicy("replace"), answers, admission),
    answers,
  );
  await extend(transaction, withPolicy("extend"));
}

/** Refuses jobs that are not admitted. Only their keys were written so far. */
function refuseUnadmitted(
  numbered: readonly NumberedJob[],
  answers: Answers,
  admission: Admission,
): void {
  for (const each of numbered) {
    const refused = admissionRefusal(each, admission);
    if (refused !== null) answers.set(each.interned, refused);
  }
}

/** A row of `dedup` that another job holds. */
interface HeldRow {
  readonly type: number;
  readonly seeker: JobKey;
  readonly holder: JobKey;
  readonly id: JobId;
}

/**
 * Takes rows of `dedup`. Answers the rows that other jobs hold. The row of a holder without a job
 * row counts as free.
 */
async function takeFreeRows(
  transaction: JobWriter,
  numbered: readonly NumberedJob[],
): Promise<readonly HeldRow[]> {
  const lost = await takeRows(transaction, numbered.flatMap(wantedRows));
  if (lost.length === 0) return [];
  await lockChanged(transaction, numbered, lost);
  const rows = await transaction.all("find_dedup", { wanted: JSON.stringify(lost) });
  if (rows.length < lost.length) throw new Outdated("the holder of a dedup key was removed");
  const held = rows.flatMap(({ id, ...row }) => (id === null ? [] : [{ ...row, id }]));
  if (held.length === rows.length) return held;
  const deleted = rows.filter(({ id }) => id === null);
  const holders = deleted.map(({ holder }) => holder);
  await transaction.run("delete_dedup", { jobs: list(holders) });
  const freed = new Set(deleted.map(({ type, seeker }) => rowKey(type, seeker)));
  const again = lost.filter(({ type, job }) => freed.has(rowKey(type, job)));
  const taken = await takeRows(transaction, again);
  if (taken.length > 0) throw new Outdated("a dedup key was taken while the key was freed");
  transaction.warnings.reportFreedKeys(holders);
  return held;
}

/** Locks the keys whose holders will be extended or replaced. */
async function lockChanged(
  transaction: JobWriter,
  numbered: readonly NumberedJob[],
  lost: readonly WantedRow[],
): Promise<void> {
  const changing = new Set(
    numbered.flatMap(({ interned, key }) => (mayChangeHolder(interned) ? [key] : [])),
  );
  const changed = lost.filter(({ type, job }) => type !== 0 && changing.has(job));
  if (changed.length === 0) return;
  await transaction.all("lock_dedup", { wanted: JSON.stringify(changed) });
}

/** Takes rows of `dedup`. Answers the rows that other jobs hold. */
async function takeRows(
  transaction: JobWriter,
  wanted: readonly WantedRow[],
): Promise<readonly WantedRow[]> {
  if (wanted.length === 0) return [];
  const rows = await transaction.all("take_dedup", { wanted: JSON.stringify(wanted) });
  const taken = new Set(rows.map(({ type, job }) => rowKey(type, job)));
  return wanted.filter(({ type, job }) => !taken.has(rowKey(type, job)));
}

/** Identifies a row: a job takes at most one with type 0 and one with its own type. */
function rowKey(type: number, job: JobKey): string {
  return `${type} ${job}`;
}

/** A new job, and the holder of its dedup key. */
interface DedupConflict {
  readonly seeker: NumberedJob;
  readonly holder: JobKey;
}

/** A job that is not admitted is refused and does not replace a waiting holder. */
async function refuseReplacing(
  transaction: JobWriter,
  replacing: readonly DedupConflict[],
  answers: Answers,
  admission: Admission,
): Promise<readonly DedupConflict[]> {
  const unadmitted = replacing.filter(({ seeker }) => admissionRefusal(seeker, admission) !== null);
  if (unadmitted.length === 0) return replacing;
  const holders = list(unadmitted.map(({ holder }) => holder));
  const rows = await transaction.all("still_waiting", { keys: holders });
  const waiting = new Set(rows.map(({ key }) => key));
  const refused = unadmitted
    .filter(({ holder }) => waiting.has(holder))
    .map(({ seeker }) => seeker);
  refuseUnadmitted(refused, answers, admission);
  return replacing.filter((each) => !unadmitted.includes(each));
}

/** Cancels waiting holders and takes their keys. A running holder keeps its key. */
async function replace(
  transaction: JobWriter,
  replaced: readonly DedupConflict[],
  answers: Answers,
): Promise<void> {
  const waiting = await takeWaiting(
    transaction,
    replaced.map(({ holder }) => holder),
  );
  const done = replaced.filter(({ holder }) => waiting.has(holder));
  await endUnstarted(
    transaction,
    done.map(({ seeker: { interned }, holder }) => {
      const { job } = interned;
      const reason = `replaced by ${job.id} under the dedup key ${job.dedup?.key}`;
      return { ...waiting.get(holder)!, reason };
    }),
  );
  const freed = done.flatMap(({ seeker }) => wantedRows(seeker).filter(({ type }) => type !== 0));
  const lost = await takeRows(transaction, freed);
  if (lost.length > 0) throw new Outdated("a dedup key was taken while its holder was replaced");
  for (const { seeker } of done) answers.delete(seeker.interned);
}

/** Postpones waiting holders to the due times of the new jobs. */
async function extend(transaction: JobWriter, extended: readonly DedupConflict[]): Promise<void> {
  const waiting = await takeWaiting(
    transaction,
    extended.map(({ holder }) => holder),
  );
  await putWaiting(
    transaction,
    extended.flatMap(({ seeker, holder }) => {
      const place = waiting.get(holder);
      return place === undefined ? [] : [{ ...place, ...dueOf(seeker.interned.job) }];
    }),
  );
}

/** Releases the keys of jobs that are not created. */
async function releaseKeys(
  transaction: JobWriter,
  numbered: readonly NumberedJob[],
  answers: Answers,
): Promise<void> {
  const uncreated = numbered.filter(({ interned }) => answers.has(interned));
  if (uncreated.length === 0) return;
  await transaction.run("delete_dedup", { jobs: list(uncreated.map(({ key }) => key)) });
  const taken = uncreated.filter(({ interned }) => interned.job.idempotency !== null);
  if (taken.length === 0) return;
  await transaction.run("return_idempotency", {
    taken: JSON.stringify(taken.map(({ interned }) => idempotencyRow(interned))),
  });
}

async function insert(
  transaction: JobWriter,
  jobs: readonly NumberedJob[],
  answers: Answers,
  dependencies: Dependencies,
): Promise<void> {
  if (jobs.length === 0) return;
  const rows = dependencyRows(jobs, dependencies);
  const [made] = await transaction.tuples("insert_jobs", {
    jobs: JSON.stringify(jobs.map(({ interned, key }) => jobRow(interned, key))),
    dependencies: JSON.stringify(rows),
    asked: jobs.length,
  });
  const [count, scheduled, , keys] = made ?? [0, null, null, null];
  if (count < jobs.length) throw new Outdated("another call has inserted the same id");
  const heirs = jobs.filter(({ interned }) => isHeir(interned.job)).map(({ key }) => key);
  if (heirs.length > 0) await transaction.run("take_over", { keys: list(heirs) });
  const dependants = new Set(rows.map(({ job }) => job));
  if (dependants.size > 0) transaction.outbox.addDependants([...dependants]);
  transaction.outbox.add({ kind: "job:enqueued", jobs: keys ?? [] });
  transaction.outbox.wake();
  const isLater = new Set(scheduled);
  for (const { interned } of jobs) {
    const { id } = interned.job;
    const state = isLater.has(id) ? "scheduled" : "queued";
    answers.set(interned, { status: "created", id, state });
  }
}

/** Adds the states of key holders. An idempotency key may outlive its job. */
async function withStates(transaction: JobWriter, answers: Answers): Promise<Answers> {
  const ids = [...answers.values()].flatMap((answer) =>
    answer.status === "existing" && answer.by !== "id" ? [answer.id] : [],
  );
  if (ids.length === 0) return answers;
  const rows = await transaction.all("states_of", { ids: uuids(ids) });
  const states = new Map(rows.map(({ id, state }) => [id, stateCodec.word(state)]));
  for (const [interned, answer] of answers) {
    if (answer.status !== "existing" || answer.by === "id") continue;
    answers.set(interned, { ...answer, state: states.get(answer.id) ?? null });
  }
  return answers;
}

/** Whether a job takes over the checkpoints of the job that it retries. */
function isHeir({ retryOf, ignoreCheckpoints }: NewJob): boolean {
  return retryOf !== null && ignoreCheckpoints !== true;
}
