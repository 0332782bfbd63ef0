/**
 * One run of one job, from start to outcome. Never throws: every error becomes an outcome.
 *
 * Five things interrupt a run and abort its signal: a cancel request, the time-out, the stop of the
 * worker, the store, when another process has ended the run, and the expiry of the worker's lease,
 * after which another process may run the job. After the interruption the handler decides: if the
 * handler returns, the run has succeeded; if the handler throws, the interruption is the outcome.
 * An expired lease may be renewed: the run then goes on, and a later reason replaces the expiry.
 *
 * A run ends in three steps: abort, join, settle. When the handler throws, the signal is aborted
 * and no unit begins. Then the units under way are joined, so that no unit runs beside the next
 * attempt of the job. The outcome is that of the first error. When the handler returns, its units
 * are joined without an abort.
 */
import { runInJob } from "../../jobs/async-context.ts";
import type { Clock } from "../../core/clock.ts";
import { MillraceError, NonRetryableError } from "../../core/errors.ts";
import type { Fault, Outcome } from "../../core/outcome.ts";
import { encodeResult } from "../../core/payload.ts";
import type { CallingUnit, Definition, Handler, Phase } from "../../api/definition.ts";
import type { Preset } from "../../core/presets.ts";
import type { Logger } from "../../api/context.ts";
import type { RunInside } from "../../api/channels/run-inside.ts";
import type { JobStore } from "../../store/store.ts";
import { isInstance } from "../../lib/is-instance.ts";
import type { ClaimedJob, Lease, NewJob, SettleItem } from "../../store/types/jobs-and-runs.ts";
import type { LogLevel } from "../../store/types/notes.ts";
import { contextOf, type ContextParts } from "./context.ts";
import { acceptedPayload, storedPayload } from "./stored-payload.ts";
import { failureOf, type FailureParts } from "./failures.ts";
import { RunAborted, RunNotes, type RunStore } from "../notes/run-notes.ts";
import { logLine } from "../notes/log-line.ts";
import { callMs, IGNORED_SIGNAL_MS_MAX } from "./limits.ts";
import { carryOutPhases, type PipelineEnd } from "./phases.ts";
import { RunServices } from "../services/run-services.ts";
import type { ServiceCalls } from "../services/service-calls.ts";
import { answerOf, type AnswerOf, type FunctionParts } from "../channels/functions.ts";
import { isAbortBy, isExpiry, reasonOf, type RunInterruption } from "../interruption.ts";
import { runInside } from "../channels/run-inside.ts";
import { Snooze } from "./snooze.ts";
import { currentRunOf } from "./unhandled-rejections.ts";
import { PhaseScope, type PhaseScopeParts } from "./phase-scope.ts";
import type { LockName } from "./lock-queue.ts";

const NO_CHILDREN: readonly NewJob[] = [];
const NO_LOCKS: readonly never[] = [];

/** What all runs of a worker share. */
export interface ExecutionParts extends FunctionParts {
  readonly store: Pick<JobStore, "get" | "runFunction">;
  readonly clock: Clock;
  readonly preset: Preset;
  readonly logger: Logger;
  readonly deps: unknown;
  /** Stores the notes of runs. */
  readonly runStore: RunStore;
  readonly newChild: PhaseScopeParts["newChild"];
  readonly serviceCalls: ServiceCalls;
}

export class Execution implements ContextParts, PhaseScopeParts {
  readonly job: ClaimedJob;
  readonly lease: Lease;
  readonly #parts: ExecutionParts;
  readonly #definition: Definition;
  readonly #outcome = Promise.withResolvers<Outcome>();
  /** The signal of the handler. */
  readonly #abort = new AbortController();
  /** The signal of the run: an expired lease does not abort it, because the run may go on. */
  readonly #stop = new AbortController();
  /** When the lease was renewed after its expiry. */
  #renewedAt: number | null = null;
  #interruption: { readonly why: RunInterruption; readonly reason: MillraceError } | null = null;
  #phaseScope: PhaseScope | null = null;
  #services: RunServices | null = null;
  /** An earlier run has called the declared services, and has stored the answer. */
  #hasCalled = false;
  #runNotes: RunNotes | null = null;
  #pipeline: PipelineEnd | null = null;
  #note: SettleItem["note"];
  /** The outcome of a run that ends badly, from its first error on. */
  #badEnd: Outcome | null = null;
  #handler: Promise<void> | null = null;
  #hasReturned = false;
  #isOver = false;
  #stopTimer = nothing;
  /** When the time of the run is over; null: it has no limit. */
  #endsAt: number | null = null;

  constructor(parts: ExecutionParts, definition: Definition, lease: Lease, job: ClaimedJob) {
    this.#parts = parts;
    this.#definition = definition;
    this.job = job;
    this.lease = lease;
  }

