/** What a worker reports about its process. Pure. Older workers report nothing. */

export interface Health {
  readonly memoryBytes: number | null;
  readonly loopLagMs: number | null;
  /** Heartbeats and timers of the process come late. */
  readonly isLagging: boolean;
}

const LAG_MS = 100;

export function healthOf(worker: object): Health {
  const fields = new Map(Object.entries(worker));
  const memoryBytes = numberIn(fields.get("memoryBytes"));
  const loopLagMs = numberIn(fields.get("loopLagMs"));
  return { memoryBytes, loopLagMs, isLagging: loopLagMs !== null && loopLagMs >= LAG_MS };
}

function numberIn(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
