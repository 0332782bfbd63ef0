/**
 * What passes is tried again inside, for a bounded time and with jitter: deadlocks, serialization
 * failures, connections that cannot be had or that were lost before anything was committed, and a
 * server that is no primary for a while. A write whose answer was lost is never repeated here: only
 * its verb knows whether that is harmless.
 */
import { wait, type Dice } from "../../../core/clock.ts";
import { systemClock } from "../../../lib/system.ts";
import { failureOf, isUnreachable, UncertainWrite } from "./errors.ts";

/** How long a lost server is waited for: long enough for a restart or a failover. */
const LOST_MS_MAX = 15_000;
const CONFLICTS_MAX = 10;
const WAIT_MS_MIN = 5;
const WAIT_MS_MAX = 500;

/** Runs work that leaves nothing behind when it fails, until it succeeds or fails for good. */
export function retrying<Answer>(dice: Dice, work: () => Promise<Answer>): Promise<Answer> {
  let conflicts = 0;
  return rounds(dice, work, (error, spentMs) => {
    const failure = failureOf(error);
    if (failure === "conflict") return (conflicts += 1) <= CONFLICTS_MAX;
    const isAway = failure === "lost" || failure === "read-only" || isUnreachable(error);
    return isAway && spentMs < LOST_MS_MAX;
  });
}

/**
 * Runs a write again when its answer was lost. Only for writes whose repeat changes nothing:
 * `isRepeat` tells the work that what it finds may be its own.
 */
export function repeating<Answer>(
  dice: Dice,
  work: (isRepeat: boolean) => Promise<Answer>,
): Promise<Answer> {
  return rounds(
    dice,
    (round) => work(round > 0),
    (error, spentMs) => error instanceof UncertainWrite && spentMs < LOST_MS_MAX,
  );
}

async function rounds<Answer>(
  dice: Dice,
  work: (round: number) => Promise<Answer>,
  passes: (error: unknown, spentMs: number) => boolean,
): Promise<Answer> {
  const startedAt = systemClock.monotonic();
  for (let round = 0; ; round += 1) {
    try {
      return await work(round);
    } catch (error) {
      if (!passes(error, systemClock.monotonic() - startedAt)) throw error;
    }
    const ceiling = Math.min(WAIT_MS_MIN * 2 ** round, WAIT_MS_MAX);
    await wait(systemClock, ceiling * (0.5 + dice.random() / 2));
  }
}
