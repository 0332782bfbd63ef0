/** hurry and intervene: an operator makes a job due, or ends its wait or its run. */
import { writeAudits } from "../audit/write.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import { hurried, intervened } from "../../shared/audit/drafts.ts";
import { isFinal, type JobId } from "../../../core/job.ts";
import type { Settlement } from "../../../core/outcome.ts";
import { stateCodec } from "../../shared/codes.ts";
import type { InterveneFacts, JobKey, WorkerId } from "../../types/jobs-and-runs.ts";
import type { InterveneAnswer } from "../../types/records.ts";
import { startOf } from "../../shared/run-end.ts";
import { endRuns } from "../runs/attempts.ts";
import { Outdated } from "../database/errors.ts";
import { lockRunning } from "../runs/lock-running.ts";
import { factsOf, withFacts } from "../runs/lease.ts";
import { takeWaiting } from "../queue/places.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { list, uuidOf } from "../database/values.ts";
import type { RunRow } from "../database/queries.gen.ts";

/** Lock time-out while a settle or a rescue is in progress. */
const LOCK_MS = 5_000;

export async function hurry(
  session: Session,
  id: JobId,
  act: Act = NO_ACT,
): Promise<InterveneAnswer | { readonly status: "running" }> {
  return repeating(session.dice, () =>
    session.transaction((transaction) => hurryWithin(transaction, id, act)),
  );
}

/** The same within another transaction. */
export async function hurryWithin(
  transaction: StoreTransaction,
  id: JobId,
  act: Act,
): Promise<InterveneAnswer | { readonly status: "running" }> {
  const done = await transaction.get("hurry_job", { id: uuidOf(id) });
  const [moved, forward] = [done?.moved ?? 0, done?.put_forward ?? 0];
  if (moved > 0) transaction.outbox.wake();
  const job = await transaction.get("state_of", { id: uuidOf(id) });
  if (job === undefined) return { status: "unknown" };
  const state = stateCodec.word(job.state);
  if (isFinal(state)) return { status: "final", state };
  if (state === "running") return { status: "running" };
  if (state === "scheduled") throw new Outdated("the job was postponed at the same time");
  if (moved + forward > 0) {
    await writeAudits(transaction, [hurried({ id, tenant: job.tenant }, act, state)]);
  }
  return { status: "done", state };
}

export async function intervene(
  session: Session,
  id: JobId,
  decide: (job: InterveneFacts) => Settlement,
  act: Act = NO_ACT,
): Promise<InterveneAnswer> {
  let endedRun = Infinity;
  const remember = ({ n }: FoundRun): void => void (endedRun = n);
  return repeating(session.dice, (isRepeat) =>
    session.transaction(
      async (transaction) => {
        const job = await transaction.get("state_of", { id: uuidOf(id) });
        if (job === undefined) return { status: "unknown" };
        const state = stateCodec.word(job.state);
        // After a lost answer, this attempt record was written by the first try.
        if (isRepeat && job.runs >= endedRun) return { status: "done", state };
        if (isFinal(state)) return { status: "final", state };
        const answer = await interveneWithin(transaction, { id, key: job.key, decide, remember });
        if (answer.status === "done") {
          const states = { before: state, after: answer.state };
          await writeAudits(transaction, [intervened({ id, tenant: job.tenant }, act, states)]);
        }
        return answer;
      },
      { lockMs: LOCK_MS },
    ),
  );
}

async function interveneWithin(
  transaction: StoreTransaction,
  { id, key, decide, remember }: Intervention,
): Promise<InterveneAnswer> {
  const found =
    (await takeWaitingRun(transaction, key)) ?? (await lockRunningRun(transaction, id, key));
  if ("status" in found) return found;
  remember(found);
  const [job] = await withFacts(transaction, [found]);
  if (job === undefined) throw new Error(`job ${key} has no row`);
  const settlement = decide({
    ...factsOf(job),
    isHeld: await isHeld(transaction, found),
    hasStarted: found.startedAt !== null,
  });
  const startedAt = startOf(settlement, found);
  const states = await endRuns(transaction, [{ ...found, startedAt, settlement }]);
  await letGo(transaction, found);
  return { status: "done", state: states.get(key) ?? "running" };
}

interface Intervention {
  readonly id: JobId;
  readonly key: JobKey;
  readonly decide: (job: InterveneFacts) => Settlement;
  readonly remember: (found: FoundRun) => void;
}

/** An open run, or a wait for one. `holder` is null when no lease names the job. */
interface FoundRun {
  readonly key: JobKey;
  readonly n: number;
  readonly fence: number | null;
  readonly rank: number;
  readonly startedAt: number | null;
  readonly claimedAt: number | null;
  readonly holder: { readonly worker: WorkerId; readonly runs: readonly RunRow[] } | null;
}

/** Removes a waiting job from its place. */
async function takeWaitingRun(
  transaction: StoreTransaction,
  key: JobKey,
): Promise<FoundRun | null> {
  const place = (await takeWaiting(transaction, [key])).get(key);
  if (place === undefined) return null;
  const { n, rank } = place;
  return { key, n, rank, fence: null, startedAt: null, claimedAt: null, holder: null };
}

/** Locks the lease of a running job. The attempt record makes a later settle stale. */
async function lockRunningRun(
  transaction: StoreTransaction,
  id: JobId,
  key: JobKey,
): Promise<FoundRun | InterveneAnswer> {
  const held = await lockRunning(transaction, id, key);
  if (held.isOver) return { status: "final", state: held.state };
  const { holder, job } = held;
  const run = holder?.runs.find((each) => each.key === key && !each.ended && !each.missing);
  if (run !== undefined) {
    const { n, fence, rank, started_at: startedAt, claimed_at: claimedAt } = run;
    return { key, n, fence, rank, startedAt, claimedAt, holder };
  }
  // Only in a damaged database: no lease names the job. The run may have started.
  const started = { n: job.runs + 1, rank: job.at * 1_000, startedAt: job.at };
  return { key, fence: null, claimedAt: null, holder: null, ...started };
}

async function isHeld(transaction: StoreTransaction, { holder }: FoundRun): Promise<boolean> {
  if (holder === null) return false;
  const worker = await transaction.get("worker_lives", { id: uuidOf(holder.worker) });
  return worker?.lives === true;
}

/** Tells the worker that its run was ended, started or not, and deletes an empty lease. */
async function letGo(
  transaction: StoreTransaction,
  { key, n, fence, holder }: FoundRun,
): Promise<void> {
  if (fence === null || holder === null) return;
  const runs = JSON.stringify([{ key, n }]);
  await transaction.run("insert_ended_runs", { worker: uuidOf(holder.worker), runs });
  if (holder.runs.some((run) => run.key !== key && !run.ended)) return;
  await transaction.run("delete_leases", { numbers: list([fence]) });
}
