/**
 * Ageing of a lane: of the jobs that the lane claims, every tenth is one of those that have waited
 * longest, if they have waited for too long. So jobs with a low priority start in the end, and
 * urgent jobs lose at most a tenth of the slots.
 */
import { AGEING_SHARE } from "../../core/control/fairness.ts";
import type { ClaimRequest } from "../../store/types/jobs-and-runs.ts";

export class Ageing {
  readonly #olderThanMs: number | null;
  /** Jobs that were claimed by urgency since the last old one. */
  #urgent = 0;

  /** Null: the lane has no ageing. */
  constructor(olderThanMs: number | null) {
    this.#olderThanMs = olderThanMs;
  }

  /** The next claim: for old jobs if they are due, else for so many jobs. */
  next(limit: number): Pick<ClaimRequest, "limit" | "olderThanMs"> {
    const olderThanMs = this.#olderThanMs;
    if (olderThanMs === null || this.#urgent < AGEING_SHARE - 1) return { limit };
    const old = Math.floor(this.#urgent / (AGEING_SHARE - 1));
    return { limit: Math.min(limit, old), olderThanMs };
  }

  /** A claim has taken so many jobs. */
  claimed({ olderThanMs }: Pick<ClaimRequest, "olderThanMs">, jobs: number): void {
    if (olderThanMs === undefined) this.#urgent += jobs;
    else this.#urgent = Math.max(0, this.#urgent - jobs * (AGEING_SHARE - 1));
  }
}
