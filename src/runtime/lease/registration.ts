/**
 * The registration of a worker in the store, with its heartbeat.
 *
 * A report that the lease is lost may be late, or a clock has jumped. So the worker sends another
 * heartbeat before it stops anything: the store renews the lease unless the jobs of the worker were
 * taken back. The worker claims nothing until the store has answered.
 *
 * A lease that has expired by the monotonic clock of this process may be taken by another worker at
 * any moment, also if the store never answers. So the runs are told to stop, and no job is claimed
 * or started until a renewal has succeeded.
 */
import { within, type Clock } from "../../core/clock.ts";
import { formatDuration } from "../../core/duration.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { Renewal, WorkerInfo } from "../../store/types/jobs-and-runs.ts";
import type { TypeDeclaration } from "../../store/types/services.ts";
import { isClosed, isMoved } from "../closed-store.ts";
import { BeatTimes } from "./beat-times.ts";
import { startHeartbeat, type Heartbeat, type HeartbeatParts } from "./heartbeat.ts";
import { beatOnce, SkewWatch, type Beat } from "./clock-skew.ts";
import { reportExpiry } from "./expiry-report.ts";
import { LeaseTimer, type ExpiryCause } from "./lease-timer.ts";
import { Steadiness, type AnsweredRenewal, type SteadySpan } from "./steadiness.ts";

export interface RegistrationParts extends Pick<
  HeartbeatParts,
  "policy" | "policies" | "beatMs" | "onEnded"
> {
  readonly store: JobStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly info: Omit<WorkerInfo, "quiet">;
  /** An operator has asked the worker to be quiet: a new registration says so. */
  readonly isAskedQuiet: () => boolean;
  /** What the worker declares about its types whenever it joins. */
  readonly declarations: readonly TypeDeclaration[];
  /** The delay before a failed registration is retried. */
  readonly retryMs: number;
  /** The answer of a heartbeat, with requests for this worker. */
  readonly onRenewal: (renewal: Renewal & { status: "renewed" }) => void;
  /** Another process has taken back the jobs of this worker: its runs must stop. */
  readonly onLost: () => void;
  /**
   * Another process may take the jobs of this worker from now on: its runs are told to stop.
   * Returns how many runs there are.
   */
  readonly onExpired: () => number;
  /** The worker may claim again. */
  readonly onRegained: () => void;
}

export class Registration {
  readonly #parts: RegistrationParts;
  readonly #skew: SkewWatch;
  readonly #times: BeatTimes = new BeatTimes();
  readonly #leaseTimer: LeaseTimer;
  readonly #steadiness: Steadiness;
  readonly #stopped = Promise.withResolvers<void>();
  #isRetrying = true;
  #heartbeat: Heartbeat | null = null;
  #isRegistered = false;
  #checking: Promise<void> | null = null;
  #isOver = false;
  #hasWarnedOfThread = false;

  constructor(parts: RegistrationParts) {
    this.#parts = parts;
    this.#skew = new SkewWatch(parts.logger);
    this.#leaseTimer = this.#makeLeaseTimer();
    this.#steadiness = new Steadiness(parts.info.leaseMs);
  }

  /** Whether the worker may claim jobs, as far as it knows. */
  get isRegistered(): boolean {
    return this.#isRegistered && this.holdsLease;
  }

  /** False from the expiry of the lease until a renewal has succeeded: no run may start. */
  get holdsLease(): boolean {
    return this.#leaseTimer.holds;
  }

  /** How long the renewals of this worker have succeeded without a gap. */
  get steadySpan(): SteadySpan | null {
    return this.#steadiness.span;
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
    this.#leaseTimer.start();
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
      .catch((error) => {
        this.#renewalFailed(error);
        logger.error("cannot check the lease; the next heartbeat tries again", { error });
      })
      .finally(() => {
        this.#checking = null;
      });
  }

