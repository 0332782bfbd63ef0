/** Decisions about bulk operations: which states an action is for, and how fast it goes. */
import { isFinal, STATES, type State } from "../job.ts";

/** Items per second, and items per transaction, if the operator names none. */
export const RATE_DEFAULT = 500;
export const CHUNK_DEFAULT = 50;
export const RATE_MAX = 100_000;
/** One item per minute. A slower operation would last for months and hold its place meanwhile. */
export const RATE_MIN: number = 1 / 60;

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 };

/** Items per second of a rate such as `500/s` or 500; null: the rate has no such form. */
export function itemsPerSecond(rate: number | string): number | null {
  const [, count, unit = "s"] = /^(\d{1,9})\/([smh])$/.exec(String(rate)) ?? [];
  const perSecond = typeof rate === "number" ? rate : Number(count) / UNIT_SECONDS[unit]!;
  return perSecond >= RATE_MIN && perSecond <= RATE_MAX ? perSecond : null;
}

/** The items of the next chunk: at most what the rate allows in one second. */
export function chunkSize(chunk: number, rate: number): number {
  return Math.max(1, Math.min(chunk, Math.ceil(rate)));
}

type JobAction = "cancel" | "retry" | "delete" | "priority" | "reschedule";

const WAITING: readonly State[] = ["scheduled", "queued"];

/** The states in which an action changes a job. */
const CHANGED: Readonly<Record<JobAction, readonly State[]>> = {
  cancel: STATES.filter((state) => !isFinal(state)),
  retry: STATES.filter((state) => isFinal(state) || state === "scheduled"),
  delete: STATES.filter(isFinal),
  priority: WAITING,
  reschedule: WAITING,
};

/**
 * The states of a filter in which the action changes a job. A retry repeats completed jobs only if
 * the filter names their state.
 */
export function statesFor(action: JobAction, given: readonly State[] | undefined): State[] {
  if (given !== undefined) return CHANGED[action].filter((state) => given.includes(state));
  return CHANGED[action].filter((state) => action !== "retry" || state !== "completed");
}

/**
 * What a person reads at each job and dead letter that an operation has changed. A long reason may
 * be cut at its end, so what {@link remarkForTenant} looks for stands at the beginning.
 */
export function operationRemark(operation: {
  readonly id: string;
  readonly reason: string;
  readonly tenant: string | null;
}): string {
  const { id, reason, tenant } = operation;
  if (tenant === null) return `operation ${id} of the installation: ${reason}`;
  return `${reason} (operation ${id})`;
}

const OF_INSTALLATION = /^(operation \w+ of the installation): /;

/**
 * A remark as the tenant of the job reads it: the reason of an operation of the installation may
 * tell about other tenants, and is left out. `isHidden` says so.
 */
export function remarkForTenant(remark: string | null): {
  readonly remark: string | null;
  readonly isHidden: boolean;
} {
  const [, operation] = OF_INSTALLATION.exec(remark ?? "") ?? [];
  if (operation === undefined) return { remark, isHidden: false };
  return { remark: operation, isHidden: true };
}
