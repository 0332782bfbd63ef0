/**
 * Tells the store which ended runs of this worker still execute code, so that no successor of their
 * jobs starts beside it.
 *
 * Code outlives its run when a handler or a unit ignores its signal, and when an operator ends a
 * run. Code that is left is reported before the run is settled. Its end is reported once; each
 * heartbeat tells a run again whose report was lost.
 */
import { within, type Clock } from "../../core/clock.ts";
import type { Logger } from "../../api/context.ts";
import { BATCH_MAX, type JobStore } from "../../store/store.ts";
import type { WorkerId } from "../../store/types/jobs-and-runs.ts";
import { isMoved } from "../closed-store.ts";
import { runKey, type RunName } from "./lock-queue.ts";

/** A claim may bring a run that was ended before its answer: the run may still begin meanwhile. */
const UNKNOWN_MS = 60_000;
const RETRY_MS = 1_000;

export interface CodeReportsParts {
  readonly store: Pick<JobStore, "reportCode">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly worker: WorkerId;
}

export class CodeReports {
  readonly #parts: CodeReportsParts;
  readonly #closed = Promise.withResolvers<void>();
  #isClosed = false;
  /** When heartbeats first told a run that is not here. */
  #unknown: ReadonlyMap<string, number> = new Map();
  #ended: RunName[] = [];
  #isSending = false;

  constructor(parts: CodeReportsParts) {
    this.#parts = parts;
  }

  /** Code of the run goes on. Resolves when the store knows, or when the worker stops. */
  async leave({ key, n }: RunName): Promise<void> {
    const { store, clock, logger, worker } = this.#parts;
    while (!this.#isClosed) {
      try {
        await store.reportCode(worker, { left: [{ key, n }] });
        return;
      } catch (error) {
        if (isMoved(error)) return;
        logger.error("cannot report code that a run has left behind; trying again", { error });
        await within(clock, RETRY_MS, this.#closed.promise);
      }
    }
  }

  /** No code of the run is left. */
  ended({ key, n }: RunName): void {
    if (this.#isClosed) return;
    this.#ended.push({ key, n });
    if (!this.#isSending) void this.#send();
  }

  /** A heartbeat tells these ended runs. `isHere`: the run or its code has not ended. */
  told(runs: readonly RunName[], isHere: (run: RunName) => boolean): void {
    const now = this.#parts.clock.monotonic();
    const unknown = new Map<string, number>();
    for (const run of runs) {
      if (isHere(run)) continue;
      const since = this.#unknown.get(runKey(run)) ?? now;
      unknown.set(runKey(run), since);
      if (now - since >= UNKNOWN_MS) this.ended(run);
    }
    this.#unknown = unknown;
  }

  /** The worker stops: the store forgets its runs when it is deregistered. */
  close(): void {
    this.#isClosed = true;
    this.#closed.resolve();
  }

  async #send(): Promise<void> {
    const { store, logger, worker } = this.#parts;
    this.#isSending = true;
    while (this.#ended.length > 0) {
      const ended = this.#ended.splice(0, BATCH_MAX);
      try {
        await store.reportCode(worker, { ended });
      } catch (error) {
        // A heartbeat tells these runs again.
        logger.debug("cannot report the end of code that runs have left behind", { error });
      }
    }
    this.#isSending = false;
  }
}
