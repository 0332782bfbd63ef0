/** overdue: runs of a worker that exceed their time limit. */
import { idBytes } from "../../../core/ids.ts";
import type { OverdueRun, WorkerId } from "../../types/jobs-and-runs.ts";
import { factsOf, openRuns, withFacts } from "./lease.ts";
import type { Session } from "../database/session.ts";

export function overdue(session: Session, worker: WorkerId, slackMs: number): OverdueRun[] {
  const { sql, clock } = session;
  const now = clock.now();
  return sql.all("leases_of_worker", { worker: idBytes(worker) }).flatMap((lease) => {
    return withFacts(session, openRuns(session, lease)).flatMap((job) => {
      const limitMs = job.timeout_ms;
      // A prefetched job has not run yet.
      const ranMs = now - (job.startedAt ?? now);
      if (limitMs === null || ranMs <= limitMs + slackMs) return [];
      const { key, n } = job;
      const facts = factsOf(session, job);
      const { number, secret } = lease;
      return [{ lease: { number, secret }, key, n, limitMs, ranMs, facts }];
    });
  });
}
