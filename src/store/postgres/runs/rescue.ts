/** rescue: returns or ends the runs of a silent worker, the same way as settle does. */
import { repeating } from "../database/retry.ts";
import type { RescueAnswer, RescueRequest } from "../../types/jobs-and-runs.ts";
import { isUnstarted, returnUnstarted } from "./prefetch.ts";
import { endRuns } from "./attempts.ts";
import { failureOf } from "../database/errors.ts";
import { dropMissing, factsOf, narrowLeases, runsOf, withFacts } from "./lease.ts";
import { bounded } from "../../shared/limits.ts";
import { dropPermits, lockPermits } from "../queue/limits.ts";
import { countLoneDeath } from "../queue/crash-streaks.ts";
import { deletePartsOf } from "./workers.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { uuidOf, uuids } from "../database/values.ts";
import type { RunRow } from "../database/queries.gen.ts";

/** Jobs moved and leases locked in one transaction. */
const RESCUE_MAX = 500;
const LEASES_MAX = 100;
/** Lock time-out while another rescue or a settle is in progress. */
const LOCK_MS = 2_000;

const NOTHING: RescueAnswer = { returned: 0, settled: [], missing: [], done: false };

export async function rescue(session: Session, request: RescueRequest): Promise<RescueAnswer> {
  try {
    return await repeating(session.dice, () =>
      session.transaction((transaction) => rescueWithin(transaction, request), { lockMs: LOCK_MS }),
    );
  } catch (error) {
    if (failureOf(error) === "locked") return NOTHING;
    throw error;
  }
}

/**
 * Locks the workers of the process, then the leases of this worker in order, and reads their open
 * runs after that.
 */
async function rescueWithin(
  transaction: StoreTransaction,
  request: RescueRequest,
): Promise<RescueAnswer> {
  const worker = uuidOf(request.worker);
  const begun = await countBegun(transaction, request);
  if (begun === null) return NOTHING;
  // Before the locks of the runs, which a claim acquires after its permits.
  await lockPermits(transaction, worker);

  const leases = await transaction.all("own_leases_of_worker", { worker, limit: LEASES_MAX });
  const runs = await runsOf(
    transaction,
    leases.map(({ number }) => number),
  );
  const open = runs.filter(({ ended }) => !ended);
  const chunk = open.slice(0, bounded(request.limit, RESCUE_MAX));
  const moved = chunk.filter((run) => !run.missing);
  const missing = chunk.filter((run) => run.missing).map(({ key }) => key);
  await dropMissing(transaction, missing);
  const returned = await returnUnstarted(transaction, moved.filter(isUnstarted));
  const settled = await endCrashed(
    transaction,
    moved.filter((run) => !isUnstarted(run)),
    { ...request, isAlone: begun === 1 },
  );
  await narrowLeases(transaction, runs, new Set(chunk.map(({ key }) => key)));
  const done = (await transaction.run("delete_worker", { id: worker })) > 0;
  if (done) {
    await deletePartsOf(transaction, worker);
    await dropPermits(transaction, worker);
  }
  return { returned, settled, missing, done };
}

/**
 * How many runs the workers of the process had begun when it died. The first rescue of a worker of
 * the process counts and stores the number. Null: the worker has renewed its lease.
 */
async function countBegun(
  transaction: StoreTransaction,
  { worker, beats }: RescueRequest,
): Promise<number | null> {
  const workers = await transaction.all("lock_process", { id: uuidOf(worker), beats });
  const own = workers.find(({ id }) => id === worker);
  if (own === undefined || own.beats !== beats) return null;
  if (own.died_with !== null) return own.died_with;
  const ids = uuids(workers.map(({ id }) => id));
  const counted = await transaction.all("set_died_with", { workers: ids });
  return counted.find(({ id }) => id === worker)?.died_with ?? null;
}

async function endCrashed(
  transaction: StoreTransaction,
  runs: readonly RunRow[],
  { decide, isAlone }: RescueRequest & { readonly isAlone: boolean },
): Promise<RescueAnswer["settled"]> {
  const jobs = (await withFacts(transaction, runs)).map((job) => ({
    ...job,
    startedAt: job.started_at,
    settlement: decide(factsOf(job), isAlone),
  }));
  const states = await endRuns(transaction, jobs);
  for (const { type, settlement } of jobs) {
    const hasDiedAlone = settlement.to === "failed" && settlement.hasDiedAlone === true;
    if (hasDiedAlone) await countLoneDeath(transaction, type);
  }
  return jobs.map(({ key, id }) => ({ id, to: states.get(key) ?? "running" }));
}
