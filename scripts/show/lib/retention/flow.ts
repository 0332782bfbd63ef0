/** The jobs that flow through the queue of the retention show: most are plain, some are not. */
import { defineJob, lipas, typed } from "millrace";
import type { Preset } from "millrace";

export interface Drop {
  readonly number: number;
  readonly fails: boolean;
}

export const drop = defineJob({ type: "drop", payload: typed<Drop>(), maxAttempts: 1 });

/** What the process that works is told. */
export interface FlowSettings {
  readonly url: string;
  readonly slots: number;
  readonly keptMs: number;
}

/** Everything goes soon after its end. */
export function shortRetention(keptMs: number): Preset {
  const finishedMs = {
    completed: keptMs,
    completed_with_errors: keptMs,
    failed: keptMs,
    cancelled: keptMs,
  };
  const retention = {
    finishedMs,
    deadLetterMs: keptMs,
    idempotencyMs: keptMs,
    eventMs: keptMs,
    minutesMs: keptMs,
    auditMs: keptMs,
  };
  return { ...lipas, retention };
}
