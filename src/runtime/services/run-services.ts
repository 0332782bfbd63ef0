/**
 * The services that one run calls, and what their breakers make of its end.
 *
 * Three things feed a breaker: errors inside `ctx.breaker`, transient errors and rate limits that
 * name a service, and, for a job with exactly one declared service, these errors without a name,
 * time-outs and successes. The success of a probe without `ctx.breaker` closes the breakers of all
 * its services on trial, because the probe may have called only some of them. A permanent error is
 * neither a failure of the service nor a success. If the breakers count no failure of a run,
 * because they were open already, the run costs no attempt: the job waits for the probe.
 */
import { head } from "../../core/text.ts";
import type { Fault, Outcome } from "../../core/outcome.ts";
import { aName } from "../../api/rules.ts";
import { insistOn } from "../../jobs/check-text.ts";
import { isInstance } from "../../lib/is-instance.ts";
import type { ClaimedJob } from "../../store/types/jobs-and-runs.ts";
import type { ReportAnswer, ServiceRun } from "../../store/types/services.ts";
import type { RunFailure } from "../run/failures.ts";
import { Snooze } from "../run/snooze.ts";
import type { ServiceCalls } from "./service-calls.ts";

const REASON_LENGTH_MAX = 500;

export interface RunServicesParts {
  readonly calls: ServiceCalls;
  readonly job: Pick<ClaimedJob, "key" | "n" | "tenant">;
  /** The services that the definition of the job names. */
  readonly declared: readonly string[];
  readonly failureOf: (error: unknown) => RunFailure;
  /** Whether an error is an effect of the interruption of the run. */
  readonly isInterrupted: (error: unknown) => boolean;
}

export class RunServices {
  readonly #parts: RunServicesParts;
  readonly #run: ServiceRun;
  /** Services whose breaker waits for a verdict of this run. */
  readonly #probed = new Set<string>();
  /** Services that the handler has called through `ctx.breaker`. */
  readonly #called = new Set<string>();
  /** Services with a failure that was reported, and the last one. */
  readonly #failed = new Map<string, Fault>();
  /** The errors of failures that were counted. A run with one of them is charged. */
  readonly #counted = new Map<string, unknown>();
  /** A failure was not counted: how long the job waits; null: the time is not known. */
  #uncounted: { readonly waitMs: number | null } | null = null;
  /** Reports of failures that the store has not answered yet. */
  readonly #reports = new Set<Promise<unknown>>();

  constructor(parts: RunServicesParts) {
    this.#parts = parts;
    const { key, n } = parts.job;
    this.#run = { key, n };
  }

