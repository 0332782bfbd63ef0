/**
 * Removes what has expired its retention: jobs are marked as stale, then removed, each after the
 * hook that was given for it.
 *
 * Where there are hooks, jobs are seen to page by page, in sweeps from the longest ended to the
 * youngest. One whose hook has failed waits for the next sweep, and holds up none behind it. Every
 * worker sweeps, so a hook is called at least once, and sometimes twice.
 */
import type { FinalState } from "../../core/job.ts";
import type {
  FinishPosition,
  JobRecord,
  ExpiredJobs,
  ExpiredPage,
  Retention,
} from "../../store/types/records.ts";
import type { JobKey } from "../../store/types/jobs-and-runs.ts";
import { RetentionHook } from "./retention-hook.ts";
import { NEVER_MS, type RetentionPlan } from "./retention-settings.ts";
import { ticker, type ServiceParts } from "./services.ts";
import type { Ticker } from "../ticker.ts";

/** Each store takes as many at once as do it good. */
const PRUNE_BATCH = 5_000;
const PRUNE_MS_MIN = 1_000;
const PRUNE_MS_MAX = 60_000;
/** Jobs that are looked at as a whole, with all they carry. */
const JOBS_AT_ONCE = 100;
/** So many jobs that cannot be concluded mean that none can. */
const FAILURES_IN_A_ROW = 3;
const NEVER: Readonly<Record<FinalState, number>> = {
  completed: NEVER_MS,
  completed_with_errors: NEVER_MS,
  failed: NEVER_MS,
  cancelled: NEVER_MS,
};

export interface PrunerParts extends ServiceParts {
  readonly retention: RetentionPlan;
  /** True once the worker stops: no other hook is called. */
  readonly isStopping: () => boolean;
}

/** The duties of retention: what needs no hook never waits for one. */
export function pruners(parts: PrunerParts): readonly Ticker[] {
  const { store, retention, isStopping } = parts;
  const everyMs = pruneEveryMs(retention);
  const rounds = roundsOf(parts, everyMs).map((round) => () => round.step());
  const prune = async (what: Retention): Promise<number> =>
    (await store.prune(what, PRUNE_BATCH)).more ? 0 : everyMs;
  const duty = (...steps: readonly (() => Promise<number>)[]): Ticker =>
    ticker(parts, everyMs, async () => {
      let nextMs = everyMs;
      for (const step of steps) nextMs = Math.min(nextMs, await step());
      return isStopping() ? everyMs : nextMs;
    });
  if (!hasHooks(retention)) return [duty(...rounds, () => prune(retention.removed))];
  return [duty(...rounds), duty(() => prune(withoutJobs(retention.removed)))];
}

/** What is kept for seconds would fill the store if it stayed for a minute. */
function pruneEveryMs({ stale, removed, keptMs }: RetentionPlan): number {
  const { deadLetterMs, idempotencyMs, eventMs } = removed;
  const others = [deadLetterMs, idempotencyMs, eventMs];
  const staleMs = [stale.finishedMs, ...Object.values(stale.types ?? {})].flatMap(Object.values);
  const shortestMs = Math.min(...keptMs, ...staleMs, ...others);
  return Math.max(PRUNE_MS_MIN, Math.min(shortestMs, PRUNE_MS_MAX));
}

function hasHooks({ onStale, onDelete }: RetentionPlan): boolean {
  return onStale !== undefined || onDelete !== undefined;
}

/** Jobs go one by one, after their hooks. */
function withoutJobs({ deadLetterMs, idempotencyMs, eventMs }: Retention): Retention {
  return { finishedMs: NEVER, deadLetterMs, idempotencyMs, eventMs };
}

