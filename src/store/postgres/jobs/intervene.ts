/** hurry and intervene: an operator moves a job by hand. */
import { isFinal, type JobId } from "../../../core/job.ts";
import type { Settlement } from "../../../core/outcome.ts";
import { stateCodec } from "../../shared/codes.ts";
import type { CrashFacts, JobKey, WorkerId } from "../../types/jobs-and-runs.ts";
import type { InterveneAnswer } from "../../types/records.ts";
import { startOf } from "../../shared/run-end.ts";
import { endRuns } from "../runs/attempts.ts";
import { Outdated } from "../database/errors.ts";
import { lockRunning } from "../runs/lock-running.ts";
import { factsOf, withFacts } from "../runs/lease.ts";
import { takeWaiting } from "../queue/places.ts";
import { repeating } from "../database/retry.ts";
import type { Session, SessionTransaction } from "../database/session.ts";
import { list, uuidOf } from "../database/values.ts";
import type { RunRow } from "../database/rows-runs.ts";

/** How long a settle or a rescue that is under way is waited for. */
const LOCK_MS = 5_000;

export async function hurry(
  session: Session,
  id: JobId,
): Promise<InterveneAnswer | { readonly status: "running" }> {
  return repeating(session.dice, () =>
    session.transaction(async (transaction) => {
      const moved = await transaction.run("hurry_job", { id: uuidOf(id) });
      if (moved > 0) transaction.outbox.wake();
      const job = await transaction.get("state_of", { id: uuidOf(id) });
      if (job === undefined) return { status: "unknown" };
      const state = stateCodec.word(job.state);
      if (isFinal(state)) return { status: "final", state };
      if (state === "running") return { status: "running" };
      if (state === "scheduled") throw new Outdated("a job was put off while it was hurried");
      return { status: "done", state };
    }),
  );
}

export async function intervene(
  session: Session,
  id: JobId,
  decide: (job: CrashFacts) => Settlement,
): Promise<InterveneAnswer> {
  let aimed = Infinity;
  const remember = ({ n }: Found): void => void (aimed = n);
  return repeating(session.dice, (isRepeat) =>
    session.transaction(
      async (transaction) => {
        const job = await transaction.get("state_of", { id: uuidOf(id) });
        if (job === undefined) return { status: "unknown" };
        const state = stateCodec.word(job.state);
        // When the first answer was lost, the row that it was to write is taken for its work.
        if (isRepeat && job.runs >= aimed) return { status: "done", state };
        if (isFinal(state)) return { status: "final", state };
        return interveneWithin(transaction, { id, key: job.key, decide, remember });
      },
      { lockMs: LOCK_MS },
    ),
  );
}

async function interveneWithin(
  transaction: SessionTransaction,
  { id, key, decide, remember }: Intervention,
): Promise<InterveneAnswer> {
  const found = (await waiting(transaction, key)) ?? (await running(transaction, id, key));
  if ("status" in found) return found;
  remember(found);
  const [job] = await withFacts(transaction, [found]);
  if (job === undefined) throw new Error(`job ${key} vanished while an operator moved it`);
  const settlement = decide(factsOf(job));
  const startedAt = startOf(settlement, found);
  const states = await endRuns(transaction, [{ ...found, startedAt, settlement }]);
  await letGo(transaction, found);
  return { status: "done", state: states.get(key) ?? "running" };
}

interface Intervention {
  readonly id: JobId;
  readonly key: JobKey;
  readonly decide: (job: CrashFacts) => Settlement;
  readonly remember: (found: Found) => void;
}

/** A run, or a wait for one, and who holds it, if anybody does. */
interface Found {
  readonly key: JobKey;
  readonly n: number;
  readonly fence: number | null;
  readonly startedAt: number | null;
  readonly claimedAt: number | null;
  readonly holder: { readonly worker: WorkerId; readonly runs: readonly RunRow[] } | null;
}

/** Takes a waiting job out of its place. */
async function waiting(transaction: SessionTransaction, key: JobKey): Promise<Found | null> {
  const place = (await takeWaiting(transaction, [key])).get(key);
  if (place === undefined) return null;
  return { key, n: place.n, fence: null, startedAt: null, claimedAt: null, holder: null };
}

/** Whoever has the job: the ledger row under their lease makes what they say later stale. */
async function running(
  transaction: SessionTransaction,
  id: JobId,
  key: JobKey,
): Promise<Found | InterveneAnswer> {
  const held = await lockRunning(transaction, id, key);
  if (held.isOver) return { status: "final", state: held.state };
  const { holder, job } = held;
  const run = holder?.runs.find((each) => each.key === key && !each.ended);
  if (run !== undefined) {
    const { n, fence, started_at: startedAt, claimed_at: claimedAt } = run;
    return { key, n, fence, startedAt, claimedAt, holder };
  }
  // Of a damaged database: nobody has it. For all that is known, it has begun.
  return { key, n: job.runs + 1, fence: null, startedAt: job.at, claimedAt: null, holder: null };
}

/**
 * A lease without open runs goes. But a run that had begun stays in it until its worker has heard
 * of it and has let go.
 */
async function letGo(
  transaction: SessionTransaction,
  { key, fence, startedAt, holder }: Found,
): Promise<void> {
  if (fence === null || holder === null) return;
  if (holder.runs.some((run) => run.key !== key && !run.ended)) return;
  const isToBeHeard =
    startedAt !== null &&
    (await transaction.get("find_worker", { id: uuidOf(holder.worker) })) !== undefined;
  if (!isToBeHeard) await transaction.run("delete_leases", { numbers: list([fence]) });
}
