/**
 * Sends settlements to the store, in batches that overlap the next claim.
 *
 * A settlement is retried until the store answers, as long as the worker runs. A worker that
 * believes its lease lost sends settlements as well: only the store knows whether the lease is
 * lost.
 */
import { within, type Clock } from "../../core/clock.ts";
import { faultOf } from "../../core/fault.ts";
import { soon } from "../../lib/system.ts";
import { isSuccess, type Fault, type Settlement } from "../../core/outcome.ts";
import type { Logger } from "../../api/context.ts";
import { BATCH_MAX, type JobStore } from "../../store/store.ts";
import type { JobId } from "../../core/job.ts";
import type { StoreRefusal, SettleAnswer, SettleItem } from "../../store/types/jobs-and-runs.ts";
import { isMoved } from "../closed-store.ts";
import { ChildNotEnqueuedError, warnAboutDuplicates } from "./refused-children.ts";

/** Settlements that may wait for the store. If the process died now, their jobs would run again. */
const PENDING_MAX = 4 * BATCH_MAX;
const RETRY_MS_MIN = 200;
const RETRY_MS_MAX = 5_000;
const TURNS_MAX = 64;
/** Prefetched jobs start in one turn of the event loop and end in a later one. */
const QUIET_TURNS_MAX = 3;
const UNSTORABLE: Fault = {
  class: "non_retryable",
  name: "UnstorableEnd",
  message: "The run ended, but the database refused its result or error.",
};

const JOB_MISSING =
  "the job was deleted from the table job while it ran: its result is discarded. Jobs must not " +
  "be deleted by hand; millrace doctor --fix removes the rest of the job";

/** The end of a run. The log names the job by its id, which users can look up. */
export interface UnsettledRun extends SettleItem {
  readonly id: JobId;
}

interface SettlerParts {
  readonly store: Pick<JobStore, "get" | "settle">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** `hasRoom` is true again. */
  readonly onRoom: () => void;
  /** The run had ended before. */
  readonly onStale: (run: SettleItem) => void;
  /** The store has settled the run, or the run had ended before. */
  readonly onSettled: (run: SettleItem) => void;
}

export class Settler {
  readonly #parts: SettlerParts;
  readonly #closed = Promise.withResolvers<void>();
  #queue: UnsettledRun[] = [];
  #sending: Promise<void> | null = null;
  #isClosed = false;
  #underWay = 0;
  #returned = 0;
  #hasMoved = false;

  constructor(parts: SettlerParts) {
    this.#parts = parts;
  }

  add(item: UnsettledRun): void {
    // A handler has ended after the stop gave up waiting: its job was returned to the queue.
    if (this.#isClosed) return;
    this.#queue.push(item);
    this.#sending ??= this.#send();
  }

  /** False while too many settlements wait for the store: no job should begin. */
  get hasRoom(): boolean {
    return this.#queue.length + this.#underWay < PENDING_MAX;
  }

  /** The store has answered every settlement. */
  get isIdle(): boolean {
    return this.#sending === null;
  }

  /** The interrupted runs whose jobs the store has returned to the queue so far. */
  get returned(): number {
    return this.#returned;
  }

  /** Resolves when the store has answered every settlement. */
  async drained(): Promise<void> {
    while (this.#sending !== null) await this.#sending;
  }

  /**
   * Waits for {@link drained}, but at most `ms`; later settlements are dropped. Returns how many
   * settlements the store has not answered.
   */
  async close(ms: number): Promise<number> {
    await within(this.#parts.clock, ms, this.drained());
    this.#isClosed = true;
    this.#closed.resolve();
    return this.#queue.length + this.#underWay;
  }

  async #send(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#gather();
      const batch = this.#queue.splice(0, BATCH_MAX);
      this.#underWay = batch.length;
      const answers = await this.#settle(batch);
      if (answers === null) break;
      const wasFull = !this.hasRoom;
      this.#underWay = 0;
      if (wasFull) this.#parts.onRoom();
      for (let index = 0; index < batch.length; index += 1) {
        const item = batch[index]!;
        const answer = answers[index]!;
        if (answer === "settled" && item.settlement.outcome === "interrupted") this.#returned += 1;
        if (typeof answer === "string" && answer !== "refused") this.#parts.onSettled(item);
        if (!isPlain(item, answer)) await this.#onAnswer(item, answer);
      }
    }
    this.#sending = null;
  }

  /** Waits a few turns of the event loop for more runs to end, so that they share the batch. */
  async #gather(): Promise<void> {
    let quietTurns = 0;
    for (let turn = 0; turn < TURNS_MAX && quietTurns < QUIET_TURNS_MAX; turn += 1) {
      const before = this.#queue.length;
      if (before >= BATCH_MAX) return;
      await nextTurn();
      quietTurns = this.#queue.length > before ? 0 : quietTurns + 1;
    }
  }

