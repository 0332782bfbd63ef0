/** Tells the store which limits the code of the worker's types states. */
import { wait, type Clock } from "../../core/clock.ts";
import type { Logger } from "../../api/context.ts";
import type { JobSettings } from "../../api/settings.ts";
import { storedRule } from "../../jobs/limit-rule.ts";
import type { JobStore } from "../../store/store.ts";
import type { StoredRule } from "../../store/types/limits.ts";
import type { WorkerSettings } from "../settings.ts";

/** The limit that the code of a type states; null: none. */
export function statedLimit({ limits }: Pick<JobSettings, "limits">): StoredRule | null {
  return limits === undefined ? null : storedRule(limits);
}

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
    rule: statedLimit(given),
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
