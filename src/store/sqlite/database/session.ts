/** What every verb works with: the statements, the names, time and chance. */
import type { Clock, Dice } from "../../../core/clock.ts";
import type { JobKey } from "../../types/jobs-and-runs.ts";
import type { InternedNames } from "./interned-names.ts";
import type { WaitingRow } from "./queries.gen.ts";
import type { Statements } from "./statements.ts";
import type { SessionState } from "./session-state.ts";
import type { Outbox } from "../events/outbox.ts";

export interface Session {
  readonly sql: Statements;
  readonly names: InternedNames;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly outbox: Outbox;
  /** What the verbs remember between calls. */
  readonly state: SessionState;
}

/** A job on its way into a place where it waits. */
export type Waiting = WaitingRow;

/** Puts a job where it belongs by its due time: `ready` when that has come, else `scheduled`. */
export function putWaiting(
  { sql, outbox }: Session,
  job: Waiting,
  runAt: number,
  now: number,
): "scheduled" | "queued" {
  outbox.wake();
  if (runAt > now) {
    sql.run("insert_scheduled", { ...job, run_at: runAt });
    return "scheduled";
  }
  sql.run("insert_ready", { ...job, rank: runAt * 1000 });
  return "queued";
}

/** Puts a job back into `ready` exactly as it lay there. */
export function putBack({ sql, outbox }: Session, job: Waiting): void {
  outbox.wake();
  sql.run("insert_ready", { ...job });
}

/** Takes a waiting job out of whichever place it lies in. */
export function takeWaiting({ sql }: Session, key: JobKey): Waiting | undefined {
  return (
    sql.get("take_ready", { key }) ??
    sql.get("take_scheduled", { key }) ??
    sql.get("take_blocked", { key })
  );
}
