/**
 * Removes what has outlived its retention: jobs are marked as stale, then removed, each after the
 * hook that was given for it.
 *
 * A hook that throws is reported, and its job is left for the next sweep; the others go on. Every
 * worker sweeps, so a hook is called at least once, and sometimes twice.
 */
import type { FinalState } from "../core/job.ts";
import { jobView } from "../client/views.ts";
import type { JobKey, JobRecord, Retention } from "../store/store.ts";
import { NEVER_MS, type RetentionPlan } from "./retention.ts";
import { ticker, type ServiceParts } from "./services.ts";
import type { Ticker } from "./ticker.ts";

/** Each store takes as many at once as do it good. */
const PRUNE_BATCH = 5_000;
const PRUNE_MS_MIN = 1_000;
const PRUNE_MS_MAX = 60_000;
/** Jobs that are looked at as a whole, with all they carry. */
const JOBS_AT_ONCE = 100;
/** Jobs whose hook has thrown, beyond which a sweep gives up. */
const FAILURES_MAX = 1_000;
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

export function pruner(parts: PrunerParts): Ticker {
  const { store, retention } = parts;
  const rounds = roundsOf(parts);
  const everyMs = pruneEveryMs(retention);
  const isByHand = hasHooks(retention);
  const pruned = isByHand ? withoutJobs(retention.removed) : retention.removed;
  return ticker(parts, everyMs, async () => {
    let isMore = false;
    for (const round of rounds) isMore = (await round.step()) || isMore;
    const { more } = await store.prune(pruned, PRUNE_BATCH);
    return (isMore || more) && !parts.isStopping() ? 0 : everyMs;
  });
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

function roundsOf(parts: PrunerParts): readonly Round[] {
  const { store, retention } = parts;
  const { stale, removed, hasTwoStages, onStale, onDelete } = retention;
  const rounds: Round[] = [];
  if (hasTwoStages || onStale !== undefined) {
    rounds.push(
      new Round(parts, {
        hook: onStale,
        outlived: (limit) => store.outlived(stale, { fresh: true, limit }),
        conclude: (keys) => store.markStale(keys),
      }),
    );
  }
  if (hasHooks(retention)) {
    rounds.push(
      new Round(parts, {
        hook: onDelete,
        outlived: (limit) => store.outlived(removed, { fresh: false, limit }),
        // Whoever is told when a job is stale may save what is in it.
        mayGo: ({ isStale }) => isStale || onStale === undefined,
        conclude: (keys) => store.remove(keys, removed),
      }),
    );
  }
  return rounds;
}

interface RoundParts {
  readonly hook: RetentionPlan["onStale"];
  readonly outlived: (limit: number) => Promise<readonly JobRecord[]>;
  readonly mayGo?: (job: JobRecord) => boolean;
  readonly conclude: (keys: readonly JobKey[]) => Promise<number>;
}

/** One stage of retention. */
class Round {
  readonly #service: PrunerParts;
  readonly #parts: RoundParts;
  /** Jobs of this sweep that have to wait for the next one. */
  readonly #left = new Set<JobKey>();

  constructor(service: PrunerParts, parts: RoundParts) {
    this.#service = service;
    this.#parts = parts;
  }

  /** Sees to the next few jobs. Answers whether there may be more in this sweep. */
  async step(): Promise<boolean> {
    const { outlived, conclude } = this.#parts;
    const found = await outlived(JOBS_AT_ONCE + this.#left.size);
    const jobs = found.filter(({ key }) => !this.#left.has(key));
    const done: JobKey[] = [];
    for (const job of jobs) {
      if (this.#service.isStopping()) break;
      if (await this.#isDealtWith(job)) done.push(job.key);
      else this.#left.add(job.key);
    }
    const moved = done.length === 0 ? 0 : await conclude(done);
    const isMore = jobs.length >= JOBS_AT_ONCE && this.#left.size < FAILURES_MAX;
    if (!isMore) this.#left.clear();
    return isMore && (moved > 0 || done.length < jobs.length);
  }

  async #isDealtWith(job: JobRecord): Promise<boolean> {
    const { hook, mayGo } = this.#parts;
    if (mayGo !== undefined && !mayGo(job)) return false;
    try {
      await hook?.(jobView(job));
      return true;
    } catch (error) {
      const { id, type } = job;
      this.#service.logger.error("a hook of retention threw; it is called again later", {
        job_id: id,
        type,
        error,
      });
      return false;
    }
  }
}
