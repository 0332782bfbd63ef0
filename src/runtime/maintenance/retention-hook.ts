/**
 * One hook of retention: called for a job before that is marked as stale, or removed.
 *
 * A call that takes too long is reported and left alone, so that the others have their turn. As
 * long as it goes on there is no second one for its job; if it ends well after all, that counts.
 */
import { jobView } from "../../jobs/views.ts";
import { within, type Clock } from "../../core/clock.ts";
import { formatDuration } from "../../core/duration.ts";
import type { Logger } from "../../api/context.ts";
import type { RetentionOptions } from "../../api/retention.ts";
import type { JobKey } from "../../store/types/jobs-and-runs.ts";
import type { JobRecord } from "../../store/types/records.ts";

/** A call that takes longer is not waited for. */
const CALL_MS_MAX = 60_000;
/** A call is waited for in stretches, or it would keep its process alive after a stop. */
const STRETCH_MS = 5_000;

export interface RetentionHookParts {
  readonly name: "onStale" | "onDelete";
  readonly call: NonNullable<RetentionOptions["onStale"]>;
  readonly clock: Pick<Clock, "after">;
  readonly logger: Pick<Logger, "warn" | "error">;
  /** True once the worker stops: nothing is waited for any more. */
  readonly isStopping: () => boolean;
}

/** `told`: it has ended well. `left`: it is called again later. `slow`: it goes on. */
type Told = "told" | "left" | "slow";

export class RetentionHook {
  readonly #parts: RetentionHookParts;
  /** Calls that have taken too long: whether each has ended well by now. */
  readonly #slow = new Map<JobKey, boolean>();

  constructor(parts: RetentionHookParts) {
    this.#parts = parts;
  }

  /** Jobs whose calls took too long and have ended well since. Each is named once. */
  toldLate(): readonly JobKey[] {
    const late = [...this.#slow].flatMap(([key, isTold]) => (isTold ? [key] : []));
    for (const key of late) this.#slow.delete(key);
    return late;
  }

  async tell(job: JobRecord): Promise<Told> {
    const { key, id, type } = job;
    if (this.#slow.has(key)) return "left";
    const { name, logger, isStopping } = this.#parts;
    const call = this.#call(job);
    const end = await this.#endOf(call);
    if (end !== "slow") return end;
    if (isStopping()) return "left";
    const limit = formatDuration(CALL_MS_MAX);
    logger.warn(`the hook ${name} has not ended within ${limit}; its job has to wait`, {
      hook: name,
      job_id: id,
      type,
    });
    void this.#hearLate(key, call);
    return "slow";
  }

  async #hearLate(key: JobKey, call: Promise<Told>): Promise<void> {
    this.#slow.set(key, false);
    if ((await call) === "told") this.#slow.set(key, true);
    else this.#slow.delete(key);
  }

  async #call(job: JobRecord): Promise<Told> {
    const { name, call, logger } = this.#parts;
    try {
      await call(jobView(job));
      return "told";
    } catch (error) {
      const { id, type } = job;
      logger.error(`the hook ${name} threw; it is called again later`, {
        hook: name,
        job_id: id,
        type,
        error,
      });
      return "left";
    }
  }

  async #endOf(call: Promise<Told>): Promise<Told> {
    const { clock, isStopping } = this.#parts;
    for (let waitedMs = 0; waitedMs < CALL_MS_MAX; waitedMs += STRETCH_MS) {
      await within(clock, STRETCH_MS, call);
      const end = await Promise.race([call, Promise.resolve("slow" as const)]);
      if (end !== "slow" || isStopping()) return end;
    }
    return "slow";
  }
}
