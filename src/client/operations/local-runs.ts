/** Runs the operations that were started in this process, until none is left. */
import { within, type Clock } from "../../core/clock.ts";
import type { Logger } from "../../api/context.ts";
import { MillraceError } from "../../core/errors.ts";
import type { OperationRunner } from "../../jobs/operations/runner.ts";
import type { OpenCalls } from "../waits/open-calls.ts";

const RETRY_MS = 1_000;

export interface LocalRunParts {
  readonly runner: OperationRunner;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly calls: OpenCalls;
}

export class LocalRuns {
  readonly #parts: LocalRunParts;
  #isRunning = false;
  /** An operation was started or stopped since the last step began. */
  #hasNew = false;
  #woken = Promise.withResolvers<void>();
  #stepped = Promise.withResolvers<void>();

  constructor(parts: LocalRunParts) {
    this.#parts = parts;
  }

  /** An operation was started. */
  begin(): void {
    this.wake();
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#parts.calls.waitFor(this.#run());
  }

  /** An operation was started or stopped: the next step looks at all of them, and begins now. */
  wake(): void {
    this.#parts.runner.look();
    this.#hasNew = true;
    this.#woken.resolve();
  }

  /** Resolves when this process has applied the next chunk, if it runs any operation. */
  get stepped(): Promise<void> {
    return this.#stepped.promise;
  }

  async #run(): Promise<void> {
    const { clock, calls } = this.#parts;
    const closed = new Promise<void>((resolve) => {
      calls.closing.addEventListener("abort", () => resolve(), { once: true });
    });
    while (!calls.closing.aborted) {
      this.#hasNew = false;
      this.#woken = Promise.withResolvers();
      const nextMs = await this.#step();
      this.#stepped.resolve();
      this.#stepped = Promise.withResolvers();
      if (nextMs === null && !this.#hasNew) break;
      const ends = Promise.race([closed, this.#woken.promise]);
      if (nextMs !== null && nextMs > 0) await within(clock, nextMs, ends);
    }
    this.#isRunning = false;
  }

  async #step(): Promise<number | null> {
    const { runner, logger } = this.#parts;
    try {
      return await runner.step();
    } catch (error) {
      if (error instanceof MillraceError && error.code === "STORE_CLOSED") return null;
      logger.error("cannot run operations; trying again", { error });
      return RETRY_MS;
    }
  }
}
