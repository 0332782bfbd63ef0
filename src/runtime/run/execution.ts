/**
 * One run of one job, from its start to its outcome. Never throws: every ending is an outcome.
 *
 * Four things can end a run from outside, each by aborting its signal: a request to cancel, its
 * time limit, a stop of the worker, and the store, when somebody else has ended the run. What the
 * handler then does decides: if it returns all the same, it has succeeded; if it throws, the reason
 * of the abort is the outcome.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { parsePayload } from "../../jobs/new-job.ts";
import { runAs, type RunHere } from "../../jobs/async-context.ts";
import type { Clock } from "../../core/clock.ts";
import { MillraceError, NonRetryableError } from "../../core/errors.ts";
import type { Fault, Outcome } from "../../core/outcome.ts";
import { decode, encodeResult } from "../../core/payload.ts";
import type { Definition, Handler, Phase } from "../../api/definition.ts";
import type { Preset } from "../../core/presets.ts";
import type { Logger } from "../../api/context.ts";
import { isInstance } from "../../lib/is-instance.ts";
import type { ClaimedJob, Lease, NewJob, SettleItem } from "../../store/types/jobs-and-runs.ts";
import type { LogLevel } from "../../store/types/notes.ts";
import { contextOf, type ContextParts } from "./context.ts";
import { failureOf, type FailureParts } from "./failures.ts";
import { RunNotes, type Desk } from "../notes/run-notes.ts";
import { logLine } from "../notes/log-line.ts";
import { carryOutPhases, type PipelineEnd } from "./phases.ts";
import { Snooze } from "./snooze.ts";
import { PhaseScope, type PhaseScopeParts } from "./phase-scope.ts";
import type { LockName } from "./lock-queue.ts";

/** How long a handler may ignore its signal before its job goes on without it. */
export const DEAF_MS_MAX = 5_000;

/** Why a run was asked to end: a stop has its own patience with handlers that do not listen. */
export type Interruption =
  | { readonly type: "cancelled"; readonly reason: string | null }
  | { readonly type: "timed_out"; readonly limitMs: number }
  | { readonly type: "interrupted"; readonly by: "stop" | "store" };

const NO_CHILDREN: readonly NewJob[] = [];
const NO_NAMES: readonly never[] = [];

/** What all runs of a worker have in common. */
export interface ExecutionParts {
  readonly clock: Clock;
  readonly preset: Preset;
  readonly logger: Logger;
  readonly deps: unknown;
  /** Where runs write what they say about themselves. */
  readonly desk: Desk;
  readonly newChild: PhaseScopeParts["newChild"];
}

export class Execution implements ContextParts, PhaseScopeParts {
  readonly job: ClaimedJob;
  readonly lease: Lease;
  readonly #parts: ExecutionParts;
  readonly #definition: Definition;
  readonly #outcome = Promise.withResolvers<Outcome>();
  readonly #abort = new AbortController();
  #interruption: { readonly why: Interruption; readonly reason: MillraceError } | null = null;
  #phaseScope: PhaseScope | null = null;
  #runNotes: RunNotes | null = null;
  #pipeline: PipelineEnd | null = null;
  #note: SettleItem["note"];
  #isOver = false;
  #stopTimer = nothing;

  constructor(parts: ExecutionParts, definition: Definition, lease: Lease, job: ClaimedJob) {
    this.#parts = parts;
    this.#definition = definition;
    this.job = job;
    this.lease = lease;
  }

