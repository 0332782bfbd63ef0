/** Which workers take a job: by its type, its lane and its tenant. */
import { takesLane } from "./lanes.ts";

/** The properties of a job that decide which workers take it. */
export interface Wanted {
  readonly type: string;
  readonly lane: string;
  readonly tenant: string;
}

/** What a worker takes. */
export interface Taker {
  readonly types: readonly string[];
  readonly lanes: readonly string[];
  /** `null` means all tenants. */
  readonly tenant: string | null;
}

export function takesType({ types }: Taker, { type }: Wanted): boolean {
  return types.includes(type);
}

export function hasLane({ lanes }: Taker, { lane }: Wanted): boolean {
  return takesLane(lanes, lane);
}

export function takesTenant({ tenant }: Taker, job: Wanted): boolean {
  return tenant === null || tenant === job.tenant;
}

/** The first property of the job that no worker takes; `null` when a worker takes the job. */
export function notTaken(job: Wanted, workers: readonly Taker[]): keyof Wanted | null {
  const knowing = workers.filter((worker) => takesType(worker, job));
  if (knowing.length === 0) return "type";
  const having = knowing.filter((worker) => hasLane(worker, job));
  if (having.length === 0) return "lane";
  return having.some((worker) => takesTenant(worker, job)) ? null : "tenant";
}
