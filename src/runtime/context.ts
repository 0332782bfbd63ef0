/** What a handler is given. */
import type { Clock } from "../core/clock.ts";
import { durationMs, type Duration } from "../core/duration.ts";
import { MillraceError, TransientError } from "../core/errors.ts";
import type { Context, Logger } from "../face/context.ts";
import type { ClaimedJob, Lease } from "../store/store.ts";

/** Thrown by `ctx.snooze` to unwind the handler; the executor knows it by this class. */
export class Snooze extends Error {
  readonly delayMs: number;

  constructor(delayMs: number) {
    super("the job was snoozed");
    this.name = "Snooze";
    this.delayMs = delayMs;
  }
}

export interface ContextParts {
  readonly job: ClaimedJob;
  readonly lease: Lease;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly deps: unknown;
  readonly clock: Clock;
  readonly enqueueChild: Context<unknown, unknown>["enqueue"];
}

export function contextOf(parts: ContextParts, results: object): Context<any, any> {
  const { job, lease, signal, clock } = parts;
  return {
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
    enqueue: parts.enqueueChild,
    snooze(delay) {
      throw new Snooze(durationMs(delay, "delay"));
    },
    progress: () => notYet("ctx.progress"),
    step: () => notYet("ctx.step"),
    each: () => notYet("ctx.each"),
    breaker: () => notYet("ctx.breaker"),
  };
}

/** Every line names its job. */
function loggerOf({ logger, job }: ContextParts): Logger {
  const fields = {
    job_id: job.id,
    type: job.type,
    attempt: job.tries + 1,
    correlation_id: job.correlationId,
  };
  return {
    debug: (message, more) => logger.debug(message, { ...fields, ...more }),
    info: (message, more) => logger.info(message, { ...fields, ...more }),
    warn: (message, more) => logger.warn(message, { ...fields, ...more }),
    error: (message, more) => logger.error(message, { ...fields, ...more }),
  };
}

/** Runs `fn` with a limit of its own, inside that of the job. */
async function withTimeout<R>(
  { clock, signal, limit }: { clock: Clock; signal: AbortSignal; limit: Duration },
  fn: (signal: AbortSignal) => R | Promise<R>,
): Promise<R> {
  const limitMs = durationMs(limit, "limit");
  const own = new AbortController();
  let timer = (): void => {};
  const overrun = new Promise<never>((_, reject) => {
    timer = clock.after(limitMs, () => {
      const error = new TransientError(`it took longer than ${limitMs} ms`);
      own.abort(error);
      reject(error);
    });
  });
  try {
    return await Promise.race([fn(AbortSignal.any([signal, own.signal])), overrun]);
  } finally {
    timer();
  }
}

function notYet(what: string): never {
  throw new MillraceError("NOT_YET", `${what} is not part of this release`);
}
