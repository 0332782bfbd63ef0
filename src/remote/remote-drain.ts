/** `mill.drain` and `mill.running` of a server. The client waits, and the server counts. */
import type { PauseTarget } from "../api/client.ts";
import type { DrainSettings, DrainTarget, RunningCount } from "../api/control/drain.ts";
import { drainTimedOut } from "../core/control/drain-words.ts";
import { isDrained, waitForDrain } from "../core/control/drain.ts";
import { durationMs } from "../core/duration.ts";
import { systemClock } from "../lib/system.ts";
import type { ServerCalls } from "./server-calls.ts";

export async function remoteDrain(
  calls: ServerCalls,
  target: DrainTarget,
  { reason = "drain", timeout = "10m", signal, onProgress }: DrainSettings = {},
): Promise<void> {
  const timeoutMs = durationMs(timeout, "drain: timeout");
  signal?.throwIfAborted();
  if ("worker" in target) {
    await calls.json(`/api/v1/workers/${encodeURIComponent(target.worker)}/quiet`, {
      method: "POST",
    });
  } else await calls.json(pausePath(target), { method: "PUT", body: { reason } });
  const last = await waitForDrain({
    clock: systemClock,
    timeoutMs,
    signal,
    count: (claims) => remoteRunning(calls, target, claims === undefined ? {} : { claims }),
    onCount: ({ running, atLeast }) => onProgress?.({ running, atLeast }),
  });
  if (!isDrained(last)) throw drainTimedOut(partsOf(target), last, timeoutMs);
}

export function remoteRunning(
  calls: ServerCalls,
  target: DrainTarget,
  { claims }: { readonly claims?: readonly string[] } = {},
): Promise<RunningCount> {
  const query = claims === undefined ? {} : { claims: claims.join(",") };
  return calls.json<RunningCount>(targetPath("running", target), { query });
}

export function pausePath(target: PauseTarget): string {
  return targetPath("pauses", target);
}

export function targetPath(place: "pauses" | "intakes" | "running", target: DrainTarget): string {
  const { kind, name } = partsOf(target);
  return `/api/v1/${place}/${kind}/${encodeURIComponent(name)}`;
}

function partsOf(target: DrainTarget): { readonly kind: string; readonly name: string } {
  const [[kind, name] = ["", ""]] = Object.entries(target);
  return { kind, name: kind === "installation" ? "all" : String(name) };
}