  /** Retries until the store answers; null if the worker ends before. */
  async #settle(batch: readonly SettleItem[]): Promise<readonly SettleAnswer[] | null> {
    const { store, clock, logger } = this.#parts;
    for (let retryMs = RETRY_MS_MIN; !this.#isClosed; retryMs *= 2) {
      try {
        return await store.settle(batch);
      } catch (error) {
        logger.error("cannot store the results of runs; trying again", { error });
        if (isMoved(error)) {
          // The move has taken back the jobs of all leases.
          this.#hasMoved = true;
          return batch.map(() => "stale");
        }
        await within(clock, Math.min(retryMs, RETRY_MS_MAX), this.#closed.promise);
      }
    }
    return null;
  }

  async #onAnswer(item: UnsettledRun, answer: SettleAnswer): Promise<void> {
    const { logger } = this.#parts;
    if (answer === "missing") {
      logger.error(JOB_MISSING, { ...runFields(item), job_key: item.key });
      return;
    }
    if (answer === "stale") {
      this.#parts.onStale(item);
      if (!this.#hasMoved) logger.warn("lease lost: result discarded", runFields(item));
      return;
    }
    if (answer === "refused" || typeof answer === "object") this.#settleBare(item, answer);
    else if (isSuccess(item.settlement))
      await warnAboutDuplicates(this.#parts, item.children ?? []);
  }

  /** Settles without result and children, because the store may have refused one of them. */
  #settleBare(item: UnsettledRun, why: StoreRefusal): void {
    const { settlement, note, children } = item;
    const run = { lease: item.lease, id: item.id, key: item.key, n: item.n };
    if (isUnstorable(settlement)) {
      const message =
        "cannot store the result; the job will be returned to the queue when the worker stops";
      this.#parts.logger.error(message, runFields(item));
      return;
    }
    if (why === "refused") {
      this.#queue.push({ ...run, settlement: failedBy(UNSTORABLE, settlement) });
      return;
    }
    const fault = faultOf(new ChildNotEnqueuedError(why, children ?? []), "non_retryable");
    const kept = note?.logs === undefined ? {} : { note: { logs: note.logs } };
    this.#queue.push({ ...run, settlement: failedBy(fault, settlement), ...kept });
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => soon(resolve));
}

/** Settled without children, like most runs. */
function isPlain({ children = [] }: SettleItem, answer: SettleAnswer): boolean {
  return answer === "settled" && children.length === 0;
}

/** The store refused the settlement; the run must end nevertheless. */
function failedBy(fault: Fault, { tries, crashes }: Settlement): Settlement {
  return { to: "failed", outcome: "failed", tries, crashes, fault };
}

function isUnstorable(settlement: Settlement): boolean {
  return settlement.to === "failed" && settlement.fault === UNSTORABLE;
}

function runFields({ lease, id, n }: UnsettledRun): object {
  return { job_id: id, run: n, fence: lease.number };
}
