/**
 * Jobs with an idempotency key, a dedup key or a predecessor, and those that are to run after
 * others. Keys are unique rows, taken before the job is made and in an order that is the same for
 * all: first the idempotency keys, then the dedup keys with the places of successors. Who finds a
 * key taken waits for its holder's commit, then looks in a statement of its own, which sees it.
 * Jobs to run after are only looked up, never locked.
 */
import type { JobId } from "../../../core/job.ts";
import { bodyHash } from "../../shared/request-hash.ts";
import { stateCodec } from "../../shared/codes.ts";
import { noteKeyHolder, type KeyHolders } from "../../shared/key-holders.ts";
import type { EnqueueAnswer, JobKey, NewJob } from "../../types/jobs-and-runs.ts";
import { repeated } from "./enqueue-answers.ts";
import { Outdated } from "../database/errors.ts";
import { dueOf, rowOf, type Filed } from "./job-rows.ts";
import { endUnstarted, putWaiting, takeWaiting } from "../queue/places.ts";
import { wantedRows, wavesOf, type Bound, type WantedRow } from "./enqueue-order.ts";
import {
  findDependencies,
  dependencyRows,
  dependencyRefusal,
  type Dependencies,
} from "./enqueue-after.ts";
import type { JobWriter } from "../database/session.ts";
import { list, uuidOf, uuids } from "../database/values.ts";

/**
 * The answers stand in the order of the jobs, and so do their numbers: a job is as old as its place
 * in the call says. Those that share a key take their semaphore. `earlier` are those that gave way
 * before in the same call.
 */
export async function enqueueKeyed(
  transaction: JobWriter,
  jobs: readonly Filed[],
  earlier: KeyHolders,
): Promise<readonly EnqueueAnswer[]> {
  const answers = new Map<Filed, EnqueueAnswer>();
  const keyHolders = new Map(earlier);
  const bound = await draw(transaction, jobs);
  for (const wave of await wavesOf(transaction, bound)) {
    for (const [filed, answer] of await enqueueWave(transaction, wave, keyHolders)) {
      answers.set(filed, answer);
      noteKeyHolder(keyHolders, filed.job.id, answer);
    }
  }
  return jobs.map((job) => answers.get(job)!);
}

type Answers = Map<Filed, EnqueueAnswer>;

/** Jobs of which no two share an id or a key, so that none changes the fate of another. */
async function enqueueWave(
  transaction: JobWriter,
  wave: readonly Bound[],
  keyHolders: KeyHolders,
): Promise<Answers> {
  const answers: Answers = new Map();
  const open = (): Bound[] => wave.filter(({ filed }) => !answers.has(filed));
  // Its own id comes first: a repeat is no rival.
  await findRepeats(transaction, filedOf(wave), answers);
  await takeIdempotency(transaction, filedOf(open()), answers);
  const bound = open();
  const dependencies = await findDependencies(transaction, bound, keyHolders);
  await takeDedup(transaction, bound, answers, dependencies);
  refuseStray(open(), answers, dependencies);
  await giveBack(transaction, bound, answers);
  await insert(transaction, open(), answers, dependencies);
  return withStates(transaction, answers);
}

function filedOf(bound: readonly Bound[]): Filed[] {
  return bound.map(({ filed }) => filed);
}

async function findRepeats(
  transaction: JobWriter,
  jobs: readonly Filed[],
  answers: Answers,
): Promise<void> {
  const rows = await transaction.all("find_bodies", { ids: uuids(jobs.map(({ job }) => job.id)) });
  const bodies = new Map(rows.map((row) => [row.id, row]));
  for (const filed of jobs) {
    const body = bodies.get(filed.job.id);
    if (body !== undefined) answers.set(filed, repeated(filed, body));
  }
}

async function takeIdempotency(
  transaction: JobWriter,
  jobs: readonly Filed[],
  answers: Answers,
): Promise<void> {
  const wanting = jobs.filter(({ job }) => job.idempotency !== null);
  if (wanting.length === 0) return;
  const wanted = JSON.stringify(wanting.map(idempotencyRow));
  const taken = new Set(
    (await transaction.all("take_idempotency", { wanted })).map((row) => row.job_id),
  );
  const lost = wanting.filter(({ job }) => !taken.has(job.id));
  if (lost.length === 0) return;
  const rows = await transaction.all("find_idempotency", {
    wanted: JSON.stringify(lost.map(idempotencyRow)),
  });
  const holders = new Map(rows.map((row) => [row.seeker, row]));
  for (const filed of lost) {
    const held = holders.get(filed.job.id);
    if (held === undefined) throw new Outdated("the holder of an idempotency key is gone");
    answers.set(filed, idempotencyAnswer(filed, held));
  }
}

