/** Tells the store which limits the code of the worker's types states. */
import { wait, type Clock } from "../../core/clock.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { WorkerSettings } from "../settings.ts";

interface DeclareParts {
  readonly store: Pick<JobStore, "declareLimits">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: Pick<WorkerSettings, "definitions" | "pollMs">;
  readonly isOver: () => boolean;
}

/** Tries until the store answers: no job of a limited type may start before. */
export async function declareLimits(parts: DeclareParts): Promise<void> {
  const { store, clock, logger, settings, isOver } = parts;
  const limits = [...settings.definitions].map(([type, { settings: given }]) => ({
    type,
    concurrency: given.limits?.concurrency ?? null,
  }));
  while (!isOver()) {
    try {
      return await store.declareLimits(limits);
    } catch (error) {
      logger.error("cannot store the limits of the jobs; trying again", { error });
      await wait(clock, settings.pollMs);
    }
  }
}