  /** Before the handler is called: the outcome if a declared service is closed, else null. */
  async begin(): Promise<Outcome | null> {
    const { declared, calls } = this.#parts;
    const answers = await Promise.all(declared.map((service) => this.#ask(service)));
    const waits = answers.flatMap((answer, index) => {
      if (answer.status !== "refused") return [];
      const fault = refusal(declared[index] ?? "");
      return [{ type: "snoozed", delayMs: calls.waitMs(answer.waitMs), fault } as const];
    });
    // The service that is closed for the longest time is the one to name.
    return waits.toSorted((one, other) => other.delayMs - one.delayMs)[0] ?? null;
  }

  /** `ctx.breaker`. */
  async call<R>(
    service: string,
    fn: (signal: AbortSignal) => R | Promise<R>,
    signal: AbortSignal,
  ): Promise<R> {
    insistOn("ctx.breaker", aName, service, "service");
    this.#called.add(service);
    const { calls } = this.#parts;
    const answer = await this.#ask(service);
    if (answer.status === "refused") {
      // The service is closed because of this run, which is charged and therefore not snoozed.
      if (this.#counted.has(service)) throw this.#counted.get(service);
      throw new Snooze(calls.waitMs(answer.waitMs), refusal(service));
    }
    try {
      const result = await fn(signal);
      await this.#succeeded(service);
      return result;
    } catch (error) {
      if (!isInstance(error, Snooze) && !this.#parts.isInterrupted(error)) {
        const failure = this.#parts.failureOf(error);
        const isOfService = failure.fault.class !== "non_retryable";
        if (isOfService) await this.#reportFailure(service, failure, error);
      }
      throw error;
    }
  }

  /** The declared service has answered well, long before the run ends. */
  answered(): Promise<void> | undefined {
    const service = this.#only;
    if (service === undefined || this.#called.has(service)) return undefined;
    this.#called.add(service);
    return this.#succeeded(service);
  }

  /** The outcome of the run, after its breakers know. */
  judge(outcome: Outcome): Outcome | Promise<Outcome> {
    const judged = this.#judgeCalls(outcome);
    // A stop of the worker says nothing: the next probe begins when the store has the end of this.
    if (this.#probed.size === 0 || outcome.type === "interrupted") return judged;
    return this.#afterProbe(judged);
  }

  /** Services that the run should have tried, and has neither found working nor failing. */
  async #afterProbe(judged: Outcome | Promise<Outcome>): Promise<Outcome> {
    const outcome = await judged;
    await Promise.all([...this.#probed].map((service) => this.#endProbe(service, outcome)));
    return outcome;
  }

  /** Without a report, the next probe begins when the store has the end of this run. */
  async #endProbe(service: string, outcome: Outcome): Promise<void> {
    const { calls } = this.#parts;
    const isSuccess = outcome.type === "succeeded";
    // A handler without `ctx.breaker` gives no better verdict on any of its services.
    if (isSuccess && this.#called.size === 0) return calls.successImplied(service, this.#run);
    // The run was about another service. A success takes the job away, and failures of another
    // declared service close it to the type, so few probes end like this.
    const isOfAnother = isSuccess || this.#hasFailedDeclared;
    if (isOfAnother && !this.#called.has(service)) return;
    await calls.undecided(service, this.#run);
  }

  get #hasFailedDeclared(): boolean {
    return this.#parts.declared.some((service) => this.#failed.has(service));
  }

  #judgeCalls(outcome: Outcome): Outcome | Promise<Outcome> {
    switch (outcome.type) {
      case "succeeded":
        return this.#judgeSuccess(outcome);
      case "failed":
        return this.#judgeFailure(outcome);
      case "timed_out":
        return this.#judgeTimeout(outcome);
      case "snoozed":
      case "interrupted":
      case "cancelled":
      case "crashed":
        return outcome;
    }
  }

  #judgeSuccess(outcome: Outcome): Outcome | Promise<Outcome> {
    const service = this.#only;
    if (service === undefined || this.#called.has(service)) return outcome;
    const told = this.#succeeded(service);
    return told === undefined ? outcome : told.then(() => outcome);
  }

  async #judgeFailure(outcome: RunFailure): Promise<Outcome> {
    const { fault } = outcome;
    if (fault.class === "non_retryable") return outcome;
    const isOfService = fault.class === "transient" || fault.class === "rate_limited";
    const service = isOfService ? (fault.service ?? this.#only) : undefined;
    const named = withService(outcome, service ?? this.#serviceOf(outcome));
    return this.#afterFailure(service, named, named);
  }

  /** The service whose call through `ctx.breaker` has failed with the error of the run. */
  #serviceOf({ fault }: RunFailure): string | undefined {
    const isSame = (one: Fault): boolean =>
      one.name === fault.name && one.message === fault.message;
    return [...this.#failed].find(([, failed]) => isSame(failed))?.[0];
  }

  async #judgeTimeout(outcome: Outcome & { type: "timed_out" }): Promise<Outcome> {
    const message = `the run exceeded its timeout of ${outcome.limitMs} ms`;
    const fault = { class: "transient", name: "TimeoutError", message } as const;
    return this.#afterFailure(this.#only, { type: "failed", fault }, outcome);
  }

  /** Reports the failure of a service, unless `ctx.breaker` has, and decides about the charge. */
  async #afterFailure(
    service: string | undefined,
    failure: RunFailure,
    outcome: Outcome,
  ): Promise<Outcome> {
    // Another call of the run may have been counted.
    await Promise.all(this.#reports);
    const isKnown = service === undefined || this.#failed.has(service) || this.#isUncharged;
    if (!isKnown) await this.#reportFailure(service, failure, null);
    if (!this.#isUncharged) return outcome;
    const delayMs = this.#parts.calls.waitMs(this.#uncounted?.waitMs ?? null);
    return { type: "snoozed", delayMs, fault: withService(failure, service).fault };
  }

  get #isUncharged(): boolean {
    return this.#uncounted !== null && this.#counted.size === 0;
  }

  /** The one declared service, which needs neither a name in errors nor `ctx.breaker`. */
  get #only(): string | undefined {
    const { declared } = this.#parts;
    return declared.length === 1 ? declared[0] : undefined;
  }

  async #ask(service: string): ReturnType<ServiceCalls["ask"]> {
    const { calls, job } = this.#parts;
    const answer = await calls.ask({ service, run: this.#run, tenant: job.tenant });
    if (answer.status === "probe") this.#probed.add(service);
    return answer;
  }

  /** Undefined: the report is not waited for. */
  #succeeded(service: string): Promise<void> | undefined {
    const { calls } = this.#parts;
    if (this.#probed.delete(service)) return calls.probeSucceeded(service, this.#run);
    calls.succeeded(service);
    return undefined;
  }

  async #reportFailure(service: string, failure: RunFailure, error: unknown): Promise<void> {
    this.#failed.set(service, failure.fault);
    this.#probed.delete(service);
    const report = this.#report(service, failure);
    this.#reports.add(report);
    const { isCounted, waitMs } = await report;
    this.#reports.delete(report);
    if (isCounted) this.#counted.set(service, error);
    else this.#uncounted = { waitMs };
  }

  #report(service: string, { fault, retryAfterMs, scope }: RunFailure): Promise<ReportAnswer> {
    const { calls, job } = this.#parts;
    const isParked = fault.class === "rate_limited" && retryAfterMs !== undefined;
    const park = { forMs: retryAfterMs ?? 0, tenant: scope === "tenant" ? job.tenant : null };
    return calls.failed({
      service,
      run: this.#run,
      reason: head(`${fault.name}: ${fault.message}`, REASON_LENGTH_MAX),
      tenant: job.tenant,
      ...(isParked ? { park } : {}),
    });
  }
}

/**
 * The stored reason why a closed service has sent a run back. It does not say why the service is
 * closed: the job may belong to another tenant than the job whose failure has closed the service.
 */
function refusal(service: string): Fault {
  const message = `The service ${service} was closed, and the job was sent back.`;
  return { class: "transient", name: "ServiceClosed", message, service };
}

/** The error names the service from now on, unless it names one. */
function withService(failure: RunFailure, service: string | undefined): RunFailure {
  if (service === undefined || failure.fault.service !== undefined) return failure;
  return { ...failure, fault: { ...failure.fault, service } };
}