function idempotencyRow({ job, tenant }: Filed): object {
  const body = Buffer.from(bodyHash(job.type, job.payload)).toString("hex");
  return { tenant, key: job.idempotency?.key, job_id: uuidOf(job.id), body };
}

function idempotencyAnswer(
  { job }: Filed,
  { holder, same }: { readonly holder: JobId; readonly same: boolean },
): EnqueueAnswer {
  if (!same) return { status: "refused", code: "IDEMPOTENCY_CONFLICT", holder };
  if (job.idempotency?.onConflict === "error") {
    return { status: "refused", code: "IDEMPOTENCY_KEY_USED", holder };
  }
  return { status: "existing", id: holder, state: null, by: "idempotency" };
}

async function draw(transaction: JobWriter, jobs: readonly Filed[]): Promise<Bound[]> {
  const rows = await transaction.all("draw_keys", { count: jobs.length });
  return jobs.map((filed, index) => ({ filed, key: rows[index]!.key }));
}

async function takeDedup(
  transaction: JobWriter,
  bound: readonly Bound[],
  answers: Answers,
  dependencies: Dependencies,
): Promise<void> {
  const lost = await takeRows(transaction, bound.flatMap(wantedRows));
  if (lost.length === 0) return;
  const rows = await transaction.all("find_dedup", { wanted: JSON.stringify(lost) });
  if (rows.length < lost.length) throw new Outdated("the holder of a dedup key is gone");
  const rivals: Rivalry[] = [];
  for (const { type, seeker: key, holder, id } of rows) {
    const seeker = bound.find((each) => each.key === key)!;
    const isTwin = type === 0;
    if (!isTwin) rivals.push({ seeker, holder });
    // One that is a twin as well gives way to its elder, and disturbs nobody.
    if (!isTwin && answers.has(seeker.filed)) continue;
    const by = isTwin ? "successor" : "dedup";
    answers.set(seeker.filed, { status: "existing", id, state: null, by });
  }
  const of = (way: string): Rivalry[] =>
    rivals.filter(({ seeker: { filed } }) => {
      const answer = answers.get(filed);
      const isRival = answer?.status === "existing" && answer.by === "dedup";
      return isRival && filed.job.dedup?.onConflict === way;
    });
  await replace(
    transaction,
    await withDependencies(transaction, of("replace"), answers, dependencies),
    answers,
  );
  await extend(transaction, of("extend"));
}

/** Jobs that are to run after one that there is not. Nothing was written for them but keys. */
function refuseStray(bound: readonly Bound[], answers: Answers, dependencies: Dependencies): void {
  for (const each of bound) {
    const refused = dependencyRefusal(each, dependencies);
    if (refused !== null) answers.set(each.filed, refused);
  }
}

/** Takes rows of `dedup`. Answers those that others hold. */
async function takeRows(
  transaction: JobWriter,
  wanted: readonly WantedRow[],
): Promise<readonly WantedRow[]> {
  if (wanted.length === 0) return [];
  const rows = await transaction.all("take_dedup", { wanted: JSON.stringify(wanted) });
  const won = new Set(rows.map(({ type, job }) => markOf(type, job)));
  return wanted.filter(({ type, job }) => !won.has(markOf(type, job)));
}

/** A job wants at most one row with type 0 and one with its own type. */
function markOf(type: number, job: JobKey): string {
  return `${type} ${job}`;
}

/** A newcomer, and who holds its dedup key. */
interface Rivalry {
  readonly seeker: Bound;
  readonly holder: JobKey;
}

/** Who would replace a holder that waits, but cannot be made, is refused and disturbs nobody. */
async function withDependencies(
  transaction: JobWriter,
  replacing: readonly Rivalry[],
  answers: Answers,
  dependencies: Dependencies,
): Promise<readonly Rivalry[]> {
  const stray = replacing.filter(({ seeker }) => dependencyRefusal(seeker, dependencies) !== null);
  if (stray.length === 0) return replacing;
  const holders = list(stray.map(({ holder }) => holder));
  const rows = await transaction.all("still_waiting", { keys: holders });
  const waiting = new Set(rows.map(({ key }) => key));
  const refused = stray.filter(({ holder }) => waiting.has(holder)).map(({ seeker }) => seeker);
  refuseStray(refused, answers, dependencies);
  return replacing.filter((each) => !stray.includes(each));
}

