/** rescue: takes the jobs of a silent worker back, through the same door as settle. */
import { repeating } from "../database/retry.ts";
import type { JobKey, Rescue, RescueRequest } from "../../types/jobs-and-runs.ts";
import { isCertain, lastStartOf } from "../../shared/crash-charge.ts";
import { isWaiting, returnUnstarted } from "./prefetch.ts";
import { endRuns } from "./attempts.ts";
import { failureOf } from "../database/errors.ts";
import { factsOf, keepRuns, runsOf, withFacts } from "./lease.ts";
import { bounded } from "../../shared/limits.ts";
import type { Session, SessionTransaction } from "../database/session.ts";
import { uuidOf } from "../database/values.ts";
import type { RunRow } from "../database/rows-runs.ts";

/** Jobs moved and leases looked at in one transaction. */
const RESCUE_MAX = 500;
const LEASES_MAX = 100;
/** How long another rescuer, or a settle under way, is waited for. */
const LOCK_MS = 2_000;

const NOTHING: Rescue = { returned: 0, settled: [], done: false };

export async function rescue(session: Session, request: RescueRequest): Promise<Rescue> {
  try {
    return await repeating(session.dice, () =>
      session.transaction((transaction) => rescueWithin(transaction, request), { lockMs: LOCK_MS }),
    );
  } catch (error) {
    if (failureOf(error) === "locked") return NOTHING;
    throw error;
  }
}

/** Locks the worker, then its leases in order, and only then looks at what is open. */
async function rescueWithin(
  transaction: SessionTransaction,
  request: RescueRequest,
): Promise<Rescue> {
  const worker = uuidOf(request.worker);
  const { beats } = request;
  const silent = await transaction.get("lock_silent_worker", { id: worker, beats });
  if (silent === undefined) return NOTHING;

  const leases = await transaction.all("own_leases_of_worker", { worker, limit: LEASES_MAX });
  const runs = await runsOf(
    transaction,
    leases.map(({ number }) => number),
  );
  const open = runs.filter(({ ended }) => !ended);
  const moved = open.slice(0, bounded(request.limit, RESCUE_MAX));
  const returned = await returnUnstarted(transaction, moved.filter(isWaiting));
  const settled = await endCrashed(
    transaction,
    moved.filter((run) => !isWaiting(run)),
    {
      ...request,
      lastWave: lastStartOf(open.map(({ key, started_at: startedAt }) => ({ key, startedAt }))),
    },
  );
  await keepRuns(transaction, runs, new Set(moved.map(({ key }) => key)));
  const done = (await transaction.run("delete_worker", { id: worker })) > 0;
  return { returned, settled, done };
}

async function endCrashed(
  transaction: SessionTransaction,
  runs: readonly RunRow[],
  { decide, lastWave }: RescueRequest & { readonly lastWave: ReadonlySet<JobKey> },
): Promise<Rescue["settled"]> {
  const jobs = await withFacts(transaction, runs);
  const states = await endRuns(
    transaction,
    jobs.map((job) => ({
      ...job,
      startedAt: job.started_at,
      settlement: decide(factsOf(job), isCertain(job, lastWave)),
    })),
  );
  return jobs.map(({ key, id }) => ({ id, to: states.get(key) ?? "running" }));
}
