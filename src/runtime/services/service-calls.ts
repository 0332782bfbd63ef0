/**
 * What a worker tells the store about calls of external services, and asks it before calls.
 *
 * Questions of one turn of the event loop share a statement. Failures are reported at once, and
 * successes at most every {@link SUCCESS_MS}: most of them change nothing.
 */
import type { BreakerLimits } from "../../core/breaker.ts";
import type { Clock, Dice } from "../../core/clock.ts";
import { formatDuration } from "../../core/duration.ts";
import { RETRY_AFTER_MS_MAX } from "../../core/policy.ts";
import type { Logger } from "../../api/context.ts";
import { runOutsideJobs } from "../../jobs/async-context.ts";
import { soon } from "../../lib/system.ts";
import type { JobStore } from "../../store/store.ts";
import type {
  CallAnswer,
  CallReport,
  ReportAnswer,
  ServiceCall,
  ServiceRun,
} from "../../store/types/services.ts";

/** The least time between two reports of successes. */
const SUCCESS_MS = 100;
/** The share of a wait that is added at random, and the most that is added. */
const JITTER = 0.1;
const JITTER_MS_MAX = 2_000;
/** A shorter wait would keep a slot busy with starts and ends of runs. */
const WAIT_MS_MIN = 100;

export interface ServiceCallsParts {
  readonly store: Pick<JobStore, "callServices" | "reportCalls">;
  readonly clock: Clock;
  readonly dice: Pick<Dice, "random">;
  readonly logger: Logger;
  readonly limits: BreakerLimits;
}

interface Question {
  readonly call: ServiceCall;
  readonly answered: (answer: CallAnswer) => void;
}

export type ReportedFailure = Omit<
  Extract<CallReport, { outcome: "failed" }>,
  "outcome" | "limits"
>;

export class ServiceCalls {
  readonly #parts: ServiceCallsParts;
  #questions: Question[] = [];
  readonly #successes = new Map<string, number>();
  #reportedAt = -Infinity;
  #stopTimer: (() => void) | null = null;
  #reporting: Promise<unknown> = Promise.resolve();

  constructor(parts: ServiceCallsParts) {
    this.#parts = parts;
  }

  /** Whether a run may call a service. If the store does not answer, the call is made. */
  ask(call: ServiceCall): Promise<CallAnswer> {
    return new Promise((answered) => {
      this.#questions.push({ call, answered });
      if (this.#questions.length === 1) soon(() => void this.#askAll());
    });
  }

  async #askAll(): Promise<void> {
    const questions = this.#questions;
    this.#questions = [];
    const { store, logger } = this.#parts;
    let answers: readonly CallAnswer[] = [];
    try {
      answers = await runOutsideJobs(() => store.callServices(questions.map(({ call }) => call)));
    } catch (error) {
      logger.warn("cannot read the breakers of services; the calls are made", { error });
    }
    questions.forEach(({ answered }, index) => answered(answers[index] ?? { status: "allowed" }));
  }

  /** Reports a failure at once. If the store does not answer, the failure counts as usual. */
  async failed(call: ReportedFailure): Promise<ReportAnswer> {
    const report = { outcome: "failed", ...call, limits: this.#parts.limits } as const;
    const { park } = call;
    if (park === undefined || park.forMs <= RETRY_AFTER_MS_MAX) {
      return this.#report(report, call.reason);
    }
    const { service } = call;
    const asked = formatDuration(park.forMs);
    this.#parts.logger.warn("a service asked for a pause of more than a day; a day counts", {
      service,
      asked,
    });
    const shortened = { ...park, forMs: RETRY_AFTER_MS_MAX };
    return this.#report({ ...report, park: shortened }, call.reason);
  }

  /** The probe of a breaker has succeeded. Resolves when the breaker knows. */
  async probeSucceeded(service: string, run: ServiceRun): Promise<void> {
    await this.#report({ outcome: "succeeded", service, run, count: 1 }, "the probe succeeded");
  }

  /** The probe may have left out the service. Resolves when the breaker knows. */
  async successImplied(service: string, run: ServiceRun): Promise<void> {
    const reason = "a probe of several services succeeded";
    await this.#report({ outcome: "implied", service, run }, reason);
  }

  /** The run of a probe has ended without a verdict. Resolves when the breaker knows. */
  async undecided(service: string, run: ServiceRun): Promise<void> {
    const { limits } = this.#parts;
    await this.#report({ outcome: "undecided", service, run, limits }, "the probe had no verdict");
  }

  /** A call has succeeded. The first one is reported at once, others a little later. */
  succeeded(service: string): void {
    this.#successes.set(service, (this.#successes.get(service) ?? 0) + 1);
    const { clock } = this.#parts;
    const waitMs = this.#reportedAt + SUCCESS_MS - clock.monotonic();
    if (waitMs <= 0) soon(() => this.#flush());
    else this.#stopTimer ??= clock.after(waitMs, () => this.#flush());
  }

  /** How long a job waits that a closed service has sent back. */
  waitMs(waitMs: number | null): number {
    const { dice, limits } = this.#parts;
    const least = Math.max(WAIT_MS_MIN, waitMs ?? limits.openMs);
    return Math.round(least + dice.random() * Math.min(JITTER * least, JITTER_MS_MAX));
  }

  /** Resolves when all successes so far were reported. */
  async close(): Promise<void> {
    this.#flush();
    await this.#reporting;
  }

  #flush(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
    if (this.#successes.size === 0) return;
    this.#reportedAt = this.#parts.clock.monotonic();
    const reports = [...this.#successes].map(
      ([service, count]) => ({ outcome: "succeeded", service, run: null, count }) as const,
    );
    this.#successes.clear();
    const { store, logger } = this.#parts;
    this.#reporting = runOutsideJobs(() => store.reportCalls(reports)).catch((error) =>
      logger.warn("cannot report the successes of services", { error }),
    );
  }

  async #report(report: CallReport, reason: string): Promise<ReportAnswer> {
    const { store, logger } = this.#parts;
    const { service } = report;
    try {
      const [answer] = await runOutsideJobs(() => store.reportCalls([report]));
      if (answer === undefined) throw new Error("the store gave no answer");
      if (answer.changedTo === "open") logger.warn("breaker opened", { service, reason });
      if (answer.changedTo === "closed") logger.info("breaker closed", { service, reason });
      return answer;
    } catch (error) {
      logger.warn("cannot report a call of a service", { service, error });
      return { isCounted: true, waitMs: null, changedTo: null };
    }
  }
}