  async end(): Promise<void> {
    const { store, info } = this.#parts;
    this.#isOver = true;
    this.#leaseTimer.stop();
    try {
      await Promise.all([this.#heartbeat?.stop(), this.#checking]);
    } finally {
      await store.deregister(info.id);
    }
  }

  async #register(): Promise<boolean> {
    const { logger } = this.#parts;
    try {
      await this.#registerOnce();
      return true;
    } catch (error) {
      if (isClosed(error)) throw error;
      logger.error("cannot register the worker; trying again", { error });
      return false;
    }
  }

  /** Grants a lease, like a renewal. */
  async #registerOnce(): Promise<void> {
    const { store, clock, info, declarations, isAskedQuiet } = this.#parts;
    const sentAt = clock.monotonic();
    this.#times.sending(sentAt);
    await store.register({ ...info, quiet: isAskedQuiet() });
    const answered = { sentAt, answeredAt: clock.monotonic() };
    this.#times.renewed(answered);
    this.#renewed(answered);
    await store.declareTypes(info.id, declarations);
  }

  async #check(): Promise<void> {
    const { store, clock, logger, info, onRenewal, onLost, onRegained } = this.#parts;
    const { id: worker, leaseMs } = info;
    const beat = await beatOnce(store, clock, {
      worker,
      leaseMs,
      times: this.#times,
      vitals: null,
    });
    const { renewal } = beat;
    if (renewal.status === "renewed") {
      this.#renewed(beat);
      onRenewal(renewal);
      // No wake-up: if every claim says that the lease is lost, that would be a busy loop.
      this.#isRegistered = true;
      return;
    }
    onLost();
    const refusal = await this.#registerOnce().then(
      () => null,
      (error: unknown) => ({ error }),
    );
    // An installation that has moved refuses the registration, and the log names this cause.
    if (!isMoved(refusal?.error)) {
      logger.error("lease lost: the runs of this worker are stopped", { worker_id: info.id });
    }
    if (refusal !== null) throw refusal.error;
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
      times: this.#times,
      policy,
      policies,
      onBeat: (beat) => this.#onBeat(beat),
      onEnded,
      onNotOpen: (message) => this.#warnOfThread(message),
      failed: (error) => {
        this.#renewalFailed(error);
        logger.error("heartbeat failed; trying again", { error });
      },
    });
  }

  #makeLeaseTimer(): LeaseTimer {
    const { clock, logger, info, beatMs, onRegained } = this.#parts;
    return new LeaseTimer({
      clock,
      times: this.#times,
      leaseMs: info.leaseMs,
      beatMs,
      onExpired: (cause) => this.#expire(cause),
      onRenewed(expiredMs) {
        logger.info(`lease renewed ${formatDuration(Math.round(expiredMs))} after its expiry`, {
          worker_id: info.id,
        });
        onRegained();
      },
    });
  }

  #expire(cause: ExpiryCause): void {
    const { store, logger, info, onExpired } = this.#parts;
    const runs = onExpired();
    const hasThread = store.thread !== null;
    reportExpiry(logger, { cause, worker: info.id, runs, hasThread });
    this.#heartbeat?.assist();
  }

  #renewed(answered: AnsweredRenewal): void {
    this.#steadiness.succeeded(answered);
    this.#leaseTimer.renewed();
  }

  #renewalFailed(error: unknown): void {
    this.#steadiness.failed();
    this.#leaseTimer.failed(error);
  }

  /** Once: the thread tries again at every beat. */
  #warnOfThread(message: string): void {
    if (this.#hasWarnedOfThread) return;
    this.#hasWarnedOfThread = true;
    this.#parts.logger.warn(
      "the thread of the heartbeat cannot open the store and tries again; until then a handler " +
        "that blocks the event loop for longer than the lease loses the lease",
      { error: message },
    );
  }

  #onBeat(beat: Beat): void {
    const { renewal, skew } = beat;
    if (skew !== null) this.#skew.check(skew);
    if (renewal.status === "renewed") this.#renewed(beat);
    // A check that failed is repeated, whatever this heartbeat says.
    if (renewal.status === "lost" || !this.#isRegistered) this.checkLease();
    if (renewal.status === "renewed") this.#parts.onRenewal(renewal);
  }
}
