/** `mill.drain` and `mill.running` of a server. The client waits, and the server counts. */
import type { Pause } from "../api/client.ts";
import type { Drained, DrainSettings, DrainTarget, RunningCount } from "../api/control/drain.ts";
import { drainTargetOf, type Named } from "../api/control/targets.ts";
import { drainTimedOut } from "../core/control/drain-words.ts";
import { isDrained, waitForDrain } from "../core/control/drain.ts";
import { isCrashGate } from "../core/crashes.ts";
import { durationMs } from "../core/duration.ts";
import { MillraceError } from "../core/errors.ts";
import { parseId } from "../core/ids.ts";
import { systemClock } from "../lib/system.ts";
import type { ServerCalls } from "./server-calls.ts";

export async function remoteDrain(
  calls: ServerCalls,
  target: DrainTarget,
  { reason = "drain", timeout = "10m", signal, onProgress }: DrainSettings = {},
): Promise<Drained> {
  const named = drainTargetOf("drain", target);
  const timeoutMs = durationMs(timeout, "drain: timeout");
  signal?.throwIfAborted();
  const keptPause = await close(calls, named, reason);
  const last = await waitForDrain({
    clock: systemClock,
    timeoutMs,
    signal,
    count: (claims) => remoteRunning(calls, target, claims === undefined ? {} : { claims }),
    onCount: ({ running, atLeast }) => onProgress?.({ running, atLeast }),
  });
  if (!isDrained(last)) throw drainTimedOut(named, last, timeoutMs);
  return { keptPause };
}

async function close(
  calls: ServerCalls,
  named: ReturnType<typeof drainTargetOf>,
  reason: string,
): Promise<Drained["keptPause"]> {
  const { kind, name } = named;
  if (kind === "worker") {
    await calls.json(workerPath(name, "quiet"), { method: "POST", body: { reason } });
    return null;
  }
  const { pauses } = await calls.json<{ pauses: readonly Pause[] }>("/api/v1/pauses");
  const found = pauses.find((pause) => pause.kind === kind && pause.name === name);
  if (found?.until === null && !isCrashGate(kind, found.pausedBy)) {
    return { reason: found.reason, pausedBy: found.pausedBy };
  }
  await calls.json(targetPath("pauses", named), { method: "PUT", body: { reason } });
  return null;
}

export async function remoteRunning(
  calls: ServerCalls,
  target: DrainTarget,
  { claims }: { readonly claims?: readonly string[] } = {},
): Promise<RunningCount> {
  const query = claims === undefined ? {} : { claims: claims.join(",") };
  return calls.json<RunningCount>(targetPath("running", drainTargetOf("running", target)), {
    query,
  });
}

/** The id is checked as by a mill on a store. */
export function workerPath(id: string, verb: string): string {
  if (typeof id === "string" && parseId(id) !== null) return `/api/v1/workers/${id}/${verb}`;
  throw new MillraceError("ID_INVALID", `${JSON.stringify(id)} is not the id of a worker`);
}

export function targetPath(
  place: "pauses" | "intakes" | "running",
  { kind, name }: Named<string>,
): string {
  return `/api/v1/${place}/${kind}/${encodeURIComponent(name)}`;
}
