/**
 * Claims whose answer was lost. The secret of a lease is made here, so whether such a claim took
 * anything can be asked later: what bears the secret is its answer.
 */
import { sameRequest, newLostClaim, type LostClaim } from "../../shared/lost-claim.ts";
import type { ClaimRequest, WorkerId } from "../../types/jobs-and-runs.ts";

/** Longer than the answer to a statement is waited for: the server may have fallen behind. */
const DOUBT_MS = 180_000;
/** The rest after a question that found nothing; twice as long after each further one. */
const REST_MS_MIN = 50;

interface Times {
  readonly begunAt: number;
  readonly askAt: number;
  readonly restMs: number;
}

export class LostClaims {
  readonly #monotonic: () => number;
  readonly #times = new Map<LostClaim, Times>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  add(request: ClaimRequest, secret: string): void {
    const now = this.#monotonic();
    this.#times.set(newLostClaim(request, secret), {
      begunAt: now,
      askAt: now,
      restMs: REST_MS_MIN,
    });
  }

  /**
   * Claims that nobody has heard of and that are to be asked about before this one: of the same
   * worker, either for a prefetch, or for the same slots.
   */
  due(request: ClaimRequest): readonly LostClaim[] {
    if (this.#times.size === 0) return [];
    const now = this.#monotonic();
    const isDue = (lostClaim: LostClaim, { askAt }: Times): boolean =>
      askAt <= now &&
      lostClaim.request.worker === request.worker &&
      (lostClaim.request.prefetch || sameRequest(lostClaim, request));
    return [...this.#times].filter((entry) => isDue(...entry)).map(([lostClaim]) => lostClaim);
  }

  /** The store knows nothing of it, and after a while it never will. */
  miss(lostClaim: LostClaim): void {
    const times = this.#times.get(lostClaim);
    if (times === undefined) return;
    const now = this.#monotonic();
    const { begunAt, restMs } = times;
    if (now - begunAt > DOUBT_MS) this.#times.delete(lostClaim);
    else this.#times.set(lostClaim, { begunAt, askAt: now + restMs, restMs: restMs * 2 });
  }

  settle(lostClaim: LostClaim): void {
    this.#times.delete(lostClaim);
  }

  /** The worker is gone, and asks no more. What it held is rescued by others. */
  forget(worker: WorkerId): void {
    for (const lostClaim of this.#times.keys()) {
      if (lostClaim.request.worker === worker) this.#times.delete(lostClaim);
    }
  }
}
