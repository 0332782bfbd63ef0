/**
 * Carries settlements to the store, in batches that overlap the next claim.
 *
 * A run that has ended must be told, whatever the store is doing: a settlement is kept and tried
 * again until the store has answered. Also by a worker that believes its lease lost: the store
 * knows better, and what nobody has taken back is still its to end.
 */
import { wait, type Clock } from "../core/clock.ts";
import { soon } from "../lib/system.ts";
import type { Fault, Settlement } from "../core/outcome.ts";
import type { Logger } from "../face/context.ts";
import type { JobStore, SettleAnswer, SettleItem } from "../store/store.ts";

const BATCH_MAX = 500;
const RETRY_MS = 200;
/** About a minute of trying. */
const ROUNDS_MAX = 300;
const TURNS_MAX = 16;
const UNSTORABLE = "UnstorableEnd";

interface SettlerParts {
  readonly store: Pick<JobStore, "settle">;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class Settler {
  readonly #parts: SettlerParts;
  #queue: SettleItem[] = [];
  #sending: Promise<void> | null = null;
  #isClosed = false;

  constructor(parts: SettlerParts) {
    this.#parts = parts;
  }

  add(item: SettleItem): void {
    // A handler that was left behind at the stop has ended after all: its job is no longer ours.
    if (this.#isClosed) return;
    this.#queue.push(item);
    this.#sending ??= this.#send();
  }

  /** Resolves when everything that was added has been answered. */
  async drained(): Promise<void> {
    while (this.#sending !== null) await this.#sending;
  }

  /** Resolves like {@link drained}; from then on nothing is taken. */
  async close(): Promise<void> {
    await this.drained();
    this.#isClosed = true;
  }

  async #send(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#gather();
      const batch = this.#queue.splice(0, BATCH_MAX);
      const answers = await this.#settle(batch);
      batch.forEach((item, index) => this.#heard(item, answers?.[index]));
    }
    this.#sending = null;
  }

  /** Lets runs that end in the next few turns travel along, as long as there are any. */
  async #gather(): Promise<void> {
    let before = 0;
    for (let turn = 0; turn < TURNS_MAX && this.#queue.length > before; turn += 1) {
      if (this.#queue.length >= BATCH_MAX) return;
      before = this.#queue.length;
      await nextTurn();
    }
  }

  async #settle(batch: readonly SettleItem[]): Promise<readonly SettleAnswer[] | null> {
    const { store, clock, logger } = this.#parts;
    for (let round = 0; round < ROUNDS_MAX; round += 1) {
      try {
        return await store.settle(batch);
      } catch (error) {
        logger.error("ended runs could not be recorded; trying again", { error });
        await wait(clock, RETRY_MS);
      }
    }
    logger.error("ended runs could not be recorded; a rescue will find them", {
      runs: batch.length,
    });
    return null;
  }

  #heard(item: SettleItem, answer: SettleAnswer | undefined): void {
    const { logger } = this.#parts;
    const run = { fence: item.lease.number, key: item.key, n: item.n };
    if (answer === "stale") {
      logger.warn("a run was no longer ours: its end is not recorded", run);
    }
    if (answer !== "refused") return;
    if (isUnstorable(item.settlement)) {
      logger.error("the end of a run cannot be recorded at all; a rescue will find it", run);
      return;
    }
    // Without its children as well: they may be what the database did not take.
    const { children: _, ...bare } = item;
    this.#queue.push({ ...bare, settlement: unstorable(item.settlement) });
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => soon(resolve));
}

/** The end itself could not be stored; that it ended must be. */
function unstorable({ tries, crashes }: Settlement): Settlement {
  const fault: Fault = {
    class: "non_retryable",
    name: UNSTORABLE,
    message: "The run ended, but the database did not take its result or error.",
  };
  return { to: "failed", outcome: "failed", tries, crashes, fault };
}

function isUnstorable(settlement: Settlement): boolean {
  return settlement.to === "failed" && settlement.fault.name === UNSTORABLE;
}
