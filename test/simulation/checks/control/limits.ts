/**
 * What must be true of limits: `used` is the sum of the permits, permits belong to registered
 * workers, no more handlers run than the limit that was in force when they were claimed, and no
 * more runs start than a rate allows.
 */
import type { Actor } from "../../fleet/effects.ts";
import type { World } from "../../fleet/world.ts";
import type { Report, Step } from "../invariants.ts";
import type { HeldRow, LimitSettingRow } from "../rows.ts";
import type { Snapshot } from "../snapshot.ts";
import { limitsOf } from "./barriers.ts";

interface LimitChecksParts {
  readonly world: World;
  readonly report: Report;
  readonly count: (name: string) => void;
}

/** A handler that has not ended, and its signal. */
interface UnderWay {
  readonly actor: Actor;
  readonly signal: AbortSignal;
}

/** A run with a permit of a limit, and the cap of the limit when the run was claimed. */
interface Used {
  readonly limit: number;
  readonly cap: number | null;
}

export class LimitChecks {
  readonly #parts: LimitChecksParts;
  /** The limits that applied when a run was claimed, by fence and key. */
  readonly #used = new Map<string, readonly Used[]>();
  /** When runs of limits with a rate have started. */
  readonly #starts = new Map<number, number[]>();
  /** False while clocks may be wrong: tokens come with the time of a clock. */
  isSteady = true;

  constructor(parts: LimitChecksParts) {
    this.#parts = parts;
  }

  /** Tokens are counted anew from now on. */
  heal(): void {
    this.forgetStarts();
    this.isSteady = true;
  }

  /** After a loss of power only what is stored counts. */
  forgetStarts(): void {
    this.#starts.clear();
  }

  check(step: Step): void {
    const { before, after, changed } = step;
    if (before.limits.size === 0 && after.limits.size === 0 && after.permits.size === 0) return;
    this.#checkSums(after);
    for (const key of changed) {
      const run = after.held.get(key)?.[0];
      const isNew = run !== undefined && before.held.get(key)?.[0]?.fence !== run.fence;
      if (isNew) this.#claimed(step, run);
    }
  }

  #checkSums({ limits, permits, workers }: Snapshot): void {
    const { report } = this.#parts;
    const sums = new Map<number, number>();
    for (const { worker, limit_id, held } of permits.values()) {
      sums.set(limit_id, (sums.get(limit_id) ?? 0) + held);
      if (!workers.has(worker)) report("I10", `a permit of ${limit_id} belongs to no worker`);
      if (!limits.has(limit_id)) report("I10", `a permit of ${limit_id} belongs to no limit`);
    }
    for (const { id, used } of limits.values()) {
      const sum = sums.get(id) ?? 0;
      if (sum !== used) report("I10", `workers hold ${sum} permits of ${id}, not ${used}`);
    }
  }

  #claimed({ before, after }: Step, run: HeldRow): void {
    const { report, count } = this.#parts;
    const job = before.jobs.get(run.key);
    if (job === undefined) return;
    const limits = limitsOf(before, job);
    const uses = limits.map(({ id, cap }) => ({ limit: id, cap }));
    this.#used.set(`${run.fence}.${run.key}`, uses);
    if (limits.length === 0) return;
    count("job of a limit claimed");
    if ((before.places.get(run.key)?.[0]?.gate ?? 0) < -2)
      count("job claimed from a limit's queue");
    const isPrefetch = run.start === null && after.leases.get(run.fence)?.alone !== 1;
    if (isPrefetch) count("job of a limit prefetched");
    if (isPrefetch && limits.some(({ rate_count }) => rate_count !== null)) {
      report("I10", `job ${run.key} of a rate was prefetched`);
    }
  }

  /** Called with each commit. */
  adopt(before: Snapshot, after: Snapshot): void {
    for (const [id, row] of before.limits) {
      const now = after.limits.get(id);
      if (now === undefined || rateOf(now) !== rateOf(row)) this.#starts.delete(id);
    }
    if (before.leases === after.leases || after.limits.size === 0) return;
    for (const [number, { runs, alone }] of after.leases) {
      if (before.leases.has(number)) continue;
      for (const run of runs)
        if (run.start !== null || alone === 1) this.#started(before, after, run);
    }
  }

  /** No window has more starts than its tokens, and as many at once as the burst. */
  #started(before: Snapshot, after: Snapshot, { fence, key }: HeldRow): void {
    const { world, report, count } = this.#parts;
    for (const { limit } of this.#used.get(`${fence}.${key}`) ?? []) {
      const [was, row] = [before.limits.get(limit), after.limits.get(limit)];
      if (was === undefined || row === undefined || rateOf(was) !== rateOf(row)) continue;
      const { rate_count, rate_ms, burst } = row;
      if (rate_count === null || rate_ms === null || burst === null) continue;
      count("start of a rate");
      const starts = this.#starts.get(limit) ?? [];
      starts.push(world.elapsedMs);
      this.#starts.set(limit, starts);
      if (!this.isSteady) continue;
      starts.forEach((atMs, index) => {
        // Clocks tell whole milliseconds.
        const most = burst + ((world.elapsedMs - atMs + 1) * rate_count) / rate_ms;
        const n = starts.length - index;
        if (n > most) report("I10", `${n} runs of limit ${limit} start since ${atMs}, not ${most}`);
      });
    }
  }

  /** A handler begins or goes on: no more run than were allowed when each was claimed. */
  checkRunning(now: Snapshot, underWay: Iterable<UnderWay>): void {
    if (now.limits.size === 0) return;
    const running = [...underWay].flatMap(({ actor, signal }) => {
      const run = now.held
        .get(now.keys.get(actor.id) ?? 0)
        ?.find((each) => each.fence === actor.fence);
      // A run that was told to end, or was taken from its worker, does not count.
      const isCounted = run !== undefined && actor.process.isAlive && !signal.aborted;
      return isCounted ? [{ ...run, uses: this.#used.get(`${run.fence}.${run.key}`) ?? [] }] : [];
    });
    for (const { fence, key, uses, worker } of running) {
      for (const { limit, cap } of uses) {
        const sharing = running.filter((other) => other.uses.some((each) => each.limit === limit));
        const earlier = sharing.filter((other) => other.fence <= fence).length;
        if (cap !== null && earlier > cap) {
          this.#parts.report(
            "I10",
            `${earlier} handlers run of limit ${limit}, which allows ${cap}`,
          );
        }
        this.#checkPermits(now, { limit, key, worker }, sharing);
      }
    }
  }

  /** A worker has a permit for each of its handlers. */
  #checkPermits(
    { limits, permits }: Snapshot,
    {
      limit,
      key,
      worker,
    }: { readonly limit: number; readonly key: number; readonly worker: string },
    sharing: readonly HeldRow[],
  ): void {
    if (!limits.has(limit)) return;
    const handlers = sharing.filter((other) => other.worker === worker).length;
    const held = permits.get(`${worker}.${limit}`)?.held ?? 0;
    if (handlers > held) {
      const what = `${handlers} handlers, with job ${key}, and ${held} permit(s) of ${limit}`;
      this.#parts.report("I10", `worker ${worker} has ${what}`);
    }
  }
}

function rateOf({ rate_count, rate_ms, burst }: LimitSettingRow): string {
  return `${rate_count}/${rate_ms}/${burst}`;
}
