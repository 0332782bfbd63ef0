/**
 * Ends runs that have overrun their limit by so much that their worker must be too busy to notice.
 *
 * How long a run has taken is the store's word, and the store's clock may jump: a host that was
 * asleep, or whose time was corrected, would end every run that has a limit. So the store's clock
 * is compared with this process's steady one from beat to beat, and what it has jumped since a run
 * began is taken off the time of that run.
 */
import type { Clock, Dice } from "../../core/clock.ts";
import type { RetryPolicy } from "../../core/policy.ts";
import { settle } from "../../core/settle.ts";
import type { JobStore } from "../../store/store.ts";
import type { OverdueRun, SettleItem, WorkerId } from "../../store/types/jobs-and-runs.ts";
import { DEAF_MS_MAX } from "../run/execution.ts";

/** Clocks that are corrected little by little differ by less. */
const JUMP_MS_MIN = 1_000;
const STRETCHES_MAX = 100;

export interface OverdueParts {
  readonly store: Pick<JobStore, "overdue" | "settle">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly dice: Pick<Dice, "random">;
  readonly worker: WorkerId;
  readonly beatMs: number;
  readonly policyOf: (type: string) => RetryPolicy;
}

interface Beat {
  readonly now: number;
  readonly monotonic: number;
}

/** Readings of the store's clock between two jumps, and how far all jumps before have led it. */
interface Stretch {
  readonly from: number;
  readonly until: number;
  readonly aheadMs: number;
}

export class OverdueWatch {
  readonly #parts: OverdueParts;
  /** How long the worker itself gets to end an overdue run; those of deaf handlers it ends last. */
  readonly #slackMs: number;
  /** Those before the current one, oldest first. */
  #past: readonly Stretch[] = [];
  #current: Stretch = { from: -Infinity, until: Infinity, aheadMs: 0 };
  #last: Beat | null = null;
  /** Runs that the last beat found. */
  #suspects: ReadonlySet<string> = new Set();

  constructor(parts: OverdueParts) {
    this.#parts = parts;
    this.#slackMs = DEAF_MS_MAX + 2 * parts.beatMs;
  }

  /**
   * To be called at every beat with the store's time. A run is ended when two beats have found it:
   * the clock may jump between its reading and the look at the runs, and only the next beat tells.
   */
  async beat(now: number): Promise<void> {
    this.#note({ now, monotonic: this.#parts.clock.monotonic() });
    const { store, worker } = this.#parts;
    const runs = await store.overdue(worker, this.#slackMs);
    const overrun = runs.filter((run) => this.#steadyMs(run, now) > run.limitMs + this.#slackMs);
    const confirmed = overrun.filter((run) => this.#suspects.has(runName(run)));
    this.#suspects = new Set(overrun.map(runName));
    if (confirmed.length > 0) await store.settle(confirmed.map((run) => this.#timedOut(run)));
  }

  /** Nobody knows when between two beats the clock has jumped: both stretches have that time. */
  #note(beat: Beat): void {
    const last = this.#last;
    this.#last = beat;
    if (last === null) return;
    const steadyMs = beat.monotonic - last.monotonic;
    const jumpMs = beat.now - last.now - steadyMs;
    if (Math.abs(jumpMs) < JUMP_MS_MIN) return;
    const { from, aheadMs } = this.#current;
    const ended = { from, until: last.now + steadyMs, aheadMs };
    this.#past = [...this.#past, ended].slice(-STRETCHES_MAX);
    this.#current = {
      from: beat.now - steadyMs,
      until: Infinity,
      aheadMs: aheadMs + jumpMs,
    };
  }

  /** How long a run has taken. A clock that went back reads times twice: the later one counts. */
  #steadyMs({ ranMs }: OverdueRun, now: number): number {
    const startedAt = now - ranMs;
    const stretches = [...this.#past, this.#current];
    const stretch =
      stretches.findLast(({ from, until }) => from <= startedAt && startedAt <= until) ??
      this.#current;
    return ranMs - (this.#current.aheadMs - stretch.aheadMs);
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
