/** claimAlone: leases a job that must run alone. */
import { nextProbeMs } from "../../../core/crashes.ts";
import type { LoneClaim, LoneClaimRequest } from "../../types/jobs-and-runs.ts";
import { UncertainWrite } from "../database/errors.ts";
import type { ClaimTuple } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import { uuidOf } from "../database/values.ts";
import { filterOf, findLostClaim, lentParameters, newSecret } from "./claim.ts";
import { batchOf } from "./claimed-batch.ts";

/**
 * The claim is like a prefetch of one job: if its answer is lost, the next claim of the worker
 * returns the job to the queue.
 */
export async function claimAlone(
  session: Session,
  { cap, ...request }: LoneClaimRequest,
): Promise<LoneClaim | null> {
  const asPrefetch = { ...request, prefetch: true, limit: 1 };
  await findLostClaim(session, asPrefetch);
  const secret = newSecret(session);
  const worker = uuidOf(request.worker);
  const wanted = { ...(await filterOf(session, request)), ...lentParameters(request), worker, cap };
  try {
    const rows = await session.transaction(async (transaction) => {
      const answer = await transaction.tuples("claim_alone", { ...wanted, secret });
      const probe = probeOf(answer);
      if (probe !== null) await transaction.run("set_next_probe", probe);
      return answer;
    });
    const { lease, jobs, permits } = (await batchOf(session, rows, secret)).answer;
    const [job] = jobs;
    if (lease === null || job === undefined) return null;
    const claimed = { lease, job, isProbe: probeOf(rows) !== null };
    return permits === undefined ? claimed : { ...claimed, granted: permits.granted };
  } catch (error) {
    if (error instanceof UncertainWrite) session.state.lostClaims.add(asPrefetch, secret);
    throw error;
  }
}

/** The type of a probe, and how long the next probe of this type has to wait. */
function probeOf([first]: readonly ClaimTuple[]): { type: number; probe_ms: number } | null {
  const text = first?.[4] ?? null;
  if (text === null) return null;
  const [type = 0, lastMs = 0] = text.split(" ").map(Number);
  return { type, probe_ms: nextProbeMs(lastMs) };
}
