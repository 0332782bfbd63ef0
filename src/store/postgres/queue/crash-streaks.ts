/**
 * endCrashStreak, and the count of jobs that have died alone, which closes the gate of their type.
 * The row of a count is locked before the row of its gate, by every verb.
 */
import {
  CRASH_GATE_BY,
  crashGateReason,
  LONE_DEATHS_MAX,
  PROBE_MS_MIN,
} from "../../../core/crashes.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";

export async function endCrashStreak(session: Session, type: string): Promise<void> {
  const { names, write, dice, notifier } = session;
  const id = await names.id("type", type);
  if (id === undefined) return;
  await repeating(dice, () => write.run("end_crash_streak", { type: id }));
  notifier.wake("work");
}

/** A job of this type has died alone. */
export async function countLoneDeath(transaction: StoreTransaction, type: number): Promise<void> {
  const row = await transaction.get("count_lone_death", { type });
  if (row === undefined || row.ended < LONE_DEATHS_MAX) return;
  const named = { type, reason: crashGateReason(row.ended) };
  if (row.is_closed) {
    await transaction.run("set_gate_reason", named);
    return;
  }
  const first = { by: CRASH_GATE_BY, probe_ms: PROBE_MS_MIN };
  await transaction.run("close_crash_gate", { ...named, ...first });
}
