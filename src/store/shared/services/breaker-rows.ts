/** The rows of breakers, as both stores read and write them. */
import { CLOSED, probeAt, type Breaker } from "../../../core/breaker.ts";
import type { JobId } from "../../../core/job.ts";
import { breakerCodec } from "../codes.ts";
import type { BreakerChange, BreakerRecord, ServicePark } from "../../types/services.ts";

/** The services, pauses and changes in one answer. */
export const BREAKERS_MAX = 10_000;
export const CHANGES_MAX = 1_000;

/** The scheduled jobs that a reset searches for jobs of the service, and the jobs it makes due. */
export const SENT_BACK_SEARCH = { depth: 100_000, limit: 1_000 } as const;

/** The columns that hold the state. */
export interface BreakerColumns {
  readonly state: number;
  readonly failure_count: number;
  readonly success_count: number;
  readonly last_failure_at: number | null;
  readonly opened_at: number | null;
  readonly half_opened_at: number | null;
  readonly probe_at: number | null;
  readonly probe_key: number | null;
  readonly probe_n: number | null;
  readonly reason: string | null;
  readonly by: string | null;
}

export function breakerOf(row: BreakerColumns): Breaker {
  const { probe_key: key, probe_n: n } = row;
  return {
    state: breakerCodec.word(row.state),
    failures: row.failure_count,
    successes: row.success_count,
    lastFailureAtMs: row.last_failure_at,
    openedAtMs: row.opened_at,
    halfOpenedAtMs: row.half_opened_at,
    probeAtMs: row.probe_at,
    probe: key === null || n === null ? null : { key, n },
    reason: row.reason,
    by: row.by,
  };
}

export function columnsOf(breaker: Breaker): BreakerColumns {
  return {
    state: breakerCodec.code[breaker.state],
    failure_count: breaker.failures,
    success_count: breaker.successes,
    last_failure_at: breaker.lastFailureAtMs,
    opened_at: breaker.openedAtMs,
    half_opened_at: breaker.halfOpenedAtMs,
    probe_at: breaker.probeAtMs,
    probe_key: breaker.probe?.key ?? null,
    probe_n: breaker.probe?.n ?? null,
    reason: breaker.reason,
    by: breaker.by,
  };
}

/** A change that the history keeps: of the state, of the probe, or of what an operator wants. */
export function isChange(before: Breaker, next: Breaker): boolean {
  if (before.state !== next.state || next.by !== before.by) return true;
  if (isKeptOpen(next) && !(isKeptOpen(before) && before.reason === next.reason)) return true;
  return next.probe !== null && next.probe !== before.probe;
}

/** An operator has opened the breaker, and no probe closes it. */
function isKeptOpen({ state, probeAtMs }: Breaker): boolean {
  return state === "open" && probeAtMs === null;
}

type ListedColumns = {
  readonly [Name in Exclude<keyof BreakerColumns, "probe_key">]: BreakerColumns[Name] | null;
};

interface ListedBreaker extends ListedColumns {
  readonly now: number;
  readonly types: string;
  readonly updated_at: number | null;
}

/** `probe` is the job of the probe; null: there is none, or the job is gone. */
export function breakerRecord(
  service: string,
  row: ListedBreaker,
  { probe, parks }: { readonly probe: JobId | null; readonly parks: readonly ServicePark[] },
): BreakerRecord {
  const { state, failure_count, success_count } = row;
  const stored =
    state === null || failure_count === null || success_count === null
      ? CLOSED
      : breakerOf({ ...row, state, failure_count, success_count, probe_key: null });
  const { probe: _none, ...plain } = stored;
  return {
    ...plain,
    service,
    probeAtMs: probeAt(stored, row.now),
    types: JSON.parse(row.types),
    updatedAtMs: row.updated_at,
    probe: probe === null || row.probe_n === null ? null : { job: probe, n: row.probe_n },
    parks,
  };
}

export function changeRecord(row: {
  readonly at: number;
  readonly state: number;
  readonly failure_count: number;
  readonly reason: string | null;
  readonly by: string | null;
}): BreakerChange {
  const { at, reason, by } = row;
  return { at, state: breakerCodec.word(row.state), failures: row.failure_count, reason, by };
}

/** The name of the gate of a tenant and a service. */
export function parkName(tenant: number, service: string): string {
  return `${tenant}.${service}`;
}
