/**
 * A retention hook: called for a job before the job is marked as stale or removed.
 *
 * A call that takes too long is logged and no longer waited for, so that other jobs get their turn.
 * The hook is not called again for that job while the call is pending. If the call succeeds late,
 * the success counts.
 */
import { jobView } from "../../jobs/views.ts";
import { within, type Clock } from "../../core/clock.ts";
import { formatDuration } from "../../core/duration.ts";
import type { Logger } from "../../api/context.ts";
import type { RetentionOptions } from "../../api/retention.ts";
import type { JobKey } from "../../store/types/jobs-and-runs.ts";
import type { JobRecord } from "../../store/types/records.ts";

/** A longer call is not waited for. */
const CALL_MS_MAX = 60_000;
/** A call is waited for in short steps, because a stop of the worker must not wait for it. */
const WAIT_STEP_MS = 5_000;

export interface RetentionHookParts {
  readonly name: "onStale" | "onDelete";
  readonly call: NonNullable<RetentionOptions["onStale"]>;
  readonly clock: Pick<Clock, "after">;
  readonly logger: Pick<Logger, "warn" | "error">;
  /** True once the worker stops: no call is waited for. */
  readonly isStopping: () => boolean;
}

/** `done`: the call succeeded. `retry`: it is repeated later. `slow`: it is still pending. */
type HookResult = "done" | "retry" | "slow";

export class RetentionHook {
  readonly #parts: RetentionHookParts;
  /** Slow calls, by job: whether the call has succeeded. */
  readonly #slow = new Map<JobKey, boolean>();

  constructor(parts: RetentionHookParts) {
    this.#parts = parts;
  }

  /** Jobs whose slow calls have succeeded since the last call of this method. */
  lateSuccesses(): readonly JobKey[] {
    const late = [...this.#slow].flatMap(([key, isDone]) => (isDone ? [key] : []));
    for (const key of late) this.#slow.delete(key);
    return late;
  }

  async run(job: JobRecord): Promise<HookResult> {
    const { key, id, type } = job;
    if (this.#slow.has(key)) return "retry";
    const { name, logger, isStopping } = this.#parts;
    const call = this.#call(job);
    const end = await this.#endOf(call);
    if (end !== "slow") return end;
    if (isStopping()) return "retry";
    const limit = formatDuration(CALL_MS_MAX);
    logger.warn(`retention hook ${name} not finished within ${limit}; its job is kept`, {
      hook: name,
      job_id: id,
      type,
    });
    void this.#awaitLate(key, call);
    return "slow";
  }

  async #awaitLate(key: JobKey, call: Promise<HookResult>): Promise<void> {
    this.#slow.set(key, false);
    if ((await call) === "done") this.#slow.set(key, true);
    else this.#slow.delete(key);
  }

  async #call(job: JobRecord): Promise<HookResult> {
    const { name, call, logger } = this.#parts;
    try {
      await call(jobView(job));
      return "done";
    } catch (error) {
      const { id, type } = job;
      logger.error(`retention hook ${name} failed; trying again later`, {
        hook: name,
        job_id: id,
        type,
        error,
      });
      return "retry";
    }
  }

  async #endOf(call: Promise<HookResult>): Promise<HookResult> {
    const { clock, isStopping } = this.#parts;
    for (let waitedMs = 0; waitedMs < CALL_MS_MAX; waitedMs += WAIT_STEP_MS) {
      await within(clock, WAIT_STEP_MS, call);
      const end = await Promise.race([call, Promise.resolve("slow" as const)]);
      if (end !== "slow" || isStopping()) return end;
    }
    return "slow";
  }
}
