/**
 * Retries transient failures, for a bounded time and with jitter: deadlocks, serialization
 * failures, connections that cannot be opened or that were lost before the commit, and a server
 * that is read-only during a failover. A write whose answer was lost is never repeated by
 * `retrying`: only its verb knows whether a repeat is harmless.
 */
import { wait, type Dice } from "../../../core/clock.ts";
import { systemClock } from "../../../lib/system.ts";
import { failureOf, isUnreachable, UncertainWrite } from "./errors.ts";

/** How long an unreachable server is retried: long enough for a restart or a failover. */
const LOST_MS_MAX = 15_000;
const CONFLICTS_MAX = 10;
const WAIT_MS_MIN = 5;
const WAIT_MS_MAX = 500;

/** Retries work that has no effect when it fails, until it succeeds or fails permanently. */
export function retrying<Answer>(dice: Dice, work: () => Promise<Answer>): Promise<Answer> {
  let conflicts = 0;
  return attempt(dice, work, (error, spentMs) => {
    const failure = failureOf(error);
    if (failure === "conflict") return (conflicts += 1) <= CONFLICTS_MAX;
    const isUnavailable = failure === "lost" || failure === "read-only" || isUnreachable(error);
    return isUnavailable && spentMs < LOST_MS_MAX;
  });
}

/**
 * Repeats a write whose answer was lost. Only for writes that are idempotent: `isRepeat` tells the
 * work that the first try may have written what it finds.
 */
export function repeating<Answer>(
  dice: Dice,
  work: (isRepeat: boolean) => Promise<Answer>,
): Promise<Answer> {
  return attempt(
    dice,
    (retries) => work(retries > 0),
    (error, spentMs) => error instanceof UncertainWrite && spentMs < LOST_MS_MAX,
  );
}

async function attempt<Answer>(
  dice: Dice,
  work: (retries: number) => Promise<Answer>,
  isTransient: (error: unknown, spentMs: number) => boolean,
): Promise<Answer> {
  const startedAt = systemClock.monotonic();
  for (let retries = 0; ; retries += 1) {
    try {
      return await work(retries);
    } catch (error) {
      if (!isTransient(error, systemClock.monotonic() - startedAt)) throw error;
    }
    const ceiling = Math.min(WAIT_MS_MIN * 2 ** retries, WAIT_MS_MAX);
    await wait(systemClock, ceiling * (0.5 + dice.random() / 2));
  }
}
