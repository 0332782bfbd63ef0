/**
 * One run of one job, from its start to its outcome. Never throws: every ending is an outcome.
 *
 * Four things can end a run from outside, each by aborting its signal: a request to cancel, its
 * time limit, a stop of the worker, and the store, when somebody else has ended the run. What the
 * handler then does decides: if it returns all the same, it has succeeded; if it throws, the reason
 * of the abort is the outcome.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { parsePayload } from "../client/new-job.ts";
import { runAs, type RunHere } from "../client/ambient.ts";
import type { Clock } from "../core/clock.ts";
import { MillraceError, NonRetryableError } from "../core/errors.ts";
import type { Outcome } from "../core/outcome.ts";
import { decode, encodeResult } from "../core/payload.ts";
import { classify } from "../core/policy.ts";
import type { Definition, Handler, Phase } from "../face/definition.ts";
import type { Preset } from "../core/presets.ts";
import type { Context, Logger } from "../face/context.ts";
import type { ClaimedJob, Lease, NewJob } from "../store/store.ts";
import { checkChildren, contextOf, Snooze, type ContextParts } from "./context.ts";

/** How long a handler may ignore its signal before its job goes on without it. */
export const DEAF_MS_MAX = 5_000;

/** Why a run was asked to end: a stop has its own patience with handlers that do not listen. */
export type Interruption =
  | { readonly type: "cancelled"; readonly reason: string | null }
  | { readonly type: "timed_out"; readonly limitMs: number }
  | { readonly type: "interrupted"; readonly by: "stop" | "store" };

/** What all runs of a worker have in common. */
export interface ExecutionParts {
  readonly clock: Clock;
  readonly preset: Preset;
  readonly logger: Logger;
  readonly deps: unknown;
  /** Makes the child that a run asks for. */
  readonly newChild: (
    parent: ClaimedJob,
    ...request: Parameters<Context<unknown, unknown>["enqueue"]>
  ) => Promise<NewJob>;
}

export class Execution implements ContextParts {
  readonly job: ClaimedJob;
  readonly lease: Lease;
  /** Jobs that the handler asked for; they come into being if the run ends well. */
  readonly children: NewJob[] = [];
  readonly #parts: ExecutionParts;
  readonly #definition: Definition;
  readonly #outcome = Promise.withResolvers<Outcome>();
  readonly #abort = new AbortController();
  #interruption: { readonly why: Interruption; readonly reason: MillraceError } | null = null;
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
    if (this.#interruption !== null) return;
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
      (result) => this.#succeed(result),
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

  get enqueueChild(): Context<unknown, unknown>["enqueue"] {
    return async (...request) => {
      const child = await this.#parts.newChild(this.job, ...request);
      checkChildren(this.job.type, this.children.length);
      this.#addChild(child);
      return { id: child.id, type: child.type };
    };
  }

  /** A job that comes into being if this run ends well. */
  #addChild(child: NewJob): void {
    if (this.#isOver) {
      throw new MillraceError(
        "JOB_OVER",
        `the run of job ${this.job.id} has ended: await ctx.enqueue`,
      );
    }
    this.children.push(child);
  }

  #succeed(result: unknown): void {
    try {
      const { text } = encodeResult(result);
      this.#finish({ type: "succeeded", result: text, failedUnits: 0 });
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
    this.#outcome.resolve(outcome);
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
        return this.#call(body.handler, payload, {});
      case "phases":
        return this.#carryOutPhases(body.phases, payload);
    }
  }

  async #carryOutPhases(phases: readonly Phase[], payload: unknown): Promise<unknown> {
    const results: Record<string, unknown> = {};
    let last: unknown;
    for (const { name, handler } of phases) {
      if (this.#interruption !== null) throw this.#interruption.reason;
      // A result is passed on as it comes back from storage, on the first run too.
      last = decode(encodeResult(await this.#call(handler, payload, { ...results })).text);
      results[name] = last;
    }
    return last;
  }

  #call(handler: Handler, payload: unknown, results: object): unknown {
    return handler(payload, contextOf(this, results));
  }

  /** A thrown value may be anything, even one that throws when it is looked at. */
  #outcomeOf(error: unknown): Outcome {
    try {
      return this.#read(error);
    } catch {
      return this.#read(new Error("the handler threw a value that cannot be read"));
    }
  }

  #read(error: unknown): Outcome {
    const why = this.#interruption?.why;
    if (why?.type === "interrupted") return { type: "interrupted" };
    if (why !== undefined) return why;
    if (error instanceof Snooze) return { type: "snoozed", delayMs: error.delayMs };
    const { clock, preset } = this.#parts;
    const definition = this.#definition;
    return classify(isRefusedResult(error) ? asFinal(error) : error, {
      classify: definition.settings.classify,
      defaultErrorClass: preset.retry.defaultErrorClass,
      nowMs: clock.now(),
    });
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

/** A result that cannot be stored will not be better next time. */
function isRefusedResult(error: unknown): error is MillraceError {
  return error instanceof MillraceError && error.code === "RESULT_REFUSED";
}

function asFinal(error: MillraceError): NonRetryableError {
  return new NonRetryableError(error.message, { cause: error });
}

function nothing(): void {}
