/** `ctx`: the context that a handler gets. */
import type { Clock } from "../../core/clock.ts";
import { durationMs, SNOOZE_MS_MIN, type Duration } from "../../core/duration.ts";
import { MillraceError, TransientError } from "../../core/errors.ts";
import type { Context, Logger } from "../../api/context.ts";
import { withInside, type RunInside } from "../../api/channels/run-inside.ts";
import { asFields, loggable } from "../../lib/loggable.ts";
import type { ClaimedJob, Lease } from "../../store/types/jobs-and-runs.ts";
import type { LogLevel } from "../../store/types/notes.ts";
import { callFunction, type AnswerOf } from "../channels/functions.ts";
import { Snooze } from "./snooze.ts";
import type { PhaseScope } from "./phase-scope.ts";

export interface ContextParts {
  readonly job: ClaimedJob;
  readonly lease: Lease;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly deps: unknown;
  readonly clock: Clock;
  /** Calls a service through its breaker. */
  callService<R>(service: string, fn: (signal: AbortSignal) => R | Promise<R>): Promise<R>;
  readonly answerOf: AnswerOf;
  /** For channels and supervisors. */
  readonly inside: RunInside;
  /** Stores a line in the log of the job. Never throws. */
  keepLine(level: LogLevel, message: unknown, fields: unknown): void;
}

/**
 * A plain object: handlers destructure, spread and wrap it. The phase scope is made at its first
 * use, because most jobs do not need one.
 */
export function contextOf(
  parts: ContextParts,
  phaseScope: () => PhaseScope,
  results: object,
): Context<any, any> {
  const { job, lease, signal, clock } = parts;
  const ctx: Context<any, any> = {
    job: {
      id: job.id,
      type: job.type,
      tenant: job.tenant,
      correlationId: job.correlationId,
      tags: job.tags,
    },
    attempt: job.tries + 1,
    lease: { token: `${lease.number}.${lease.secret}`, fence: lease.number },
    signal,
    log: loggerOf(parts),
    deps: parts.deps,
    results,
    timeout: (limit, fn) => withTimeout({ clock, signal, limit }, fn),
    enqueue: (...request) => phaseScope().enqueue(...request),
    snooze,
    progress: (...report) => phaseScope().progress(...report),
    step: (name, fn) => phaseScope().step(name, fn),
    each: (items, key, fn, options) => phaseScope().each(items, key, fn, options),
    breaker: (service, fn) => parts.callService(service, fn),
    callFunction: (name, payload) => callFunction(parts, ctx, name, payload),
  };
  return withInside(ctx, parts.inside);
}

function snooze(delay: Duration): never {
  throw new Snooze(snoozeMs(delay));
}

/** Every line goes to the log of the worker, with the fields of the job, and to the job's log. */
function loggerOf(parts: ContextParts): Logger {
  const { logger, job } = parts;
  const fields = {
    job_id: job.id,
    type: job.type,
    attempt: job.tries + 1,
    correlation_id: job.correlationId,
  };
  const all = (more: object | undefined): object => ({ ...fields, ...copyOf(more) });
  const at =
    (level: LogLevel): Logger[LogLevel] =>
    (message, more) => {
      logger[level](message, all(more));
      parts.keepLine(level, message, more);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Fields with a throwing getter are logged as far as possible. */
function copyOf(fields: object = {}): object {
  const given = asFields(fields);
  try {
    return { ...given };
  } catch {
    return loggable(given, "line");
  }
}

function snoozeMs(delay: Duration): number {
  const delayMs = durationMs(delay, "delay");
  if (delayMs >= SNOOZE_MS_MIN) return delayMs;
  throw new MillraceError(
    "OPTION_INVALID",
    `ctx.snooze: delay is ${delayMs} ms, but must be at least ${SNOOZE_MS_MIN} ms: a shorter ` +
      "snooze keeps a slot busy; to wait within a run, await a timer",
    { details: { option: "delay" } },
  );
}

/** Runs `fn` with its own time limit, within the time-out of the job. */
async function withTimeout<R>(
  { clock, signal, limit }: { clock: Clock; signal: AbortSignal; limit: Duration },
  fn: (signal: AbortSignal) => R | Promise<R>,
): Promise<R> {
  const limitMs = durationMs(limit, "limit");
  const own = new AbortController();
  let stopTimer = (): void => {};
  const overrun = new Promise<never>((_, reject) => {
    stopTimer = clock.after(limitMs, () => {
      const error = new TransientError(`ctx.timeout: not finished within ${limitMs} ms`);
      own.abort(error);
      reject(error);
    });
  });
  try {
    return await Promise.race([fn(AbortSignal.any([signal, own.signal])), overrun]);
  } finally {
    stopTimer();
  }
}
