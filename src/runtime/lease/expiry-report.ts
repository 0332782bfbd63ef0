/** What the log says when the lease of a worker has expired by the clock of its process. */
import { formatDuration } from "../../core/duration.ts";
import type { Logger } from "../../api/context.ts";
import type { WorkerId } from "../../store/types/jobs-and-runs.ts";
import type { ExpiryCause } from "./lease-timer.ts";

export interface Expiry {
  readonly cause: ExpiryCause;
  readonly worker: WorkerId;
  /** How many runs were told to stop. */
  readonly runs: number;
  /** Whether the heartbeat has its own thread, which a blocked event loop does not delay. */
  readonly hasThread: boolean;
}

export function reportExpiry(logger: Logger, { cause, worker, runs, hasThread }: Expiry): void {
  const { why, hint } = explained(cause, hasThread);
  logger.warn(
    `lease expired: ${why}; ${runs} run(s) were told to stop, and no job starts until a ` +
      "heartbeat succeeds",
    {
      code: "LEASE_EXPIRED",
      worker_id: worker,
      cause: CAUSES[cause.type],
      ...(cause.type === "failed" ? { error: cause.error } : { ms: Math.round(cause.ms) }),
      hint,
    },
  );
}

const CAUSES = {
  failed: "store_failed",
  silent: "store_silent",
  blocked: "event_loop_delay",
} as const;

function explained(
  cause: ExpiryCause,
  hasThread: boolean,
): { readonly why: string; readonly hint: string } {
  switch (cause.type) {
    case "failed":
      return {
        why: "the store refuses every heartbeat",
        hint: "Remove the cause of this error. The worker then continues by itself.",
      };
    case "silent":
      return {
        why: `the store has not answered for ${duration(cause.ms)}`,
        hint:
          "Look for a process that locks the database, for an overloaded database, and for a " +
          "broken network. The worker continues by itself.",
      };
    case "blocked":
      return hasThread
        ? {
            why: `this process did not run for ${duration(cause.ms)}`,
            hint: "The process was paused, or its host is overloaded: run fewer jobs at a time.",
          }
        : {
            why: `the event loop was blocked for ${duration(cause.ms)}`,
            hint: "A handler computes without await: move the computation to a worker thread.",
          };
  }
}

function duration(ms: number): string {
  return formatDuration(Math.round(ms));
}
