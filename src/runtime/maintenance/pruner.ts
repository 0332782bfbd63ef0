/**
 * Removes expired jobs, events, keys and dead letters. Jobs are marked as stale, then removed, each
 * after its hook.
 *
 * With hooks, jobs are processed page by page, in sweeps from the oldest end to the newest. If the
 * hook of a job fails, the job waits for the next sweep and does not block later jobs. Every worker
 * sweeps, so a hook is called at least once, and sometimes twice.
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
import { makeDuty, type DutyParts } from "./duty.ts";
import type { Ticker } from "../ticker.ts";

/** An upper bound: each store chooses the size of its batches. */
const PRUNE_BATCH = 5_000;
const PRUNE_MS_MIN = 1_000;
const PRUNE_MS_MAX = 60_000;
/** Jobs that are read whole, with payload and result. */
const PAGE_SIZE = 100;
/** After so many consecutive failures the sweep stops: the store seems to be unavailable. */
const FAILURES_MAX = 3;
const NEVER: Readonly<Record<FinalState, number>> = {
  completed: NEVER_MS,
  completed_with_errors: NEVER_MS,
  failed: NEVER_MS,
  cancelled: NEVER_MS,
};

export interface PrunerParts extends DutyParts {
  readonly retention: RetentionPlan;
  /** True once the worker stops: no more hooks are called. */
  readonly isStopping: () => boolean;
}

/** The duties of retention. Data without hooks has its own duty, and never waits for a hook. */
export function pruners(parts: PrunerParts): readonly Ticker[] {
  const { store, retention, isStopping } = parts;
  const everyMs = pruneEveryMs(retention);
  const stages = stagesOf(parts, everyMs).map((stage) => () => stage.step());
  const prune = async (what: Retention): Promise<number> => {
    const { more, ...counts } = await store.prune(what, PRUNE_BATCH);
    if (!more) return everyMs;
    // Others have removed the whole batch: they go on, and this pruner looks again soon.
    const hasRemoved = Object.values(counts).some((count) => count > 0);
    return hasRemoved ? 0 : Math.min(PRUNE_MS_MIN, everyMs);
  };
  const duty = (...steps: readonly (() => Promise<number>)[]): Ticker =>
    makeDuty(parts, everyMs, async () => {
      let nextMs = everyMs;
      for (const step of steps) nextMs = Math.min(nextMs, await step());
      return isStopping() ? everyMs : nextMs;
    });
  if (!hasHooks(retention)) return [duty(...stages, () => prune(retention.removed))];
  return [duty(...stages), duty(() => prune(withoutJobs(retention.removed)))];
}

/** Data with a short retention is removed often, or it would fill the store. */
function pruneEveryMs({ stale, removed, keptMs }: RetentionPlan): number {
  const { deadLetterMs, idempotencyMs, eventMs, minutesMs, auditMs } = removed;
  const others = [deadLetterMs, idempotencyMs, eventMs, minutesMs, auditMs];
  const staleMs = [stale.finishedMs, ...Object.values(stale.types ?? {})].flatMap(Object.values);
  const shortestMs = Math.min(...keptMs, ...staleMs, ...others);
  return Math.max(PRUNE_MS_MIN, Math.min(shortestMs, PRUNE_MS_MAX));
}

function hasHooks({ onStale, onDelete }: RetentionPlan): boolean {
  return onStale !== undefined || onDelete !== undefined;
}

/** Jobs with hooks are removed by a {@link RetentionStage}. */
function withoutJobs(retention: Retention): Retention {
  const { types: _types, ...others } = retention;
  return { ...others, finishedMs: NEVER };
}

function stagesOf(parts: PrunerParts, everyMs: number): readonly RetentionStage[] {
  const { store, retention, clock } = parts;
  const { stale, removed, hasTwoStages, onStale, onDelete } = retention;
  const common = { clock, everyMs, isStopping: parts.isStopping, logger: parts.logger };
  const stages: RetentionStage[] = [];
  if (hasTwoStages || onStale !== undefined) {
    stages.push(
      new RetentionStage({
        ...common,
        hook: hookOf(parts, "onStale", onStale),
        expired: (page) => store.expired(stale, { ...page, fresh: true }),
        mayGo: () => true,
        conclude: (keys) => store.markStale(keys),
      }),
    );
  }
  if (hasHooks(retention)) {
    stages.push(
      new RetentionStage({
        ...common,
        hook: hookOf(parts, "onDelete", onDelete),
        expired: (page) => store.expired(removed, { ...page, fresh: false }),
        // The hook onStale may archive the job, so it must have been called.
        mayGo: ({ isStale }) => isStale || onStale === undefined,
        conclude: (keys) => store.remove(keys, removed),
      }),
    );
  }
  return stages;
}

function hookOf(
  { clock, logger, isStopping }: PrunerParts,
  name: "onStale" | "onDelete",
  call: RetentionPlan["onStale"],
): RetentionHook | null {
  return call === undefined ? null : new RetentionHook({ name, call, clock, logger, isStopping });
}

interface RetentionStageParts extends Pick<PrunerParts, "clock" | "isStopping" | "logger"> {
  /** From the end of a sweep to the start of the next. */
  readonly everyMs: number;
  readonly hook: RetentionHook | null;
  readonly expired: (page: Omit<ExpiredPage, "fresh">) => Promise<ExpiredJobs>;
  readonly mayGo: (job: JobRecord) => boolean;
  readonly conclude: (keys: readonly JobKey[]) => Promise<number>;
}

/** One stage of retention: marks or removes expired jobs, in repeated sweeps. */
class RetentionStage {
  readonly #parts: RetentionStageParts;
  /** Where the sweep continues; null: at the start. */
  #from: FinishPosition | null = null;
  /** By the monotonic clock. */
  #restsUntil = -Infinity;

  constructor(parts: RetentionStageParts) {
    this.#parts = parts;
  }

  /** Processes one page, unless the stage rests. Returns the milliseconds until the next step. */
  async step(): Promise<number> {
    const { clock, everyMs, hook, expired } = this.#parts;
    const restMs = this.#restsUntil - clock.monotonic();
    if (restMs > 0) return restMs;
    await this.#conclude(hook?.lateSuccesses() ?? []);
    const page = await expired({ limit: PAGE_SIZE, from: this.#from });
    const { done, slow } = await this.#callHooks(page.jobs);
    // Before conclude, which may throw: the next sweep finds these jobs again.
    this.#from = slow ?? page.next;
    await this.#conclude(done);
    if (this.#from !== null) return 0;
    this.#restsUntil = clock.monotonic() + everyMs;
    return everyMs;
  }

  /** A slow hook ends the page at its job, so that the other stage gets its turn. */
  async #callHooks(
    jobs: readonly JobRecord[],
  ): Promise<{ readonly done: readonly JobKey[]; readonly slow: FinishPosition | null }> {
    const { hook, mayGo, isStopping } = this.#parts;
    const done: JobKey[] = [];
    for (const job of jobs) {
      if (isStopping()) break;
      if (!mayGo(job)) continue;
      const result = hook === null ? "done" : await hook.run(job);
      if (result === "done") done.push(job.key);
      if (result === "slow") return { done, slow: { at: job.finishedAt ?? 0, key: job.key } };
    }
    return { done, slow: null };
  }

  /** Retries one by one, so that a job that fails blocks neither other jobs nor the sweep. */
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
        if (failures === FAILURES_MAX) throw error;
        logger.error("cannot mark or remove an expired job; trying again later", {
          job_key: key,
          error,
        });
      }
    }
  }
}
