/**
 * Tells the store which lanes of the worker are fair by its code, and which are not. A lane about
 * which the code says nothing stays as it is: other workers may have declared the lane.
 */
import { wait, type Clock } from "../../core/clock.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { WorkerSettings } from "../settings.ts";

interface DeclareParts {
  readonly store: Pick<JobStore, "declareFairness">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Pick<WorkerSettings, "laneOptions" | "pollMs">;
  readonly isOver: () => boolean;
}

/** Tries until the store answers. Answers whether a lane is fair. */
export async function declareFairness(parts: DeclareParts): Promise<boolean> {
  const { store, clock, logger, settings, isOver } = parts;
  const lanes = Object.entries(settings.laneOptions).flatMap(([lane, { weights }]) =>
    weights === undefined ? [] : [{ lane, weights }],
  );
  if (lanes.length === 0) return false;
  while (!isOver()) {
    try {
      await store.declareFairness(lanes);
      return lanes.some(({ weights }) => weights !== null);
    } catch (error) {
      logger.error("cannot store which lanes are fair; trying again", { error });
      await wait(clock, settings.pollMs);
    }
  }
  return false;
}
