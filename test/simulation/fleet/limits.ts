/** A type of the simulation that has a limit in its code, and what operators limit. */
import { defineJob, typed } from "millrace";
import type { LimitTarget } from "../../../src/api/control/limits.ts";
import type { Payload } from "./jobs.ts";

/** Each second release allows one job more. */
export function narrowContract(release: number) {
  const limits = { concurrency: 2 + (release % 2) };
  return defineJob({ type: "narrow", payload: typed<Payload>(), timeout: "4s", limits });
}

/** What is enqueued: the limit is a matter of workers. */
export const narrow = narrowContract(0);

export const LIMIT_TARGETS: readonly LimitTarget[] = [
  { type: "narrow" },
  { type: "alpha" },
  { tenant: "default" },
  { tenant: "n1" },
  { installation: true },
];
