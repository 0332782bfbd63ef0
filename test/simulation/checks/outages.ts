/**
 * Outages of the store: no process can write, and perhaps none can read. An outage that is longer
 * than a lease must cost no worker its jobs that lives and could have renewed its lease; and a
 * worker whose lease has expired must have told its runs.
 */
import { sqliteError } from "../fleet/sqlite-hooks.ts";
import type { Process, World } from "../fleet/world.ts";
import type { Report, Step } from "./invariants.ts";

const CRASHED = 4;
const DISK_FULL = 13;
const BEAT_MS_MAX = 1_000;
const BEATS_PER_LEASE = 3;
/** Less than a rescuer waits after an outage: two heartbeats of the slowest worker, and slack. */
const RECOVERY_MS = 1_500;

interface OutagesParts {
  readonly world: World;
  readonly leaseMs: number;
  readonly report: Report;
  readonly count: (name: string) => void;
}

/** A handler that has not ended. */
export interface Handler {
  readonly process: Process;
  /** The hex of the id of its job. */
  readonly id: string;
  readonly fence: number;
  readonly signal: AbortSignal;
}

export class Outages {
  readonly #parts: OutagesParts;
  readonly #handlers = new Set<Handler>();
  #startedAt = -Infinity;
  #endsAt = -Infinity;
  #areReadsDown = false;

  constructor(parts: OutagesParts) {
    this.#parts = parts;
  }

  begin(ms: number, areReadsDown: boolean): void {
    const { elapsedMs } = this.#parts.world;
    if (elapsedMs < this.#endsAt) return;
    this.#startedAt = elapsedMs;
    this.#endsAt = elapsedMs + ms;
    this.#areReadsDown = areReadsDown;
  }

  /** The store works again. */
  heal(): void {
    this.#endsAt = Math.min(this.#endsAt, this.#parts.world.elapsedMs);
  }

  isDown(what: "reads" | "writes"): boolean {
    const isOut = this.#parts.world.elapsedMs < this.#endsAt;
    return isOut && (what === "writes" || this.#areReadsDown);
  }

  refusal(): Error {
    const { world, leaseMs, count } = this.#parts;
    if (world.elapsedMs - this.#startedAt > leaseMs) count("no write for longer than a lease");
    return sqliteError(DISK_FULL, "planted: database or disk is full");
  }

  /** Remembers the handler as long as it runs. */
  async watch<Result>(handler: Handler, work: () => Promise<Result>): Promise<Result> {
    this.#handlers.add(handler);
    try {
      return await work();
    } finally {
      this.#handlers.delete(handler);
    }
  }

  /** One step of some process inside a transaction. */
  check(step: Step, workers: ReadonlyMap<string, Process>): void {
    const { before, after, changed } = step;
    for (const key of changed) {
      const known = before.attempts.get(key)?.length ?? 0;
      for (const { n, outcome } of after.attempts.get(key)?.slice(known) ?? []) {
        const held = before.held.get(key)?.find((run) => run.n === n);
        const process = workers.get(held?.worker ?? "");
        if (outcome !== CRASHED || held === undefined || process === undefined) continue;
        this.#checkTaken(key, process, step.silentMs(held.worker));
      }
    }
    for (const handler of this.#handlers) this.#checkTold(handler, step);
  }

  /** `silentMs` ago the last heartbeat of the worker was committed. */
  #checkTaken(key: number, process: Process, silentMs: number): void {
    const { world, report } = this.#parts;
    const now = world.elapsedMs;
    const wasHealthy = this.#startedAt - (now - silentMs) < 1.5 * this.#beatMs;
    // A process that is dead, or was frozen meanwhile, could not renew.
    const couldRenew = process.isAlive && process.pausedUntil <= this.#startedAt;
    if (wasHealthy && couldRenew && now - this.#endsAt < RECOVERY_MS) {
      report("I5", `job ${key} was taken from a living worker right after an outage`);
    }
  }

  /**
   * A process that is frozen, or has work that is due, may not have come to it. One that was frozen
   * gives the heartbeat on its way the time of a beat (decision 19).
   */
  #checkTold({ process, id, fence, signal }: Handler, { before, silentMs }: Step): void {
    const { world, leaseMs, report, count } = this.#parts;
    const isFrozen = process.pausedUntil + this.#beatMs > world.elapsedMs;
    if (!process.isAlive || isFrozen || process.nextAt <= world.elapsedMs) return;
    const key = before.keys.get(id) ?? 0;
    const held = before.held.get(key)?.find((run) => run.fence === fence);
    if (held === undefined || silentMs(held.worker) <= leaseMs) return;
    if (signal.aborted) count("run told that its lease has expired");
    else report("I5", `run ${fence} of job ${key} is not told that its lease has expired`);
  }

  get #beatMs(): number {
    return Math.min(BEAT_MS_MAX, this.#parts.leaseMs / BEATS_PER_LEASE);
  }
}
