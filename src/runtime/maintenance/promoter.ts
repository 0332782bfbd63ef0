/**
 * Moves scheduled jobs to the queue when they are due, and sleeps until the next due time.
 *
 * The promoter is also the poll of the worker: the answer of `promote` says whether there is
 * anything for the claims, the gatekeeper and the scheduler, so that an idle worker sends one
 * statement per poll. Wake-ups between two polls only move due jobs and release jobs whose gate has
 * opened.
 */
import type { WaitingJobs } from "../../store/types/records.ts";
import type { Ticker } from "../ticker.ts";
import { jittered, makeDuty, MOVE_BATCH, type DutyParts } from "./duty.ts";

export interface PollTargets {
  /** There may be jobs to claim. */
  readonly claim: () => void;
  /** There may be jobs to hold, to release or to resolve. */
  readonly keepGates: () => void;
  /** The probe of a service is due. */
  readonly probe: () => void;
  /** A slot of a schedule is due. */
  readonly tickSchedules: () => void;
  /** Jobs of fair lanes wait for turns. */
  readonly giveTurns: () => void;
}

/** If the store does not answer, the claims and the other duties find out for themselves. */
const UNKNOWN: WaitingJobs = {
  ready: true,
  released: true,
  blocked: true,
  slotDue: true,
  // Turns are not needed for jobs to start.
  fair: false,
};

export function promoter(parts: DutyParts, targets: PollTargets): Ticker {
  const { claim, keepGates, probe, tickSchedules, giveTurns } = targets;
  const { store, clock, random, pollMs } = parts;
  let polledAt = -Infinity;
  const tell = ({ ready, released, blocked, slotDue, fair }: WaitingJobs): void => {
    const now = clock.monotonic();
    const isPoll = now - polledAt >= pollMs / 2;
    if (isPoll) polledAt = now;
    if (fair) giveTurns();
    if (isPoll && ready) claim();
    if (released || (isPoll && blocked)) keepGates();
    if (isPoll && slotDue) tickSchedules();
  };
  return makeDuty(parts, pollMs, async () => {
    const { moved, nextDueMs, probeInMs, waiting } = await store
      .promote(MOVE_BATCH)
      .catch((error) => {
        tell(UNKNOWN);
        throw error;
      });
    tell(waiting);
    if (probeInMs === 0) probe();
    if (moved === MOVE_BATCH) return 0;
    const restMs = jittered(pollMs, random());
    // A probe that is due and finds no job is looked for at the next poll.
    const probeMs = probeInMs === null || probeInMs === 0 ? restMs : probeInMs;
    return Math.min(nextDueMs ?? restMs, probeMs, restMs);
  });
}
