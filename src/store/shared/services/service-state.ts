/** What both stores decide about calls of services, from what they have read. */
import {
  endProbe,
  isProbeDue,
  probeAt,
  recordFailure,
  recordImpliedSuccess,
  recordSuccess,
  startProbe,
  type Breaker,
} from "../../../core/breaker.ts";
import type { CallAnswer, CallReport, ReportAnswer, ServiceRun } from "../../types/services.ts";

/** What is stored about a service. */
export interface ServiceState {
  readonly breaker: Breaker;
  /** The run of the probe is over. */
  readonly hasEnded: boolean;
  /** The pause of an operator. */
  readonly pause: { readonly until: number | null; readonly reason: string } | null;
  /** Until when the service has asked for a pause, by tenant; null stands for all tenants. */
  readonly parks: ReadonlyMap<number | null, number>;
}

/** A park to store. The tenant is an interned name. */
export interface NewPark {
  readonly tenant: number | null;
  readonly until: number;
  readonly reason: string;
}

/** The run that asks, and whether it is over: an operator may have ended it. */
interface Caller {
  readonly run: ServiceRun;
  readonly tenant: number | undefined;
  readonly isOver: (run: ServiceRun) => boolean;
}

/**
 * Whether a call may be made. `next` is another breaker if the run is the probe from now on. A run
 * that is over is no probe: its end would be the end of the probe.
 */
export function admit(
  state: ServiceState,
  { run, tenant, isOver }: Caller,
  nowMs: number,
): { readonly answer: CallAnswer; readonly next: Breaker } {
  const { breaker, pause } = state;
  const stay = (answer: CallAnswer) => ({ answer, next: breaker });
  if (breaker.probe?.key === run.key && breaker.probe.n === run.n) return stay({ status: "probe" });
  if (pause !== null) {
    const waitMs = pause.until === null ? null : pause.until - nowMs;
    return stay({ status: "refused", waitMs, reason: `it is paused: ${pause.reason}` });
  }
  const parkedMs = parkedFor(state, tenant, nowMs);
  if (parkedMs > 0) {
    return stay({ status: "refused", waitMs: parkedMs, reason: "it has asked for a pause" });
  }
  if (breaker.state === "closed") return stay({ status: "allowed" });
  if (isProbeDue(breaker, nowMs, state.hasEnded)) {
    if (isOver(run)) return stay({ status: "refused", waitMs: null, reason: "the run is over" });
    return { answer: { status: "probe" }, next: startProbe(breaker, run, nowMs) };
  }
  return stay({
    status: "refused",
    waitMs: probeInMs(breaker, nowMs),
    reason: openReason(breaker),
  });
}

/** What a report does to the breaker, and to the pauses that the service has asked for. */
export function applyReport(
  state: ServiceState,
  report: CallReport,
  { tenant, nowMs }: { readonly tenant: number | undefined; readonly nowMs: number },
): { readonly answer: ReportAnswer; readonly next: Breaker; readonly park: NewPark | null } {
  const { breaker } = state;
  if (report.outcome !== "failed") {
    const next = withoutFailure(breaker, report, nowMs);
    const changedTo = next.state === breaker.state ? null : next.state;
    return { answer: { isCounted: true, waitMs: null, changedTo }, next, park: null };
  }
  const { run, reason, limits } = report;
  const park = parkOf(report, tenant, nowMs);
  const isProbe = breaker.probe?.key === run.key && breaker.probe.n === run.n;
  const parkedMs = parkedFor(state, tenant, nowMs);
  // A run that began before the service asked for a pause costs nothing.
  if (parkedMs > 0 && !isProbe) {
    const waitMs = Math.max(parkedMs, park === null ? 0 : park.until - nowMs);
    return { answer: { isCounted: false, waitMs, changedTo: null }, next: breaker, park };
  }
  // The pause of one tenant says nothing about the service.
  if (park !== null && park.tenant !== null) {
    const next = endProbe(breaker, { run, limits, nowMs });
    const changedTo = next.state === breaker.state ? null : next.state;
    return { answer: { isCounted: true, waitMs: null, changedTo }, next, park };
  }
  const { next, isCounted } = recordFailure(breaker, { run, reason, nowMs, limits });
  const changedTo = next.state === breaker.state ? null : next.state;
  const waitMs = isCounted ? null : probeInMs(breaker, nowMs);
  return { answer: { isCounted, waitMs, changedTo }, next, park };
}

function withoutFailure(
  breaker: Breaker,
  report: Exclude<CallReport, { outcome: "failed" }>,
  nowMs: number,
): Breaker {
  switch (report.outcome) {
    case "succeeded":
      return recordSuccess(breaker, report.run, report.count);
    case "implied":
      return recordImpliedSuccess(breaker, report.run);
    case "undecided":
      return endProbe(breaker, { run: report.run, limits: report.limits, nowMs });
  }
}

function parkOf(
  { park, reason }: Extract<CallReport, { outcome: "failed" }>,
  tenant: number | undefined,
  nowMs: number,
): NewPark | null {
  if (park === undefined) return null;
  const until = Math.min(nowMs + Math.round(park.forMs), LAST_INSTANT);
  return { tenant: park.tenant === null ? null : (tenant ?? null), until, reason };
}

/** The last instant that both databases store. */
const LAST_INSTANT = 9_000_000_000_000;

/** Whether the service is open to jobs of the tenant: a wait for it has no purpose any more. */
export function isOpenTo(state: ServiceState, tenant: number, nowMs: number): boolean {
  const { breaker, pause } = state;
  return breaker.state === "closed" && pause === null && parkedFor(state, tenant, nowMs) <= 0;
}

function parkedFor({ parks }: ServiceState, tenant: number | undefined, nowMs: number): number {
  const own = tenant === undefined ? undefined : parks.get(tenant);
  return Math.max(parks.get(null) ?? 0, own ?? 0) - nowMs;
}

function probeInMs(breaker: Breaker, nowMs: number): number | null {
  const at = probeAt(breaker, nowMs);
  return at === null ? null : Math.max(0, at - nowMs);
}

function openReason({ failures, reason }: Breaker): string {
  const why = reason === null ? "" : `: ${reason}`;
  return `its breaker is open after ${failures} failure(s)${why}`;
}
