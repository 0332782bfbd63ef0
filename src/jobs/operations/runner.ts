/**
 * Runs bulk operations: holds those that no other runner holds, and applies one chunk of each in
 * turn. A chunk is applied once, however many runners try. A runner that dies is replaced after the
 * lease in the row of the operation.
 */
import type { Logger } from "../../api/context.ts";
import type { Clock } from "../../core/clock.ts";
import type { OperationId, OperationRecord, RunnerId } from "../../store/types/operations.ts";
import { readChunk, type ChunkParts } from "./read-chunk.ts";

/** How often a busy runner looks for operations that it does not hold yet. */
const LOOK_MS = 2_000;
/** Consecutive failures of one chunk after which its operation has failed. */
const FAILURES_MAX = 5;
const RETRY_MS = 500;

export interface RunnerParts extends ChunkParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long an idempotency key outlives a deleted job. */
  readonly idempotencyMs: number;
}

interface Held {
  readonly operation: OperationRecord;
  /** When the next chunk may begin, by the monotonic clock. */
  readonly dueAt: number;
  readonly failures: number;
}

export class OperationRunner {
  readonly #parts: RunnerParts;
  readonly #id: RunnerId;
  readonly #held = new Map<OperationId, Held>();
  #lookAt = -Infinity;

  constructor(parts: RunnerParts) {
    this.#parts = parts;
    this.#id = parts.newId();
  }

  /** Looks for new operations at the next step. */
  look(): void {
    this.#lookAt = -Infinity;
  }

  /**
   * Applies one chunk of each operation that is due. Returns the milliseconds until the next step;
   * null: there is no operation to run.
   */
  async step(): Promise<number | null> {
    const { clock } = this.#parts;
    if (this.#held.size === 0 || clock.monotonic() >= this.#lookAt) await this.#claim();
    const due = [...this.#held.values()].filter(({ dueAt }) => dueAt <= clock.monotonic());
    for (const held of due) await this.#run(held);
    if (this.#held.size === 0) return null;
    const dueAts = [...this.#held.values()].map(({ dueAt }) => dueAt);
    // A slow operation must not keep the runner from others that begin meanwhile.
    const nextAt = Math.min(this.#lookAt, ...dueAts);
    return Math.max(0, nextAt - clock.monotonic());
  }

  async #claim(): Promise<void> {
    const { store, clock } = this.#parts;
    const operations = await store.claimOperations(this.#id);
    const before = new Map(this.#held);
    this.#held.clear();
    for (const operation of operations) {
      this.#hold(operation, before.get(operation.id)?.failures ?? 0);
    }
    this.#lookAt = clock.monotonic() + LOOK_MS;
  }

  #hold(operation: OperationRecord, failures: number, waitMs: number = operation.nextMs): void {
    const dueAt = this.#parts.clock.monotonic() + waitMs;
    this.#held.set(operation.id, { operation, dueAt, failures });
  }

  async #run({ operation, failures }: Held): Promise<void> {
    const { store, idempotencyMs } = this.#parts;
    const { id } = operation;
    try {
      const { items, to } = await readChunk(this.#parts, operation);
      const from = operation.cursor;
      const chunk = { runner: this.#id, from, to, items, idempotencyMs };
      const answer = await store.applyChunk(id, chunk);
      if (answer.status === "again") return this.#hold(operation, 0, 0);
      this.#held.delete(id);
      if (answer.status === "moved") this.look();
      else if (answer.operation.status === "running") this.#hold(answer.operation, 0);
      // An operation that waited for this one may begin.
      else this.look();
    } catch (error) {
      await this.#failed(operation, failures + 1, error);
    }
  }

  async #failed(operation: OperationRecord, failures: number, error: unknown): Promise<void> {
    const { store, logger } = this.#parts;
    const { id } = operation;
    logger.error("a chunk of an operation failed", { operation_id: id, failures, error });
    if (failures < FAILURES_MAX) {
      this.#hold(operation, failures, RETRY_MS * 2 ** failures);
      return;
    }
    this.#held.delete(id);
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    await store.failOperation(id, this.#id, { name, message });
  }
}