function roundsOf(parts: PrunerParts, everyMs: number): readonly Round[] {
  const { store, retention, clock } = parts;
  const { stale, removed, hasTwoStages, onStale, onDelete } = retention;
  const service = { clock, everyMs, isStopping: parts.isStopping, logger: parts.logger };
  const rounds: Round[] = [];
  if (hasTwoStages || onStale !== undefined) {
    rounds.push(
      new Round({
        ...service,
        hook: hookOf(parts, "onStale", onStale),
        expired: (page) => store.expired(stale, { ...page, fresh: true }),
        mayGo: () => true,
        conclude: (keys) => store.markStale(keys),
      }),
    );
  }
  if (hasHooks(retention)) {
    rounds.push(
      new Round({
        ...service,
        hook: hookOf(parts, "onDelete", onDelete),
        expired: (page) => store.expired(removed, { ...page, fresh: false }),
        // Whoever is told when a job is stale may save what is in it.
        mayGo: ({ isStale }) => isStale || onStale === undefined,
        conclude: (keys) => store.remove(keys, removed),
      }),
    );
  }
  return rounds;
}

function hookOf(
  { clock, logger, isStopping }: PrunerParts,
  name: "onStale" | "onDelete",
  call: RetentionPlan["onStale"],
): RetentionHook | null {
  return call === undefined ? null : new RetentionHook({ name, call, clock, logger, isStopping });
}

interface RoundParts extends Pick<PrunerParts, "clock" | "isStopping" | "logger"> {
  /** From the end of a sweep to the next. */
  readonly everyMs: number;
  readonly hook: RetentionHook | null;
  readonly expired: (page: Omit<ExpiredPage, "fresh">) => Promise<ExpiredJobs>;
  readonly mayGo: (job: JobRecord) => boolean;
  readonly conclude: (keys: readonly JobKey[]) => Promise<number>;
}

/** One phase scope of retention: sweep after sweep. */
class Round {
  readonly #parts: RoundParts;
  /** Where this sweep goes on; null: the next one begins. */
  #from: FinishPosition | null = null;
  /** By the steady clock. */
  #restsUntil = -Infinity;

  constructor(parts: RoundParts) {
    this.#parts = parts;
  }

  /** Sees to the next few jobs, unless it rests. Answers the milliseconds until it goes on. */
  async step(): Promise<number> {
    const { clock, everyMs, hook, expired } = this.#parts;
    const restMs = this.#restsUntil - clock.monotonic();
    if (restMs > 0) return restMs;
    await this.#conclude(hook?.toldLate() ?? []);
    const page = await expired({ limit: JOBS_AT_ONCE, from: this.#from });
    const { done, slow } = await this.#tellOf(page.jobs);
    // Also if they cannot be concluded: the next sweep finds them again.
    this.#from = slow ?? page.next;
    await this.#conclude(done);
    if (this.#from !== null) return 0;
    this.#restsUntil = clock.monotonic() + everyMs;
    return everyMs;
  }

  /** A hook that is slow ends the page at its job, so that the other phase scope has its turn. */
  async #tellOf(
    jobs: readonly JobRecord[],
  ): Promise<{ readonly done: readonly JobKey[]; readonly slow: FinishPosition | null }> {
    const { hook, mayGo, isStopping } = this.#parts;
    const done: JobKey[] = [];
    for (const job of jobs) {
      if (isStopping()) break;
      if (!mayGo(job)) continue;
      const told = hook === null ? "told" : await hook.tell(job);
      if (told === "told") done.push(job.key);
      if (told === "slow") return { done, slow: { at: job.finishedAt ?? 0, key: job.key } };
    }
    return { done, slow: null };
  }

  /** One that the database does not let go must not keep the others, and not the sweep. */
  async #conclude(keys: readonly JobKey[]): Promise<void> {
    const { conclude, logger } = this.#parts;
    if (keys.length === 0) return;
    try {
      await conclude(keys);
      return;
    } catch (error) {
      if (keys.length === 1) throw error;
    }
    let failures = 0;
    for (const key of keys) {
      try {
        await conclude([key]);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === FAILURES_IN_A_ROW) throw error;
        logger.error("a job could not be marked or removed; it is tried again later", {
          job_key: key,
          error,
        });
      }
    }
  }
}
