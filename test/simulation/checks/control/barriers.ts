/** What holds jobs back besides pauses: closed services, and limits that are used up. */
import type { Step } from "../invariants.ts";
import type { HeldRow, JobRow, LimitSettingRow, ParkRow } from "../rows.ts";
import type { Snapshot } from "../snapshot.ts";

/** Codes of the states of breakers. */
export const [CLOSED, OPEN, HALF_OPEN] = [1, 2, 3] as const;
/** The gate of the queue of a limit is this, minus the name that is limited. */
const LIMIT_GATE = -3;
/** The name of the limit of the installation. */
const INSTALLATION = 0;

/** What services and limits look at. */
type Target = Pick<JobRow, "type" | "tenant">;

/** The services of a job that are closed by their breaker. */
export function openServices({ uses, breakers }: Snapshot, { type }: Target): readonly number[] {
  const services = (uses.get(type) ?? []).map(({ service }) => service);
  return services.filter((service) => (breakers.get(service)?.state ?? CLOSED) !== CLOSED);
}

/** The pauses of services that a job has to wait for. */
export function parksOf(now: Snapshot, { type, tenant }: Target, nowMs: number): ParkRow[] {
  const services = (now.uses.get(type) ?? []).map(({ service }) => service);
  return [...now.parks.values()].filter((park) => {
    const isOwn = park.tenant === null || park.tenant === tenant;
    return isOwn && park.until > nowMs && services.includes(park.service);
  });
}

export function isBehindService(now: Snapshot, job: Target, nowMs: number): boolean {
  if (now.uses.size === 0) return false;
  return openServices(now, job).length > 0 || parksOf(now, job, nowMs).length > 0;
}

/** Whether the gate of a service, or of a service and a tenant, is closed. */
export function isServiceGateClosed(now: Snapshot, gate: number, nowMs: number): boolean {
  const isOpen = (now.breakers.get(gate)?.state ?? CLOSED) === CLOSED;
  return !isOpen || (now.parks.get(gate)?.until ?? 0) > nowMs;
}

/** Whether a run tries a service for the whole fleet. */
export function isServiceProbe({ breakers }: Snapshot, { key, n }: Pick<HeldRow, "key" | "n">) {
  return [...breakers.values()].some((row) => row.probe_key === key && row.probe_n === n);
}

/** The limits of a job. */
export function limitsOf({ limits }: Snapshot, { type, tenant }: Target): LimitSettingRow[] {
  if (limits.size === 0) return [];
  const names = [type, tenant, INSTALLATION];
  return [...limits.values()].filter(({ name }) => names.includes(name));
}

/** The limit whose queue has this gate; null: the gate is none of a limit. */
export function limitOfGate({ limits }: Snapshot, gate: number | null): LimitSettingRow | null {
  if (!isLimitGate(gate)) return null;
  return [...limits.values()].find(({ name }) => name === LIMIT_GATE - gate) ?? null;
}

export function isLimitGate(gate: number | null): gate is number {
  return gate !== null && gate <= LIMIT_GATE;
}

/** No worker that holds no permit of the limit gets one. */
export function isUsedUp(limit: LimitSettingRow, nowMs: number): boolean {
  const { cap, used, rate_count, rate_ms, burst, tokens, refilled_at } = limit;
  if (cap !== null && used >= cap) return true;
  if (rate_count === null || rate_ms === null || burst === null) return false;
  const passedMs = Math.max(0, nowMs - refilled_at);
  return Math.min(burst, tokens + (passedMs * rate_count) / rate_ms) < 1;
}

/** A job that waits elsewhere than in `ready` is claimed: as a probe, or from a limit's queue. */
export function isClaimable({ before, after }: Step, run: HeldRow): boolean {
  const gate = before.places.get(run.key)?.[0]?.gate ?? null;
  return limitOfGate(before, gate) !== null || isServiceProbe(after, run);
}
