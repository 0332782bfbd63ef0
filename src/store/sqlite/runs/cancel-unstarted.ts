/** The end of jobs that are cancelled before they begin. */
import type { Settlement } from "../../../core/outcome.ts";
import { endOf } from "../../shared/run-end.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import { dropCancelRequests } from "./cancel-requests.ts";
import { closeEnds } from "./release-run.ts";
import { insertAttempts } from "./attempts.ts";
import type { Session } from "../database/session.ts";

/** A job that lies in no place any more. */
export interface Unstarted {
  readonly key: JobKey;
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
  readonly reason: string | null;
}

/** Writes their ends. Answers whether others wait for any of them, as `closeEnds` does. */
export function cancelUnstarted(session: Session, jobs: readonly Unstarted[]): boolean {
  if (jobs.length === 0) return false;
  const { clock, outbox } = session;
  for (const { key, n, tries, crashes, reason } of jobs) {
    const settlement: Settlement = {
      to: "cancelled",
      outcome: "cancelled",
      tries,
      crashes,
      reason,
    };
    const run = { lease: null, key, n, startedAt: null, settlement };
    insertAttempts(session, run, { ...endOf(settlement, reason), nextRunAt: null }, clock.now());
  }
  const keys = jobs.map(({ key }) => key);
  dropCancelRequests(session, keys);
  outbox.tell({ kind: "job:cancelled", jobs: keys });
  return closeEnds(
    session,
    keys.map((key) => ({ key, state: "cancelled" })),
  );
}
