/** claimProbe: takes one job that finds out whether a service works again. */
import { recoveredProbe } from "../../shared/lost-claim.ts";
import type { LoneClaimRequest } from "../../types/jobs-and-runs.ts";
import type { ProbeClaim } from "../../types/services.ts";
import { UncertainWrite } from "../database/errors.ts";
import type { Session } from "../database/session.ts";
import { uuidOf } from "../database/values.ts";
import { filterOf, findLostClaim, lentParameters, newSecret } from "../runs/claim.ts";
import { batchOf } from "../runs/claimed-batch.ts";

/** If the answer is lost, the next call of the worker answers the job. */
export async function claimProbe(
  session: Session,
  { cap, ...request }: LoneClaimRequest,
): Promise<ProbeClaim | null> {
  const asClaim = { ...request, prefetch: false, limit: 1 };
  const recovered = recoveredProbe(await findLostClaim(session, asClaim));
  if (recovered !== null) return recovered;
  const secret = newSecret(session);
  const worker = uuidOf(request.worker);
  const wanted = { ...(await filterOf(session, request)), ...lentParameters(request), worker, cap };
  try {
    const rows = await session.transaction((transaction) =>
      transaction.tuples("claim_probe", { ...wanted, secret }),
    );
    const { lease, jobs, permits } = (await batchOf(session, rows, secret)).answer;
    const [job] = jobs;
    if (lease === null || job === undefined) return null;
    session.notifier.wake("events");
    const ids = (rows[0]?.[4] ?? "").split(" ").map(Number);
    await session.names.learn(ids);
    const claimed = { lease, job, services: ids.map((id) => session.names.text(id)) };
    return permits === undefined ? claimed : { ...claimed, granted: permits.granted };
  } catch (error) {
    if (error instanceof UncertainWrite) session.state.lostClaims.add(asClaim, secret);
    throw error;
  }
}