/** Cancels holders that wait and takes their keys. A running holder is not disturbed. */
async function replace(
  transaction: JobWriter,
  replaced: readonly Rivalry[],
  answers: Answers,
): Promise<void> {
  const waiting = await takeWaiting(
    transaction,
    replaced.map(({ holder }) => holder),
  );
  const done = replaced.filter(({ holder }) => waiting.has(holder));
  await endUnstarted(
    transaction,
    done.map(({ seeker: { filed }, holder }) => {
      const { job } = filed;
      const reason = `replaced by ${job.id} under the dedup key ${job.dedup?.key}`;
      return { ...waiting.get(holder)!, reason };
    }),
  );
  const freed = done.flatMap(({ seeker }) => wantedRows(seeker).filter(({ type }) => type !== 0));
  const lost = await takeRows(transaction, freed);
  if (lost.length > 0) throw new Outdated("a dedup key was taken while it was replaced");
  for (const { seeker } of done) answers.delete(seeker.filed);
}

/** Moves holders that wait to the newcomers' due times. */
async function extend(transaction: JobWriter, extended: readonly Rivalry[]): Promise<void> {
  const waiting = await takeWaiting(
    transaction,
    extended.map(({ holder }) => holder),
  );
  await putWaiting(
    transaction,
    extended.flatMap(({ seeker, holder }) => {
      const place = waiting.get(holder);
      return place === undefined ? [] : [{ ...place, ...dueOf(seeker.filed.job) }];
    }),
  );
}

/** Keys that were taken for jobs that gave way are given back. */
async function giveBack(
  transaction: JobWriter,
  bound: readonly Bound[],
  answers: Answers,
): Promise<void> {
  const gone = bound.filter(({ filed }) => answers.has(filed));
  if (gone.length === 0) return;
  await transaction.run("delete_dedup", { jobs: list(gone.map(({ key }) => key)) });
  const taken = gone.filter(({ filed }) => filed.job.idempotency !== null);
  if (taken.length === 0) return;
  await transaction.run("return_idempotency", {
    taken: JSON.stringify(taken.map(({ filed }) => idempotencyRow(filed))),
  });
}

async function insert(
  transaction: JobWriter,
  jobs: readonly Bound[],
  answers: Answers,
  dependencies: Dependencies,
): Promise<void> {
  if (jobs.length === 0) return;
  const rows = dependencyRows(jobs, dependencies);
  const [made] = await transaction.tuples("insert_jobs", {
    jobs: JSON.stringify(jobs.map(({ filed, key }) => rowOf(filed, key))),
    dependencies: JSON.stringify(rows),
    asked: jobs.length,
  });
  const [count, scheduled, , keys] = made ?? [0, null, null, null];
  if (count < jobs.length) throw new Outdated("an id was taken meanwhile");
  const heirs = jobs.filter(({ filed }) => isHeir(filed.job)).map(({ key }) => key);
  if (heirs.length > 0) await transaction.run("take_over", { keys: list(heirs) });
  const dependants = new Set(rows.map(({ job }) => job));
  if (dependants.size > 0) transaction.outbox.leaveDependants([...dependants]);
  transaction.outbox.tell({ kind: "job:enqueued", jobs: keys ?? [] });
  transaction.outbox.wake();
  const isLater = new Set(scheduled);
  for (const { filed } of jobs) {
    const { id } = filed.job;
    const state = isLater.has(id) ? "scheduled" : "queued";
    answers.set(filed, { status: "created", id, state });
  }
}

/** How far the jobs have come that stood in the way. A key may have expired its job. */
async function withStates(transaction: JobWriter, answers: Answers): Promise<Answers> {
  const ids = [...answers.values()].flatMap((answer) =>
    answer.status === "existing" && answer.by !== "id" ? [answer.id] : [],
  );
  if (ids.length === 0) return answers;
  const rows = await transaction.all("states_of", { ids: uuids(ids) });
  const states = new Map(rows.map(({ id, state }) => [id, stateCodec.word(state)]));
  for (const [filed, answer] of answers) {
    if (answer.status !== "existing" || answer.by === "id") continue;
    answers.set(filed, { ...answer, state: states.get(answer.id) ?? null });
  }
  return answers;
}

/** Whether a job begins with what the one that it repeats has completed. */
function isHeir({ retryOf, ignoreCheckpoints }: NewJob): boolean {
  return retryOf !== null && ignoreCheckpoints !== true;
}
