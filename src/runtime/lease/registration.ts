/**
 * A worker's standing in the store: it joins, beats, and finds out when others have given it up.
 *
 * A word that the lease is lost is only a rumour: it may be late, or a clock has jumped. The store
 * itself is asked before anything is stopped, by a heartbeat, which it answers as long as nobody
 * has taken the worker's jobs back. Until it has answered, the worker claims nothing.
 */
import { within, type Clock } from "../../core/clock.ts";
import { MillraceError } from "../../core/errors.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { Renewal, WorkerInfo } from "../../store/types/jobs-and-runs.ts";
import { startHeartbeat, type Heartbeat, type HeartbeatParts } from "./heartbeat.ts";
import { SkewWatch, type Beat } from "./clock-skew.ts";

export interface RegistrationParts extends Pick<HeartbeatParts, "policy" | "policies" | "beatMs"> {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly info: WorkerInfo;
  /** How long to wait before a store that failed is asked again. */
  readonly retryMs: number;
  /** What others have asked of this worker. */
  readonly heard: (renewal: Renewal & { status: "renewed" }) => void;
  /** Others have taken our jobs back: what still runs is a zombie. */
  readonly lost: () => void;
  /** The worker may claim again. */
  readonly regained: () => void;
}

export class Registration {
  readonly #parts: RegistrationParts;
  readonly #skew: SkewWatch;
  readonly #givenUp = Promise.withResolvers<void>();
  #isTrying = true;
  #heartbeat: Heartbeat | null = null;
  #stands = false;
  #asking: Promise<void> | null = null;
  #isOver = false;

  constructor(parts: RegistrationParts) {
    this.#parts = parts;
    this.#skew = new SkewWatch(parts.logger);
  }

  /** Whether the worker may claim, as far as anybody knows. */
  get stands(): boolean {
    return this.#stands;
  }

  /**
   * Joins, however long the store takes to answer, and starts to beat. Answers whether it did
   * before it was ended.
   */
  async begin(): Promise<boolean> {
    const { store, clock, info, retryMs } = this.#parts;
    while (!(await this.#join())) {
      await within(clock, retryMs, this.#givenUp.promise);
      if (!this.#isTrying) return false;
    }
    if (this.#isOver) {
      // It was answered after all, but nobody waits for it any more.
      await store.deregister(info.id);
      return false;
    }
    this.#stands = true;
    this.#heartbeat = this.#beat();
    return true;
  }

  /** A worker that has not joined by now need not. */
  giveUp(): void {
    this.#isTrying = false;
    this.#givenUp.resolve();
  }

  /** Somebody says that the lease is lost. */
  doubt(): void {
    this.#stands = false;
    if (this.#isOver) return;
    const { logger } = this.#parts;
    this.#asking ??= this.#ask()
      // The next heartbeat doubts again.
      .catch((error) => logger.error("the worker could not ask for its lease", { error }))
      .finally(() => {
        this.#asking = null;
      });
  }

  async end(): Promise<void> {
    const { store, info } = this.#parts;
    this.#isOver = true;
    try {
      await Promise.all([this.#heartbeat?.stop(), this.#asking]);
    } finally {
      await store.deregister(info.id);
    }
  }

  async #join(): Promise<boolean> {
    const { store, logger, info } = this.#parts;
    try {
      await store.register(info);
      return true;
    } catch (error) {
      if (isClosed(error)) throw error;
      logger.error("the worker could not join; trying again", { error });
      return false;
    }
  }

  async #ask(): Promise<void> {
    const { store, logger, info, heard, lost, regained } = this.#parts;
    const renewal = await store.renew(info.id, info.leaseMs);
    if (renewal.status === "renewed") {
      heard(renewal);
      // Not woken: a store that never lets it claim would be asked without a pause.
      this.#stands = true;
      return;
    }
    logger.error("the lease of this worker was lost; its runs are stopped", {
      worker_id: info.id,
    });
    lost();
    await store.register(info);
    this.#stands = true;
    regained();
  }

  #beat(): Heartbeat {
    const { store, clock, logger, info, beatMs, policy, policies } = this.#parts;
    return startHeartbeat({
      store,
      clock,
      worker: info.id,
      leaseMs: info.leaseMs,
      beatMs,
      policy,
      policies,
      heard: (beat) => this.#heard(beat),
      failed: (error) => logger.error("the heartbeat failed; trying again", { error }),
    });
  }

  #heard({ renewal, skew }: Beat): void {
    if (skew !== null) this.#skew.hear(skew);
    // A doubt that could not be cleared is still there, whatever this beat was told.
    if (renewal.status === "lost" || !this.#stands) this.doubt();
    if (renewal.status === "renewed") this.#parts.heard(renewal);
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof MillraceError && error.code === "STORE_CLOSED";
}
