/** `mill.pause`, `resume` and `pauses`. */
import type { Pause, PauseTarget, QueuedCount, Resumed } from "../api/client.ts";
import { aName } from "../api/rules.ts";
import { MillraceError } from "../core/errors.ts";
import { shown } from "../core/text.ts";
import { checkRemark, insistOn } from "../jobs/check-text.ts";
import { pauseView } from "../jobs/views.ts";
import type { JobStore } from "../store/store.ts";
import type { GateName } from "../store/types/records.ts";

const INSTALLATION: GateName = { kind: "installation", name: "all" };

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
  await store.pause(gateOf("pause", target), { reason, by: by?.actor ?? null });
}

export async function resume(store: JobStore, target: PauseTarget): Promise<Resumed> {
  const gate = gateOf("resume", target);
  // Beside the resume, which neither waits for the count nor fails with it.
  const uncounted = { queued: 0, atLeast: true };
  const counting = countBehind(store, gate, QUEUED_MAX).catch(() => uncounted);
  const wasPaused = await store.resume(gate);
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

/** A target must name exactly one of lane, type, tenant, service and installation. */
export function gateOf(verb: string, target: PauseTarget): GateName {
  checkTarget(verb, target);
  const [entry, ...more] = Object.entries(target);
  const [kind, name] = entry ?? [];
  if (kind === "installation" && name === true && more.length === 0) return INSTALLATION;
  const isKnown = kind === "lane" || kind === "type" || kind === "tenant" || kind === "service";
  if (isKnown && more.length === 0 && typeof name === "string" && name !== "") {
    insistOn(verb, aName, name, kind);
    return { kind, name };
  }
  throw new MillraceError(
    "OPTION_INVALID",
    "name one of { lane }, { type }, { tenant }, { service } and { installation: true }: " +
      '{ type: "email" }',
  );
}

/** Plain JavaScript may pass any value. */
export function checkTarget(verb: string, target: unknown): void {
  if (typeof target === "object" && target !== null) return;
  const message = `${verb}: ${shown(target)} is no target; name one, such as { type: "email" }`;
  throw new MillraceError("OPTION_INVALID", message);
}