  /**
   * Before the handler: the outcome if a declared service is closed. Null: the run may begin.
   * Synchronous for types without services, which are most types.
   */
  askServices(): Promise<Outcome | null> | null {
    const { settings, caller } = this.#definition;
    if ((settings.services ?? []).length === 0) return null;
    const isFirst = caller === undefined || this.job.n === 1;
    return isFirst ? this.#ownServices.begin() : this.#askUnlessCalled(caller);
  }

  /** An earlier run may have called the services; this one does what follows from the answer. */
  async #askUnlessCalled(caller: CallingUnit): Promise<Outcome | null> {
    this.#hasCalled = await this.runNotes.hasStored(caller.phase, `${caller.unit} ${this.job.id}`);
    return this.#hasCalled ? null : this.#ownServices.begin();
  }

  /** The services that this run calls without a word of its handler. */
  get #declared(): readonly string[] {
    return this.#hasCalled ? [] : (this.#definition.settings.services ?? []);
  }

  /** The outcome of the run, after the breakers of its services know. */
  judge(outcome: Outcome): Outcome | Promise<Outcome> {
    const isNamed = outcome.type === "failed" && outcome.fault.service !== undefined;
    if (this.#services === null && this.#declared.length === 0 && !isNamed) return outcome;
    return this.#ownServices.judge(outcome);
  }

  callService<R>(service: string, fn: (signal: AbortSignal) => R | Promise<R>): Promise<R> {
    return this.#ownServices.call(service, fn, this.signal);
  }

  answerOf: AnswerOf = (...call) => {
    const endsAt = this.#endsAt;
    const leftMs = endsAt === null ? null : callMs(endsAt - this.clock.monotonic());
    const limits = { leftMs, signal: this.runSignal };
    return answerOf({ ...this.#parts, limits }, ...call);
  };

  get inside(): RunInside {
    return runInside({
      failureParts: this.#failureParts,
      isInterrupted: (error) => this.isInterrupted(error),
      judge: (outcome) => this.judge(outcome),
      answerOf: this.answerOf,
      isStored: (unit) => this.runNotes.hasStored("", unit),
      serviceAnswered: async () => this.#ownServices.answered(),
      jobOf: (id) => this.#parts.store.get(id),
    });
  }

  get #ownServices(): RunServices {
    this.#services ??= new RunServices({
      calls: this.#parts.serviceCalls,
      job: this.job,
      declared: this.#declared,
      failureOf: (error) => failureOf(error, this.#failureParts),
      isInterrupted: (error) => this.isInterrupted(error),
    });
    return this.#services;
  }

  /** Aborts the signal. The first reason counts, unless it is the expiry of the lease. */
  interrupt(why: RunInterruption): void {
    const before = this.#interruption;
    if (before !== null && !isExpiry(before.why)) return;
    if (this.#badEnd !== null || this.#isOver) return;
    const reason = before?.reason ?? reasonOf(why);
    this.#interruption = { why, reason };
    this.#renewedAt = null;
    this.#abort.abort(reason);
    if (isExpiry(why)) return;
    this.#stop.abort(reason);
    if (why.type === "interrupted" && why.by === "stop") return;
    this.#limitWait();
  }

  /** The expired lease was renewed: no other worker has taken the job, and the run goes on. */
  leaseRenewed(): void {
    this.#renewedAt ??= this.#parts.clock.monotonic();
  }

  /**
   * Whether an error of the handler or of a unit is an effect of the interruption. Once an expired
   * lease was renewed, an error is the handler's own, except an error of the aborted signal, and
   * errors soon after the renewal.
   */
  isInterrupted(error: unknown): boolean {
    if (this.#interruption === null) return false;
    const { why, reason } = this.#interruption;
    if (!isExpiry(why) || this.#renewedAt === null) return true;
    const renewedMs = this.#parts.clock.monotonic() - this.#renewedAt;
    return renewedMs < IGNORED_SIGNAL_MS_MAX || isAbortBy(reason, error);
  }

  /**
   * Runs the handler, unless the run was interrupted before. If the handler or a unit ignores the
   * aborted signal, the run ends without it after {@link IGNORED_SIGNAL_MS_MAX}.
   */
  run(): Promise<Outcome> {
    if (this.#interruption !== null) this.#end(this.#interruption.reason);
    if (this.#isOver) return this.#outcome.promise;
    const { timeoutMs: limitMs } = this.job;
    if (limitMs !== null) {
      const overrun = (): void => this.interrupt({ type: "timed_out", limitMs });
      this.#stopTimer = this.#parts.clock.after(limitMs, overrun);
      this.#endsAt = this.#parts.clock.monotonic() + limitMs;
    }
    this.#handler = this.#handled().then(
      (result) => this.#handlerReturned(result),
      (error) => this.#handlerThrew(error),
    );
    return this.#outcome.promise;
  }

  /** The end of code that goes on after the run has ended, a handler or units; null: none does. */
  get codeLeft(): Promise<unknown> | null {
    const units = this.#phaseScope?.close() ?? null;
    return units === null ? this.#handler : Promise.all([this.#handler, units]);
  }

  #handlerReturned(result: unknown): void {
    this.#handler = null;
    this.#joinUnits(result);
  }

  #handlerThrew(error: unknown): void {
    this.#handler = null;
    this.#end(error);
  }

  /** The outcome if the run does not end within the stop of its worker. */
  get outcomeAtStop(): Outcome {
    return this.#badEnd ?? { type: "interrupted" };
  }

  get logger(): Logger {
    return this.#parts.logger;
  }

  get deps(): unknown {
    return this.#parts.deps;
  }

  get clock(): Clock {
    return this.#parts.clock;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get runSignal(): AbortSignal {
    return this.#stop.signal;
  }

  get newChild(): PhaseScopeParts["newChild"] {
    return this.#parts.newChild;
  }

  get runNotes(): RunNotes {
    this.#runNotes ??= this.#makeRunNotes();
    return this.#runNotes;
  }

  /** Jobs that are enqueued with the end of the run, if it succeeds. */
  get children(): readonly NewJob[] {
    return this.#phaseScope?.children ?? NO_CHILDREN;
  }

  /** The notes that are stored with the end of the run. */
  get note(): SettleItem["note"] {
    const logs = this.#runNotes?.unsentLines ?? [];
    return logs.length === 0 ? this.#note : { ...this.#note, logs };
  }

  /** The locks that are released with the end of the run. */
  get lockNames(): readonly LockName[] {
    const { tenant, concurrencyKey: own } = this.job;
    const held = this.#runNotes?.heldLocks ?? NO_LOCKS;
    // The fast path: most runs hold no lock.
    if (own === null && held.length === 0) return NO_LOCKS;
    return (own === null ? held : [own, ...held]).map((name) => ({ tenant, name }));
  }

  /** Stores a line in the log of the job, unless the run has ended. */
  keepLine(level: LogLevel, message: unknown, fields: unknown): void {
    if (!this.#isOver) this.runNotes.log(logLine(this.clock.now(), level, message, fields));
  }

  faultOf(error: unknown): Fault {
    return failureOf(error, this.#failureParts).fault;
  }

  #makeRunNotes(): RunNotes {
    const { settings, body } = this.#definition;
    const { clock, runStore, preset } = this.#parts;
    return new RunNotes({
      job: this.job,
      lease: this.lease,
      phases: body.kind === "phases" ? body.phases.map(({ name }) => name) : [],
      onRetry: settings.onRetry ?? preset.onRetry,
      runStore,
      clock,
      signal: this.runSignal,
      onLost: () => this.interrupt({ type: "interrupted", by: "store" }),
    });
  }

  /** Units that the handler did not await are part of the run as well. */
  #joinUnits(ended: unknown): void {
    this.#hasReturned = true;
    const left = this.#phaseScope?.unitsLeft ?? null;
    if (left === null) this.#succeed(ended);
    else {
      left.then(
        () => this.#joinUnits(ended),
        (error) => this.#end(error),
      );
    }
  }

  #succeed(ended: unknown): void {
    if (this.#isOver) return;
    try {
      if (this.#runNotes?.isCutShort === true) this.#checkpoint();
      const pipeline = this.#pipeline;
      const result = pipeline === null ? encodeResult(ended).text : pipeline.result;
      if (pipeline?.completed) this.#note = { completed: pipeline.completed };
      const failedUnits = this.#runNotes?.failedUnits ?? 0;
      this.#finish({ type: "succeeded", result, failedUnits });
    } catch (error) {
      this.#end(error);
    }
  }

  /** A bad end: abort, join, settle. The first error is the outcome. */
  #end(error: unknown): void {
    if (this.#isOver || this.#badEnd !== null) return;
    const outcome = this.#outcomeOf(error);
    this.#badEnd = outcome;
    // Before the abort, because listeners of the signal must not begin units.
    const left = this.#phaseScope?.close() ?? null;
    const reason = new RunAborted(this.job, error);
    this.#abort.abort(reason);
    this.#stop.abort(reason);
    if (left === null) this.#finish(outcome);
    else this.#finishAfter(left, outcome);
  }

  #finishAfter(unitsUnderWay: Promise<void>, outcome: Outcome): void {
    // An interruption has its limit already, and a stop has its own. An expired lease has none.
    const why = this.#interruption?.why;
    if (why === undefined || isExpiry(why)) this.#limitWait();
    void unitsUnderWay.then(() => this.#finish(outcome));
  }

  /** Ends the run without a handler or units that ignore the aborted signal. */
  #limitWait(): void {
    this.#stopTimer();
    this.#stopTimer = this.#parts.clock.after(IGNORED_SIGNAL_MS_MAX, () => {
      if (this.#isOver) return;
      this.#warnOfIgnoredSignal();
      void this.#phaseScope?.close();
      this.#finish(this.#badEnd ?? this.#outcomeOf(this.signal.reason));
    });
  }

  #warnOfIgnoredSignal(): void {
    const { id, type, n } = this.job;
    const units = this.#phaseScope?.unitsUnderWay ?? [];
    const isHandlerOver = this.#hasReturned || this.#badEnd !== null;
    const left = isHandlerOver ? units : ["the handler", ...units];
    const who =
      left.length === 0 ? "calls of ctx that the store has not answered" : left.join(", ");
    this.logger.warn(
      `the run ends without ${who}: the signal was aborted ${IGNORED_SIGNAL_MS_MAX} ms ago; ` +
        "pass ctx.signal on, and stop when it is aborted",
      { job_id: id, type, run: n, units },
    );
  }

  #finish(outcome: Outcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopTimer();
    this.#phaseScope?.end();
    if (this.#runNotes === null) this.#outcome.resolve(outcome);
    // Notes are stored before the end of the run.
    else void this.#runNotes.close().then(() => this.#outcome.resolve(outcome));
  }

  #handled(): Promise<unknown> {
    try {
      // Promise.resolve is called inside, because the `then` of a thenable is part of the run.
      return runInJob(currentRunOf(this.job, this.#parts.logger), () =>
        Promise.resolve(this.#handle()),
      );
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Synchronous where possible, because every await costs time. */
  #handle(): unknown {
    const { type, schema } = this.#definition;
    const stored = storedPayload(this.job, this.#definition.settings);
    if (schema === undefined) return this.#carryOut(stored);
    const payload = acceptedPayload(type, schema, stored);
    return payload instanceof Promise
      ? payload.then((late) => this.#carryOut(late))
      : this.#carryOut(payload);
  }

  #carryOut(payload: unknown): unknown {
    const { type, body } = this.#definition;
    switch (body.kind) {
      case "none":
        throw new NonRetryableError(`job "${type}" has no handler`);
      case "handler":
        return this.#startsOver
          ? this.runNotes.loadCheckpoints().then(() => this.#callPlain(body.handler, payload))
          : this.#callPlain(body.handler, payload);
      case "phases":
        return this.#carryOutPhases(body.phases, payload);
    }
  }

  #callPlain(handler: Handler, payload: unknown): unknown {
    return this.#call(handler, payload, () => (this.#phaseScope ??= this.#enter(null)), {});
  }

  /** A new attempt that drops the checkpoints and the progress of the last attempt. */
  get #startsOver(): boolean {
    const { onRetry = this.#parts.preset.onRetry } = this.#definition.settings;
    return onRetry === "restart" && this.job.tries > 0;
  }

  async #carryOutPhases(phases: readonly Phase[], payload: unknown): Promise<void> {
    this.#pipeline = await carryOutPhases(
      {
        runNotes: this.runNotes,
        checkpoint: () => this.#checkpoint(),
        enter: (phase) => this.#enter(phase),
        call: (handler, phaseScope, results) =>
          this.#call(handler, payload, () => phaseScope, results),
      },
      phases,
    );
  }

  #checkpoint(): void {
    if (this.#interruption === null) return;
    const { why, reason } = this.#interruption;
    const hasLeftOut = this.#runNotes?.isCutShort === true;
    // An expired lease that was renewed lets the run go on, unless it has left out units.
    if (!isExpiry(why) || this.#renewedAt === null || hasLeftOut) throw reason;
  }

  #enter(phase: string | null): PhaseScope {
    const phaseScope = new PhaseScope(this, phase);
    if (this.#isOver) phaseScope.end();
    else if (this.#badEnd !== null) void phaseScope.close();
    this.#phaseScope = phaseScope;
    return phaseScope;
  }

  #call(
    handler: Handler,
    payload: unknown,
    phaseScope: () => PhaseScope,
    results: object,
  ): unknown {
    return handler(payload, contextOf(this, phaseScope, results));
  }

  #outcomeOf(error: unknown): Outcome {
    const why = this.isInterrupted(error) ? this.#interruption?.why : undefined;
    if (why?.type === "interrupted") return { type: "interrupted" };
    if (why !== undefined) return why;
    if (isInstance(error, Snooze)) return outcomeOfSnooze(error);
    return failureOf(error, this.#failureParts);
  }

  get #failureParts(): FailureParts {
    const { clock, preset } = this.#parts;
    return { job: this.job, clock, preset, definition: this.#definition };
  }
}

function outcomeOfSnooze({ delayMs, fault }: Snooze): Outcome {
  return fault === null ? { type: "snoozed", delayMs } : { type: "snoozed", delayMs, fault };
}

function nothing(): void {}
