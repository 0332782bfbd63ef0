/**
 * Ends runs that have exceeded their time-out so far that their worker must be blocked.
 *
 * The store measures the duration of a run by its own clock, which may jump: after a sleep of the
 * host or a correction of its time, every run with a time-out would end. So each heartbeat compares
 * the store's clock with the monotonic clock of this process, and jumps since the start of a run
 * are subtracted from its duration.
 */
import type { Clock, Dice } from "../../core/clock.ts";
import type { RetryPolicy } from "../../core/policy.ts";
import { settle } from "../../core/settle.ts";
import type { JobStore } from "../../store/store.ts";
import type {
  OverdueRun,
  SettleAnswer,
  SettleItem,
  WorkerId,
} from "../../store/types/jobs-and-runs.ts";
import { IGNORED_SIGNAL_MS_MAX } from "../run/limits.ts";
import type { RunName } from "../run/lock-queue.ts";

/** Gradual corrections of a clock stay below this. */
const JUMP_MS_MIN = 1_000;
const SEGMENTS_MAX = 100;

export interface OverdueParts {
  readonly store: Pick<JobStore, "overdue" | "reportCode" | "settle">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly dice: Pick<Dice, "random">;
  readonly worker: WorkerId;
  readonly beatMs: number;
  readonly policyOf: (type: string) => RetryPolicy;
}

interface ClockReading {
  readonly now: number;
  readonly monotonic: number;
}

/** A range of the store's clock without a jump, and the sum of all jumps before. */
interface ClockSegment {
  readonly from: number;
  readonly until: number;
  readonly aheadMs: number;
}

export class OverdueWatch {
  readonly #parts: OverdueParts;
  /** The time that the worker gets to end an overdue run, also one that ignores its signal. */
  readonly #slackMs: number;
  /** Earlier segments, oldest first. */
  #past: readonly ClockSegment[] = [];
  #current: ClockSegment = { from: -Infinity, until: Infinity, aheadMs: 0 };
  #last: ClockReading | null = null;
  /** Overdue runs at the last beat. */
  #suspects: ReadonlySet<string> = new Set();
  /** Runs whose settle failed. The store may have ended them. */
  #unanswered: readonly OverdueRun[] = [];

  constructor(parts: OverdueParts) {
    this.#parts = parts;
    this.#slackMs = IGNORED_SIGNAL_MS_MAX + 2 * parts.beatMs;
  }

  /**
   * Called at every beat with the store's time, and whether the worker has runs. A run is ended
   * when two beats have found it overdue: a clock jump between the heartbeat and the query is
   * noticed at the next beat. Answers the runs that the store has ended: their handlers may still
   * run.
   */
  async beat(now: number, hasRuns = true): Promise<readonly RunName[]> {
    this.#addReading({ now, monotonic: this.#parts.clock.monotonic() });
    const { store, worker } = this.#parts;
    const runs = hasRuns ? await store.overdue(worker, this.#slackMs) : [];
    const overdue = runs.filter((run) => this.#steadyMs(run, now) > run.limitMs + this.#slackMs);
    const confirmed = overdue.filter((run) => this.#suspects.has(runName(run)));
    this.#suspects = new Set(overdue.map(runName));
    const open = new Set(runs.map(runName));
    const over = this.#unanswered.filter((run) => !open.has(runName(run)));
    this.#unanswered = confirmed;
    const answers = confirmed.length === 0 ? [] : await this.#end(confirmed);
    this.#unanswered = [];
    const settled = confirmed.filter((_, index) => {
      return answers[index] === "settled" || answers[index] === "missing";
    });
    return [...over, ...settled].map(({ key, n }) => ({ key, n }));
  }

  /** The handlers block the event loop, so their code goes on after the end of their runs. */
  async #end(runs: readonly OverdueRun[]): Promise<readonly SettleAnswer[]> {
    const { store, worker } = this.#parts;
    await store.reportCode(worker, { left: runs.map(({ key, n }) => ({ key, n })) });
    return store.settle(runs.map((run) => this.#timedOut(run)));
  }

  /** The jump was at an unknown time between two beats: both segments include that time. */
  #addReading(beat: ClockReading): void {
    const last = this.#last;
    this.#last = beat;
    if (last === null) return;
    const steadyMs = beat.monotonic - last.monotonic;
    const jumpMs = beat.now - last.now - steadyMs;
    if (Math.abs(jumpMs) < JUMP_MS_MIN) return;
    const { from, aheadMs } = this.#current;
    const ended = { from, until: last.now + steadyMs, aheadMs };
    this.#past = [...this.#past, ended].slice(-SEGMENTS_MAX);
    this.#current = {
      from: beat.now - steadyMs,
      until: Infinity,
      aheadMs: aheadMs + jumpMs,
    };
  }

  /** The duration of a run without jumps. A time that the clock shows twice counts as the later. */
  #steadyMs({ ranMs }: OverdueRun, now: number): number {
    const startedAt = now - ranMs;
    const segments = [...this.#past, this.#current];
    const segment =
      segments.findLast(({ from, until }) => from <= startedAt && startedAt <= until) ??
      this.#current;
    return ranMs - (this.#current.aheadMs - segment.aheadMs);
  }

  #timedOut({ lease, key, n, limitMs, facts }: OverdueRun): SettleItem {
    const { policyOf, dice } = this.#parts;
    const context = { policy: policyOf(facts.type), random: dice.random() };
    return { lease, key, n, settlement: settle(facts, { type: "timed_out", limitMs }, context) };
  }
}

function runName({ key, n }: OverdueRun): string {
  return `${key}.${n}`;
}
