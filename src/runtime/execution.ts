/**
 * One run of one job, from its start to its outcome. Never throws: every ending is an outcome.
 *
 * Four things can end a run from outside, each by aborting its signal: a request to cancel, its
 * time limit, a stop of the worker, and the store, when somebody else has ended the run. What the
 * handler then does decides: if it returns all the same, it has succeeded; if it throws, the reason
 * of the abort is the outcome.
 */
import { parsePayload } from "../client/new-job.ts";
import { runAs } from "../client/ambient.ts";
import type { Clock } from "../core/clock.ts";
import { MillraceError, NonRetryableError } from "../core/errors.ts";
import type { Outcome } from "../core/outcome.ts";
import { decode, encodeResult } from "../core/payload.ts";
import { classify } from "../core/policy.ts";
import type { Definition, Handler } from "../face/definition.ts";
import type { Preset } from "../core/presets.ts";
import type { ClaimedJob, Lease, NewJob } from "../store/store.ts";
import { contextOf, Snooze, type ContextParts } from "./context.ts";

/** How long a handler may ignore its signal before its job goes on without it. */
export const DEAF_MS_MAX = 5_000;

/** Why a run was asked to end: a stop has its own patience with handlers that do not listen. */
export type Interruption =
  | { readonly type: "cancelled"; readonly reason: string | null }
  | { readonly type: "timed_out"; readonly limitMs: number }
  | { readonly type: "interrupted"; readonly by: "stop" | "store" };

export interface ExecutionParts {
  readonly definition: Definition;
  readonly job: ClaimedJob;
  readonly lease: Lease;
  readonly clock: Clock;
  readonly preset: Preset;
  readonly context: Omit<ContextParts, "job" | "lease" | "signal" | "clock">;
}

export class Execution {
  readonly job: ClaimedJob;
  readonly lease: Lease;
  /** Jobs that the handler asked for; they come into being if the run ends well. */
  readonly children: NewJob[] = [];
  readonly #parts: ExecutionParts;
  readonly #abort = new AbortController();
  readonly #deaf = Promise.withResolvers<never>();
  #interruption: Interruption | null = null;
  #isOver = false;
  #stopTimer = (): void => {};

  constructor(parts: ExecutionParts) {
    this.#parts = parts;
    this.job = parts.job;
    this.lease = parts.lease;
    // It may be rejected when nobody races against it any more.
    this.#deaf.promise.catch(() => {});
  }

  /** Asks the handler to end. The first reason stays. */
  interrupt(why: Interruption): void {
    if (this.#interruption !== null) return;
    this.#interruption = why;
    const reason = new MillraceError("JOB_CANCELLED", `the run was ended: ${why.type}`);
    this.#abort.abort(reason);
    if (why.type === "interrupted" && why.by === "stop") return;
    this.#stopTimer();
    this.#stopTimer = this.#parts.clock.after(DEAF_MS_MAX, () => this.#deaf.reject(reason));
  }

  /**
   * Runs the handler to its end. One that does not listen to its signal is left behind after a
   * while: its job goes on without it.
   */
  async run(): Promise<Outcome> {
    const { timeoutMs: limitMs, id, correlationId, tenant } = this.job;
    if (limitMs !== null) {
      const overrun = (): void => this.interrupt({ type: "timed_out", limitMs });
      this.#stopTimer = this.#parts.clock.after(limitMs, overrun);
    }
    try {
      const handled = runAs({ id, correlationId, tenant }, () => this.#handle());
      const result = await Promise.race([handled, this.#deaf.promise]);
      return { type: "succeeded", result: encodeResult(result).text, failedUnits: 0 };
    } catch (error) {
      return this.#outcomeOf(error);
    } finally {
      this.#isOver = true;
      this.#stopTimer();
    }
  }

  /** A job that comes into being if this run ends well. */
  addChild(child: NewJob): void {
    if (this.#isOver) {
      throw new MillraceError(
        "JOB_OVER",
        `the run of job ${this.job.id} has ended: await ctx.enqueue`,
      );
    }
    this.children.push(child);
  }

  async #handle(): Promise<unknown> {
    const { definition } = this.#parts;
    const payload = await this.#payload();
    switch (definition.body.kind) {
      case "none":
        throw new NonRetryableError(`job "${definition.type}" has no handler`);
      case "handler":
        return this.#call(definition.body.handler, payload, {});
      case "phases": {
        const results: Record<string, unknown> = {};
        let last: unknown;
        for (const { name, handler } of definition.body.phases) {
          this.#abort.signal.throwIfAborted();
          // A result is passed on as it comes back from storage, on the first run too.
          last = decode(encodeResult(await this.#call(handler, payload, { ...results })).text);
          results[name] = last;
        }
        return last;
      }
    }
  }

  /** What the schema makes of the stored payload. What it refuses no retry can mend. */
  async #payload(): Promise<unknown> {
    const { definition } = this.#parts;
    const stored = decode(this.job.payload);
    if (definition.schema === undefined) return stored;
    try {
      return await parsePayload(definition.type, definition.schema, stored);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new NonRetryableError(message, { cause: error });
    }
  }

  #call(handler: Handler, payload: unknown, results: object): unknown {
    const { clock, context } = this.#parts;
    const { job, lease } = this;
    const parts = { ...context, job, lease, signal: this.#abort.signal, clock };
    return handler(payload, contextOf(parts, results));
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
    if (this.#interruption?.type === "interrupted") return { type: "interrupted" };
    if (this.#interruption !== null) return this.#interruption;
    if (error instanceof Snooze) return { type: "snoozed", delayMs: error.delayMs };
    const { definition, clock, preset } = this.#parts;
    return classify(isRefusedResult(error) ? asFinal(error) : error, {
      classify: definition.settings.classify,
      defaultErrorClass: preset.retry.defaultErrorClass,
      nowMs: clock.now(),
    });
  }
}

/** A result that cannot be stored will not be better next time. */
function isRefusedResult(error: unknown): error is MillraceError {
  return error instanceof MillraceError && error.code === "RESULT_REFUSED";
}

function asFinal(error: MillraceError): NonRetryableError {
  return new NonRetryableError(error.message, { cause: error });
}
