/**
 * The registration of a worker in the store, with its heartbeat.
 *
 * A report that the lease is lost may be late, or a clock has jumped. So the worker sends another
 * heartbeat before it stops anything: the store renews the lease unless the jobs of the worker were
 * taken back. The worker claims nothing until the store has answered.
 */
import { within, type Clock } from "../../core/clock.ts";
import { MillraceError } from "../../core/errors.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { Renewal, WorkerInfo } from "../../store/types/jobs-and-runs.ts";
import { startHeartbeat, type Heartbeat, type HeartbeatParts } from "./heartbeat.ts";
import { SkewWatch, type Beat } from "./clock-skew.ts";

export interface RegistrationParts extends Pick<
  HeartbeatParts,
  "policy" | "policies" | "beatMs" | "onEnded"
> {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly info: WorkerInfo;
  /** The delay before a failed registration is retried. */
  readonly retryMs: number;
  /** The answer of a heartbeat, with requests for this worker. */
  readonly onRenewal: (renewal: Renewal & { status: "renewed" }) => void;
  /** Another process has taken back the jobs of this worker: its runs must stop. */
  readonly onLost: () => void;
  /** The worker may claim again. */
  readonly onRegained: () => void;
}

export class Registration {
  readonly #parts: RegistrationParts;
  readonly #skew: SkewWatch;
  readonly #stopped = Promise.withResolvers<void>();
  #isRetrying = true;
  #heartbeat: Heartbeat | null = null;
  #isRegistered = false;
  #checking: Promise<void> | null = null;
  #isOver = false;

  constructor(parts: RegistrationParts) {
    this.#parts = parts;
    this.#skew = new SkewWatch(parts.logger);
  }

  /** Whether the worker may claim jobs, as far as it knows. */
  get isRegistered(): boolean {
    return this.#isRegistered;
  }

  /**
   * Registers the worker, with retries, and starts the heartbeat. False if the worker was stopped
   * before.
   */
  async begin(): Promise<boolean> {
    const { store, clock, info, retryMs } = this.#parts;
    while (!(await this.#register())) {
      await within(clock, retryMs, this.#stopped.promise);
      if (!this.#isRetrying) return false;
    }
    if (this.#isOver) {
      // The store answered after the stop of the worker.
      await store.deregister(info.id);
      return false;
    }
    this.#isRegistered = true;
    this.#heartbeat = this.#beat();
    return true;
  }

  /** Stops the retries of a registration that has not succeeded. */
  stopRetrying(): void {
    this.#isRetrying = false;
    this.#stopped.resolve();
  }

  /** The lease may be lost: asks the store. */
  checkLease(): void {
    this.#isRegistered = false;
    if (this.#isOver) return;
    const { logger } = this.#parts;
    this.#checking ??= this.#check()
      // The next heartbeat checks again.
      .catch((error) =>
        logger.error("cannot check the lease; the next heartbeat tries again", { error }),
      )
      .finally(() => {
        this.#checking = null;
      });
  }

  async end(): Promise<void> {
    const { store, info } = this.#parts;
    this.#isOver = true;
    try {
      await Promise.all([this.#heartbeat?.stop(), this.#checking]);
    } finally {
      await store.deregister(info.id);
    }
  }

  async #register(): Promise<boolean> {
    const { store, logger, info } = this.#parts;
    try {
      await store.register(info);
      return true;
    } catch (error) {
      if (isClosed(error)) throw error;
      logger.error("cannot register the worker; trying again", { error });
      return false;
    }
  }

  async #check(): Promise<void> {
    const { store, logger, info, onRenewal, onLost, onRegained } = this.#parts;
    const renewal = await store.renew(info.id, info.leaseMs);
    if (renewal.status === "renewed") {
      onRenewal(renewal);
      // No wake-up: if every claim says that the lease is lost, that would be a busy loop.
      this.#isRegistered = true;
      return;
    }
    logger.error("lease lost: the runs of this worker are stopped", {
      worker_id: info.id,
    });
    onLost();
    await store.register(info);
    this.#isRegistered = true;
    onRegained();
  }

  #beat(): Heartbeat {
    const { store, clock, logger, info, beatMs, policy, policies, onEnded } = this.#parts;
    return startHeartbeat({
      store,
      clock,
      worker: info.id,
      leaseMs: info.leaseMs,
      beatMs,
      policy,
      policies,
      onBeat: (beat) => this.#onBeat(beat),
      onEnded,
      failed: (error) => logger.error("heartbeat failed; trying again", { error }),
    });
  }

  #onBeat({ renewal, skew }: Beat): void {
    if (skew !== null) this.#skew.check(skew);
    // A check that failed is repeated, whatever this heartbeat says.
    if (renewal.status === "lost" || !this.#isRegistered) this.checkLease();
    if (renewal.status === "renewed") this.#parts.onRenewal(renewal);
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof MillraceError && error.code === "STORE_CLOSED";
}
