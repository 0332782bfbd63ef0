/** `mill.pause`, `resume` and `pauses`. */
import type { ActedBy } from "../api/control/audit.ts";
import { actOf } from "../jobs/acted-by.ts";
import type { Pause, PauseTarget, QueuedCount, Resumed } from "../api/client.ts";
import { pauseTargetOf } from "../api/control/targets.ts";
import { checkRemark } from "../jobs/check-text.ts";
import { pauseView } from "../jobs/views.ts";
import type { JobStore } from "../store/store.ts";
import type { GateName } from "../store/types/records.ts";

/** The rows of each place that `resume` and `pauses` read to count jobs, over all pauses. */
const QUEUED_MAX = 100_000;

export async function pause(
  store: JobStore,
  target: PauseTarget,
  reason: string,
  by?: { readonly actor: string },
): Promise<void> {
  checkRemark("pause", "reason", reason);
  if (by !== undefined) checkRemark("pause", "actor", by.actor);
  await store.pause(pauseTargetOf("pause", target), { reason, by: by?.actor ?? null });
}

export async function resume(store: JobStore, target: PauseTarget, by?: ActedBy): Promise<Resumed> {
  const gate = pauseTargetOf("resume", target);
  const act = actOf("resume", by);
  // Beside the resume, which neither waits for the count nor fails with it.
  const uncounted = { queued: 0, atLeast: true };
  const counting = countBehind(store, gate, QUEUED_MAX).catch(() => uncounted);
  const wasPaused = await store.resume(gate, act);
  return { wasPaused, ...(await counting) };
}

export async function listPauses(store: JobStore): Promise<readonly Pause[]> {
  const pauses: Pause[] = [];
  const gates = await store.gates();
  const rows = Math.ceil(QUEUED_MAX / gates.length);
  for (const gate of gates) pauses.push(pauseView(gate, await store.countBehind(gate, rows)));
  return pauses;
}

async function countBehind(store: JobStore, gate: GateName, rows: number): Promise<QueuedCount> {
  const { jobs, isExact } = await store.countBehind(gate, rows);
  return { queued: jobs, atLeast: !isExact };
}
