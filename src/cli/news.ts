/** What has happened to a job since one last looked. Pure: looking is done in `follow.ts`. */
import { isFinal, type State } from "../core/job.ts";
import type { Fault } from "../core/outcome.ts";
import type { Json } from "../core/payload.ts";
import type { AttemptView, JobView } from "../face/client.ts";

/** Named like the events of `mill.on`. */
export type News =
  | { readonly event: "job:enqueued"; readonly state: State; readonly runAt: Date | null }
  | { readonly event: "job:started"; readonly attempt: number }
  | {
      readonly event: "job:retrying";
      readonly attempt: number;
      readonly outcome: AttemptView["outcome"];
      readonly error: Fault | null;
      readonly runAt: Date | null;
    }
  | { readonly event: "job:completed"; readonly state: State; readonly result: Json }
  | { readonly event: "job:failed"; readonly error: Fault | null }
  | { readonly event: "job:cancelled"; readonly reason: string | null };

/** How much of a job's story has been told. */
export interface Told {
  readonly isFirst: boolean;
  readonly runsStarted: number;
  readonly runsEnded: number;
}

export const NOTHING_TOLD: Told = { isFirst: true, runsStarted: 0, runsEnded: 0 };

export function newsOf(
  told: Told,
  job: JobView,
  attempts: readonly AttemptView[],
): { readonly news: readonly News[]; readonly told: Told } {
  const news: News[] = [];
  let { runsStarted } = told;
  const start = (run: number): void => {
    if (run <= runsStarted) return;
    news.push({ event: "job:started", attempt: run });
    runsStarted = run;
  };
  if (told.isFirst && attempts.length === 0 && isWaiting(job.state)) {
    news.push({ event: "job:enqueued", state: job.state, runAt: job.runAt });
  }
  for (const [index, attempt] of attempts.entries()) {
    if (index < told.runsEnded) continue;
    if (attempt.startedAt !== null) start(index + 1);
    const isLast = isFinal(job.state) && index === attempts.length - 1;
    if (!isLast) news.push(retrying(index + 1, attempt));
  }
  if (job.state === "running" && job.startedAt !== null) start(attempts.length + 1);
  if (isFinal(job.state)) news.push(endOf(job));
  return { news, told: { isFirst: false, runsStarted, runsEnded: attempts.length } };
}

function isWaiting(state: State): boolean {
  return state === "scheduled" || state === "queued";
}

function retrying(run: number, { outcome, error, nextRunAt }: AttemptView): News {
  return { event: "job:retrying", attempt: run, outcome, error, runAt: nextRunAt };
}

function endOf({ state, result, error, cancelReason }: JobView): News {
  if (state === "failed") return { event: "job:failed", error };
  if (state === "cancelled") return { event: "job:cancelled", reason: cancelReason };
  return { event: "job:completed", state, result };
}
