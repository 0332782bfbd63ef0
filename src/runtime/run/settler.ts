/**
 * Carries settlements to the store, in batches that overlap the next claim.
 *
 * A run that has ended must be told, whatever the store is doing: a settlement is kept and tried
 * again until the store has answered, as long as the worker lives. Also by a worker that believes
 * its lease lost: the store knows better, and what nobody has taken back is still its to end.
 */
import { within, type Clock } from "../../core/clock.ts";
import { faultOf } from "../../core/fault.ts";
import { soon } from "../../lib/system.ts";
import type { Fault, Settlement } from "../../core/outcome.ts";
import type { Logger } from "../../api/context.ts";
import { BATCH_MAX, type JobStore } from "../../store/store.ts";
import type { StoreRefusal, SettleAnswer, SettleItem } from "../../store/types/jobs-and-runs.ts";
import { ChildRefused, warnOfMissing } from "./refused-children.ts";

/** Ends that may wait for the store: all of them would run again if the process died now. */
const UNTOLD_MAX = 4 * BATCH_MAX;
const RETRY_MS_MIN = 200;
const RETRY_MS_MAX = 5_000;
const TURNS_MAX = 64;
/** Jobs of a buffer are started in one turn and end in another. */
const QUIET_TURNS_MAX = 3;
const UNSTORABLE: Fault = {
  class: "non_retryable",
  name: "UnstorableEnd",
  message: "The run ended, but the database did not take its result or error.",
};

interface SettlerParts {
  readonly store: Pick<JobStore, "get" | "settle">;
  readonly clock: Clock;
  readonly logger: Logger;
  /** There is room again. */
  readonly told: () => void;
  /** The store has heard of the end of a run, or has ended it before. */
  readonly ended: (run: SettleItem) => void;
}

export class Settler {
  readonly #parts: SettlerParts;
  readonly #closed = Promise.withResolvers<void>();
  #queue: SettleItem[] = [];
  #sending: Promise<void> | null = null;
  #isClosed = false;
  #underWay = 0;

  constructor(parts: SettlerParts) {
    this.#parts = parts;
  }

  add(item: SettleItem): void {
    // A handler that was left behind at the stop has ended after all: its job is no longer ours.
    if (this.#isClosed) return;
    this.#queue.push(item);
    this.#sending ??= this.#send();
  }

  /** False while the store lags behind: nothing new should begin. */
  get hasRoom(): boolean {
    return this.#queue.length + this.#underWay < UNTOLD_MAX;
  }

  /** Resolves when everything that was added has been answered. */
  async drained(): Promise<void> {
    while (this.#sending !== null) await this.#sending;
  }

  /**
   * Waits for {@link drained}, but no longer than `ms`; from then on nothing is taken. Answers how
   * many ends the store has not heard of.
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
      if (wasFull) this.#parts.told();
      for (let index = 0; index < batch.length; index += 1) {
        const item = batch[index]!;
        const answer = answers[index]!;
        if (answer === "settled" || answer === "stale") this.#parts.ended(item);
        if (!isPlain(item, answer)) await this.#heard(item, answer);
      }
    }
    this.#sending = null;
  }

  /** Lets runs that end in the next few turns travel along, as long as there are any. */
  async #gather(): Promise<void> {
    let quietTurns = 0;
    for (let turn = 0; turn < TURNS_MAX && quietTurns < QUIET_TURNS_MAX; turn += 1) {
      const before = this.#queue.length;
      if (before >= BATCH_MAX) return;
      await nextTurn();
      quietTurns = this.#queue.length > before ? 0 : quietTurns + 1;
    }
  }

  /** The answers of the store, however long they take; null when the worker ends before. */
  async #settle(batch: readonly SettleItem[]): Promise<readonly SettleAnswer[] | null> {
    const { store, clock, logger } = this.#parts;
    for (let retryMs = RETRY_MS_MIN; !this.#isClosed; retryMs *= 2) {
      try {
        return await store.settle(batch);
      } catch (error) {
        logger.error("ended runs could not be recorded; trying again", { error });
        await within(clock, Math.min(retryMs, RETRY_MS_MAX), this.#closed.promise);
      }
    }
    return null;
  }

  async #heard(item: SettleItem, answer: SettleAnswer): Promise<void> {
    const { logger } = this.#parts;
    if (answer === "stale") {
      const run = { fence: item.lease.number, key: item.key, n: item.n };
      logger.warn("a run was no longer ours: its end is not recorded", run);
      return;
    }
    if (answer === "refused" || typeof answer === "object") this.#settleBare(item, answer);
    else if (isSuccess(item.settlement)) await warnOfMissing(this.#parts, item.children ?? []);
  }

  /** Without its result and its children: they are, or may be, what could not be stored. */
  #settleBare({ lease, key, n, settlement, note, children }: SettleItem, why: StoreRefusal): void {
    const { logger } = this.#parts;
    if (isUnstorable(settlement)) {
      const run = { fence: lease.number, key, n };
      logger.error("the end of a run cannot be recorded at all; a stop gives it back", run);
      return;
    }
    if (why === "refused") {
      this.#queue.push({ lease, key, n, settlement: failedBy(UNSTORABLE, settlement) });
      return;
    }
    const fault = faultOf(new ChildRefused(why, children ?? []), "non_retryable");
    const kept = note?.logs === undefined ? {} : { note: { logs: note.logs } };
    this.#queue.push({ lease, key, n, settlement: failedBy(fault, settlement), ...kept });
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => soon(resolve));
}

/** Taken down, and nothing more to see to: most are. */
function isPlain({ children = [] }: SettleItem, answer: SettleAnswer): boolean {
  return answer === "settled" && children.length === 0;
}

/** Only a success brings children into being. */
function isSuccess({ to }: Settlement): boolean {
  return to === "completed" || to === "completed_with_errors";
}

/** The end itself could not be stored; that it ended must be. */
function failedBy(fault: Fault, { tries, crashes }: Settlement): Settlement {
  return { to: "failed", outcome: "failed", tries, crashes, fault };
}

function isUnstorable(settlement: Settlement): boolean {
  return settlement.to === "failed" && settlement.fault === UNSTORABLE;
}