  /** Asks the handler to end. The first reason stays. */
  interrupt(why: Interruption): void {
    if (this.#interruption !== null || this.#isOver) return;
    const reason = new MillraceError("JOB_CANCELLED", `the run was ended: ${why.type}`);
    this.#interruption = { why, reason };
    this.#abort.abort(reason);
    if (why.type === "interrupted" && why.by === "stop") return;
    this.#stopTimer();
    this.#stopTimer = this.#parts.clock.after(DEAF_MS_MAX, () => this.#end(reason));
  }

  /**
   * Runs the handler to its end. One that does not listen to its signal is left behind after a
   * while: its job goes on without it.
   */
  run(): Promise<Outcome> {
    const { timeoutMs: limitMs } = this.job;
    if (limitMs !== null) {
      const overrun = (): void => this.interrupt({ type: "timed_out", limitMs });
      this.#stopTimer = this.#parts.clock.after(limitMs, overrun);
    }
    this.#handled().then(
      (result) => this.#joinUnits(result),
      (error) => this.#end(error),
    );
    return this.#outcome.promise;
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

  get newChild(): PhaseScopeParts["newChild"] {
    return this.#parts.newChild;
  }

  get runNotes(): RunNotes {
    this.#runNotes ??= this.#makeRunNotes();
    return this.#runNotes;
  }

  /** Jobs that come into being with the end of the run, if it is a success. */
  get children(): readonly NewJob[] {
    return this.#phaseScope?.children ?? NO_CHILDREN;
  }

  /** What is kept with the end of the run. */
  get note(): SettleItem["note"] {
    const logs = this.#runNotes?.lastLines ?? [];
    return logs.length === 0 ? this.#note : { ...this.#note, logs };
  }

  /** The exclusive names that it gives up with its end. */
  get names(): readonly LockName[] {
    const { tenant, concurrencyKey: own } = this.job;
    const held = this.#runNotes?.heldNames ?? NO_NAMES;
    // Most have none, and there are very many.
    if (own === null && held.length === 0) return NO_NAMES;
    return (own === null ? held : [own, ...held]).map((name) => ({ tenant, name }));
  }

  /** Keeps a line in the log of the job, as long as the run goes on. */
  keepLine(level: LogLevel, message: unknown, fields: unknown): void {
    if (!this.#isOver) this.runNotes.log(logLine(this.clock.now(), level, message, fields));
  }

  faultOf(error: unknown): Fault {
    return failureOf(error, this.#failureParts).fault;
  }

  #makeRunNotes(): RunNotes {
    const { settings, body } = this.#definition;
    const { clock, desk, preset } = this.#parts;
    return new RunNotes({
      job: this.job,
      lease: this.lease,
      phases: body.kind === "phases" ? body.phases.map(({ name }) => name) : [],
      onRetry: settings.onRetry ?? preset.onRetry,
      desk,
      clock,
      signal: this.signal,
      lost: () => this.interrupt({ type: "interrupted", by: "store" }),
    });
  }

  /** What its handler did not wait for is part of the run all the same. */
  #joinUnits(ended: unknown): void {
    const left = this.#phaseScope?.unitsLeft ?? null;
    if (left === null) this.#succeed(ended);
    else {
      left.then(
        () => this.#succeed(ended),
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

  #end(error: unknown): void {
    if (!this.#isOver) this.#finish(this.#outcomeOf(error));
  }

  #finish(outcome: Outcome): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopTimer();
    this.#phaseScope?.end();
    if (this.#runNotes === null) this.#outcome.resolve(outcome);
    // What was said comes before the end.
    else void this.#runNotes.close().then(() => this.#outcome.resolve(outcome));
  }

  #handled(): Promise<unknown> {
    try {
      // In there, because what a thenable does when it is asked is part of the run as well.
      return runAs(runHereOf(this.job, this.#parts.logger), () => Promise.resolve(this.#handle()));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** As little as possible happens later than at once: every wait costs. */
  #handle(): unknown {
    const { type, schema } = this.#definition;
    const stored = decode(this.job.payload);
    if (schema === undefined) return this.#carryOut(stored);
    const payload = accepted(type, schema, stored);
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
          ? this.runNotes.recall().then(() => this.#callPlain(body.handler, payload))
          : this.#callPlain(body.handler, payload);
      case "phases":
        return this.#carryOutPhases(body.phases, payload);
    }
  }

  #callPlain(handler: Handler, payload: unknown): unknown {
    return this.#call(handler, payload, () => (this.#phaseScope ??= this.#enter(null)), {});
  }

  /** A new attempt that forgets the one before: how far that had come, to begin with (000-29). */
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
    if (this.#interruption !== null) throw this.#interruption.reason;
  }

  #enter(phase: string | null): PhaseScope {
    const phaseScope = new PhaseScope(this, phase);
    if (this.#isOver) phaseScope.end();
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
    const why = this.#interruption?.why;
    if (why?.type === "interrupted") return { type: "interrupted" };
    if (why !== undefined) return why;
    if (isInstance(error, Snooze)) return { type: "snoozed", delayMs: error.delayMs };
    return failureOf(error, this.#failureParts);
  }

  get #failureParts(): FailureParts {
    const { clock, preset } = this.#parts;
    return { clock, preset, definition: this.#definition };
  }
}

/**
 * What code below the handler knows of its run. Not the run itself: a connection or a timer that it
 * makes would keep the payload for as long as it lives.
 */
function runHereOf({ id, type, n, correlationId, tenant }: ClaimedJob, logger: Logger): RunHere {
  return {
    job: { id, correlationId, tenant },
    rejected(error) {
      logger.error("a promise that a handler left behind was rejected; the worker goes on", {
        job_id: id,
        type,
        run: n,
        correlation_id: correlationId,
        error,
      });
    },
  };
}

/** What the schema makes of the stored payload. What it refuses no retry can mend. */
function accepted(type: string, schema: StandardSchemaV1, stored: unknown): unknown {
  try {
    const payload = parsePayload(type, schema, stored);
    return payload instanceof Promise ? payload.catch(refuse) : payload;
  } catch (error) {
    return refuse(error);
  }
}

function refuse(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  throw new NonRetryableError(message, { cause: error });
}

function nothing(): void {}
