/** Waits for a closed service, as settlements have them. */
import type { Settlement } from "../../../core/outcome.ts";

/** The service that has sent a job back by this settlement, to wait until the service opens. */
export function awaitedService({ outcome, ...settlement }: Settlement): string | undefined {
  if (outcome !== "snoozed" || settlement.to !== "scheduled") return undefined;
  return settlement.fault?.service;
}

/** The same settlement without its wait. */
export function dueNow(settlement: Settlement): Settlement {
  return settlement.to === "scheduled" ? { ...settlement, to: "queued", delayMs: 0 } : settlement;
}
