/**
 * Claims whose answer was lost. The client makes the secret of a lease, so a later query can find
 * the lease of a lost claim by its secret.
 */
import { sameRequest, newLostClaim, type LostClaim } from "../../shared/lost-claim.ts";
import type { ClaimRequest, WorkerId } from "../../types/jobs-and-runs.ts";

/** Longer than any statement time-out: the server may still execute the claim. */
const LOST_MS_MAX = 180_000;
/** Pause after a query that found nothing; doubled after each further one. */
const PAUSE_MS_MIN = 50;

interface QueryTimes {
  readonly lostAt: number;
  readonly queryAt: number;
  readonly pauseMs: number;
}

export class LostClaims {
  readonly #monotonic: () => number;
  readonly #times = new Map<LostClaim, QueryTimes>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** The next claim of a worker may find jobs of an earlier one. */
  get isWaiting(): boolean {
    return this.#times.size > 0;
  }

  /** A later claim of this worker may find jobs of an earlier one. */
  has(worker: WorkerId): boolean {
    return [...this.#times.keys()].some(({ request }) => request.worker === worker);
  }

  add(request: ClaimRequest, secret: string): void {
    const now = this.#monotonic();
    this.#times.set(newLostClaim(request, secret), {
      lostAt: now,
      queryAt: now,
      pauseMs: PAUSE_MS_MIN,
    });
  }

  /**
   * The lost claims to query before this claim: those of the same worker, either for a prefetch or
   * for the same slots.
   */
  due(request: ClaimRequest): readonly LostClaim[] {
    if (this.#times.size === 0) return [];
    const now = this.#monotonic();
    const isDue = (lostClaim: LostClaim, { queryAt }: QueryTimes): boolean =>
      queryAt <= now &&
      lostClaim.request.worker === request.worker &&
      (lostClaim.request.prefetch || sameRequest(lostClaim, request));
    return [...this.#times].filter((entry) => isDue(...entry)).map(([lostClaim]) => lostClaim);
  }

  /** The store has no such lease. After a while the claim is given up. */
  notFound(lostClaim: LostClaim): void {
    const times = this.#times.get(lostClaim);
    if (times === undefined) return;
    const now = this.#monotonic();
    const { lostAt, pauseMs } = times;
    if (now - lostAt > LOST_MS_MAX) this.#times.delete(lostClaim);
    else this.#times.set(lostClaim, { lostAt, queryAt: now + pauseMs, pauseMs: pauseMs * 2 });
  }

  resolve(lostClaim: LostClaim): void {
    this.#times.delete(lostClaim);
  }

  /** The worker has deregistered. Its leases are left to the rescuer. */
  forget(worker: WorkerId): void {
    for (const lostClaim of this.#times.keys()) {
      if (lostClaim.request.worker === worker) this.#times.delete(lostClaim);
    }
  }
}
