/** The jobs of the simulation, and how their handlers behave. */
import { NonRetryableError, TransientError, defineJob, typed } from "millrace";
import { defaults, type Preset } from "../../../src/core/presets.ts";
import type { Context } from "../../../src/api/context.ts";
import { ONE_WORKER } from "../checks/order.ts";
import type { Behaviour } from "../plan/plan.ts";

const SECOND_MS = 1_000;
const BACKOFF = {
  kind: "exponential",
  baseMs: 300,
  factor: 2,
  jitter: 0.2,
  capMs: 4 * SECOND_MS,
  jitterAt: "cap",
} as const;

/** Short waits and short memories, so that retries and retention happen within a simulation. */
export const PRESET: Preset = {
  ...defaults,
  breaker: { failures: 3, openMs: 700 },
  retry: {
    ...defaults.retry,
    backoff: { transient: BACKOFF, retryable: BACKOFF, rate_limited: BACKOFF },
  },
  retention: {
    finishedMs: {
      completed: 15 * SECOND_MS,
      completed_with_errors: 15 * SECOND_MS,
      failed: 25 * SECOND_MS,
      cancelled: 10 * SECOND_MS,
    },
    deadLetterMs: 40 * SECOND_MS,
    idempotencyMs: 30 * SECOND_MS,
    eventMs: 20 * SECOND_MS,
    minutesMs: 20 * SECOND_MS,
    auditMs: 40 * SECOND_MS,
  },
};

/** What no handler does any more once everything has healed. */
export const ENDLESS: ReadonlySet<Behaviour> = new Set(["snooze", "deaf", "hang", "slow", "long"]);

export interface Payload {
  readonly token: number;
  /** How each run goes; the last stands for all that follow. */
  readonly runs: readonly Behaviour[];
  readonly ms: number;
  /** The run takes its time also when everything has healed. */
  readonly isCalm?: true;
}

export const contracts = [
  defineJob({ type: "alpha", payload: typed<Payload>(), timeout: "4s" }),
  defineJob({ type: "beta", payload: typed<Payload>(), timeout: "4s", lane: "fast" }),
  defineJob({
    type: "gamma",
    payload: typed<Payload>(),
    // Long enough to be marked as started before there is a slot.
    timeout: "1m",
    lane: "slow",
    category: "rare",
  }),
] as const;

/** What only the worker of this role takes. */
export function contractFor(role: string) {
  return defineJob({ type: `${ONE_WORKER}${role}`, payload: typed<Payload>(), timeout: "4s" });
}

/** Behaviours of handlers that write about themselves. */
export type Busy = "talk" | "step" | "units" | "family";

/** What a handler has at hand. */
export interface Stage {
  readonly sleep: (ms: number) => Promise<void>;
  readonly kill: () => void;
  readonly payload: Payload;
  readonly ctx: Context<unknown, unknown>;
  readonly leaseMs: number;
  /** Resolves when everything heals: a deaf handler hears its signal from then on. */
  readonly healed: Promise<void>;
}

/** How a handler spends its run; those that do more are in `pipelines.ts`. */
export async function behave(
  behaviour: Exclude<Behaviour, Busy>,
  { sleep, kill, payload, ctx, leaseMs, healed }: Stage,
): Promise<void> {
  switch (behaviour) {
    case "ok":
      return sleep(payload.ms % 50);
    case "slow":
      return sleep(payload.ms);
    case "long":
      return sleep(leaseMs * (1.1 + (payload.token % 20) / 10));
    case "throw":
      await sleep(payload.ms % 200);
      throw new Error("planted");
    case "transient":
      throw new TransientError("planted");
    case "fatal":
      throw new NonRetryableError("planted");
    case "hang":
      return untilAborted(ctx.signal);
    case "deaf":
      await healed;
      await sleep(0);
      return untilAborted(ctx.signal);
    case "snooze":
      return ctx.snooze(200 + (payload.ms % 2_000));
    case "kill":
      await sleep(payload.ms % 100);
      kill();
      return new Promise(() => {});
    case "child":
      await ctx.enqueue(contracts[0], { token: payload.token + 1_000, runs: ["ok"], ms: 5 });
      return sleep(payload.ms % 50);
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
