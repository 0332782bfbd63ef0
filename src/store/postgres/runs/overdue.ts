/** overdue: the runs of a worker that have exceeded their time limit. */
import type { OverdueRun, WorkerId } from "../../types/jobs-and-runs.ts";
import { factsOf } from "./lease.ts";
import type { Session } from "../database/session.ts";
import { uuidOf } from "../database/values.ts";

export async function overdue(
  session: Session,
  worker: WorkerId,
  slackMs: number,
): Promise<readonly OverdueRun[]> {
  const rows = await session.read.all("overdue_runs", {
    worker: uuidOf(worker),
    slack_ms: Math.round(slackMs),
  });
  return rows.map((row) => {
    const { number, secret, key, n, limit_ms: limitMs, ran_ms: ranMs } = row;
    return { lease: { number, secret }, key, n, limitMs, ranMs, facts: factsOf(row) };
  });
}
